"""What an exercise is worth can be said in `course.toml`; its checks share it out, in a student's copy as in ours."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction

import pytest
from command import call
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.grading_job import course_digest
from grader.commands.course import main
from grader.core import course
from grader.core.refusal import FileRefused
from grader.grading import points
from grader.grading.check import checks_of
from grader.workshop import handout

WEIGHTS = st.lists(st.integers(1, 9), min_size=1, max_size=40)


def worth(monkeypatch: pytest.MonkeyPatch, name: str, total: int) -> None:
    """Let an exercise be worth so much in this process, as an entry in `course.toml` would."""
    changed = tuple(replace(each, points=total) if each.name == name else each for each in course.EXERCISES)
    monkeypatch.setattr(course, "EXERCISES", changed)
    monkeypatch.setattr(course, "HANDED_OUT", (*changed, *course.OPTIONAL))
    monkeypatch.setattr(course, "ALL_EXERCISES", (*course.HANDED_OUT, *course.DRAFTS))


@given(WEIGHTS, st.integers(0, 300))
def test_each_share_is_a_rounded_quotient_and_together_they_are_the_total(weights: list[int], more: int) -> None:
    total = len(weights) + more
    found = points.shares(total, weights)
    assert sum(found) == total
    # By definition of the method: one divisor rounds each weight to its share, at least 1; a tie goes either way.
    lowest = max(Fraction(weight, 1) / (share + Fraction(1, 2)) for weight, share in zip(weights, found, strict=True))
    above_one = [(weight, share) for weight, share in zip(weights, found, strict=True) if share > 1]
    assert all(lowest <= weight / (share - Fraction(1, 2)) for weight, share in above_one)
    assert min(found) >= 1


@pytest.mark.parametrize("name", course.names())
def test_a_students_copy_has_the_points_of_the_instructors_grading(name, tmp_path, monkeypatch):
    worth(monkeypatch, name, 97)
    ours = {check.id: check for check in checks_of(name, hidden=True)}
    assert sum(check.points for check in ours.values()) == 97
    written = handout.make(site="https://example.org/")[f"course/grader/exercises/{name}/{points.FILE_NAME}"]
    hidden = shutil.ignore_patterns("hidden_checks.py")
    shutil.copytree(course.exercise(name).folder, tmp_path / name, ignore=hidden)
    (tmp_path / name / points.FILE_NAME).write_bytes(written)
    monkeypatch.setattr(course, "FOLDERS", tmp_path)  # where there are no hidden checks
    theirs = {check.id: check for check in checks_of(name, hidden=True)}
    assert theirs == {id: check for id, check in ours.items() if not check.hidden}
    assert set(json.loads(written)) == set(theirs)


def test_without_an_entry_checks_are_worth_their_declared_points() -> None:
    assert {check.id: check.points for check in checks_of("kl", hidden=True)}["kl.k3_of_three_samples"] == 3
    assert not [name for name in handout.make(site="https://example.org/") if name.endswith(points.FILE_NAME)]


def test_less_than_one_point_per_check_is_refused(tmp_path, monkeypatch):
    worth(monkeypatch, "kl", 13)
    monkeypatch.setattr(course, "FILE", tmp_path / "course.toml")
    course.FILE.write_text('exercises = [\n  "kl",\n]\n[points]\nclip = 90\nkl = 13\n', "utf-8")
    with pytest.raises(FileRefused, match=r"course\.toml: .*15"):
        checks_of("kl", hidden=False)
    (tmp_path / "class" / "ada").mkdir(parents=True)
    done = call(main, "grade-all", "class", "--out", "graded", cwd=tmp_path)  # once, and before anything is graded
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("at least 15") == 1


def test_results_with_other_points_are_not_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    before = course_digest()
    worth(monkeypatch, "kl", 40)
    assert course_digest() != before
