"""Chapter 8, limits: the numbers of the text, by the model answers and the simulation."""

from typing import Any

import numpy as np
import pytest
import torch
from page_text import numbers, rows_of, says, written

from grader.core import course
from grader.oracles import simulation
from grader.oracles.sfc32 import uniforms
from reference.advantages import group_advantages
from reference.clip import clipped_surrogate, importance_ratio

TEXT = (course.ROOT / "docs/learn/limits.md").read_text("utf-8")
VALUES = [0.5, 0.55, 0.7, 0.7, 0.8, 0.1]
RATINGS = [[1, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]]
SEEDS = range(1, 21)
MINUS = "\u2212"
NONE = "\u2013"


def token_advantages(values, lam):
    """Generalized advantage estimation as a sum over all later tokens; the reward at the end is 0."""
    surprises = np.diff([*values, 0.0])
    return [sum(lam ** (u - t) * surprises[u] for u in range(t, len(values))) for t in range(len(values))]


def process_advantages(ratings):
    normalized = group_advantages(torch.tensor(ratings, dtype=torch.float64).flatten()).reshape(len(ratings), -1)
    return normalized.flip(-1).cumsum(-1).flip(-1).tolist()


def grpo_blame():
    return group_advantages(torch.tensor([1.0] * 4 + [0.0] * 4, dtype=torch.float64)).tolist()[-1]


# W19


def test_w19_the_table_on_the_page_is_that_of_generalized_advantage_estimation():
    columns = [token_advantages(VALUES, lam) for lam in (0, 0.5, 1)]
    rows = rows_of(TEXT, "| Token | Expected before it |")
    for t, (_, value, grpo, *ppo) in enumerate(rows):
        assert [float(value), grpo] == [VALUES[t], written(grpo_blame())]
        assert [numbers(cell)[0] for cell in ppo] == pytest.approx([column[t] for column in columns], abs=5.01e-4)
    notice = TEXT.split("| Token | Expected before it |", 1)[1]
    says(notice, written(columns[0][4]), written(token_advantages([0.5] * 6, 1)[0]), written(grpo_blame()))


# W20


def test_w20_the_table_and_the_notice_on_the_page_are_those_of_the_model_answers():
    process = process_advantages(RATINGS)
    for i, (_, ratings, outcome, *steps) in enumerate(rows_of(TEXT, "| Solution | Ratings |")):
        assert [int(rating) for rating in ratings.split(",")] == RATINGS[i]
        assert outcome == ("+1.000" if RATINGS[i][-1] else f"{MINUS}1.000")
        assert steps == [written(a) for a in process[i]]
    flat = np.array(RATINGS).ravel()
    says(TEXT, f"{flat.mean():.3f}", f"{flat.std():.3f}", written(process[3][0]), written(process[1][0]))


# B06

REWARDS = {
    "peak": simulation.single_peak(),
    "third": tuple(reward / 3 for reward in simulation.single_peak()),
    "sparse": (0.0,) * 6 + (1.0,) + (0.0,) * 3,
}


def simulated(rewards, inner_steps, *, lr=0.5, divide_by_std=True, clip_eps=0.2, seeds=SEEDS):
    """Runs of the grader's simulation, which knows neither leave-one-out nor dynamic sampling."""
    settings = simulation.Settings(
        reward_table=REWARDS[rewards],
        group_size=8,
        lr=lr,
        inner_steps=inner_steps,
        divide_by_std=divide_by_std,
        clip_eps=clip_eps,
    )
    runs = simulation.simulate(settings, seeds=seeds, steps=50)
    return runs.probabilities[..., 6], runs.clip_fraction, runs.zero_signal


def dapo_run(seed, rewards, inner_steps, *, lr=0.5, steps=50, most=20):
    """DAPO by the model answers and autograd: π(7) after each step, clip fractions, groups without signal, samples."""
    random = iter(uniforms([seed], steps * 8 * most)[0].tolist())
    table = torch.tensor(REWARDS[rewards], dtype=torch.float64)
    logits = torch.zeros(10, dtype=torch.float64)
    best, clipped, lost, samples = [0.1], [], 0, 0
    for _ in range(steps):
        old = torch.log_softmax(logits, -1)
        for _draw in range(most):
            ends = old.exp().cumsum(-1)[:-1]
            actions = torch.tensor([int((next(random) >= ends).sum()) for _ in range(8)])
            samples += 8
            if table[actions].unique().numel() > 1:
                break
        else:
            lost += 1
        advantages = group_advantages(table[actions])
        for _update in range(inner_steps):
            logits = logits.detach().requires_grad_()
            ratio = importance_ratio(torch.log_softmax(logits, -1)[actions], old[actions])
            objective = clipped_surrogate(ratio, advantages, clip_eps=0.2, clip_eps_high=0.28).mean()
            objective.backward()
            assert logits.grad is not None
            logits = logits.detach() + lr * logits.grad
        high, low = (ratio > 1.28) & (advantages > 0), (ratio < 0.8) & (advantages < 0)
        clipped.append((high | low).double().mean().item())
        best.append(torch.softmax(logits, -1)[6].item())
    return best, clipped, lost, samples


def line(curves, clip_fraction, lost, samples):
    """The numbers of a row of the table, as text: the end, the (lower) median of first steps over 0.5, and means.

    The clip fraction is None for a method without a clip.
    """
    curves = np.asarray(curves)
    firsts = np.where((curves > 0.5).any(axis=1), (curves > 0.5).argmax(axis=1), np.inf)
    half = np.sort(firsts)[(len(firsts) - 1) // 2]
    first = "never" if np.isinf(half) else f"{half:.0f}"
    return [
        f"{curves[:, -1].mean():.3f}",
        first,
        NONE if clip_fraction is None else f"{100 * np.mean(clip_fraction):.1f} %",
        f"{100 * lost / 50:.1f} %",
        f"{samples:.0f}",
    ]


def simulated_lines(rewards, inner_steps):
    """The rows of the methods that the simulation can show. RLOO is Dr. GRPO without a clip and with 8/7 of its η."""
    found = {}
    methods: dict[str, dict[str, Any]] = {
        "GRPO": {},
        "Dr. GRPO": {"divide_by_std": False},
        "RLOO": {"lr": 0.5 * 8 / 7, "divide_by_std": False, "clip_eps": None},
    }
    for name, options in methods.items():
        curves, clip_fraction, zero_signal = simulated(rewards, inner_steps, **options)
        shown = None if options.get("clip_eps", 0.2) is None else clip_fraction
        found[name] = line(curves, shown, zero_signal.sum(axis=1).mean(), 400)
    return found


@pytest.mark.proof
def test_b06_rows_of_all_methods_are_runs_of_the_simulation_or_of_the_model_answers():
    best, clipped, lost, samples = zip(*(dapo_run(seed, "peak", 4) for seed in SEEDS), strict=True)
    expected = simulated_lines("peak", 4) | {"DAPO": line(best, clipped, np.mean(lost), np.mean(samples))}
    assert rows_of(TEXT, "| Method | π(7) at the end |") == [[name, *cells] for name, cells in expected.items()]
    curves, clip_fraction, _ = simulated("peak", 4, lr=1.5, divide_by_std=False)
    says(TEXT, line(curves, clip_fraction, 0, 400)[1])
    says(TEXT, *(simulated_lines("third", 4)[name][0] for name in ("GRPO", "Dr. GRPO")))


def test_b06_without_a_clip_more_runs_end_on_a_wrong_action():
    settings = {"lr": 1.5 * 8 / 7, "divide_by_std": False, "seeds": range(1, 1001)}
    without, clipped = (simulated("peak", 4, clip_eps=eps, **settings)[0][:, -1] for eps in (None, 0.2))
    says(TEXT, (without < 0.5).sum(), (clipped < 0.5).sum())


def test_b06_the_worked_example_of_a_sequence_ratio():
    ratios = torch.tensor([1.5, 0.8], dtype=torch.float64)
    sequence = ratios.log().mean().exp().item()
    says(TEXT, f"{ratios[0]:.2f}", f"{ratios[1]:.2f}", f"{ratios.prod():.2f}", f"{sequence:.3f}")
    assert (ratios > 1.2).tolist() == [True, False] and sequence < 1.2
    assert sequence > 1.0004, "the example is arithmetic only, as the page says"
