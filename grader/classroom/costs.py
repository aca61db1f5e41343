"""What the submissions of a class cost it, in processor time: a slow or hostile one takes from all others.

Left out on purpose: what became of gradings without a result. They are listed as not graded, with the limit that ended
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What one content cost.

    Attributes:
        names: Of the submissions that have it; equal ones are graded once.
        cpu_seconds: Processor time of its grading, in all processes.
        share: Of the processor time of all contents, from 0 to 1.
    """

    names: tuple[str, ...]
    cpu_seconds: float
    share: float


def costs(keys: Iterable[tuple[str, str]], spent: Mapping[str, float]) -> list[Cost]:
    """What was spent on each content, the most expensive first.

    Args:
        keys: Name of each submission, and key of its content.
        spent: Key to seconds of processor time; a content without any, as of an older grading, is left out.
    """
    names: dict[str, list[str]] = {}
    for name, key in keys:
        if spent.get(key):
            names.setdefault(key, []).append(name)
    total = sum(spent[key] for key in names)
    found = [Cost(tuple(each), spent[key], spent[key] / total) for key, each in names.items()]
    return sorted(found, key=lambda cost: (-cost.cpu_seconds, cost.names))
