"""The questions at the end of each chapter: one right choice each, and numbers that are computed again."""

import re

import numpy as np
import pytest

from grader.core import course

LEARN = course.ROOT / "docs" / "learn"
QUIZ = re.compile(r'/// html \| grpo-quiz\n    attrs: \{name: ([\w-]+), right: "([0-9])"\}\n(.*?)\n///\n', re.DOTALL)
QUIZZES = {
    f"{path.stem}/{name}": (int(right), *text.split('??? success "Answer"'))
    for path in sorted(LEARN.glob("*.md"))
    for name, right, text in QUIZ.findall(path.read_text("utf-8"))
}
ITEM = re.compile(r"^ *[0-9]\. (?:\*\*(\S+)\.\*\* )?(.+)$", re.MULTILINE)


def _advantage(rewards: list[float], *, ddof: int = 0, power: float = 1.0) -> float:
    """Of the last reward of its group."""
    return float((rewards[-1] - np.mean(rewards)) / np.std(rewards, ddof=ddof) ** power)


PROBABILITIES, REWARDS = np.array([0.5, 0.3, 0.2]), np.array([0.0, 1.0, 0.0])
EXPECTED = float(PROBABILITIES @ REWARDS)
RATIO, LONE = 0.10 / 0.20, [0.0] * 7 + [1.0]
HALVES = [1.0] * 4 + [0.0] * 4
NUMBERS: dict[str, list[float]] = {
    "ppo/saved": [7 * 16, 7 * 2, 7 * 16 + 7 * 2, 7 * 16 * 2 + 7 * 2, 7 * 16 - 7 * 2],
    "group/silent": [0.5**2 + 0.5**2, 0.5**2, 1 - 0.5**2, 0],
    "gradient/logit": [PROBABILITIES[1] * (REWARDS[1] - EXPECTED), EXPECTED, REWARDS[1] - EXPECTED, REWARDS[1]],
    "advantage/six": [
        _advantage([2, 4, 6]),
        _advantage([2, 4, 6], ddof=1),
        _advantage([2, 4, 6], power=0),
        _advantage([2, 4, 6], power=2),
    ],
    "loss/bound": [
        -min(RATIO * -2, np.clip(RATIO, 0.8, 1.2) * -2),
        RATIO * 2,
        min(RATIO * -2, np.clip(RATIO, 0.8, 1.2) * -2),
        1.2 * 2,
        1.0 * 2,
    ],
    "limits/token": [_advantage(HALVES), _advantage(HALVES[::-1]), 0, _advantage(HALVES) / 200],
    "limits/lone": [_advantage(LONE), _advantage(LONE, power=0), _advantage(LONE, ddof=1), _advantage(HALVES[::-1])],
}


def test_each_chapter_ends_with_questions_and_the_numbers_of_all_are_computed_here() -> None:
    chapters = [name.split("/")[0] for name in QUIZZES]
    assert all(chapters.count(path.stem) >= 3 for path in LEARN.glob("*.md"))
    assert {name for name, (_, _, answers) in QUIZZES.items() if ITEM.findall(answers)[0][0]} == {*NUMBERS}


@pytest.mark.parametrize("name", QUIZZES)
def test_something_is_said_of_every_choice_and_one_is_right(name: str) -> None:
    right, question, answers = QUIZZES[name]
    choices, remarks = ITEM.findall(question), ITEM.findall(answers)
    assert 1 <= right <= len(remarks)
    assert len({text for _, text in remarks}) == len(remarks)
    if choices:
        assert len(choices) == len(remarks) >= 3
        assert f"Choice {right} is right." in answers
        assert not any(number for number, _ in remarks)
    else:
        numbers = [number for number, _ in remarks]
        assert all(numbers[:-1]) and not numbers[-1], "the last remark is about any other number"
        assert f"\n    {numbers[right - 1]} is right.\n" in answers.replace("-", "\u2212")


@pytest.mark.parametrize("name", NUMBERS)
def test_the_numbers_are_what_the_remarks_say(name: str) -> None:
    remarks = ITEM.findall(QUIZZES[name][2])[:-1]
    shown = [float(number.replace("\u2212", "-")) for number, _ in remarks]
    places = [len(number.partition(".")[2]) for number, _ in remarks]
    assert shown == [round(float(value), digits) for value, digits in zip(NUMBERS[name], places, strict=True)]
