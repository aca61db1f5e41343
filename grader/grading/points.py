"""The points of each check of an exercise whose total is in `course.toml`.

A check declares points, and an exercise is worth their sum. An entry in `course.toml` distributes another total over
all checks, including the hidden ones. A student's copy has no hidden checks and could not repeat that, so a handout has
the points in a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ..core import course
from ..core.refusal import FileRefused

FILE_NAME = "points.json"
"""In the folder of an exercise in a handout: id of a check to its points."""


def shared_out(exercise: course.Exercise, declared: Mapping[str, int]) -> dict[str, int]:
    """Distribute the total of an exercise over its checks; both dictionaries have points by id of a check.

    Raises:
        FileRefused: the total has less than one point for a check that has points.
    """
    path = exercise.folder / FILE_NAME
    if path.is_file():
        written: dict[str, int] = json.loads(path.read_text("utf-8"))
        return written
    counting = [name for name, points in declared.items() if points]
    if not 0 < len(counting) <= exercise.points:
        what = f"{exercise.name} has {len(counting)} checks with points; give it at least {len(counting)} points"
        if not counting:
            what = f"no check of {exercise.name} has points, so its total cannot be divided"
        raise FileRefused(f"{course.FILE}: {what}")
    points = shares(exercise.points, [declared[name] for name in counting])
    return dict.fromkeys(declared, 0) | dict(zip(counting, points, strict=True))


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """Whole numbers that sum to the total, as near to the ratio of the weights as can be, and none below 1.

    By the method of Webster (Sainte-Laguë): unlike with largest remainders, a larger total makes no share smaller. Each
    weight is at least 1, and the total is at least their number, which is not 0.
    """
    start = total - len(weights)  # each final share is more than its part of this, rounded down
    points = [max(1, weight * start // sum(weights)) for weight in weights]
    while sum(points) < total:
        next_one = max(range(len(weights)), key=lambda index: Fraction(weights[index], 2 * points[index] + 1))
        points[next_one] += 1
    return points
