"""`course dev vectors`: the recorded files are current; what is written anew and what is left, on a copy of one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from command import call
from submissions import grading_profile

from grader.commands.course import main
from grader.core import course
from grader.grading import vectors
from grader.grading.check import Check
from grader.grading.student import Example
from grader.sandbox.sandbox import Sandbox
from grader.workshop import write_vectors

EXERCISE = "advantages"


@pytest.fixture(scope="module", autouse=True)
def _each_vector_once() -> Iterator[None]:
    """What the answers make of a worked example is computed for the first test of this file that asks for it."""
    computed: dict[tuple[str, int], vectors.Vector] = {}
    compute = write_vectors._vector

    def once(check: Check, place: int, *others: Any) -> vectors.Vector:
        if (check.id, place) not in computed:
            computed[check.id, place] = compute(check, place, *others)
        return computed[check.id, place]

    with mock.patch.object(write_vectors, "_vector", once):
        yield


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the recorded vectors, which the command takes for the real ones."""
    shutil.copytree(course.exercise(EXERCISE).folder, tmp_path / EXERCISE)
    monkeypatch.setattr(course, "FOLDERS", tmp_path)
    vectors.load.cache_clear()
    yield tmp_path / EXERCISE / "vectors.json"
    vectors.load.cache_clear()


def change_first_value(recorded: Path, change: Callable[[float], float]) -> tuple[float, str]:
    """The first expected value as it was, and the text with another one in its place."""
    lines = recorded.read_text("utf-8").splitlines()
    place = next(number for number, line in enumerate(lines) if '"values": [' in line)
    entry = json.loads(lines[place].rstrip(","))
    was = entry["expected"]["values"][0]
    entry["expected"]["values"][0] = change(was)
    lines[place] = json.dumps(entry, ensure_ascii=False) + ("," if lines[place].endswith(",") else "")
    recorded.write_text("\n".join(lines) + "\n", "utf-8")
    return was, recorded.read_text("utf-8")


def made_anew(sandbox: Sandbox) -> str:
    with grading_profile():
        return write_vectors.make(EXERCISE, sandbox.worker)


def first_value(text: str) -> Any:
    return next(entry for entry in json.loads(text)["vectors"] if "values" in entry["expected"])["expected"]["values"][
        0
    ]


def test_digits_that_another_processor_rounded_differently_stay(sandbox: Sandbox, recorded: Path) -> None:
    was, text = change_first_value(recorded, lambda value: value * (1 + 1e-8))
    assert first_value(text) != was
    assert made_anew(sandbox) == text


def test_a_number_that_is_no_longer_right_is_written_anew(sandbox: Sandbox, recorded: Path) -> None:
    was, text = change_first_value(recorded, lambda value: value + 0.1)
    anew = made_anew(sandbox)
    assert anew != text
    assert first_value(anew) == pytest.approx(was, rel=1e-6)


def test_without_a_recording_everything_is_written(sandbox: Sandbox, recorded: Path) -> None:
    before = json.loads(recorded.read_text("utf-8"))
    recorded.unlink()
    vectors.load.cache_clear()
    anew = json.loads(made_anew(sandbox))
    assert [entry["check"] for entry in anew["vectors"]] == [entry["check"] for entry in before["vectors"]]
    assert anew["misconceptions"] == before["misconceptions"]


@pytest.mark.parametrize(
    ("values", "is_trivial"),
    [
        ([0.0, 0.0, 0.0], True),
        ([1.4e-17, 0.0, -5.6e-17], True),
        ([1.4e-17, 0.5, 0.25], True),
        ([0.0, 0.5, 0.25 + 5.6e-17], True),
        ([0.0, 0.5, 0.26], False),
        ([0.0, 0.5], False),
    ],
)
def test_whether_another_call_says_nothing_new_does_not_hang_on_the_rounding_errors_of_a_processor(
    values: list[float], is_trivial: bool
) -> None:
    seen = {"dtype": "float64", "shape": [len(values)], "values": values, "gradients": {}, "changed": []}
    assert write_vectors._is_trivial(seen, Example(np.array([0.0, 0.5, 0.25]), "k3")) == is_trivial


def test_the_recorded_vectors_are_what_the_command_writes(sandbox: Sandbox) -> None:
    done = call(main, "dev", "vectors", "--check", cwd=course.ROOT, sandbox=sandbox)
    assert (done.returncode, done.stdout) == (0, "the vectors are current\n"), done.stderr
