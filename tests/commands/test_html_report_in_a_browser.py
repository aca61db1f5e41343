"""The HTML report of a real grading: charts show the recorded numbers; it is valid, accessible and loads nothing."""

import copy
import json
import re
import subprocess
from pathlib import Path

import pytest
from html_reports import BANDIT, Page, charts_of, hostile_result, page_of, small_result
from site_fixtures import cannot
from submissions import grading_profile

from grader.core import course
from grader.grading import curves
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.reports import export
from grader.workshop.catalogue import misconceptions

NODE_MODULES = course.ROOT / "tests" / "browser" / "node_modules"
PIZZA = "charlm.it_learns_to_like_pizza"


@pytest.fixture(scope="module")
def not_learning(sandbox):
    """The two checks with training runs; the bandit of this submission does not learn, its language model does."""
    wrong = next(entry for entry in misconceptions("bandit") if entry.name == "takes_the_most_probable_action")
    declared = declared_checks(["bandit", "charlm"], hidden=False)
    checks = {name: declared[name] for name in (BANDIT, PIZZA)}
    with grading_profile():
        result = Grading(
            wrong.submission, ["bandit", "charlm"], sandbox.worker, hidden=False, checks=checks, gates=False
        ).run()
    result.isolation_level = sandbox.level
    return result


def test_the_charts_draw_the_recorded_numbers_of_both_runs(not_learning):
    charts = charts_of(export(not_learning, "html", {}))
    drawn = [(check.id, curve) for check in not_learning.checks for curve in check.curves]
    assert [title for title, _ in charts] == [curve.title for _, curve in drawn] and len(charts) == 4
    for (_, series), (check_id, curve) in zip(charts, drawn, strict=True):
        model = next(each for each in curves.of_model_answers()[check_id] if each.title == curve.title)
        for points, recorded in zip(series, (curve, model), strict=True):
            known = list(zip(curves.steps(recorded), recorded.values, strict=True))
            height = max(value for value in (*curve.values, *model.values) if value is not None)
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
    said = r"Yours: 0.1 at step 0, 0.1 at step 50. Model answer: 0.1 at step 0, (0.9\d+) at step 50."
    found = re.search(said, Page(html).text)
    assert found and float(found[1]) == pytest.approx(model[-1][1], abs=0.01)


def test_the_numbers_of_a_chart_stand_in_a_table(not_learning):
    text = page_of(not_learning).text
    model = curves.of_model_answers()[BANDIT][0].values
    assert f"step yours model answer 0 0.1 {model[0]:.4g} 1 0.1 {model[1]:.4g} 2 0.1 {model[2]:.4g}" in text


def test_another_seed_than_that_of_the_recording_is_said(not_learning):
    other = copy.deepcopy(not_learning)
    other.seed = 7
    assert "with the draws of seed 0, not those of this grading" in page_of(other).text
    assert "with the draws of seed 0" not in page_of(not_learning).text


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
        subprocess.run([*map(str, command)], stdout=output, check=False)
    reports = json.loads((tmp_path / "report.json").read_text("utf-8"))
    found = {Path(report["filePath"]).name: report["messages"] for report in reports}
    assert found.pop("wrong.html"), "html-validate has looked at nothing"
    assert found == {}


LOOKS = [("hostile", "dark", 360), ("learning", "light", 360)]
MORE_LOOKS = [
    ("hostile", "light", 360),
    ("hostile", "dark", 1280),
    ("learning", "dark", 360),
    ("learning", "dark", 1280),
]


@pytest.mark.parametrize(
    ("which", "scheme", "width"), [*LOOKS, *(pytest.param(*look, marks=pytest.mark.proof) for look in MORE_LOOKS)]
)
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
        overflow = {width: overflow_of(tab)}
        tab.set_viewport_size({"width": 1280, "height": 900})
        overflow[1280] = overflow_of(tab)
        width_of_main = tab.evaluate("() => getComputedStyle(document.querySelector('main')).maxWidth")
    assert found["passes"] and [(each.id, each.nodes[0]["html"]) for each in found["violations"]] == []
    assert problems == [] and requests == [file.as_uri()] and max(overflow.values()) <= 0
    assert width_of_main == "1024px", "the policy must let the page's own style through"


def overflow_of(tab):
    """By how many pixels the page is wider than the window."""
    return tab.evaluate("() => document.documentElement.scrollWidth - innerWidth")


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
