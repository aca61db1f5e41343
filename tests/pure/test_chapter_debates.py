"""The page on open debates: the numbers of its tables, by enumeration and PyTorch."""

import functools

import numpy as np
from page_text import numbers, row_of

from grader.core import course

TEXT = (course.ROOT / "docs/2026/debates.md").read_text("utf-8")
PROBLEMS = ((0.6, 0.5, 0.1), (0.2, 0.0, 0.2), (0.2, 0.0, 0.0))  # share; chance by the first way and by the second
SAMPLES = (1, 2, 8, 64, 256, 1024)


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
