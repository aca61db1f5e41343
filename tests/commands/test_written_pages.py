"""HTML pages that commands write, before an HTML checker and in a browser: reports, class reports, worksheets."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from html_reports import BANDIT, Page, charts_of, hostile_result, page_of, small_result
from reported_class import CHECKS, class_of, entry, secret_class
from site_fixtures import cannot

from grader.classroom.page import class_page
from grader.classroom.report import class_report, named
from grader.classroom.results import Person
from grader.core import course
from grader.core.note import Note
from grader.core.result import FAILED, NOT_WRITTEN, PASSED, Result
from grader.grading import curves
from grader.reports import export

MODULES = course.ROOT / "tests" / "browser" / "node_modules"
BAD = "<script>alert(1)</script><img src=x onerror=alert(2)></table>\u202eabc\x1b[31m unbroken" + "x" * 300


# The charts of a report


@pytest.fixture(scope="module")
def not_learning() -> Result:
    """The check that trains the bandit, of a submission whose policy never changes."""
    result = small_result()
    (check,) = result.checks
    check.id = BANDIT
    for curve in curves.of_model_answers()[BANDIT]:
        first = next(value for value in curve.values if value is not None)
        check.curves.append(replace(curve, values=[value and first for value in curve.values]))
    return result


def test_the_charts_draw_the_recorded_numbers_of_both_runs(not_learning):
    html = export(not_learning, "html", {})
    (check,) = not_learning.checks
    charts = charts_of(html)
    assert [title for title, _ in charts] == [curve.title for curve in check.curves] and len(charts) == 2
    for (_, series), curve in zip(charts, check.curves, strict=True):
        model = next(each for each in curves.of_model_answers()[check.id] if each.title == curve.title)
        height = max(value for value in (*curve.values, *model.values) if value is not None)
        for points, recorded in zip(series, (curve, model), strict=True):
            known = zip(curves.steps(recorded), recorded.values, strict=True)
            for (x, y), (step, value) in zip(points[1:], known, strict=True):  # a path has its first point twice
                assert abs(x - step) < 0.01 and abs(y - value) < 2e-4 * height
    # A run that does not learn is flat; that of the model answer rises.
    title, (yours, theirs) = charts[0]
    assert title == "Probability of the best action"
    assert len({round(y, 6) for _, y in yours}) == 1
    assert theirs[-1][1] > theirs[0][1] + 0.8
    text = Page(html).text
    last = re.search(r"Yours: 0.1 at step 0, 0.1 at step 50. Model answer: 0.1 at step 0, (0.9\d+) at step 50.", text)
    assert last and float(last[1]) == pytest.approx(theirs[-1][1], abs=0.01)
    values = curves.of_model_answers()[BANDIT][0].values
    assert f"0 0.1 {values[0]:.4g} 1 0.1 {values[1]:.4g} 2 0.1 {values[2]:.4g}" in text, "the same as a table"


def test_another_seed_than_that_of_the_recording_is_said(not_learning):
    other = copy.deepcopy(not_learning)
    other.seed = 7
    assert "draws of seed 0" in page_of(other).text and "draws of seed 0" not in page_of(not_learning).text


# All pages


def class_pages() -> dict[str, str]:
    many = class_of(*[[PASSED, FAILED, *[NOT_WRITTEN] * 3], [PASSED] * CHECKS] * 15)
    classes = {"empty": [], "one": class_of([PASSED] * CHECKS), "waiting": [entry(0, None)], "many": many}
    pages = {name: class_page(class_report(each)) for name, each in classes.items()}
    entries = secret_class()
    entries[1] = entry(1, entries[0].result, key="0" * 64, people=(Person(name=BAD),), notes=(Note(BAD),))
    return pages | {"hostile class": class_page(class_report(entries), named=named(entries))}


@pytest.fixture(scope="module")
def pages(tmp_path_factory, not_learning) -> dict[str, Path]:
    """Each page by its name."""
    folder = tmp_path_factory.mktemp("pages")
    results = {"hostile": hostile_result(), "learning": not_learning, "small": small_result()}
    texts = {name: export(result, "html", {}) for name, result in results.items()} | class_pages()
    written = {name: folder / f"{name}.html" for name in texts}
    for name, text in texts.items():
        written[name].write_text(text, "utf-8")
    return written


def test_every_page_is_valid_html(tmp_path, pages):
    checker = MODULES / "html-validate" / "bin" / "html-validate.mjs"
    if shutil.which("node") is None or not checker.is_file():
        cannot("html-validate or Node.js is missing: npm ci --prefix tests/browser")
    settings = course.ROOT / "tests/browser/htmlvalidate.json"
    command = ["node", checker, "--formatter", "json", "--config", settings, *pages.values()]
    with (tmp_path / "report.json").open("w") as output:
        done = subprocess.run([*map(str, command)], stdout=output, stderr=subprocess.PIPE, check=False)
    reports = json.loads((tmp_path / "report.json").read_text("utf-8"))
    faults = {report["filePath"]: report["messages"] for report in reports if report["messages"]}
    assert (done.returncode, faults) == (0, {}), done.stderr


@pytest.mark.proof
@pytest.mark.parametrize(
    ("names", "scheme", "width"),
    [
        (("hostile", "hostile class", "empty"), "dark", 360),
        (("hostile", "learning", "many"), "light", 360),
        (("hostile", "learning", "many"), "dark", 1280),
    ],
)
def test_in_a_browser_pages_are_accessible_fit_and_load_nothing(browser, pages, names, scheme, width):
    axe = MODULES / "axe-core" / "axe.min.js"
    if not axe.is_file():
        cannot("axe-core is missing: npm ci --prefix tests/browser")
    problems: list[str] = []
    addresses = {path.as_uri() for path in pages.values()}
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        tab = context.new_page()
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("dialog", lambda dialog: problems.append(dialog.message))
        tab.on("request", lambda request: problems.append(request.url) if request.url not in addresses else None)
        for name in names:
            tab.goto(pages[name].as_uri())
            assert tab.locator("script, img").count() == 0
            tab.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true })")
            tab.evaluate(axe.read_text("utf-8"))
            found = tab.evaluate("() => axe.run({ preload: false })")
            assert found["passes"] and [rule["id"] for rule in found["violations"]] == [], name
            assert tab.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0, name
            style = tab.evaluate("() => getComputedStyle(document.querySelector('main')).maxWidth")
            assert style != "none", "the policy must let the page's own style through"
    assert problems == []


@pytest.mark.proof
def test_on_paper_the_series_of_a_chart_differ_without_colour(browser, pages):
    with browser.new_context(color_scheme="dark") as context:
        tab = context.new_page()
        tab.emulate_media(media="print")
        tab.goto(pages["learning"].as_uri())
        looks = tab.evaluate(
            """() => [1, 2].map(number => {
              const look = getComputedStyle(document.querySelector(`.chart path.series-${number}`));
              return [look.stroke, look.strokeDasharray];
            })"""
        )
        paper = tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert [stroke for stroke, _ in looks] == ["rgb(0, 0, 0)"] * 2 and paper == "rgb(255, 255, 255)"
    assert looks[0][1] != looks[1][1]
