"""The simulation in numpy makes the same policies as the model answers; `course dev golden` repeats its runs."""

import math

import numpy as np
import pytest
import torch

from grader.oracles import simulation
from grader.oracles.simulation import SimulationSettings, simulate
from reference.bandit import grpo_step, reinforce_step
from reference.given.bandit_task import BanditConfig

PEAK = simulation.single_peak()


def test_a_run_does_not_depend_on_the_runs_beside_it():
    settings = SimulationSettings(reward_table=PEAK, inner_steps=4, clip_eps=0.1, lr=2.0)
    alone, together = (simulate(settings, seeds=seeds, steps=50) for seeds in ([6], [99, 6]))
    assert (together.actions[1] == alone.actions[0]).all()
    assert together.probabilities[1] == pytest.approx(alone.probabilities[0], abs=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        SimulationSettings(reward_table=PEAK, inner_steps=4, clip_eps=0.1, lr=2.0),
        SimulationSettings(reward_table=simulation.double_peak(), inner_steps=3, kl_coef=0.5, clip_eps=0.05),
        SimulationSettings(reward_table=simulation.linear(), group_size=64, inner_steps=2),
        SimulationSettings(reward_table=PEAK, algorithm="reinforce", group_size=16),
        SimulationSettings(reward_table=PEAK, algorithm="reinforce_baseline", group_size=2),
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
