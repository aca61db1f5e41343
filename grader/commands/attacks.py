"""`course dev attacks`: run hostile submissions in real gradings, and show what each isolation level stops."""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from ..attacks import ATTACKS, TOPICS, Attack, cells, journal
from ..attacks.cells import GRADE, GRADE_ALL, MATRIX, ORDINARY, ROOT, WITHOUT_WALLS, Cell
from ..attacks.finding import Finding, problems
from ..attacks.page import COMMAND, page, summary
from ..core.text import counted, one_line
from ..sandbox.worker_process import SandboxError

_LEVELS = (0, 1, 2)
_USERS = {"root": ROOT, "ordinary": ORDINARY}
_QUICK_SECONDS = 1.0
_EXAMPLES = f"""examples:
  course dev attacks                       all attacks at all levels that this machine offers; some minutes
  course dev attacks --level 1 --only kill
                                       those whose name holds a text, at one level
  course dev attacks --user ordinary --pairs --through grade-all
                                       as classes are graded: two at a time, by a user without rights
  course dev attacks --rotate 2026-11-24   each attack in one of the sixteen ways, by this seed
  {COMMAND}
                                       record every way that is missing in the journal, and write the page; an hour
                                       or more. Stop it, and it goes on; --level, --user, --pairs, --alone, --through
                                       and --only say what to record now

The attacks are real. What level 0 does not stop happens: to files in a temporary folder, to a process that is started
for it, to servers on this machine. Nothing leaves the machine, and no attack at level 0 takes more than 50 MB of disk
or 50 processes.

exit code: 0 every level stopped what it should, 1 one did not, 2 wrong usage, 3 nothing could run
"""

_Found = dict[Cell, dict[str, Finding]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev attacks`."""
    parser.epilog, parser.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--level", type=int, action="append", choices=_LEVELS, help="isolation level; may be repeated; all if none"
    )
    parser.add_argument("--user", choices=[*_USERS], help="who grades (default: you; a spare user is for root only)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--alone", dest="together", action="store_false", default=None, help="one at a time (default)")
    how.add_argument("--pairs", dest="together", action="store_true", help="each beside an honest submission")
    parser.add_argument("--through", choices=(GRADE, GRADE_ALL), help=f"which command grades (default: {GRADE})")
    parser.add_argument("--rotate", metavar="SEED", help="each attack in one way, which the seed draws")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="attacks whose name holds this text; may be repeated"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="for tests: a time limit of 1 second for a call, but through grade-all",
    )
    parser.add_argument(
        "--share", metavar="N/OF", type=_share, default=(1, 1), help="the Nth of so many parts, by --rotate"
    )
    parser.add_argument(
        "--also", action="append", default=[], metavar="NAME", help="this attack too, whether or not the share has it"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="record, and write the page of the site")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course dev attacks`: 0 as it must be, 1 something is not, 3 nothing could run."""
    attacks = _chosen(arguments)
    if arguments.page and (arguments.rotate or arguments.quick):
        arguments.usage_error("--page records with the course's own time limits: leave --rotate and --quick out")
    plan = _plan(arguments, attacks)
    known = journal.read() if arguments.page else {}
    found: _Found = {}
    missing: dict[Cell, str] = {}
    errors = Console(stderr=True)
    for cell, wanted in plan.items():
        left = [attack for attack in wanted if attack.name not in known.get(cell, {})]
        try:
            for finding in _tried(cell, left, errors, quick=arguments.quick):
                found.setdefault(cell, {})[finding.name] = finding
                if arguments.page:
                    _keep(cell, finding)
        except SandboxError as error:
            missing[cell] = str(error)
            errors.print(f"{cell} is not on this machine: {error}", highlight=False, markup=False)
    wrong = [
        f"{name}: {cell}: {problem}"
        for cell, each in found.items()
        for name, finding in each.items()
        for problem in problems(ATTACKS[name], finding)
    ]
    _show(found, wrong, Console())
    if arguments.json:
        document: dict[str, Any] = {"machine": machine(), "problems": wrong}
        document["missing"] = {str(cell): reason for cell, reason in missing.items()}
        document["cells"] = {str(cell): [asdict(each) for each in by_name.values()] for cell, by_name in found.items()}
        arguments.json.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    if arguments.page:
        arguments.page.write_text(page(journal.read()), "utf-8", newline="\n")
        print(f"{arguments.page} written")
    return 1 if wrong else 3 if missing and not found else 0


def machine() -> str:
    """What the attacks run on, in words and without a name."""
    kernel = re.match(r"[0-9.]*[0-9]", platform.release())
    parts = (counted(os.cpu_count() or 1, "core"), f"{platform.system()} {kernel[0] if kernel else ''}".strip())
    return f"{', '.join(parts)}, Python {platform.python_version()}"


def _share(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9][0-9]?)/([1-9][0-9]?)", text)
    if not match or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError("give a share like 2/7")
    return int(match[1]), int(match[2])


def _chosen(arguments: argparse.Namespace) -> list[Attack]:
    texts = [text.lower() for text in arguments.only or [""]]
    attacks = [attack for attack in ATTACKS.values() if any(text in attack.name.lower() for text in texts)]
    for text in texts:
        if not any(text in attack.name.lower() for attack in attacks):
            arguments.usage_error(
                f"no attack has {text!r} in its name; the page docs/instructors/attacks.md lists the names"
            )
    for name in arguments.also:
        if name not in ATTACKS:
            arguments.usage_error(f"no attack is called {name!r}")
    number, of = arguments.share
    drawn = [attack for attack in attacks if cells.draw(attack, arguments.rotate or "", of) == number - 1]
    return [attack for attack in ATTACKS.values() if attack in drawn or attack.name in arguments.also]


def _plan(arguments: argparse.Namespace, attacks: Sequence[Attack]) -> dict[Cell, list[Attack]]:
    """What to do in which cell. What was not asked for is everything for a page, and otherwise the usual way."""
    usual = Cell(0, cells.own_user(), False, GRADE)
    asked = Cell(0, _USERS.get(arguments.user, ""), arguments.together, arguments.through or "")
    ways = [way for way in (WITHOUT_WALLS, *MATRIX) if way.level in (arguments.level or _LEVELS)]
    if not arguments.page and not arguments.rotate:
        ways = [Cell(level, usual.user, False, GRADE) for level in sorted({*(arguments.level or _LEVELS)})]
        asked = Cell(0, asked.user or usual.user, bool(asked.together), asked.command or usual.command)
        ways = [Cell(way.level, asked.user, asked.together, asked.command) for way in ways]
    ways = [
        way
        for way in ways
        if (not asked.user or way.user == asked.user)
        and (asked.together is None or way.together == asked.together)
        and (not asked.command or way.command == asked.command)
    ]
    if arguments.rotate:
        ways = [way for way in ways if way.level]
        drawn = [(cells.cell_of(attack, arguments.rotate, ways), attack) for attack in attacks]
        return {way: [attack for cell, attack in drawn if cell == way] for way in ways}
    return {way: [attack for attack in attacks if way.takes(attack)] for way in ways}


def _tried(cell: Cell, attacks: Sequence[Attack], errors: Console, *, quick: bool) -> Iterator[Finding]:
    if attacks:
        with Progress(console=errors, transient=True) as progress:
            made = cells.run(cell, attacks, call_seconds=_QUICK_SECONDS if quick else None)
            yield from progress.track(made, total=len(attacks), description=str(cell))


def _keep(cell: Cell, finding: Finding) -> None:
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    digest = journal.digest(ATTACKS[finding.name])
    journal.add(journal.Line(cell, digest, day, machine(), finding))


def _show(findings: Mapping[Cell, Mapping[str, Finding]], wrong: Sequence[str], console: Console) -> None:
    ways = itertools.groupby(sorted(findings, key=lambda cell: cell.level), key=lambda cell: cell.level)
    levels = {level: [*same] for level, same in ways}
    for topic in TOPICS:
        table = Table(title=topic.title, title_justify="left", show_edge=False)
        for column in ("attack", *(f"level {level}" for level in levels), "the report says"):
            table.add_column(column, overflow="fold")
        for attack in topic.attacks:
            found = {cell: each[attack.name] for cell, each in findings.items() if attack.name in each}
            if found:
                said = one_line(found[max(found, key=lambda cell: cell.level)].sentence)
                at = [[found[cell] for cell in same if cell in found] for same in levels.values()]
                table.add_row(attack.name, *map(_words, at), Text(said, style="dim"))
        if table.row_count:
            console.print(table)
    for cell, each in findings.items():
        figures = ", ".join(f"{name}: {value}" for name, value in summary([*each.values()]).items())
        console.print(f"{cell}: {figures}", highlight=False)
    for problem in wrong:
        console.print(f"PROBLEM {problem}", style="red", highlight=False, markup=False)


def _words(found: Sequence[Finding]) -> str:
    """What an attack did at one level."""
    return ", ".join(dict.fromkeys(harm for each in found for harm in each.harms)) or "stopped" * bool(found)
