"""What figures can do beyond a control that changes a number, once each."""

import functools
import re
from urllib.parse import urlsplit

import pytest
from explorables import SKIP_GUESSES
from tab import PHONE, assert_a_card

LOSS, CLIP = "/learn/loss/", "grpo-clip-curve"


def copied(figure, button):
    """What a button puts into the clipboard."""
    figure.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    figure.press(button)
    figure.node.locator(".grpo-told:not(:empty)").wait_for()
    return figure.page.evaluate("navigator.clipboard.readText()")


def test_a_figure_shows_its_numbers_behind_a_tab_and_is_saved_as_a_picture(open_figure):
    figure = open_figure(LOSS, CLIP)
    table, chart = figure.node.locator("table"), figure.node.locator(".grpo-picture")
    assert chart.is_visible() and not table.is_visible()
    figure.node.get_by_role("tab", name="Picture").press("ArrowRight")
    assert table.is_visible() and not chart.is_visible()
    assert figure.node.get_by_role("tab", name="Numbers").evaluate("node => node === document.activeElement")
    with figure.page.expect_download() as download:
        figure.press("Save picture")
    assert download.value.suggested_filename == "clip-curve.png"
    assert_a_card(download.value.path())


def test_a_copied_link_brings_back_the_state(open_figure):
    figure = open_figure(LOSS, CLIP)
    first = figure.state
    figure.press("Bad, too likely")
    changed = figure.state
    address = copied(figure, "Copy link to this state")
    assert changed != first and address.endswith("#clip-curve")
    assert open_figure(f"{LOSS}?{urlsplit(address).query}", CLIP).state == changed


@pytest.mark.proof
def test_a_word_of_the_text_sets_the_figure(open_figure):
    figure = open_figure("/learn/advantage/", "grpo-group-advantages")
    page = figure.page
    word = page.get_by_role("button", name="One correct", exact=True).and_(page.locator(".grpo-word"))
    for press in (word.click, functools.partial(word.press, "Enter"), functools.partial(word.press, "Space")):
        press()
        assert "1 of 6 samples" in figure.status and figure.column(1) == [1, 0, 0, 0, 0, 0]
        figure.node.locator("[aria-label=Reset]").click()
        assert figure.column(1) != [1, 0, 0, 0, 0, 0]


IN_VIEW = """([figure, control]) => {
  control.scrollIntoView({ block: "end", behavior: "instant" });
  const { top, bottom } = figure.querySelector(".grpo-status").getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight && control.getBoundingClientRect().height > 0;
}"""


@pytest.mark.proof
def test_on_a_phone_the_sentence_stays_in_view_at_the_last_control_and_sliders_of_handles_fold(tab):
    page = tab.load("/learn/gradient/", size=PHONE)
    page.evaluate(SKIP_GUESSES)
    figure = page.locator("grpo-policy-gradient")
    last = figure.locator(".grpo-side button").last
    assert page.evaluate(IN_VIEW, [figure.element_handle(), last.element_handle()])
    assert not figure.get_by_role("slider").first.is_visible()
    figure.locator("summary").click()
    assert figure.get_by_role("slider").first.is_visible()


@pytest.mark.parametrize(
    ("path", "tag", "way"),
    [
        ("/learn/gradient/", "grpo-policy-gradient", (40, 40)),
        pytest.param(LOSS, CLIP, (-60, 0), marks=pytest.mark.proof),
        pytest.param("/learn/advantage/", "grpo-group-advantages", (0, 40), marks=pytest.mark.proof),
    ],
)
def test_a_handle_in_a_picture_is_dragged_and_changes_the_state(open_figure, path, tag, way):
    figure = open_figure(path, tag)
    before, mouse = figure.state, figure.page.mouse
    handle = figure.node.locator(".handle").first
    handle.scroll_into_view_if_needed()
    dot = handle.bounding_box()
    x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + way[0], y + way[1], steps=4)
    mouse.up()
    assert figure.state != before
    figure.page.wait_for_function(f"location.search.includes('{tag.removeprefix('grpo-')}.')")


ON_PAPER = """() => {
  const shown = (node) => node.checkVisibility() && node.getBoundingClientRect().height > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
  return {
    controls: all(".grpo-explorable :is(button, input, select)").length,
    pictures: all(".grpo-explorable .grpo-picture").length,
    cut: all(".katex-display > .katex").filter((node) => node.getBoundingClientRect().right > innerWidth).length,
    forOthers: all(".grpo-explorable p").filter((node) => node.textContent.includes("With JavaScript")).length,
  };
}"""


@pytest.mark.proof
def test_paper_gets_whole_formulas_and_pictures_without_controls(tab):
    page = tab.load(LOSS, size={"width": 700, "height": 990})
    page.emulate_media(media="print")
    figures = page.locator(".grpo-explorable").count()
    assert page.evaluate(ON_PAPER) == {"controls": 0, "pictures": figures, "cut": 0, "forOthers": 0}
    page.emulate_media(media="screen")


@pytest.mark.proof
def test_a_worked_example_goes_step_by_step_and_paper_gets_all_steps(open_figure):
    figure = open_figure(LOSS, "grpo-worked-example")
    assert len(figure.table()) == 3
    for shown in (4, 7, 9, 10):
        figure.press("Next")
        assert len(figure.table()) == shown
    figure.press("Back")
    figure.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert len(figure.table()) == 10 and all(all(cells[:3]) for cells in figure.table())
    figure.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert len([row for row in figure.table() if row[2]]) == 9


def test_a_report_leads_to_the_text_of_a_mistake(tab):
    page = tab.load("/exercises/advantages/mistakes/#group_advantages-divides_by_group_size_minus_one")
    opened = page.locator("details[open]")
    assert opened.count() == 1 and "1.732" in opened.inner_text()


def test_the_report_on_the_home_page_is_found_where_its_link_leads(tab, open_figure):
    page = tab.load("/")
    report = page.locator(".grpo-report img").get_attribute("alt")
    ((found, mistake),) = re.findall(r"found ([-\d., ]+) and .* get if (you .*?);", report)
    link = page.get_by_role("link", name="Paste them").get_attribute("href")
    figure = open_figure("/exercises/" + link.partition("exercises/")[2], "grpo-mistake-finder")
    figure.node.get_by_role("textbox").fill(f"tensor([{found}])")
    figure.node.get_by_role("link", name=mistake).first.press("Enter")
    assert mistake in figure.status
    assert mistake in page.locator("details[open]", has_text="Numbers").first.inner_text().replace("You", "you")


@pytest.mark.proof
def test_the_film_of_a_recorded_run_is_entered_at_a_step_and_goes_from_record_to_record(open_figure):
    figure = open_figure("/results/llm/?llm-film.at=54", "grpo-llm-film")
    slider = figure.node.locator("input[type=range]")
    assert "70 % right after step 40" in figure.status.replace("\u00a0", " ")
    assert "right after step 54" in figure.status
    drawn = figure.node.locator("path.line-each").last.get_attribute("d")
    assert drawn.count("L") == 54, "a film draws nothing of what comes later"
    figure.press("Next")
    assert slider.input_value() == "80" and "llm-film.at=80" in figure.page.url
    figure.press("Back")
    figure.press("Speed 1\u00d7")
    figure.press("Play")
    figure.page.wait_for_function("location.search.includes('llm-film.at=120')")
    figure.press("Pause")
    stopped = slider.input_value()
    assert len(figure.table("Completions")) == 32
    figure.press("Restart")
    assert int(stopped) >= 120 and slider.input_value() == "0"


@pytest.mark.proof
def test_the_film_is_saved_as_a_clip(open_figure):
    figure = open_figure("/results/llm/", "grpo-llm-film")
    with figure.page.expect_download() as saving:
        figure.press("Save clip")
    video = saving.value.path().read_bytes()
    is_mp4 = figure.page.evaluate("MediaRecorder.isTypeSupported('video/mp4')")
    assert saving.value.suggested_filename == f"llm-film.{'mp4' if is_mp4 else 'webm'}"
    assert (video[4:8] == b"ftyp") if is_mp4 else video.startswith(b"\x1aE\xdf\xa3")
    assert len(video) > 10_000, "with pictures in it"
