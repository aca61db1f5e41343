"""The command line of `grade`.

`--help` shows what students need and fits on a screen; `--help-all` shows everything.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..core import course
from ..core.arguments import Parser, nearest, path_argument, positive
from ..core.contents import MODULES, WORKSHEET_FILE, may_be_graded
from ..reports import FORMATS

STANDARD_OUTPUT = Path("-")
_HINT = "hint"

_EXAMPLES = """examples:
  grade                      grade everything in ./starter
  grade advantages clip      grade two exercises
  grade bandit.grpo_step     grade one function
  grade --watch              grade again after every save
  grade hint                 get a hint for the first failure; repeat for more
  grade worksheet            grade the worksheet.json in ./starter
  grade --write html=report.html

exit code: 0 all passed, 1 checks failed, 2 wrong usage, 3 the grader failed
"""


class _HelpAll(argparse.Action):
    """Show all options."""

    def __call__(self, *_: Any) -> None:
        command_line(everything=True).print_help()
        raise SystemExit(0)


def command_line(*, everything: bool) -> Parser:
    """The options of `grade`; with `everything`, also those of `--help-all`."""
    parser = Parser(
        prog="grade",
        usage="grade [EXERCISE[.FUNCTION] ...] [options]",
        description="Grade your answers to the GRPO exercises and explain what is wrong.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "exercises",
        nargs="*",
        metavar="EXERCISE",
        # Drafts work if you name them, but the help does not list them.
        help=f"{', '.join([*course.names(optional=True), course.WORKSHEET])}; default: {', '.join(course.names())}",
    )
    _add_options_for_students(parser, everything=everything)
    parser.add_argument(
        "--help-all", action=_HelpAll, nargs=0, help="show all options, including those for instructors"
    )
    _add_rare_options(parser, everything=everything)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser


def _add_options_for_students(parser: argparse.ArgumentParser, *, everything: bool) -> None:
    parser.add_argument(
        "--path",
        type=path_argument,
        metavar="FOLDER",
        help="folder with your modules (default: ./starter, or here)",
    )
    parser.add_argument("--watch", action="store_true", help="grade again after every save, failed checks first")
    parser.add_argument("--hint", action="count", default=0, help="give a hint for the first failure; repeat for more")
    parser.add_argument("--call", action="store_true", help="also show long calls of failing checks, to paste them")
    parser.add_argument(
        "--debug", action="store_true", help="run in this process, so print and breakpoint() work; gives no grade"
    )
    parser.add_argument("--json", type=path_argument, metavar="FILE", help="write the result as JSON (- prints it)")
    parser.add_argument(
        "--write",
        type=_written_format,
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help=f"write the result in another format{': ' + ', '.join(FORMATS) if everything else ', such as html'}",
    )


def _add_rare_options(parser: argparse.ArgumentParser, *, everything: bool) -> None:
    group = parser.add_argument_group("rare, or for instructors") if everything else parser

    def add(name: str, *, help: str, **options: Any) -> None:
        group.add_argument(name, help=help if everything else argparse.SUPPRESS, **options)

    add("--seed", type=int, default=0, metavar="N", help="seed of the generated inputs (default: 0)")
    add("--examples", type=positive, metavar="N", help="generated inputs per check (default: 16; --watch: 6)")
    add(
        "--jobs",
        type=int,
        choices=(1, 2),
        help="exercises to grade at a time (default: 2 if there are two processors); the result is the same",
    )
    add(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="device of the tensors; auto means the CPU for these exercises",
    )
    add(
        "--require-level",
        type=int,
        choices=(0, 1, 2),
        default=0,
        metavar="N",
        help="refuse to grade below isolation level N",
    )
    add(
        "--secret",
        type=path_argument,
        metavar="FILE",
        help="secret of a class, written by `course grade-all`: repeats the grade that it gave",
    )
    add(
        "--upload",
        action="store_true",
        help="FOLDER is a whole upload: grade only the parts, modules or worksheet, that were handed in",
    )


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line. Exits with 2 and a message if it makes no sense."""
    parser = command_line(everything=False)
    arguments = parser.parse_args(argv)
    arguments.only_hint = arguments.exercises[:1] == [_HINT]
    del arguments.exercises[: int(arguments.only_hint)]
    arguments.names = [_known_name(parser, name) for name in arguments.exercises]
    arguments.worksheet = course.WORKSHEET in arguments.names
    asked = [name.split(".")[0] for name in arguments.names] or course.names()
    arguments.exercises = [name for name in course.names(drafts=True) if name in asked]
    if arguments.device == "auto":
        arguments.device = "cpu"
    arguments.path = arguments.path or default_path()
    _refuse_what_makes_no_sense(parser, arguments)
    return arguments


def _known_name(parser: argparse.ArgumentParser, name: str) -> str:
    """Check the name of an exercise, or of an exercise and its function. Exits with 2 if it is neither."""
    names = [*course.names(drafts=True), course.WORKSHEET]
    exercise, _, function = name.removesuffix(".py").removesuffix(".json").partition(".")
    if exercise not in names:
        parser.error(f"there is no exercise {name!r}; {_meant(name) or nearest(exercise, names)}")
    if not function and name != exercise:
        parser.error(f"there is no exercise {name!r}; did you mean {exercise}?")
    functions = () if exercise == course.WORKSHEET else course.exercise(exercise).function_names
    if function and function not in functions:
        whole = [f"{exercise}.{each}" for each in functions]
        parser.error(f"there is no {name!r}; {nearest(name, whole or [exercise])}")
    return name


def _meant(name: str) -> str:
    """What to type instead of `help`, the number of an exercise, or the name of a function; empty if it is none."""
    if name == "help":
        return "did you mean --help?"
    for exercise in course.ALL_EXERCISES:
        if name == str(exercise.number):
            return f"did you mean {exercise.name}?"
        if name in exercise.function_names:
            return f"did you mean {exercise.name}.{name}?"
    return ""


def _refuse_what_makes_no_sense(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if arguments.debug and arguments.watch:
        parser.error("use either --debug or --watch, not both")
    if arguments.debug and arguments.worksheet:
        parser.error("the worksheet has no code to debug; omit --debug")
    if arguments.debug and arguments.write:
        parser.error("--debug gives no grade, so --write has nothing to write")
    if course.is_handout() and (arguments.seed or arguments.secret):
        option = "--secret" if arguments.secret else "--seed"
        parser.error(f"{option} is for your instructor: this copy of the course has answers for seed 0 only")
    written = [("--json", arguments.json)] if arguments.json else []
    for option, file in written + [("--write", path) for _, path in arguments.write]:
        if not file.absolute().parent.is_dir():
            parser.error(f"cannot write {file.name}: there is no folder {file.parent}")
        if file != STANDARD_OUTPUT and _is_handed_in(file, arguments.path):
            parser.error(f"{option} would overwrite {file}, which you hand in; give another name")


def _written_format(text: str) -> tuple[str, Path]:
    name, _, file = text.partition("=")
    if name not in FORMATS or not file:
        import difflib

        close = difflib.get_close_matches(name, FORMATS, 1, 0.4)
        hint = f"did you mean {close[0]}=FILE?" if close and close[0] != name else "for example html=report.html"
        raise argparse.ArgumentTypeError(f"must be FORMAT=FILE with one of {', '.join(FORMATS)}, not {text!r}; {hint}")
    return name, path_argument(file)


def default_path() -> Path:
    """./starter if it exists, else the current folder."""
    starter = Path("starter")
    return starter if starter.is_dir() else Path()


def _is_handed_in(file: Path, folder: Path) -> bool:
    """Whether students write this file, under any name that the system accepts for it."""
    target, top = os.path.realpath(file), os.path.realpath(folder)
    if may_be_graded(os.path.basename(target)) and target.startswith(os.path.join(top, "")):
        return True
    for name in (*MODULES, WORKSHEET_FILE):
        theirs = folder / name
        if theirs.exists() and file.exists() and theirs.samefile(file):  # some systems ignore case: KL.py
            return True
    return False
