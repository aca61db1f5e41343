"""`check` in the notebook of the handout: it grades what the cells define, and says what `grade` says."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Command, environment
from handouts import untouched_handout
from submissions import write_files

import grader
from grader.commands import doctor, notebook_check
from grader.core import course

pytest.importorskip("IPython")

RIGHT, WRONG = "torch.minimum(ratio * advantages", "torch.maximum(ratio * advantages"
RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell = InteractiveShell.instance()
for cell in json.load(sys.stdin):
    with capture_output() as shown:
        shell.run_cell(cell, store_history=True)
    data = [each.data for each in shown.outputs]
    print(json.dumps([shown.stdout + shown.stderr, data]), file=sys.__stdout__)
"""


def notebook(handout: Path, name: str) -> list[str]:
    """The code cells of a notebook of the handout."""
    cells = json.loads((handout / "starter" / f"{name}.ipynb").read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def solved(name: str) -> dict[str, str]:
    """The functions of a model answer."""
    text = (course.MODEL_ANSWERS / f"{name}.py").read_text("utf-8")
    return {
        node.name: ast.get_source_segment(text, node) or ""
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }


def run_cells(handout: Path, cells: list[str]) -> list[tuple[str, list[Any]]]:
    """What each cell prints, and what it displays."""
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(cells),
        cwd=handout / "starter",
        env=environment(PYTHONPATH=str(handout / "course"), IPYTHONDIR=str(handout / ".ipython")),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def test_it_grades_the_cells_and_the_saved_notebook_gets_the_same_points(tmp_path: Path, grade: Command) -> None:
    handout = untouched_handout(tmp_path / "handout")
    answers, written = solved("clip"), notebook(handout, "clip")
    setup, given, *_ = written
    wrong = answers["clipped_surrogate"].replace(RIGHT, WRONG)
    assert wrong != answers["clipped_surrogate"]
    functions = [answers["importance_ratio"], wrong, answers["clip_fraction"]]
    outputs = run_cells(
        handout,
        [
            setup,
            *("check(clipped_surrogate)", "check()", "check('clipped_surogate')", "check(3)"),
            given,
            *functions,
            "undefined\n1 / 0",
            "def clip_fraction(:",
            "check(clip_fraction)",
            functions[2],
            "check()",
        ],
    )
    texts = [text for text, _ in outputs]
    assert "Run the cell with `def clipped_surrogate` first" in texts[1] and "Traceback" not in texts[1]
    assert "Run those cells first" in texts[2]
    assert "did you mean clipped_surrogate?" in texts[3] and "not a int" in texts[4]
    assert "NameError" in texts[9]
    assert "Cell [11], which defines clip_fraction, has an error: SyntaxError in line 1" in texts[11]
    text, (report,) = outputs[-1]
    assert not text and "the larger of the two products" in report["text/plain"]
    assert "srcdoc=" in report["text/html"] and "the larger of the two products" in report["text/html"]

    cells = [{"cell_type": "code", "source": cell} for cell in (setup, given, *functions, "check()")]
    handed_in = write_files(tmp_path / "handed in", {"clip.ipynb": json.dumps({"cells": cells})})
    result = json.loads(grade("clip", "--path", handed_in, "--json", "-").stdout)
    points = sum(check["earned"] for each in result["exercises"] for check in each["checks"] if not check["hidden"])
    of = sum(check["points"] for each in result["exercises"] for check in each["checks"] if not check["hidden"])
    assert 0 < points < of and f"total  {points} of {of} points" in report["text/plain"]
    assert result["notes"][0]["text"] == "the grader used clip.ipynb as clip.py"


def test_outside_of_a_notebook_it_says_so(tmp_path: Path) -> None:
    start = "from grader import check; check('kl')"
    done = subprocess.run(
        [sys.executable, "-c", start], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
    )
    assert "works in a notebook" in done.stderr


def test_a_kernel_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = doctor._installed_version
    monkeypatch.setattr(notebook_check, "_shell", object)
    monkeypatch.setattr(doctor, "_installed_version", lambda name: "1.13.1" if name == "torch" else real(name))
    notebook_check.check()
    assert re.search(r"torch 1\.13\.1 \(needed: [\d.]+ or later\).*%pip install", capsys.readouterr().err)
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    grader.check()  # type: ignore[operator]
    assert "Python 3.9" in capsys.readouterr().out
