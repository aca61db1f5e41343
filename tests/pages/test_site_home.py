"""The home page in a real browser: its film, and the figure of one group: numbers, controls, address, keyboard."""

import re
import statistics

import pytest

from grader.workshop import recordings

WIDGET = "grpo-group-advantages"
FILM = "grpo-hero"
QUESTION, SCREENS = "2 + 2 \u00d7 6", {"desktop": (1280, 720), "phone": (390, 844)}
DEFAULT = [1, 1, 0, 0, 0, 0.5]


FIRST_BEATS = ["Ask", "Answer", "Score", "Compare", "Learn"]
DRAWN = [24, 14, 12, 14, 14, 24, 24, 13]


def numbers(text):
    """The numbers of a text as people read it, with a real minus sign."""
    return [float(number) for number in re.findall(r"-?\d+\.\d+", text.replace("\u2212", "-"))]


def shown(page, column):
    """A column of the widget's table."""
    cells = page.locator(f"{WIDGET} tbody tr").all()
    return [numbers(row.locator("td").nth(column).text_content())[0] for row in cells]


def rewards(page):
    return shown(page, 0)


def advantages(page):
    return shown(page, 2)


def bars(page):
    """The numbers at the bars of the chart."""
    return [numbers(text)[0] for text in page.locator(f"{WIDGET} svg.grpo-chart text.name").all_text_contents()]


def status(page):
    return page.locator(f"{WIDGET} .grpo-status").inner_text()


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
    assert page.locator(f"{WIDGET} svg.grpo-chart").get_attribute("aria-hidden") == "true"


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
    assert page.locator(f"{WIDGET} tbody tr").nth(1).locator("td").last.text_content() == "\u2013"
    assert status(page) == "1 of 3 samples become more likely, 1 less likely."


def test_a_group_of_one_says_what_dividing_by_g_minus_1_would_give(tab):
    page = tab.show("/?group.r=1&group.std=sample")
    assert "0 / 0" in page.locator(f"{WIDGET} .grpo-readout").inner_text()
    assert "not a number" in status(page)
    assert page.locator(f"{WIDGET} tbody td").nth(2).text_content() == "0 / 0"
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


def see_the_widget(page):
    """It comes when it is seen; while the theme puts a page in, it may be there twice, one after the other."""
    page.wait_for_function(
        """name => {
          const widget = document.querySelector(name);
          widget?.scrollIntoView({ behavior: "instant", block: "center" });
          return widget?.matches("[data-ready]") && widget.querySelector(".grpo-chart");
        }""",
        arg=WIDGET,
    )


def test_it_works_after_instant_navigation_and_going_back(tab):
    page = tab.load("/start/")
    page.wait_for_load_state("networkidle")  # the theme takes links over when it has read the sitemap
    page.evaluate("window.stayed = true")
    page.get_by_role("link", name="Home", exact=True).first.click()
    see_the_widget(page)
    press(page, "One correct")
    page.get_by_role("link", name="Getting started", exact=True).first.click()
    page.wait_for_url("**/start/**")
    page.go_back()
    see_the_widget(page)
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


def film_advantages(page):
    """The numbers at the marks that the film shows."""
    labels = page.locator(f"{FILM} g g text:last-child").all()
    return [numbers(label.text_content())[0] for label in labels if float(label.get_attribute("opacity")) == 1]


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_screen_has_the_film_and_both_ways_on(open_page, screen):
    width, height = SCREENS[screen]
    page = open_page("/", width=width, height=height, reduced_motion="reduce")
    for part in (f"{FILM} path.bar.up", f"{FILM} .grpo-round", f"{FILM} .grpo-said", ".grpo-actions a >> nth=1"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= height, part
    links = page.locator(".grpo-actions a").evaluate_all("links => links.map(link => new URL(link.href).pathname)")
    assert [link.rsplit("/", 2)[1] for link in links] == ["simulation", "why"]
    assert all(link.bounding_box()["height"] >= 44 for link in page.locator(".grpo-actions a").all())


def test_without_motion_the_film_is_a_still_that_can_be_stepped(tab):
    page = tab.load("/", motion=False, scrolling=False)
    rewards = [float(answer == 2 + 2 * 6) for answer in DRAWN]
    advantages = expected(rewards, divisor="population")
    assert film_advantages(page) == pytest.approx(advantages, abs=0.0055)
    film = page.locator(FILM)
    label = film.locator("svg").first.get_attribute("aria-label")
    assert label.startswith(f"Eight answers to {QUESTION}: 24, wrong; 14, right; 12, wrong; 14, right;")
    said = film.locator("[role=status]")
    mean_up_down = [statistics.fmean(rewards), max(advantages), min(advantages)]
    assert numbers(said.inner_text()) == pytest.approx(mean_up_down, abs=0.0055)
    before = film.locator("svg").first.inner_html()
    page.wait_for_timeout(200)
    assert film.locator("svg").first.inner_html() == before, "nothing moves by itself"
    assert film.locator(".grpo-beat").all_inner_texts() == FIRST_BEATS
    told = []
    for beat in FIRST_BEATS:
        film.get_by_role("button", name=beat, exact=True).press("Enter")
        assert film.locator("[aria-current=step]").inner_text() == beat
        told.append(said.inner_text())
    assert len(set(told)) == len(FIRST_BEATS)
    assert "from 25\u00a0% to 38\u00a0%" in told[-1]
    for _ in range(5 * len(FIRST_BEATS)):  # through the other five rounds
        film.get_by_role("button", name="Next step of the film").press("Enter")
    assert said.inner_text().startswith("Six rounds took 14 from 25\u00a0% to 85\u00a0%.")
    shares = film.locator("rect.pale + rect.bar + text").all_text_contents()
    assert [shares[0], shares[1], shares[-1]] == ["25\u00a0%", "38\u00a0%", "85\u00a0%"] and len(shares) == 6
    film.get_by_role("button", name="Next step of the film").press("Enter")
    assert film.locator("svg text.soft").all_text_contents()[:1] == ["round 1 of 6"], "and from the start"


def test_the_film_plays_once_and_can_be_paused(tab):
    page = tab.load("/", scrolling=False)
    film = page.locator(FILM)
    film.get_by_role("button", name="Pause the film").click()
    shown = film.locator("svg").first.inner_html()
    page.wait_for_timeout(200)
    assert film.locator("svg").first.inner_html() == shown
    page.evaluate("node => { node.time = node.end - 0.3; node.run(true) }", film.element_handle())
    film.get_by_role("button", name="Play the film").wait_for()
    assert film.locator("svg text.soft").first.text_content() == "round 6 of 6"
    film.get_by_role("button", name="Play the film").click()
    page.wait_for_function("() => document.querySelector('grpo-hero svg text.soft').textContent === 'round 1 of 6'")


def test_without_scripts_the_film_is_a_table_with_its_numbers(tab, read_without_scripts):
    page = read_without_scripts("/")
    film = page.locator(FILM)
    assert film.is_visible()
    drawn, _, advantages = [row.split("\t")[1:] for row in film.locator("tr").all_inner_texts()]
    assert [*map(int, drawn)] == DRAWN
    assert numbers(" ".join(advantages)) == film_advantages(tab.load("/", motion=False, scrolling=False))


def test_the_home_page_shows_what_a_recorded_run_answered(read_without_scripts):
    run = recordings.llm_run()
    page = read_without_scripts("/")
    rows = page.locator(".grpo-before-after tbody tr").all()
    shown = [[cell.inner_text().strip() for cell in row.locator("td").all()] for row in rows]
    expected = []
    for i, prompt in enumerate(run["prompts"]):
        ends = [(point["texts"][i], point["rewards"][i]) for point in (run["points"][0], run["points"][-1])]
        lines = [(f"{prompt.splitlines()[-1]} {text.splitlines()[0].strip()}", f"{reward:g}") for text, reward in ends]
        expected.append([cell for line in lines for cell in line])
    assert shown == expected
