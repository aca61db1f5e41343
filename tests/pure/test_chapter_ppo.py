"""Chapter 2, what PPO costs: the numbers of the text, counted again and run again in numpy."""

import re
from functools import cache

import numpy as np
from page_text import says

from grader.core import course
from grader.oracles import simulation

TEXT = (course.ROOT / "docs/learn/ppo.md").read_text("utf-8")
STEPS = 200
BITS = {"weights": "weights only, 2 bytes each", "training state": "training state, 16 bytes if trained"}
REWARDS = ["PPO: a model, GRPO: a rule", "a model for both", "a rule for both"]


def memory(size, count, reward, *, reference=True):
    """Gigabytes of PPO and of GRPO, added up by hand: policy, critic, reference policy, reward model."""
    trained = 16 * size if count == "training state" else 2 * size
    kept = 2 * size if reference else 0
    ppo = trained + trained + kept + (0 if reward == "a rule for both" else 2 * size)
    grpo = trained + kept + (2 * size if reward == "a model for both" else 0)
    return ppo, grpo


def less(ppo, grpo):
    return f"{100 * (ppo - grpo) / ppo:.0f}"


@cache
def race(algorithm, *, offset=1, critic_lr=0.03, divide_by_std=True, seed=0):
    """Twenty runs of the bandit in numpy, and the probability of its best action (20, steps + 1)."""
    table = tuple(reward + offset for reward in simulation.single_peak())
    settings = simulation.SimulationSettings(
        reward_table=table, algorithm=algorithm, critic_lr=critic_lr, divide_by_std=divide_by_std
    )
    runs = simulation.simulate(settings, seeds=range(seed, seed + 20), steps=STEPS)
    return runs, runs.probabilities[:, :, 6]


def winners(curves):
    return int((curves[:, -1] > 0.5).sum())


def median_step(steps):
    """The lower of the two middle values; "never" if that run never gets there."""
    middle = sorted(steps)[9]
    return "never" if np.isinf(middle) else f"{middle:.0f}"


def test_w02_memory_in_the_text_is_counted_right():
    for count in BITS:
        for reward in REWARDS:
            ppo, grpo = memory(7, count, reward)
            assert f"| {count} | {reward} | {ppo} GB | {grpo} GB | {less(ppo, grpo)} % |" in TEXT
    ppo, grpo = memory(7, "training state", "a rule for both")
    says(TEXT, ppo, less(ppo, grpo))


def test_w03_results_in_the_text_are_those_of_the_simulation():
    rows = re.findall(
        r"^\| (\d) \| (GRPO|GRPO, mean only|actor-critic, \u03b1 = ([\d.]+)) \| (.*?) \| (.*?) \|$", TEXT, re.M
    )
    assert len(rows) == 8
    for offset, method, rate, won, step in rows:
        _, curves = race(
            "actor_critic" if rate else "grpo",
            offset=int(offset),
            critic_lr=float(rate or 0.1),
            divide_by_std="mean only" not in method,
        )
        assert won == f"{winners(curves)} of 20"
        assert step == median_step(simulation.steps_until(curves, 0.9))
