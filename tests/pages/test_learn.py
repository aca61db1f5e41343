"""What all explorables of the Learn chapters and of the results have in common.

Their numbers and their lessons have test files of their own, one for each chapter (test_chapter_*.py). How the chapters
are built is tested in tests/pure/test_chapters.py. Each page is visited once for all that is asked about its figures.
"""

import functools
import re
from dataclasses import dataclass

import pytest
from explorables import Explorable
from site_fixtures import SETTLED, wait_until_ready
from tab import follow_a_link, renew

from grader.core import course

DOCS = course.ROOT / "docs"
SOURCES = ("Computed", "Recorded run", "Reported", "Schematic")
EXPLORABLES = [
    (f"/{page.relative_to(DOCS).with_suffix('')}/", tag)
    for page in sorted([*DOCS.glob("learn/*.md"), *DOCS.glob("2026/*.md"), *DOCS.glob("results/*.md")])
    for tag in re.findall(r"^/+ html \| (grpo-[\w-]+)\.grpo-explorable$", page.read_text("utf-8"), re.M)
]
PHONE, WIDE = 360, 1280
CELLS = """table => [...table.tBodies[0].rows]
  .map(row => [...row.querySelectorAll("td")].map(cell => cell.textContent))"""
PATHS = [*dict.fromkeys(path for path, _ in EXPLORABLES)]
each_explorable = pytest.mark.parametrize(("path", "tag"), EXPLORABLES)
SEEN = """node => {
  const charts = [...node.querySelectorAll("svg.grpo-chart")];
  const least = innerWidth < 500 ? 43.9 : 24; // for a finger, and for a pointer
  const targets = "button, select, input[type=range], label:has(input)";
  return {
    source: node.querySelector(".grpo-source").innerText,
    status: node.querySelector("p[role=status]").innerText,
    charts: charts.length,
    tables: node.querySelectorAll("table").length,
    spoken: [...node.querySelectorAll("svg")].filter(svg => svg.ariaHidden !== "true").map(svg => svg.outerHTML),
    small: [...node.querySelectorAll(targets)]
      .filter(target => target.checkVisibility() && target.getBoundingClientRect().height < least)
      .map(target => target.outerHTML),
    cut: charts.flatMap(chart => {
      const edge = chart.getBoundingClientRect();
      return [...chart.querySelectorAll("text")].filter(text => {
        const { left, right, width, bottom } = text.getBoundingClientRect();
        return width && (left < edge.left - 0.5 || right > edge.right + 0.5 || bottom > edge.bottom + 4);
      }).map(text => text.textContent);
    }),
  };
}"""


WITH_EXAMPLES = [
    *("grpo-memory", "grpo-kl-weight", "grpo-clip-curve"),
    *("grpo-training-step", "grpo-zero-loss", "grpo-process-reward"),
]
"""Explorables whose examples are tried from several states."""
STEPS = {"grpo-worked-example": 10, "grpo-training-step": 5}
"""Explorables that show one step after the other, with the rows of the table after the last one."""


def path_of(tag):
    return next(path for path, each in EXPLORABLES if each == tag)


def tags_of(path):
    return [tag for each, tag in EXPLORABLES if each == path]


@dataclass(frozen=True, kw_only=True)
class Look:
    """How an explorable looks on a wide window, on paper and on a phone."""

    source: str
    status: str
    charts: int
    tables: int
    spoken: list[str]  # drawings that a screen reader does not skip
    tree: str  # what a screen reader is told
    small: list[str]  # controls that a finger does not hit, on a phone
    cut: dict[int, list[str]]  # words of charts that are cut off, by the width of the window
    printed: tuple[bool, bool, int]  # whether it and its sentence are on paper, and how many buttons are
    phone_width: int  # of the page


@dataclass(frozen=True, kw_only=True)
class Use:
    """What an explorable showed while all figures of its page were used, each after the other."""

    first: str
    changed: str
    again: str  # after going back and forward, to the address of all changed figures
    after_reset: str
    keys: set[str]  # of the address, that its controls wrote
    keys_after_reset: set[str]


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What one visit of a page found out about its explorables, by their tags."""

    look: dict[str, Look]
    use: dict[str, Use]
    used_address: str  # of all changed figures
    counts: list[dict[str, tuple[int, int]]]  # of figures and of their sources, each time when the page had come
    stayed: bool  # it came without being loaded anew
    examples: dict[str, dict[str, list[str]]]  # of some, by the name of the example: before, amid and after a use
    paper: dict[str, list[list[str]]]  # of some, cells of the last table while the page is printed
    after_print: dict[str, str]  # what those show then
    problems: list[str]  # errors, failed requests, other hosts


@pytest.fixture(scope="module")
def visit(one_tab, site):
    """Visits a page once: comes by a link, looks at its explorables, uses them, goes away and comes back."""
    page = one_tab.load("/start/")

    @functools.cache
    def visit(path):
        one_tab.problems.clear()
        figures = {tag: Explorable(page, tag) for tag in tags_of(path)}
        page.wait_for_load_state("networkidle")  # the theme takes links over when it has read the sitemap
        page.evaluate("window.stayed = true")
        follow_a_link(page, site + path)
        figures[tags_of(path)[0]].node.wait_for(state="attached")
        counts = [count(figures)]
        look = looks(page, figures)
        changed = changes(page, figures)
        used_address = page.url
        go_away_and_come_back(page, figures)
        counts.append(count(figures))
        use = resets(page, figures, changed)
        examples = {tag: uses_of_examples(figure) for tag, figure in figures.items() if tag in WITH_EXAMPLES}
        paper, after_print = prints(page, {tag: figure for tag, figure in figures.items() if tag in STEPS})
        seen = Visit(
            look=look,
            use=use,
            used_address=used_address,
            counts=counts,
            stayed=page.evaluate("window.stayed"),
            examples=examples,
            paper=paper,
            after_print=after_print,
            problems=[*one_tab.problems],
        )
        follow_a_link(page, f"{site}/start/")  # the next visit goes back to it, and it has no figures to set up
        page.locator(".grpo-explorable").first.wait_for(state="detached")
        return seen

    return visit


@pytest.fixture(scope="module")
def look(visit):
    """How an explorable looks."""
    return lambda path, tag: visit(path).look[tag]


def count(figures):
    """How often each figure and its source are on the page, when all has come."""
    wait_until_ready(next(iter(figures.values())).page)
    return {tag: (each.node.count(), each.node.locator(".grpo-source").count()) for tag, each in figures.items()}


def go_away_and_come_back(page, figures):
    """Goes back in the history, and forward again."""
    first = next(iter(figures.values())).node
    page.go_back()
    first.wait_for(state="detached")
    page.go_forward()
    first.wait_for(state="attached")


def looks(page, figures):
    """How figures look; the window is wide before and after."""
    nodes = {tag: figure.node for tag, figure in figures.items()}
    wide = {tag: {**node.evaluate(SEEN), "tree": node.aria_snapshot()} for tag, node in nodes.items()}
    page.emulate_media(media="print")
    for tag, node in nodes.items():
        printed = node.is_visible(), node.locator("p[role=status]").is_visible()
        wide[tag]["printed"] = *printed, node.locator("button:visible").count()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": PHONE, "height": 900})
    page.evaluate(SETTLED)
    narrow = {tag: node.evaluate(SEEN) for tag, node in nodes.items()}
    phone_width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": WIDE, "height": 900})
    return {
        tag: Look(
            **{**seen, "small": narrow[tag]["small"], "cut": {WIDE: seen["cut"], PHONE: narrow[tag]["cut"]}},
            phone_width=phone_width,
        )
        for tag, seen in wide.items()
    }


def keys(page):
    """What the address holds."""
    return set(re.findall(r"[?&]([^=&]+)=", page.url))


def changes(page, figures):
    """Uses every control of every figure."""
    found = {tag: {"first": figure.state} for tag, figure in figures.items()}
    for tag, figure in figures.items():
        before = keys(page)
        use_every_control(figure)
        found[tag] |= {"changed": figure.state, "keys": keys(page) - before}
    return found


def resets(page, figures, found):
    """Resets every figure, and adds what that changed."""
    for tag, figure in figures.items():
        found[tag]["again"] = figure.state
    for tag, figure in figures.items():
        figure.press("Reset")
        found[tag] |= {"after_reset": figure.state, "keys_after_reset": keys(page) & found[tag]["keys"]}
    return {tag: Use(**each) for tag, each in found.items()}


def uses_of_examples(figure):
    """What each example shows at once, after a use of every control, and chosen again."""
    found = {}
    page, tag = figure.page, figure.tag
    buttons = figure.node.get_by_role("group", name="Examples").get_by_role("button").all_text_contents()
    start = page.evaluate("location.search")
    use_every_control(figure)
    everything_used = page.evaluate("location.search")
    for name in set(buttons) - {"Reset"}:
        renew(page, start, tag, forgetting=False)
        figure.press(name)
        first = figure.state
        renew(page, everything_used, tag, forgetting=False)
        used = figure.state
        figure.press(name)
        found[name] = [first, used, figure.state]
    figure.press("Reset")
    return found


def prints(page, figures):
    """The rows of the last table on paper, and what the figures show when the page was printed."""
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    paper = {tag: figure.node.locator("table").last.evaluate(CELLS) for tag, figure in figures.items()}
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    return paper, {tag: figure.state for tag, figure in figures.items()}


@pytest.mark.parametrize("path", PATHS)
def test_explorables_come_once_after_instant_navigation_and_going_back(visit, path):
    seen = visit(path)
    assert seen.counts == 2 * [dict.fromkeys(tags_of(path), (1, 1))]
    assert seen.stayed, "the page was loaded anew"


@pytest.mark.parametrize("path", PATHS)
def test_using_all_explorables_of_a_page_makes_no_error(visit, path):
    assert visit(path).problems == []


@each_explorable
def test_an_explorable_says_where_its_numbers_come_from(look, path, tag):
    assert look(path, tag).source.startswith(SOURCES)
    assert look(path, tag).status


@each_explorable
def test_a_screen_reader_finds_names_and_the_numbers_of_every_chart(look, path, tag):
    seen = look(path, tag)
    for role in ("slider", "combobox", "checkbox", "radio", "spinbutton", "textbox", "button", "group", "table"):
        assert not re.search(rf"^\s*- {role}(:|$| \[)", seen.tree, re.M), f"a {role} without a name:\n{seen.tree}"
    assert "- status" in seen.tree
    assert seen.spoken == []
    assert seen.tables >= 1 or seen.charts == 0, "a chart without a table"


@each_explorable
def test_without_scripts_an_explorable_is_a_text_that_teaches_the_same(read_without_scripts, path, tag):
    node = read_without_scripts(path).locator(tag)
    assert node.is_visible()
    text = node.inner_text()
    assert len(text.split()) >= 40
    assert node.locator("table").count() >= 1 or len(re.findall(r"\d", text)) >= 10
    assert re.search(rf"^({'|'.join(SOURCES)})\b", text, re.M), "where the numbers come from"


@each_explorable
def test_an_explorable_fits_a_phone_and_a_finger(look, path, tag):
    assert look(path, tag).small == []
    assert look(path, tag).phone_width == PHONE


@each_explorable
def test_a_printed_explorable_shows_numbers_and_no_buttons(look, path, tag):
    assert look(path, tag).printed == (True, True, 0)


@each_explorable
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_no_word_of_a_chart_is_cut_off(look, path, tag, width):
    assert look(path, tag).cut[width] == []


@pytest.mark.parametrize("tag", STEPS)
def test_paper_gets_the_last_step_and_the_screen_keeps_its_own(visit, tag):
    seen = visit(path_of(tag))
    assert len(seen.paper[tag]) == STEPS[tag] and all(all(cells) for cells in seen.paper[tag])
    assert seen.after_print[tag] == seen.use[tag].first


@each_explorable
def test_an_explorable_works_by_keyboard_keeps_its_state_in_the_address_and_can_be_reset(visit, path, tag):
    used = visit(path).use[tag]
    assert used.changed != used.first
    assert used.keys, "the address holds the state"
    assert used.again == used.changed
    assert used.after_reset == used.first
    assert not used.keys_after_reset


@pytest.mark.parametrize("path", [PATHS[0], *(pytest.param(path, marks=pytest.mark.proof) for path in PATHS[1:])])
def test_a_page_that_is_loaded_with_an_address_shows_the_state_in_it(visit, tab, site, path):
    page = tab.load(visit(path).used_address.removeprefix(site))
    for tag in tags_of(path):
        assert Explorable(page, tag).state == visit(path).use[tag].changed


@pytest.mark.parametrize("tag", WITH_EXAMPLES)
def test_an_example_shows_the_same_whatever_was_set_before(visit, tag):
    examples = visit(path_of(tag)).examples[tag]
    assert examples
    for name, (first, used, again) in examples.items():
        assert used != first, name
        assert again == first, name


CONTROL = """node => {
  node.focus({ preventScroll: true });
  const shown = node.checkVisibility({ visibilityProperty: true }) && !node.disabled;
  return { kind: node.type, name: node.name, value: node.value, shown, reached: node === document.activeElement };
}"""


def use_every_control(figure):
    """Changes each control once, by its key; of radio buttons with one name, one."""
    groups = set()
    keyboard = figure.page.keyboard
    for control in figure.node.locator("input, select").all():
        found = control.evaluate(CONTROL)
        kind, name = found["kind"], found["name"]
        assert found["reached"] == found["shown"], f"{name or kind} takes no focus"
        if not found["shown"] or (kind == "radio" and name in groups):  # one control may hide another
            continue
        groups.add(name)
        if kind == "checkbox":
            keyboard.press("Space")
        elif kind in ("text", "number"):
            control.fill("13")
            keyboard.press("Tab")
        else:
            keyboard.press("ArrowRight")
            if kind == "range" and control.input_value() == found["value"]:
                keyboard.press("ArrowLeft")  # it stood at its right end
