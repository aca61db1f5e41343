"""The home page: its film, and the cards of the path."""

import re
import statistics

import pytest
from page_text import numbers

FILM = "grpo-hero"
BEATS = ["Ask", "Answer", "Score", "Compare", "Learn"]
DRAWN = [24, 14, 12, 14, 14, 24, 24, 13]
RIGHT = 2 + 2 * 6


def first_advantages():
    """The advantages of the first group, by the standard library."""
    rewards = [float(answer == RIGHT) for answer in DRAWN]
    mean, std = statistics.fmean(rewards), statistics.pstdev(rewards)
    return [(reward - mean) / std for reward in rewards]


def film_advantages(page):
    labels = page.locator(f"{FILM} g g text:last-child").all()
    return [numbers(label.text_content())[0] for label in labels if float(label.get_attribute("opacity")) == 1]


def test_for_readers_who_want_no_motion_the_film_is_a_still_that_they_step_through(tab):
    page = tab.load("/", motion=False, scrolling=False)
    film = page.locator(f"{FILM}[data-ready]")
    film.wait_for()
    assert film_advantages(page) == pytest.approx(first_advantages(), abs=0.0055)
    label = film.locator("svg").first.get_attribute("aria-label")
    assert [int(number) for number in re.findall(r"\b\d\d\b", label)][:8] == DRAWN
    before = film.locator("svg").first.inner_html()
    page.wait_for_timeout(100)
    assert film.locator("svg").first.inner_html() == before, "nothing moves by itself"
    said = film.locator("[role=status]")
    told = set()
    for beat in BEATS:
        film.get_by_role("button", name=beat, exact=True).press("Enter")
        assert film.locator("[aria-current=step]").inner_text() == beat
        told.add(said.inner_text())
    assert len(told) == len(BEATS)
    following = film.get_by_role("button", name="Next step of the film")
    following.evaluate("(node, times) => { while (times--) node.click(); }", 5 * len(BEATS))  # the other five rounds
    shares = film.locator("rect.pale + rect.bar + text").all_text_contents()
    assert [shares[0], shares[1], shares[-1]] == ["25\u00a0%", "38\u00a0%", "85\u00a0%"] and len(shares) == 6


@pytest.mark.proof
def test_the_film_plays_once_and_can_be_paused(tab):
    page = tab.load("/", scrolling=False)
    film = page.locator(FILM)
    drawing = film.locator("svg").first
    film.get_by_role("button", name="Pause the film").click()
    shown = drawing.inner_html()
    page.wait_for_timeout(100)
    assert drawing.inner_html() == shown
    page.evaluate("node => { node.time = node.end - 0.3; node.run(true) }", film.element_handle())
    film.get_by_role("button", name="Play the film").wait_for()
    assert "6" in film.locator("svg text.soft").first.text_content(), "it stops in the last round"


def test_the_path_has_ticks_and_says_where_to_continue(tab):
    page = tab.load("/", scrolling=False)
    first = page.locator(".grpo-actions .grpo-primary")
    assert first.inner_text() == "Start: ten minutes" and page.locator(".grpo-tick").count() == 0
    page.evaluate("localStorage.setItem('grpo-progress-v1', JSON.stringify({ done: ['ten-minutes', 'start'] }))")
    page.evaluate("dispatchEvent(new StorageEvent('storage'))")
    ticked = page.locator("grpo-path li:has(.grpo-tick) > a").all_inner_texts()
    assert ticked == ["GRPO in ten minutes", "Getting started"]
    assert first.inner_text() == "Continue: 1. Why reinforcement learning"
    assert first.get_attribute("href").endswith("/learn/why/")


def test_without_scripts_the_film_is_a_table_with_its_numbers(read):
    drawn, _, advantages = (row.xpath("td | th")[1:] for row in read("/").xpath("//grpo-hero//tr"))
    assert [int(cell.text_content()) for cell in drawn] == DRAWN
    shown = [numbers(cell.text_content())[0] for cell in advantages]
    assert shown == pytest.approx(first_advantages(), abs=0.0055)
