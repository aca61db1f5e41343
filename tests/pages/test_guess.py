"""A reader guesses before a figure shows its answer; a link asks the next reader."""

import math
from urllib.parse import urlsplit

import pytest
from page_text import numbers
from tab import come_back

POLICY, REFERENCE = (0.2, 0.15, 0.1, 0.05, 0.5), (0.4, 0.3, 0.15, 0.1, 0.05)
TRUTHS = {
    ("advantage", "group-advantages"): math.sqrt(5),
    ("advantage", "difficulty"): 0.9**8 + 0.1**8,
    ("gradient", "baseline"): 1 / 2,
    ("loss", "clip-curve"): -0.8,
    ("loss", "kl-words"): sum(p * math.log(p / q) for p, q in zip(POLICY, REFERENCE, strict=True)),
    ("training", "averaging"): 20 / 4,
    ("family", "token-weight"): 3,
    ("debates", "pass-at-k"): None,
    ("debates", "clip-entropy"): None,
    ("debates", "prompt-weight"): None,
}
"""Chapter and figure, and the answer where a formula gives it."""


@pytest.mark.parametrize(
    ("chapter", "name"),
    [pytest.param(*each, marks=[pytest.mark.proof] * (each != ("loss", "clip-curve"))) for each in TRUTHS],
)
def test_a_guess_comes_before_the_answer_is_drawn_and_a_link_asks_the_next_reader(open_figure, chapter, name):
    path = f"/{'2026' if chapter in ('family', 'debates') else 'learn'}/{chapter}/"
    tag = f"grpo-{name}"
    figure = open_figure(path, tag, covered=True)
    page, stage, cover = (
        figure.page,
        figure.node.locator(".grpo-stage > :first-child"),
        figure.node.locator(".grpo-guess"),
    )
    height, drawn = figure.node.bounding_box()["height"], figure.node.locator(".grpo-picture .guessed")
    assert not stage.is_visible() and cover.locator("output").inner_text() == "?" and numbers(figure.status) == []
    cover.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    figure.press("Show")
    guess, truth, error = numbers(figure.status)
    assert truth == pytest.approx(truth if TRUTHS[chapter, name] is None else TRUTHS[chapter, name], abs=0.006)
    assert error == pytest.approx(abs(guess - truth), abs=0.011)
    assert stage.is_visible() and cover.count() == 0 and figure.node.bounding_box()["height"] == height
    assert drawn.count() == 1
    result, link = figure.status, f"{path}?{urlsplit(page.url).query}"
    come_back(page)
    assert figure.status == result
    figure = open_figure(link, tag, covered=True)
    assert "Somebody" in figure.status and numbers(figure.status) == [] and not stage.is_visible()
    cover.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    figure.press("Show")
    assert guess in numbers(figure.status)[1:] and drawn.count() == 2


@pytest.mark.proof
def test_a_reader_who_skips_is_not_asked_again(open_figure):
    figure = open_figure("/learn/loss/", "grpo-clip-curve", covered=True)
    figure.press("Skip")
    assert figure.node.locator(".grpo-picture").is_visible() and "clip-curve" not in figure.page.url
    come_back(figure.page)
    assert figure.node.locator(".grpo-guess").count() == 0
