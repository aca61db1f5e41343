"""The grader on answers whose grade is known, for real, and the proof that this test can fail."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pasting
import pytest
from command import call

from grader.commands.course import COMMANDS, DEV_COMMANDS, main
from grader.core import course
from grader.core.result import (
    NOT_WRITTEN,
    PASSED,
    CheckResult,
    ExerciseResult,
    NamedMistake,
    Outcome,
    Result,
    from_json,
)
from grader.grading import plugin
from grader.grading.settings import declared_checks
from grader.workshop import catalogue, selftest
from grader.workshop.selftest import grading_here

EXERCISES = [exercise.name for exercise in course.EXERCISES]


def check_selftest(names: list[str], done: subprocess.CompletedProcess[str], path: Path, *, seeds: int = 1) -> None:
    """Every answer got the grade that is known, and every answer there is was tried."""
    report = json.loads(path.read_text("utf-8"))
    assert report["problems"] == [], "\n".join(report["problems"])
    assert done.returncode == 0, done.stderr
    assert "self-test passed" in done.stdout
    counts, functions = report["counts"], sum(len(course.exercise(name).functions) for name in names)
    assert counts["stubs"] == len(names) and counts["model answers"] == seeds * len(names)
    assert counts["answers without work"] == functions * len(selftest.WITHOUT_WORK)
    assert counts["misconceptions"] == sum(len(catalogue.misconceptions(name)) for name in names)
    assert counts["fair variants"] == seeds * sum(len(catalogue.variants(name)) for name in names)
    assert (counts.get("fair variants together", 0) > 10) == bool({"bandit", "charlm"} & {*names})


@pytest.mark.parametrize("name", EXERCISES)
def test_every_answer_whose_grade_is_known_gets_it(name, sandbox, tmp_path):
    """And a call of each report, pasted into Python, shows its failure: here of each tenth failing check."""
    path, kept = tmp_path / "report.json", tmp_path / "kept"
    asked = ("--quick", "--jobs", "1", "--json", path, "--reports", kept)
    done = call(main, "dev", "selftest", name, *asked, cwd=tmp_path, sandbox=sandbox)
    check_selftest([name], done, path)
    pasted, looking_right = pasting.looking_right(kept, name, tmp_path, every=10)
    assert pasted >= 5 and looking_right == [], "\n".join(looking_right)


@pytest.mark.proof
def test_every_answer_gets_its_grade_with_all_inputs_and_gates_and_a_worker_for_each_check(tmp_path):
    """And what must earn everything does so with three seeds, with the variants of all functions mixed anew."""
    path, kept = tmp_path / "report.json", tmp_path / "kept"
    options = ["--json", str(path), "--reports", str(kept), "--seeds", "3"]
    command = [sys.executable, "-m", "grader.commands.course", "dev", "selftest", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2400, check=False)
    check_selftest(EXERCISES, done, path, seeds=3)
    for name in EXERCISES:
        pasted, looking_right = pasting.looking_right(kept, name, tmp_path)
        assert pasted >= 50 and looking_right == [], "\n".join(looking_right)


@pytest.mark.proof
def test_every_known_law_gets_its_grade(sandbox, tmp_path):
    """Of the draft whose answers are free: they must be caught, and are not named."""
    path = tmp_path / "report.json"
    done = call(
        main, "dev", "selftest", "laws", "--quick", "--jobs", "1", "--json", path, cwd=tmp_path, sandbox=sandbox
    )
    check_selftest(["laws"], done, path)


@pytest.mark.parametrize("name", ["bandit", "charlm"])
def test_the_quick_way_grades_variants_together_on_all_gates_and_each_other_check_several_times(name):
    together = [job for job in selftest.jobs(name, {}) if job.together]
    quick, whole = ([job.checks(quick=few) for job in together] for few in (True, False))
    for some, every in zip(quick, whole, strict=True):
        assert some.items() <= every.items()
        assert {n for n, check in every.items() if check.gate} <= {*some}
    met = Counter(itertools.chain(*quick))
    assert {*met} == {*itertools.chain(*whole)} and min(met.values()) >= 2
    assert met.total() < Counter(itertools.chain(*whole)).total() / 2


def test_answers_are_graded_in_processes_that_end_with_the_command(tmp_path):
    """And that take no module from the folder that the command is started in."""
    (tmp_path / "multiprocessing.py").write_text("raise SystemExit('the student ran')\n", "utf-8")
    done = call(main, "dev", "selftest", "clip", "--quick", "--only", "minimum_before", "--jobs", "2", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "    1 misconception\nself-test passed\n"), done.stderr
    assert multiprocessing.active_children() == []


def test_a_sample_is_graded_once_more_cold_and_another_verdict_there_is_a_problem(monkeypatch):
    """One answer of each kind of each exercise; here every cold grading fails a check that the other one passes."""
    monkeypatch.setattr(selftest, "_must_be_named", lambda _: lambda *_: None)
    cold = []

    def grade(asked):
        for each in asked:
            cold.extend([each] * each.cold)
            verdict = "failed" if each.cold or each.submission.folder == "stub" else PASSED
            yield result_with(one=verdict, two="failed")

    report = selftest.selftest(["clip", "kl"], grade, cold=True)
    assert report.counts[selftest.AGAIN] == len(cold) == 8
    assert {(each.exercise, each.options["fresh_workers"]) for each in cold} == {("clip", False), ("kl", False)}
    found = [problem for problem in report.problems if "with --cold" in problem]
    assert len(found) == 8 and all("clip.one is passed, and with --cold failed" in problem for problem in found)
    again = selftest.selftest(["clip", "kl"], grade, cold=True)
    assert again.problems == report.problems  # the same sample every time


def test_the_report_of_every_answer_can_be_kept(sandbox, tmp_path):
    done = call(
        main,
        "dev",
        "selftest",
        "clip",
        "--quick",
        "--only",
        "upper",
        "--reports",
        "kept",
        "--jobs",
        "1",
        cwd=tmp_path,
        sandbox=sandbox,
    )
    kept = {path.relative_to(tmp_path / "kept").as_posix() for path in (tmp_path / "kept").rglob("*.json")}
    names = {entry.name for entry in catalogue.misconceptions("clip") if "upper" in entry.name}
    assert names and done.returncode == 0, done.stdout + done.stderr
    for name in names:
        (path,) = (path for path in kept if path.startswith("clip/misconceptions/") and path.endswith(f".{name}.json"))
        result = from_json((tmp_path / "kept" / path).read_text("utf-8"))
        assert [found.name for found in result.exercises[0].misconceptions] == [name]
    assert len(kept) == sum(int(line.split()[0]) for line in done.stdout.splitlines() if line.strip()[:1].isdecimal())


def result_with(**outcomes: str) -> Result:
    known = {name: Outcome(outcome) for name, outcome in outcomes.items()}
    checks = [CheckResult(f"clip.{name}", "f", name, "", 2, False, False, known[name]) for name in known]
    return Result("s", "", 0, "cpu", [ExerciseResult("clip", "", "", checks)], "0")


def test_it_notices_a_model_answer_that_loses_a_point():
    report = selftest.Report()
    selftest._must_earn_all(result_with(one=PASSED, two="failed"), report)
    assert len(report.problems) == 1


def test_it_notices_a_stub_that_earns_something():
    report = selftest.Report()
    selftest._must_be_not_written(result_with(one=NOT_WRITTEN, two=PASSED), report)
    assert len(report.problems) == 1


def test_it_notices_points_for_no_work():
    report = selftest.Report()
    selftest._must_earn_nothing("f")(result_with(one=PASSED, two="failed"), report)
    assert report.problems == ["earns 2 for: one"]


def test_it_notices_a_misconception_that_passes_or_has_the_wrong_name():
    (entry, *_) = catalogue.misconceptions("clip")
    report = selftest.Report()
    selftest._must_be_named(entry)(result_with(one=PASSED), report)
    assert report.problems == ["is not caught; add a check that it fails, or an example to one"]
    report = selftest.Report()
    wrong = result_with(one="failed")
    wrong.exercises[0].misconceptions = [NamedMistake("clip.one", True, "", "f", "another", "", "")]
    selftest._must_be_named(entry)(wrong, report)
    assert any("is named another; run `course dev vectors clip`, and if" in problem for problem in report.problems)
    report = selftest.Report()
    selftest._must_be_named(replace(entry, name="a_new_one"))(result_with(one="failed"), report)
    assert report.problems[0] == "is named nothing; run `course dev vectors clip`, which has not recorded it yet"


def test_it_notices_a_function_without_a_check(sandbox, monkeypatch):
    declared = declared_checks(["clip"], hidden=True)
    checked = {name: check for name, check in declared.items() if check.function != "clip_fraction"}
    monkeypatch.setattr(selftest, "declared_checks", lambda *_, **__: checked)
    monkeypatch.setattr(selftest, "jobs", lambda *_, **__: [])
    found = {
        only: selftest.selftest(["clip"], grading_here(sandbox.worker, sandbox.worker), only=only)
        for only in ("", "clip_fr", "importance")
    }
    sentence = "clip: clip_fraction: has no check; `course dev check clip` says what it needs"
    assert [report.problems for report in found.values()] == [[sentence], [sentence], []]


def test_a_grader_without_its_gates_would_pay_for_no_work(sandbox):
    # The reason why worked examples are gates: laws alone are kind to constants.
    from grader.grading.run import Grading

    plugin.use_profile()
    zeros = catalogue.replaced("advantages", "group_advantages", "zeros", "def zeros(r, **_):\n    return r * 0.0\n")
    checks = {name: check for name, check in declared_checks(["advantages"], hidden=True).items() if not check.gate}
    assert Grading(zeros, ["advantages"], sandbox.worker, checks=checks, gates=False).run().earned > 0
    of_function = [
        c for c in Grading(zeros, ["advantages"], sandbox.worker).run().checks if c.function == "group_advantages"
    ]
    assert sum(check.earned for check in of_function) == 0


def test_the_course_command_says_what_instructors_need_and_what_developers_need(tmp_path):
    for options, names in (((), COMMANDS), (("dev",), DEV_COMMANDS)):
        done = call(main, *options, "--help", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        listed = re.findall(r"^    ([a-z-]+)(?: |$)", done.stdout, re.M)
        assert listed[: len(names)] == [*names] and "examples:" in done.stdout
    assert call(main, "nonsense", cwd=tmp_path).returncode == 2


def test_an_old_name_of_a_command_works_and_says_the_new_one(tmp_path):
    done, new = (call(main, *words, "numbers", "--check", cwd=tmp_path) for words in ((), ("dev",)))
    assert done.stderr == "course: the command is called `course dev numbers` now\n"
    assert (done.returncode, done.stdout) == (new.returncode, new.stdout) and new.stderr == ""


def test_one_answer_is_graded_alone(sandbox):
    report = selftest.selftest(
        ["clip"], grading_here(sandbox.worker, sandbox.worker), only="clipped_surrogate: minimum_before_advantage"
    )
    assert (report.counts, report.problems) == ({"misconceptions": 1}, [])


def test_a_name_that_no_answer_has_is_a_problem(sandbox, tmp_path):
    done = call(main, "dev", "selftest", "clip", "--only", "nonsense", "--jobs", "1", cwd=tmp_path, sandbox=sandbox)
    assert done.returncode == 1
    assert "no answer has 'nonsense' in its name; nothing was graded" in done.stdout
    assert done.stdout.endswith("\n1 problem\n")
