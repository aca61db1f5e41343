"""What all explorables of the Learn chapters have in common, and how the chapters are built.

Their numbers and their lessons have test files of their own, one for each chapter (test_chapter_*.py).
"""

import functools
import itertools
import re

import pytest
from explorables import Explorable
from site_fixtures import wait_until_ready, watch

from grader import course

DOCS = course.ROOT / "docs"
CHAPTERS = ["why", "ppo", "group", "advantage", "loss", "training", "limits"]
SECTIONS = ["The question", "The idea", "The formula", "Try it", "Check yourself", "Sources", "Next"]
SOURCES = ("Computed", "Recorded run", "Reported", "Schematic")
EXPLORABLES = [
    (f"/{page.relative_to(DOCS).with_suffix('')}/", tag)
    for page in sorted([*DOCS.glob("learn/*.md"), *DOCS.glob("results/*.md")])
    for tag in re.findall(r"^/+ html \| (grpo-[\w-]+)\.grpo-explorable$", page.read_text("utf-8"), re.M)
]
READERS = {
    "eyes": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 360, "height": 900}, "color_scheme": "dark"},
    "no scripts": {"java_script_enabled": False},
}
each_explorable = pytest.mark.parametrize(("path", "tag"), EXPLORABLES)


def chapter(name):
    return (DOCS / f"learn/{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_chapters_have_one_structure(name):
    assert re.findall(r"^## (.*)$", chapter(name), re.M) == SECTIONS


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_asks_a_question_and_hides_its_answer(name):
    check = chapter(name).split("## Check yourself\n", 1)[1].split("\n## ", 1)[0]
    question, *answers = re.split(r'^\?\?\? success "Answer"$', check, flags=re.M)
    assert answers and "?" in question


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_explorable_is_asked_about_before_and_explained_after(name):
    pieces = re.split(r"^/// html \| grpo-\S+$", chapter(name), flags=re.M)
    for before, after in itertools.pairwise(pieces):
        intro = re.split(r"^### ", before, flags=re.M)[-1]
        assert "?" in intro, f"no question before: {intro[:80]}"
        rest = re.split(r"^/// *$", after, maxsplit=1, flags=re.M)[1]
        assert rest.lstrip().startswith('??? note "What to notice"'), rest[:80]


@pytest.fixture(scope="module")
def look(browser, site):
    """A page for tests that change nothing, opened once for each kind of reader."""
    problems, contexts = [], []

    @functools.cache
    def look(path, reader="eyes"):
        context = browser.new_context(**READERS[reader])
        contexts.append(context)
        page = context.new_page()
        watch(page, site, problems)
        page.goto(site + path)
        if reader != "no scripts":
            wait_until_ready(page)
        return page

    yield look
    for context in contexts:
        context.close()
    assert problems == []


@each_explorable
def test_an_explorable_says_where_its_numbers_come_from(look, path, tag):
    figure = Explorable(look(path), tag)
    assert figure.node.locator(".grpo-source").inner_text().startswith(SOURCES)
    assert figure.status


@each_explorable
def test_a_screen_reader_finds_names_and_the_numbers_of_every_chart(look, path, tag):
    node = look(path).locator(tag)
    tree = node.aria_snapshot()
    for role in ("slider", "combobox", "checkbox", "radio", "spinbutton", "textbox", "button", "group", "table"):
        assert not re.search(rf"^\s*- {role}(:|$| \[)", tree, re.M), f"a {role} without a name:\n{tree}"
    assert "- status" in tree
    assert all(svg.get_attribute("aria-hidden") == "true" for svg in node.locator("svg").all())
    assert node.locator("table").count() >= 1 or node.locator("svg.grpo-chart").count() == 0, "a chart without a table"


@each_explorable
def test_without_scripts_an_explorable_is_a_text_that_teaches_the_same(look, path, tag):
    node = look(path, "no scripts").locator(tag)
    assert node.is_visible()
    text = node.inner_text()
    assert len(text.split()) >= 40
    assert node.locator("table").count() >= 1 or len(re.findall(r"\d", text)) >= 10
    assert re.search(rf"^({'|'.join(SOURCES)})\b", text, re.M), "where the numbers come from"


@each_explorable
def test_an_explorable_fits_a_phone_and_a_finger(look, path, tag):
    page = look(path, "phone")
    targets = "button:visible, select:visible, input[type=range]:visible, label:has(input):visible"
    small = (
        page.locator(tag)
        .locator(targets)
        .evaluate_all(
            "nodes => nodes.filter(node => node.getBoundingClientRect().height < 24).map(node => node.outerHTML)"
        )
    )
    assert small == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@each_explorable
def test_a_printed_explorable_shows_numbers_and_no_buttons(look, path, tag):
    page = look(path)
    page.emulate_media(media="print")
    node = page.locator(tag)
    seen = node.is_visible(), node.locator("p[role=status]").is_visible(), node.locator("button:visible").count()
    page.emulate_media(media="screen")
    assert seen == (True, True, 0)


@each_explorable
@pytest.mark.parametrize("reader", ["eyes", "phone"])
def test_no_word_of_a_chart_is_cut_off(look, path, tag, reader):
    cut = look(path, reader).evaluate(
        """tag => [...document.querySelectorAll(`${tag} svg.grpo-chart`)].flatMap(chart => {
          const edge = chart.getBoundingClientRect();
          return [...chart.querySelectorAll("text")].filter(text => {
            const { left, right, width } = text.getBoundingClientRect();
            return width && (left < edge.left - 0.5 || right > edge.right + 0.5);
          }).map(text => text.textContent);
        })""",
        tag,
    )
    assert cut == []


@pytest.mark.parametrize("step", [("loss", "worked-example", 10), ("training", "training-step", 5)])
def test_paper_gets_the_last_step_and_the_screen_keeps_its_own(open_page, step):
    chapter, key, filled = step
    page = open_page(f"/learn/{chapter}/")
    figure = Explorable(page, f"grpo-{key}")
    first = figure.state
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    rows = figure.node.locator("table").last.locator("tbody tr")
    assert rows.count() == filled and all(rows.locator("td").all_text_contents())
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert figure.state == first


@each_explorable
def test_an_explorable_works_by_keyboard_keeps_its_state_in_the_address_and_can_be_reset(open_page, path, tag):
    page = open_page(path)
    figure = Explorable(page, tag)
    first = figure.state
    use_every_control(figure)
    changed = figure.state
    assert changed != first
    assert "?" in page.url, "the address holds the state"
    again = Explorable(open_page(path + "?" + page.url.split("?", 1)[1]), tag)
    assert again.state == changed
    figure.press("Reset")
    assert figure.state == first
    assert "?" not in page.url


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
def test_an_example_shows_the_same_whatever_was_set_before(open_page, path, tag):
    figure = Explorable(open_page(path), tag)
    buttons = figure.node.get_by_role("group", name="Examples").get_by_role("button").all_text_contents()
    for name in set(buttons) - {"Reset"}:
        figure.press("Reset")
        figure.press(name)
        first = figure.state
        use_every_control(figure)
        assert figure.state != first
        figure.press(name)
        assert figure.state == first, name


def use_every_control(figure):
    """Changes each control once, by its key; of radio buttons with one name, one."""
    groups = set()
    for control in figure.node.locator("input, select").all():
        kind, name = control.get_attribute("type"), control.get_attribute("name")
        if not control.is_visible() or (kind == "radio" and name in groups):  # one control may hide another
            continue
        groups.add(name)
        control.focus()
        if kind == "checkbox":
            control.press("Space")
        elif kind in ("text", "number"):
            control.fill("13")
            control.press("Tab")
        else:
            before = control.input_value()
            control.press("ArrowRight")
            if kind == "range" and control.input_value() == before:
                control.press("ArrowLeft")  # it stood at its right end


@pytest.mark.parametrize("path", dict.fromkeys(path for path, _ in EXPLORABLES))
def test_explorables_come_once_after_instant_navigation_and_going_back(open_page, path):
    tags = [tag for each, tag in EXPLORABLES if each == path]
    page = open_page("/start/")
    page.wait_for_load_state("networkidle")  # the theme takes links over when it has read the sitemap
    page.evaluate("window.stayed = true")
    page.evaluate(
        """path => {
          const link = document.createElement("a");
          link.href = new URL(".." + path, location.href);
          document.querySelector("article").append(link);
          link.click();
        }""",
        path,
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
