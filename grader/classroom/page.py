"""The class report as one HTML page, in the order of an instructor's questions.

How did it go, what did they misunderstand, where did they stop, which checks are good. The page
names nobody. What names students, the list of submissions, is added only if it is given. The page is the template
`classroom/class`; what it says of single numbers is here.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .. import __version__
from ..core import course
from ..core.html import render
from ..core.text import listed, pluralize
from ..reports.svg_chart import number, small_bar
from .report import BINS, FEW, WEAK, CheckStatistics, ClassReport, Distribution, MistakeCount, Named

_SHOWN = 20
"""Mistakes that are seen at once; the rarer ones are folded."""


@dataclass(frozen=True)
class _Page:
    """Where a mistake is explained: the file, its name in a link, and its address, which may be none of the web."""

    path: str
    name: str
    address: str


@dataclass(frozen=True)
class _Histogram:
    """How many submissions earned how much: a range of points and their number in each row."""

    name: str
    caption: str
    rows: tuple[tuple[str, int], ...]
    most: int


def class_page(
    report: ClassReport,
    *,
    named: Named | None = None,
    site: str | None = None,
    student_pages: Mapping[str, str] | None = None,
) -> str:
    """The whole file.

    Args:
        report: The numbers.
        named: Submissions by name, for a page that is for instructors only.
        site: Address of the published pages, with a slash at its end; None if the course does not say it itself.
        student_pages: Name of a submission to the address of its report, from where this page will lie.
    """

    def page_of(mistake: MistakeCount) -> _Page:
        path = mistake.page.partition("#")[0]
        name = path.removeprefix("docs/").removesuffix(".md")
        return _Page(path, name, course.page_address(mistake.page, site or ""))

    return render(
        "classroom/class",
        title="Class report with names" if named else "Class report",
        version=report.versions[0] if len(report.versions) == 1 else __version__,
        doubts=_doubts(report, by_name=named is not None),
        report=report,
        histograms=_histograms(report) if report.graded else [],
        named=named,
        student_pages=student_pages or {},
        mistakes_shown=_SHOWN,
        weak=WEAK,
        bar=small_bar,
        number=number,
        decimals=decimals,
        remark=remark,
        pluralize=pluralize,
        page_of=page_of,
    )


def remark(check: CheckStatistics) -> str:
    """What an instructor should look at in a check; empty if there is nothing."""
    if check.passed == check.count:
        return "all passed"
    if not check.passed:
        return "nobody passed"
    if check.discrimination is None:
        return "all have the same other points"
    if check.count < FEW:
        return ""
    if check.discrimination < 0:
        return "look at it: those who pass it earn less elsewhere"
    return "look at it: it hardly separates" if check.discrimination < WEAK else ""


def decimals(value: float | None) -> str:
    """A difficulty or discrimination."""
    return "-" if value is None else f"{value + 0.0:.2f}"


def _doubts(report: ClassReport, *, by_name: bool) -> list[str]:
    """Everything that makes the numbers doubtful."""
    doubts = []
    if not report.graded:
        doubts.append("Nothing is graded yet, so there is nothing to report.")
    elif report.graded < FEW:
        doubts.append(
            f"There are fewer than {FEW} results. A number may point at a person: think before you share this page. "
            "Discrimination is mostly chance."
        )
    if report.failed:
        doubts.append(f"Could not be graded, and in no number below: {pluralize(report.failed, 'submission')}.")
    if report.without_code:
        doubts.append(
            f"No code can be read, so that there is no grade, and in no number below: "
            f"{pluralize(report.without_code, 'submission')}."
        )
    if report.by_hand:
        doubts.append(
            f"Points by hand, which no number below counts{' but those in the list by name' * by_name}: "
            f"{pluralize(report.by_hand, 'submission')}."
        )
    if report.waiting:
        doubts.append(f"Not graded yet, and in no number below: {pluralize(report.waiting, 'submission')}.")
    if report.without_walls:
        doubts.append(
            f"Graded at isolation level 0, without walls: {pluralize(report.without_walls, 'submission')}. "
            "That is a self-check and no grade."
        )
    if report.imports:
        counts: Counter[str] = Counter()
        for each in report.imports:
            counts[course.file_of(each.exercise)] += each.count
        failed = listed([f"{file} in {pluralize(number, 'submission')}" for file, number in counts.items()])
        doubts.append(f"Cannot be imported, and so without points: {failed}. The column notes of grades.csv says why.")
    if report.left_out:
        doubts.append(
            "The grader left out a part of the files, or chose between several, which may have cost points: "
            f"{pluralize(report.left_out, 'submission')}. course gradebook names them."
        )
    if len(report.versions) > 1:
        doubts.append(
            f"The results are of different versions of the course ({', '.join(report.versions)}). "
            "Grade the class again before you compare."
        )
    return doubts


def _histograms(report: ClassReport) -> list[_Histogram]:
    found = [_histogram(report.totals, "All points", "total")]
    return found + [_histogram(each.distribution, each.title, each.name) for each in report.exercises]


def _histogram(each: Distribution, title: str, name: str) -> _Histogram:
    edges = [each.points * index / BINS for index in range(BINS + 1)]
    labels = [f"{number(low)} to {number(high)}" for low, high in itertools.pairwise(edges)]
    if each.quartiles[-1] > each.points:  # with bonus
        labels[-1] = f"{number(edges[-2])} or more"
    rows = tuple(zip(labels, each.bins, strict=True))
    return _Histogram(f"histogram-{name}", f"{title}: submissions by points", rows, max(each.bins))
