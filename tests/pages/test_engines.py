"""Every page in Firefox and WebKitGTK as in Chromium: no error, headings that stay, figures that can be operated.

One visit of a page in each engine finds out all that the tests ask. Only `make proof` has them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import engines
import pytest
import site_server
from site_fixtures import BUILT_FOR, SETTLED, cannot
from site_pages import ALL

pytestmark = pytest.mark.proof
each_visit = pytest.mark.parametrize(("engine", "path"), [(engine, path) for engine in engines.OTHERS for path in ALL])
HEADINGS = """async () => {
  await document.fonts.ready;
  return Object.fromEntries([...document.querySelectorAll("article :is(h1, h2, h3)[id]")]
    .map((node) => [node.id, node.getBoundingClientRect().top + scrollY]));
}"""
FIGURES = """() => Object.fromEntries([...document.querySelectorAll(".grpo-explorable")]
  .map((figure) => [figure.localName,
    [...figure.querySelectorAll("table, .grpo-status, .grpo-readout, .grpo-value, .grpo-card")]
      .map((part) => part.textContent).join("|")]))"""
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
"""The theme notes the heading that is in view in the address; nobody scrolls as fast as this test but the test."""
PLAIN_LINKS = """() => [...document.querySelectorAll("article :is(p, li) a[href]:not(.headerlink, .grpo-button)")]
  .filter((link) => !getComputedStyle(link).textDecorationLine.includes("underline")).map((link) => link.textContent)"""
"""Links have the colour of the text here, so it is the line below them that shows them."""
SOON = "() => new Promise((done) => setTimeout(done, 500))"
VALUE = "() => (chosen.type === 'range' ? chosen.value : chosen.checked ?? null)"
PRESS = {
    "checkbox": " ",
    "radio": " ",
    "number": "ArrowUp",
    "text": "7",
    "select-one": "",
    "textarea": "7",
    "dialog": "Escape",
}


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What one visit of a page found."""

    problems: list[str]  # on the console, not caught, not loaded
    late: list[str]  # figures that do not come alive
    moved: dict[str, float]  # pixels by which headings have moved when all figures are alive, where any
    stuck: list[str]  # controls that take no focus, or do not change when they are operated
    operated: list[str]  # controls
    first: dict[str, str]  # what each figure shows at first
    plain_links: list[str]  # that look like the text around them


Visitor = Callable[[str, str], Visit]


@pytest.fixture(scope="module")
def visit(site_folder, request) -> Iterator[Visitor]:
    """Visits a page once in each engine."""
    with ExitStack() as stack:
        site = stack.enter_context(site_server.serve(site_folder, built_for=BUILT_FOR, first=engines.NOTES))

        @functools.cache
        def window(engine: str) -> engines.Engine:
            if engine in (missing := engines.missing_engines()):
                cannot(missing[engine])
            if engine == "chromium":  # that of the other tests: Playwright runs once in a process
                context = stack.enter_context(request.getfixturevalue("browser").new_context())
                return engines.Chromium(context.new_page())
            return stack.enter_context(engines.start(engine))

        @functools.cache
        def visit(engine: str, path: str) -> Visit:
            if engine == "webkit" and engine not in engines.missing_engines():
                with engines.start(engine) as own:  # one window for all draws no frames any more after ten pages or so
                    return visited(own, site + path)
            return visited(window(engine), site + path)

        yield visit


def visited(window: engines.Engine, address: str) -> Visit:
    """Reads a page to its end, then operates every control of its figures."""
    window.open(address)
    window.ask("() => { localStorage.clear(); sessionStorage.clear(); }")
    before = window.ask(HEADINGS)
    late = window.ask(engines.UNTIL_READY)
    window.ask(SETTLED)
    after = window.ask(HEADINGS)
    first = window.ask(FIGURES)
    plain_links = window.ask(PLAIN_LINKS)
    operated, stuck = operate(window, "[data-ready]" if address.endswith("/course/") else "article [data-ready]")
    return Visit(
        problems=[problem for problem in window.ask("() => problems") if THROTTLED not in problem],
        late=late,
        moved={name: after[name] - top for name, top in before.items() if abs(after[name] - top) > 1},
        stuck=stuck,
        operated=operated,
        first=first,
        plain_links=plain_links,
    )


def operate(window: engines.Engine, where: str, most: int = 400) -> tuple[list[str], list[str]]:
    """Operates each control once, those included that others bring; returns their names, and those that do nothing."""
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


@each_visit
def test_a_page_has_no_error_in_another_engine(visit: Visitor, engine: str, path: str) -> None:
    seen = visit(engine, path)
    assert seen.late == []
    assert seen.problems == []


@each_visit
def test_a_link_looks_like_a_link_in_another_engine(visit: Visitor, engine: str, path: str) -> None:
    assert visit(engine, path).plain_links == []


@each_visit
def test_headings_stay_when_figures_come_alive(visit: Visitor, engine: str, path: str) -> None:
    assert visit(engine, path).moved == {}


@each_visit
def test_every_control_can_be_operated_by_the_keyboard(visit: Visitor, engine: str, path: str) -> None:
    seen = visit(engine, path)
    assert seen.stuck == []
    assert seen.operated or not seen.first


@each_visit
def test_figures_show_the_numbers_that_they_show_in_chromium(visit: Visitor, engine: str, path: str) -> None:
    assert visit(engine, path).first == visit("chromium", path).first
