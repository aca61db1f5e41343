"""Chapter 3, the group: every number against the model answers, and what a reader does with the explorables."""

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from explorables import numbers

from grader.core import course
from grader.oracles import sfc32
from reference.advantages import group_advantages, zero_signal_fraction

PATH = "/learn/group/"
TEXT = (course.ROOT / "docs/learn/group.md").read_text("utf-8")
ANSWERS = [24, 14, 12, 10, 13]
CHANCES = [0.5, 0.25, 0.12, 0.08, 0.05]
SOLUTIONS: dict[str, tuple[Any, ...]] = {
    "A, sound": ("3 x 4 = 12, 2 + 12 = 14. Answer: 14", 1, 1, 1),
    "B, false steps": ("2 + 3 = 7, 7 x 4 = 14. Answer: 14", 1, 1, 0),
    "C, bare guess": ("14", 1, 0, 0),
    "D, idle steps": ("1 + 1 = 2, 2 + 2 = 4. Answer: 14", 1, 1, 1),
    "E, wrong": ("2 + 3 = 5, 5 x 4 = 20. Answer: 20", 0, 1, 1),
    "F, wrong": ("20", 0, 0, 0),
    "G, wrong": ("3 x 4 = 11, 2 + 11 = 13. Answer: 13", 0, 1, 0.5),
    "H, wrong": ("9", 0, 0, 0),
}
"""Text (x for the sign of multiplication), outcome, whether it has the form, share of true steps; by hand."""


def advantages(rewards):
    return group_advantages(torch.tensor(rewards, dtype=torch.float64)).tolist()


def binary(right, size):
    """Advantage of a right and of a wrong sample where some of a group are right."""
    found = advantages([1.0] * right + [0.0] * (size - right))
    return found[0], found[-1]


def written(number, digits=3):
    """A number as the page writes it, with its sign."""
    text = f"{abs(number):.{digits}f}"
    return text if float(text) == 0 else ("+" if number > 0 else "\u2212") + text


def typeset(text):
    """Plain text with the signs for minus and for multiplication that the page has."""
    return text.replace("-", "\u2212").replace("x", "\u00d7")


def drawn(seed, size):
    """The answers that the browser must draw."""
    return [ANSWERS[place] for place in np.searchsorted(np.cumsum(CHANCES), sfc32.uniforms([seed], size)[0], "right")]


def policy(temperature, *, knows_rule=False):
    powers = [p ** (1 / temperature) for p in CHANCES]
    if knows_rule:
        powers[:2] = powers[1::-1]
    return [power / sum(powers) for power in powers]


def signal(p, size):
    return 1 - p**size - (1 - p) ** size


def distinct(probabilities, size):
    return sum(1 - (1 - p) ** size for p in probabilities)


def spread(p, size):
    """Mean standard deviation over all groups of right and wrong samples."""
    return sum(
        math.prod(p if right else 1 - p for right in group) * float(np.std(group))
        for group in itertools.product([0, 1], repeat=size)
    )


# W04


@pytest.mark.parametrize(("seed", "size"), [(40, 8), (5, 16), (999, 2)])
def test_w04_draws_and_scores_a_group_as_the_model_answers_do(open_figure, seed, size):
    figure = open_figure(f"{PATH}?sampling.seed={seed}&sampling.g={size}", "grpo-sampling")
    answers = drawn(seed, size)
    rewards = [float(answer == 14) for answer in answers]
    assert figure.column(1) == answers
    assert [("✓" in row[1]) for row in figure.table()] == [reward == 1 for reward in rewards]
    assert figure.column(3) == pytest.approx([reward - np.mean(rewards) for reward in rewards], abs=5e-4)
    assert figure.column(4) == pytest.approx(advantages(rewards), abs=5e-4)


def test_w04_another_group_is_another_draw_and_equal_rewards_teach_nothing(open_figure):
    figure = open_figure(PATH, "grpo-sampling")
    assert figure.column(1) == drawn(40, 8)
    statuses = []
    for seed in (41, 42, 43, 44, 45):
        figure.press("Draw another group")
        assert figure.column(1) == drawn(seed, 8)
        assert f"seed={seed}" in figure.page.url
        statuses.append(figure.status)
    assert len(set(statuses)) >= 4 and not any("teaches nothing" in status for status in statuses)
    figure.press("One of eight is right")
    assert "1 of 8" in figure.status and "+2.646" in figure.status
    figure.press("A group that teaches nothing")
    assert "teaches nothing" in figure.status
    assert figure.column(4) == [0, 0, 0, 0]


def test_w04_the_drawn_line_is_the_mean_of_the_group(open_figure):
    figure = open_figure(PATH, "grpo-sampling")
    for seed in (40, 15):
        figure.node.get_by_label("Seed of the draws").fill(str(seed))
        figure.node.get_by_label("Seed of the draws").press("Tab")
        level, zero, one = (
            float(figure.node.locator(f"svg line.{style}").nth(place).get_attribute("y1"))
            for style, place in (("mean", 0), ("grid", 0), ("grid", 1))
        )
        assert (zero - level) / (zero - one) == pytest.approx(drawn(seed, 8).count(14) / 8, abs=0.01)


def test_w04_the_group_on_the_page_is_the_one_that_is_drawn():
    answers = drawn(40, 8)
    assert "drawn with seed 40" in TEXT
    for place, (answer, advantage) in enumerate(
        zip(answers, advantages([float(a == 14) for a in answers]), strict=True), 1
    ):
        right = answer == 14
        cells = [place, answer, int(right), written(right - 0.25), written(advantage)]
        assert f"| {' | '.join(map(str, cells))} |" in TEXT
    assert f"mean is 0.250 and the standard deviation {np.std([a == 14 for a in answers]):.3f}" in TEXT
    assert (
        f"{written(-0.25)} / {np.std([a == 14 for a in answers]):.3f} = {written(advantages([1.0, 0, 0, 0])[1])}"
        in TEXT
    )
    shares = [written(binary(right, 8)[0]) for right in (2, 1, 4)]
    assert (
        "gets {} where two of eight are right, {} where it is the only one, and {} where four".format(*shares) in TEXT
    )
    assert f"first four samples of seed 0 are {'{}, {}, {} and {}'.format(*drawn(0, 4))}" in TEXT


# W05


def answer(figure, text):
    field = figure.node.get_by_label("Your answer")
    field.fill(text)
    field.press("Enter")


def test_w05_an_example_brings_its_whole_state(open_figure):
    figure = open_figure(f"{PATH}?score-answer.others=wrong&score-answer.form=yes", "grpo-score-answer")
    assert deviations(figure) == pytest.approx(
        [(reward - 0.25) / 0.75 for reward in (1, 0, 0.5, 0, 0, 0, 0.5, 0)], abs=0.03
    )
    figure.press("A list of guesses")
    assert figure.column(4)[0] == 1
    assert figure.page.url.endswith("?score-answer.answer=12+or+13+or+14")


def deviations(figure):
    """How far each block is from the line of the mean, up or down, as shares of how far the first one is."""
    stems = figure.node.locator("svg.grpo-chart g > g > rect").evaluate_all(
        "all => all.map(stem => (stem.getBBox().height + 2.5) * (stem.matches('.up') ? 1 : -1))"
    )
    return [stem / stems[0] for stem in stems]


OTHERS = {"three are right": 3, "all are right": 7, "none is right": 0}


@pytest.mark.parametrize("text", ["14", "13", "It is fourteen.", "12 or 13 or 14", "Answer: 20. No, it is 14."])
def test_w05_scores_any_text_against_the_seven_others(open_figure, text):
    figure = open_figure(PATH, "grpo-score-answer")
    answer(figure, text)
    right = text not in ("13", "It is fourteen.")
    for others, count in OTHERS.items():
        figure.pick(others)
        expected = binary(count + right, 8)[0 if right else 1]
        assert figure.column(4)[0] == pytest.approx(expected, abs=5e-4)
        assert figure.table()[0][1] == text
        assert written(expected) in figure.status or "nobody learns" in figure.status
    assert figure.node.locator(".grpo-reading mark").all_inner_texts() == re.findall(r"\d+", text)[-1:]


def test_w05_the_form_is_paid_for_a_wrong_answer_too(open_figure):
    figure = open_figure(PATH, "grpo-score-answer")
    answer(figure, "Answer: 15")
    figure.tick("Also pay 0.5 for a number behind \u201cAnswer:\u201d")
    assert figure.column(3) == [0.5, 1, 1.5, 1, 0, 0.5, 0, 0]
    assert figure.column(4) == pytest.approx(advantages(figure.column(3)), abs=5e-4)


def test_w05_text_stays_text_and_comes_back_from_the_address(open_figure):
    figure = open_figure(PATH, "grpo-score-answer")
    text = "<b>14</b> & 7?"
    answer(figure, text)
    again = open_figure(PATH + "?" + figure.page.url.split("?", 1)[1], "grpo-score-answer")
    assert again.table()[0][1:3] == [text, "7"]
    assert again.node.get_by_label("Your answer").input_value() == text
    empty = open_figure(f"{PATH}?score-answer.answer=", "grpo-score-answer")
    assert empty.table()[0][1:3] == ["", "none"]


def test_w05_worked_numbers_on_the_page_are_those_of_the_model_answers():
    read = {
        "14": "14",
        "Answer: 20. No, it is 14.": "14",
        "12 or 13 or 14": "14",
        "It is fourteen.": "none",
        "13": "13",
    }
    for text, number in read.items():
        right = number == "14"
        cells = [written(binary(count + right, 8)[0 if right else 1]) for count in OTHERS.values()]
        assert f"| {text} | {number} | {int(right)} | {' | '.join(cells)} |" in TEXT


# W06


@pytest.mark.parametrize(("temperature", "knows_rule"), [(0.1, False), (0.5, True), (0.8, False), (2, True)])
def test_w06_expectations_are_those_of_all_groups(open_figure, temperature, knows_rule):
    figure = open_figure(
        f"{PATH}?diversity.t={temperature}&diversity.knows={'yes' if knows_rule else 'no'}", "grpo-diversity"
    )
    probabilities = policy(temperature, knows_rule=knows_rule)
    right = probabilities[1]
    assert figure.column(1, "How likely each answer is") == pytest.approx([100 * p for p in probabilities], abs=0.05)
    shown = [numbers(cell)[0] for cell in figure.table("What to expect of a group and its rewards")[0]]
    entropy = -sum(p * math.log(p) for p in probabilities)
    expected = [entropy, distinct(probabilities, 8), 100 * right, 100 * signal(right, 8), spread(right, 8)]
    for found, value, error in zip(shown, expected, (5e-4, 5e-3, 0.05, 0.05, 5e-4), strict=True):
        assert found == pytest.approx(value, abs=error)


def test_w06_a_cold_policy_gives_no_signal_and_a_larger_group_more(open_figure):
    figure = open_figure(PATH, "grpo-diversity")
    figure.press("Too cold")
    assert "0.8\u00a0%" in figure.status and "1.01 different" in figure.status
    figure.tick("The favorite answer is the right one")
    assert "0.8\u00a0%" in figure.status
    figure.choose("Group size G", "64")
    assert "6.1\u00a0%" in figure.status
    figure.slide("Temperature", "1.0")
    assert f"{100 * signal(0.5, 64):.1f}\u00a0%" in figure.status
    figure.press("As trained")
    assert figure.status == f"At temperature 1.0, expect {distinct(CHANCES, 8):.2f} different answers among 8, and " + (
        f"a signal in {100 * signal(0.25, 8):.1f}\u00a0% of the groups."
    )


def test_w06_worked_numbers_on_the_page_are_right():
    for temperature in (0.1, 0.5, 0.8, 1.0, 2.0):
        cold, rule = policy(temperature), policy(temperature, knows_rule=True)
        entropy = -sum(p * math.log(p) for p in cold)
        shares = [f"{100 * share:.1f} %" for share in (cold[1], signal(cold[1], 8), signal(rule[1], 8))]
        row = [f"{temperature:.1f}", f"{entropy:.3f}", f"{distinct(cold, 8):.2f}", *shares]
        assert f"| {' | '.join(row)} |" in TEXT
    low, high = policy(1.0), policy(2.0)
    assert f"from {distinct(low, 8):.2f} to {distinct(high, 8):.2f}" in TEXT
    assert f"falls from {100 * signal(low[1], 8):.1f} % to {100 * signal(high[1], 8):.1f} %" in TEXT
    assert max(signal(policy(0.1, knows_rule=rule)[1], 8) for rule in (False, True)) < 0.01


# W07

TERMS = {"nothing": 0, "the form \u201cAnswer: number\u201d": 2, "true steps": 3}


WORTH = np.array([2, 1, 1, 1, 0, 0, 0, 0])
"""What was meant: worked out, right all the same, wrong."""


def paid(term):
    """Rewards of the eight texts with a second payment."""
    return [row[1] + (0.5 * row[term] if term else 0) for row in SOLUTIONS.values()]


def hacked(term):
    """Advantages of the eight texts with a second payment."""
    return advantages(paid(term))


def ranks(values):
    """How many values are greater, and 1."""
    return [1 + int((np.array(values) > value).sum()) for value in values]


@pytest.mark.parametrize("term", TERMS)
def test_w07_grpo_sees_the_reward_and_nothing_else(open_figure, term):
    figure = open_figure(PATH, "grpo-reward-hacking")
    figure.choose("Pay up to 0.5 more for", term)
    found = hacked(TERMS[term])
    assert [row[:2] for row in figure.table()] == [[name, typeset(row[0])] for name, row in SOLUTIONS.items()]
    assert figure.column(3) == pytest.approx(found, abs=5e-4)
    rewards = np.array(paid(TERMS[term]))
    assert [figure.column(4), figure.column(5)] == [ranks(rewards), ranks(WORTH)]
    heights = figure.node.locator("g.card > rect:first-child").evaluate_all(
        "all => all.map(each => each.y.baseVal.value)"
    )
    assert np.argsort(heights).tolist() == np.argsort(-rewards, stable=True).tolist()
    fooled = [(rewards[worth < WORTH] <= reward).any() for reward, worth in zip(rewards, WORTH, strict=True)]
    assert figure.node.locator("svg path.line-first").count() == sum(fooled)
    for place, rival in enumerate(["B, false steps", "C, bare guess", "D, idle steps"], 1):
        figure.pick(rival)
        same = found[place] == pytest.approx(found[0])
        assert ("cannot tell them apart" in figure.status) == same
        assert ("prefers A" in figure.status) != same


def test_w07_worked_numbers_on_the_page_are_those_of_the_model_answers():
    columns = [hacked(term) for term in TERMS.values()]
    for place, (name, row) in enumerate(SOLUTIONS.items()):
        cells = " | ".join(written(column[place]) for column in columns)
        assert f"| {name} | {typeset(row[0])} | {row[1]} | {cells} |" in TEXT
    for place, column in ((2, columns[1]), (1, columns[2])):
        assert f"({written(column[0])} against {written(column[place])})" in TEXT
    wrong = list(SOLUTIONS).index("E, wrong")
    assert SOLUTIONS["E, wrong"][1] == 0 and SOLUTIONS["E, wrong"][3] == 1
    assert f"the full 0.5, and {written(columns[2][wrong])} in place of {written(columns[0][wrong])}" in TEXT


# What is only text


def test_t07_the_table_of_group_sizes_is_right():
    for size in (2, 8, 16, 64):
        equal = [1 - signal(p, size) for p in (0.5, 0.1)]
        shares = [f"{100 * share:.1f} %" if share >= 5e-4 else "< 0.1 %" for share in equal]
        assert f"| {size} | {0.5 / math.sqrt(size):.4f} | {shares[0]} | {shares[1]} |" in TEXT
    assert advantages([5.0, 2.0]) == pytest.approx([1, -1])
    assert advantages([0.3, 0.2]) == pytest.approx([1, -1])


def test_t08_a_group_of_one_is_what_the_page_says():
    assert advantages([1.0]) == [0.0]
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert torch.tensor([1.0]).std().isnan()
    assert "| this course: divides by $G$, equal rewards give 0 | 1 | 0 | exactly 0 |" in TEXT
    assert "| 0 / 0 | not a number |" in TEXT


def test_n03_a_rounded_group_has_no_signal_where_a_drawn_one_may():
    assert advantages([1.0] * int(2 * 0.2) + [0.0] * 2) == [0, 0]
    assert typeset("0.2 x 2 = 0.4") + " becomes 0 right samples, and all advantages are 0" in TEXT
    assert f"in {100 * signal(0.2, 2):.0f} % of all cases" in TEXT


def test_the_batch_on_the_page_and_the_answer_are_right():
    rewards = torch.tensor([[1.0, 0, 0, 0], [4, 2, 2, 0]], dtype=torch.float64)
    rows = group_advantages(rewards, divide_by_std=False).tolist()
    assert rows == [[0.75, -0.25, -0.25, -0.25], [2, 0, 0, -2]]
    assert typeset("| 1 | 1, 0, 0, 0 | 0.25 | +0.75, -0.25, -0.25, -0.25 |") in TEXT
    assert typeset("| 2 | 4, 2, 2, 0 | 2.00 | +2, 0, 0, -2 |") in TEXT
    assert f"it is {rewards.mean().item()}, " in TEXT and rewards[0].max() < rewards.mean()
    asked = torch.tensor([[0.0, 0, 1, 0], [1, 1, 1, 1]], dtype=torch.float64)
    rows = group_advantages(asked, divide_by_std=False).tolist()
    assert rows == [[-0.25, -0.25, 0.75, -0.25], [0, 0, 0, 0]]
    assert typeset("-0.25, -0.25, +0.75, -0.25") + " in the first group and 0 four times in the second" in TEXT
    assert zero_signal_fraction(asked) == 0.5 and "that group has no signal" in TEXT
