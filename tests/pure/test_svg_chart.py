"""Charts: round numbers on the axes, and the same numbers as a table."""

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


def test_the_numbers_have_a_row_for_each_place_and_a_dash_for_what_is_missing() -> None:
    series = [Series("a", [0, 2], [1.0, None]), Series("b", [1, 2], [0.5, -3])]
    assert numbers_of(series) == [["0", "1", "-"], ["1", "-", "0.5"], ["2", "-", "-3"]]
    with pytest.raises(ValueError):
        numbers_of([Series("a", [0, 1], [1.0])])
