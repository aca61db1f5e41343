"""What each check of an exercise is worth, where `course.toml` says what the whole exercise is worth.

A check declares points, and an exercise is worth their sum. An entry in `course.toml` shares another total out among
all checks, the hidden ones too. A student's copy has no hidden checks and could not share it out the same way, so a
handout brings what came of it in a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ..core import course
from ..core.refusal import FileRefused

FILE_NAME = "points.json"
"""In the folder of an exercise in a handout: id of each check that it has to its points."""


def shared_out(exercise: course.Exercise, declared: Mapping[str, int]) -> dict[str, int]:
    """Id of each check to its share of the total.

    Args:
        exercise: One that `course.toml` gives a total.
        declared: Id of each check that is here to the points that it declares.

    Raises:
        FileRefused: the total has less than one point for a check that has points.
    """
    path = exercise.folder / FILE_NAME
    if path.is_file():
        written: dict[str, int] = json.loads(path.read_text("utf-8"))
        return written
    counting = [name for name, points in declared.items() if points]
    if not 0 < len(counting) <= exercise.points:
        what = f"{exercise.name} has {len(counting)} checks with points; make it worth at least {len(counting)}"
        if not counting:
            what = f"no check of {exercise.name} has points, so there is nothing to share out"
        raise FileRefused(f"{course.FILE}: {what}")
    found = shares(exercise.points, [declared[name] for name in counting])
    return dict.fromkeys(declared, 0) | dict(zip(counting, found, strict=True))


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """Whole numbers that sum to the total, as near to the ratio of the weights as can be, and none below 1.

    By the method of Webster (Sainte-Laguë): unlike with largest remainders, a larger total makes no share smaller.

    Args:
        total: At least the number of weights.
        weights: At least one; each at least 1.
    """
    start = total - len(weights)  # what each has in the end is more than its part of this, rounded down
    found = [max(1, weight * start // sum(weights)) for weight in weights]
    while sum(found) < total:
        next_one = max(range(len(weights)), key=lambda place: Fraction(weights[place], 2 * found[place] + 1))
        found[next_one] += 1
    return found
