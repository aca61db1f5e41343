"""The page on the family in 2026: the numbers of its text, from the losses by PyTorch."""

import re

import numpy as np
import torch
from page_text import numbers

from grader.core import course

TEXT = (course.ROOT / "docs/2026/family.md").read_text("utf-8")
RATIOS = (0.5, 1.0, 1.25, 1.5, 3.0, 6.0)
NAMES = ("REINFORCE", "GRPO", "DAPO", "CISPO", "SAPO")


def loss(name, logp, old_logp, advantage):
    """What one token adds to the loss, as the page writes it."""
    ratio = (logp - old_logp).exp()
    if name == "REINFORCE":
        return -advantage * logp
    if name == "CISPO":
        return -ratio.clamp(max=5).detach() * advantage * logp
    if name == "SAPO":
        temperature = 1.0 if advantage > 0 else 1.05
        return -4 / temperature * torch.sigmoid(temperature * (ratio - 1)) * advantage
    clipped = ratio.clamp(0.8, 1.28 if name == "DAPO" else 1.2)
    return -torch.minimum(ratio * advantage, clipped * advantage)


def weight(name, ratio, advantage):
    """The share of the advantage in the gradient with respect to the token's log-probability."""
    old_logp = torch.tensor(-2.0, dtype=torch.float64)
    logp = (old_logp + np.log(ratio)).requires_grad_()
    (gradient,) = torch.autograd.grad(loss(name, logp, old_logp, advantage), logp)
    return float(-gradient / advantage)


def test_b11_the_table_has_the_gradients_of_the_losses():
    rows = {row.split(" | ")[0]: row for row in re.findall(r"^\| (\w+, A [<>] 0 \|.*) \|$", TEXT, re.M)}
    assert {*rows} == {f"{name}, A {sign} 0" for name in NAMES for sign in "<>"} - {"REINFORCE, A < 0"}
    for label, row in rows.items():
        found = [numbers(cell)[0] for cell in row.split(" | ")[1:]]
        advantage = 1.0 if ">" in label else -1.0
        assert found == [round(weight(label.split(",")[0], ratio, advantage), 3) for ratio in RATIOS], label
