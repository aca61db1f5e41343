"""Moving about on the site: instant navigation, the search, the switch of colour schemes, the keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from site_fixtures import SETTLED, wait_until_ready
from site_pages import COLOUR_RULES, violations
from tab import Tab

SCANNED = ("/simulation/", "/exercises/kl/")
"""Pages that axe looks at after instant navigation: one of widgets, one of tables and formulas."""
LOADED_INDEX = (
    """() => performance.getEntriesByType("resource").some(({ name }) => name.endsWith("search_index.json"))"""
)


def follow(page: Any, address: str) -> None:
    """Clicks a link to a page and waits until the page is there."""
    page.locator(f'a[href="{address}"]:visible').first.click()
    page.wait_for_function("address => document.querySelector('link[rel=canonical]')?.href === address", arg=address)
    wait_until_ready(page)


def test_instant_navigation_keeps_the_window_and_leaves_nothing_undone(tab: Tab, site: str) -> None:
    page = tab.load("/")
    page.evaluate("() => { window.visitor = 'the same' }")
    # Links get whole addresses by the theme's script, which shows that instant navigation is on.
    for path in ("/simulation/", "/start/", "/exercises/kl/", "/worksheet/", "/"):
        follow(page, site + path)
        assert page.evaluate("() => window.visitor") == "the same", path
        assert page.locator(".arithmatex").count() == page.locator(".arithmatex:has(.katex)").count()
        if path in SCANNED:
            assert violations(page) == [], path
    page.go_back()
    page.wait_for_function("() => document.querySelector('link[rel=canonical]').href.endsWith('/worksheet/')")
    wait_until_ready(page)
    assert page.evaluate("() => window.visitor") == "the same"


def test_style_sheets_are_read_once_and_stay_when_the_reader_moves_on(tab: Tab, site: str) -> None:
    """A sheet whose address is set is read again, and then the whole page is styled a second time."""
    page = tab.load("/simulation/")
    sheets = "() => [...document.querySelectorAll('link[rel=stylesheet]')].map((sheet) => sheet.getAttribute('href'))"
    page.wait_for_selector(f'a[href="{site}/start/"]')  # the theme has set the addresses of the page
    before = page.evaluate(sheets)
    assert before and not any(address.startswith("http") for address in before)
    page.evaluate("() => document.querySelectorAll('link[rel=stylesheet]').forEach((sheet) => { sheet.stayed = true })")
    follow(page, f"{site}/start/")
    assert all(address.startswith(site) for address in page.evaluate(sheets))
    assert page.evaluate(
        "() => [...document.querySelectorAll('link[rel=stylesheet]')].filter((one) => one.stayed).length"
    ) == len(before)


def test_the_colour_scheme_can_be_switched_and_is_remembered(tab: Tab, site: str) -> None:
    page = tab.load("/")

    def scheme() -> str:
        return page.evaluate("() => document.body.getAttribute('data-md-color-scheme')")

    assert scheme() == "default"
    page.get_by_title("Switch to dark mode").click()
    assert scheme() == "slate"
    page.evaluate(SETTLED)
    assert violations(page, COLOUR_RULES) == []
    page.goto(f"{site}/start/")
    assert scheme() == "slate"
    page.get_by_title("Switch to light mode").click()
    assert scheme() == "default"


def test_the_search_finds_a_page_and_loads_its_index_when_it_is_opened(tab: Tab) -> None:
    page = tab.beside("/start/")
    page.wait_for_load_state("networkidle")
    assert not page.evaluate(LOADED_INDEX)
    page.get_by_role("textbox", name="Search").first.click()
    page.keyboard.type("clipped surrogate")
    page.wait_for_selector(".md-search-result__item a[href*='/learn/loss/']")
    assert page.evaluate(LOADED_INDEX)


def test_the_keyboard_skips_to_the_content(tab: Tab) -> None:
    page = tab.load("/exercises/kl/")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.classList.contains('md-skip')")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash && document.activeElement === document.body")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('article') !== null")


@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.proof)])
def test_the_keyboard_reaches_the_content_through_the_navigation(tab: Tab, width: int) -> None:
    page = tab.load("/exercises/kl/", width=width)
    passed = []
    for _ in range(100):
        page.keyboard.press("Tab")
        passed.append(page.evaluate("() => document.activeElement.className"))
        if page.evaluate("() => document.activeElement.closest('article') !== null"):
            break
    else:
        pytest.fail(f"100 times Tab do not reach the content: {passed}")
    assert len(passed) > 3


def test_wide_blocks_scroll_by_keyboard_when_a_phone_is_turned_and_closed_blocks_are_opened(open_page: Any) -> None:
    page = open_page("/exercises/bandit/", width=900, has_touch=True, is_mobile=True)
    page.set_viewport_size({"width": 240, "height": 900})  # so narrow that a table is wide in every font
    page.evaluate("() => document.querySelectorAll('details').forEach(node => { node.open = true })")
    wait_until_ready(page)
    for formula in page.locator("div.arithmatex").all():  # it has no width before it comes near
        formula.scroll_into_view_if_needed()
    wide_blocks = """() => [...document.querySelectorAll("pre > code, .md-typeset__scrollwrap, div.arithmatex")]
      .filter(node => node.scrollWidth > node.clientWidth)
      .map(node => [node.className.split(" ")[0], node.tabIndex, node.ariaLabel])"""
    # The theme and the page's own script hear of the new width one after the other.
    page.wait_for_function(f"() => new Set(({wide_blocks})().map(([kind]) => kind)).size === 3")
    page.wait_for_function(f"() => ({wide_blocks})().every(([, tabIndex]) => tabIndex === 0)")
    wide = page.evaluate(wide_blocks)
    assert {name for name, _, _ in wide} == {"", "md-typeset__scrollwrap", "arithmatex"}
    assert all(index == 0 and label for _, index, label in wide), wide
    assert len({label for _, _, label in wide}) == len(wide)
