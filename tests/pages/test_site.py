"""Every page of the built site in a real browser: accessibility, errors, other hosts, budgets, width.

One visit of a page finds out all that the tests ask. Usually each page has one of four looks, by turns, mostly one of
those on a phone, where a page costs half; the proof visits each page in each look. What single widgets do has its own
test files. Left out: other browsers (none is at hand) and pictures of pages (they differ by machine).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from explorables import FRAMES
from site_fixtures import SETTLED, wait_until_ready
from site_pages import ALL, violations
from tab import Tab
from test_learn import PATHS

KILOBYTE = 1000
PHONE, WIDE = 360, 1280
Look = tuple[str, int]
LOOKS: list[Look] = [(scheme, width) for scheme in ("light", "dark") for width in (PHONE, WIDE)]
TURNS = (*LOOKS, ("light", PHONE), ("dark", PHONE), ("light", PHONE), ("dark", PHONE))
LOOK_OF = {path: TURNS[place % len(TURNS)] for place, path in enumerate(ALL)}
CHAPTERS = [path for path in PATHS if path.startswith("/learn/")]
FIRST_SCREEN = {PHONE: 844, WIDE: 720}
BY_LOOK = sorted(ALL, key=lambda path: LOOK_OF[path])
each_page = pytest.mark.parametrize("path", BY_LOOK)
each_look = pytest.mark.parametrize(
    ("path", "look"),
    [
        pytest.param(
            path, look, id=f"{path}-{look[0]}-{look[1]}", marks=[] if look == LOOK_OF[path] else pytest.mark.proof
        )
        for look in sorted(LOOKS)  # one look after the other: a page that changes its look is drawn anew
        for path in ALL
    ],
)
FILES = """site => {
  const loaded = [...document.fonts].filter(font => font.status === "loaded")
    .map(font => font.family.toLowerCase().replaceAll(" ", "-"));
  return Object.fromEntries(
    [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .filter(({ name }) => !name.endsWith(".woff2") || loaded.some(family => name.toLowerCase().includes(family)))
      .map(({ name, encodedBodySize }) => [name.slice(site.length), encodedBodySize]));
}"""
"""The compressed size of every file that the page asked for, from the cache or not. Chromium also asks for the fonts of
the page before, if both have the same style sheet; they are left out."""
WIDE_WITHOUT_A_SIGN = """() => [...document.querySelectorAll("article *")].filter(node => {
  const { overflowX, backgroundAttachment } = getComputedStyle(node);
  return /auto|scroll/.test(overflowX) && node.scrollWidth > node.clientWidth + 1 && node.checkVisibility()
    && !backgroundAttachment.includes("local");
}).map(node => node.outerHTML.slice(0, 200))"""
"""Parts that scroll sideways and do not have the shadows of theme.css; how these look: test_wide_content.py."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What one visit of a page found."""

    problems: list[str]  # errors, failed requests, other hosts
    violations: list[str]  # of axe's rules
    overflow: int  # pixels by which the page is wider than a phone
    unmarked: list[str]  # what scrolls sideways on a phone and does not say so
    journeys: dict[str, int]  # for each own script, how many others had to come first, each after the other
    first: dict[str, int]  # bytes of each file for what a first look shows
    whole: dict[str, int]  # and for the whole page, read to its end
    figures: tuple[dict[str, Any], dict[str, Any]]  # as FRAMES sees them, before and after their code has come


Visitor = Callable[[str, Look], Visit]


@pytest.fixture(scope="module")
def visit(browser: Any, site: str) -> Iterator[Visitor]:
    """Visits a page once for each look, all pages in one tab."""
    tab = Tab(browser, site)
    page = tab.page
    page.add_init_script("localStorage.clear()")  # there the theme keeps the scheme of the page before
    askers: dict[str, str] = {}
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.requestWillBeSent", lambda event: askers.setdefault(event["request"]["url"], asker(event)))

    @functools.cache
    def visit(path: str, look: Look) -> Visit:
        scheme, width = look
        tab.problems.clear()
        askers.clear()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.goto(site + path)
        wait_until_ready(page, scrolling=False)
        page.wait_for_load_state("networkidle")
        first = page.evaluate(FILES, site)
        early = page.evaluate(FRAMES)
        wait_until_ready(page)  # read to its end: figures load when they come near
        assert shown_scheme(page) == scheme
        whole = page.evaluate(FILES, site)
        figures = early, page.evaluate(FRAMES)
        scripts = [address for address in askers if address.startswith(f"{site}/assets/") and address.endswith(".mjs")]
        journeys = {address.removeprefix(site): journeys_before(address, askers) for address in scripts}
        hurt = violations(page)
        page.set_viewport_size({"width": PHONE, "height": 900})
        page.evaluate(SETTLED)
        overflow = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        return Visit(
            problems=[*tab.problems],
            violations=hurt,
            overflow=overflow,
            unmarked=page.evaluate(WIDE_WITHOUT_A_SIGN),
            journeys=journeys,
            first=first,
            whole=whole,
            figures=figures,
        )

    yield visit
    page.context.close()


def asker(event: Any) -> str:
    """The script of the site that asked for a file; empty if the page itself did."""
    initiator = event["initiator"]
    stack = initiator.get("stack", {})
    frames = [*stack.get("callFrames", []), *stack.get("parent", {}).get("callFrames", [])]
    asked = initiator.get("url") or next((frame["url"] for frame in frames), "")
    return asked if asked.endswith(".mjs") else ""


def journeys_before(address: str, askers: dict[str, str]) -> int:
    """How many scripts had to come, each after the other, before a browser asked for this one."""
    return 1 + journeys_before(askers[address], askers) if askers.get(address) else 0


def shown_scheme(page: Any) -> str:
    """The colour scheme that a reader sees."""
    return {"default": "light", "slate": "dark"}[page.evaluate("document.body.dataset.mdColorScheme")]


@each_look
def test_a_page_has_no_accessibility_violation(visit: Visitor, path: str, look: Look) -> None:
    assert visit(path, look).violations == []


@each_look
def test_a_page_has_no_error_and_asks_no_other_host(visit: Visitor, path: str, look: Look) -> None:
    assert visit(path, look).problems == []


@each_page
def test_a_page_does_not_scroll_sideways_on_a_phone(visit: Visitor, path: str) -> None:
    assert visit(path, LOOK_OF[path]).overflow <= 0


@each_page
def test_what_scrolls_sideways_on_a_phone_shows_that_there_is_more(visit: Visitor, path: str) -> None:
    assert visit(path, LOOK_OF[path]).unmarked == []


@each_page
def test_no_script_waits_for_a_chain_of_others(visit: Visitor, path: str) -> None:
    journeys = visit(path, LOOK_OF[path]).journeys
    assert journeys["/assets/js/widgets/progress.mjs"] == 0, "the page asks for the scripts of its first look"
    assert max(journeys.values()) <= 2, journeys


@each_page
def test_a_page_keeps_its_budget_on_a_first_visit(visit: Visitor, path: str) -> None:
    seen = visit(path, LOOK_OF[path])
    # The sitemap comes in the background and grows with the site: it tells the theme which links it may preview.
    background = {"/sitemap.xml": 10 * KILOBYTE}
    assert "/search/search_index.json" not in seen.whole, "the index comes before somebody searches"
    assert all(seen.first.get(name, 0) <= most for name, most in background.items())
    first, whole = ({name: sizes[name] for name in sizes.keys() - background} for sizes in (seen.first, seen.whole))
    assert path in first and "/assets/js/index.mjs" in first
    assert own(first) <= (15 if path == "/" else 30) * KILOBYTE, largest(first)
    # Fonts of text and headlines come once and have a budget of their own (test_site_files.py).
    others = {name: size for name, size in first.items() if not name.startswith("/assets/vendor/fonts/")}
    assert sum(others.values()) <= 200 * KILOBYTE, largest(others)
    # The page with a figure of every step has the scripts of eight; each comes when its figure is near.
    assert own(whole) <= (36 if path == "/ten-minutes/" else 31) * KILOBYTE, largest(whole)


@pytest.mark.parametrize("path", PATHS)
def test_a_figure_is_as_high_before_its_code_has_come_as_after(visit: Visitor, path: str) -> None:
    early, late = visit(path, LOOK_OF[path]).figures
    assert early["heights"] and early["late"] >= len(early["heights"]) // 2
    assert late["heights"] == early["heights"], "run: python tests/bench/figure_heights.py"


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_figure_can_be_operated_in_the_first_screen_of_a_chapter(visit: Visitor, path: str) -> None:
    _, late = visit(path, LOOK_OF[path]).figures
    assert min(late["controls"]) <= FIRST_SCREEN[LOOK_OF[path][1]]


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_figure_is_named_by_its_number_and_its_question(visit: Visitor, path: str) -> None:
    _, late = visit(path, LOOK_OF[path]).figures
    assert [re.sub(r"\s.*", "", name, flags=re.S) for name in late["names"]] == [
        f"{late['chapter']}.{place}" for place in range(1, len(late["names"]) + 1)
    ]
    assert late["names"] and all(name.endswith("?") for name in late["names"])


def own(sizes: dict[str, int]) -> int:
    """Bytes of the site's own scripts."""
    return sum(size for name, size in sizes.items() if name.startswith("/assets/js/"))


def largest(sizes: dict[str, int]) -> list[tuple[int, str]]:
    return sorted(((size, name) for name, size in sizes.items()), reverse=True)
