"""Chapter 7, training: the numbers of the text, by the model answers, the simulation and the recorded runs."""

import csv
import functools
import json
import math

import torch
from page_text import says, table_row, written

from grader.core import course
from grader.oracles.sfc32 import uniforms
from grader.oracles.simulation import Settings, simulate, single_peak
from reference.advantages import group_advantages
from reference.bandit import grpo_step
from reference.charlm import masked_mean
from reference.given.bandit_task import BanditConfig
from reference.kl import categorical_kl

TEXT = (course.ROOT / "docs/learn/training.md").read_text("utf-8")
RUNS = course.ROOT / "docs/assets/runs"
REWARDS = single_peak()
DOUBLE = torch.float64


def section(anchor):
    """The text of the page below the heading with this anchor, on one line."""
    below = TEXT.split(f"{{ #{anchor} }}\n", 1)[1]
    return " ".join(below.split("\n### ", 1)[0].split())


def fixed(number, digits=3):
    return written(number, digits, sign=False)


# One training step


@functools.cache
def small_step(steps_before, seed=3):
    """Actions, rewards, advantages, policies before and after, and the pulls of one step, by the model answers."""
    rewards = torch.tensor([0, 1 / 3, 2 / 3, 1, 2 / 3], dtype=DOUBLE)
    config = BanditConfig(group_size=6, lr=0.5, kl_coef=0.04)
    draws = uniforms([seed], (steps_before + 1) * 6).reshape(-1, 6)
    start = logits = torch.zeros(5, dtype=DOUBLE)
    for row in draws:
        before = logits
        ends = torch.softmax(before, dim=0).cumsum(dim=0)[:-1]
        actions = torch.searchsorted(ends, torch.tensor(row, dtype=DOUBLE), right=True)
        logits = grpo_step(before, actions, rewards[actions], start, config)
    return {
        "actions": (actions + 1).tolist(),
        "rewards": rewards[actions],
        "advantages": group_advantages(rewards[actions]),
        "before": torch.softmax(before, dim=0),
        "after": torch.softmax(logits, dim=0),
        "pulls": (logits - before) / config.lr,
        "kl": categorical_kl(before, start).item(),
        "expected": [float(torch.softmax(each, dim=0) @ rewards) for each in (before, logits)],
    }


def test_w17_worked_numbers_on_the_page_are_those_of_the_model_answers():
    text = section("training-step")
    first, later = small_step(0), small_step(15)
    for i, (action, reward, advantage) in enumerate(
        zip(first["actions"], first["rewards"].tolist(), first["advantages"].tolist(), strict=True)
    ):
        shown = written(advantage)
        assert table_row(i + 1, action, f"{reward:.2f}", shown, shown) in text
    mean, std = first["rewards"].mean(), first["rewards"].std(correction=0)
    says(text, f"{mean:.3f}", f"{std:.3f}")
    before, after = 100 * first["before"], 100 * first["after"]
    says(text, f"{before[3]:.1f}", f"{after[3]:.1f}", f"{before[0]:.1f}", f"{after[0]:.1f}")
    says(text, *(f"{reward:.3f}" for reward in first["expected"]))
    pull = first["pulls"][0].item()
    says(text, f"{-3 * pull:.3f}", fixed(pull))
    assert first["pulls"].argmin() == 0 and first["actions"].count(1) == 2
    assert later["actions"] == [4] * 6 and later["advantages"].tolist() == [0] * 6
    says(text, f"{100 * later['before'][3]:.1f}", f"{100 * later['after'][3]:.1f}")


# KL over 200 steps


@functools.cache
def kl_runs(kl_coef, divide_by_std=True):
    settings = Settings(reward_table=REWARDS, kl_coef=kl_coef, divide_by_std=divide_by_std)
    return simulate(settings, seeds=range(20), steps=200)


def balance(kl_coef, group_size=8):
    """KL of softmax(c * reward / kl_coef) to the uniform policy."""
    logits = torch.tensor(REWARDS, dtype=DOUBLE) * (1 - 1 / group_size) / kl_coef
    return categorical_kl(logits, torch.zeros_like(logits)).item()


def test_w18_worked_numbers_on_the_page_are_those_of_the_simulation():
    text = section("kl-over-steps")
    columns = [kl_runs(beta) for beta in (0.0, 0.04, 0.3, 1.0)] + [kl_runs(0.3, False)]
    for step in (10, 50, 200):
        assert table_row(step, *(fixed(runs.kl[:, step].mean()) for runs in columns)) in text
    none, small, middle, strong, mean_only = [runs.kl.mean(axis=0) for runs in columns]
    says(text, f"{none[25]:.3f}", f"{middle[25]:.3f}", f"{balance(0.3):.3f}", f"{math.log(10):.3f}")
    says(text, *(f"{kl[200]:.3f}" for kl in (none, small, middle, strong, mean_only)))


# Three ways to average


def pushes(lengths, way):
    """Minus the gradient of the fresh policy loss by the first log-probability of each completion, and the loss."""
    advantages = group_advantages(torch.tensor([1.0, 1, 0, 0], dtype=DOUBLE))
    mask = torch.arange(20) < torch.tensor(lengths)[:, None]
    logp = torch.zeros(mask.shape, dtype=DOUBLE, requires_grad=True)
    surrogate = (logp - logp.detach()).exp() * advantages[:, None]
    if way == "constant":
        loss = -torch.where(mask, surrogate, 0.0).sum() / (len(lengths) * 20)
    else:
        loss = -masked_mean(surrogate, mask, level=way)
    loss.backward()
    assert logp.grad is not None
    return [-each[0].item() for each in logp.grad], loss.item()


def test_b03_worked_numbers_on_the_page_are_those_of_the_model_answers():
    text = section("averaging")
    lengths = [4, 10, 4, 20]
    found = [pushes(lengths, way) for way in ("sequence", "token", "constant")]
    for i, name in enumerate(("correct 1", "correct 2", "wrong 1", "wrong 2")):
        assert table_row(name, lengths[i], *(written(push[i], 4) for push, _ in found)) in text
    assert f"| fresh loss | | {' | '.join(fixed(loss, 4) for _, loss in found)} |" in text
    (sequence, _), (token, _), _ = found
    says(text, f"{-sequence[3]:.4f}", f"{-sequence[2]:.4f}")
    says(text, f"{-100 * token[3] * 20:.0f} %")


# Recorded runs


def metrics(run):
    with open(RUNS / f"charlm-{run}/metrics.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def exact(run):
    """Exact success at the recorded steps."""
    points = json.loads((RUNS / f"charlm-{run}/samples.json").read_text("utf-8"))["points"]
    return {point["step"]: point["exact"] for point in points}


def test_d09_worked_numbers_on_the_page_are_those_of_the_recorded_files():
    text = section("recorded-run") + section("ratio-level")
    rows, by_sequence = metrics("pizza"), metrics("pizza-sequence")
    for step in (1, 10, 20, 40):
        row = rows[step - 1]
        cells = [float(row[name]) for name in ("mean_reward", "kl", "policy_loss", "zero_signal_fraction")]
        assert table_row(step, *(fixed(cell) for cell in cells)) in text
    usual, held = exact("pizza"), exact("pizza-kl")
    says(text, f"{usual[0]:.3f}", f"{usual[40]:.3f}", f"{held[8]:.3f}", f"{held[40]:.3f}")
    assert [row["mean_reward"] for row in rows] == [row["mean_reward"] for row in by_sequence]
    says(text, f"{len(rows)}", f"{exact('pizza-sequence')[40]:.3f}")
