"""Pages with figures, and one page of each kind, in Firefox and WebKitGTK as in Chromium. Nightly."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import engines
import pytest
import site_server
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
NEXT = """(where, done) => {
  const named = (node) => [node.closest("[data-ready]")?.localName, node.localName, node.type ?? "", node.ariaLabel
    ?? node.labels?.[0]?.textContent ?? node.textContent, node.name ?? "", node.type === "radio" ? node.value : ""]
    .join(" ").replace(/[\\d.,\\u2212]+/g, "0").replace(/\\s+/g, " ");
  const dialog = document.querySelector("dialog:modal");
  const all = [...(dialog ?? document).querySelectorAll(`${dialog ? "" : where} :is(button, input, select, summary)`)]
    .filter((node) => !node.disabled && node.type !== "file" && node.checkVisibility({ visibilityProperty: true })
      && !done.includes(named(node)));
  const node = (dialog && all.find((node) => node.localName !== "button")) ?? all[0]; // a button may close the dialog
  if (!node) return dialog && { name: `Escape ${done.length}`, focused: true, type: "dialog", value: [null, 0, 0] };
  node.scrollIntoView({ behavior: "instant", block: "center" });
  node.focus();
  window.chosen = node;
  const focused = node === document.activeElement;
  if (focused && node.localName === "select") {
    node.selectedIndex = (node.selectedIndex + 1) % node.options.length;
    for (const kind of ["input", "change"]) node.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  return { name: named(node), focused, type: node.type || node.localName,
    value: node.type === "range" ? [node.value, node.max, node.min] : [node.checked ?? null, 0, 0] };
}"""
"""Gives the next control the focus, whatever it was that made it appear; a list takes its next entry at once."""
CLICK = "() => document.hasFocus() || (chosen.click(), false)"
"""Firefox without a screen never has the focus of the system, and takes no space for a click then: it is clicked."""
THROTTLED = "history.replaceState() more than 100 times per 10 seconds"
"""The theme notes the heading that is in view in the address; only this test scrolls as fast."""
SOON = "() => new Promise((done) => setTimeout(done, 500))"
VALUE = "() => (chosen.type === 'range' ? chosen.value : chosen.checked ?? null)"
PRESS = {
    **{"checkbox": " ", "radio": " ", "number": "ArrowUp", "text": "7", "select-one": ""},
    **{"textarea": "7", "dialog": "Escape"},
}
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
    operated, stuck = operate(window, "[data-ready]" if path == "/" else "article [data-ready]")
    assert stuck == []
    assert operated or not after["figures"]
    assert [problem for problem in window.ask("() => problems") if THROTTLED not in problem] == []
    if after["figures"]:
        chromium = open_in("chromium", path)
        assert chromium.ask(UNTIL_READY, True) == []
        chromium.ask(SETTLED)
        assert chromium.ask(SEEN)["figures"] == after["figures"]


def operate(window: engines.Engine, where: str, most: int = 400) -> tuple[list[str], list[str]]:
    """Operates each control once by the keyboard; returns their names, and those that do nothing."""
    operated: list[str] = []
    stuck = []
    while control := window.ask(NEXT, where, operated):
        if not control["focused"]:
            window.ask(SOON)  # a dialog is about to open, or to close
            if (again := window.ask(NEXT, where, operated)) is None:
                break
            control = again
        operated.append(control["name"])
        assert len(operated) < most, f"new controls without end: {operated[-10:]}"
        value, highest, lowest = control["value"]
        key = PRESS.get(control["type"], "Enter")
        if control["type"] == "range":
            key = "ArrowLeft" if value == highest else "ArrowRight"
        if not control["focused"]:
            stuck.append(f"{control['name']} takes no focus")
        elif key:
            if key != " " or window.ask(CLICK):
                window.press(key)
            changes = highest != lowest if control["type"] == "range" else control["type"] == "checkbox"
            if changes and window.ask(VALUE) == value:
                stuck.append(f"{control['name']} stays at {value}")
    return operated, stuck
