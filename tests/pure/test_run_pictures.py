"""Pictures of recorded runs show the numbers of the files beside them, in the colors of the page around them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from grader.core import course
from grader.workshop import llm_runs, run_pictures
from grader.workshop.ablations import ABLATIONS

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = run_pictures.make()


def points(path: str) -> Iterator[tuple[int, int]]:
    """The places of a path that is given by its differences."""
    across = up = 0
    for step in re.findall(r"(-?\d+),(-?\d+)", path):
        across, up = across + int(step[0]), up + int(step[1])
        yield across, up


@pytest.mark.parametrize("ablation", ABLATIONS, ids=lambda ablation: ablation.name)
def test_every_line_goes_through_the_recorded_numbers(ablation):
    picture = ElementTree.fromstring(PICTURES[course.RUNS / f"{ablation.name}.svg"])
    paths = {path.get("id"): path.get("d") for path in picture.iter(f"{SVG}path")}
    rows = list(csv.DictReader((course.RUNS / f"{ablation.name}.csv").read_text("utf-8").splitlines()))
    ends = [
        float(str(each.text).replace("\N{MINUS SIGN}", "-")) for each in picture.iter(f"{SVG}text") if is_tick(each)
    ]
    for place, setting in enumerate(ablation.settings):
        for column, curve in enumerate(ablation.curves):
            chart = place * len(ablation.curves) + column
            high, low = ends[2 * chart : 2 * chart + 2]
            name = f"{curve.name}_median" if curve.band else f"{curve.name}_mean"
            known = [float(row[name]) for row in rows if row["setting"] == setting and row[name]]
            drawn = [up for _, up in points(str(paths[f"{ablation.name}-{curve.name}-{place}"]))]
            assert [200 * (high - value) / (high - low) for value in known] == pytest.approx(drawn, abs=0.51)


@pytest.mark.parametrize(
    ("name", "methods", "panels"),
    [
        ("variants", run_pictures.RELATIVES, run_pictures.ON_EACH_TASK),
        ("variants-dapo", run_pictures.DAPO_PARTS, run_pictures.WITH_ITS_PRICE),
    ],
)
def test_every_line_of_a_relative_goes_through_its_recorded_numbers_over_that_of_grpo(name, methods, panels):
    picture = ElementTree.fromstring(PICTURES[course.RUNS / f"{name}.svg"])
    paths = {path.get("id"): path.get("d") for path in picture.iter(f"{SVG}path")}
    beside = [each.get("href") for each in picture.iter(f"{SVG}use")]
    assert beside == [f"#{name}-{place}-grpo" for _ in [*methods][1:] for place in range(len(panels))]
    ticks = [float(str(each.text)) for each in picture.iter(f"{SVG}text") if is_tick(each)]
    for row, method in enumerate(methods):
        for column, panel in enumerate(panels):
            text = (course.RUNS / f"variants-{panel.loop}.csv").read_text("utf-8")
            recorded = [line for line in csv.DictReader(text.splitlines()) if line["setting"] == method + panel.task]
            middle = f"{panel.curve}_{'median' if panel.band else 'mean'}"
            chart = row * len(panels) + column
            high, low = ticks[2 * chart : 2 * chart + 2]
            drawn = [up for _, up in points(str(paths[f"{name}-{column}-{method}"]))]
            known = [float(line[middle]) for line in recorded][: panel.steps]
            assert [200 * (high - value) / (high - low) for value in known] == pytest.approx(drawn, abs=0.51)


def measured(name: str) -> list[dict[str, Any]]:
    """Measured runs of the pretrained language model, as they are in their file."""
    lines = (course.RUNS / "llm-sums" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_band_of_ten_seeds_reaches_from_the_worst_to_the_best_and_its_line_is_their_median():
    picture = ElementTree.fromstring(PICTURES[course.RUNS / "llm-seeds.svg"])
    curves = np.array([run["curve"] for run in measured("seeds")])  # (10, 11, 2)
    assert curves.shape == (10, 11, 2) and len({tuple(row) for row in curves[:, :, 0]}) == 1
    drawn = [[up for _, up in points(str(path.get("d")))] for path in picture.iter(f"{SVG}path")]
    _, band, line = drawn
    scores = 200 * (1 - curves[:, :, 1])
    assert line == pytest.approx(np.median(scores, axis=0), abs=0.51)
    assert band == pytest.approx([*scores.min(axis=0), *scores.max(axis=0)[::-1]], abs=0.51)


def test_every_other_setting_is_drawn_over_the_recipe_with_both_of_its_seeds():
    picture = ElementTree.fromstring(PICTURES[course.RUNS / "llm-settings.svg"])
    paths = {path.get("id"): str(path.get("d")) for path in picture.iter(f"{SVG}path")}
    of: dict[str, list[dict[str, Any]]] = {setting.options: [] for setting in llm_runs.SETTINGS}
    for run in measured("settings"):
        of[run["options"].removeprefix(llm_runs.RECIPE).strip()].append(run)
    for place, runs in enumerate(of.values()):
        assert sorted(run["seed"] for run in runs) == [0, 1]
        mean = np.mean([[score for _, score in run["curve"]] for run in runs], axis=0)
        assert [up for _, up in points(paths[f"llm-settings-{place}"])] == pytest.approx(200 * (1 - mean), abs=0.51)
    beside = [each.get("href") for each in picture.iter(f"{SVG}use")]
    assert beside == ["#llm-settings-0"] * (len(of) - 1)


def is_tick(text: ElementTree.Element) -> bool:
    """Whether a text is a number of a vertical axis."""
    return text.get("text-anchor") == "end" and "steps" not in str(text.text)


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_takes_its_colors_from_the_page_and_its_words_are_text(path):
    text = PICTURES[path]
    picture = ElementTree.fromstring(text)
    colors = {each.get(name) for each in picture.iter() for name in ("fill", "stroke")} - {None}
    assert colors <= {"currentColor", "none", "gold"}
    assert picture.findtext(f"{SVG}title")
    assert "steps" in " ".join(str(each.text) for each in picture.iter(f"{SVG}text"))
    assert "style=" not in text and len(text) < 40_000


def test_the_curves_of_a_run_are_those_that_a_run_of_a_student_draws():
    from reference.charlm_plots import PANELS

    assert [*run_pictures.METRICS] == [
        (panel.title, panel.unit, tuple(panel.series), panel.at_least) for panel in PANELS
    ]
