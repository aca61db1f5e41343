"""The home page in a real browser: the widget of one group, its numbers, its controls, its address, its keyboard."""

import re
import statistics

import pytest

WIDGET = "grpo-group-advantages"
DEFAULT = [1, 1, 0, 0, 0, 0.5]


def numbers(text):
    """The numbers of a text as people read it, with a real minus sign."""
    return [float(number) for number in re.findall(r"-?\d+\.\d+", text.replace("\u2212", "-"))]


def shown(page, column):
    """A column of the widget's table."""
    cells = page.locator(f"{WIDGET} tbody tr").all()
    return [numbers(row.locator("td").nth(column).inner_text())[0] for row in cells]


def rewards(page):
    return shown(page, 0)


def advantages(page):
    return shown(page, 2)


def bars(page):
    """The numbers at the bars of the chart."""
    return [numbers(text)[0] for text in page.locator(f"{WIDGET} svg text.name").all_text_contents()]


def status(page):
    return page.locator(f"{WIDGET} [role=status]").inner_text()


def expected(group, *, divisor=None):
    """The advantages of a group, by the standard library."""
    mean = statistics.fmean(group)
    spread = {"population": statistics.pstdev, "sample": statistics.stdev}.get(divisor, lambda _: 1)(group)
    return [round((reward - mean) / spread, 3) for reward in group]


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def test_the_first_group_has_the_numbers_of_the_course(tab):
    page = tab.show("/")
    assert rewards(page) == DEFAULT
    assert advantages(page) == [1.300, 1.300, -0.928, -0.928, -0.928, 0.186]
    assert advantages(page) == expected(DEFAULT, divisor="population")
    assert numbers(page.locator(f"{WIDGET} .grpo-readout").inner_text()) == [0.4167, 0.4488, 0]
    assert status(page) == "3 of 6 samples become more likely, 3 less likely."
    assert page.locator(f"{WIDGET} .grpo-source").inner_text() == "Computed here, in your browser."


def test_the_chart_shows_the_numbers_of_the_table(tab):
    page = tab.show("/")
    press(page, "One correct")
    assert bars(page) == pytest.approx(advantages(page), abs=0.0051)
    zero = page.locator(f"{WIDGET} line.axis").get_attribute("y1")
    marks = page.locator(f"{WIDGET} path.bar")
    boxes = marks.evaluate_all("marks => marks.map(mark => mark.getBBox()).map(({ y, height }) => [y, y + height])")
    (_, foot), *hanging = boxes
    assert foot == pytest.approx(float(zero), abs=0.11), "what is pushed up stands on the line"
    assert [top for top, _ in hanging] == pytest.approx(5 * [float(zero)], abs=0.11), "the others hang from it"
    assert marks.evaluate_all("marks => marks.map(mark => mark.getAttribute('class'))") == ["bar up", *5 * ["bar down"]]
    assert page.locator(f"{WIDGET} svg").get_attribute("aria-hidden") == "true"


def test_a_preset_sets_the_group_the_sliders_and_the_sentence(tab):
    page = tab.show("/?group.r=0.2,0.4")
    assert advantages(page) == [-1, 1]
    for name, group, scores, says in (
        ("One correct", [1, 0, 0, 0, 0, 0], [2.236, *5 * [-0.447]], "1 of 6 samples become more likely, 5 less"),
        ("All correct", 6 * [1], 6 * [0], "Zero signal"),
        ("A group of one", [1], [0], "A group of one has nothing to compare"),
        ("All wrong", 6 * [0], 6 * [0], "Zero signal"),
        ("Mixed", DEFAULT, [1.300, 1.300, -0.928, -0.928, -0.928, 0.186], "3 of 6 samples become more likely"),
    ):
        press(page, name)
        assert (rewards(page), advantages(page)) == (group, scores)
        sliders = page.locator(f"{WIDGET} input[type=range]:visible").all()
        assert [float(slider.get_attribute("aria-valuetext")) for slider in sliders] == group
        assert says in status(page)


def test_the_two_switches_change_the_scale(tab):
    page = tab.show("/")
    divide, sample = page.get_by_label("Divide by the standard deviation"), page.get_by_label("Divide by G \u2212 1")
    sample.check()
    assert advantages(page) == expected(DEFAULT, divisor="sample")
    assert numbers(page.locator(f"{WIDGET} .grpo-readout").inner_text()) == [0.4167, 0.4916, 0]
    divide.uncheck()
    assert advantages(page) == expected(DEFAULT)
    assert page.url.endswith("/?group.std=sample&group.divide=no")
    sample.uncheck()
    divide.check()
    assert advantages(page) == expected(DEFAULT, divisor="population")
    assert page.url.endswith("/")


def test_a_rounding_error_pushes_no_sample(tab):
    page = tab.show("/?group.r=0.1,0.2,0.3")  # the mean is 0.20000000000000004 in floats
    assert advantages(page) == [-1.225, 0, 1.225]
    assert page.locator(f"{WIDGET} tbody tr").nth(1).locator("td").last.inner_text() == "\u2013"
    assert status(page) == "1 of 3 samples become more likely, 1 less likely."


def test_a_group_of_one_says_what_dividing_by_g_minus_1_would_give(tab):
    page = tab.show("/?group.r=1&group.std=sample")
    assert "0 / 0" in page.locator(f"{WIDGET} .grpo-readout").inner_text()
    assert "not a number" in status(page)
    assert page.locator(f"{WIDGET} tbody td").nth(2).inner_text() == "0 / 0"
    page.get_by_label("Divide by G \u2212 1").uncheck()
    assert advantages(page) == [0]


def test_a_slider_works_by_keyboard_and_speaks_only_when_it_rests(tab):
    page = tab.show("/")
    said = "3 of 6 samples become more likely, 3 less likely."
    slider = page.get_by_label("Sample 6")
    slider.focus()
    page.evaluate("""() => {
      const slider = document.querySelectorAll("grpo-group-advantages input[type=range]")[5];
      slider.value = 1;
      slider.dispatchEvent(new Event("input"));
    }""")
    assert advantages(page) == expected([1, 1, 0, 0, 0, 0.05], divisor="population"), (
        "the table follows the slider at once"
    )
    assert status(page) == said, "a drag does not write a sentence for each pixel"
    assert page.url.endswith("/")
    slider.press("Home")
    assert advantages(page) == expected([1, 1, 0, 0, 0, 0], divisor="population")
    assert status(page) == "2 of 6 samples become more likely, 4 less likely."
    slider.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "0.05"
    slider.press("End")
    assert rewards(page) == [1, 1, 0, 0, 0, 1]
    assert page.url.endswith("/?group.r=1%2C1%2C0%2C0%2C0%2C1")


def test_the_address_brings_a_group_back(tab):
    page = tab.show("/")
    press(page, "One correct")
    page.get_by_label("Divide by the standard deviation").uncheck()
    before = (rewards(page), advantages(page))
    again = tab.load("/" + page.url.rsplit("/", 1)[1], unchanged=True)
    assert (rewards(again), advantages(again)) == before
    assert not again.get_by_label("Divide by the standard deviation").is_checked()


def test_nonsense_in_the_address_is_left_alone(tab):
    for nonsense in ("", "a,b", "1,,0", "2,0", "-1", "1,1,1,1,1,1,1", "NaN", "1e999"):
        page = tab.show(f"/?group.r={nonsense}&group.std=x&group.divide=x")
        assert advantages(page) == [1.300, 1.300, -0.928, -0.928, -0.928, 0.186], nonsense


def test_reset_brings_everything_back(tab):
    page = tab.show("/?group.r=1&group.std=sample&group.divide=no")
    assert rewards(page) == [1]
    press(page, "Reset")
    assert (rewards(page), advantages(page)) == (DEFAULT, expected(DEFAULT, divisor="population"))
    assert page.get_by_label("Divide by the standard deviation").is_checked()
    assert not page.get_by_label("Divide by G \u2212 1").is_checked()
    assert page.url.endswith("/")


def test_it_works_after_instant_navigation_and_going_back(tab):
    page = tab.load("/start/")
    page.wait_for_load_state("networkidle")  # the theme takes links over when it has read the sitemap
    page.evaluate("window.stayed = true")
    page.get_by_role("link", name="Home", exact=True).first.click()
    page.wait_for_selector(f"{WIDGET}[data-ready] tbody tr")
    press(page, "One correct")
    page.get_by_role("link", name="Getting started", exact=True).first.click()
    page.wait_for_url("**/start/")
    page.go_back()
    page.wait_for_selector(f"{WIDGET}[data-ready] tbody tr")
    assert rewards(page) == [1, 0, 0, 0, 0, 0]
    assert page.locator(WIDGET).count() == 1
    assert page.evaluate("window.stayed"), "the page was loaded anew: instant navigation is off"


def test_without_scripts_the_page_shows_the_numbers_as_text(read_without_scripts):
    page = read_without_scripts("/")
    widget = page.locator(WIDGET)
    assert widget.is_visible()
    table = [numbers(row)[-1] for row in widget.locator("tbody tr").all_inner_texts()]
    assert table == expected(DEFAULT, divisor="population")
    assert "2.236" in widget.inner_text() and round(5**0.5, 3) == 2.236


def test_no_numbers_are_lost_on_a_phone(tab):
    page = tab.show("/", width=360)
    widget = page.locator(WIDGET)
    for target in widget.locator("button:visible, input[type=range]:visible, label.grpo-option:visible").all():
        assert target.bounding_box()["height"] >= 24
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert advantages(page) == [1.300, 1.300, -0.928, -0.928, -0.928, 0.186]


def test_nothing_below_the_widget_jumps_when_it_is_ready(tab):
    for width in (360, 1280):
        page = tab.show("/", width=width)
        ready = page.locator(WIDGET).bounding_box()["height"]
        page.evaluate("document.querySelector('grpo-group-advantages').replaceChildren()")
        assert page.locator(WIDGET).bounding_box()["height"] == pytest.approx(ready, abs=16)


def test_every_word_that_the_simulation_explains_is_in_the_glossary(tab):
    page = tab.show("/simulation/")
    words = [link.get_attribute("href") for link in page.locator("a[data-preview]").all()]
    assert len(words) >= 5
    page = tab.show("/reference/glossary/")
    for word in words:
        assert page.locator(f"h3#{word.split('#')[1]} + p").count() == 1, word
