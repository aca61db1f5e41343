"""Pictures of recorded runs show the numbers of the files next to them, in the colours of the page around them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest
from record_ablations import BANDS, COLUMNS, SETTINGS

from grader.core import course
from reference.given.plots import PANELS
from site_steps import run_pictures

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = run_pictures.make()


class Picture:
    """A picture: its lines and the ends of its vertical axes, from top to bottom."""

    def __init__(self, name: str) -> None:
        root = ElementTree.fromstring(PICTURES[course.RUNS / f"{name}.svg"])
        self.paths = {str(path.get("id")): str(path.get("d")) for path in root.iter(f"{SVG}path")}
        self.unnamed = [str(path.get("d")) for path in root.iter(f"{SVG}path")]
        texts = [str(each.text) for each in root.iter(f"{SVG}text") if each.get("text-anchor") == "end"]
        self.ends = [float(text.replace("\N{MINUS SIGN}", "-")) for text in texts if "steps" not in text]

    def assert_line(self, line: str, chart: int, values: list[float]) -> None:
        high, low = self.ends[2 * chart : 2 * chart + 2]
        heights = [up for _, up in points(self.paths[line])]
        assert [200 * (high - value) / (high - low) for value in values] == pytest.approx(heights, abs=0.51)


def points(path: str) -> Iterator[tuple[int, int]]:
    """The places of a path that is given by its differences."""
    across = up = 0
    for step in re.findall(r"(-?\d+),(-?\d+)", path):
        across, up = across + int(step[0]), up + int(step[1])
        yield across, up


def recorded(file: str, setting: str, column: str) -> list[float]:
    rows = csv.DictReader((course.RUNS / f"{file}.csv").read_text("utf-8").splitlines())
    return [float(row[column]) for row in rows if row["setting"] == setting and row[column]]


@pytest.mark.parametrize("name", run_pictures.ABLATIONS)
def test_every_line_goes_through_the_recorded_numbers(name: str) -> None:
    picture, curves = Picture(name), COLUMNS[name]
    assert [curve[2] for curve in run_pictures.ABLATIONS[name][1]] == [*curves]
    for place, setting in enumerate(SETTINGS[name]):
        for column, curve in enumerate(curves):
            drawn = f"{curve}_{'median' if curve in BANDS else 'mean'}"
            picture.assert_line(f"{name}-{drawn}-{place}", place * len(curves) + column, recorded(name, setting, drawn))


def test_the_band_of_ten_seeds_reaches_from_the_worst_to_the_best_and_its_line_is_their_median() -> None:
    lines = (course.RUNS / "llm-sums" / "seeds.jsonl").read_text("utf-8").splitlines()
    curves = np.array([json.loads(line)["curve"] for line in lines])
    _, band, line = ([up for _, up in points(path)] for path in Picture("llm-seeds").unnamed)
    scores = 200 * (1 - curves[:, :, 1])
    assert scores.shape == (10, 11) and line == pytest.approx(np.median(scores, axis=0), abs=0.51)
    assert band == pytest.approx([*scores.min(axis=0), *scores.max(axis=0)[::-1]], abs=0.51)


def test_a_recorded_run_has_the_curves_that_the_run_of_a_student_draws() -> None:
    curves = [(panel.title, panel.unit, tuple(panel.series), panel.at_least) for panel in PANELS]
    assert [*run_pictures.METRICS] == curves
