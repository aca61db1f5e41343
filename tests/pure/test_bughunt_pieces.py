"""The pieces of "Find the silent bug": one line decides, and the numbers are what the code does with either line.

Each function below is named like a piece. It calls the function of the piece or trains with it, and returns what the
page draws; some also return other numbers of the explanation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from site_steps import bughunt

PIECES = {piece.id: piece for piece in bughunt.pieces()}


def group_advantages(group_advantages):
    return group_advantages(np.array([[0.9, 1.0, 0.7, 0.8], [0.1, 0.0, 0.3, 0.2]])).ravel()


def token_logp(token_logp, steps=60, lr=0.5, h=1e-4):
    tokens = np.arange(13) % 3
    table, curve = np.zeros((3, 3)), []
    for _ in range(steps + 1):
        probs = np.exp(table) / np.exp(table).sum(axis=1, keepdims=True)
        curve.append(probs[[0, 1, 2], [1, 2, 0]].mean())
        gradient = np.zeros(9)
        for i, direction in enumerate(np.eye(9) * h):
            up, down = (table + sign * direction.reshape(3, 3) for sign in (1, -1))
            gradient[i] = (token_logp(up[tokens], tokens).mean() - token_logp(down[tokens], tokens).mean()) / (2 * h)
        table = table + lr * gradient.reshape(3, 3)
    return curve, {"loss": -token_logp(table[tokens], tokens).mean()}


def kl_estimate(kl_estimate, steps=40, samples=3200):
    rng = np.random.default_rng(0)
    values, logits, curve = np.linspace(0, 1, 10), np.zeros(10), []
    for _ in range(steps + 1):
        probs = np.exp(logits) / np.exp(logits).sum()
        actions = rng.choice(10, size=(samples, 1), p=probs)
        logp, ref_logp = np.log(probs)[actions], np.full((samples, 1), -np.log(10))
        curve.append(kl_estimate(logp, ref_logp, np.ones((samples, 1))))
        logits = logits + probs * (values - probs @ values)
    return curve, {"exact": (probs * np.log(10 * probs)).sum()}


def completion_mask(completion_mask, steps=60, runs=20, group=16, longest=20, lr=0.3):
    curves = []
    for seed in range(runs):
        rng, logit, curve = np.random.default_rng(seed), -2.0, []
        for _ in range(steps + 1):
            p_eos = 1 / (1 + np.exp(-logit))
            tokens = np.hstack([np.zeros((group, 1), int), rng.random((group, longest)) < p_eos])
            length = np.where(tokens.any(axis=1), tokens.argmax(axis=1), longest)
            curve.append(length.mean())
            advantages = (length.mean() - length) / (length.std() + 1e-4)
            mask = completion_mask(tokens, 1, 1)
            score = ((tokens - p_eos) * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
            logit = logit + lr * (advantages * score).mean()
        curves.append(curve)
    return np.mean(curves, axis=0)


def kl_penalty(penalized_rewards, steps=60, runs=20, group=16, lr=0.5, kl_coef=0.2):
    values, curves, final = np.linspace(0, 1, 10), [], []
    for seed in range(runs):
        rng, logits, curve = np.random.default_rng(seed), np.zeros(10), []
        for _ in range(steps + 1):
            probs = np.exp(logits - logits.max())
            probs /= probs.sum()
            curve.append((probs * np.log(10 * probs)).sum())
            actions = rng.choice(10, size=(group, 1), p=probs)
            ref_logp, mask = np.full((group, 1), -np.log(10)), np.ones((group, 1))
            rewards = penalized_rewards(values[actions[:, 0]], np.log(probs)[actions], ref_logp, mask, kl_coef)
            advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
            logits = logits + lr * np.bincount(actions[:, 0], weights=advantages, minlength=10) / group
        curves.append(curve)
        final.append(probs @ values)
    return np.mean(curves, axis=0), {"reward": np.mean(final), "largest": np.log(10)}


def clipped_objective(clipped_objective, h=1e-4):
    def slope(ratio, advantage):
        at = [clipped_objective(np.log([ratio]) + x, np.zeros(1), np.array([advantage]), 0.2) for x in (h, -h)]
        return (at[0] - at[1]) / (2 * h)

    return [slope(1.5, 1.0), slope(1.5, -1.0), slope(0.5, 1.0), slope(0.5, -1.0)]


def sequence_ratio(sequence_ratio):
    mask = np.arange(16) < np.array([[2], [4], [8], [16]])
    return sequence_ratio(np.full((4, 16), -0.7), np.full((4, 16), -1.0), mask.astype(int))


def pass_at_k(pass_at_k):
    return [pass_at_k(np.array([1]), 10, k) for k in (1, 2, 5, 10)]


def kl_controller(train):
    return train(np.linspace(0, 1, 10), 0.1, 0.2, 401, 0.5)


def train_bandit(train):
    curves = np.array([train(np.linspace(0, 1, 10), 101, 8, 0.5, seed) for seed in range(50)])
    return curves.mean(axis=0), {"best": curves[:, -1].max()}


EFFECTS: dict[str, Callable[..., Any]] = {
    each.__name__.replace("_", "-"): each
    for each in (
        group_advantages,
        token_logp,
        kl_estimate,
        completion_mask,
        kl_penalty,
        clipped_objective,
        sequence_ratio,
        pass_at_k,
        kl_controller,
        train_bandit,
    )
}


def effect(name: str, lines: list[str]) -> tuple[list[float], list[float]]:
    """What a piece does with these lines: what is drawn, and other numbers."""
    namespace: dict[str, Any] = {"np": np}
    exec(compile("\n".join(lines), name, "exec"), namespace)
    function = next(value for key, value in namespace.items() if callable(value) and key != "np")
    result = EFFECTS[name](function)
    values, more = result if isinstance(result, tuple) else (result, {})
    return [float(value) for value in values], [*more.values()]


@pytest.mark.parametrize("name", PIECES)
def test_the_two_versions_differ_in_one_line_and_do_what_the_page_says(name: str) -> None:
    piece = PIECES[name]
    assert [a != b for a, b in zip(piece.lines, piece.wrong, strict=True)].index(True) == piece.line - 1
    assert len(piece.lines) <= 14 and {*piece.kinds} <= {*bughunt.KINDS}
    (right, right_more), (wrong, wrong_more) = (effect(name, lines) for lines in (piece.lines, piece.wrong))
    assert piece.picture["right"] == pytest.approx(right, abs=6e-4)
    assert piece.picture["other"] == pytest.approx(wrong, abs=6e-4)
    assert max(abs(a - b) for a, b in zip(right, wrong, strict=True)) > 0.05
    computed = {f"{value:.2f}".replace("-", "\N{MINUS SIGN}") for value in (*right, *wrong, *right_more, *wrong_more)}
    said = re.findall(r"\N{MINUS SIGN}?\b\d+\.\d\d\b(?! %)", piece.explanation)
    assert {*said} <= computed


def test_some_pieces_have_a_bug_and_no_two_of_them_the_same_kind() -> None:
    kinds = [piece.kinds[0] for piece in PIECES.values() if piece.kinds]
    assert (len(PIECES), len(kinds), len({*kinds})) == (10, 7, 7)
