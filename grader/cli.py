"""The students' command: `grade`.

Written with argparse, and with its imports where they are needed, because the fork server's import of torch is what
everybody waits for: it starts before pytest and hypothesis are imported.
"""

from __future__ import annotations

import os
import sys

# Nothing beside a submission may take a library's place: the current folder (python -m) and PYTHONPATH come last.
_foreign = {os.path.abspath(entry) for entry in (".", *os.environ.get("PYTHONPATH", "").split(os.pathsep))}
sys.path.sort(key=lambda entry: os.path.abspath(entry) in _foreign)

import argparse
import difflib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from . import __version__, course
from .exporters.plain_text import one_line
from .sandbox import Sandbox, SandboxError
from .submission import Submission, SubmissionError, read_submission

if TYPE_CHECKING:
    from rich.console import Console

    from .result import CheckResult, Result
    from .student import Loaded

OK, CHECKS_FAILED, USAGE, GRADER_FAILED = 0, 1, 2, 3
_STANDARD_OUTPUT = Path("-")

_EXAMPLES = """examples:
  grade                           everything in ./starter
  grade advantages clip           two exercises
  grade advantages --hint         and a hint for the first thing that fails; repeat --hint for the next one
  grade --watch                   again after every save
  grade --debug advantages        in this process, so that print and breakpoint() work; gives no grade
  grade --path ../me --json r.json

exit code: 0 all passed, 1 checks failed, 2 wrong usage, 3 the grader itself could not run
"""


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line. Exits with 2 and a sentence if it makes no sense."""
    names = [exercise.name for exercise in course.EXERCISES]
    parser = argparse.ArgumentParser(
        prog="grade",
        description="Grade your answers to the GRPO exercises and say what to look at.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("exercises", nargs="*", metavar="EXERCISE", help=f"{', '.join(names)}; all if none is given")
    parser.add_argument(
        "--path", type=Path, metavar="FOLDER", help="folder with your modules (default: ./starter, or here)"
    )
    parser.add_argument("--watch", action="store_true", help="grade again after every save, what failed last first")
    parser.add_argument("--hint", action="count", default=0, help="a hint for the first failure; repeat for more")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the result as JSON, renewed after every check; - prints it"
    )
    parser.add_argument(
        "--debug", action="store_true", help="run in this process: print and breakpoint() work; no grade"
    )
    parser.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where the tensors go; auto is the CPU for these exercises",
    )
    course_options = parser.add_argument_group("for instructors")
    course_options.add_argument("--seed", type=int, default=0, metavar="N", help="of the generated inputs (default: 0)")
    course_options.add_argument(
        "--examples", type=_positive, metavar="N", help="generated inputs for every check (default: 16; --watch: 6)"
    )
    course_options.add_argument(
        "--require-level",
        type=int,
        choices=(0, 1),
        default=0,
        metavar="N",
        help="refuse to grade below isolation level N",
    )
    course_options.add_argument(
        "--cold", action="store_true", help="no fork server: an interpreter for every exercise, as on Windows"
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    arguments = parser.parse_args(argv)
    for name in arguments.exercises:
        if name not in names:
            close = difflib.get_close_matches(name.removesuffix(".py"), names, 1, 0.4)
            parser.error(
                f"there is no exercise {name!r}"
                + (f"; did you mean {close[0]}?" if close else f"; there are {', '.join(names)}")
            )
    arguments.exercises = [name for name in names if name in arguments.exercises or not arguments.exercises]
    if arguments.device == "auto":
        arguments.device = "cpu"
    if arguments.debug and arguments.watch:
        parser.error("--debug and --watch do not go together")
    if arguments.json and not arguments.json.absolute().parent.is_dir():
        parser.error(f"there is no folder {arguments.json.parent} to write {arguments.json.name} to")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Grade, report, and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a sign must not end the report
            stream.reconfigure(errors="replace")
    arguments = parse(argv)
    path = arguments.path or _default_path()
    try:
        submission = read_submission(path)
    except SubmissionError as error:
        print(f"grade: {one_line(str(error), limit=1_000)}", file=sys.stderr)
        return USAGE
    try:
        if arguments.debug:
            return _debug(arguments, submission)
        start = {"cold": arguments.cold, "device": arguments.device, "require_level": arguments.require_level}
        with Sandbox.start(**start) as sandbox:
            if arguments.watch:
                return _watch(arguments, path, sandbox)
            return _grade_once(arguments, submission, sandbox)
    except SandboxError as error:
        print(f"grade: {error}", file=sys.stderr)
        return GRADER_FAILED
    except KeyboardInterrupt:
        print("grade: stopped", file=sys.stderr)
        return GRADER_FAILED


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def _default_path() -> Path:
    """./starter if there is one, else the current folder."""
    starter = Path("starter")
    return starter if starter.is_dir() else Path()


def _grade_once(arguments: argparse.Namespace, submission: Submission, sandbox: Sandbox) -> int:
    from . import plugin

    plugin.use_profile(arguments.examples or plugin.DEFAULT_EXAMPLES)
    result = _grade_with_progress(arguments, submission, sandbox)
    _report(arguments, result)
    return result.exit_code


def _grade_with_progress(
    arguments: argparse.Namespace, submission: Submission, sandbox: Sandbox, *, first: str | None = None
) -> Result:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    from .check import has_hidden_checks
    from .run import declared_checks, empty_result, grade

    checks = declared_checks(arguments.exercises, hidden=has_hidden_checks())
    result = empty_result(submission, arguments.exercises, checks, seed=arguments.seed, device=arguments.device)
    _save(arguments, result)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("importing torch", total=len(checks))
        result.isolation_level, result.walls = sandbox.level, sandbox.walls()

        def update(entry: CheckResult) -> None:
            progress.update(task, advance=1, description=f"{entry.id.split('.')[0]}: {entry.function}")
            _save(arguments, result)

        grade(
            submission,
            arguments.exercises,
            sandbox.worker,
            seed=arguments.seed,
            device=arguments.device,
            checks=checks,
            result=result,
            on_update=update,
            first=first,
            fresh_workers=not sandbox.cold,
        )
    _save(arguments, result)
    return result


def _save(arguments: argparse.Namespace, result: Result) -> None:
    if arguments.json and arguments.json != _STANDARD_OUTPUT:
        try:
            result.write(arguments.json)
        except OSError as error:
            raise SandboxError(f"{arguments.json} cannot be written: {error.strerror}") from None


def _report(arguments: argparse.Namespace, result: Result) -> None:
    from .check import checks_of
    from .exporters import terminal

    if arguments.json == _STANDARD_OUTPUT:
        sys.stdout.write(result.as_json())
        return
    console = _console()
    terminal.show(result, console)
    if arguments.hint:
        failed = terminal.first_failed(result)
        declared = checks_of(failed.id.split(".")[0], hidden=True) if failed else []
        check = next((check for check in declared if failed and check.id == failed.id), None)
        terminal.show_hints(failed, check, arguments.hint, console)


def _console() -> Console:
    from rich.console import Console

    # Without a terminal rich assumes 80 columns; a log file has room for more.
    columns = os.environ.get("COLUMNS", "")
    width = max(int(columns), 20) if columns.isascii() and columns.isdigit() else 120
    # NO_COLOR asks for no colours; bold and dim are escape sequences too, and go with them.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(width=None if sys.stdout.isatty() else width, color_system=colours)


def _watch(arguments: argparse.Namespace, path: Path, sandbox: Sandbox) -> int:
    """Grade after every save until Ctrl-C. Returns the last exit code."""
    from watchfiles import watch

    from . import plugin
    from .exporters import terminal

    plugin.use_profile(arguments.examples or plugin.WATCH_EXAMPLES)
    console, first, code, graded = _console(), None, GRADER_FAILED, ""

    def again() -> None:
        """Grade what is there now, unless it has been graded."""
        nonlocal first, code, graded
        try:
            submission = read_submission(path)
        except SubmissionError as error:
            if graded != str(error):
                console.print(one_line(str(error), limit=1_000), markup=False)
            graded = str(error)
            return
        if submission.sha256 == graded:
            return
        graded = submission.sha256
        result = _grade_with_progress(arguments, submission, sandbox, first=first)
        if console.is_terminal:
            console.clear()
        _report(arguments, result)
        failed = terminal.first_failed(result)
        first, code = failed.id if failed else None, result.exit_code
        if code == OK:
            console.print(f"Passed with {plugin.examples()} inputs for every law; run `grade` for the full number.")
        console.print(f"Watching {path}; Ctrl-C to stop.", style="dim", markup=False)

    try:
        again()
        # Once a second too, for what was saved while nobody watched.
        for _ in watch(path, debounce=100, step=20, rust_timeout=1_000, yield_on_timeout=True, recursive=False):
            again()
    except KeyboardInterrupt:
        pass
    return code


def _debug(arguments: argparse.Namespace, submission: Submission) -> int:
    """The same checks in this process. Gives no grade."""
    from . import plugin
    from .debug import InProcess
    from .run import grade

    print("Debug mode: your code runs in this process, without walls or time limits. This gives no grade.")
    plugin.use_profile(arguments.examples or plugin.DEBUG_EXAMPLES)
    start: Callable[[], Loaded] = InProcess
    result = grade(
        submission,
        arguments.exercises,
        start,
        seed=arguments.seed,
        device=arguments.device,
        hidden=False,
        folder=str(submission.path),
        debug=True,
    )
    _save(arguments, result)
    _report(arguments, result)
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main())
