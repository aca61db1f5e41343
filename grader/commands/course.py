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
from ..core.served import refuse_other_course, served
from ..core.text import one_line
from ..sandbox.worker_process import SandboxError

_CLASS = {
    "handout": ("make the repository or zip for students, without solutions", "--out ../grpo-students"),
    "grade-all": ("grade a whole class", "submissions.zip --out graded"),
    "gradebook": (
        "fill the grades into the export of your Canvas, Moodle or Blackboard",
        "canvas graded --gradebook export.csv --out filled.csv",
    ),
    "feedback": (
        "pack the reports for the upload to Moodle or Canvas, or for mail",
        "moodle graded --out feedback.zip",
    ),
    "regrade": ("grade one submission again, and say what changed", "graded NAME file.zip"),
    "report": ("write the class report", "graded --out class.html"),
}
"""What a class needs, in this order: what each command does, and an example."""
_MORE = {
    "diff": "say what a second grading of a class changed",
    "adjust": "check the marks by hand of a graded class, and write them into its table and pages",
    "worksheet": "write a page with submitted worksheets side by side",
    "autograder": "make the zip that Gradescope runs",
    "export": "write one result in another format",
    "doctor": "say what is different about this machine's environment, and what to do",
}
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
  course dev recordings --run clip
                             what the clip range does: curves of 1,000 runs as CSV
"""

COMMANDS = {name: text for name, (text, _) in _CLASS.items()} | _MORE
"""Name of a command to what it does. The module of that name beside this one has its `add_arguments` and `run`."""

DEV_COMMANDS = {
    "new": "make the files of a new exercise, which is graded at once",
    "check": "say what an exercise still lacks",
    "stubs": "write starter/ from the model answers",
    "vectors": "write the worked examples' answers",
    "numbers": "write what course.toml says into menus and a script of the site",
    "golden": "write what the browser must agree with",
    "selftest": "grade answers whose grade is known",
    "recordings": "write the recorded runs for the browser; run the simulation's again",
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


def _help() -> str:
    """The commands that are there: in a student's handout only a few are."""
    lines = []
    for name, (text, example) in _CLASS.items():
        if _module(name):
            lines += [f"  {name:<11} {text}", f"              course {name} {example}"]
    more = [f"  {name:<11} {text}" for name, text in _MORE.items() if _module(name)]
    more += ["  dev         what writes and proves the files of this repository"] * bool(_module("stubs"))
    lines = ["For a class:", *lines, "", "More:", *more] if lines else ["Commands:", *more]
    return "\n".join([*lines, "", "course COMMAND --help says more."])


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Returns:
        0 fine, 1 something is stale or wrong, 2 usage, 3 the grader could not run or was stopped.
    """
    parser = _Parser(
        prog="course", usage="course COMMAND ...", epilog=_help(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog="course", help=argparse.SUPPRESS
    )
    argv = [*(sys.argv[1:] if argv is None else argv)]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a sign must not end the command
            stream.reconfigure(errors="replace")
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
    print(f"course: {served()}", file=sys.stderr)
    try:
        if arguments.command != "doctor":  # which says what is wrong there
            refuse_other_course("course")
        return int(arguments.run(arguments))
    except SandboxError as error:
        print(f"course: {error}", file=sys.stderr)
        return 3
    except FileRefused as error:
        print(f"course: {one_line(str(error), limit=1_000)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("course: stopped", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
