"""The page on open debates: the numbers of its tables, by enumeration and PyTorch."""

import functools
import itertools

import numpy as np
import pytest
import torch
from page_text import numbers, row_of, says

from grader.core import course
from grader.oracles.sfc32 import uniforms

TEXT = (course.ROOT / "docs/2026/debates.md").read_text("utf-8")
PROBLEMS = ((0.6, 0.5, 0.1), (0.2, 0.0, 0.2), (0.2, 0.0, 0.0))  # share; chance by the first way and by the second
SAMPLES = (1, 2, 8, 64, 256, 1024)
STARTS = {"undecided": ([1.0, 1.0] + [0.0] * 8, [0.0] * 10), "sure": ([0.8, 1.0] + [0.0] * 8, [4.0] + [0.0] * 9)}


def cells(first):
    """The numbers of the row of the page that begins with this cell."""
    return [numbers(cell)[0] for cell in row_of(TEXT, first)]


@functools.cache
def advantages(right, group):
    """Of a right and of a wrong answer, divided by the population standard deviation."""
    rewards = np.array([1.0] * right + [0.0] * (group - right))
    centered = rewards - rewards.mean()
    return centered / rewards.std() if rewards.std() else centered


def pass_at_k(way, k):
    return sum(share * (1 - (1 - way * first - (1 - way) * second) ** k) for share, first, second in PROBLEMS)


def binomial(group, p):
    """Chance of each number of right answers, by adding one answer after the other."""
    chances = np.array([1.0])
    for _ in range(group):
        chances = np.convolve(chances, [1 - p, p])
    return chances


def way_after(steps, *, kl_coef, group=8):
    """How often the first way is taken; an answer stands for the mean score of all that earn its reward."""
    logit = 0.0
    for _ in range(steps):
        way, gradient = 1 / (1 + np.exp(-logit)), 0.0
        for share, first, second in PROBLEMS:
            p = way * first + (1 - way) * second
            if p == 0:
                continue
            scores = {1: way * first / p - way, 0: way * (1 - first) / (1 - p) - way}
            for right, chance in enumerate(binomial(group, p)):
                signs = [1] * right + [0] * (group - right)
                pushes = (a * scores[sign] for a, sign in zip(advantages(right, group), signs, strict=True))
                gradient += share * chance * sum(pushes) / group
        logit += 0.5 * (gradient - kl_coef * way * (1 - way) * logit)
    return 1 / (1 + np.exp(-logit))


def test_b14_the_table_has_pass_at_k_before_and_after_training():
    rows = (
        ("before", 0, 0),
        ("after 200 steps", 200, 0),
        ("after 200 steps, \u03b2 = 0.1", 200, 0.1),
        ("after 200 steps, \u03b2 = 0.5", 200, 0.5),
    )
    for label, steps, kl_coef in rows:
        way = way_after(steps, kl_coef=kl_coef)
        assert cells(label) == [round(100 * way), *(round(pass_at_k(way, k), 3) for k in SAMPLES)], label


def weight(name, p, group):
    """The mean over all groups of the push along the slope of p."""
    total = 0.0
    for right, chance in enumerate(binomial(group, p)):
        rewards = np.array([1.0] * right + [0.0] * (group - right))
        mean, scale = rewards.mean(), {"Dr. GRPO": 1.0, "GRPO": rewards.std(), "MaxRL": rewards.mean()}[name]
        if scale:
            total += chance * ((rewards - mean) / scale * np.where(rewards == 1, 1 / p, -1 / (1 - p))).mean()
    return total


def test_b15_the_table_has_the_weights_of_all_groups():
    for name, group in (("Dr. GRPO", 8), ("GRPO", 8), ("MaxRL", 8), ("GRPO", 2), ("GRPO", 64)):
        found = cells(f"{name}, G = {group}")
        assert found == [round(weight(name, p, group), 3) for p in (0.05, 0.1, 0.5, 0.9, 0.95)], name


def runs(start, eps_high, *, steps=100, seeds=range(1, 21)):
    """Mean entropy and expected reward (steps + 1,) of the bandit, by PyTorch's gradients of the clipped surrogate."""
    rewards, first = (torch.tensor(each, dtype=torch.float64) for each in STARTS[start])
    draws = torch.from_numpy(uniforms(seeds, 8 * steps).reshape(len(seeds), steps, 8).copy())
    logits = first.expand(len(seeds), 10).clone()
    entropies, expected = [], []
    for step in range(steps + 1):
        old = logits.log_softmax(1)
        entropies.append(-(old.exp() * old).sum(1).mean().item())
        expected.append((old.exp() @ rewards).mean().item())
        if step == steps:
            return np.array(entropies), np.array(expected)
        ends = old.exp().cumsum(1)
        ends[:, -1] = 1
        actions = (draws[:, step, :, None] >= ends[:, None, :]).sum(2)  # (R, G)
        group = rewards[actions]
        deviation = group.std(1, correction=0, keepdim=True)
        scores = (group - group.mean(1, keepdim=True)) / (deviation + 1e-8)
        scores[(group == group[:, :1]).all(1)] = 0
        for _ in range(4):
            logits = logits.detach().requires_grad_()
            ratio = (logits.log_softmax(1) - old).gather(1, actions).exp()
            objective = torch.minimum(ratio * scores, ratio.clamp(0.8, 1 + eps_high) * scores).mean(1).sum()
            (gradient,) = torch.autograd.grad(objective, logits)
            logits = (logits + 0.5 * gradient).detach()
    raise AssertionError


@pytest.mark.proof
def test_b16_the_table_has_entropy_and_reward_of_real_runs():
    ends = {"1.2": 0.2, "1.28": 0.28, "1.5": 0.5, "none": 100}
    for start, end in itertools.product(STARTS, ends):
        if (start, end) == ("undecided", "1.5"):
            continue  # only in the figure
        entropy, reward = runs(start, ends[end])
        assert cells(f"{start}, {end}") == [*(round(entropy[t], 3) for t in (0, 20, 100)), round(reward[100], 3)], (
            start,
            end,
        )


def test_the_start_of_the_sure_policy_is_what_the_page_says():
    policy = torch.tensor(STARTS["sure"][1]).softmax(0)
    says(TEXT, f"{policy[0]:.2f}", f"{policy[1]:.3f}")
