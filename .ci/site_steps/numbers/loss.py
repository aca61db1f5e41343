"""Chapter 6, the loss."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from grader.oracles.formulas import clip_binds, clipped, softmax

from .advantage import advantages
from .written import plain, rows, signed

Floats = npt.NDArray[np.float64]
REWARDS = (0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0)
STD = float(np.std(REWARDS))
WRONG, RIGHT = advantages(*REWARDS)[:2]
OLD, NOW, REF = 0.30, 0.45, 0.28
TOKENS = {
    "The": (0.90, 0.92, 0.91), "answer": (0.80, 0.80, 0.82), "is": (0.95, 0.93, 0.95), "1": (0.40, 0.62, 0.35),
    "4": (0.50, 0.58, 0.45), ".": (0.70, 0.50, 0.72),
}  # fmt: skip
"""Token to its probabilities: old, now, reference."""
WORDS = {"tea": (0.40, 0.20), "coffee": (0.30, 0.15), "water": (0.15, 0.10), "milk": (0.10, 0.05), "soup": (0.05, 0.50)}
"""Word to its probabilities: reference, policy."""
THREE = np.log([0.5, 0.3, 0.2])
DRIFT = np.array([1.0, 0.0, -1.0])
BETA = 0.04


def surrogate(ratio: float, advantage: float) -> float:
    """The clipped surrogate of one token."""
    return float(clipped(np.array(ratio), np.array(advantage), 0.2, 0.2))


def binds(ratio: float, advantage: float) -> bool:
    """Whether the clip takes its gradient away."""
    return bool(clip_binds(np.array(ratio), np.array(advantage), 0.2, 0.2))


def estimate(now: float, ref: float, kind: str = "k3") -> float:
    """An estimate of the KL from one token."""
    x = math.log(ref / now)
    return {"k1": -x, "k2": x * x / 2, "k3": math.expm1(x) - x}[kind]


def loss(now: float, old: float, ref: float, advantage: float, *, beta: float = BETA, kind: str = "k3") -> float:
    """The loss of one token."""
    return beta * estimate(now, ref, kind) - surrogate(now / old, advantage)


def corners() -> str:
    """Rows of the four cases of the clip."""
    why = {
        (1.5, 1): "off: good, and already likely enough",
        (1.5, -1): "on: bad, and more likely than before",
        (0.5, 1): "on: good, and less likely than before",
        (0.5, -1): "off: bad, and already unlikely enough",
    }
    return rows([ratio, f"{a:+}", signed(surrogate(ratio, a), 2), text] for (ratio, a), text in why.items())


def clip() -> str:
    """Rows of the two signs of an advantage."""

    def cells() -> Iterator[list[str]]:
        for a in (1, -1):
            parts = (1.5 * a, 1.2 * a, surrogate(1.5, a))
            yield [f"{a:+}", *map(signed, parts), "0: the clip binds" if binds(1.5, a) else f"{a:+}"]

    return rows(cells())


def part(p: float, q: float) -> float:
    """What one word adds to KL(p || q)."""
    return p * math.log(p / q)


def words() -> str:
    """Rows of the parts of both divergences."""
    parts = {word: (part(now, ref), part(ref, now)) for word, (ref, now) in WORDS.items()}

    def cells() -> Iterator[list[str]]:
        for word, (ref, now) in WORDS.items():
            yield [word, f"{100 * ref:.0f} %", f"{100 * now:.0f} %", *map(signed, parts[word])]
        yield ["sum", "", "", *(f"{sum(column):.3f}" for column in zip(*parts.values(), strict=True))]

    return rows(cells())


def one_token() -> str:
    """Rows of the parts of a loss with three penalties."""
    columns = [(0.04, "k3"), (0.04, "k1"), (0.5, "k3")]
    estimates = [estimate(NOW, REF, kind) for _, kind in columns]
    penalties = [beta * each for (beta, _), each in zip(columns, estimates, strict=True)]
    value = surrogate(NOW / OLD, RIGHT)
    parts = {
        "\N{MINUS SIGN} surrogate": [-value] * 3,
        "estimate of the KL": estimates,
        "β · estimate": penalties,
        "loss": [penalty - value for penalty in penalties],
    }
    return rows([name, *(signed(x, 4) for x in values)] for name, values in parts.items())


def by_hand() -> str:
    """Rows of the loss of one token, step by step."""
    value = surrogate(NOW / OLD, RIGHT)
    steps = [
        (1, "mean of the rewards", "3 / 8", float(np.mean(REWARDS))),
        (1, "standard deviation", "√(0.375 · 0.625)", STD),
        (1, "advantage A", f"(1 − 0.375) / {STD:.4f}", RIGHT),
        (2, "ratio ρ", f"{NOW:.2f} / {OLD:.2f}", NOW / OLD),
        (3, "without the clip", f"1.5 · {RIGHT:.4f}", 1.5 * RIGHT),
        (3, "with the clip", f"1.2 · {RIGHT:.4f}", 1.2 * RIGHT),
        (3, "surrogate", "the smaller of the two", value),
        (4, "x", f"ln({REF} / {NOW})", math.log(REF / NOW)),
        (4, "k3", f"{REF / NOW:.4f} − 1 + {math.log(NOW / REF):.4f}", estimate(NOW, REF)),
        (5, "loss", f"-{value:.4f} + {BETA} · {estimate(NOW, REF):.4f}", loss(NOW, OLD, REF, RIGHT)),
    ]
    return rows([step, name, how, plain(x, 4)] for step, name, how, x in steps)


def completion() -> str:
    """Rows of the losses of all tokens of a completion, and their mean."""
    drifts = [estimate(now, ref) for _, now, ref in TOKENS.values()]
    losses = losses_of(RIGHT)

    def cells() -> Iterator[list[str]]:
        for (token, (old, now, ref)), drift, each in zip(TOKENS.items(), drifts, losses, strict=True):
            clip = "binds" if binds(now / old, RIGHT) else "\N{EN DASH}"
            shares = [f"{share:.2f}" for share in (old, now, ref)]
            yield [token, *shares, f"{now / old:.3f}", clip, f"{drift:.4f}", plain(each, 4)]
        yield ["mean", "", "", "", "", "", f"{np.mean(drifts):.4f}", plain(float(np.mean(losses)), 4)]

    return rows(cells())


def losses_of(advantage: float) -> list[float]:
    """The losses of all tokens of a completion with this advantage."""
    return [loss(now, old, ref, advantage) for old, now, ref in TOKENS.values()]


def estimators(drift: float = 1) -> dict[str, tuple[float, float | None, Floats]]:
    """Name: mean, standard deviation of one sample, and gradient by the logits with the samples held fixed."""
    policy, ref = softmax(THREE + drift * DRIFT), np.exp(THREE)
    scores, x = np.eye(3) - policy, np.log(ref / policy)
    values = {"k1": -x, "k2": x**2 / 2, "k3": np.expm1(x) - x}
    slopes = {"k1": np.ones(3), "k2": -x, "k3": 1 - np.exp(x)}  # by log pi of the sample
    forward, backward = float(policy @ -x), float(ref @ x)
    found: dict[str, tuple[float, float | None, Floats]] = {
        "KL(π ‖ π_ref)": (forward, None, policy * (-x - forward)),
        "KL(π_ref ‖ π)": (backward, None, policy - ref),
    }
    for kind, each in values.items():
        mean = float(policy @ each)
        found[kind] = mean, float(np.sqrt(policy @ (each - mean) ** 2)), (policy * slopes[kind]) @ scores
    return found


def noise() -> str:
    """Rows of the estimators and of what they estimate."""
    return rows(
        [name, f"{mean:.3f}", "\N{EN DASH}" if std is None else f"{std:.3f}", *map(signed, gradient)]
        for name, (mean, std, gradient) in estimators().items()
    )


def two_token_gradients(drift: float) -> list[float]:
    """Lengths of gradients with respect to all four logits: true, weighted by the product, one ratio per token.

    Two positions with two tokens each and a table of logits per position. Token 0 is the right one.
    """
    policy, old, baseline = softmax(np.array([drift, 0.0])), np.array([0.5, 0.5]), 0.25
    scores = np.eye(2) - policy
    true = np.array([scores[0], scores[0]]) * policy[0] ** 2
    by_product, by_token = np.zeros((2, 2)), np.zeros((2, 2))
    for pair in itertools.product((0, 1), repeat=2):
        ratios = policy[[*pair]] / old[[*pair]]
        push = old[[*pair]].prod() * ((pair == (0, 0)) - baseline) * scores[[*pair]]
        by_product += ratios.prod() * push
        by_token += ratios[:, None] * push
    return [float(np.linalg.norm(each)) for each in (true, by_product, by_token)]


def two_tokens() -> str:
    """Rows of the ratios and gradients of two tokens."""

    def cells() -> Iterator[list[object]]:
        for drift in (0, 0.2, 1, 2):
            true, by_product, by_token = two_token_gradients(drift)
            ratio = 2 / (1 + math.exp(-drift))
            lengths = [f"{true:.3f}", f"{by_product / true:.2f}", f"{by_token / true:.2f}"]
            yield [drift, f"{ratio:.3f}", f"{ratio**2:.3f}", *lengths]

    return rows(cells())
