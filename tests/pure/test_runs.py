"""Ablations: pages say what the recorded runs show. The worksheet: each question has a model answer."""

from __future__ import annotations

import csv
from collections.abc import Iterable

import numpy as np
import pytest
import record_ablations as ablations

from grader.core import course
from grader.oracles.simulation import SimulationSettings, simulate, single_peak
from grader.worksheet.model_answers import model_answers
from grader.worksheet.questions import QUESTIONS


def rows_of(name: str) -> list[dict[str, str]]:
    with (course.RUNS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def last(name: str, settings: Iterable[str], column: str) -> list[float]:
    """A column after the last step, one number per setting."""
    rows = {row["setting"]: row for row in rows_of(name) if row["step"] == str(ablations.USUAL_STEPS)}
    return [float(rows[setting][column]) for setting in settings]


def test_the_recorded_curves_are_quantiles_of_runs_that_anybody_can_make() -> None:
    for name, labels in ablations.SETTINGS.items():
        assert {row["setting"] for row in rows_of(name)} == {*labels}
    settings = SimulationSettings(reward_table=single_peak(), group_size=4)
    ends = simulate(settings, seeds=range(ablations.SEEDS), steps=ablations.USUAL_STEPS).probabilities[:, -1, 6]
    for name, share in (("low", 0.1), ("median", 0.5)):
        (recorded,) = last("group-size", ["G = 4"], f"best_probability_{name}")
        assert recorded == pytest.approx(np.quantile(ends, share), rel=1e-3)
    rows = [row for row in rows_of("mean-reward") if row["setting"] == "double peak"]
    assert [int(row["step"]) for row in rows] == list(range(81))
    assert rows[0]["mean_reward_median"] == ""  # there is no group before the first step
    table = np.array([0.7 / 3, 1.4 / 3, 0.7, 1.4 / 3, 0.7 / 3, 1 / 3, 2 / 3, 1, 2 / 3, 1 / 3])
    runs = simulate(SimulationSettings(reward_table=tuple(table)), seeds=range(ablations.SEEDS), steps=20)
    earned = table[runs.actions[:, 19]].mean(axis=-1)
    for name, share in (("low", 0.1), ("median", 0.5), ("high", 0.9)):
        assert float(rows[20][f"mean_reward_{name}"]) == pytest.approx(np.quantile(earned, share), rel=1e-3)


def test_every_question_of_the_worksheet_has_a_model_answer() -> None:
    answers = model_answers()
    assert {question.id for question in QUESTIONS} <= {*answers}
    assert all(answer.question and answer.answer for answer in answers.values())
