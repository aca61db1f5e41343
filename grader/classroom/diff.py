"""Changes from one grading of a class to the next, after a fixed check, a new seed, or later submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.result import PASSED
from .results import Entry


@dataclass(frozen=True)
class Change:
    """One submission with a different result.

    Attributes:
        name: Of the submission.
        old: Points before; None if it was not graded or missing.
        new: Points now; None likewise.
        passed: Ids of the checks that pass now and did not.
        lost: Ids of the checks that passed and do not now.
        files: Whether its files have changed.
    """

    name: str
    old: int | None
    new: int | None
    passed: tuple[str, ...]
    lost: tuple[str, ...]
    files: bool


@dataclass(frozen=True)
class Difference:
    """Two gradings of a class side by side.

    Attributes:
        same: Number of submissions with the same outcome of every check.
        changes: The others: those without a grade now, then the largest loss first.
        passed: Check to how many submissions pass it now and did not, among those graded both times.
        lost: Check to how many submissions passed it and do not now.
    """

    same: int
    changes: tuple[Change, ...]
    passed: Mapping[str, int]
    lost: Mapping[str, int]


def compare(old: Sequence[Entry], new: Sequence[Entry]) -> Difference:
    """Compare by name; checks that only one of the gradings has count as not passed in the other."""
    before, after = ({entry.name: entry for entry in entries} for entries in (old, new))
    changes = [_change(name, before.get(name), after.get(name)) for name in sorted({*before, *after})]
    real = [change for change in changes if change.passed or change.lost or change.old != change.new]
    real.sort(key=_loss)
    compared = [change for change in real if None not in (change.old, change.new)]
    passed = Counter(check for change in compared for check in change.passed)
    lost = Counter(check for change in compared for check in change.lost)
    return Difference(len(changes) - len(real), tuple(real), dict(passed.most_common()), dict(lost.most_common()))


def _loss(change: Change) -> tuple[int, int, str]:
    """Sorts those without a grade now first, then the largest loss; a first grade is no change of one."""
    if change.old is None or change.new is None:
        return (-1 if change.new is None else 1), 0, change.name
    return 0, change.new - change.old, change.name


def _change(name: str, old: Entry | None, new: Entry | None) -> Change:
    before, after = _passed(old), _passed(new)
    results = [entry.result if entry else None for entry in (old, new)]
    points = [result.earned if result else None for result in results]
    digests = {result.sha256 for result in results if result}
    return Change(
        name, points[0], points[1], tuple(sorted(after - before)), tuple(sorted(before - after)), len(digests) > 1
    )


def _passed(entry: Entry | None) -> set[str]:
    checks = entry.result.checks if entry and entry.result else []
    return {check.id for check in checks if check.outcome == PASSED}
