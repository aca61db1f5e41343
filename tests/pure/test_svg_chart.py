"""Charts: round numbers on the axes, and every mark where its number says.

The expected places were computed by hand from the sizes of a chart: 420 by 260, with room for the axes of 52 at the
left, 12 at the right, 10 at the top and 44 at the bottom. So an axis begins at 52 and ends at 408; the bottom is 216.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from grader.reports.svg_chart import Series, line_chart, numbers_of

NAMES = {"name": "n", "title": "T", "x_label": "step", "y_label": "reward"}


def lines(*series: tuple[Sequence[float], Sequence[float | None]]) -> str:
    return line_chart([Series(f"s{place}", *each) for place, each in enumerate(series)], **NAMES)


def ticks(svg: str, axis: str) -> list[str]:
    """The numbers on one axis."""
    return re.findall(rf'<text class="{axis}-tick"[^>]*>([^<]*)</text>', svg)


def texts(svg: str) -> list[tuple[str, str, str, str]]:
    """Each text that is written level: words, place, and which end of the words is there."""
    found = re.findall(r'<text[^>]* x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)">([^<]*)</text>', svg)
    return [(words, across, down, anchor) for across, down, anchor, words in found]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 5], "0 1 2 3 4 5"), ([0, 5.001], "0 2 4 6"), ([0, 10.2], "0 5 10 15"), ([0, 25], "0 5 10 15 20 25"),
        ([0, 26], "0 10 20 30"), ([0, 0.3], "0 0.1 0.2 0.3"), ([0, 2.5e-7], "0 5e-08 1e-07 1.5e-07 2e-07 2.5e-07"),
        ([2, 3], "0 1 2 3"), ([-3, 7], "-4 -2 0 2 4 6 8"), ([-0.5, -0.3], "-0.5 -0.4 -0.3 -0.2 -0.1 0"),
        ([1e-110, 1e-110], "0 0.2 0.4 0.6 0.8 1"), ([None], "0 0.2 0.4 0.6 0.8 1"),
        ([0, 1e300], "0 2e+99 4e+99 6e+99 8e+99 1e+100"), ([0, -1e300], "-1e+100 -8e+99 -6e+99 -4e+99 -2e+99 0"),
    ],
)  # fmt: skip
def test_heights_have_round_numbers_from_zero_to_past_the_last(values: list[float | None], expected: str) -> None:
    assert ticks(lines((range(len(values)), values)), "y") == expected.split()


def test_lines_go_through_their_values() -> None:
    svg = lines(([0, 1, 2], [0, 3, 10]), ([0, 1, 2], [1, None, -2]), ([2], [5]))
    assert '<svg class="chart" viewBox="0 0 420 260" role="img" aria-labelledby="n-title">' in svg
    assert '<title id="n-title">T</title>' in svg
    # From -5 to 10 over 216 - 30 = 186 in one row of the legend, that is 12.4 for 1: 0 is at 154, 10 at 30.
    assert re.findall(r'<path class="series-(\d)" d="([^"]*)"/>', svg) == [
        ("1", "M52.00,154.00L52.00,154.00L230.00,116.80L408.00,30.00"),
        ("2", "M52.00,141.60L52.00,141.60M408.00,178.80L408.00,178.80"),
        ("3", "M408.00,92.00L408.00,92.00"),
    ]
    assert re.findall(r'<line class="(\w+)" x1="52" x2="408" y1="([\d.]+)" y2="([\d.]+)"/>', svg) == [
        ("level", "216.00", "216.00"),
        ("zero", "154.00", "154.00"),
        ("level", "92.00", "92.00"),
        ("level", "30.00", "30.00"),
    ]
    words = ["s0", "s1", "s2", "-5", "0", "5", "10", "0", "1", "2", "step"]
    assert [text for text, *_ in texts(svg)] == words and ">reward</text>" in svg
    assert svg.count("data-legend") == 3


def test_the_numbers_have_a_row_for_each_place_and_a_dash_for_what_is_missing() -> None:
    series = [Series("a", [0, 2], [1.0, None]), Series("b", [1, 2], [0.5, -3])]
    assert numbers_of(series) == [["0", "1", "-"], ["1", "-", "0.5"], ["2", "-", "-3"]]
    with pytest.raises(ValueError):
        numbers_of([Series("a", [0, 1], [1.0])])
