"""The worksheet's runs as the browser's simulation plays them, and what the page downloads, before the grader.

The browser's simulation shares no code with the grader's. All other tests of the worksheet play runs with the latter.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from site_fixtures import cannot
from worksheets import said, simulate

from grader.core import course
from grader.core.result import NOT_WRITTEN, PASSED
from grader.worksheet import grade as worksheet
from grader.worksheet import replay as replaying
from grader.worksheet.reader import WorksheetFile, parse

CORE = course.ROOT / "docs" / "assets" / "js" / "core"
NODE = shutil.which("node")


# What the page downloads after its cells were filled: its own code, from the seed to the text of the file.
DOWNLOAD = """
import { cellOf, measure } from "CORE/worksheet_filling.mjs";
import { toJson } from "CORE/worksheet_files.mjs";
import { QUESTIONS, RUNS } from "CORE/worksheet_runs.mjs";
const seedOf = (slot, index) => slot.id.startsWith("1E") ? 7 : index;
const cells = RUNS.map((slot, index) => [slot.id, cellOf(seedOf(slot, index), measure(slot, seedOf(slot, index)))]);
const answers = QUESTIONS.map((id) => [id, `In ${id} the mean decides who gains.`]);
const state = { cells: Object.fromEntries(cells), answers: Object.fromEntries(answers) };
const empty = { cells: {}, answers: {} };
const questions = QUESTIONS.map((id) => ({ id, text: `${id} What do you see?` }));
console.log(JSON.stringify([toJson(state, questions), toJson(empty, questions)]));
"""


@pytest.fixture(autouse=True)
def _simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "simulate", simulate)


def run_in_node(script: str) -> Any:
    """What a module prints, as JSON."""
    if NODE is None:
        cannot("node is missing")
    arguments = [NODE, "--input-type=module", "-e", script.replace("CORE", CORE.as_uri())]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_the_page_downloads_earns_every_point_and_an_untouched_page_none() -> None:
    filled, empty = (worksheet.grade(WorksheetFile("0" * 64, parse(text.encode()))) for text in run_in_node(DOWNLOAD))
    assert [said(check) for check in filled.checks if check.outcome != PASSED] == []
    assert filled.earned == 30
    assert empty.earned == 0
    assert {check.outcome for check in empty.checks if check.points} == {NOT_WRITTEN}
