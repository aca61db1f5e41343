"""Chapter 7, training: every number against the model answers, and what a reader does with the explorables.

Oracles: the functions of `reference/`, the bandit of the grader (numpy), and the recorded runs as files.
"""

import csv
import functools
import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from explorables import numbers

from grader.core import course
from grader.oracles.sfc32 import uniforms
from grader.oracles.simulation import Settings, simulate, single_peak, steps_until
from reference.advantages import group_advantages
from reference.bandit import grpo_step
from reference.bandit_task import BanditConfig
from reference.charlm import masked_mean
from reference.kl import categorical_kl

PATH = "/learn/training/"
TEXT = (course.ROOT / "docs/learn/training.md").read_text("utf-8")
RUNS = course.ROOT / "docs/assets/runs"
REWARDS = single_peak()
DOUBLE = torch.float64


def section(anchor):
    """The text of the page below the heading with this anchor, on one line."""
    below = TEXT.split(f"{{ #{anchor} }}\n", 1)[1]
    return " ".join(below.split("\n### ", 1)[0].split())


def fixed(x, digits=3, *, sign=False):
    """A number as the site writes it."""
    text = f"{abs(x):.{digits}f}"
    if float(text) == 0:
        return text
    return ("\u2212" if x < 0 else "+" if sign else "") + text


def table_row(*cells):
    return f"| {' | '.join(map(str, cells))} |"


# One training step


@functools.cache
def small_step(steps_before, seed=3):
    """Actions, rewards, advantages, policies before and after, and the pulls of one step, by the model answers."""
    rewards = torch.tensor([0, 1 / 3, 2 / 3, 1, 2 / 3], dtype=DOUBLE)
    config = BanditConfig(group_size=6, lr=0.5, kl_coef=0.04)
    draws = uniforms([seed], (steps_before + 1) * 6).reshape(-1, 6)
    start = logits = torch.zeros(5, dtype=DOUBLE)
    for row in draws:
        before = logits
        ends = torch.softmax(before, dim=0).cumsum(dim=0)[:-1]
        actions = torch.searchsorted(ends, torch.tensor(row, dtype=DOUBLE), right=True)
        logits = grpo_step(before, actions, rewards[actions], start, config)
    return {
        "actions": (actions + 1).tolist(),
        "rewards": rewards[actions],
        "advantages": group_advantages(rewards[actions]),
        "before": torch.softmax(before, dim=0),
        "after": torch.softmax(logits, dim=0),
        "pulls": (logits - before) / config.lr,
        "kl": categorical_kl(before, start).item(),
        "expected": [float(torch.softmax(each, dim=0) @ rewards) for each in (before, logits)],
    }


@pytest.mark.parametrize("steps_before", [0, 7])
def test_w17_shows_the_step_of_the_model_answers_stage_by_stage(open_figure, steps_before):
    figure = open_figure(f"{PATH}?training-step.before={steps_before}", "grpo-training-step")
    expected = small_step(steps_before)
    assert figure.column(1, "The group") == expected["actions"]
    assert {cell for row in figure.table("The group") for cell in row[2:]} == {""}, "rewards come later"
    for stage in range(2, 6):
        figure.press("Next")
        assert figure.status.startswith(f"{stage}. ")
        filled = sum(cell != "" for cell in figure.table("The group")[0])
        assert filled == min(stage + 1, 5)
        if stage == 4:
            assert numbers(figure.status)[-1] == pytest.approx(0.04 * expected["kl"], abs=5e-4)
    assert figure.column(2, "The group") == pytest.approx(expected["rewards"].tolist(), abs=5e-3)
    for place in (3, 4):
        assert figure.column(place, "The group") == pytest.approx(expected["advantages"].tolist(), abs=5e-4)
    assert figure.column(1, "The policy") == pytest.approx((100 * expected["before"]).tolist(), abs=0.05)
    assert figure.column(2, "The policy") == pytest.approx(expected["pulls"].tolist(), abs=5e-4)
    assert figure.column(3, "The policy") == pytest.approx((100 * expected["after"]).tolist(), abs=0.05)
    assert numbers(figure.status)[-2:] == pytest.approx(expected["expected"], abs=5e-4)


def test_w17_says_when_a_group_teaches_nothing(open_figure):
    figure = open_figure(PATH, "grpo-training-step")
    figure.press("Fifteen steps later")
    for _ in range(2):
        figure.press("Back")
    assert "teaches nothing" in figure.status
    assert set(figure.column(3, "The group")) == {0}


def test_w17_worked_numbers_on_the_page_are_those_of_the_model_answers():
    text = section("training-step")
    first, later = small_step(0), small_step(15)
    for i, (action, reward, advantage) in enumerate(
        zip(first["actions"], first["rewards"].tolist(), first["advantages"].tolist(), strict=True)
    ):
        shown = fixed(advantage, sign=True)
        assert table_row(i + 1, action, f"{reward:.2f}", shown, shown) in text
    mean, std = first["rewards"].mean(), first["rewards"].std(correction=0)
    assert f"The mean reward is {mean:.3f}, the standard deviation {std:.3f}." in text
    before, after = 100 * first["before"], 100 * first["after"]
    assert f"action 4 goes from {before[3]:.1f} % to {after[3]:.1f} %" in text
    assert f"action 1 from {before[0]:.1f} % to {after[0]:.1f} %" in text
    assert "from {:.3f} to {:.3f}".format(*first["expected"]) in text
    pull = first["pulls"][0].item()
    assert f"2 · {-3 * pull:.3f} / 6 = {fixed(pull)}." in text
    assert first["pulls"].argmin() == 0 and first["actions"].count(1) == 2
    assert later["actions"] == [4] * 6 and later["advantages"].tolist() == [0] * 6
    assert f"action 4 goes from {100 * later['before'][3]:.1f} % to {100 * later['after'][3]:.1f} %" in text


# A loss of zero


@functools.cache
def loss_curve(inner_steps=1, kl_coef=0.0, seed=0, steps=60):
    """Loss in the last update with each group, length of its gradient in the first one, expected reward."""
    settings = Settings(reward_table=REWARDS, inner_steps=inner_steps, kl_coef=kl_coef)
    run = simulate(settings, seeds=[seed], steps=steps)
    rewards = torch.tensor(REWARDS, dtype=DOUBLE)
    once = BanditConfig(lr=0.5, kl_coef=kl_coef)
    start = torch.zeros(len(REWARDS), dtype=DOUBLE)
    found = []
    for probabilities, drawn in zip(run.probabilities[0], run.actions[0], strict=False):
        old = logits = torch.tensor(probabilities).log()
        actions = torch.tensor(drawn)
        advantages = group_advantages(rewards[actions])
        gradient = (grpo_step(old, actions, rewards[actions], start, once) - old) / once.lr
        several = BanditConfig(lr=0.5, kl_coef=kl_coef, inner_steps=inner_steps - 1)
        logits = grpo_step(old, actions, rewards[actions], start, several)
        ratio = (torch.log_softmax(logits, 0) - torch.log_softmax(old, 0))[actions].exp()
        surrogate = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        loss = kl_coef * categorical_kl(logits, start) - surrogate.mean()
        found.append((loss.item(), gradient.norm().item(), float(torch.tensor(probabilities) @ rewards)))
    return np.array(found)


@pytest.mark.parametrize(("k", "beta"), [("1", "0"), ("1", "0.3"), ("4", "0"), ("3", "0.1")])
def test_b04_shows_loss_and_gradient_of_the_model_answers(open_figure, k, beta):
    figure = open_figure(f"{PATH}?zero-loss.seed=5", "grpo-zero-loss")
    figure.slide("Updates with each group", k)
    figure.slide("KL weight β", beta)
    expected = loss_curve(int(k), float(beta), seed=5)
    for group, *shown in figure.table():
        assert [numbers(cell)[0] for cell in shown] == pytest.approx(expected[int(group) - 1], abs=6e-4)


def test_b04_says_that_a_loss_of_zero_learns_and_that_a_penalty_makes_it_rise(open_figure):
    figure = open_figure(PATH, "grpo-zero-loss")
    assert set(figure.column(1)) == {0}
    assert figure.column(3)[-1] > figure.column(3)[0] + 0.4
    assert "The loss is 0 in all 60 groups" in figure.status
    figure.press("With a KL penalty")
    assert figure.column(1)[-1] > 0.5
    assert figure.status.startswith("The loss goes from 0.000 to 0.58")


def test_b04_worked_numbers_on_the_page_are_those_of_the_model_answers():
    text = " ".join(TEXT.split("## The question\n", 1)[1].split("\n## ", 1)[0].split())
    plain, held, several = loss_curve(), loss_curve(kl_coef=0.3), loss_curve(inner_steps=4)
    for group in (1, *range(10, 61, 10)):
        assert table_row(group, *(fixed(x) for x in plain[group - 1])) in text
    assert abs(plain[:, 0]).max() < 1e-6
    assert f"The gradient is up to {plain[:, 1].max():.3f} long" in text
    assert f"*rises* to {held[-1, 0]:.3f} while the expected reward rises to {held[-1, 2]:.3f}" in text
    assert held[:, 0].argmax() >= 55
    assert f"is {fixed(several[0, 0])} at the start" in text
    assert abs(several[-1, :2]).max() < 1e-9, "0 at the end, and nothing is learned"


# KL over 200 steps


@functools.cache
def kl_runs(kl_coef, divide_by_std=True):
    settings = Settings(reward_table=REWARDS, kl_coef=kl_coef, divide_by_std=divide_by_std)
    return simulate(settings, seeds=range(20), steps=200)


def balance(kl_coef, group_size=8):
    """KL of softmax(c * reward / kl_coef) to the uniform policy."""
    logits = torch.tensor(REWARDS, dtype=DOUBLE) * (1 - 1 / group_size) / kl_coef
    return categorical_kl(logits, torch.zeros_like(logits)).item()


@pytest.mark.parametrize(("beta", "divide"), [("0.04", True), ("0.3", True), ("0.3", False), ("1", False)])
def test_w18_shows_the_kl_of_twenty_real_runs_beside_those_without_a_penalty(open_figure, beta, divide):
    figure = open_figure(PATH, "grpo-kl-over-steps")
    figure.tick("Divide by the standard deviation", on=divide)
    figure.slide("KL weight β", beta)
    runs, free = kl_runs(float(beta), divide), kl_runs(0.0, divide)
    for step, *shown in figure.table():
        expected = [each.kl[:, int(step)].mean() for each in (runs, free)]
        expected += [each.probabilities[:, int(step), 6].mean() for each in (runs, free)]
        assert [numbers(cell)[0] for cell in shown] == pytest.approx(expected, abs=5e-4)
    if not divide:
        assert numbers(figure.status)[-1] == pytest.approx(balance(float(beta)), abs=5e-4)


def test_w18_a_small_penalty_is_hardly_seen_and_mean_only_advantages_settle_at_the_balance(open_figure):
    figure = open_figure(PATH, "grpo-kl-over-steps")
    assert figure.column(1)[-1] < 0.5 < 2 < figure.column(2)[-1], "the first state shows a contrast"
    figure.press("β = 0.04")
    assert figure.column(1)[-1] == pytest.approx(figure.column(2)[-1], abs=0.01)
    figure.press("β = 0.3")
    assert figure.column(1)[-1] > 2
    figure.press("β = 0.3, mean only")
    assert figure.column(1)[-1] < 0.4
    assert "On average the two pulls balance at 0.343" in figure.status
    figure.slide("KL weight β", "0")
    assert "Without a penalty" in figure.status


def test_w18_worked_numbers_on_the_page_are_those_of_the_simulation():
    text = section("kl-over-steps")
    columns = [kl_runs(beta) for beta in (0.0, 0.04, 0.3, 1.0)] + [kl_runs(0.3, False)]
    for step in (10, 50, 200):
        assert table_row(step, *(fixed(runs.kl[:, step].mean()) for runs in columns)) in text
    none, small, middle, strong, mean_only = [runs.kl.mean(axis=0) for runs in columns]
    assert f"from {none[200]:.3f} to {small[200]:.3f}" in text
    assert f"{middle[25]:.3f} instead of {none[25]:.3f} after 25 steps" in text
    assert f"{middle[200]:.3f} instead of {none[200]:.3f} after 200" in text
    assert f"Here the KL ends at {strong[200]:.3f} instead of {none[200]:.3f}." in text
    assert f"{mean_only[200]:.3f} after 200 steps, near the balance at {balance(0.3):.3f}" in text
    assert f"at {balance(0.3):.3f} for β = 0.3" in text
    assert f"ln 10 = {math.log(10):.3f}" in text


# Three knobs


@functools.cache
def knobs(eps, beta, group_size, seeds=20):
    """Cells of the table: half, runs that get there, E[R], KL, clip fraction; and how many end on another action."""
    settings = Settings(reward_table=REWARDS, clip_eps=eps, kl_coef=beta, group_size=group_size, inner_steps=4)
    runs = simulate(settings, seeds=range(seeds), steps=100)
    reached = np.sort(steps_until(runs.probabilities[..., 6], 0.5))
    middle = reached[(seeds - 1) // 2]
    half = "never" if math.isinf(middle) else str(int(middle))
    wrong = int((runs.probabilities[:, -1].argmax(axis=-1) != 6).sum())
    reward = (runs.probabilities[:, -1] @ np.array(REWARDS)).mean()
    clip = f"{100 * runs.clip_fraction.mean():.1f}"
    cells = [half, f"{np.isfinite(reached).sum()} / {seeds}", f"{reward:.3f}", f"{runs.kl[:, -1].mean():.3f}", clip]
    return cells, wrong


@pytest.mark.parametrize(("eps", "beta", "group_size"), [("0.2", "0.04", "8"), ("0.05", "1", "4"), ("1", "0", "2")])
def test_w26_reports_what_twenty_real_runs_come_to(open_figure, eps, beta, group_size):
    figure = open_figure(PATH, "grpo-dashboard")
    for label, value in {"Clip range ε": eps, "KL weight β": beta, "Group size G": group_size}.items():
        figure.slide(label, value)
    (_, *yours), (_, *start) = figure.table("After 100 steps")
    for row, setting in ((yours, (float(eps), float(beta), int(group_size))), (start, (0.2, 0.04, 8))):
        cells, _ = knobs(*setting)
        assert [cell.replace("\u00a0%", "") for cell in row] == cells
    assert f"ε = {eps}, β = {beta}, G = {group_size}" in figure.status


def test_w26_the_curve_is_that_of_the_simulation(open_figure):
    figure = open_figure(f"{PATH}?dashboard.g=2&dashboard.eps=1", "grpo-dashboard")
    settings: tuple[dict[str, Any], ...] = ({"clip_eps": 1.0, "group_size": 2}, {})
    runs = [
        simulate(Settings(reward_table=REWARDS, kl_coef=0.04, inner_steps=4, **own), seeds=range(20), steps=100)
        for own in settings
    ]
    wide, usual = [each.probabilities @ np.array(REWARDS) for each in runs]
    for step, *shown in figure.table("Expected reward E[R]"):
        at = wide[:, int(step)]
        expected = [at.mean(), at.min(), at.max(), usual[:, int(step)].mean()]
        assert [numbers(cell)[0] for cell in shown] == pytest.approx(expected, abs=5e-4)


def test_w26_worked_numbers_on_the_page_are_those_of_the_simulation():
    text = section("dashboard")
    for eps, beta, size in (
        (0.2, 0.04, 8),
        (0.05, 0.04, 8),
        (1, 0.04, 8),
        (0.2, 1, 8),
        (0.2, 0.04, 2),
        (1, 0.04, 2),
        (0.2, 0.04, 32),
    ):
        *cells, clip = knobs(eps, beta, size)[0]
        assert table_row(eps, beta, size, *cells, f"{clip} %") in text
    wide, usual, wide_two, usual_two = [knobs(eps, 0.04, size, 1000)[1] for size in (8, 2) for eps in (1, 0.2)]
    assert f"Of 1,000 runs with eight samples, {wide} end on a wrong action when ε = 1, and {usual} when" in text
    assert f"With two samples it is {wide_two} and {usual_two}." in text
    assert f"G = 32 needs {knobs(0.2, 0.04, 32)[0][0]} steps instead of {knobs(0.2, 0.04, 8)[0][0]}" in text
    reward, kl = knobs(0.2, 1, 8)[0][2:4]
    assert f"an expected reward of {reward}. The reward does not say why; the KL of {kl} does" in text


# Three ways to average


def pushes(lengths, way):
    """Minus the gradient of the fresh policy loss by the first log-probability of each completion, and the loss."""
    advantages = group_advantages(torch.tensor([1.0, 1, 0, 0], dtype=DOUBLE))
    mask = torch.arange(20) < torch.tensor(lengths)[:, None]
    logp = torch.zeros(mask.shape, dtype=DOUBLE, requires_grad=True)
    surrogate = (logp - logp.detach()).exp() * advantages[:, None]
    if way == "constant":
        loss = -torch.where(mask, surrogate, 0.0).sum() / (len(lengths) * 20)
    else:
        loss = -masked_mean(surrogate, mask, level=way)
    loss.backward()
    assert logp.grad is not None
    return [-each[0].item() for each in logp.grad], loss.item()


@pytest.mark.parametrize("lengths", [[4, 10, 4, 20], [1, 2, 20, 7]])
def test_b03_shows_the_gradient_of_the_model_answers_for_every_way_to_average(open_figure, lengths):
    figure = open_figure(PATH, "grpo-averaging")
    for name, tokens in zip(("correct 1", "correct 2", "wrong 1", "wrong 2"), lengths, strict=True):
        figure.slide(f"Tokens of {name}", str(tokens))
    single = figure.table("Push of each token, up if correct and down if wrong")
    *whole, losses = figure.table("Push of the whole completion")
    for place, way in enumerate(("sequence", "token", "constant"), start=1):
        push, loss = pushes(lengths, way)
        for rows, factor in ((single, np.ones(4)), (whole, np.array(lengths))):
            assert [numbers(row[place])[0] for row in rows] == pytest.approx(factor * push, abs=6e-5)
        assert numbers(losses[place])[0] == pytest.approx(loss, abs=6e-5)
    assert figure.node.locator("svg.grpo-chart .bar").count() == 3 * sum(lengths)
    assert figure.node.locator("svg.grpo-chart .bar.down").count() == 3 * sum(lengths[2:])


def test_b03_says_how_much_less_a_long_wrong_answer_is_punished(open_figure):
    figure = open_figure(PATH, "grpo-averaging")
    assert "0.20 times as hard" in figure.status
    figure.press("All alike")
    assert "pushed down as hard as" in figure.status
    assert [numbers(cell)[0] for cell in figure.table("Push of the whole completion")[-1][1:]] == [0, 0, 0]


def test_b03_worked_numbers_on_the_page_are_those_of_the_model_answers():
    text = section("averaging")
    lengths = [4, 10, 4, 20]
    found = [pushes(lengths, way) for way in ("sequence", "token", "constant")]
    for i, name in enumerate(("correct 1", "correct 2", "wrong 1", "wrong 2")):
        assert table_row(name, lengths[i], *(fixed(push[i], 4, sign=True) for push, _ in found)) in text
    assert f"| fresh loss | | {' | '.join(fixed(loss, 4) for _, loss in found)} |" in text
    (sequence, _), (token, _), _ = found
    assert [abs(push * n) for push, n in zip(sequence, lengths, strict=True)] == pytest.approx([0.25] * 4)
    assert f"{-sequence[3]:.4f} instead of {-sequence[2]:.4f}" in text
    assert sequence[3] / sequence[2] == pytest.approx(1 / 5), "a fifth of the force"
    assert f"takes {-100 * token[3] * 20:.0f} % of all weight" in text


# Recorded runs


def metrics(run):
    with open(RUNS / f"charlm-{run}/metrics.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def exact(run):
    """Exact success at the recorded steps."""
    points = json.loads((RUNS / f"charlm-{run}/samples.json").read_text("utf-8"))["points"]
    return {point["step"]: point["exact"] for point in points}


@pytest.mark.parametrize(
    ("run", "label", "column", "curve"),
    [
        ("pizza", "pizza", "mean_reward", "Mean reward"),
        ("pizza-kl", "pizza, KL weight 1", "kl", "KL from the reference policy"),
        ("pizza-token", "pizza, loss by token", "policy_loss", "Policy loss"),
        ("arithmetic", "additions", "entropy", "Entropy"),
    ],
)
def test_d09_shows_the_curves_of_the_recorded_files(open_figure, run, label, column, curve):
    figure = open_figure(PATH, "grpo-recorded-run")
    figure.choose("Run", label)
    figure.choose("Curve", curve)
    expected = [float(row[column]) for row in metrics(run)]
    assert figure.column(0) == list(range(1, len(expected) + 1))
    assert figure.column(1) == pytest.approx(expected, abs=1e-4)
    assert "python -m starter.run_charlm" in figure.status


def test_d09_compares_two_runs(open_figure):
    figure = open_figure(PATH, "grpo-recorded-run")
    figure.press("Ratio by token or sequence")
    assert figure.column(1) == figure.column(2)
    figure.press("Strong KL penalty")
    assert figure.column(1)[-1] < 0.6 < 0.9 < figure.column(2)[-1]
    assert figure.node.locator(".grpo-chart path").count() == 2
    figure.press("Loss that tells nothing")
    assert set(figure.column(1)) == {0}


def test_d09_worked_numbers_on_the_page_are_those_of_the_recorded_files():
    text = section("recorded-run") + section("ratio-level")
    rows, by_sequence = metrics("pizza"), metrics("pizza-sequence")
    for step in (1, 10, 20, 40):
        row = rows[step - 1]
        cells = [float(row[name]) for name in ("mean_reward", "kl", "policy_loss", "zero_signal_fraction")]
        assert table_row(step, *map(fixed, cells)) in text
    usual, held = exact("pizza"), exact("pizza-kl")
    assert f"{usual[0]:.3f} at the start, {usual[40]:.3f} at the end" in text
    assert f"an exact success of {held[8]:.3f} after 8 steps and ends at {held[40]:.3f}" in text
    assert [row["mean_reward"] for row in rows] == [row["mean_reward"] for row in by_sequence]
    assert f"all of their {len(rows)} mean rewards" in text
    assert f"the same exact success, {exact('pizza-sequence')[40]:.3f}" in text
