"""Generated files are current, pages of mistakes show the recorded numbers, and pages get their values."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import call

from grader.commands.course import main
from grader.core import course
from grader.grading import recorded_answers
from site_steps import mistakes
from site_steps.page_values import OF_AN_EXERCISE, VALUES, expand


@pytest.mark.parametrize("command", ["stubs", "golden", "recordings"])
def test_generated_files_are_current(command: str, tmp_path: Path) -> None:
    done = call(main, "dev", command, "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_gets_its_values_and_an_unknown_name_stops_the_build() -> None:
    total = sum(int(OF_AN_EXERCISE["points"](exercise)) for exercise in course.EXERCISES)
    assert expand("all {{ points }}, `${{ secrets.KEY }}`") == f"all {total}, `${{{{ secrets.KEY }}}}`"
    assert expand("{{ minutes kl }} minutes") == f"{course.exercise('kl').minutes} minutes"
    with pytest.raises(KeyError):
        expand("{{ no_such_value }}")
    assert all(make() for make in VALUES.values())


def test_a_page_of_mistakes_shows_each_mistake_with_its_recorded_numbers() -> None:
    recorded, known = recorded_answers.load("clip")
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
