"""Pages with figures, and one page of each kind, in Firefox and WebKitGTK as in Chromium. Nightly."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import engines
import pytest
import site_server
from explorables import CHANGED_AND_RESET, FIRST_CONTROL
from site_fixtures import BUILT_FOR, SETTLED, UNTIL_READY, cannot
from site_pages import FIGURE_PAGES, TEMPLATES

pytestmark = pytest.mark.proof
PAGES = sorted({*FIGURE_PAGES, *TEMPLATES})
SEEN = """async () => {
  await document.fonts.ready;
  return {
    headings: Object.fromEntries([...document.querySelectorAll("article :is(h1, h2, h3)[id]")]
      .map((node) => [node.id, Math.round(node.getBoundingClientRect().top + scrollY)])),
    figures: Object.fromEntries([...document.querySelectorAll(".grpo-explorable")].map((figure) => [figure.localName,
      [...figure.querySelectorAll("table, .grpo-status, .grpo-readout, .grpo-value, .grpo-card")]
        .map((part) => part.textContent).join("|")])),
    plainLinks: [...document.querySelectorAll("article :is(p, li) a[href]:not(.headerlink, .grpo-button)")]
      .filter((link) => !getComputedStyle(link).textDecorationLine.includes("underline"))
      .map((link) => link.textContent),
  };
}"""
"""Where headings are, what figures show, and links that look like the text around them."""
BY_HAND = """(key) => {
  const node = document.activeElement;
  if (node.localName === "select") {
    node.selectedIndex = (node.selectedIndex + 1) % node.options.length;
    for (const kind of ["input", "change"]) node.dispatchEvent(new Event(kind, { bubbles: true }));
  } else if (node.type === "radio") {
    const all = [...figure.querySelectorAll("input[type=radio]")].filter((each) => each.name === node.name);
    all[(all.indexOf(node) + 1) % all.length].click();
  } else if (key === "Space") node.click();
  else return false;
  return true;
}"""
"""What keys do to lists and buttons differs between engines."""
THROTTLED = "history.replaceState() more than 100 times per 10 seconds"
"""The theme notes the heading that is in view in the address; only this test scrolls as fast."""
RUN = "() => new Promise((done) => (document.querySelector('.grpo-run')?.click(), setTimeout(done, 1000)))"
Opener = Callable[[str, str], engines.Engine]


@pytest.fixture(scope="module")
def open_in(site_folder: Any, request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Opens a page in an engine, with nothing stored."""
    with ExitStack() as stack:
        site = stack.enter_context(site_server.serve(site_folder, built_for=BUILT_FOR, first=engines.NOTES))

        @functools.cache
        def window(engine: str, group: int) -> engines.Engine:
            if engine in (missing := engines.missing_engines()):
                cannot(missing[engine])
            if engine == "chromium":  # that of the other tests: Playwright runs once in a process
                context = stack.enter_context(request.getfixturevalue("browser").new_context())
                return engines.Chromium(context.new_page())
            return stack.enter_context(engines.start(engine))

        def open_in(engine: str, path: str) -> engines.Engine:
            # One window of WebKit draws no frames any more after ten pages or so.
            opened = window(engine, PAGES.index(path) // 5 if engine == "webkit" else 0)
            opened.open(site + path)
            opened.ask("() => { localStorage.clear(); sessionStorage.clear(); }")
            return opened

        yield open_in


@pytest.mark.parametrize(("engine", "path"), [(engine, path) for engine in engines.OTHERS for path in PAGES])
def test_a_page_works_in_another_engine_as_in_chromium(open_in: Opener, engine: str, path: str) -> None:
    window = open_in(engine, path)
    before = window.ask(SEEN)
    assert window.ask(UNTIL_READY, True) == []
    after = window.ask(SEEN)
    moved = [name for name, top in before["headings"].items() if abs(after["headings"][name] - top) > 1]
    assert moved == [], "headings move when figures come alive"
    assert after["plainLinks"] == []
    for tag in after["figures"]:
        key = window.ask(FIRST_CONTROL, tag)
        if not window.ask(BY_HAND, key):
            window.press(key)
            if window.ask("() => document.activeElement.type === 'text'"):
                window.press("Enter")  # without the focus of the screen Firefox does not say that a field was left
        assert window.ask(CHANGED_AND_RESET)["changed"], tag
    window.ask(RUN)
    assert [problem for problem in window.ask("() => problems") if THROTTLED not in problem] == []
    if after["figures"]:
        chromium = open_in("chromium", path)
        assert chromium.ask(UNTIL_READY, True) == []
        chromium.ask(SETTLED)
        assert chromium.ask(SEEN)["figures"] == after["figures"]
