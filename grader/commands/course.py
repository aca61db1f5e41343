"""The instructors' command: the handout, the class and its grades, and the generated files of this repository."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence

from .. import __version__
from ..core.arguments import Parser, nearest
from ..core.refusal import FileRefused
from ..core.served import refuse_other_course, served
from ..core.text import one_line
from ..sandbox.worker_process import SandboxError

_CLASS = {
    "handout": ("make the repository or zip for students, without solutions", "--out ../grpo-students"),
    "grade-all": ("grade a whole class", "submissions.zip --out graded"),
    "gradebook": (
        "enter the grades into a gradebook that Canvas or Moodle exported",
        "canvas graded --gradebook export.csv --out filled.csv",
    ),
    "feedback": (
        "pack the reports for Moodle, Canvas or email",
        "moodle graded --out feedback.zip",
    ),
    "regrade": ("grade one submission again, or add one", "graded NAME file.zip"),
    "report": ("write the class report", "graded --out class.html"),
}
"""The commands that a class needs, in this order: what each does, and an example."""
_MORE = {
    "diff": "show what a second grading of a class changed",
    "autograder": "make the zip that Gradescope runs",
    "doctor": "find problems with this machine's environment and say how to fix them",
}
COMMANDS = {name: text for name, (text, _) in _CLASS.items()} | _MORE
"""Name of a command to what it does. The module of that name in this folder has its `add_arguments` and `run`."""

_DEV = {"dev": "generate and check files of this repository"}


def _module(name: str) -> str:
    """The module of a command; empty in a student's handout if the command needs the model answers."""
    module = f"{__package__}.{name.replace('-', '_')}"
    return module if importlib.util.find_spec(module) else ""


def _add(commands: argparse._SubParsersAction[Parser], known: Mapping[str, str], given: Sequence[str]) -> None:
    """Add commands, but import only the given one, so that `course doctor` works if a package is missing."""
    for name, text in known.items():
        if module_name := _module(name):
            command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
            if name in given:
                module = importlib.import_module(module_name)
                if name != "dev":  # its subcommands bring their own
                    command.set_defaults(run=module.run)
                module.add_arguments(command)


def _help() -> str:
    """List the available commands; a student's handout has only a few."""
    lines = []
    for name, (text, example) in _CLASS.items():
        if _module(name):
            lines += [f"  {name:<11} {text}", f"              course {name} {example}"]
    more = [f"  {name:<11} {text}" for name, text in (_MORE | _DEV).items() if _module(name)]
    lines = ["For a class:", *lines, "", "More:", *more] if lines else ["Commands:", *more]
    return "\n".join([*lines, "", "Run course COMMAND --help for the options of a command."])


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Returns:
        0 fine, 1 something is stale or wrong, 2 wrong usage, 3 the grader could not run or was stopped.
    """
    parser = Parser(
        prog="course", usage="course COMMAND ...", epilog=_help(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog="course", help=argparse.SUPPRESS
    )
    argv = [*(sys.argv[1:] if argv is None else argv)]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal cannot show must not end the command
            stream.reconfigure(errors="replace")
    _add(commands, COMMANDS | _DEV, argv[:1])
    if argv and not argv[0].startswith("-") and argv[0] not in commands.choices:
        parser.error(f"there is no command {argv[0]!r}; {nearest(argv[0], [*commands.choices])}")
    arguments = parser.parse_args(argv)
    print(f"course: {served()}", file=sys.stderr)
    try:
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
