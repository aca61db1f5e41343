"""Chapter 5, the advantage: every number against the model answers, and what a reader does with the explorables."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch
from explorables import numbers

from grader.core import course
from reference.advantages import group_advantages

PATH = "/learn/advantage/"
TEXT = (course.ROOT / "docs/learn/advantage.md").read_text("utf-8")
PEAK = np.array([max(0.0, 1 - abs(action - 7) / 5) for action in range(1, 11)])
"""Rewards of the bandit: one peak, at action 7."""


def advantages(rewards, **options):
    return group_advantages(torch.tensor(rewards, dtype=torch.float64), **options).tolist()


def cells(*values, digits=3):
    """Numbers with signs as the page writes them."""
    return [f"{value:+.{digits}f}".replace("-", "\u2212") for value in values]


def rows(text, first):
    """Cells of the rows of a Markdown table, found by the words that its head begins with."""
    table = text[text.index(f"| {first} |") :].split("\n\n", 1)[0]
    return [[cell.strip() for cell in row.strip("| ").split("|")] for row in table.splitlines()[2:]]


# T09: the formula and what decides whether code is right


def test_t09_the_two_prompts_of_the_formula_are_those_of_the_model_answer():
    for prompt, rewards, mean, std, shown in rows(TEXT, "Prompt | Rewards"):
        group = numbers(rewards)
        assert numbers(shown) == pytest.approx(advantages(group), abs=5e-4), prompt
        assert (float(mean), float(std)) == pytest.approx((np.mean(group), np.std(group)), abs=5e-4)


def test_t09_the_answer_to_check_yourself_is_that_of_the_model_answer():
    rewards = torch.tensor([[2.0, 4, 6], [5, 5, 5]])
    first, second = group_advantages(rewards).tolist()
    low, middle, high = cells(*first)
    root = f"{math.sqrt(8 / 3):.3f}"
    said = f"8 / 3, whose root is {root}: 2 / {root} = {high.removeprefix('+')}. The others get 0 and {low}."
    assert said in TEXT and float(middle) == 0
    assert second == [0, 0, 0]
    assert f"The mean of the batch is {rewards.mean():.1f}." in TEXT


def test_t09_the_claims_about_pytorch_hold():
    assert torch.tensor([1.0, 0, 0, 0]).std() == pytest.approx(math.sqrt(0.75 / 3)), "divides by G - 1 if not told"
    assert torch.tensor([1.0]).std(correction=0) == 0
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert torch.tensor([1.0]).std().isnan()


# W10: build your own group


def test_w10_on_its_page_shows_the_model_answer_and_moves_sample_6_to_nowhere(open_figure):
    figure = open_figure(PATH, "grpo-group-advantages")
    assert figure.column(3) == pytest.approx(advantages([1, 1, 0, 0, 0, 0.5]), abs=5e-4)
    figure.slide("Sample 6", "0.40")
    assert figure.column(3) == pytest.approx(advantages([1, 1, 0, 0, 0, 0.4]), abs=5e-4)
    assert figure.column(3)[5] == 0 and figure.table()[5][4] == "\u2013"
    figure.tick("Divide by the standard deviation", on=False)
    expected = advantages([1, 1, 0, 0, 0, 0.4], divide_by_std=False)
    assert figure.column(3) == pytest.approx(expected, abs=5e-4)
    figure.press("All correct")
    assert "every advantage is exactly 0" in figure.status
    assert figure.node.get_by_label("Divide by the standard deviation").is_checked()


def test_w10_the_divisor_changes_one_correct_and_breaks_a_group_of_one(open_figure):
    figure = open_figure(PATH, "grpo-group-advantages")
    figure.press("One correct")
    assert figure.table()[0][3] == "+2.236"
    figure.tick("Divide by G \u2212 1 and not by G")
    assert figure.table()[0][3] == "+2.041" and math.sqrt(5 * 5 / 6) == pytest.approx(2.041, abs=5e-4)
    figure.press("A group of one")
    assert figure.column(3) == [0] and "the advantage is 0" in figure.status
    figure.tick("Divide by G \u2212 1 and not by G")
    assert figure.table() == [["1", "1.00", "0.000", "0 / 0", "\u2013"]]
    assert "not a number" in figure.status
    assert figure.node.locator("svg .bar").count() == 0
    figure.tick("Divide by the standard deviation", on=False)
    assert figure.column(3) == [0], "nothing is divided by the standard deviation"


def test_w10_worked_numbers_on_the_page_are_those_of_the_model_answers():
    group = [1, 1, 0, 0, 0, 0.5]
    spread, wider = np.std(group), np.std(group, ddof=1)
    assert f"mean is {np.mean(group):.4f}" in TEXT
    assert f"with divisor G is {spread:.4f}, and with divisor G \u2212 1 it is {wider:.4f}" in TEXT
    expected = zip(group, advantages(group), strict=True)
    assert [row[1:] for row in rows(TEXT, "Sample | Reward")] == [
        [f"{reward:.2f}", *cells(reward - np.mean(group), score, score * spread / wider)] for reward, score in expected
    ]
    assert f"smaller by the same factor, {spread / wider:.3f} for G = 6: the +2.236 becomes +2.041" in TEXT
    right, *_, wrong = advantages([1, 0, 0, 0, 0, 0])
    assert f"it gets {cells(right)[0]} and the others {cells(wrong)[0]} each" in TEXT
    assert right == pytest.approx(math.sqrt(5), abs=1e-6)
    assert advantages([1, 1, 0, 0, 0, 0.4])[5] == pytest.approx(0, abs=1e-12)
    assert advantages([0.1, 0.1, 0, 0, 0, 0.05]) == pytest.approx(advantages(group), abs=1e-6)


# W08: how hard may a prompt be?


@pytest.mark.parametrize("p", [0, 0.01, 0.25, 0.5, 0.97, 1])
def test_w08_shows_the_most_likely_group_and_its_advantages_by_the_model_answer(open_figure, p):
    figure = open_figure(f"{PATH}?difficulty.p={p}", "grpo-difficulty")
    shown = figure.table("What to expect of a group")
    assert [row[0] for row in shown] == ["2", "4", "8", "16", "32", "64"]
    for size, _, _, correct, *scores in shown:
        count, of = map(int, correct.split(" of "))
        assert of == int(size)
        chances = binomial(p, of)
        assert chances[count] == pytest.approx(max(chances)), correct
        group = advantages([1] * count + [0] * (of - count))
        for here, score, cell in ((count, group[0], scores[0]), (of - count, group[-1], scores[1])):
            if here:
                assert numbers(cell)[0] == pytest.approx(score, abs=5e-4)
            else:
                assert cell == "\u2013", "there is no such sample in this group"


def binomial(p, size):
    """Probability of each number of correct samples."""
    return [math.comb(size, count) * p**count * (1 - p) ** (size - count) for count in range(size + 1)]


def test_w08_says_that_a_prompt_that_is_always_solved_teaches_nothing(open_figure):
    figure = open_figure(PATH, "grpo-difficulty")
    figure.slide("Probability of a correct sample", "90 %".replace(" ", "\u00a0"))
    figure.choose("Group size G", "32")
    assert "3.4" in figure.status and "G = 32" in figure.status
    figure.press("Always right")
    assert "no group teaches anything" in figure.status
    assert figure.column(1) == [100] * 6
    assert "difficulty.g" not in figure.page.url, "an example brings its whole state"


def test_w08_what_is_rare_does_not_read_as_never(open_figure):
    figure = open_figure(f"{PATH}?difficulty.g=16", "grpo-difficulty")
    assert "< 0.1\u00a0% of the groups" in figure.status
    assert [row[1] for row in figure.table()][2:] == ["0.8\u00a0%", *["< 0.1\u00a0%"] * 3]


def test_w08_worked_numbers_on_the_page_are_those_of_the_model_answers():
    right, *_, wrong = advantages([1] + 7 * [0])
    assert f"gets +{right:.3f}, the seven wrong ones \u2212{-wrong:.3f} each" in TEXT
    for p in (0.01, 0.5, 0.9):
        lost = [p**size + (1 - p) ** size for size in (2, 4, 8, 16, 32)]
        row = " | ".join(f"{100 * share:.1f} %" if share >= 5e-4 else "< 0.1 %" for share in lost)
        assert f"| {100 * p:.0f} % | {row} |" in TEXT
    assert f"from {100 * (0.9**2 + 0.1**2):.1f} % with G = 2 to {100 * (0.9**32 + 0.1**32):.1f} % with G = 32" in TEXT
    rare = {size: binomial(0.01, size) for size in (2, 4, 8, 16, 32, 64)}
    assert all(chances[0] == max(chances) for chances in rare.values()), "the most likely group has no correct sample"
    assert f"{100 * rare[8][1]:.1f} % of those with G = 8 have exactly one" in TEXT


# W12: is it a bell curve?


def test_w12_draws_values_that_groups_of_zeros_and_ones_can_have_and_adds_groups(open_figure):
    figure = open_figure(f"{PATH}?histogram.g=4", "grpo-histogram")
    possible = {round(a, 1) for k in range(5) for a in advantages([1] * k + [0] * (4 - k))}
    drawn = [row[0].replace("\u2212", "-") for row in figure.table("Where there are bars")]
    assert {float(value) for value in drawn} == possible
    assert sum(figure.column(1, "Where there are bars")) == pytest.approx(100, abs=0.5)
    figure.press("+100 groups")
    assert figure.status.startswith("200 groups of 4: only 7 different values")
    summary = dict(row[:2] for row in figure.table("All advantages together"))
    lost = numbers(summary["groups without a signal"])[0] / 100
    assert numbers(summary["standard deviation"])[0] == pytest.approx(math.sqrt(1 - lost), abs=2e-3)
    assert numbers(summary["mean"])[0] == 0
    assert numbers(summary["largest size"])[0] == pytest.approx(math.sqrt(3), abs=5e-4)


def test_w12_shows_a_bell_only_for_rewards_from_a_bell_in_a_large_group(open_figure):
    figure = open_figure(f"{PATH}?histogram.groups=1000", "grpo-histogram")

    def middle():
        return numbers(dict(row[:2] for row in figure.table("All advantages together"))["between \u22120.5 and +0.5"])[
            0
        ]

    normal = 100 * math.erf(0.5 / math.sqrt(2))
    assert middle() < 10
    figure.pick("a bell curve")
    figure.choose("Group size G", "32")
    assert middle() == pytest.approx(normal, abs=2)
    assert not figure.node.get_by_label("Probability of reward 1").is_visible()
    figure.choose("Group size G", "2")
    assert middle() == 0 and figure.column(0, "Where there are bars") == [-1, 1]


def test_w12_tells_the_largest_drawn_from_the_limit(open_figure):
    figure = open_figure(PATH, "grpo-histogram")
    figure.pick("any number from 0 to 1")
    summary = dict(row[:2] for row in figure.table("All advantages together"))
    largest = numbers(summary["largest size"])[0]
    assert largest < math.sqrt(7)
    assert f"the largest has the size {largest:.2f}; with G = 8 none can exceed {math.sqrt(7):.2f}" in figure.status


def test_w12_another_seed_draws_other_groups(open_figure):
    figure = open_figure(PATH, "grpo-histogram")
    before = figure.table("Where there are bars")
    field = figure.node.get_by_label("Seed")
    field.fill("8")
    field.press("Tab")
    assert figure.table("Where there are bars") != before
    figure.press("Reset")
    assert figure.table("Where there are bars") == before


def test_w12_worked_numbers_on_the_page_are_those_of_the_model_answers():
    for count, right, wrong in rows(TEXT, "Correct of 8"):
        if count == "0 or 8":
            assert set(advantages([1] * 8) + advantages([0] * 8)) == {0} and (right, wrong) == ("0", "0")
            continue
        first, *_, last = advantages([1] * int(count) + [0] * (8 - int(count)))
        assert [right, wrong] == cells(first, last)
    assert [row[0] for row in rows(TEXT, "Correct of 8")] == ["0 or 8", *map(str, range(1, 8))]
    assert f"root of G \u2212 1: {math.sqrt(7):.2f} for G = 8" in TEXT
    every = {round(a, 6) for k in range(9) for a in advantages([1] * k + [0] * (8 - k))}
    assert len(every) == 2 * (8 - 1) + 1


# B05: advantages out of nothing


def test_b05_shows_the_float32_numbers_of_numpy(open_figure):
    figure = open_figure(PATH, "grpo-float-noise")
    for size in (8, 16):
        figure.choose("Group size G", str(size))
        shown = {float(reward): value for reward, value in figure.table("Every reward")}
        for reward, value in shown.items():
            found = float(value.replace("\u2212", "-"))
            assert found == pytest.approx(summed_in_order(reward, size)[-1], rel=6e-3), (reward, size)


def test_b05_the_comparison_gives_exactly_0_where_eps_and_float64_do_not(open_figure):
    figure = open_figure(PATH, "grpo-float-noise")
    assert "0.856" in figure.status
    assert [row[2] for row in figure.table("The formula, step by step")] == [
        *("0.699999988", "0.699999928", "5.96e\u22128", "5.96e\u22128", "0.856")
    ]
    figure.choose("std_eps", "1e-4")
    assert "5.96e\u22124" in figure.status
    figure.choose("std_eps", "1e-8")
    figure.choose("dtype", "float64")
    assert "\u22121.11e\u22128" in figure.status
    assert "another order of the additions" in figure.node.locator(".grpo-source").inner_text()
    figure.choose("dtype", "float32")
    figure.tick("Compare the rewards first")
    assert "exactly 0" in figure.status
    assert {row[1] for row in figure.table("Every reward")} == {"0"}


def test_b05_numbers_on_the_page_are_those_of_numpy_and_of_pytorch():
    for reward, mean, centred, std, score in rows(TEXT, "Reward | Mean, computed"):
        expected = summed_in_order(float(reward), 8)
        found = [float(cell.replace("\u2212", "-")) for cell in (mean, centred, std, score)]
        assert found[0] == pytest.approx(expected[0], abs=5e-10)
        assert found[1:] == pytest.approx(expected[1:], rel=2e-3), reward
    rewards = torch.full((8,), 0.7)
    noise = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-8)
    assert noise[0] == pytest.approx(0.856, abs=5e-4)
    assert group_advantages(rewards).tolist() == 8 * [0]
    assert f"to {summed_in_order(0.7, 8, std_eps=1e-4)[-1]:.4f}, but not 0" in TEXT
    assert f"{summed_in_order(0.7, 8, dtype=np.float64)[-1]:.2e}" == "-1.11e-08" and "\u22121.11e\u22128" in TEXT
    doubles = torch.full((8,), 0.7, dtype=torch.float64)
    assert (doubles - doubles.mean()).tolist() in (8 * [0], 8 * [0.7 - np.add.accumulate(np.full(8, 0.7))[-1] / 8])


def summed_in_order(reward, size, *, std_eps=1e-8, dtype=np.float32):
    """Mean, reward less mean, standard deviation and advantage of equal rewards; sums from left to right."""
    rewards = np.full(size, reward, dtype)
    mean = np.add.accumulate(rewards)[-1] / dtype(size)
    centred = rewards - mean
    std = np.sqrt(np.add.accumulate(centred * centred)[-1] / dtype(size))
    return [float(value) for value in (mean, centred[0], std, centred[0] / (std + dtype(std_eps)))]


# B01: what the mean does and what the standard deviation does


def gradients(*, best=0.1, size=8, offset=0.0, scale=1.0):
    """Signal, noise and cosine of each way to score a group, over all groups that the policy can draw."""
    policy = np.full(10, (1 - best) / 9)
    policy[6] = best
    rewards = scale * (PEAK + offset)
    groups = np.array(list(itertools.combinations_with_replacement(range(10), size)))
    orders = [
        math.factorial(size) / math.prod(map(math.factorial, Counter(group).values())) for group in groups.tolist()
    ]
    chance = np.array(orders) * policy[groups].prod(axis=1)
    assert chance.sum() == pytest.approx(1)
    paid = rewards[groups]
    scores = {
        "none": paid,
        "mean": group_advantages(torch.tensor(paid), divide_by_std=False).numpy(),
        "others": (paid - paid.mean(axis=1, keepdims=True)) * size / (size - 1),
        "std": group_advantages(torch.tensor(paid)).numpy(),
        "critic": paid - policy @ rewards,
    }
    truth = policy * (rewards - policy @ rewards)
    found = {}
    for name, score in scores.items():
        each = (score[:, :, None] * (np.eye(10)[groups] - policy)).mean(axis=1)
        mean = chance @ each
        noise = math.sqrt(chance @ ((each - mean) ** 2).sum(axis=1))
        signal = float(np.linalg.norm(mean))
        found[name] = (signal, noise, float(mean @ truth / signal / np.linalg.norm(truth)), signal / noise)
    return found


def test_b01_shows_signal_and_noise_of_all_groups(open_figure):
    figure = open_figure(PATH, "grpo-signal-to-noise")

    def shown():
        return [[numbers(cell)[0] for cell in row[1:]] for row in figure.table()]

    def expected(**settings):
        return [pytest.approx([*row[:3], row[3]], abs=6e-3) for row in gradients(**settings).values()]

    assert shown() == expected()
    figure.press("All rewards + 5")
    assert shown() == expected(offset=5)
    assert "without a baseline signal / noise is 0.06" in figure.status
    figure.press("Rewards ten times as large")
    assert shown() == expected(scale=10), "an example brings its whole state"
    figure.press("Nearly learned")
    figure.choose("Group size G", "4")
    assert shown() == expected(best=0.9, size=4)
    assert "lowers it" in figure.status


def test_b01_worked_numbers_on_the_page_are_those_of_all_groups():
    uniform, lifted, late = gradients(), gradients(offset=5), gradients(best=0.9)
    found = [row[1:] for row in rows(TEXT, "Advantage | Signal")]
    names = ("none", "mean", "others", "std", "critic")
    assert found == [[f"{uniform[n][0]:.3f}", f"{uniform[n][3]:.2f}", f"{lifted[n][3]:.2f}"] for n in names]
    assert f"signal / noise from {uniform['none'][3]:.2f} to {uniform['mean'][3]:.2f}" in TEXT
    assert f"REINFORCE falls to {lifted['none'][3]:.2f}" in TEXT
    assert f"hardly changes: {uniform['mean'][3]:.2f} and {uniform['std'][3]:.2f}." in TEXT
    signals, noises = (f"from {uniform['mean'][i]:.3f} to {uniform['std'][i]:.3f}" for i in (0, 1))
    assert f"{signals} and {noises}" in TEXT
    assert f"({late['mean'][3]:.2f} without, {late['std'][3]:.2f} with it)" in TEXT
    assert f"four times, from {late['mean'][0]:.3f} to {late['std'][0]:.3f}" in TEXT
    assert late["std"][0] > 4 * late["mean"][0] and uniform["std"][0] > 3 * uniform["mean"][0]
    assert uniform["mean"][0] == pytest.approx(7 / 8 * uniform["others"][0])
    assert f"(cosine {uniform['std'][2]:.3f}, and {late['std'][2]:.3f} at 90 %)" in TEXT
    assert f"REINFORCE has {late['none'][3]:.2f}, a perfect critic {late['critic'][3]:.2f}" in TEXT
    late_lifted = gradients(best=0.9, offset=5)
    assert f"REINFORCE has {late_lifted['none'][3]:.2f} and the critic still {late_lifted['critic'][3]:.2f}" in TEXT
    tenfold = gradients(scale=10)
    assert tenfold["std"][0] == pytest.approx(uniform["std"][0]), "only the row of GRPO keeps its signal"
    assert all(tenfold[name][0] == pytest.approx(10 * uniform[name][0]) for name in names if name != "std")
