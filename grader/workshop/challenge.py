"""The open challenge: a file to which anybody may add runs, and the table that shows them.

A run is a line of JSON as `tests/bench/bench_llm.py` writes it, with a name and a link. Left out: whether a line is
true; whoever merges it runs its command.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from ..core import course
from .llm_runs import Outcome

FILE = course.ROOT / "docs/results/challenge.jsonl"
GOAL = 0.85
"""Accuracy that a run must reach."""
SEEDS = {0, 1, 2}
"""All of them must reach it, so that nobody picks a lucky one."""
HELD_OUT = 256


class NoRun(Exception):
    """The file holds something that is no entry; the text says what to change."""


@dataclass(frozen=True, kw_only=True)
class Entry(Outcome):
    """A run in the challenge.

    Attributes:
        by: Who ran it.
        code: Link to the code, or "" for the course as it is.
    """

    by: str
    code: str


def entries(text: str) -> list[Entry]:
    """The entries in a file's text, the fewest completions first.

    Raises:
        NoRun: a line is no entry, or not all of the seeds have one; the text says which, and why.
    """
    found = [_entry(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    seeds = defaultdict(list)
    for each in found:
        seeds[each.by, each.code, each.version, each.options, each.completions].append(each.seed)
    for (by, *_), of_one in seeds.items():
        if sorted(of_one) != sorted(SEEDS):
            raise NoRun(f"the runs of {by} must have the seeds {sorted(SEEDS)}, each once, not {sorted(of_one)}")
    return sorted(found, key=lambda each: (each.completions, each.by, each.seed))


_KINDS: dict[str, set[type]] = {"str": {str}, "int": {int}, "float": {int, float}, "list[list[float]]": {list}}


def _entry(number: int, line: str) -> Entry:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise NoRun(f"line {number} is no JSON: {error}") from error
    names = {field.name for field in fields(Entry)}
    if not isinstance(document, dict) or document.keys() != names:
        raise NoRun(f"line {number} must have exactly the fields {', '.join(sorted(names))}")
    for field in fields(Entry):
        value = document[field.name]
        if type(value) not in _KINDS[str(field.type)]:  # True is no int here
            raise NoRun(f"line {number}: {field.name} must be {field.type}, got {value!r}")
    entry = Entry(**document)
    right = entry.accuracy * HELD_OUT
    if right != round(right) or not GOAL <= entry.accuracy <= 1:
        raise NoRun(f"line {number}: accuracy must be a share of {HELD_OUT}, from {GOAL}, got {entry.accuracy}")
    if min(entry.steps, entry.completions, entry.cpu_seconds) <= 0:
        raise NoRun(f"line {number}: steps, completions and cpu_seconds must be positive")
    if not entry.by.strip() or "|" in entry.by + entry.options + entry.version:
        raise NoRun(f"line {number}: by must name somebody, and no text may hold a |")
    if entry.code and not entry.code.startswith("https://"):
        raise NoRun(f"line {number}: code must be a link with https, or empty")
    return entry


def rows(found: Sequence[Entry]) -> Iterator[str]:
    """Rows of the table; without entries one that says so."""
    if not found:
        yield "| none yet | | | | | | |"
    for each in found:
        options = f"`{each.options}`" if each.options else "none"
        version = f"[{each.version}]({each.code})" if each.code else each.version
        yield (
            f"| {each.completions:,} | {each.accuracy:.3f} | {each.cpu_seconds / 60:.0f} | {options} | {each.seed} "
            f"| {version} | {each.by} |"
        )
