"""`course.toml` is read whole, or refused in a sentence with its line; what is written again says the same."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from grader.core import course
from grader.core.course_file import CourseFile, read_course_file
from grader.core.toml_file import TomlFileError

SMALL = 'title = "Mine"\nexercises = ["kl"]\n'
FULL = CourseFile(
    title='Rewards "and" groups, täglich',
    exercises=("kl", "clip"),
    error_carried_forward=False,
    hidden_checks=False,
    personal_sets=True,
    worksheet=True,
    institution="University of Here",
    contact="ada@uni.example",
    logo="docs/assets/logo.svg",
    site="https://example.org/grpo/",
    deadline="Friday, 23:59",
    late_policy="late.toml",
    points={"kl": 97},
    policies={"Late work": "10 % a day.", "AI": "Say so: \\ it is fine."},
)


def read(folder: Path, text: str) -> CourseFile:
    path = folder / "course.toml"
    path.write_text(text, "utf-8")
    return read_course_file(path)


def test_what_is_written_again_says_the_same(tmp_path: Path) -> None:
    assert all(getattr(FULL, each.name) != each.default for each in fields(CourseFile)), "every entry is tried"
    assert read(tmp_path, str(FULL)) == FULL
    assert read(tmp_path, str(course.WRITTEN)) == course.WRITTEN


def test_what_the_file_does_not_say_has_a_default(tmp_path: Path) -> None:
    assert read(tmp_path, SMALL) == CourseFile("Mine", ("kl",))


def test_texts_are_one_line_and_an_address_ends_with_a_slash(tmp_path: Path) -> None:
    found = read(tmp_path, SMALL + 'institution = """\n  Here\n  and there"""\nsite = "https://example.org/a"\n')
    assert found == replace(read(tmp_path, SMALL), institution="Here and there", site="https://example.org/a/")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("worksheet = 1\n", "line 3: worksheet must be true or false, not 1"),
        ('contact = ""\n', "line 3: contact must be text, not ''"),
        ('\nsite = "example.org"\n', "line 4: site must be an address such as https://example.org/grpo/, "),
        ('logo = "logo.gif"\n', "line 3: logo must be a picture in docs/ whose name ends in .svg or .png, "),
        ('logo = "docs/../secret.svg"\n', "line 3: logo must be a picture in docs/"),
        ("[policies]\nLate = 5\n", "line 4: policies.Late must be text, not 5"),
        ("[points]\nclip = 0\n", "line 4: points.clip must be a whole number from 1 to 10000, not 0"),
        ('universty = "Here"\n', "line 3: there is no entry 'universty'; there are title, exercises, points, policies"),
    ],
)
def test_a_wrong_entry_is_a_sentence_with_its_line(tmp_path: Path, more: str, sentence: str) -> None:
    with pytest.raises(TomlFileError) as caught:
        read(tmp_path, SMALL + more)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("exercises", "sentence"),
    [
        ('["clpi"]', "line 2: there is no exercise 'clpi'; there are advantages, bandit,"),
        ('["kl"]', "line 4: there is no entry 'points.clip'; there are kl"),
    ],
)
def test_a_misspelt_exercise_is_named_before_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exercises: str, sentence: str
) -> None:
    monkeypatch.setattr(course, "FILE", tmp_path / "course.toml")
    written = read(tmp_path, f'title = "Mine"\nexercises = {exercises}\n[points]\nclip = 40\n')
    with pytest.raises(TomlFileError) as caught:
        course._exercises(written)
    assert sentence in str(caught.value)


def test_an_exercise_comes_after_those_that_it_calls() -> None:
    one, two, three, four, _ = course.EXERCISES
    assert course.missing_of(course.EXERCISES) == "" == course.missing_of([two, one])
    assert course.missing_of([four]) == "bandit calls functions of advantages, clip and kl: name them before it"
    assert course.missing_of([one, two, four, three]) == "bandit calls functions of kl: name them before it"
