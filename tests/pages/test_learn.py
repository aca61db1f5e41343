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
from tab import Tab

from grader import course

DOCS = course.ROOT / "docs"
SOURCES = ("Computed", "Recorded run", "Reported", "Schematic")
EXPLORABLES = [
    (f"/{page.relative_to(DOCS).with_suffix('')}/", tag)
    for page in sorted([*DOCS.glob("learn/*.md"), *DOCS.glob("results/*.md")])
    for tag in re.findall(r"^/+ html \| (grpo-[\w-]+)\.grpo-explorable$", page.read_text("utf-8"), re.M)
]
PHONE, WIDE = 360, 1280
each_explorable = pytest.mark.parametrize(("path", "tag"), EXPLORABLES)
SEEN = """node => {
  const charts = [...node.querySelectorAll("svg.grpo-chart")];
  const targets = "button, select, input[type=range], label:has(input)";
  return {
    source: node.querySelector(".grpo-source").innerText,
    status: node.querySelector("p[role=status]").innerText,
    charts: charts.length,
    tables: node.querySelectorAll("table").length,
    spoken: [...node.querySelectorAll("svg")].filter(svg => svg.ariaHidden !== "true").map(svg => svg.outerHTML),
    small: [...node.querySelectorAll(targets)]
      .filter(target => target.checkVisibility() && target.getBoundingClientRect().height < 24)
      .map(target => target.outerHTML),
    cut: charts.flatMap(chart => {
      const edge = chart.getBoundingClientRect();
      return [...chart.querySelectorAll("text")].filter(text => {
        const { left, right, width } = text.getBoundingClientRect();
        return width && (left < edge.left - 0.5 || right > edge.right + 0.5);
      }).map(text => text.textContent);
    }),
  };
}"""


def tags_of(path):
    return [tag for each, tag in EXPLORABLES if each == path]


@dataclass(frozen=True, kw_only=True)
class Look:
    """How an explorable looks at one width of the window."""

    source: str
    status: str
    charts: int
    tables: int
    spoken: list[str]  # drawings that a screen reader does not skip
    small: list[str]  # controls that a finger does not hit
    cut: list[str]  # words of charts that are cut off
    tree: str  # what a screen reader is told
    printed: tuple[bool, bool, int]  # whether it and its sentence are on paper, and how many buttons are
    page_width: int


@dataclass(frozen=True, kw_only=True)
class Use:
    """What an explorable showed while all figures of its page were used, each after the other."""

    first: str
    changed: str
    again: str  # on a page that was loaded with the address of all changed figures
    after_reset: str
    keys: set[str]  # of the address, that its controls wrote
    keys_after_reset: set[str]


@pytest.fixture(scope="module")
def visit(one_tab):
    """Visits a page once: looks at its explorables at both widths, then uses them; gives both by their tags."""

    @functools.cache
    def visit(path):
        page = one_tab.load(path)
        figures = {tag: Explorable(page, tag) for tag in tags_of(path)}
        wide = looks(page, figures)
        page.set_viewport_size({"width": PHONE, "height": 900})
        page.evaluate(SETTLED)
        narrow = looks(page, figures)
        page.set_viewport_size({"width": WIDE, "height": 900})
        return {WIDE: wide, PHONE: narrow}, uses(page, figures)

    yield visit
    assert one_tab.problems == []


@pytest.fixture(scope="module")
def look(visit):
    """How an explorable looks."""
    return lambda path, tag, width=WIDE: visit(path)[0][width][tag]


def looks(page, figures):
    nodes = {tag: figure.node for tag, figure in figures.items()}
    seen = {tag: {**node.evaluate(SEEN), "tree": node.aria_snapshot()} for tag, node in nodes.items()}
    page_width = page.evaluate("document.documentElement.scrollWidth")
    page.emulate_media(media="print")
    for tag, node in nodes.items():
        printed = node.is_visible(), node.locator("p[role=status]").is_visible()
        seen[tag]["printed"] = *printed, node.locator("button:visible").count()
    page.emulate_media(media="screen")
    return {tag: Look(**found, page_width=page_width) for tag, found in seen.items()}


def uses(page, figures):
    """Uses every control of every figure; then loads the page with the address that they wrote."""

    def keys():
        return set(re.findall(r"[?&]([^=&]+)=", page.url))

    found = {tag: {"first": figure.state} for tag, figure in figures.items()}
    for tag, figure in figures.items():
        before = keys()
        use_every_control(figure)
        found[tag] |= {"changed": figure.state, "keys": keys() - before}
    page.reload()
    wait_until_ready(page)
    for tag, figure in figures.items():
        found[tag]["again"] = figure.state
    for tag, figure in figures.items():
        figure.press("Reset")
        found[tag] |= {"after_reset": figure.state, "keys_after_reset": keys() & found[tag]["keys"]}
    return {tag: Use(**each) for tag, each in found.items()}


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
    seen = look(path, tag, PHONE)
    assert seen.small == []
    assert seen.page_width == PHONE


@each_explorable
def test_a_printed_explorable_shows_numbers_and_no_buttons(look, path, tag):
    assert look(path, tag).printed == (True, True, 0)


@each_explorable
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_no_word_of_a_chart_is_cut_off(look, path, tag, width):
    assert look(path, tag, width).cut == []


@pytest.mark.parametrize("step", [("loss", "worked-example", 10), ("training", "training-step", 5)])
def test_paper_gets_the_last_step_and_the_screen_keeps_its_own(open_figure, step):
    chapter, key, filled = step
    figure = open_figure(f"/learn/{chapter}/", f"grpo-{key}")
    page = figure.page
    first = figure.state
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    rows = figure.node.locator("table").last.locator("tbody tr")
    assert rows.count() == filled and all(rows.locator("td").all_text_contents())
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert figure.state == first


@each_explorable
def test_an_explorable_works_by_keyboard_keeps_its_state_in_the_address_and_can_be_reset(visit, path, tag):
    used = visit(path)[1][tag]
    assert used.changed != used.first
    assert used.keys, "the address holds the state"
    assert used.again == used.changed
    assert used.after_reset == used.first
    assert not used.keys_after_reset


@pytest.mark.parametrize(
    ("path", "tag"),
    [
        ("/learn/ppo/", "grpo-memory"),
        ("/learn/loss/", "grpo-kl-weight"),
        ("/learn/loss/", "grpo-clip-curve"),
        ("/learn/training/", "grpo-training-step"),
        ("/learn/training/", "grpo-zero-loss"),
        ("/learn/limits/", "grpo-process-reward"),
    ],
)
def test_an_example_shows_the_same_whatever_was_set_before(open_figure, path, tag):
    figure = open_figure(path, tag)
    buttons = figure.node.get_by_role("group", name="Examples").get_by_role("button").all_text_contents()
    for name in set(buttons) - {"Reset"}:
        figure.press("Reset")
        figure.press(name)
        first = figure.state
        use_every_control(figure)
        assert figure.state != first
        figure.press(name)
        assert figure.state == first, name


CONTROL = """node => {
  node.focus({ preventScroll: true });
  return { kind: node.type, name: node.name, value: node.value, reached: node === document.activeElement };
}"""


def use_every_control(figure):
    """Changes each control once, by its key; of radio buttons with one name, one."""
    groups = set()
    keyboard = figure.page.keyboard
    for control in figure.node.locator("input, select").all():
        found = control.evaluate(CONTROL)
        kind, name = found["kind"], found["name"]
        if not found["reached"] or (kind == "radio" and name in groups):  # one control may hide another
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


@pytest.fixture(scope="module")
def traveller(browser, site):
    """A tab in which nothing but links is followed."""
    tab = Tab(browser, site)
    tab.page.goto(f"{site}/start/")
    tab.page.wait_for_load_state("networkidle")  # the theme takes links over when it has read the sitemap
    tab.page.evaluate("window.stayed = true")
    yield tab.page
    tab.page.context.close()
    assert tab.problems == []


@pytest.mark.parametrize("path", dict.fromkeys(path for path, _ in EXPLORABLES))
def test_explorables_come_once_after_instant_navigation_and_going_back(traveller, site, path):
    tags = tags_of(path)
    page = traveller
    page.evaluate(
        """address => {
          const link = document.createElement("a");
          link.href = address;
          document.querySelector("article").append(link);
          link.click();
        }""",
        site + path,
    )
    for _ in range(2):
        page.locator(tags[0]).wait_for(state="attached")
        wait_until_ready(page)
        for tag in tags:
            assert page.locator(tag).count() == page.locator(f"{tag} .grpo-source").count() == 1, tag
        page.go_back()
        page.locator(tags[0]).wait_for(state="detached")
        page.go_forward()
    assert page.evaluate("window.stayed"), "the page was loaded anew"
