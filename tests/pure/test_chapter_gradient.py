"""Chapter 4, the policy gradient: the numbers of the text, by torch and numpy."""

import contextlib
import io
import itertools
import re

import numpy as np
import pytest
import torch
from page_text import numbers, says

from grader.core import course

TEXT = (course.ROOT / "docs/learn/gradient.md").read_text("utf-8")
POLICY = np.array([0.5, 0.3, 0.2])
REWARDS = {"1, 0, 0": np.array([1.0, 0, 0]), "6, 5, 5": np.array([6.0, 5, 5])}
SCORES = np.eye(3) - POLICY
"""Row a: the gradient of log pi(a) with respect to the logits."""


def ascend(policy, rewards, *, steps=1):
    """The policy after some steps of size 1 along the gradient that torch finds."""
    logits = torch.tensor(policy, dtype=torch.float64).log()
    for _ in range(steps):
        leaf = logits.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(torch.softmax(leaf, -1) @ torch.tensor(rewards, dtype=torch.float64), leaf)
        logits = logits + gradient
    return torch.softmax(logits, -1).numpy(), gradient.numpy()


def gradients(rewards, size, score):
    """Mean and variance of the gradient of a group, over all groups in any order."""
    chances, found = [], []
    for actions in itertools.product(range(3), repeat=size):
        group = [*actions]
        chances.append(np.prod(POLICY[group]))
        found.append((score(rewards[group])[:, None] * SCORES[group]).mean(axis=0))
    mean = np.array(chances) @ np.array(found)
    return mean, np.array(chances) @ ((np.array(found) - mean) ** 2).sum(axis=1)


def others(rewards):
    return rewards - (rewards.sum() - rewards) / (len(rewards) - 1)


def written(number, digits=2):
    return f"{number:+.{digits}f}".replace("-", "\u2212") if abs(number) > 1e-9 else "0"


def triple(values, digits=2):
    return ", ".join(written(value, digits) for value in values)


def test_b09_numbers_in_the_text_are_those_of_torch():
    after, gradient = ascend(POLICY, (1, 0, 0))
    for a, reward in enumerate((1, 0, 0)):
        row = f"| {a + 1} | {reward} | {POLICY[a]:.3f} | {written(gradient[a], 3)} | {after[a]:.3f} |"
        assert row in TEXT
    says(TEXT, f"{after[0]:.3f}", f"{ascend(POLICY, (1, 0, 0), steps=20)[0][0]:.3f}")
    sure = (0.02, 0.96, 0.02)
    reached = [sure[0], ascend(sure, (1, 0, 0))[0][0], ascend(sure, (1, 0, 0), steps=20)[0][0]]
    says(TEXT, *(f"{share:.3f}" for share in reached))
    assert ascend(POLICY, (6, 5, 5))[0] == pytest.approx(after)
    _, second = ascend((0.1, 0.5, 0.4), (1, 0, 0.8))
    says(TEXT, written(second[2], 3), written(second[0], 3))


def test_b09_the_table_by_hand_is_right():
    rewards = REWARDS["1, 0, 0"]
    for a in range(3):
        parts = [SCORES[a], rewards[a] * SCORES[a], (rewards[a] - 0.5) * SCORES[a]]
        row = f"| {a + 1} | {POLICY[a]} | {triple(parts[0], 1)} | {triple(parts[1])} | {triple(parts[2])} |"
        assert row in TEXT
    mean = triple(POLICY @ (rewards[:, None] * SCORES))
    assert f"| mean | | {triple(POLICY @ SCORES)} | **{mean}** | **{mean}** |" in TEXT
    before, after = (gradients(rewards, 1, lambda r, b=b: r - b)[1] for b in (0, 0.5))
    says(TEXT, f"{before:.3f}", f"{after:.3f}")


def test_b09_the_code_of_the_chapter_prints_what_it_says():
    ratio, square = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(ratio, {})  # the code of the page itself
        exec(square, {})
    gradient, *rounds = printed.getvalue().splitlines()
    assert numbers(gradient) == pytest.approx([0.5, -0.3, -0.2])
    assert [float(line) for line in rounds] == pytest.approx([2.4, 1.92, 1.536])
    says(square, "2.4", "1.92", "1.536")


def test_b10_lengths_and_variances_in_the_text_are_enumerated():
    rows = re.findall(r"^\| (\S.*) \| (\d) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", TEXT, re.M)
    assert len(rows) == 9
    truth = np.linalg.norm(POLICY * (REWARDS["1, 0, 0"] - 0.5))
    for what, size, length, *variances in rows:
        fixed = numbers(what.replace("nothing", "0"))
        for rewards, b, shown in zip(REWARDS.values(), itertools.cycle(fixed or [None]), variances, strict=False):
            known = {"mean of the group": lambda r: r - r.mean(), "mean of the others": others}
            score = known.get(what, lambda r, b=b: r - b)
            mean, variance = gradients(rewards, int(size), score)
            assert (f"{np.linalg.norm(mean) / truth:.2f}", f"{variance:.3f}") == (length, shown), what
