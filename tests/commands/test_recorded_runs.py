"""Ablations and the worksheet's model answers: the recorded numbers are what the commands measure."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from command import call

from grader.commands import course as course_command
from grader.core import course
from grader.worksheet.model_answers import model_answers
from grader.workshop import ablations, answer_key


def test_the_recorded_ablations_are_what_the_command_writes(tmp_path: Path) -> None:
    done = call(course_command.main, "dev", "ablate", "--check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "the ablations are current\n")


def test_a_changed_digit_in_a_recorded_run_is_noticed(tmp_path: Path) -> None:
    text = (course.RUNS / "clip.csv").read_text("utf-8")
    (tmp_path / "clip.csv").write_text(text.replace("0.1,", "0.2,", 1), "utf-8")
    done = call(course_command.main, "dev", "ablate", "clip", "--check", "--out", tmp_path, cwd=tmp_path)
    stale = ("clip.csv is stale: run `course dev ablate`", "clip.svg is stale: run `course dev ablate`")
    assert (done.returncode, done.stdout.splitlines()) == (1, [*stale]), "there is no picture yet"


def test_an_ablation_writes_curves_and_a_picture_and_prints_what_came_out(tmp_path: Path) -> None:
    done = call(course_command.main, "dev", "ablate", "temperature", "--seeds", 20, "--out", tmp_path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "temperature 0.5" in done.stdout
    assert (tmp_path / "temperature.svg").read_text("utf-8").startswith("<svg ")
    assert len((tmp_path / "temperature.csv").read_text("utf-8").splitlines()) == 1 + 5 * (ablations.STEPS + 1)


QUICK = [part for part in answer_key.PARTS if part not in (answer_key.kl_penalty, answer_key.local_optimum)]


@pytest.mark.parametrize("part", QUICK, ids=lambda part: part.__name__)
def test_a_part_of_the_model_answers_has_the_numbers_of_its_runs(
    part: Callable[[answer_key.Measurements], list[answer_key.Answer]],
) -> None:
    """The other two make thousands of long runs: test_the_model_answers_are_what_the_command_writes has them."""
    measured = json.loads(answer_key.MEASURED_PATH.read_text("utf-8"))["measured"]
    for answer in part(answer_key.Measurements(answer_key.SEEDS)):
        recorded = {**asdict(model_answers()[answer.id]), "measured": measured.get(answer.id, {})}
        assert asdict(answer) == recorded, "run `course dev answer-key`"


@pytest.mark.proof
def test_the_model_answers_are_what_the_command_writes(tmp_path: Path) -> None:
    done = call(course_command.main, "dev", "answer-key", "--check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "the worksheet's model answers are current\n")
