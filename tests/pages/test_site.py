"""Pages, visited once as readers do: by a link, read to its end, every figure and every question used.

That is every second page with figures, and one of each kind. Nightly, all pages are visited, and each is loaded afresh
on a phone with the dark scheme.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from explorables import CHANGED_AND_RESET, CONTRACT, FIRST_CONTROL, SKIP_GUESSES, Explorable
from site_fixtures import SETTLED, wait_until_ready
from site_pages import ALL, FIGURE_PAGES, TEMPLATES, violations
from tab import PHONE, Tab

SOURCES = ("Computed", "Recorded run", "Reported", "Schematic")
FIGURES = """() => [...document.querySelectorAll(".grpo-explorable")].map((node) => ({
  tag: node.localName,
  height: node.offsetHeight,
  source: node.querySelector(".grpo-source")?.innerText,
  status: node.querySelector("p[role=status]")?.innerText,
  charts: node.querySelectorAll("svg.grpo-chart").length,
  tables: node.querySelectorAll("table").length,
  spoken: [...node.querySelectorAll("svg")].filter((svg) => svg.ariaHidden !== "true").length,
}))"""
NAMED_ROLES = "slider|combobox|checkbox|radio|spinbutton|textbox|button|group|table"
QUIZ = """async () => {
  const quizzes = [...document.querySelectorAll("grpo-quiz")];
  if (!quizzes.length) return [];
  const served = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), "text/html");
  const chapter = location.pathname.split("/").slice(-3, -1).join("/");
  const kept = () => JSON.parse(localStorage.getItem("grpo-quiz-v1") ?? "{}")[chapter]?.right.length ?? 0;
  const words = (text) => text.split(/\\s+/).filter(Boolean).join(" ");
  return quizzes.map((quiz, q) => {
    const remarks = [...served.querySelectorAll("grpo-quiz")[q].querySelectorAll("details li")];
    const right = Number(quiz.getAttribute("right")) - 1;
    const choices = [...quiz.querySelectorAll("input[type=radio]")];
    const before = kept();
    const answers = [...remarks.keys()].filter((i) => i !== right).concat(right).map((i) => {
      if (choices.length) choices[i].click();
      else quiz.querySelector("input[type=text]").value = remarks[i].querySelector("strong")?.textContent ?? "-987654";
      quiz.querySelector("button").click();
      const said = words(quiz.querySelector(".grpo-said").innerText);
      return said.endsWith(words(remarks[i].textContent)) && kept() - before === Number(i === right);
    });
    return answers.length > 1 && answers.every(Boolean);
  });
}"""
"""Answers each question, the right answer last: does each answer get its remark, and is only the right one kept?"""
SEEN = f"""async () => [
  document.querySelectorAll("h1").length, document.querySelectorAll(".katex-error").length,
  document.documentElement.scrollWidth <= innerWidth, ({FIGURES})(), await ({QUIZ})(),
]"""


IN_USE = {*FIGURE_PAGES[::2], *TEMPLATES, "/404.html", "/bughunt/", "/language-model/", "/your-run/"}


@pytest.mark.parametrize("path", [pytest.param(path, marks=[pytest.mark.proof] * (path not in IN_USE)) for path in ALL])
def test_a_page_works(tab: Tab, path: str) -> None:
    page = tab.load(path) if path == "/404.html" else tab.follow(path)
    headings, errors, fits, figures, quizzes = page.evaluate(SEEN)
    assert (headings, errors, fits) == (1, 0, True)
    page.evaluate(SKIP_GUESSES)
    for figure in figures:
        check_figure(page, figure)
    assert all(quizzes), f"which questions work: {quizzes}"
    if path in TEMPLATES:
        assert violations(page) == []


def check_figure(page: Any, seen: dict[str, Any]) -> None:
    """A figure says where its numbers come from, speaks to a screen reader, and answers a control and Reset."""
    tag = seen["tag"]
    assert seen["source"].startswith(SOURCES) and seen["status"], tag
    assert seen["spoken"] == 0 and (seen["tables"] or not seen["charts"]), f"{tag}: a chart without a table"
    tree = page.locator(tag).aria_snapshot()
    assert not re.search(rf"^\s*- ({NAMED_ROLES})(:|$| \[)", tree, re.M), f"{tag}: a control without a name:\n{tree}"
    page.keyboard.press(page.evaluate(FIRST_CONTROL, tag))
    assert page.evaluate(CHANGED_AND_RESET) == CONTRACT, tag


SMALL = """() => [...document.querySelectorAll(".grpo-explorable *")]
  .filter((node) => node.matches("button, select, input[type=range], label:has(input)") && node.checkVisibility()
    && node.getBoundingClientRect().height < 43.9)
  .map((node) => node.outerHTML)"""
"""Controls that a finger does not hit."""
CUT = """() => [...document.querySelectorAll(".grpo-explorable svg.grpo-chart")].flatMap((chart) => {
  const edge = chart.getBoundingClientRect();
  return [...chart.querySelectorAll("text")].filter((text) => {
    const { left, right, width, bottom } = text.getBoundingClientRect();
    return width && (left < edge.left - 0.5 || right > edge.right + 0.5 || bottom > edge.bottom + 4);
  }).map((text) => text.textContent);
})"""
UNMARKED = """() => [...document.querySelectorAll("article *")].filter((node) => {
  const { overflowX, backgroundAttachment } = getComputedStyle(node);
  return /auto|scroll/.test(overflowX) && node.scrollWidth > node.clientWidth + 1 && node.checkVisibility()
    && !backgroundAttachment.includes("local");
}).map((node) => node.outerHTML.slice(0, 200))"""
"""Parts that scroll sideways without the shadows that say so."""
BYTES = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter(({ name }) => !/sitemap/.test(name)).reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""
MOST_BYTES, OF_ANY_PAGE = {"/": 150_000, "/learn/loss/": 200_000}, 215_000
PRINTED = """() => [...document.querySelectorAll(".grpo-explorable")].map((node) => [
  node.checkVisibility(), node.querySelector("p[role=status]").checkVisibility(),
  [...node.querySelectorAll("button")].some((button) => button.checkVisibility({ visibilityProperty: true }))])"""


@pytest.mark.parametrize(
    "path", [*MOST_BYTES, *(pytest.param(path, marks=pytest.mark.proof) for path in ALL if path not in MOST_BYTES)]
)
def test_a_first_visit_of_a_phone_loads_few_bytes(browser: Any, site: str, path: str) -> None:
    """Without a mouse, a page does not load the figures further down before somebody scrolls."""
    with browser.new_context(viewport=PHONE, is_mobile=True, has_touch=True) as context:
        page = context.new_page()
        page.goto(site + path)
        wait_until_ready(page, scrolling=False)
        assert page.evaluate(BYTES) <= MOST_BYTES.get(path, OF_ANY_PAGE)


@pytest.mark.proof
@pytest.mark.parametrize("path", ALL)
def test_a_page_works_on_a_phone_in_the_dark_and_on_paper(tab: Tab, path: str) -> None:
    page = tab.load(path, size=PHONE, scheme="dark", scrolling=False)
    early = page.evaluate(FIGURES)
    wait_until_ready(page)
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    late = page.evaluate(FIGURES)
    heights = [{figure["tag"]: figure["height"] for figure in seen} for seen in (early, late)]
    assert heights[0] == heights[1], "text jumps when figures load; run: python tests/bench/figure_heights.py"
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert (page.evaluate(SMALL), page.evaluate(CUT), page.evaluate(UNMARKED)) == ([], [], [])
    assert violations(page) == []
    page.evaluate(SKIP_GUESSES)
    used = {}
    for figure in (Explorable(page, seen["tag"]) for seen in late):
        figure.use_every_control()
        used[figure.tag] = figure.state
    page.reload()
    wait_until_ready(page)
    assert {tag: Explorable(page, tag).state for tag in used} == used, "the address does not restore the figures"
    page.emulate_media(media="print", color_scheme="light")
    page.evaluate(SETTLED)
    assert all(row == [True, True, False] for row in page.evaluate(PRINTED))
