"""Chapter 5, the advantage: the numbers of the text, by the model answers and numpy."""

import math

import numpy as np
import pytest
import torch
from page_text import numbers, rows_of, says

from grader.core import course
from reference.advantages import group_advantages

TEXT = (course.ROOT / "docs/learn/advantage.md").read_text("utf-8")


def advantages(rewards, **options):
    return group_advantages(torch.tensor(rewards, dtype=torch.float64), **options).tolist()


def cells(*values, digits=3):
    """Numbers with signs as the page writes them."""
    return [f"{value:+.{digits}f}".replace("-", "\u2212") for value in values]


# T09: the formula and what decides whether code is right


def test_t09_the_two_prompts_of_the_formula_are_those_of_the_model_answer():
    for prompt, rewards, mean, std, shown in rows_of(TEXT, "| Prompt | Rewards"):
        group = numbers(rewards)
        assert numbers(shown) == pytest.approx(advantages(group), abs=5e-4), prompt
        assert (float(mean), float(std)) == pytest.approx((np.mean(group), np.std(group)), abs=5e-4)


def test_t09_the_answer_to_check_yourself_is_that_of_the_model_answer():
    rewards = torch.tensor([[2.0, 4, 6], [5, 5, 5]])
    first, second = group_advantages(rewards).tolist()
    low, middle, high = cells(*first)
    assert float(middle) == 0 and second == [0, 0, 0]
    says(TEXT, f"{math.sqrt(8 / 3):.3f}", high.removeprefix("+"), low, f"{rewards.mean():.1f}")


# W10: build your own group


def test_w10_worked_numbers_on_the_page_are_those_of_the_model_answers():
    group = [1, 1, 0, 0, 0, 0.5]
    spread, wider = np.std(group), np.std(group, ddof=1)
    says(TEXT, f"{np.mean(group):.4f}", f"{spread:.4f}", f"{wider:.4f}")
    expected = zip(group, advantages(group), strict=True)
    assert [row[1:] for row in rows_of(TEXT, "| Sample | Reward")] == [
        [f"{reward:.2f}", *cells(reward - np.mean(group), score, score * spread / wider)] for reward, score in expected
    ]
    says(TEXT, f"{spread / wider:.3f}")
    right, *_, wrong = advantages([1, 0, 0, 0, 0, 0])
    says(TEXT, cells(right)[0], cells(wrong)[0])


# W08: how hard may a prompt be?


def test_w08_worked_numbers_on_the_page_are_those_of_the_model_answers():
    right, *_, wrong = advantages([1] + 7 * [0])
    says(TEXT, *cells(right, wrong))
    for p in (0.01, 0.5, 0.9):
        lost = [p**size + (1 - p) ** size for size in (2, 4, 8, 16, 32)]
        row = " | ".join(f"{100 * share:.1f} %" if share >= 5e-4 else "< 0.1 %" for share in lost)
        assert f"| {100 * p:.0f} % | {row} |" in TEXT
    says(TEXT, f"{100 * (0.9**2 + 0.1**2):.1f}", f"{100 * (0.9**32 + 0.1**32):.1f}")


# W12: is it a bell curve?


def test_w12_worked_numbers_on_the_page_are_those_of_the_model_answers():
    for count, right, wrong in rows_of(TEXT, "| Correct of 8"):
        if count == "0 or 8":
            assert set(advantages([1] * 8) + advantages([0] * 8)) == {0} and (right, wrong) == ("0", "0")
            continue
        first, *_, last = advantages([1] * int(count) + [0] * (8 - int(count)))
        assert [right, wrong] == cells(first, last)
    assert [row[0] for row in rows_of(TEXT, "| Correct of 8")] == ["0 or 8", *map(str, range(1, 8))]
    says(TEXT, f"{math.sqrt(7):.2f}")


# B05: advantages out of nothing


def test_b05_numbers_on_the_page_are_those_of_numpy_and_of_pytorch():
    for reward, mean, centred, std, score in rows_of(TEXT, "| Reward | Mean, computed"):
        expected = summed_in_order(float(reward), 8)
        found = [float(cell.replace("\u2212", "-")) for cell in (mean, centred, std, score)]
        assert found[0] == pytest.approx(expected[0], abs=5e-10)
        assert found[1:] == pytest.approx(expected[1:], rel=2e-3), reward
    rewards = torch.full((8,), 0.7)
    noise = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-8)
    assert noise[0] == pytest.approx(0.856, abs=5e-4)
    assert group_advantages(rewards).tolist() == 8 * [0]
    says(TEXT, f"{summed_in_order(0.7, 8, std_eps=0.0001)[-1]:.4f}", "\u22121.11e\u22128")
    assert f"{summed_in_order(0.7, 8, dtype=np.float64)[-1]:.2e}" == "-1.11e-08"


def summed_in_order(reward, size, *, std_eps=1e-8, dtype=np.float32):
    """Mean, reward less mean, standard deviation and advantage of equal rewards; sums from left to right."""
    rewards = np.full(size, reward, dtype)
    mean = np.add.accumulate(rewards)[-1] / dtype(size)
    centred = rewards - mean
    std = np.sqrt(np.add.accumulate(centred * centred)[-1] / dtype(size))
    return [float(value) for value in (mean, centred[0], std, centred[0] / (std + dtype(std_eps)))]
