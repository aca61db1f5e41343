"""Chapter 2, what PPO costs: memory counted again, the race run again in numpy, and the numbers of the text."""

import itertools
import re
from functools import cache

import numpy as np
import pytest
import torch
from explorables import numbers

from grader.core import course
from grader.oracles import simulation
from reference.advantages import group_advantages

PATH = "/learn/ppo/"
TEXT = (course.ROOT / "docs/learn/ppo.md").read_text("utf-8")
STEPS = 200
BITS = {"weights": "weights only, 2 bytes each", "training state": "training state, 16 bytes where trained"}
REWARDS = ["PPO: a model, GRPO: a rule", "a model for both", "a rule for both"]


def memory(size, count, reward, *, reference=True):
    """Gigabytes of PPO and of GRPO, added up by hand: policy, critic, reference policy, reward model."""
    trained = 16 * size if count == "training state" else 2 * size
    kept = 2 * size if reference else 0
    ppo = trained + trained + kept + (0 if reward == "a rule for both" else 2 * size)
    grpo = trained + kept + (2 * size if reward == "a model for both" else 0)
    return ppo, grpo


def less(ppo, grpo):
    return f"{100 * (ppo - grpo) / ppo:.0f}"


@cache
def race(algorithm, *, offset=1, critic_lr=0.03, divide_by_std=True, seed=0):
    """Twenty runs of the bandit in numpy, and the probability of its best action (20, steps + 1)."""
    table = tuple(reward + offset for reward in simulation.single_peak())
    settings = simulation.Settings(
        reward_table=table, algorithm=algorithm, critic_lr=critic_lr, divide_by_std=divide_by_std
    )
    runs = simulation.simulate(settings, seeds=range(seed, seed + 20), steps=STEPS)
    return runs, runs.probabilities[:, :, 6]


def winners(curves):
    return int((curves[:, -1] > 0.5).sum())


def median_step(steps):
    """The lower of the two middle values; "never" if that run never gets there."""
    middle = sorted(steps)[9]
    return "never" if np.isinf(middle) else f"{middle:.0f}"


def warm_up(runs, critic_lr):
    """Median step at which the critic's value has passed 90 % of the mean reward of the group."""
    values = np.zeros_like(runs.mean_reward)
    for t in range(1, STEPS):
        values[:, t] = values[:, t - 1] + critic_lr * (runs.mean_reward[:, t - 1] - values[:, t - 1])
    return median_step(simulation.steps_until(values / runs.mean_reward, 0.9))


def test_w02_counts_the_memory_of_every_model(open_figure):
    figure = open_figure(f"{PATH}?memory.size=13", "grpo-memory")
    for count, reward in itertools.product(BITS, REWARDS):
        figure.choose("Count", BITS[count])
        figure.choose("Reward comes from", reward)
        *parts, together = figure.table("Memory in GB")
        ppo, grpo = memory(13, count, reward)
        assert [numbers(cell)[0] for cell in together[1:]] == [ppo, grpo]
        assert [sum(numbers(row[place])[0] for row in parts) for place in (1, 2)] == [ppo, grpo]
        assert f"{less(ppo, grpo)}\u00a0% less" in figure.status


def test_w02_shows_that_the_half_is_not_the_critic_alone(open_figure):
    figure = open_figure(PATH, "grpo-memory")
    assert numbers(figure.status)[:5] == [56, 28, 28, 50, 14] and "reward model" in figure.status
    figure.press("The same reward for both")
    assert "33" in figure.status and "All of it is the critic" in figure.status
    figure.press("While training")
    figure.tick("Keep a reference policy, for a KL penalty", on=False)
    ppo, grpo = memory(7, "training state", "a rule for both", reference=False)
    assert numbers(figure.status)[:2] == [ppo, grpo] == [224, 112]
    figure.slide("Size of each model", "70 billion")
    assert numbers(figure.status)[:2] == [2240, 1120]


def test_w02_memory_in_the_text_is_counted_right():
    for count in BITS:
        for reward in REWARDS:
            ppo, grpo = memory(7, count, reward)
            assert f"| {count} | {reward} | {ppo} GB | {grpo} GB | {less(ppo, grpo)} % |" in TEXT
    assert "112 of PPO's 238 GB" in TEXT and 7 * 16 == 112
    assert "the weights shrink by 25 % or 33 %" in TEXT
    ppo, grpo = memory(7, "training state", "a rule for both")
    assert f"7 · 16 = 112 GB of {ppo}, which is {less(ppo, grpo)} %" in TEXT


def test_w03_runs_are_those_of_the_simulation_in_numpy(open_figure):
    figure = open_figure(f"{PATH}?rivals.seed=40&rivals.critic=0.1&rivals.offset=5", "grpo-rivals")
    races = [
        race("grpo", offset=5, seed=40),
        race("grpo", offset=5, seed=40, divide_by_std=False),
        race("actor_critic", offset=5, seed=40, critic_lr=0.1),
    ]
    rows = figure.table("20 runs of 200 steps each")
    for (_, curves), (_, end, won, step, _) in zip(races, rows, strict=True):
        assert numbers(end)[0] == pytest.approx(curves[:, -1].mean(), abs=5e-4)
        assert numbers(won) == [winners(curves), 20]
        assert step.removeprefix("step ") == median_step(simulation.steps_until(curves, 0.9))
    assert rows[2][4].removeprefix("step ") == warm_up(races[2][0], 0.1)
    shown = figure.table("Mean probability of the best action")
    for row, t in zip(shown, range(0, STEPS + 1, 20), strict=True):
        assert numbers(" ".join(row)) == pytest.approx([t, *(curves[:, t].mean() for _, curves in races)], abs=5e-4)


def test_w03_adding_to_all_rewards_harms_the_critic_and_not_grpo(open_figure):
    figure = open_figure(PATH, "grpo-rivals")
    before = figure.table("20 runs of 200 steps each")
    figure.choose("Added to every reward", "5")
    after = figure.table("20 runs of 200 steps each")
    assert after[0] == before[0] and after[1] == before[1]
    assert numbers(after[2][2])[0] < numbers(before[2][2])[0] < 20
    assert numbers(figure.status)[::2] == [20, winners(race("actor_critic", offset=5)[1])]
    figure.slide("Critic's learning rate", "1")
    assert numbers(figure.table("20 runs of 200 steps each")[2][2])[0] == winners(
        race("actor_critic", offset=5, critic_lr=1.0)[1]
    )


def test_w03_a_slider_that_is_held_does_not_run_anything(open_figure):
    figure = open_figure(PATH, "grpo-rivals")
    page = figure.page
    before = figure.table("20 runs of 200 steps each")
    page.evaluate(
        """() => {
      const slider = document.querySelector("grpo-rivals input[type=range]");
      slider.value = 0;
      slider.dispatchEvent(new Event("input"));
    }"""
    )
    assert figure.table("20 runs of 200 steps each") == before
    page.evaluate("() => document.querySelector('grpo-rivals input[type=range]').dispatchEvent(new Event('change'))")
    assert numbers(figure.status)[2] == winners(race("actor_critic", critic_lr=0.0)[1])


def test_w03_results_in_the_text_are_those_of_the_simulation():
    rows = re.findall(
        r"^\| (\d) \| (GRPO|GRPO, mean only|actor-critic, \u03b1 = ([\d.]+)) \| (.*?) \| (.*?) \|$", TEXT, re.M
    )
    assert len(rows) == 8
    for offset, method, rate, won, step in rows:
        _, curves = race(
            "actor_critic" if rate else "grpo",
            offset=int(offset),
            critic_lr=float(rate or 0.1),
            divide_by_std="mean only" not in method,
        )
        assert won == f"{winners(curves)} of 20"
        assert step == median_step(simulation.steps_until(curves, 0.9))


def test_w03_what_there_is_to_notice_is_true():
    for offset in (0, 1, 5):
        _, curves = race("grpo", offset=offset)
        assert (winners(curves), median_step(simulation.steps_until(curves, 0.9))) == (20, "31")
    runs, curves = race("actor_critic")
    assert f"about {warm_up(runs, 0.03)} steps to know 90 %" in TEXT
    assert f"{20 - winners(curves)} of 20 runs end on a wrong action" in TEXT
    quick = [winners(race("actor_critic", critic_lr=0.1, offset=offset)[1]) for offset in (1, 5)]
    assert quick[0] == 20
    assert f"all 20 runs find the best action if 1 is added, and {quick[1]} of 20 if 5 is added" in TEXT
    _, mean_only = race("grpo", divide_by_std=False)
    assert f"needs {median_step(simulation.steps_until(mean_only, 0.9))} steps instead of 31" in TEXT


def test_the_advantages_worked_by_hand_are_those_of_the_model_answers():
    rewards = torch.tensor([1.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    assert "Its advantages are +0.8, \u22120.2, \u22120.2, +0.8" in TEXT
    assert (rewards - 0.2).tolist() == pytest.approx([0.8, -0.2, -0.2, 0.8])
    assert "GRPO's advantages are +1, \u22121, \u22121, +1" in TEXT
    assert group_advantages(rewards).tolist() == pytest.approx([1, -1, -1, 1], abs=1e-6)
    assert "0.2 + 0.1 · 0.3 = 0.23" in TEXT


def test_w09_counts_the_models_of_both_methods_and_their_memory(open_figure):
    figure = open_figure(PATH, "grpo-models")
    for reward, reference, ppo, grpo in (
        ("a trained reward model", True, [4, 2], [3, 1]),
        ("a rule that checks the answer", True, [3, 2], [2, 1]),
        ("a rule that checks the answer", False, [2, 2], [1, 1]),
    ):
        figure.choose("Reward comes from", reward)
        figure.tick("Keep a reference policy, for a KL penalty", on=reference)
        assert numbers(figure.status)[:4] == [*ppo, *grpo]
        *stations, together = figure.table()
        for place, (models, trained) in ((1, ppo), (2, grpo)):
            cells = [row[place] for row in stations]
            assert [sum(sign in cell for cell in cells) for sign in "▲■○"] == [trained, models - trained, 4 - models]
            sizes = [7 * (16 if "▲" in cell else 2 if "■" in cell else 0) for cell in cells]
            assert [numbers(cell)[-1] for cell in cells] == sizes
            assert numbers(together[place]) == [models, sum(sizes)]
    assert figure.node.locator("svg.grpo-chart .block[opacity='1']").count() == 2 + 1


def test_w09_only_the_third_station_needs_another_model(open_figure):
    figure = open_figure(PATH, "grpo-models")
    *stations, _ = figure.table()
    assert [ppo == grpo for _, ppo, grpo in stations] == [True, True, False, True]
    assert "critic" in stations[2][1] and "mean of the group" in stations[2][2]
    assert "Only station 3 differs: without the critic 112 GB less" in figure.status
    marks = figure.node.locator("svg.grpo-chart .bar")
    expected = ["down", "up", "down", "up", "down", "down", "up", "down"]
    assert marks.evaluate_all("marks => marks.map(mark => mark.classList[1])") == expected


def test_w09_counts_in_the_text_are_those_of_its_table():
    names = ("Models at most", "Models at least", "Memory in training at most", "Memory in training at least")
    counts = {name: TEXT.split(f"| {name} |")[1].split("\n")[0] for name in names}
    assert [numbers(counts[name]) for name in names[:2]] == [[4, 2, 3, 1], [2, 2, 1, 1]]
    assert numbers(counts[names[2]]) == [7 * (2 * 16 + 2 * 2), 7 * (16 + 2 * 2)]
    assert numbers(counts[names[3]]) == [7 * 2 * 16, 7 * 16]


def test_t06_the_expensive_step_is_the_third_of_five():
    steps = re.findall(r"^\d\. (.*)$", TEXT.split('data-catalogue="T06"')[1].split("###")[0], re.M)
    assert len(steps) == 5
    assert ["expensive" in step for step in steps] == [False, False, True, False, False]
