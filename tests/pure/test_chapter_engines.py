"""The page on two engines: the numbers of its text, by PyTorch and by hand."""

import math
import statistics

import torch
from page_text import numbers, row_of, says

from grader.core import course

TEXT = (course.ROOT / "docs/2026/engines.md").read_text("utf-8")
START = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
REWARDS = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)


def policy_after(updates):
    """Exact steps of 0.1 up the expected reward, by the logits."""
    logits = START.log()
    for _ in range(updates):
        logits = logits.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(logits.softmax(0) @ REWARDS, logits)
        logits = (logits + 0.1 * gradient).detach()
    return logits.softmax(0)


def rounded(policy):
    """The policy if its logits are computed in bfloat16."""
    return (20 + policy.log()).to(torch.bfloat16).double().softmax(0)


def test_b12_the_table_has_the_ratios_of_exact_steps():
    rows = {
        "the first update with a rollout": START / START,
        "15 updates with the same rollout, before the 16th": policy_after(15) / START,
        "a sampler whose weights are 8 updates old": policy_after(8) / START,
        "a sampler that computes its logits in bfloat16": START / rounded(START),
    }
    for label, ratios in rows.items():
        assert row_of(TEXT, label) == [f"{ratio:.3f}" for ratio in ratios], label
    top = START / torch.tensor([0.625, 0.375, 1.0])
    wanted = [f"{top[0]:.3f}", f"{top[1]:.3f}", "never drawn"]
    assert row_of(TEXT, "a sampler that keeps the two most likely actions") == wanted


def test_the_numbers_of_the_text_are_right():
    # The log-ratio of a token is normal with variance 2 * KL, so that its weight is 1 on average.
    for tokens, digits in ((100, 3), (1_000, 3), (10_000, 5)):
        spread = math.sqrt(2 * 0.001 * tokens)
        above = statistics.NormalDist(-(spread**2) / 2, spread).cdf(0)
        median, effective = math.exp(-(spread**2) / 2), math.exp(-(spread**2))
        shares = f"{100 * (1 - above):.1f} % | {100 * effective:.1f} %"
        assert f"| {tokens:,} | {median:.{digits}f} | {shares} |" in TEXT
    drawn = torch.tensor([0.625, 0.375, 0.0], dtype=torch.float64)
    scores = torch.eye(3, dtype=torch.float64) - START  # row a: the gradient of log pi(a) with respect to the logits
    directions = (
        (drawn * REWARDS @ scores, 4),
        (START * REWARDS @ scores, 2),
        (drawn @ scores, 3),
        (0.8 * drawn @ scores, 3),
    )
    for vector, digits in directions:
        text = ", ".join(f"{x:.{digits}f}" for x in vector.tolist()).replace("-", "\u2212")
        says(TEXT, text)


def test_b13_the_table_has_the_pushes_of_the_mean_over_each_answer():
    for label, tokens, advantage in (("right, 6 tool tokens", 6, 1), ("wrong, 20 tool tokens", 20, -1)):
        counted, masked = (torch.full((13 + tokens,), 0.0, dtype=torch.float64, requires_grad=True) for _ in "ab")
        mask = torch.ones(13 + tokens, dtype=torch.float64)
        mask[10 : 10 + tokens] = 0  # between the call and the answer
        (all_of_it,) = torch.autograd.grad(counted.exp().mean() * advantage / 2, counted)
        (own,) = torch.autograd.grad((masked.exp() * mask).sum() / mask.sum() * advantage / 2, masked)
        assert [numbers(cell)[0] for cell in row_of(TEXT, label)] == [
            round(all_of_it[0].item(), 4),
            round(own[0].item(), 4),
            round(100 * (all_of_it[10 : 10 + tokens].sum() / all_of_it.sum()).item()),
        ]
        assert not own[10 : 10 + tokens].any()
