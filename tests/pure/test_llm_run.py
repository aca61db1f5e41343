"""The recorded run of a pretrained language model: what is in its files follows from its tokens, by numpy alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from site_steps import recordings

RUN = recordings.llm_run()


def rows() -> list[tuple[int, str, dict[str, Any]]]:
    """Every completion: the place of its moment, its prompt, and what is recorded of it."""
    return [
        (place, prompt, row)
        for place, moment in enumerate(RUN["moments"])
        for prompt, group in zip(RUN["prompts"], moment["groups"], strict=False)
        for row in group
    ]


def is_right(prompt: str, completion: str) -> bool:
    a, b = map(int, re.findall(r"\d+", recordings.last_line(prompt)))
    return completion.split("\n")[0].strip() == str(a + b)


def test_a_reward_is_that_of_the_right_sum() -> None:
    for _, prompt, row in rows():
        assert row["reward"] == is_right(prompt, "".join(row["tokens"])), row
    for point in RUN["points"]:
        for prompt, text, reward in zip(RUN["prompts"], point["texts"], point["rewards"], strict=True):
            assert reward == is_right(prompt, text), (prompt, text)


def test_an_advantage_is_that_of_the_reward_in_its_group() -> None:
    for moment in RUN["moments"]:
        for group in moment["groups"]:
            rewards = np.array([row["reward"] for row in group])
            expected = (rewards - rewards.mean()) / (rewards.std() + 1e-8)
            assert [row["advantage"] for row in group] == pytest.approx(expected, abs=1e-5)
