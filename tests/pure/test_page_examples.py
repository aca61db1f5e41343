"""Examples and computed numbers on pages: run and computed again."""

from __future__ import annotations

import contextlib
import doctest
import io
import math
import re

import numpy as np
import pytest
import torch

from grader.core import course
from reference.advantages import group_advantages
from reference.kl import kl_estimate

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


# Myths: the numbers that no chapter computes

MYTHS = (DOCS / "myths.md").read_text("utf-8")
POLICY, OTHER = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def assert_shown(anchor: str, *numbers: str) -> None:
    """The numbers stand, in this order, in the section of the page with this anchor."""
    section = re.split(r"^### ", MYTHS.split(f"{{ #{anchor} }}")[1], maxsplit=1, flags=re.M)[0]
    shown = re.findall(r"[+-]?\d+\.?\d*", section.replace("\N{MINUS SIGN}", "-"))
    rest = iter(shown)
    assert all(number in rest for number in numbers), (anchor, numbers, shown)


def test_myths_show_that_k3_has_the_gradient_of_the_other_direction() -> None:
    logits = torch.tensor(np.log(POLICY)).requires_grad_()
    logp, ref = torch.log_softmax(logits, -1), torch.tensor(np.log(OTHER))
    k3_mean = (logp.exp().detach() * kl_estimate(logp, ref, kind="k3")).sum()
    losses = [(logp.exp() * (logp - ref)).sum(), k3_mean, (ref.exp() * (ref - logp)).sum()]
    kl, k3, other = (torch.autograd.grad(loss, logits, retain_graph=True)[0].tolist() for loss in losses)
    assert k3 == pytest.approx(other)
    assert_shown("k3-gradient", f"{abs(k3[1]):.3f}", *map(str, [*POLICY, *OTHER]), f"{kl[1]:.3f}")


def test_myths_show_how_often_groups_miss_a_rare_success_and_how_its_relatives_score_it() -> None:
    assert_shown("group-size", *(f"{100 * (0.1**size + 0.9**size):.1f}" for size in (8, 16, 64)))
    rewards = torch.tensor([1.0, 0, 0, 0], dtype=torch.float64)
    grpo, dr_grpo = group_advantages(rewards)[0], group_advantages(rewards, divide_by_std=False)[0]
    rloo = rewards[0] - rewards[1:].mean()
    assert grpo == pytest.approx(math.sqrt(3)) and rloo == pytest.approx(4 / 3 * dr_grpo)
    assert_shown("relatives", f"{grpo:+.3f}", f"{dr_grpo:+.3f}", f"{rloo:+.3f}")
    six = torch.tensor([1.0, 0, 0, 0, 0, 0], dtype=torch.float64)
    scaled = [group_advantages(six, divide_by_std=divide)[0] for divide in (False, True)]
    assert_shown("dr-grpo-scale", *(f"{advantage:+.3f}" for advantage in scaled))
