"""`course dev selftest` notices wrong grades, and `course dev vectors` records what the answers say."""

from __future__ import annotations

import multiprocessing
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import call
from submissions import grading_profile

from grader.commands.course import COMMANDS, main
from grader.commands.dev import COMMANDS as DEV_COMMANDS
from grader.core import course
from grader.core.result import (
    FAILED,
    NOT_WRITTEN,
    PASSED,
    CheckResult,
    ExerciseResult,
    NamedMistake,
    Outcome,
    Result,
    from_json,
)
from grader.grading import recorded_answers
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox
from grader.workshop import selftest, write_vectors

# The self-test


@pytest.mark.proof
def test_the_selftest_grades_in_processes_that_end_with_it_and_keeps_its_reports(tmp_path: Path) -> None:
    """And it takes no module from the folder that it is started in."""
    (tmp_path / "multiprocessing.py").write_text("raise SystemExit('the student ran')\n", "utf-8")
    asked = ("clip", "--quick", "--only", "minimum_before", "--jobs", "2", "--reports", "kept")
    done = call(main, "dev", "selftest", *asked, cwd=tmp_path)
    printed = "model answers: 1\nknown mistakes: 1\nself-test passed; next: make check\n"
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
    assert multiprocessing.active_children() == []
    (report,) = (tmp_path / "kept").rglob("known-mistakes/*.json")
    named = from_json(report.read_text("utf-8")).exercises[0].known_mistakes
    assert report.name == f"clipped_surrogate.{named[0].name}.json"


@pytest.mark.parametrize(
    ("outcome", "named", "wrong"),
    [
        (PASSED, "", {"stubs", "answers without work", "known mistakes"}),
        (FAILED, "", {"stubs", "model answers", "fair variants", "known mistakes"}),
        (FAILED, "another mistake", {"stubs", "model answers", "fair variants", "known mistakes"}),
        (NOT_WRITTEN, "", {"model answers", "fair variants", "known mistakes"}),
    ],
)
def test_the_selftest_notices_every_wrong_grade(outcome: Outcome, named: str, wrong: set[str]) -> None:
    """Here every check of every answer gets the same outcome."""
    for job in selftest.all_jobs(["clip"]):
        checks = [
            CheckResult(name, check.function, check.title, check.points, check.gate, False, outcome)
            for name, check in declared_checks(["clip"], hidden=True).items()
            if name in job.checks
        ]
        mistakes = [NamedMistake(checks[0].id, True, "", checks[0].function, named, "", "")] if named else []
        exercise = ExerciseResult("clip", "", "", checks)
        exercise.known_mistakes = mistakes
        problems = selftest.problems_of(job, Result("s", "", 0, "cpu", [exercise], "0", complete=True))
        assert bool(problems) is (job.what in wrong)
        assert all(problem.startswith(f"clip: {job.name}: ") for problem in problems)


# The recorded vectors


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of recorded vectors, which the command takes for the real ones."""
    shutil.copytree(course.exercise("kl").folder, tmp_path / "kl")
    monkeypatch.setattr(course, "FOLDERS", tmp_path)
    recorded_answers.load.cache_clear()
    yield tmp_path / "kl" / "vectors.json"
    recorded_answers.load.cache_clear()


@pytest.mark.proof
def test_wrong_numbers_are_written_anew_and_digits_of_another_processor_stay(sandbox: Sandbox, recorded: Path) -> None:
    text = recorded.read_text("utf-8")
    numbers = [*re.finditer(r'"values": \[(-?\d\.\d{6,})', text)][:2]
    assert len({*(match[1] for match in numbers)}) == 2
    rounded, wrong = repr(float(numbers[0][1]) * (1 + 1e-8)), repr(float(numbers[1][1]) + 0.1)
    kept = text[: numbers[0].start(1)] + rounded + text[numbers[0].end(1) :]
    shift = len(kept) - len(text)
    changed = kept[: numbers[1].start(1) + shift] + wrong + kept[numbers[1].end(1) + shift :]
    recorded.write_text(changed, "utf-8")
    recorded_answers.load.cache_clear()
    with grading_profile():
        assert write_vectors.make("kl", sandbox.worker) == kept != changed


@pytest.mark.proof
def test_the_recorded_vectors_are_current(sandbox: Sandbox) -> None:
    done = call(main, "dev", "vectors", "--anew", "--check", cwd=course.ROOT, sandbox=sandbox)
    stale = {line.split(" is stale")[0] for line in done.stdout.splitlines() if " is stale" in line}
    # Two of its 1,613 records are of runs whose last digits depend on the processor; see `recorded.NoRecord`.
    assert stale <= {"grader/workshop/record_files/bandit.json"}, done.stdout + done.stderr


# Help


def test_help_lists_the_commands_for_instructors_and_those_for_developers(tmp_path: Path) -> None:
    for options, names in (((), COMMANDS), (("dev",), DEV_COMMANDS)):
        done = call(main, *options, "--help", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        listed = re.findall(r"^ {2,4}([a-z-]+) {2,}\S|^    ([a-z-]+)$", done.stdout, re.M)
        assert {*names} <= {name for pair in listed for name in pair}
        assert "course grade-all" in done.stdout or "examples:" in done.stdout
    assert call(main, "nonsense", cwd=tmp_path).returncode == 2
