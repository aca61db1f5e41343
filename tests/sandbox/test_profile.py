"""The profile of a grading: each second counts once, and where."""

from __future__ import annotations

import profile_grading
import pytest
from profile_grading import CHECK, COMPARE, FORK, REPORT, SHRINK, STUDENT, WIRE, Stopwatch
from submissions import grading_profile

from grader.grading import compare, diagnosis
from grader.grading.student import Student
from grader.sandbox.sandbox import Sandbox


def test_a_second_counts_once_for_the_innermost_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 1.0, 3.0, 7.0, 15.0, 15.0, 31.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    stopwatch = Stopwatch()
    with stopwatch.on(COMPARE), stopwatch.on(WIRE):
        pass
    stopwatch.move(0.5, WIRE, STUDENT)
    stopwatch.finish("clip.a")
    assert stopwatch.of_check == {"clip.a": {CHECK: 1.0 + 16.0, COMPARE: 2.0 + 8.0, WIRE: 3.5, STUDENT: 0.5}}


def test_a_grading_is_watched_from_its_first_fork_to_its_report_and_nothing_stays_watched(sandbox: Sandbox) -> None:
    before = Student._request, compare.tensor, diagnosis.explain
    kinds = profile_grading.submissions()
    with grading_profile():
        found = profile_grading.profile(kinds["a first draft with three mistakes"], ["kl"], sandbox.worker).of_check
    assert (Student._request, compare.tensor, diagnosis.explain) == before
    spent = {column for seconds in found.values() for column, each in seconds.items() if each > 0}
    assert {CHECK, FORK, STUDENT, WIRE, COMPARE, SHRINK, REPORT} <= spent
    assert found[profile_grading._AFTER].keys() >= {REPORT} and "kl.k3_of_three_samples" in found
