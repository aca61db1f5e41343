"""Examples and computed numbers on pages: run and computed again."""

from __future__ import annotations

import contextlib
import doctest
import io
import re

import numpy as np
import pytest
import torch

from grader.core import course

DOCS = course.ROOT / "docs"
PAGES = {
    path.relative_to(DOCS).as_posix(): text
    for path in sorted((DOCS / "exercises").rglob("*.md"))
    if ">>> " in (text := path.read_text("utf-8"))
}


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_an_exercise_page_print_what_it_shows(page: str) -> None:
    text = PAGES[page].replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {"torch": torch}, page, page, 0)
    done = doctest.DocTestRunner(verbose=False).run(examples)
    assert done.attempted > 0 and done.failed == 0


def test_the_example_on_the_bandit_results_page_prints_what_it_shows() -> None:
    text = (DOCS / "results/bandit.md").read_text("utf-8")
    code, shown = re.findall(r"```(?:python|text)\n(.*?)```", text, re.S)[:2]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code.replace("from starter.", "from reference."), {})
    assert printed.getvalue() == shown


# Questions at the end of the chapters: the number in front of each remark

QUIZ = re.compile(r'/// html \| grpo-quiz\n    attrs: \{name: ([\w-]+), right: "([0-9])"\}\n(.*?)\n///\n', re.DOTALL)
QUIZZES = {
    f"{path.stem}/{name}": (int(right), text.split('??? success "Answer"')[1])
    for path in sorted((DOCS / "learn").glob("*.md"))
    for name, right, text in QUIZ.findall(path.read_text("utf-8"))
}
REMARK = re.compile(r"^ *[0-9]\. \*\*(\S+)\.\*\* ", re.MULTILINE)


def advantage(rewards: list[float], *, ddof: int = 0, power: float = 1.0) -> float:
    """The advantage of the last reward in its group."""
    return float((rewards[-1] - np.mean(rewards)) / np.std(rewards, ddof=ddof) ** power)


PROBABILITIES, REWARDS = np.array([0.5, 0.3, 0.2]), np.array([0.0, 1.0, 0.0])
MEAN = float(PROBABILITIES @ REWARDS)
RATIO, LONE = 0.10 / 0.20, [0.0] * 7 + [1.0]
CLIPPED = min(RATIO * -2, float(np.clip(RATIO, 0.8, 1.2)) * -2)
HALVES = [1.0] * 4 + [0.0] * 4
SIX = [2.0, 4.0, 6.0]
NUMBERS: dict[str, list[float]] = {
    "ppo/saved": [7 * 16, 7 * 2, 7 * 16 + 7 * 2, 7 * 16 * 2 + 7 * 2, 7 * 16 - 7 * 2],
    "group/silent": [0.5**2 + 0.5**2, 0.5**2, 1 - 0.5**2, 0],
    "gradient/logit": [PROBABILITIES[1] * (REWARDS[1] - MEAN), MEAN, REWARDS[1] - MEAN, REWARDS[1]],
    "advantage/six": [advantage(SIX), advantage(SIX, ddof=1), advantage(SIX, power=0), advantage(SIX, power=2)],
    "loss/bound": [-CLIPPED, RATIO * 2, CLIPPED, 1.2 * 2, 1.0 * 2],
    "limits/token": [advantage(HALVES), advantage(HALVES[::-1]), 0, advantage(HALVES) / 200],
    "limits/lone": [advantage(LONE), advantage(LONE, power=0), advantage(LONE, ddof=1), advantage(HALVES[::-1])],
}


def test_every_quiz_with_numbers_is_computed() -> None:
    assert {name for name, (_, answers) in QUIZZES.items() if REMARK.search(answers)} == {*NUMBERS}


@pytest.mark.parametrize("name", NUMBERS)
def test_the_numbers_of_a_quiz_and_its_right_answer(name: str) -> None:
    right, answers = QUIZZES[name]
    shown = REMARK.findall(answers)
    places = [len(number.partition(".")[2]) for number in shown]
    computed = [round(float(value), digits) for value, digits in zip(NUMBERS[name], places, strict=True)]
    assert [float(number.replace("\N{MINUS SIGN}", "-")) for number in shown] == computed
    assert right == 1 or computed[0] != computed[right - 1]
