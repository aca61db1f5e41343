"""The instructors' command: the handout, the class and its grades, and all that is generated in this repository."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from .. import __version__
from ..core.refusal import FileRefused
from ..core.text import one_line
from ..sandbox.worker_process import SandboxError

_EXAMPLES = """examples:
  course handout --out ../grpo-students --site https://example.edu/grpo/
                             the repository for students, without solutions
  course grade-all submissions.zip --out graded
                             grade a class; the same command goes on after a stop
  course adjust graded       check the marks by hand in graded/adjustments.csv, and write them into the table
  course report graded --out class.html
  course gradebook canvas graded --gradebook export.csv --column GRPO --out filled.csv
  course feedback moodle graded --out feedback.zip
                             everybody's report, for "Upload multiple feedback files in a zip"
  course worksheet me you --out page.html
                             worksheets side by side, under what the numbers show, as one HTML page
  course dev --help          what writes and proves the files of this repository
"""
_DEV_EXAMPLES = """examples:
  course dev new length_penalty --title "A penalty for length"
                             a new exercise, as a draft
  course dev check length_penalty
                             what does it lack before a class can have it?
  course dev stubs           write starter/ from the model answers
  course dev stubs --check   is starter/ current?
  course dev vectors clip    write the worked examples' answers from the model answers and the misconceptions
  course dev golden          write what the browser must agree with: runs of the simulation, the worksheet's table
  course dev selftest        does the grader treat every answer whose grade is known as it must?
  course dev selftest clip   the same for one exercise
  course dev ablate clip     what the clip range does: runs, curves as CSV and SVG
"""

COMMANDS = {
    "handout": "make the repository or zip for students, without solutions",
    "doctor": "say what is different about this machine's environment, and what to do",
    "grade-all": "grade a whole class",
    "regrade": "grade one submission of a graded class again, and say what changed",
    "merge": "put the results of several machines into one folder",
    "adjust": "check the marks by hand of a graded class, and write them into its table and pages",
    "diff": "say what a second grading of a class changed",
    "report": "write the class report",
    "gradebook": "fill the grades into the export of your Canvas, Moodle or Blackboard",
    "feedback": "pack the reports for the upload to Moodle or Canvas, or for a mail merge",
    "export": "write one result in another format",
    "autograder": "make the zip that Gradescope runs",
    "worksheet": "write a page with submitted worksheets side by side",
}
"""Name of a command to what it does. The module of that name beside this one has its `add_arguments` and `run`."""

DEV_COMMANDS = {
    "new": "make the files of a new exercise, which is graded at once",
    "check": "say what an exercise still lacks",
    "stubs": "write starter/ from the model answers",
    "vectors": "write the worked examples' answers",
    "numbers": "write what is measured, counted and listed into the pages that say it",
    "mistakes": "write the pages of common mistakes",
    "golden": "write what the browser must agree with",
    "selftest": "grade answers whose grade is known",
    "ablate": "write the runs that show what each setting does",
    "recordings": "write the recorded runs as pictures and for the browser",
    "cheat-sheet": "write the loss on one page, as SVG and PDF",
    "notebook": "write the notebook of run_llm, and the page that leads to it",
    "finish-site": "finish built pages, after Zensical: formulas, pictures of runs, search, share pictures",
    "answer-key": "measure the answers to the worksheet's questions",
}
"""The same for what follows `course dev`."""


class _Parser(argparse.ArgumentParser):
    """One whose errors are a line of text, whatever the names of files in them are."""

    def error(self, message: str) -> NoReturn:
        super().error(one_line(message, limit=1_000))


def _module(name: str) -> str:
    """The module of a command; none in a student's handout, which lacks what needs the model answers."""
    module = f"{__package__}.{name.replace('-', '_')}"
    return module if importlib.util.find_spec(module) else ""


def _add(commands: argparse._SubParsersAction[_Parser], known: Mapping[str, str], given: Sequence[str]) -> None:
    """Add commands; the one that was given is imported, so `course doctor` works where a package is missing."""
    for name, text in known.items():
        if module_name := _module(name):
            command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
            if name in given:
                module = importlib.import_module(module_name)
                module.add_arguments(command)
                command.set_defaults(run=module.run)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Returns:
        0 fine, 1 something is stale or wrong, 2 usage, 3 the grader could not run or was stopped.
    """
    parser = _Parser(
        prog="course",
        description="Beside `grade`: for students `doctor` and `export`, for instructors everything else.",
        epilog=_EXAMPLES if _module("handout") else None,  # none of it for students
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    argv = [*(sys.argv[1:] if argv is None else argv)]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a sign must not end the command
            stream.reconfigure(errors="replace")
    if argv[:1] and argv[0] in DEV_COMMANDS and _module("stubs"):  # the name that it had before 0.2
        print(f"course: the command is called `course dev {argv[0]}` now", file=sys.stderr)
        argv = ["dev", *argv]
    _add(commands, COMMANDS, argv[:1])
    if _module("stubs"):
        text = "what writes and proves the files of this repository"
        dev = commands.add_parser(
            "dev",
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=_DEV_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add(dev.add_subparsers(dest="command", required=True, metavar="COMMAND"), DEV_COMMANDS, argv[1:2])
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except SandboxError as error:
        print(f"course: {error}", file=sys.stderr)
        return 3
    except FileRefused as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("course: stopped", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
