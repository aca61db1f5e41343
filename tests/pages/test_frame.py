"""The frame of every figure: its title, the numbers behind a tab, what one can do with it, and the room it takes."""

import functools
import re
from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import site_server
from explorables import Explorable
from site_fixtures import SETTLED, wait_until_ready
from site_pages import DOCS
from test_learn import PATHS

HEIGHTS = """() => Object.fromEntries([...document.querySelectorAll(".grpo-explorable")]
  .map(node => [node.localName, node.offsetHeight]))"""
FIRST_SCREEN = """() => [...document.querySelectorAll(".grpo-explorable :is(button, input, select)")]
  .filter(node => node.getBoundingClientRect().bottom <= innerHeight).length"""
WIDTHS = (1280, 390, 320)
SCREENS = {1280: (1280, 720), 390: (390, 844), 320: (390, 844)}
"""The first screen that is looked at after the figures have been measured in a window of this width."""
CLIP = "grpo-clip-curve"
CHAPTERS = [path for path in PATHS if path.startswith("/learn/")]
BODY_MARGIN = 8  # of a page without styles
HEIGHT_THAT_FITS = """width => innerWidth === width && document.documentElement.scrollHeight <= innerHeight
  && document.body.offsetHeight === innerHeight && innerHeight"""


@dataclass(frozen=True, kw_only=True)
class Frames:
    """What the figures of a page are like in a window of one width, from one visit."""

    before: dict[str, int]  # heights by tag, before the code of a figure has come
    after: dict[str, int]
    late: int  # figures whose code had not come when `before` was measured
    controls: int  # in the first screen
    chapter: str  # its number
    names: list[str]  # titles of the figures


@pytest.fixture(scope="module")
def frames(one_tab):
    """Visits a page once in each width for all that is asked of its frames."""

    @functools.cache
    def visit(path, width):
        page = one_tab.load(path, width=width, scrolling=False)
        late = page.locator(".grpo-explorable:not([data-ready])").count()
        before = page.evaluate(HEIGHTS)
        wait_until_ready(page)
        after = page.evaluate(HEIGHTS)
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        wide, high = SCREENS[width]
        page.set_viewport_size({"width": wide, "height": high})
        page.evaluate(SETTLED)
        controls = page.evaluate(FIRST_SCREEN)
        chapter = page.locator("h1").inner_text().split(".")[0]
        names = page.locator(".grpo-asks").all_inner_texts()
        return Frames(before=before, after=after, late=late, controls=controls, chapter=chapter, names=names)

    return visit


WIDTH_OF = {path: WIDTHS[place % len(WIDTHS)] for place, path in enumerate(PATHS)}
"""Each page is looked at in one width, by turns; the proof looks at each in all."""


def each_width_of(paths):
    """Parameters for pages in each width."""
    return pytest.mark.parametrize(
        ("path", "width"),
        [
            pytest.param(path, width, marks=[] if width == WIDTH_OF[path] else pytest.mark.proof)
            for path in paths
            for width in WIDTHS
        ],
    )


@each_width_of(PATHS)
def test_a_figure_is_as_high_before_its_code_has_come_as_after(frames, path, width):
    seen = frames(path, width)
    assert seen.late >= len(seen.before) // 2
    assert seen.after == seen.before, "run: python tests/bench/figure_heights.py"


@each_width_of(CHAPTERS)
def test_a_figure_can_be_operated_in_the_first_screen_of_a_chapter(frames, path, width):
    assert frames(path, width).controls > 0


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_figure_is_named_by_its_number_and_its_question(frames, path):
    seen = frames(path, WIDTH_OF[path])
    assert [re.sub(r"\s.*", "", name, flags=re.S) for name in seen.names] == [
        f"{seen.chapter}.{place}" for place in range(1, len(seen.names) + 1)
    ]
    assert all(name.endswith("?") for name in seen.names)


def test_the_numbers_are_behind_a_tab_that_the_arrow_keys_reach(open_figure):
    figure = open_figure("/learn/loss/", CLIP)
    height = figure.node.evaluate("node => node.offsetHeight")
    table, chart = figure.node.locator("table"), figure.node.locator(".grpo-picture")
    assert chart.is_visible() and not table.is_visible()
    figure.node.get_by_role("tab", name="Picture").press("ArrowRight")
    assert table.is_visible() and not chart.is_visible()
    assert figure.node.get_by_role("tab", name="Numbers").evaluate("node => node === document.activeElement")
    assert figure.node.evaluate("node => node.offsetHeight") == height


def test_a_picture_is_saved_with_its_colors_its_question_and_its_sentence(open_figure):
    figure = open_figure("/learn/loss/", CLIP)
    with figure.page.expect_download() as download:
        figure.press("Save picture")
    assert download.value.suggested_filename == "clip-curve.svg"
    drawing = ElementTree.parse(download.value.path())
    text = " ".join(drawing.getroot().itertext())
    assert "When does the clip let go?" in text and figure.status in text
    assert "rgb(29, 78, 216)" in download.value.path().read_text("utf-8")


def copied(figure, button):
    """What a button of the figure puts into the clipboard after it was changed."""
    figure.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    figure.press("Bad, too likely")
    figure.press(button)
    figure.node.locator(".grpo-told:not(:empty)").wait_for()
    return figure.page.evaluate("navigator.clipboard.readText()")


def test_a_copied_link_brings_back_the_state_and_the_place(open_figure):
    figure = open_figure("/learn/loss/", CLIP)
    address = copied(figure, "Copy link to this state")
    assert "clip-curve.a=-1" in address and address.endswith("#clip-curve")


def test_copied_code_shows_the_figure_alone_with_its_state_and_a_link_back(open_figure, site, tmp_path):
    """On a page of another host, as high as it needs, with the script that the site's own page gives for it."""
    figure = open_figure("/learn/loss/", CLIP)
    code = copied(figure, "Copy code to embed this figure")
    (script,) = re.findall(r"<script>.*?</script>", (DOCS / "instructors/site.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "index.html").write_text(f"<!doctype html><title>Host</title><body>{code}{script}", "utf-8")
    page = figure.page.context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    with site_server.serve(tmp_path) as host:
        page.goto(f"{host}/")
        frame = page.frame_locator("iframe")
        frame.locator(f"{CLIP}.grpo-alone[data-ready]").wait_for()
        assert page.locator("iframe").get_attribute("title") == "When does the clip let go?"
        assert Explorable(frame, CLIP).state == figure.state
        assert frame.locator("h1").is_hidden() and frame.locator(".md-header").is_hidden()
        link = frame.get_by_role("link", name="6. The loss - GRPO course")
        assert re.search(r"/learn/loss/\?clip-curve\.a=-1$", link.get_attribute("href"))
        heights = []
        for width in (1000, 390, 700):
            page.set_viewport_size({"width": width, "height": 900})
            heights.append(page.frames[1].wait_for_function(HEIGHT_THAT_FITS, arg=width - 2 * BODY_MARGIN).json_value())
        wide, phone, between = heights
        assert phone > max(wide, between) and min(wide, between) > 300, "it gets smaller again"
        assert {urlsplit(address).netloc for address in asked} == {urlsplit(address).netloc for address in (host, site)}


@pytest.mark.parametrize("name", ["none", "clip-curve]", "hero, *"])
def test_a_name_that_no_figure_has_embeds_nothing(tab, name):
    page = tab.load(f"/learn/loss/?embed={name}", scrolling=False)
    page.wait_for_load_state("networkidle")
    assert page.locator("h1").is_visible() and page.locator(".grpo-back").count() == 0
