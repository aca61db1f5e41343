"""Moving about on the site: the colour scheme, the search, the keyboard."""

from __future__ import annotations

import pytest
from site_fixtures import PageOpener, wait_until_ready
from tab import Tab


def test_the_colour_scheme_can_be_switched_and_is_remembered(tab: Tab, site: str) -> None:
    page = tab.follow("/start/")
    page.get_by_title("Switch to dark mode").click()
    page.goto(f"{site}/next/")
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    page.get_by_title("Switch to light mode").click()
    assert page.evaluate("document.body.dataset.mdColorScheme") == "default"


@pytest.mark.proof
def test_the_search_says_which_section_answers(tab: Tab) -> None:
    page = tab.load("/start/", scrolling=False)  # the theme closes the search a moment after a link was followed
    search = page.get_by_role("textbox", name="Search").first
    search.click()
    for question, address in {"multiple rewards": "several-rewards", "TIS": "mismatch"}.items():
        search.fill("")
        page.keyboard.type(question)  # the theme listens to keys
        first = ".md-search-result__item:first-child"
        page.wait_for_selector(f"{first} a[href*='/reference/questions/'][href$='#{address}']")
    assert page.locator(".md-search-result__list .md-tag").count() == 0
    missing = page.locator(".md-search-result__terms").all_text_contents()
    assert [text for text in missing if "_" in text] == []


@pytest.mark.proof
def test_the_keyboard_skips_to_the_content(tab: Tab) -> None:
    page = tab.load("/simulation/", scrolling=False)
    page.wait_for_selector("grpo-simulation[data-ready]")  # what is drawn anew loses the place of the keyboard
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash && document.activeElement === document.body")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.classList.contains('grpo-run')"), "the button that runs"


@pytest.mark.proof
def test_wide_blocks_can_be_scrolled_by_keyboard_after_a_phone_is_turned(open_page: PageOpener) -> None:
    page = open_page("/exercises/bandit/", width=900, has_touch=True, is_mobile=True)
    page.set_viewport_size({"width": 240, "height": 900})  # so narrow that a table is wide in every font
    page.evaluate("() => document.querySelectorAll('details').forEach(node => { node.open = true })")
    wait_until_ready(page)
    for formula in page.locator("div.arithmatex").all():  # it has no width before it comes near
        formula.scroll_into_view_if_needed()
    wide = """() => [...document.querySelectorAll("pre > code, .md-typeset__scrollwrap, div.arithmatex")]
      .filter(node => node.scrollWidth > node.clientWidth)
      .map(node => [node.className.split(" ")[0], node.tabIndex, node.ariaLabel])"""
    page.wait_for_function(f"() => new Set(({wide})().map(([kind]) => kind)).size === 3")
    page.wait_for_function(f"() => ({wide})().every(([, tabIndex, label]) => tabIndex === 0 && label)")
