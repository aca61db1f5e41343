"""The page of claims about GRPO that are wrong: its form, and every number that a program can compute."""

import math
import re

import numpy as np
import pytest
import torch

from grader.core import course
from reference.advantages import group_advantages
from reference.bandit_task import BanditConfig
from reference.kl import kl_estimate

PAGE = (course.ROOT / "docs/myths.md").read_text("utf-8")
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
PARTS = re.split(r'^### "(.*)" \{ #([\w-]+) \}\n', PAGE.split("\n## Next")[0], flags=re.M)[1:]
MYTHS = dict(zip(PARTS[1::3], PARTS[2::3], strict=True))
"""What is said about each claim, by its anchor."""
POLICY, OTHER = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def numbers_of(anchor):
    """The line of numbers of a claim."""
    (line,) = re.findall(r"^\*\*Numbers:\*\* (.*?) \*\*Source:\*\* ", MYTHS[anchor], re.M)
    return line


def section_of(page, anchor):
    """A page from the heading or the figure with this id to the next heading of its level or a higher one."""
    text = (course.ROOT / "docs" / page).read_text("utf-8")
    _, after = re.split(rf"\{{ #{anchor}\b|\{{id: {anchor}\b", text, maxsplit=1)
    return re.split(r"^#{2,3} ", after, maxsplit=1, flags=re.M)[0]


def written(value, digits=3):
    return f"{value:+.{digits}f}".replace("-", "\u2212")


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


@pytest.mark.parametrize("anchor", MYTHS)
def test_a_claim_has_its_kind_of_source_a_correction_numbers_and_a_link(anchor):
    heard, correction, facts = MYTHS[anchor].split("\n## ")[0].strip().split("\n\n")
    assert heard.startswith("Heard from: ") and not re.search(r"\]\(", heard), "no names"
    assert len(correction.split()) >= 8
    assert re.fullmatch(r"\*\*Numbers:\*\* .+ \*\*Source:\*\* .*[\w)]\.", facts)
    computed_here = anchor == "k3-noise"
    assert computed_here == ("](" not in facts)


TAUGHT = [
    (anchor, *link)
    for anchor, text in MYTHS.items()
    for link in re.findall(r"\*\*Source:\*\* \[chapter \d\]\((learn/\w+\.md)#([\w-]+)\)", text)
]


@pytest.mark.parametrize(("anchor", "page", "section"), TAUGHT)
def test_numbers_taken_from_a_chapter_are_those_of_the_chapter(anchor, page, section):
    there = re.findall(NUMBER, section_of(page, section))
    for number in re.findall(NUMBER, numbers_of(anchor)):
        if len(number) > 1:  # counts of one digit are words
            assert number in there, f"{number} is not in {page}#{section}"


def test_most_claims_point_to_a_chapter_whose_tests_compute_their_numbers():
    assert len(TAUGHT) >= 10


def test_the_ratio_before_each_update_is_that_of_exact_gradient_ascent():
    logits, ratios = np.log(POLICY), []
    for _ in range(16):
        policy = softmax(logits)
        ratios.append(policy[0] / POLICY[0])
        logits = logits + 0.1 * policy * (np.array([1.0, 0, 0]) - policy[0])
    shown = ", ".join(f"{ratios[update - 1]:.3f}" for update in (1, 2, 4, 8, 16))
    assert f"is {shown}." in numbers_of("one-update") and "8,192 / 512 = 16" in numbers_of("one-update")
    assert 8192 // 512 == 16


def test_a_clip_of_ten_ends_at_minus_nine_and_eleven():
    assert f"\u2212{10 - 1} to {10 + 1}" in numbers_of("r1-clip")


def test_k3_has_the_gradient_of_the_other_direction():
    logits = torch.tensor(np.log(POLICY)).requires_grad_()
    logp, ref = torch.log_softmax(logits, -1), torch.tensor(np.log(OTHER))
    (kl,) = torch.autograd.grad((logp.exp() * (logp - ref)).sum(), logits, retain_graph=True)
    (k3,) = torch.autograd.grad(
        (logp.exp().detach() * kl_estimate(logp, ref, kind="k3")).sum(), logits, retain_graph=True
    )
    (other,) = torch.autograd.grad((ref.exp() * (ref - logp)).sum(), logits)
    assert k3.numpy() == pytest.approx(other.numpy())
    for gradient in (kl, k3):
        assert ", ".join(written(x) for x in gradient.tolist()).replace("\u22120.000", "0.000") in numbers_of(
            "k3-gradient"
        )


@pytest.mark.parametrize("first", [0.6, 0.999])
def test_the_noise_of_k1_and_k3_is_enumerated(first):
    policy = torch.tensor([first, 1 - first], dtype=torch.float64)
    ref = torch.full((2,), 0.5, dtype=torch.float64).log()
    spreads = []
    for kind in ("k1", "k3"):
        values = kl_estimate(policy.log(), ref, kind=kind)
        spreads.append(float((policy * (values - (policy * values).sum()) ** 2).sum().sqrt()))
    assert "Policy {:g}, {:g}: k1 {:.3f}, k3 {:.3f}".format(*policy.tolist(), *spreads) in numbers_of("k3-noise")


def test_groups_of_eight_sixteen_and_sixty_four_miss_a_rare_success_as_often_as_said():
    shares = [f"{100 * (0.1**size + 0.9**size):.1f} %" for size in (8, 16, 64)]
    assert "{} of the cases with G = 8, {} with 16, {} with 64".format(*shares) in numbers_of("group-size")


def test_the_relatives_score_one_right_answer_of_four_as_said():
    rewards = torch.tensor([1.0, 0, 0, 0], dtype=torch.float64)
    grpo = group_advantages(rewards)[0]
    dr_grpo = group_advantages(rewards, divide_by_std=False)[0]
    rloo = rewards[0] - rewards[1:].mean()
    assert grpo == pytest.approx(math.sqrt(3)) and rloo == pytest.approx(4 / 3 * dr_grpo)
    shown = f"GRPO and DAPO {written(grpo)}, Dr. GRPO {written(dr_grpo)}, RLOO {written(rloo)}"
    assert shown in numbers_of("relatives")


def test_instruct_gpt_is_smaller_by_the_factor_that_is_said():
    assert f"{175 / 1.3:.0f} times as many" in numbers_of("ppo")


def test_defaults_of_this_course_are_those_of_its_code():
    assert "Eight is the default of TRL, and of this course." in MYTHS["group-size"] and BanditConfig().group_size == 8
    assert "the bandit of this course have 0 by default" in MYTHS["beta"] and BanditConfig().kl_coef == 0
