"""The frame of every figure: its title, the numbers behind a tab, what one can do with it, and the room it takes."""

import functools
import re
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import site_server
from explorables import FRAMES, Explorable
from site_fixtures import wait_until_ready
from site_pages import DOCS
from test_learn import PATHS

SCREENS = {1280: 720, 390: 844, 320: 844}
"""How high the first screen is in a window of each width."""
CLIP = "grpo-clip-curve"
CHAPTERS = [path for path in PATHS if path.startswith("/learn/")]
BODY_MARGIN = 8  # of a page without styles
HEIGHT_THAT_FITS = """width => innerWidth === width && document.documentElement.scrollHeight <= innerHeight
  && document.body.offsetHeight === innerHeight && innerHeight"""


@pytest.fixture(scope="module")
def frames(one_tab):
    """What the figures of a page are like before and after their code has come, from one visit in each width."""

    @functools.cache
    def visit(path, width):
        page = one_tab.load(path, width=width, scrolling=False)
        before = page.evaluate(FRAMES)
        wait_until_ready(page)
        return before, page.evaluate(FRAMES)

    return visit


# test_site.py looks at each page with figures in one width; here are the others.


@pytest.mark.proof
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("width", SCREENS)
def test_a_figure_is_as_high_before_its_code_has_come_as_after_in_every_width(frames, path, width):
    before, after = frames(path, width)
    assert after["heights"] == before["heights"], "run: python tests/bench/figure_heights.py"


@pytest.mark.proof
@pytest.mark.parametrize("path", CHAPTERS)
@pytest.mark.parametrize("width", SCREENS)
def test_a_figure_can_be_operated_in_the_first_screen_of_a_chapter_in_every_width(frames, path, width):
    _, after = frames(path, width)
    assert min(after["controls"]) <= SCREENS[width]


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
