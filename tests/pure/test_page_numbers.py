"""`course dev numbers`: numbers are found by the words around them, and the course's pages have those they must."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import call

from grader.commands import numbers
from grader.commands.course import main
from grader.core import course
from grader.workshop import page_claims, page_lists
from grader.workshop.page_numbers import NoPlace, with_numbers

PAGE = """The mean is
0.35 after 1,000 steps, and 7 of
8 rewards are 0. Version 0.35 stays.

| Step | Mean |
|---:|---:|
| 1 | 0.5 |
| 10 | 0.25 to 3e-07 |
| 20 | 0.125 |
"""


def test_a_number_is_found_by_its_words_wherever_the_lines_end() -> None:
    text = with_numbers(PAGE, ["The mean is 0.4 after 999 steps", "6 of 8 rewards are 0"])
    assert text == PAGE.replace("is\n0.35 after 1,000", "is\n0.4 after 999").replace("7 of\n8", "6 of\n8")


def test_rows_with_the_same_words_are_taken_in_the_order_of_the_page_and_as_a_whole() -> None:
    text = with_numbers(PAGE, ["| 1 | 0.6 |", "| 20 | 0.7 |", "| 10 | 0.3 to 4e-08 |"])
    assert text == PAGE.replace("| 0.5 |", "| 0.6 |").replace("0.125", "0.7").replace("0.25 to 3e-07", "0.3 to 4e-08")


def test_a_page_that_is_current_is_not_changed() -> None:
    assert with_numbers(PAGE, ["The mean is 0.35 after 1,000 steps", "| 1 | 0.5 |", "| 20 | 0.125 |"]) == PAGE


@pytest.mark.parametrize(
    "claims",
    [
        ["The median is 0.35"],  # other words
        ["| 1 | 0.5 |"],  # another row has the same words
        ["| 1 | 0.5 |"] * 3,
        ["The mean is 0.35 after not reached"],
        ["ersion 0.35 stays and more"],
    ],
)
def test_words_that_are_not_there_or_not_as_often_as_claimed_are_an_error(claims: list[str]) -> None:
    with pytest.raises(NoPlace, match="have the words of"):
        with_numbers(PAGE, claims)


def test_a_number_is_taken_as_a_whole() -> None:
    assert with_numbers("in 2.50 m.", ["in 3"]) == "in 3 m."
    assert with_numbers("It is 10,250.5 high.", ["7 high"]) == "It is 7 high."


def test_the_pages_of_the_course_have_the_numbers_that_they_must(tmp_path: Path) -> None:
    done = call(main, "dev", "numbers", "--check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "the numbers on the pages are current\n"), done.stdout


@pytest.fixture
def small_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with one page, whose claim is that the mean is 0.4."""
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.setattr(numbers, "CLAIMS", {"page.md": [lambda: iter(["The mean is 0.4 after"])]})
    monkeypatch.setattr(numbers, "page_lists", lambda: iter(()))
    for name, text in page_lists.api_pages().items():
        page = tmp_path / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, "utf-8")
    return tmp_path / "page.md"


def test_a_stale_page_is_named_and_written(small_course: Path, tmp_path: Path) -> None:
    done = call(main, "dev", "numbers", "--check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "page.md is stale: run `course dev numbers`\n")
    assert small_course.read_text("utf-8") == PAGE
    assert call(main, "dev", "numbers", cwd=tmp_path).returncode == 0
    assert small_course.read_text("utf-8") == PAGE.replace("is\n0.35 after", "is\n0.4 after")
    assert call(main, "dev", "numbers", "--check", cwd=tmp_path).returncode == 0


def test_words_that_no_longer_hold_are_named_and_nothing_is_written(
    small_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def falls() -> page_claims.Claims:
        yield "The mean is 0.4 after"
        raise page_claims.WordsNoLongerHold("the words no longer hold: it falls")

    monkeypatch.setattr(numbers, "CLAIMS", {"page.md": [falls]})
    done = call(main, "dev", "numbers", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("page.md: the words no longer hold: it falls\nChange the page")
    assert small_course.read_text("utf-8") == PAGE
