"""Ablations and the worksheet's model answers: pages and answers say what the recorded runs show."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from grader.core import course
from grader.oracles.simulation import Settings, simulate, single_peak
from grader.worksheet.model_answers import model_answers
from grader.worksheet.questions import QUESTIONS
from grader.workshop import ablations, answer_key


def rows_of(name: str) -> list[dict[str, str]]:
    with (course.RUNS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def last(name: str, settings: Iterable[str], column: str) -> list[float]:
    """A column after the last step, one number per setting."""
    rows = {row["setting"]: row for row in rows_of(name) if row["step"] == str(ablations.STEPS)}
    return [float(rows[setting][column]) for setting in settings]


@pytest.fixture(scope="module")
def key() -> dict[str, dict[str, Any]]:
    """The answers and their measurements, by question."""
    measured = json.loads(answer_key.MEASURED_PATH.read_text("utf-8"))["measured"]
    return {name: {**asdict(answer), "measured": measured.get(name, {})} for name, answer in model_answers().items()}


def test_the_recorded_curves_are_quantiles_of_runs_that_anybody_can_make() -> None:
    for ablation in ablations.ABLATIONS:
        assert {row["setting"] for row in rows_of(ablation.name)} == set(ablation.settings)
    settings = Settings(reward_table=single_peak(), group_size=4)
    ends = simulate(settings, seeds=range(ablations.SEEDS), steps=ablations.STEPS).probabilities[:, -1, 6]
    for name, share in (("low", 0.1), ("median", 0.5)):
        (recorded,) = last("group-size", ["G = 4"], f"best_probability_{name}")
        assert recorded == pytest.approx(np.quantile(ends, share), rel=1e-3)
    rows = [row for row in rows_of("mean-reward") if row["setting"] == "double peak"]
    assert [int(row["step"]) for row in rows] == list(range(81))
    assert rows[0]["mean_reward_median"] == ""  # there is no group before the first step
    table = np.array([0.7 / 3, 1.4 / 3, 0.7, 1.4 / 3, 0.7 / 3, 1 / 3, 2 / 3, 1, 2 / 3, 1 / 3])
    runs = simulate(Settings(reward_table=tuple(table)), seeds=range(ablations.SEEDS), steps=20)
    earned = table[runs.actions[:, 19]].mean(axis=-1)
    for name, share in (("low", 0.1), ("median", 0.5), ("high", 0.9)):
        assert float(rows[20][f"mean_reward_{name}"]) == pytest.approx(np.quantile(earned, share), rel=1e-3)


def test_the_numbers_on_the_bandit_page_are_those_of_the_runs(key: dict[str, dict[str, Any]]) -> None:
    page = (course.ROOT / "docs" / "exercises" / "bandit.md").read_text("utf-8")
    measured = key["1E.2"]["measured"]
    for name in ("GRPO", "REINFORCE", "REINFORCE + baseline"):
        share = measured[f"rewards + 5, finds the peak: {name}"]
        label = name.replace("+", "with a")
        assert re.search(rf"\| {label} \| \d+ % \| {share * 100:.0f} % \|", page), (name, share)
    for share in last("clip", ["no clip", "clip_eps 0.2"], "sure_of_wrong_action_mean"):
        assert f"{share * 100:.0f} %" in page


def test_the_files_of_the_model_answers_agree(key: dict[str, dict[str, Any]]) -> None:
    """Their numbers take longer to make: tests/commands/test_recorded_runs.py has them."""
    answers = [answer_key.Answer(**each) for each in key.values()]
    for path, text in answer_key.texts(answers, answer_key.SEEDS).items():
        assert path.read_text("utf-8") == text, f"{path} is stale: run `course dev answer-key`"
    entries = dict(re.findall(r'^"(\S+)": (\[.*\]),$', answer_key.BROWSER_PATH.read_text("utf-8"), re.MULTILINE))
    assert list(entries) == [question.id for question in QUESTIONS]
    for name, entry in entries.items():
        shown = [text.replace("\u03c0", "pi").replace("\u03b2", "beta") for text in json.loads(entry)]
        assert shown == [key[name]["answer"], key[name]["experiment"]]


def test_the_measurements_show_what_the_model_answers_say(key: dict[str, dict[str, Any]]) -> None:
    assert key["1E.2"]["measured"]["smoothest: GRPO"] < 0.05
    assert key["1E.2"]["measured"]["rewards + 5, finds the peak: REINFORCE"] < 0.5
    assert key["bonus"]["measured"]["kl_coef 0.3, 500 steps"][1] > 0.95
    assert key["bonus"]["measured"]["kl_coef 1, 500 steps"][1] < 0.6
    assert key["1D.2"]["measured"]["range of G = 32 below that of G = 2"] > 0.99
    assert key["1D.2"]["measured"]["G = 2, pi(7) below 0.5"] > 0.1
    by_group_size = [key["extra"]["measured"][f"G = {size}"] for size in (2, 4, 8, 16, 32, 64)]
    assert by_group_size == sorted(by_group_size)
    settled = key["bonus"]["measured"]["kl_coef 0.3, no division by std, G = 32, 500 steps"][1]
    gibbs = np.exp(np.array(single_peak()) * (1 - 1 / 32) / 0.3)
    assert settled == pytest.approx(gibbs[6] / gibbs.sum(), abs=0.01)
