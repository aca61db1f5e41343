"""The game "Find the silent bug", as readers play it."""

from typing import Any

import pytest
from site_pages import violations
from tab import PHONE, Tab

from site_steps import bughunt

PIECES = bughunt.pieces()
PAGE = "/bughunt/"
SMALL = """() => [...document.querySelectorAll("grpo-bughunt :is(a, button, label, summary, input[readonly])")]
  .filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 43.9
    && !node.closest(".grpo-hunt-result > p:first-of-type")).map((node) => node.outerHTML)"""
"""Targets that a finger does not hit."""
TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll("grpo-bughunt *:not(wbr)")]
  .filter((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth && !node.closest("svg, input"))
  .map((node) => node.outerHTML.slice(0, 200))"""


def verdict(page: Any) -> str:
    text: str = page.locator(".grpo-hunt-verdict").inner_text()
    return " ".join(text.split())


def answer(page: Any, piece: bughunt.Piece) -> None:
    """Gives the right answer with the mouse."""
    if piece.kinds:
        page.locator(".grpo-hunt-line").nth(piece.line - 1).click()
        page.get_by_role("button", name=bughunt.KINDS[piece.kinds[0]], exact=True).click()
    else:
        page.get_by_role("radio", name="No bug here").click()
        page.get_by_role("button", name="Yes, every line is right").click()


def test_three_pieces_are_played_by_the_keyboard_alone(tab: Tab) -> None:
    page = tab.follow(PAGE)
    page.get_by_role("link", name=f"1. {PIECES[0].title}: open").focus()
    for place, piece in enumerate(PIECES[:3]):
        page.keyboard.press("Enter")  # on the link to this piece
        page.locator(f"h2#{piece.id}:focus").wait_for()
        page.keyboard.press("Tab")  # the first line that can be chosen
        assert page.evaluate("document.activeElement.value") == "2"
        if piece.kinds:
            page.keyboard.press("Space")
            for _ in range(piece.line - 2):
                page.keyboard.press("ArrowDown")
        else:
            page.keyboard.press("ArrowUp")  # before the first line comes the last option
        page.keyboard.press("Enter")
        if piece.kinds:
            for _ in range([*bughunt.KINDS].index(piece.kinds[0])):
                page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.matches('.grpo-hunt-verdict')")
        assert verdict(page).startswith("Right: ") and verdict(page).endswith("2 of 2 points")
        assert page.locator(".grpo-hunt-score").inner_text() == f"{2 * place + 2} of {2 * place + 2} points"
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == "Next piece"
    assert violations(page, within="grpo-bughunt") == []


@pytest.mark.proof
def test_wrong_answers_are_explained_and_the_score_is_shared_and_outlives_a_reload(tab: Tab) -> None:
    page = tab.load(PAGE)
    bug, right = PIECES[0], next(piece for piece in PIECES if not piece.kinds)
    page.locator("label.grpo-hunt-line").nth(1).click()
    page.get_by_role("button", name="stale value").click()
    assert verdict(page) == f"The bug is elsewhere: wrong axis in line {bug.line}. 0 of 2 points"
    shown = page.locator(".grpo-hunt-one").all_inner_texts()
    assert [bug.lines[bug.line - 1].strip() in shown[0], bug.other.strip() in shown[1]] == [True, True]
    assert bug.explanation.split("`")[0] in page.locator(".grpo-hunt-result").inner_text()
    page.get_by_role("link", name="Next piece").click()
    answer(page, PIECES[1])
    page.get_by_role("link", name=f"{right.title}: open").click()
    answer(page, right)
    assert verdict(page).startswith("Right: there is no bug.")
    page.reload()
    page.locator("grpo-bughunt[data-ready]").wait_for()
    assert verdict(page).startswith("Right: there is no bug.")
    assert page.locator(".grpo-hunt-score").inner_text() == "4 of 6 points"
    page.evaluate("location.hash = 'score'")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied.").wait_for()
    line = page.evaluate("navigator.clipboard.readText()")
    assert line.startswith("Find the silent bug: 4 of 20 ○●") and line.endswith(PAGE)
    page.get_by_role("button", name="Play again").click()
    page.locator(f"h2#{PIECES[0].id}").wait_for()
    assert page.evaluate("localStorage.getItem('grpo-bughunt-v1')") is None
    assert not page.locator(".grpo-hunt-score").is_visible()


@pytest.mark.proof
def test_a_link_opens_its_piece_and_back_the_one_before(tab: Tab) -> None:
    page = tab.load(f"{PAGE}#pass-at-k")
    assert page.locator("h2").inner_text() == "8. pass@k" and page.locator("h2").bounding_box()["y"] > 40
    assert page.locator("[aria-current=step]").inner_text() == "8"
    page.get_by_role("link", name="9. An adaptive KL coefficient: open").click()
    page.locator("h2#kl-controller").wait_for()
    page.go_back()
    page.locator("h2#pass-at-k").wait_for()


@pytest.mark.proof
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_pieces_on_a_phone(tab: Tab, scheme: str) -> None:
    page = tab.load(PAGE, size=PHONE, scheme=scheme)
    for piece in PIECES:
        page.locator(f"h2#{piece.id}").wait_for()
        assert (page.evaluate(SMALL), page.evaluate(TOO_WIDE)) == ([], [])
        answer(page, piece)
        assert verdict(page).endswith("2 of 2 points")
        assert (page.evaluate(SMALL), page.evaluate(TOO_WIDE)) == ([], [])
        assert violations(page, within="grpo-bughunt") == []
        page.locator(".grpo-hunt-result a.grpo-primary").click()
    assert page.locator("h2#score").inner_text() == "20 of 20 points"
    assert (page.evaluate(SMALL), page.evaluate(TOO_WIDE), violations(page, within="article")) == ([], [], [])
