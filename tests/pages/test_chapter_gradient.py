"""Chapter 4, the policy gradient: every number against torch and numpy, and what a reader does with the explorables."""

import contextlib
import io
import itertools
import re

import numpy as np
import pytest
import torch
from explorables import numbers

from grader.core import course

PATH = "/learn/gradient/"
TEXT = (course.ROOT / "docs/learn/gradient.md").read_text("utf-8")
POLICY = np.array([0.5, 0.3, 0.2])
REWARDS = {"1, 0, 0": np.array([1.0, 0, 0]), "6, 5, 5": np.array([6.0, 5, 5])}
SCORES = np.eye(3) - POLICY
"""Row a: the gradient of log pi(a) with respect to the logits."""
ONE_STEP = "One step of size 1"
GROUPS = "Groups by their actions, and the mean over all groups"


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


SCORED = {"mean of the group": lambda r: r - r.mean(), "mean of the others": others}


def written(number, digits=2):
    return f"{number:+.{digits}f}".replace("-", "\u2212") if abs(number) > 1e-9 else "0"


def triple(values, digits=2):
    return ", ".join(written(value, digits) for value in values)


def test_b09_gradient_and_step_are_those_of_torch(open_figure):
    figure = open_figure(PATH, "grpo-policy-gradient")
    for example, policy, rewards in [
        ("As by hand", (0.5, 0.3, 0.2), (1, 0, 0)),
        ("Sure and wrong", (0.02, 0.96, 0.02), (1, 0, 0)),
        ("Sure and right", (0.96, 0.02, 0.02), (1, 0, 0)),
        ("A good second", (0.1, 0.5, 0.4), (1, 0, 0.8)),
    ]:
        figure.press(example)
        after, gradient = ascend(policy, rewards)
        shown = [figure.column(place, ONE_STEP) for place in range(5)]
        assert shown[1:3] == [list(rewards), list(policy)]
        assert shown[3] == pytest.approx(gradient, abs=5.1e-4) and shown[4] == pytest.approx(after, abs=5.1e-4)
        later, _ = ascend(policy, rewards, steps=20)
        assert numbers(figure.status)[0] == pytest.approx(policy @ np.array(rewards), abs=5e-4)
        assert numbers(figure.status)[-3::2] == pytest.approx([after @ rewards, later @ rewards], abs=5.1e-4)


def test_b09_the_policy_is_dragged_and_the_rest_follows_a_slider(open_figure):
    figure = open_figure(PATH, "grpo-policy-gradient")
    box = figure.node.locator(".rim").bounding_box()
    mouse = figure.page.mouse
    dot = figure.node.locator(".handle").bounding_box()
    mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    mouse.down()
    mouse.move(box["x"] + box["width"] / 2, box["y"] + 2 * box["height"] / 3, steps=4)
    mouse.up()
    assert figure.column(2, ONE_STEP) == pytest.approx([1 / 3] * 3, abs=0.02)
    assert "p1=" in figure.page.url
    figure.press("Reset")
    figure.slide("Probability of action 1", "75\u00a0%")
    assert figure.column(2, ONE_STEP) == [0.75, 0.15, 0.1]


def test_b09_numbers_in_the_text_are_those_of_torch():
    after, gradient = ascend(POLICY, (1, 0, 0))
    for a, reward in enumerate((1, 0, 0)):
        row = f"| {a + 1} | {reward} | {POLICY[a]:.3f} | {written(gradient[a], 3)} | {after[a]:.3f} |"
        assert row in TEXT
    assert (
        f"one step reaches {after[0]:.3f}, and 20 steps reach {ascend(POLICY, (1, 0, 0), steps=20)[0][0]:.3f}" in TEXT
    )
    sure = (0.02, 0.96, 0.02)
    reached = [sure[0], ascend(sure, (1, 0, 0))[0][0], ascend(sure, (1, 0, 0), steps=20)[0][0]]
    assert "from {:.3f} to {:.3f}, 20 steps to {:.3f}".format(*reached) in TEXT
    assert ascend(POLICY, (6, 5, 5))[0] == pytest.approx(after)
    _, second = ascend((0.1, 0.5, 0.4), (1, 0, 0.8))
    assert f"{written(second[2], 3)} and {written(second[0], 3)}" in TEXT


def test_b09_the_table_by_hand_is_right():
    rewards = REWARDS["1, 0, 0"]
    for a in range(3):
        parts = [SCORES[a], rewards[a] * SCORES[a], (rewards[a] - 0.5) * SCORES[a]]
        row = f"| {a + 1} | {POLICY[a]} | {triple(parts[0], 1)} | {triple(parts[1])} | {triple(parts[2])} |"
        assert row in TEXT
    mean = triple(POLICY @ (rewards[:, None] * SCORES))
    assert f"| mean | | {triple(POLICY @ SCORES)} | **{mean}** | **{mean}** |" in TEXT
    before, after = (gradients(rewards, 1, lambda r, b=b: r - b)[1] for b in (0, 0.5))
    assert f"falls from {before:.3f} to {after:.3f}" in TEXT


def test_b09_the_code_of_the_chapter_prints_what_it_says():
    ratio, square = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(ratio, {})  # the code of the page itself
        exec(square, {})
    gradient, *rounds = printed.getvalue().splitlines()
    assert numbers(gradient) == pytest.approx([0.5, -0.3, -0.2])
    assert [float(line) for line in rounds] == pytest.approx([2.4, 1.92, 1.536])
    assert "# 2.4, then 1.92, then 1.536" in square and "# 0.5, -0.3, -0.2" in ratio
    logits = torch.tensor(POLICY).log().requires_grad_()
    logp = torch.log_softmax(logits, -1)[:2]
    loss = -(torch.exp(logp - logp.detach()) * torch.tensor([1.0, -1.0])).mean()
    (slope,) = torch.autograd.grad(loss, logits)
    assert loss.item() == 0 and -slope == pytest.approx([0.5, -0.5, 0], abs=1e-9)


def test_b09_the_answer_to_check_yourself_is_right():
    _, gradient = ascend(POLICY, (0, 1, 0))
    first, second, third = triple(gradient).split(", ")
    assert f"0.5 · (0 \u2212 0.3) = {first} and 0.2 · (0 \u2212 0.3) = {third}" in TEXT
    assert "0.3 · (1 \u2212 0.3)" in TEXT and second == "+0.21"
    assert f"\u22120.3 · 0.5 = {written(-0.3 * SCORES[0][0])}" in TEXT


def test_b10_every_group_and_the_mean_are_those_of_numpy(open_figure):
    figure = open_figure(PATH, "grpo-baseline")
    figure.pick("1, 0, 0")
    for kind, size, score in [
        ("a number b", 1, lambda r: r - 0.25),
        ("mean of the group", 2, SCORED["mean of the group"]),
        ("mean of the others", 4, SCORED["mean of the others"]),
    ]:
        figure.pick(kind)
        figure.node.get_by_role("radio", name=str(size), exact=True).check()
        figure.slide("b", "0.25")
        mean, variance = gradients(REWARDS["1, 0, 0"], size, score)
        *groups, shown, truth = figure.table(GROUPS)
        assert len(groups) == {1: 3, 2: 6, 4: 15}[size]
        assert sum(numbers(row[1])[0] for row in groups) == pytest.approx(100, abs=0.5)
        assert numbers(" ".join(shown[2:])) == pytest.approx(mean, abs=5.1e-4)
        assert numbers(" ".join(truth[2:])) == pytest.approx([0.25, -0.15, -0.1])
        assert numbers(figure.status)[-1] == pytest.approx(variance, abs=5.1e-4)


def test_b10_a_baseline_moves_the_arrows_and_not_their_mean_unless_it_has_the_sample_in_it(open_figure):
    figure = open_figure(PATH, "grpo-baseline")
    figure.press("No baseline")
    assert "is the true gradient" in figure.status and numbers(figure.status)[-1] == pytest.approx(17.495)
    figure.press("The expected reward")
    assert "is the true gradient" in figure.status and numbers(figure.status)[-1] == pytest.approx(0.06)
    figure.press("Mean of two")
    assert "is 0.50 times the true gradient, (G \u2212 1) / G" in figure.status
    figure.press("The other of two")
    assert "is the true gradient" in figure.status
    figure.node.get_by_role("radio", name="1", exact=True).check()
    assert "has no others" in figure.status
    figure.pick("mean of the group")
    assert "every gradient is 0" in figure.status


def test_b10_lengths_and_variances_in_the_text_are_enumerated():
    rows = re.findall(r"^\| (\S.*) \| (\d) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", TEXT, re.M)
    assert len(rows) == 9
    truth = np.linalg.norm(POLICY * (REWARDS["1, 0, 0"] - 0.5))
    for what, size, length, *variances in rows:
        fixed = numbers(what.replace("nothing", "0"))
        for rewards, b, shown in zip(REWARDS.values(), itertools.cycle(fixed or [None]), variances, strict=False):
            score = {"mean of the group": lambda r: r - r.mean(), "mean of the others": others}.get(
                what, lambda r, b=b: r - b
            )
            mean, variance = gradients(rewards, int(size), score)
            assert (f"{np.linalg.norm(mean) / truth:.2f}", f"{variance:.3f}") == (length, shown), what
    assert "from 17.495 without a baseline to 0.060" in TEXT
    assert "its variance of 0.155 is above the 0.030" in TEXT
    relative = [gradients(REWARDS["1, 0, 0"], 4, score) for score in SCORED.values()]
    one, other = (np.sqrt(variance) / np.linalg.norm(mean) for mean, variance in relative)
    assert one == pytest.approx(other), "the same relative noise"


def test_b10_no_other_baseline_of_the_figure_is_better_than_a_quarter():
    variances = {b: gradients(REWARDS["1, 0, 0"], 1, lambda r, b=b: r - b)[1] for b in np.arange(0, 6.25, 0.25)}
    assert min(variances, key=variances.__getitem__) == 0.25
