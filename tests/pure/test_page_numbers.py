"""Numbers on pages (`course dev numbers`) and other generated files are current, and a stale page is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import call

from grader.commands import numbers
from grader.commands.course import main
from grader.core import course
from grader.grading import vectors
from grader.workshop import mistakes
from grader.workshop.page_numbers import with_numbers

PAGE = """The mean is
0.35 after 1,000 steps, and 7 of
8 rewards are 0. Version 0.35 stays.

| Step | Mean |
|---:|---:|
| 1 | 0.5 |
| 10 | 0.25 to 3e-07 |
| 20 | 0.125 |
"""


@pytest.mark.parametrize("command", ["numbers", "mistakes", "stubs", "golden"])
def test_generated_files_are_current(command: str, tmp_path: Path) -> None:
    done = call(main, "dev", command, "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_numbers_are_found_by_the_words_around_them() -> None:
    claims = ["The mean is 0.4 after 999 steps", "6 of 8 rewards are 0", "| 1 | 0.6 |", "| 20 | 0.7 |"]
    expected = PAGE.replace("is\n0.35 after 1,000", "is\n0.4 after 999").replace("7 of\n8", "6 of\n8")
    assert with_numbers(PAGE, [*claims, "| 10 | 0.3 to 4e-08 |"]) == (
        expected.replace("| 0.5 |", "| 0.6 |").replace("0.125", "0.7").replace("0.25 to 3e-07", "0.3 to 4e-08")
    )
    assert with_numbers("It is 10,250.5 high, 2.50 m.", ["7 high", "3 m"]) == "It is 7 high, 3 m."


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only page of a course; the claim about it is that the mean is 0.4."""
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.setattr(numbers, "CLAIMS", {"page.md": [lambda: iter(["The mean is 0.4 after"])]})
    monkeypatch.setattr(numbers, "page_lists", lambda: iter(()))
    monkeypatch.setattr(numbers, "api_pages", dict)
    return tmp_path / "page.md"


def test_a_stale_page_is_named_and_written(page: Path, tmp_path: Path) -> None:
    done = call(main, "dev", "numbers", "--check", cwd=tmp_path)
    assert done.returncode == 1 and "page.md is stale" in done.stdout
    assert page.read_text("utf-8") == PAGE
    assert call(main, "dev", "numbers", cwd=tmp_path).returncode == 0
    assert page.read_text("utf-8") == PAGE.replace("is\n0.35 after", "is\n0.4 after")
    assert call(main, "dev", "numbers", "--check", cwd=tmp_path).returncode == 0


def test_a_page_of_mistakes_shows_each_mistake_with_its_recorded_numbers() -> None:
    recorded, known = vectors.load("clip")
    text = mistakes.make("clip")
    assert all(f"{{id: {function}-{name}}}" in text for function in known for name in known[function])
    (first, *_) = recorded["clip.the_four_corners_of_the_clip"]
    compared = 0
    for name, observation in first.mistakes.items():
        values = observation.get("values") or [""]
        if len(values) == 4 and all(isinstance(value, float) for value in values):
            entry = text.split(f"{{id: clipped_surrogate-{name}}}", 1)[1].split("\n///\n", 1)[0]
            assert ", ".join(f"{value:.4g}" for value in values).replace("-", "\N{MINUS SIGN}") in entry
            compared += 1
    assert compared >= 5
