"""`course.toml` is read whole, or refused in a sentence; what is written again says the same."""

from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path

import pytest

from grader.core import course
from grader.core.course_file import CourseFile, read_course_file
from grader.core.refusal import FileRefused

SMALL = 'title = "Mine"\nexercises = ["kl"]\n'
FULL = CourseFile(
    title='Rewards "and" groups, täglich',
    exercises=("kl", "clip"),
    optional=("variants",),
    bonus=("clip",),
    error_carried_forward=False,
    partial_credit=False,
    hidden_checks=False,
    instructors=False,
    worksheet=True,
    institution="University of Here",
    contact="ada@uni.example",
    logo="docs/assets/logo.svg",
    site="https://example.org/grpo/",
    repository="https://github.com/example/grpo",
    deadline=datetime(2031, 11, 20, 23, 59),
    time_zone="Europe/Berlin",
    late={"deduction_percent": 10, "maximum_percent": 40, "last": datetime(2031, 11, 27, 23, 59)},
    points={"kl": 97},
    policies={"Late work": "10 % a day.", "AI": "Say so: \\ it is fine."},
)


def read(folder: Path, text: str) -> CourseFile:
    path = folder / "course.toml"
    path.write_text(text, "utf-8")
    return read_course_file(path)


def test_a_written_file_reads_back_the_same(tmp_path: Path) -> None:
    assert all(getattr(FULL, each.name) != each.default for each in fields(CourseFile)), "every entry is tried"
    assert read(tmp_path, str(FULL)) == FULL
    assert read(tmp_path, str(course.WRITTEN)) == course.WRITTEN


def test_missing_entries_have_defaults(tmp_path: Path) -> None:
    assert read(tmp_path, SMALL) == CourseFile("Mine", ("kl",))


def test_students_read_the_deadline_and_the_rule_for_late_work_in_words() -> None:
    assert FULL.hand_in_by == "Thursday 20 November 2031, 23:59 (Europe/Berlin)"
    assert FULL.late_work == (
        "10 % of all points are deducted for each day (24 hours), or part of one, after the deadline, at most 40 %. "
        "Work handed in after Thursday 27 November 2031, 23:59 (Europe/Berlin) does not count."
    )
    assert not CourseFile("Mine", ("kl",)).hand_in_by and not CourseFile("Mine", ("kl",)).late_work


def test_texts_are_one_line_and_an_address_ends_with_a_slash(tmp_path: Path) -> None:
    found = read(tmp_path, SMALL + 'institution = """\n  Here\n  and there"""\nsite = "https://example.org/a"\n')
    assert found == replace(read(tmp_path, SMALL), institution="Here and there", site="https://example.org/a/")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("worksheet = 1\n", "worksheet "),
        ('contact = ""\n', "contact "),
        ('\nsite = "example.org"\n', "site must be an address"),
        ('logo = "logo.gif"\n', "logo must be a picture"),
        ('logo = "docs/../secret.svg"\n', "logo must be a picture in docs/"),
        ("site = 5\n", "site must be an address"),
        ("[policies]\nLate = 5\n", "policies.Late "),
        ("[points]\nclip = 0\n", "points.clip .*1 to 10000, not 0"),
        ("[points]\nclip = 9\nkl = 10001\n", "points.kl .*10001"),
        ("points.clip = 9\npoints.kl = true\n", "points.kl .*True"),
        ("points = {clip = 9, kl = ''}\n", "points.kl .*''"),
        ("[points]\n'kl' = -1\n", "points.kl .*-1"),
        ("points = 40\n", "points must be a table, not 40"),
        ('universty = "Here"\n', "universty; .*title, exercises, optional"),
        ('deadline = "Friday\n', "not TOML"),
    ],
)
def test_a_wrong_entry_is_a_sentence(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(FileRefused, match=words):
        read(tmp_path, SMALL + more)


def test_a_file_without_an_entry_or_in_another_encoding_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="add the entry exercises, a list of texts"):
        read(tmp_path, 'title = "Mine"\n')
    (tmp_path / "course.toml").write_bytes('title = "Mine"\n# für alle\n'.encode("latin-1"))
    with pytest.raises(FileRefused, match=r"UTF-8"):
        read_course_file(tmp_path / "course.toml")


@pytest.mark.parametrize(
    ("exercises", "words"),
    [('["clpi"]', "'clpi'.*advantages, bandit,"), ('["kl"]', "'points.clip'")],
)
def test_a_misspelt_exercise_is_named_before_its_points(tmp_path, monkeypatch, exercises, words):
    monkeypatch.setattr(course, "FILE", tmp_path / "course.toml")
    written = read(tmp_path, f'title = "Mine"\nexercises = {exercises}\n[points]\nclip = 40\n')
    with pytest.raises(FileRefused, match=words):
        course._exercises(written)


def test_an_exercise_comes_after_those_that_it_calls() -> None:
    one, two, three, four, _ = course.EXERCISES
    assert course.missing_of(course.EXERCISES) == "" == course.missing_of([two, one])
    assert "bandit calls functions of advantages, clip and kl" in course.missing_of([four])
    assert "bandit calls functions of kl" in course.missing_of([one, two, four, three])
