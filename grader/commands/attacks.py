"""`course dev attacks`: run hostile submissions in real grading processes, and show what each level stops."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from ..attacks import ATTACKS, TOPICS, Attack
from ..attacks.page import COMMAND, page, summary
from ..attacks.trial import Finding, Trial, problems
from ..core.text import counted, one_line
from ..sandbox.worker_process import SandboxError

_LEVELS = (0, 1, 2)
_QUICK_SECONDS = 1.0
_EXAMPLES = f"""examples:
  course dev attacks                       all attacks at all levels that this machine offers; some minutes
  course dev attacks --level 1 --only kill
                                       those whose name holds a text, at one level
  {COMMAND}
                                       write the page that shows them

The attacks are real. What level 0 does not stop happens: to files in a temporary folder, to a process that is started
for it, to servers on this machine. Nothing leaves the machine, and no attack at level 0 takes more than 50 MB of disk
or 50 processes.

exit code: 0 every level stopped what it should, 1 one did not, 2 wrong usage, 3 nothing could run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev attacks`."""
    parser.epilog, parser.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--level", type=int, action="append", choices=_LEVELS, help="isolation level; may be repeated; all if none"
    )
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="attacks whose name holds this text; may be repeated"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="for tests: a time limit of 1 second for a call",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="write the page of the site")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course dev attacks`: 0 as it must be, 1 something is not, 3 nothing could run."""
    texts = [text.lower() for text in arguments.only or [""]]
    attacks = [attack for attack in ATTACKS.values() if any(text in attack.name.lower() for text in texts)]
    for text in texts:
        if not any(text in attack.name.lower() for attack in attacks):
            arguments.usage_error(
                f"no attack has {text!r} in its name; the page docs/instructors/attacks.md lists the names"
            )
    if arguments.page and (arguments.only or arguments.quick):
        arguments.usage_error(
            "--page shows all attacks with the course's own time limits: leave --only and --quick out"
        )
    findings: dict[int, dict[str, Finding]] = {}
    missing: dict[int, str] = {}
    errors = Console(stderr=True)
    for level in sorted(set(arguments.level or _LEVELS)):
        chosen = [attack for attack in attacks if level > 0 or not attack.not_at_level_0]
        try:
            findings[level] = _tried(level, chosen, errors, quick=arguments.quick)
        except SandboxError as error:
            missing[level] = str(error)
            errors.print(f"level {level} is not on this machine: {error}", highlight=False, markup=False)
    wrong = [
        f"{name}: {problem}"
        for found in findings.values()
        for name, finding in found.items()
        for problem in problems(ATTACKS[name], finding)
    ]
    _show(findings, wrong, Console())
    if arguments.json:
        document = {"machine": machine(), "missing": missing, "problems": wrong}
        document["levels"] = {level: [asdict(each) for each in found.values()] for level, found in findings.items()}
        arguments.json.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    if arguments.page and findings:
        arguments.page.write_text(page(findings, machine()), "utf-8", newline="\n")
        print(f"{arguments.page} written")
    return 3 if not findings else 1 if wrong else 0


def machine() -> str:
    """What the attacks run on, in words and without a name."""
    kernel = re.match(r"[0-9.]*[0-9]", platform.release())
    user = "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "an ordinary user"
    parts = (counted(os.cpu_count() or 1, "core"), f"{platform.system()} {kernel[0] if kernel else ''}".strip())
    return f"{', '.join(parts)}, Python {platform.python_version()}, as {user}"


def _tried(level: int, attacks: Sequence[Attack], errors: Console, *, quick: bool) -> dict[str, Finding]:
    with (
        Progress(console=errors, transient=True) as progress,
        Trial(level, call_seconds=_QUICK_SECONDS if quick else None) as trial,
    ):
        made = progress.track(trial.run(attacks), total=len(attacks), description=f"level {level}")
        return {finding.name: finding for finding in made}


def _show(findings: dict[int, dict[str, Finding]], wrong: Sequence[str], console: Console) -> None:
    for topic in TOPICS:
        table = Table(title=topic.title, title_justify="left", show_edge=False)
        for column in ("attack", *(f"level {level}" for level in findings), "the report says"):
            table.add_column(column, overflow="fold")
        for attack in topic.attacks:
            found = {level: each[attack.name] for level, each in findings.items() if attack.name in each}
            if found:
                said = one_line(found[max(found)].sentence)
                table.add_row(attack.name, *(_words(found.get(level)) for level in findings), Text(said, style="dim"))
        if table.row_count:
            console.print(table)
    for level, each in findings.items():
        figures = ", ".join(f"{name}: {value}" for name, value in summary([*each.values()]).items())
        console.print(f"level {level}: {figures}", highlight=False)
    for problem in wrong:
        console.print(f"PROBLEM {problem}", style="red", highlight=False, markup=False)


def _words(finding: Finding | None) -> str:
    return "" if finding is None else ", ".join(finding.harms) or "stopped"
