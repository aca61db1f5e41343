"""Chapter 6, the loss: the numbers of the text, by the model answers and autograd."""
# ruff: noqa: RUF001 - the page is searched for the signs that it really has, such as the Greek letter of the ratio.

import itertools
import math

import numpy as np
import torch
from page_text import rows_of, says, table_row, written

from grader.core import course
from reference.advantages import group_advantages
from reference.clip import clip_fraction, clipped_surrogate, importance_ratio
from reference.kl import categorical_kl, kl_estimate

TEXT = (course.ROOT / "docs/learn/loss.md").read_text("utf-8")
REWARDS = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
WRONG, RIGHT = group_advantages(torch.tensor(REWARDS, dtype=torch.float64))[:2].tolist()
OLD, NOW, REF = 0.30, 0.45, 0.28
TOKENS = {
    "The": (0.90, 0.92, 0.91), "answer": (0.80, 0.80, 0.82), "is": (0.95, 0.93, 0.95), "1": (0.40, 0.62, 0.35),
    "4": (0.50, 0.58, 0.45), ".": (0.70, 0.50, 0.72),
}  # fmt: skip
WORDS = {"tea": 0.40, "coffee": 0.30, "water": 0.15, "milk": 0.10, "soup": 0.05}
THREE = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64).log()


def log(probability):
    return torch.tensor(probability, dtype=torch.float64).log()


def surrogate(now, old, advantage, eps=0.2):
    """The model answers' surrogate of one token, and whether the clip binds."""
    ratio = importance_ratio(log(now), log(old))
    advantages = torch.tensor(advantage, dtype=torch.float64)
    binds = clip_fraction(ratio, advantages, clip_eps=eps).item() == 1
    return clipped_surrogate(ratio, advantages, clip_eps=eps).item(), binds


def estimate(now, ref, kind="k3"):
    return kl_estimate(log(now), log(ref), kind=kind).item()


def loss(now, old, ref, advantage, *, beta=0.04, kind="k3"):
    return beta * estimate(now, ref, kind) - surrogate(now, old, advantage)[0]


def estimators(drift):
    """Name: mean, std and gradients of divergences and estimators, by torch's autograd and the model answers."""
    logits = (THREE + drift * torch.tensor([1.0, 0.0, -1.0])).requires_grad_()
    logp = logits.log_softmax(-1)
    drawn = logp.detach().exp()  # the samples are drawn: their weights have no gradient
    values = {
        "KL(π ‖ π_ref)": (categorical_kl(logits, THREE), None),
        "KL(π_ref ‖ π)": ((THREE.exp() * (THREE - logp)).sum(), None),
    }
    for kind in ("k1", "k2", "k3"):
        each = kl_estimate(logp, THREE, kind=kind)
        mean = (drawn * each).sum()
        values[kind] = (mean, (drawn * (each - mean) ** 2).sum().sqrt().item())
    return {
        name: (mean.item(), std, *torch.autograd.grad(mean, logits, retain_graph=True)[0].tolist())
        for name, (mean, std) in values.items()
    }


# The numbers of the text


def test_w14_and_w15_tables_and_cards_are_those_of_the_model_answers():
    for advantage, name in ((1.0, "+1"), (-1.0, "−1")):
        value, binds = surrogate(NOW, OLD, advantage)
        cells = [written(x, 3) for x in (1.5 * advantage, 1.2 * advantage, value)]
        assert table_row(name, *cells, "0: the clip binds" if binds else name) in TEXT
        for ratio in (1.5, 0.5):
            value, binds = surrogate(ratio, 1.0, advantage)
            assert f"| {ratio} | {name} | {written(value, 2)} | {'off' if binds else 'on'}: " in TEXT
    says(TEXT, f"{NOW / OLD:.1f}", f"{math.log(NOW / OLD):.3f}", f"{0.95 / 0.80:.2f}")


def test_w21_worked_numbers_on_the_page_are_those_of_the_model_answers():
    policy = {"tea": 0.20, "coffee": 0.15, "water": 0.10, "milk": 0.05, "soup": 0.50}

    def part(p, q):
        return p * math.log(p / q)

    for word, ref in WORDS.items():
        both = [written(x, 3) for x in (part(policy[word], ref), part(ref, policy[word]))]
        assert table_row(word, f"{100 * ref:.0f} %", f"{100 * policy[word]:.0f} %", *both) in TEXT
    now, ref = log(list(policy.values())), log(list(WORDS.values()))
    sums = [f"{kl.item():.3f}" for kl in (categorical_kl(now, ref), categorical_kl(ref, now))]
    assert f"| sum | | | {' | '.join(sums)} |" in TEXT
    never, much = (part(0.01, 0.05), part(0.05, 0.01)), part(0.5, 0.05)
    says(TEXT, written(never[0], 3, sign=False), f"+{never[1]:.3f}", f"{much:.3f}")


def test_w16_worked_numbers_on_the_page_are_those_of_the_model_answers():
    columns = [(0.04, "k3"), (0.04, "k1"), (0.5, "k3")]
    part = surrogate(NOW, OLD, RIGHT)[0]
    rows = {
        "− surrogate": [-part for _ in columns],
        "estimate of the KL": [estimate(NOW, REF, kind) for _, kind in columns],
        "β · estimate": [beta * estimate(NOW, REF, kind) for beta, kind in columns],
        "loss": [loss(NOW, OLD, REF, RIGHT, beta=beta, kind=kind) for beta, kind in columns],
    }
    for name, values in rows.items():
        assert table_row(name, *(written(x, 4) for x in values)) in TEXT
    says(TEXT, f"{100 * rows['β · estimate'][0] / part:.2f}", f"{1.2 * OLD:.2f}")
    above, below = estimate(0.95, REF), estimate(0.02, REF)
    says(TEXT, f"{above:.3f}", f"{below:.3f}")


def test_w22_worked_numbers_on_the_page_are_those_of_the_model_answers():
    std = torch.tensor(REWARDS, dtype=torch.float64).std(correction=0).item()
    value = surrogate(NOW, OLD, RIGHT)[0]
    for step, name, how, x in [
        (1, "mean of the rewards", "3 / 8", 3 / 8),
        (1, "standard deviation", "√(0.375 · 0.625)", std),
        (1, "advantage A", f"(1 − 0.375) / {std:.4f}", RIGHT),
        (2, "ratio ρ", "0.45 / 0.30", NOW / OLD),
        (3, "without the clip", f"1.5 · {RIGHT:.4f}", 1.5 * RIGHT),
        (3, "with the clip", f"1.2 · {RIGHT:.4f}", 1.2 * RIGHT),
        (3, "surrogate", "the smaller of the two", value),
        (4, "x", "ln(0.28 / 0.45)", math.log(REF / NOW)),
        (4, "k3", f"{REF / NOW:.4f} − 1 + {math.log(NOW / REF):.4f}", estimate(NOW, REF)),
        (5, "loss", f"−{value:.4f} + 0.04 · {estimate(NOW, REF):.4f}", loss(NOW, OLD, REF, RIGHT)),
    ]:
        assert table_row(str(step), name, how.replace("-", "−"), written(x, 4, sign=False)) in TEXT
    says(TEXT, written(WRONG, 4, sign=False), f"+{loss(NOW, OLD, REF, WRONG):.4f}")


def test_w13_worked_numbers_on_the_page_are_those_of_the_model_answers():
    losses, drifts = [], []
    binding: dict[float, list[str]] = {RIGHT: [], WRONG: []}
    for token, (old, now, ref) in TOKENS.items():
        losses.append(loss(now, old, ref, RIGHT))
        drifts.append(estimate(now, ref))
        for advantage, tokens in binding.items():
            if surrogate(now, old, advantage)[1]:
                tokens.append(token)
        clip = "binds" if token in binding[RIGHT] else "–"
        numbers_of_token = [f"{old:.2f}", f"{now:.2f}", f"{ref:.2f}", f"{now / old:.3f}", clip, f"{drifts[-1]:.4f}"]
        assert table_row(token, *numbers_of_token, written(losses[-1], 4, sign=False)) in TEXT
    means = sum(drifts) / 6, sum(losses) / 6
    assert f"| mean | | | | | | {means[0]:.4f} | {written(means[1], 4, sign=False)} |" in TEXT
    says(TEXT, written(means[1], 4, sign=False))
    assert binding == {RIGHT: ["1"], WRONG: ["."]}
    says(TEXT, f"+{RIGHT:.3f}", written(WRONG, 3, sign=False))


def test_b02_worked_numbers_on_the_page_are_those_of_autograd():
    found = estimators(1)
    for name, (mean, std, *gradient) in found.items():
        noise = "–" if std is None else f"{std:.3f}"
        assert table_row(name, f"{mean:.3f}", noise, *(written(x, 3) for x in gradient)) in TEXT
    policy = (THREE + torch.tensor([1.0, 0.0, -1.0])).softmax(-1)
    says(TEXT, ", ".join(f"{p:.3f}" for p in policy.tolist()), f"{found['k2'][0]:.3f}", f"{found['k1'][0]:.3f}")
    says(TEXT, *(f"{estimators(drift)[kind][1]:.3f}" for drift in (0.1, 2) for kind in ("k3", "k1")))


# The ratio per token


def two_token_gradients(drift):
    """Lengths of gradients with respect to all four logits: true, weighted by the product, one ratio per token.

    Two positions with two tokens each and a table of logits per position. Token 0 is the right one.
    """
    policy = np.exp([drift, 0.0]) / np.exp([drift, 0.0]).sum()
    old, baseline, shift = np.array([0.5, 0.5]), 0.25, 1e-5
    pairs = list(itertools.product((0, 1), repeat=2))

    def expected_reward(logits):
        chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        return chances[0, 0] * chances[1, 0]

    logits = np.array([[drift, 0.0], [drift, 0.0]])
    true = [
        (expected_reward(logits + step) - expected_reward(logits - step)) / (2 * shift)
        for step in shift * np.eye(4).reshape(4, 2, 2)
    ]
    by_product, by_token = np.zeros((2, 2)), np.zeros((2, 2))
    for pair in pairs:
        chance, advantage = old[list(pair)].prod(), (pair == (0, 0)) - baseline
        ratios = policy[list(pair)] / old[list(pair)]
        scores = np.array([np.eye(2)[token] - policy for token in pair])
        by_product += chance * advantage * ratios.prod() * scores
        by_token += chance * advantage * ratios[:, None] * scores
    return [np.linalg.norm(gradient) for gradient in (true, by_product, by_token)]


def test_the_table_of_ratios_per_token_is_enumerated():
    for row in rows_of(TEXT, "| Added $d$ | "):
        drift = float(row[0])
        true, by_product, by_token = two_token_gradients(drift)
        ratio = 2 / (1 + math.exp(-drift))
        expected = [
            f"{ratio:.3f}",
            f"{ratio**2:.3f}",
            f"{true:.3f}",
            f"{by_product / true:.2f}",
            f"{by_token / true:.2f}",
        ]
        assert row[1:] == expected
