"""The page of attacks: what each of them did in every way in which it was made, when it was last recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..core.text import one_line
from . import ATTACKS, TOPICS
from .attack import Attack, Harm
from .cells import GRADE_ALL, MATRIX, WITHOUT_WALLS, Cell
from .finding import Finding
from .journal import Line

Recorded = Mapping[Cell, Mapping[str, Line]]
"""Cell to the name of an attack to what was recorded of it there."""

COMMAND = "course dev attacks --page docs/instructors/attacks.md"
_HEAD = f"""---
# Written by `{COMMAND}`; do not edit.
description: What hostile submissions can and cannot do to the grader of the GRPO course, at each isolation level
search:
  exclude: true
---

# Attacks

Each row of the lists below is a hostile submission that was really graded, as often as its row says. Most take the
place of `group_advantages` in the first exercise; some take another function, come a second time, or are a name or an
archive. An honest exercise is graded along with it and must keep all its points. Afterwards the command looks at
everything around: the grade, the grading process, files, sockets, other processes, and what was left behind.
"""
_CELLS = f"""
## How they were recorded

A submission can be graded in sixteen ways: at [isolation level](isolation.md) 1 or 2, by root or by an ordinary user,
alone or in a pair with an honest submission that must get the points that it gets alone, through grading processes as
`grade` has them or through `course grade-all`, there with `--jobs 2` for pairs and with `--jobs 1` otherwise. What
`grade-all` writes (the table, HTML, JUnit, JSON for platforms) is read back as those read it who use it. A seventeenth
way, level 0, shows what the attacks do where no wall stands. `make attacks-page` (`{COMMAND}`) records them; it keeps a
journal, and goes on where it was stopped. The table says what has been recorded, when and on what.

"""
_COLUMNS = """
"Stopped" means that no harm was found. In the lists, the columns of levels 1 and 2 count the ways in which the attack
was stopped, of those in which it was recorded. "The report says" is the line that a student reads, at the highest level
recorded; numbers that are only wrong are shown as the report shows them, side by side. Seconds are those until this
verdict. Numbers in parentheses lead to the [reasons](#what-level-0-does-not-stop). The text of each attack is in
`grader/attacks/`.
"""
_REASONS = """
## What level 0 does not stop

Level 0 is for a student's own machine, where a submission is its owner's own code. A mark needs level 1 or above.

"""
_PLAIN = re.compile(r"[^\w\s.,;()'/?\u0080-\uffff-]|_")


def page(recorded: Recorded) -> str:
    """The page as Markdown."""
    reasons = list(dict.fromkeys(filter(None, map(_reason, (a for topic in TOPICS for a in topic.attacks)))))
    parts = [_HEAD, _CELLS, *_summary(recorded), _COLUMNS]
    for topic in TOPICS:
        parts += [
            f"\n## {topic.title}\n\n",
            _row(["Attack", "Level 0", "Level 1", "Level 2", "The report says", "Seconds"]),
        ]
        parts.append(_row(["---"] * 5 + ["---:"]))
        parts += [_row(_cells(attack, recorded, reasons)) for attack in topic.attacks]
    parts += [_REASONS, *(f"{number}. {cell(_sentence(reason))}\n" for number, reason in enumerate(reasons, 1))]
    return "".join(parts)


def cell(text: str) -> str:
    """Text of anybody in a cell of a table: no sign of it means something to Markdown or a browser."""
    return _PLAIN.sub(lambda sign: f"&#{ord(sign[0])};", one_line(text, limit=240))


def first_cell(attack: Attack) -> str:
    """Name and intention of an attack."""
    name = attack.name[0].upper() + attack.name[1:]
    return f"**{cell(name)}.** {cell(attack.tries)}"


def summary(found: Sequence[Finding]) -> dict[str, int | float]:
    """The figures of one cell, under the words of their column."""

    def count(*harms: Harm) -> int:
        return sum(bool({*harms} & {*each.harms}) for each in found)

    return {
        "attacks": len(found),
        "stopped": sum(not each.harms for each in found),
        "grades raised": count(Harm.GRADE_RAISED),
        "answers or secrets read": count(Harm.SECRET_READ),
        "runs stopped": count(Harm.CLASS_STOPPED, Harm.GRADER_FAILED),
        "others' points changed": count(Harm.NEIGHBOR_CHANGED),
        "left behind": count(Harm.PROCESS_LEFT, Harm.MEMORY_LEFT),
        "slowest verdict, seconds": max((each.seconds for each in found), default=0.0),
    }


def _summary(recorded: Recorded) -> Iterator[str]:
    names = list(summary([]))
    first = ["Level", "User", "How many at once", "Through"]
    yield _row([*first, *(name[0].upper() + name[1:] for name in names), "When"])
    yield _row(["---"] * (len(names) + len(first) + 1))
    for way in (WITHOUT_WALLS, *MATRIX):
        lines = [*recorded.get(way, {}).values()]
        if not lines:
            continue
        total = sum(way.takes(attack) for attack in ATTACKS.values())
        figures = [f"{value:.3g}" for value in summary([line.finding for line in lines]).values()]
        figures[0] += f" of {total}" * (len(lines) < total)
        days = sorted({line.day for line in lines})
        through = f"grade-all --jobs {2 if way.together else 1}" if way.command == GRADE_ALL else "grade"
        count = "two, one of them honest" if way.together else "one"
        yield _row(
            [str(way.level), way.user, count, f"`{through}`", *figures, " to ".join(dict.fromkeys([days[0], days[-1]]))]
        )
    missing = [way for way in (WITHOUT_WALLS, *MATRIX) if not recorded.get(way)]
    if missing:
        yield f"\nNot recorded since the attacks or the walls last changed: {'; '.join(map(str, missing))}.\n"
    machines = dict.fromkeys(line.machine for lines in recorded.values() for line in lines.values())
    yield f"\nRecorded on {'; '.join(machines)}.\n"


def _cells(attack: Attack, recorded: Recorded, reasons: Sequence[str]) -> list[str]:
    found = {
        way: recorded[way][attack.name].finding
        for way in (WITHOUT_WALLS, *MATRIX)
        if attack.name in recorded.get(way, {})
    }
    levels = [
        _at(level, attack, [each for way, each in found.items() if way.level == level], reasons) for level in (0, 1, 2)
    ]
    if not found:
        return [first_cell(attack), *levels, "not recorded", "-"]
    best = found[max(found, key=lambda way: way.level)]
    sentence = "full points, the answer is right" if attack.is_honest else best.sentence
    if attack.behind_gate:
        sentence = "the gate's points, and none for what it attacked"
    return [first_cell(attack), *levels, cell(sentence), f"{best.seconds:.2f}"]


def _at(level: int, attack: Attack, found: Sequence[Finding], reasons: Sequence[str]) -> str:
    number = f" ({reasons.index(_reason(attack)) + 1})" if level == 0 and _reason(attack) else ""
    if not found:
        return f"not run{number}" if level == 0 and attack.not_at_level_0 else f"not recorded{number}"
    harms = dict.fromkeys(harm for each in found for harm in each.harms)
    stopped = sum(not each.harms for each in found)
    if level == 0:
        return ", ".join(harms) + number if harms else f"stopped here{number}" if number else "stopped"
    return f"stopped {stopped} of {len(found)}" + "".join(f", {harm}" for harm in harms)


def _reason(attack: Attack) -> str:
    return attack.reason or (f"not run at level 0: {attack.not_at_level_0}" if attack.not_at_level_0 else "")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
