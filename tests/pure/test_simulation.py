"""The simulation in numpy: golden vectors, which that of the browser makes too, and the model answers."""

import json
import math
import re

import numpy as np
import pytest
import torch

from grader.core import course
from grader.oracles import simulation
from grader.oracles.sfc32 import uniforms
from grader.oracles.simulation import Settings, simulate
from grader.workshop import golden
from reference.bandit import grpo_step, reinforce_step
from reference.given.bandit_task import BanditConfig

GOLDEN = json.loads(golden.PATH.read_text("utf-8"))
PEAK = simulation.single_peak()


# Golden vectors


def test_random_numbers_advantages_and_tables_are_those_of_the_golden_vectors():
    for row in GOLDEN["rng"]:
        assert uniforms([row["seed"]], 1000)[0, np.array(row["draws"]) - 1].tolist() == row["values"]
    for row in GOLDEN["advantages"]:
        options = {"divide_by_std": row["divide_by_std"], "correction": row["correction"]}
        found = simulation.group_advantages(np.array(row["rewards"]), **options)
        assert found == pytest.approx(row["advantages"], abs=1e-12)
    for row in GOLDEN["tables"]:
        arguments = {name: value for name, value in row.items() if name not in ("table", "rewards")}
        assert list(getattr(simulation, row["table"])(**arguments)) == row["rewards"]


@pytest.mark.parametrize("row", GOLDEN["runs"], ids=lambda row: f"seed_{row['seed']}")
def test_a_run_is_that_of_the_golden_vectors(row):
    settings = Settings(**{**row["settings"], "reward_table": tuple(row["settings"]["reward_table"])})
    # Beside another run, which must not matter.
    runs = simulate(settings, seeds=[99, row["seed"]], steps=200)
    after = GOLDEN["after"]
    assert "".join(map(str, runs.actions[1].ravel())) == row["actions"]
    assert runs.probabilities[1, after] == pytest.approx(np.array(row["policy"]), abs=1e-9)
    assert runs.entropy[1, after] == pytest.approx(row["entropy"], abs=1e-9)
    assert runs.kl[1, after] == pytest.approx(row["kl"], abs=1e-9)
    steps = np.array(after[1:]) - 1
    assert runs.mean_reward[1, steps] == pytest.approx(row["mean_reward"], abs=1e-9)
    assert runs.clip_fraction[1, steps] == pytest.approx(row["clip_fraction"], abs=1e-9)


# Runs


@pytest.mark.parametrize(
    "settings",
    [
        Settings(reward_table=PEAK, inner_steps=4, clip_eps=0.1, lr=2.0),
        Settings(reward_table=simulation.double_peak(), inner_steps=3, kl_coef=0.5, clip_eps=0.05),
        Settings(reward_table=simulation.linear(), group_size=64, inner_steps=2),
        Settings(reward_table=PEAK, algorithm="reinforce", group_size=16),
        Settings(reward_table=PEAK, algorithm="reinforce_baseline", group_size=2),
    ],
)
def test_the_model_answers_make_the_same_policies_from_the_same_actions(settings):
    runs = simulate(settings, seeds=[6], steps=60)
    names = ("group_size", "lr", "clip_eps", "kl_coef", "inner_steps", "algorithm")
    config = BanditConfig(**{name: getattr(settings, name) for name in names})
    table = torch.tensor(settings.reward_table, dtype=torch.float64)
    logits = start = torch.zeros(10, dtype=torch.float64)
    earlier: list[float] = []
    for step, group in enumerate(torch.tensor(runs.actions[0])):
        if settings.algorithm == "grpo":
            logits = grpo_step(logits, group, table[group], start, config)
        else:
            has_baseline = earlier and settings.algorithm == "reinforce_baseline"
            baseline = float(np.mean(earlier)) if has_baseline else 0.0
            logits = reinforce_step(logits, group, table[group], config, baseline=baseline)
        earlier += table[group].tolist()
        assert torch.softmax(logits, -1).numpy() == pytest.approx(runs.probabilities[0, step + 1], abs=1e-9)


def test_the_first_step_above_a_threshold():
    curves = np.array([[0.1, 0.6, 0.4], [0.5, 0.5, 0.5], [0.9, 0.0, 0.0]])
    assert simulation.steps_until(curves, 0.5).tolist() == [1, math.inf, 0]


def test_the_probabilities_on_the_page_are_those_of_a_run_with_seed_7() -> None:
    page = (course.ROOT / "docs/simulation.md").read_text("utf-8")
    rows = re.findall(r"^\| \w[\w ]+ \| (0\.[\d. |]+) \|$", page, re.M)
    run = simulate(Settings(reward_table=PEAK), seeds=[7], steps=20).probabilities[0]
    for numbers in (PEAK, run[0], run[20]):
        assert " | ".join(f"{number:.3f}" for number in numbers) in rows
