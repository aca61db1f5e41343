"""The page of attacks: what every one of them did, at every isolation level, when it was last run.

Paths and process numbers of the machine that it ran on are replaced by words, because the page is public.
"""

from __future__ import annotations

import re
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from ..core import course
from ..core.text import one_line
from . import TOPICS
from .attack import Attack, Harm
from .trial import Finding

Findings = Mapping[int, Mapping[str, Finding]]
"""Isolation level to the name of an attack to what it did there."""

COMMAND = "course dev attacks --page docs/instructors/attacks.md"
_HEAD = f"""---
# Written by `{COMMAND}`; do not edit.
description: What hostile submissions can and cannot do to the grader of the GRPO course, at each isolation level
search:
  exclude: true
---

# Attacks

Each row is a hostile submission that was really graded, once at each [isolation level](isolation.md). It takes the
place of `group_advantages` in the first exercise. A second one is graded along with it and must keep all its points.
Afterwards the command looks at everything around: the grade, the grading process, files, sockets, other processes, and
what was left behind.
"""
_COLUMNS = """
"Stopped" means that no harm was found. "The report says" is the line that a student reads, at the highest level of this
run; numbers that are only wrong are shown as the report shows them, side by side. Seconds are those until this verdict.
Numbers in parentheses lead to the [reasons](#what-level-0-does-not-stop). The text of each attack is in
`grader/attacks/`.
"""
_REASONS = """
## What level 0 does not stop

Level 0 is for a student's own machine, where a submission is its owner's own code. A mark needs level 1 or above.

"""
_PLAIN = re.compile(r"[^\w\s.,;()'/?\u0080-\uffff-]|_")


def page(findings: Findings, machine: str) -> str:
    """The page as Markdown.

    Args:
        findings: All attacks, except those that are not run at a level.
        machine: What they ran on, in words.
    """
    reasons = list(dict.fromkeys(filter(None, map(_reason, (a for topic in TOPICS for a in topic.attacks)))))
    parts = [_HEAD, f"\nRun with `{COMMAND}` on {machine}.\n\n", *_summary(findings), _COLUMNS]
    levels = sorted(findings)
    for topic in TOPICS:
        parts += [
            f"\n## {topic.title}\n\n",
            _row(["Attack", *(f"Level {n}" for n in levels), "The report says", "Seconds"]),
        ]
        parts.append(_row(["---", *("---" for _ in levels), "---", "---:"]))
        parts += [_row(_cells(attack, findings, reasons)) for attack in topic.attacks]
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
    """The figures of one level, under the words of their column."""

    def count(harm: Harm) -> int:
        return sum(harm in each.harms for each in found)

    return {
        "attacks": len(found),
        "stopped": sum(not each.harms for each in found),
        "grades raised": count(Harm.GRADE_RAISED),
        "grader failed": count(Harm.GRADER_FAILED),
        "processes left behind": count(Harm.PROCESS_LEFT),
        "slowest verdict, seconds": max((each.seconds for each in found), default=0.0),
    }


def _summary(findings: Findings) -> Iterator[str]:
    figures = {level: summary([*found.values()]) for level, found in findings.items()}
    names = list(summary([]))
    yield _row(["Level", *(name[0].upper() + name[1:] for name in names)])
    yield _row(["---"] * (len(names) + 1))
    for level, values in sorted(figures.items()):
        yield _row([str(level), *(f"{value:.3g}" for value in values.values())])


def _cells(attack: Attack, findings: Findings, reasons: Sequence[str]) -> list[str]:
    found = {level: each[attack.name] for level, each in sorted(findings.items()) if attack.name in each}
    levels = [_at(level, attack, found.get(level), reasons) for level in sorted(findings)]
    if not found:
        return [first_cell(attack), *levels, "", ""]
    best = found[max(found)]
    sentence = "full points, the answer is right" if attack.is_honest else without_machine(best.sentence)
    return [first_cell(attack), *levels, cell(sentence), f"{best.seconds:.2f}"]


def _at(level: int, attack: Attack, finding: Finding | None, reasons: Sequence[str]) -> str:
    number = f" ({reasons.index(_reason(attack)) + 1})" if level == 0 and _reason(attack) else ""
    if finding is None:
        return f"not run{number}"
    if finding.harms:
        return ", ".join(finding.harms) + number
    return f"stopped here{number}" if number else "stopped"


def _reason(attack: Attack) -> str:
    return attack.reason or (f"not run at level 0: {attack.not_at_level_0}" if attack.not_at_level_0 else "")


def without_machine(text: str) -> str:
    """The text without what differs from run to run and from machine to machine."""
    places = {str(course.ROOT): "/course", tempfile.gettempdir(): "/tmp", sysconfig.get_path("stdlib"): "/library"}
    for path, word in places.items():
        text = text.replace(path, word)
    text = re.sub(r"yard-\w{8}", "yard", re.sub(r"attack-[0-9a-f]{12}", "attack", text))
    return re.sub(r"/proc/(?!1/)[0-9]+", "/proc/1000", text)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
