"""Inputs of the laws: every documented bound is reached and never passed, and the smallest inputs are the simplest."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings

from grader.grading import strategies

SIZES: dict[str, tuple[list[tuple[int, int]], dict[str, int], list[tuple[int, int]]]] = {
    "reward_groups": ([(1, 3), (2, 6)], {"prompts": 2, "group_size": 3}, [(1, 2), (2, 3)]),
    "reward_groups_with_ties": ([(1, 5), (1, 3)], {"prompts": 2, "group_size": 2}, [(1, 2), (1, 2)]),
    "logit_pairs": ([(1, 2), (2, 5)], {"rows": 1, "actions": 3}, [(1, 1), (2, 3)]),
    "logp_pairs": ([(1, 6)], {"size": 2}, [(1, 2)]),
    "ratios_and_advantages": ([(1, 6)], {"size": 2}, [(1, 2)]),
    "bandit_groups": ([(2, 5), (2, 6)], {"actions": 3, "group_size": 2}, [(2, 3), (2, 2)]),
    "rollouts": ([(1, 4), (2, 6)], {"rows": 2, "length": 3}, [(1, 2), (2, 3)]),
}
"""Smallest and largest size along each axis without arguments; some arguments, and the sizes that they allow."""


@functools.cache
def drawn(name: str, count: int = 300, **arguments: int) -> list[Any]:
    """Many values of one strategy, the same ones each time."""
    found: list[Any] = []

    @settings(max_examples=count, derandomize=True, database=None, phases=[Phase.generate])
    @given(getattr(strategies, name)(**arguments))
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def shape(name: str, value: Any) -> tuple[int, ...]:
    """Of one value; the two arrays of a pair have the same one."""
    if name.startswith("reward"):
        return tuple(value.shape)
    if name == "rollouts":
        return tuple(value[1].shape)
    first, second = value[:2]
    if name == "bandit_groups":
        assert first.ndim == second.ndim == 1
        return (*first.shape, *second.shape)
    assert first.shape == second.shape
    return tuple(first.shape)


def all_shapes(limits: Sequence[tuple[int, int]]) -> set[tuple[int, ...]]:
    return {*product(*(range(least, most + 1) for least, most in limits))}


@pytest.mark.parametrize("name", SIZES)
def test_every_documented_size_comes_and_no_other(name: str) -> None:
    limits, arguments, fewer = SIZES[name]
    assert {shape(name, value) for value in drawn(name)} == all_shapes(limits)
    assert {shape(name, value) for value in drawn(name, 60, **arguments)} == all_shapes(fewer)


def eighths_between(arrays: list[Any], low: float, high: float) -> None:
    """All are multiples of 1/8 as float64, and both limits are reached and not passed."""
    values = np.concatenate([array.ravel() for array in arrays])
    assert values.dtype == np.float64
    assert (values * 8 == np.round(values * 8)).all()
    assert (values.min(), values.max()) == (low, high)


def test_no_reward_group_has_equal_rewards() -> None:
    assert all((rewards.min(axis=1) < rewards.max(axis=1)).all() for rewards in drawn("reward_groups"))
    eighths_between([rewards[:, 1:] for rewards in drawn("reward_groups")], -5.0, 5.0)
    eighths_between([rewards[:, :1].clip(-5, 5) for rewards in drawn("reward_groups")], -5.0, 5.0)


@pytest.mark.parametrize(("arguments", "largest"), [({}, 4), ({"largest": 2}, 2)])
def test_log_probabilities_reach_from_the_lowest_to_zero(arguments: dict[str, int], largest: int) -> None:
    pairs = drawn("logp_pairs", **arguments)
    for side in (0, 1):
        eighths_between([pair[side] for pair in pairs], -largest, 0.0)
        assert not any(np.signbit(pair[side][pair[side] == 0]).any() for pair in pairs)  # never -0.0


def test_a_bandit_group_has_actions_that_exist_and_rewards_that_differ() -> None:
    groups = drawn("bandit_groups")
    eighths_between([logits for logits, _, _ in groups], -2.0, 2.0)
    eighths_between([rewards[1:] for _, _, rewards in groups], -4.0, 4.0)
    for logits, actions, rewards in groups:
        assert actions.dtype == np.int64 and actions.shape == rewards.shape
        assert actions.min() >= 0 and actions.max() < len(logits)
        assert rewards.min() < rewards.max() and -4 <= rewards[0] <= 5
    for count in (2, 3, 4, 5):
        assert {action for logits, actions, _ in groups if len(logits) == count for action in actions} == {
            *range(count)
        }


def test_ratios_are_odd_multiples_of_a_32nd_and_keep_within_their_limits() -> None:
    pairs = drawn("ratios_and_advantages", 400)
    ratios = np.concatenate([ratios for ratios, _ in pairs])
    assert ratios.dtype == np.float64
    assert (ratios * 32 % 2 == 1).all()
    assert (ratios.min(), ratios.max()) == (3 / 32, 191 / 32)  # the first after 1/16 and the last before 6
    eighths_between([advantages for _, advantages in pairs], -3.0, 3.0)


def test_a_rollout_has_tokens_of_three_letters_and_a_prompt_that_fits() -> None:
    found = drawn("rollouts")
    eighths_between([table for table, _, _ in found], -2.0, 2.0)
    assert {table.shape for table, _, _ in found} == {(3, 3)}
    assert {tokens.dtype.name for _, tokens, _ in found} == {"int64"}
    assert {token for _, tokens, _ in found for token in tokens.ravel()} == {0, 1, 2}
    prompts = {(tokens.shape[1], prompt) for _, tokens, prompt in found}
    assert prompts == {(length, prompt) for length in range(2, 7) for prompt in range(1, length + 1)}
