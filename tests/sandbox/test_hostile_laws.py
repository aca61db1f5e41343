"""Hostile laws: each earns no more than the same law without its trick, and carries nothing home.

Each file of `hostile_laws/` is put below the model laws and replaces `estimate_calls`, `estimate_holds` or both. Its
docstring says what it tries, and which words a report must have about it. Lines that end with "# the trick" are left
out to see what the law is worth without; the others earn nothing in either case.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from law_grading import grade_laws
from submissions import SubmissionMaker

from grader.core import course
from grader.core.result import Result
from grader.exercises.laws.checks import ESTIMATE
from grader.exercises.laws.hidden_checks import WRONG
from grader.sandbox.sandbox import Sandbox

FILES = sorted((Path(__file__).parent / "hostile_laws").glob("*.py"))
SECRET = "5" * 64


def text_of(path: Path) -> str:
    return path.read_text("utf-8").replace("COURSE_ROOT", str(course.ROOT))


OF_THE_PROOF = frozenset(
    (
        *("answers_in_place_of_the_worker", "asks_the_finders", "climbs_the_frames", "goes_by_the_clock"),
        *("goes_by_the_process_number", "hashes_the_source_of_functions", "imports_the_grader"),
        *("leaves_notes_in_files", "leaves_notes_in_shared_memory", "looks_at_other_processes"),
        *("looks_at_the_layout_of_memory", "looks_through_the_garbage", "more_memory_than_there_is"),
        *("peeks_into_the_channel", "records_the_requests", "searches_its_own_memory"),
        *("sleeps_where_it_is_unsure", "waits_in_a_thread", "walks_the_disk"),
        # As `has_a_table_of_practice_results`, and as `calls_that_change_between_two_askings`, by another way.
        *("copies_the_practice_mistakes", "calls_that_change_with_the_process"),
    )
)
"""What walls and limits stop, as they stop attacks from other exercises; the rest is up to the checks of the laws."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.proof] * (path.stem in OF_THE_PROOF)) for path in FILES],
)
def test_a_hostile_law_earns_and_learns_nothing(
    path: Path, walled_sandbox: Sandbox, make_submission: SubmissionMaker
) -> None:
    text = text_of(path)
    result = grade_laws(walled_sandbox, make_submission, text, law="estimate", secret=SECRET)
    told = "\n".join(check.story for check in result.checks)
    for wanted in re.findall("^Report: (.*)$", text, re.MULTILINE):
        assert any(each in told for each in wanted.split(" | ")), told
    require_nothing_told(result)
    if result.earned:
        honest = re.sub("^.*# the trick$", "", text, flags=re.MULTILINE)
        assert honest != text
        assert result.earned <= grade_laws(walled_sandbox, make_submission, honest, law="estimate").earned


def require_nothing_told(result: Result) -> None:
    """Require that no known answer is named, and that what hidden checks say is the grader's alone."""
    hidden = [check for check in result.checks if check.hidden]
    told = json.dumps([asdict(check) for check in hidden])
    assert not any(check.printed or check.frames for check in hidden)
    assert "LOOT" not in told and not re.search(rf"{ESTIMATE.calls}\((?![01]\))", told)
    everything = json.dumps([asdict(check) for check in result.checks])
    assert not any(known.name in everything for known in WRONG["estimate"])
    assert "\\u001b" not in everything


def test_what_the_proof_grades_is_there() -> None:
    assert {path.stem for path in FILES} >= OF_THE_PROOF


@pytest.mark.proof
def test_where_no_wall_is_it_pays_to_read_the_known_answers(make_submission: SubmissionMaker) -> None:
    """So the attack is one: what stops it above are the walls."""
    (path,) = (path for path in FILES if path.stem == "reads_known_answers_by_path")
    with Sandbox.start(level=0) as without_walls:
        assert grade_laws(without_walls, make_submission, text_of(path), law="estimate", secret=SECRET).earned
