"""Chapter 7, training: the numbers of the text, by the model answers, the simulation and the recorded runs."""

import csv
import functools
import json
import math

import torch
from page_text import says, table_row, written

from grader.core import course
from grader.oracles.simulation import SimulationSettings, simulate, single_peak
from reference.advantages import group_advantages
from reference.charlm import masked_mean
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


# KL over 200 steps


@functools.cache
def kl_runs(kl_coef, divide_by_std=True):
    settings = SimulationSettings(reward_table=REWARDS, kl_coef=kl_coef, divide_by_std=divide_by_std)
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
    usual, held = exact("pizza"), exact("pizza-kl")
    says(text, f"{usual[0]:.3f}", f"{usual[40]:.3f}", f"{held[8]:.3f}", f"{held[40]:.3f}")
    assert [row["mean_reward"] for row in rows] == [row["mean_reward"] for row in by_sequence]
    says(text, f"{len(rows)}", f"{exact('pizza-sequence')[40]:.3f}")
