"""The HTML report: it says what the terminal says, draws the recorded numbers, loads nothing and cannot be deceived."""

import copy
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import grading_profile
from hypothesis import given, settings
from hypothesis import strategies as st
from site_fixtures import cannot

from grader import course, curves
from grader.catalogue import misconceptions
from grader.exporters import export
from grader.exporters.svg_chart import Bar, Series, bar_chart, column_chart, line_chart
from grader.result import CheckResult, ExerciseResult, Result
from grader.run import declared_checks, empty_result, grade
from grader.submission import read_submission

NODE_MODULES = course.ROOT / "tests" / "browser" / "node_modules"
BANDIT, PIZZA = "bandit.it_finds_the_peak", "charlm.it_learns_to_like_pizza"
HOSTILE = (
    "</dd></style></title><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    "<a href='javascript:alert(4)'>x</a> \u202egnp.exe\u202c\x1b[31m\x00\ud800 [x](http://127.0.0.1:9/) @import url(x) "
    "`<b>code</b>` &lt; ]]> --> \" ' " + "unbroken" * 60
)
OUTCOMES = {
    "passed": "✓ passed",
    "failed": "✗ failed",
    "broken": "✗ broken",
    "not written": "○ not written yet",
    "waiting": "… waiting",
    "not run": "- not run",
    "grader error": "! grader error",
}


class Page(HTMLParser):
    """Tags with their attributes, and the text without the style sheet."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._in_style = False
        self.feed(html)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in_style = tag == "style"
        self.text += " " if tag in ("p", "li", "dt", "dd", "td", "th", "h1", "h2", "h3") else ""

    def handle_endtag(self, tag):
        self._in_style = False

    def handle_data(self, data):
        self.text += "" if self._in_style else data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(result):
    return Page(export(result, "html", {}))


def small_result(**changes):
    """One exercise with one failed check."""
    check = CheckResult("clip.a_check", "ratio", "A ratio of 1", "Because.", 2, False, False, "failed", "it is 2")
    exercise = ExerciseResult("clip", "Clipping", "docs/exercises/clip.md", [check])
    return Result(**{
        "submission": "ada", "sha256": "a" * 64, "seed": 0, "device": "cpu", "exercises": [exercise],
        "course_version": "0.1.0", "isolation_level": 1, "walls": ["rlimits"], "complete": True, **changes,
    })  # fmt: skip


def hostile_result():
    """Every text that a submission has a hand in is hostile, in every outcome."""
    result = small_result(submission=HOSTILE, problem=HOSTILE)
    frame = {"file": HOSTILE, "line": 3, "function": HOSTILE, "source": HOSTILE}
    for outcome in OUTCOMES:
        check = CheckResult(f"clip.{outcome.replace(' ', '_')}", "ratio", HOSTILE, HOSTILE, 1, False, False, outcome)
        check.story, check.call, check.printed, check.frames = HOSTILE, HOSTILE, HOSTILE, [frame]
        check.rows, check.waits_for, check.may_come_from = [(HOSTILE, HOSTILE)], [HOSTILE], [HOSTILE]
        check.curves = [{"title": HOSTILE, "x": HOSTILE, "y": HOSTILE, "first": 0, "every": 1, "values": [1.0, None]}]
        result.exercises[0].checks.append(check)
        found = {"check": check.id, "everywhere": True, "page": f"javascript:alert(5)//{HOSTILE}", "function": "ratio"}
        found |= {"name": outcome, "sentence": HOSTILE, "explanation": HOSTILE}
        result.exercises[0].misconceptions.append(found)
    return result


@pytest.fixture(scope="module")
def not_learning(sandbox):
    """The two checks with training runs; the bandit of this submission does not learn, its language model does."""
    wrong = next(entry for entry in misconceptions("bandit") if entry.name == "takes_the_most_probable_action")
    declared = declared_checks(["bandit", "charlm"], hidden=False)
    checks = {name: declared[name] for name in (BANDIT, PIZZA)}
    with grading_profile():
        result = grade(wrong.submission, ["bandit", "charlm"], sandbox.worker, hidden=False, checks=checks, gates=False)
    result.isolation_level = sandbox.level
    return result


# What it says


@settings(max_examples=15)
@given(data=st.data())
def test_every_declared_check_is_told_once_with_sign_word_points_and_sentence(data):
    names = [exercise.name for exercise in course.EXERCISES]
    result = empty_result(
        read_submission(course.STARTER), names, declared_checks(names, hidden=True), seed=0, device="cpu"
    )
    for check in result.checks:
        check.outcome = data.draw(st.sampled_from([*OUTCOMES]))
        check.story = "a story" if check.outcome in ("failed", "broken", "grader error") else ""
    text = page_of(result).text
    assert f"{result.earned} of {result.points} points" in text
    for exercise in result.exercises:
        assert f"{exercise.earned} of {exercise.points} points for {exercise.name}.py" in text
    for check in result.checks:
        line = f"{OUTCOMES[check.outcome]} {check.earned} of {check.points} {check.title.replace('`', '')}"
        assert text.count(" ".join(line.split())) == 1, line


def test_a_failure_is_told_in_full_with_its_mistake_named_once():
    result = small_result()
    (exercise,) = result.exercises
    (first,) = exercise.checks
    first.call, first.rows, first.printed = "ratio(1)", [("yours", "2.0"), ("expected", "1.0")], "here I am"
    first.frames = [{"file": "ada/clip.py", "line": 7, "function": "ratio", "source": "return 2"}]
    first.may_come_from = ["another check"]
    second = copy.deepcopy(first)
    second.id, second.title = "clip.another_check", "A ratio of 3"
    exercise.checks.append(second)
    found = {"everywhere": True, "page": "docs/mistakes/clip.md#ratio-twice", "function": "ratio", "name": "twice"}
    found |= {"sentence": "you double it", "explanation": "Then `clip` binds."}
    exercise.misconceptions = [{**found, "check": check.id} for check in (first, second)]
    text = page_of(result).text
    told = (
        "where ada/clip.py, line 7, in ratio return 2 call ratio(1) yours 2.0 expected 1.0 printed here I am it is 2 "
    )
    assert text.count(told) == 2
    named = "Your numbers are what you get if you double it. Then clip binds. More: docs/mistakes/clip.md#ratio-twice"
    assert text.count(named) == 1 and text.count("The same mistake as above.") == 1
    assert text.count("This may come from: another check") == 2
    assert "To read: docs/exercises/clip.md" in text


def test_what_waits_says_for_what_once_and_what_is_not_written_says_where():
    result = small_result()
    (exercise,) = result.exercises
    waiting = CheckResult("clip.b", "ratio", "B", "", 1, False, False, "waiting", waits_for=["A ratio of 1"])
    frame = {"file": "clip.py", "line": 44, "function": "f", "source": "raise NotImplementedError"}
    open_ = CheckResult("clip.c", "loss", "C", "", 1, False, True, "not written", frames=[frame])
    exercise.checks += [waiting, copy.deepcopy(waiting), open_, copy.deepcopy(open_)]
    text = page_of(result).text
    assert text.count("It waits for: A ratio of 1") == 1
    assert text.count("The raise is in line 44 of clip.py.") == 1


def test_one_problem_of_the_file_is_told_once():
    result = small_result()
    (exercise,) = result.exercises
    broken = CheckResult("clip.b", "ratio", "B", "", 1, False, True, "broken", "SyntaxError: no")
    exercise.checks = [broken, copy.deepcopy(broken)]
    text = page_of(result).text
    assert "✗ broken clip.py cannot be imported" in text and text.count("SyntaxError: no") == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"problem": "the disk is full", "complete": False}, "The grader could not finish: the disk is full"),
        ({"complete": False}, "Not complete: the grading was stopped"),
        ({"grade": False, "isolation_level": -1, "walls": []}, "Debug mode: this is no grade."),
        ({"isolation_level": 0, "walls": []}, "A self-check: a mark counts at isolation level 1 or above only."),
    ],
)
def test_what_must_be_known_stands_before_the_total(changes, said):
    text = page_of(small_result(**changes)).text
    assert 0 < text.index(said) < text.index("0 of 2 points")
    assert said not in page_of(small_result()).text


def test_seed_level_and_version_are_on_the_page():
    text = page_of(small_result(seed=42)).text
    assert "Seed of the generated inputs 42" in text and "Isolation level 1 (rlimits)" in text
    assert "Course version 0.1.0" in text and "Submission ada" in text
    assert "All checks passed" not in text


# Learning curves


def charts_of(html):
    """Of every chart its title, and of every series the points, read from the drawing with the numbers of its axes."""
    found = []
    for svg in re.findall(r'<svg class="chart".*?</svg>', html, re.DOTALL):
        scales = []
        for kind, axis in (("x-tick", "x"), ("y-tick", "y")):
            ticks = re.findall(rf'<text class="{kind}" [^>]*?\b{axis}="([\d.]+)"[^>]*>([^<]+)</text>', svg)
            (low, low_value), *_, (high, high_value) = [(float(place), float(value)) for place, value in ticks]
            scales.append((low, low_value, (high_value - low_value) / (high - low)))
        (x, x_value, x_scale), (y, y_value, y_scale) = scales
        y -= 4  # a number stands four units lower than its line
        series = []
        for path in re.findall(r'<path class="series-\d" d="([^"]+)"/>', svg):
            points = [(float(a), float(b)) for a, b in re.findall(r"([\d.]+),([\d.]+)", path)]
            series.append([(x_value + (a - x) * x_scale, y_value + (b - y) * y_scale) for a, b in points])
        found.append((re.search(r"<title[^>]*>([^<]*)", svg).group(1), series))
    return found


def test_the_charts_draw_the_recorded_numbers_of_both_runs(not_learning):
    charts = charts_of(export(not_learning, "html", {}))
    drawn = [(check.id, curve) for check in not_learning.checks for curve in check.curves]
    assert [title for title, _ in charts] == [curve["title"] for _, curve in drawn] and len(charts) == 4
    for (_, series), (check_id, curve) in zip(charts, drawn, strict=True):
        model = next(each for each in curves.of_model_answers()[check_id] if each["title"] == curve["title"])
        for points, recorded in zip(series, (curve, model), strict=True):
            known = list(zip(curves.steps(recorded), recorded["values"], strict=True))
            height = max(max(curve["values"]), max(model["values"]))
            for (x, y), (step, value) in zip(
                points[1:], known, strict=True
            ):  # a path begins with its first point twice
                assert abs(x - step) < 0.01 and abs(y - value) < 2e-4 * height


def test_a_run_that_does_not_learn_is_flat_beside_the_rising_one_of_the_model_answer(not_learning):
    html = export(not_learning, "html", {})
    title, (yours, model) = charts_of(html)[0]
    assert title == "Probability of the best action"
    assert len({round(y, 6) for _, y in yours}) == 1
    assert model[-1][1] > model[0][1] + 0.8
    assert "Yours: 0.1 at step 0, 0.1 at step 50. Model answer: 0.1 at step 0, 0.9868 at step 50." in Page(html).text


def test_the_numbers_of_a_chart_stand_in_a_table(not_learning):
    text = page_of(not_learning).text
    model = curves.of_model_answers()[BANDIT][0]["values"]
    assert f"step yours model answer 0 0.1 {model[0]:.4g} 1 0.1 {model[1]:.4g} 2 0.1 {model[2]:.4g}" in text


def test_a_gap_is_drawn_as_a_gap_and_said():
    result = small_result()
    check = result.checks[0]
    check.curves = [curves.curve("Reward", [1.0, 2.0, float("nan"), 4.0, None, 6.0, 7.0], y="reward")]
    html = export(result, "html", {})
    (path,) = re.findall(r'<path class="series-1" d="([^"]+)"/>', html)
    assert path.count("M") == 3
    assert "Yours: 1 at step 0, 7 at step 6. 2 values are no finite numbers." in Page(html).text


def test_without_a_run_the_page_says_why():
    result = small_result()
    (exercise,) = result.exercises
    exercise.checks[0].id = BANDIT
    assert "There is no run to draw: the check ended before" in page_of(result).text
    exercise.checks[0].outcome = "waiting"
    assert "There is no run to draw yet: this check has not run." in page_of(result).text
    exercise.checks[0].id = "clip.a_check"
    assert "Learning curves" not in page_of(result).text


def test_another_seed_than_that_of_the_recording_is_said(not_learning):
    other = copy.deepcopy(not_learning)
    other.seed = 7
    assert "with the draws of seed 0, not those of this grading" in page_of(other).text
    assert "with the draws of seed 0" not in page_of(not_learning).text


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.none(), min_size=1, max_size=9))
def test_any_values_can_be_drawn_inside_the_chart(values):
    svg = line_chart([Series("a", range(len(values)), values)], name="n", title="t", x_label="x", y_label="y")
    assert not re.search(r"\b(nan|inf)\b", svg)
    for x, y in re.findall(r"[ML]([-\d.]+),([-\d.]+)", svg):
        assert 0 <= float(x) <= 420 and 0 <= float(y) <= 260


def test_bars_are_as_long_as_their_values():
    lying = bar_chart([Bar("a", 3), Bar("b", 12, "12 of 60")], name="n", title="t", maximum=60)
    rails, bars = (
        [float(width) for width in re.findall(rf'class="{kind}" x="0" y="\d+" width="([\d.]+)"', lying)]
        for kind in ("rail", "bar")
    )
    assert [bar / rail for bar, rail in zip(bars, rails, strict=True)] == pytest.approx([0.05, 0.2], abs=1e-3)
    assert "12 of 60" in lying
    upright = column_chart([Bar("a", 1), Bar("b", 4)], name="n", title="t", x_label="x", y_label="y")
    low, high = (float(height) for height in re.findall(r'class="bar".* height="([\d.]+)"', upright))
    assert high / low == pytest.approx(4, rel=1e-2)


def test_a_chart_that_cannot_be_read_is_refused():
    one = Series("a", [1], [1.0])
    for series in ([], [one] * 5, [Series("a", [1, 2], [1.0])], [Series("a", [], [])]):
        with pytest.raises(ValueError):
            line_chart(series, name="n", title="t", x_label="x", y_label="y")


# As a file


def test_hostile_text_is_text():
    html = export(hostile_result(), "html", {})
    page = Page(html)
    for tag in ("script", "img", "b", "iframe", "object", "form", "link"):
        assert not page.named(tag), tag
    assert not any(name.startswith("on") or name in ("src", "style") for _, found in page.tags for name in found)
    assert all((link["href"] or "").startswith("#") for link in page.named("a"))
    assert "[U+202E]gnp.exe[U+202C]" in page.text and "[U+001B][31m[U+0000][U+D800]" in page.text
    assert not re.search(r"[\u202a-\u202e\x00-\x08\x0e-\x1f\ud800-\udfff]", html)
    html.encode("utf-8")
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))


def test_a_link_leads_to_the_site_of_the_course_where_there_is_one(tmp_path, monkeypatch):
    address = tmp_path / "site_address.txt"
    address.write_text("https://example.org/grpo/\n", "utf-8")
    monkeypatch.setattr(course, "SITE_ADDRESS", address)
    links = [link["href"] for link in page_of(small_result()).named("a")]
    assert "https://example.org/grpo/exercises/clip/" in links


def test_html_is_valid(tmp_path: Path, not_learning):
    program = NODE_MODULES / "html-validate" / "bin" / "html-validate.mjs"
    if not program.is_file():
        cannot("html-validate is missing: npm ci --prefix tests/browser")
    for name, result in {"hostile": hostile_result(), "learning": not_learning, "small": small_result()}.items():
        (tmp_path / f"{name}.html").write_text(export(result, "html", {}), "utf-8")
    (tmp_path / "wrong.html").write_text("<!DOCTYPE html><html lang=en><p id=a id=a><li></html>", "utf-8")
    settings = course.ROOT / "tests" / "browser" / "htmlvalidate.json"
    command = ["node", program, "--formatter", "json", "--config", settings, "--ext", "html", tmp_path]
    with (tmp_path / "report.json").open("w") as output:
        subprocess.run(command, stdout=output, check=False)
    reports = json.loads((tmp_path / "report.json").read_text("utf-8"))
    found = {Path(report["filePath"]).name: report["messages"] for report in reports}
    assert found.pop("wrong.html"), "html-validate has looked at nothing"
    assert found == {}


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280), ("dark", 360)])
@pytest.mark.parametrize("which", ["hostile", "learning"])
def test_in_a_browser_it_is_accessible_fits_and_loads_nothing(tmp_path, browser, not_learning, which, scheme, width):
    axe = NODE_MODULES / "axe-core" / "axe.min.js"
    if not axe.is_file():
        cannot("axe-core is missing: npm ci --prefix tests/browser")
    result = hostile_result() if which == "hostile" else not_learning
    file = tmp_path / "report.html"
    file.write_text(export(result, "html", {}), "utf-8")
    problems, requests = [], []
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        tab = context.new_page()
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("dialog", lambda dialog: problems.append(dialog.message))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(file.as_uri())
        tab.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true; })")
        tab.evaluate(axe.read_text("utf-8"))
        found = tab.evaluate("() => axe.run({ preload: false })")
        overflow = tab.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        width_of_main = tab.evaluate("() => getComputedStyle(document.querySelector('main')).maxWidth")
    assert found["passes"] and [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    assert problems == [] and requests == [file.as_uri()] and overflow <= 0
    assert width_of_main == "1024px", "the policy must let the page's own style through"


def test_on_paper_the_series_differ_without_colour(tmp_path, browser, not_learning):
    file = tmp_path / "report.html"
    file.write_text(export(not_learning, "html", {}), "utf-8")
    with browser.new_context(color_scheme="dark") as context:
        tab = context.new_page()
        tab.emulate_media(media="print")
        tab.goto(file.as_uri())
        looks = tab.evaluate(
            """() => [1, 2].map(number => {
              const look = getComputedStyle(document.querySelector(`.chart path.series-${number}`));
              return [look.stroke, look.strokeDasharray];
            })"""
        )
        paper = tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert [stroke for stroke, _ in looks] == ["rgb(0, 0, 0)"] * 2 and paper == "rgb(255, 255, 255)"
    assert looks[0][1] != looks[1][1]
