"""The students' command: `grade`.

Written with argparse, and with its imports where they are needed, because the fork server's import of torch is what
everybody waits for: it starts before pytest and hypothesis are imported.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from .. import __version__
from ..core import course
from ..core.arguments import nearest, path_argument, positive
from ..core.contents import MODULES, WORKSHEET_FILE, Contents, may_be_graded, read_upload
from ..core.cores import cores
from ..core.refusal import FileRefused
from ..core.submission import Submission, SubmissionError
from ..core.text import one_line
from ..grading.second_process import SecondProcess
from ..reports import FORMATS, export
from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import SandboxError
from .watch import Before

if TYPE_CHECKING:
    from rich.console import Console

    from ..core.result import CheckResult, ExerciseResult, Result
    from ..grading.check import Check
    from ..grading.student import Loaded
    from ..worksheet.reader import WorksheetFile

OK, CHECKS_FAILED, USAGE, GRADER_FAILED = 0, 1, 2, 3
_STANDARD_OUTPUT = Path("-")
_HINT = "hint"

_EXAMPLES = """examples:
  grade                           everything in ./starter
  grade advantages clip           two exercises
  grade bandit.grpo_step          one function
  grade hint                      a hint for the first thing that failed, without grading again; repeat it for the next
  grade advantages --hint         grade, and a hint; repeat --hint for the next one
  grade advantages --call         and long calls whole, to paste them
  grade --watch                   again after every save
  grade --debug advantages        in this process, so that print and breakpoint() work; gives no grade
  grade --path ../me --json r.json
  grade --write html=report.html  the report with curves, to read in a browser
  grade worksheet                 the worksheet.json in ./starter, which you downloaded from the worksheet page

exit code: 0 all passed, 1 checks failed, 2 wrong usage, 3 the grader itself could not run
"""


@dataclass(frozen=True)
class _Files:
    """What is graded.

    Attributes:
        submission: The modules; empty if the worksheet alone is graded.
        worksheet: None if it is not graded.
        has_worksheet: Whether there is one, graded or not.
    """

    submission: Submission
    worksheet: WorksheetFile | None
    has_worksheet: bool

    @property
    def sha256(self) -> str:
        """Identity of what was graded."""
        if not self.worksheet:
            return self.submission.sha256
        import hashlib

        return hashlib.sha256(f"{self.submission.sha256} {self.worksheet.sha256}".encode()).hexdigest()


@dataclass(frozen=True)
class _Processes:
    """What grades code; nothing where there is no code to grade."""

    sandbox: Sandbox | None = None
    second: SecondProcess | None = None


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line. Exits with 2 and a sentence if it makes no sense."""
    names = [*course.names(drafts=True), course.WORKSHEET]
    parser = argparse.ArgumentParser(
        prog="grade",
        description="Grade your answers to the GRPO exercises and say what to look at.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "exercises",
        nargs="*",
        metavar="EXERCISE[.FUNCTION]",
        # Drafts are for those who know of them.
        help=f"{', '.join([*course.names(optional=True), course.WORKSHEET])}; "
        f"if none is given, {', '.join(course.names())}",
    )
    parser.add_argument(
        "--path", type=path_argument, metavar="FOLDER", help="folder with your modules (default: ./starter, or here)"
    )
    parser.add_argument("--watch", action="store_true", help="grade again after every save, what failed last first")
    parser.add_argument("--hint", action="count", default=0, help="a hint for the first failure; repeat for more")
    parser.add_argument("--call", action="store_true", help="show long calls of failing checks too, to paste them")
    parser.add_argument(
        "--json",
        type=path_argument,
        metavar="FILE",
        help="write the result as JSON, renewed after every check; - prints it",
    )
    parser.add_argument(
        "--write",
        type=_written_format,
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help=f"write the result in another format, renewed after every check: {', '.join(FORMATS)}",
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
        "--secret", type=path_argument, metavar="FILE",
        help="secret of a class, as `course grade-all` wrote it: repeats the mark that it gave",
    )  # fmt: skip
    course_options.add_argument(
        "--examples", type=positive, metavar="N", help="generated inputs for every check (default: 16; --watch: 6)"
    )
    course_options.add_argument(
        "--require-level",
        type=int,
        choices=(0, 1, 2),
        default=0,
        metavar="N",
        help="refuse to grade below isolation level N",
    )
    course_options.add_argument(
        "--cold", action="store_true", help="no fork server: an interpreter for every exercise, as on Windows"
    )
    course_options.add_argument(
        "--name-refused",
        action="store_true",
        help="say which system call the walls refused, by an error that no program expects; not for a mark",
    )
    course_options.add_argument(
        "--jobs",
        type=int,
        choices=(1, 2),
        help="exercises at a time (default: 2 where there are two processors); the result is the same",
    )
    course_options.add_argument(
        "--upload",
        action="store_true",
        help="FOLDER is a whole upload: grade the modules, or the worksheet, only if some were handed in",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    arguments = parser.parse_args(argv)
    arguments.only_hint = arguments.exercises[:1] == [_HINT]
    del arguments.exercises[: int(arguments.only_hint)]
    arguments.names = [_known_name(parser, name, names) for name in arguments.exercises]
    arguments.worksheet = course.WORKSHEET in arguments.names
    asked = [name.split(".")[0] for name in arguments.names] or course.names()
    arguments.exercises = [name for name in course.names(drafts=True) if name in asked]
    if arguments.device == "auto":
        arguments.device = "cpu"
    if arguments.debug and arguments.watch:
        parser.error("--debug and --watch do not go together")
    if arguments.debug and arguments.worksheet:
        parser.error("the worksheet has no code to debug; leave --debug away")
    arguments.path = arguments.path or _default_path()
    written = [("--json", arguments.json)] if arguments.json else []
    for option, file in written + [("--write", path) for _, path in arguments.write]:
        if not file.absolute().parent.is_dir():
            parser.error(f"there is no folder {file.parent} to write {file.name} to")
        if file != _STANDARD_OUTPUT and _is_handed_in(file, arguments.path):
            parser.error(f"{option} would overwrite {file}, which is handed in; give another name")
    if arguments.debug and arguments.write:
        parser.error("--debug gives no grade, so there is nothing for --write")
    return arguments


def _known_name(parser: argparse.ArgumentParser, name: str, names: Sequence[str]) -> str:
    """The name of an exercise, or of one of its functions after a full stop. Exits with 2 if it is neither."""
    exercise, _, function = name.removesuffix(".py").removesuffix(".json").partition(".")
    if exercise not in names:
        parser.error(f"there is no exercise {name!r}; {nearest(exercise, names)}")
    if not function and name != exercise:
        parser.error(f"there is no exercise {name!r}; did you mean {exercise}?")
    functions = () if exercise == course.WORKSHEET else course.exercise(exercise).function_names
    if function and function not in functions:
        whole = [f"{exercise}.{each}" for each in functions]
        parser.error(f"there is no {name!r}; {nearest(name, whole or [exercise])}")
    return name


def main(argv: Sequence[str] | None = None) -> int:
    """Grade, report, and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a sign must not end the report
            stream.reconfigure(errors="replace")
    arguments = parse(argv)
    try:
        return _graded(arguments)
    except (SandboxError, FileRefused) as error:
        print(f"grade: {error}", file=sys.stderr)
        return GRADER_FAILED
    except KeyboardInterrupt:
        print("grade: stopped", file=sys.stderr)
        return GRADER_FAILED
    finally:
        if argv is None:  # this process is about to end
            gc.freeze()  # else Python looks through all modules once more, for a tenth of a second


def _graded(arguments: argparse.Namespace) -> int:
    """Do what was asked for."""
    path: Path = arguments.path
    try:
        files = _read(arguments, path)
    except SubmissionError as error:
        print(f"grade: {one_line(str(error), limit=1_000)}", file=sys.stderr)
        return USAGE
    if arguments.only_hint:
        from . import hint

        return hint.run(arguments.names, path, files.sha256, _console(), _declared)
    if arguments.debug:
        return _debug(arguments, files.submission)
    with _started(arguments) as processes:
        if arguments.watch:
            return _watch(arguments, path, processes)
        return _grade_once(arguments, files, processes)


def _written_format(text: str) -> tuple[str, Path]:
    name, _, file = text.partition("=")
    if name not in FORMATS or not file:
        import difflib

        close = difflib.get_close_matches(name, FORMATS, 1, 0.4)
        hint = f"did you mean {close[0]}=FILE?" if close and close[0] != name else "for example html=report.html"
        raise argparse.ArgumentTypeError(f"must be FORMAT=FILE with one of {', '.join(FORMATS)}, not {text!r}; {hint}")
    return name, path_argument(file)


def _default_path() -> Path:
    """./starter if there is one, else the current folder."""
    starter = Path("starter")
    return starter if starter.is_dir() else Path()


def _is_handed_in(file: Path, folder: Path) -> bool:
    """Whether a file is one that students write, under whatever name the system knows it."""
    place, top = os.path.realpath(file), os.path.realpath(folder)
    if may_be_graded(os.path.basename(place)) and place.startswith(os.path.join(top, "")):
        return True
    for name in (*MODULES, WORKSHEET_FILE):
        theirs = folder / name
        if theirs.exists() and file.exists() and theirs.samefile(file):  # KL.py on some systems
            return True
    return False


def _read(arguments: argparse.Namespace, path: Path) -> _Files:
    """Read what is to be graded, once. With `--upload`, only what is there is asked for.

    Raises:
        SubmissionError: there is nothing that could be graded.
    """
    found = read_upload(path)
    if arguments.upload:
        _ask_for_what_is_there(arguments, found)
        found = replace(found, notes=(*_what_is_graded(arguments, found), *found.notes))
    if arguments.exercises:
        submission = found.graded()
    else:
        submission = replace(found.submission, files={}, problems={}, notes=found.notes)
    if not arguments.worksheet:
        return _Files(submission, None, isinstance(found.worksheet, bytes))
    from ..worksheet.reader import worksheet_in

    return _Files(submission, worksheet_in(found.worksheet), True)


def _ask_for_what_is_there(arguments: argparse.Namespace, found: Contents) -> None:
    """Leave out the modules, or the worksheet, if none was handed in."""
    has_worksheet = WORKSHEET_FILE not in found.missing
    if not found.has_modules and not (arguments.worksheet and has_worksheet):
        names = (*MODULES, *((WORKSHEET_FILE,) if arguments.worksheet else ()))
        raise SubmissionError(f"None of the files {', '.join(names)} was handed in. Upload them and submit again.")
    if not found.has_modules:
        arguments.exercises, arguments.names = [], [course.WORKSHEET]
    arguments.worksheet = arguments.worksheet and has_worksheet


def _what_is_graded(arguments: argparse.Namespace, found: Contents) -> list[str]:
    """Where the modules lie, and what was not handed in at all."""
    sentences = [f"graded is what lies in {one_line(str(found.place))}"] if found.has_modules else []
    if not found.has_modules:
        sentences.append(f"none of the files {', '.join(MODULES)} was handed in")
    if WORKSHEET_FILE in found.missing and course.WORKSHEET in arguments.names:
        sentences.append(f"no {WORKSHEET_FILE} was handed in, so there are no points for the worksheet")
    return sentences


@contextlib.contextmanager
def _started(arguments: argparse.Namespace) -> Iterator[_Processes]:
    """Begin to start what grades, without waiting."""
    of_code = sum(map(course.runs_code, arguments.exercises))
    options = {
        "cold": arguments.cold,
        "device": arguments.device,
        "require_level": arguments.require_level,
        "name_refused": arguments.name_refused,
    }
    with contextlib.ExitStack() as stack:
        processes = _Processes()
        if of_code:
            processes = _Processes(stack.enter_context(Sandbox.start(**options)))
        # All of it runs on one GPU.
        if of_code > 1 and arguments.device == "cpu" and (arguments.jobs or min(2, cores())) == 2:
            with contextlib.suppress(OSError):  # no process more: everything is graded here
                processes = replace(processes, second=stack.enter_context(SecondProcess(**options)))
        yield processes


def _use_examples(examples: int) -> None:
    """Import what grades, while the sandbox imports torch."""
    from ..grading import plugin, run  # noqa: F401

    plugin.use_profile(examples)


def _grade_once(arguments: argparse.Namespace, files: _Files, processes: _Processes) -> int:
    if arguments.exercises:
        from ..grading import plugin

        _use_examples(arguments.examples or plugin.DEFAULT_EXAMPLES)
    result = _grade(arguments, files, processes)
    _report(arguments, result)
    if not arguments.names:
        _point_to_worksheet(arguments, files)
    if processes.sandbox and arguments.json != _STANDARD_OUTPUT:
        from . import tip

        if tip.is_due():
            _console().print(tip.TIP, style="dim", highlight=False)
    return result.exit_code


def _point_to_worksheet(arguments: argparse.Namespace, files: _Files) -> None:
    """Plain `grade` leaves the worksheet out; who has one shall know."""
    if arguments.json != _STANDARD_OUTPUT and files.has_worksheet:
        _console().print(f"There is a {WORKSHEET_FILE} too: `grade worksheet` grades it.", highlight=False)


def _grade(arguments: argparse.Namespace, files: _Files, processes: _Processes, before: Before | None = None) -> Result:
    """Grade all that was asked for; of what was graded before, what may have changed."""
    if arguments.exercises:
        return _grade_with_progress(arguments, files, processes, before)
    from ..worksheet.grade import grade_alone

    assert files.worksheet  # something is asked for
    submission, options = files.submission, {"seed": arguments.seed, "device": arguments.device}
    result = grade_alone(files.worksheet, submission=submission.folder, sha256=files.sha256, **options)
    result = replace(result, notes=[*submission.notes])
    _save(arguments, result)
    return result


_NAMED = "refused system calls were named: they fail with another error than in a grading that counts"


def _grade_with_progress(
    arguments: argparse.Namespace, files: _Files, processes: _Processes, before: Before | None
) -> Result:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    from ..core.secret import PUBLIC, read_secret
    from ..grading.run import Grading

    sandbox = processes.sandbox
    grading = Grading(
        files.submission,
        arguments.exercises,
        sandbox.worker if sandbox else _no_worker,
        seed=arguments.seed,
        secret=read_secret(arguments.secret) if arguments.secret else PUBLIC,
        device=arguments.device,
        checks=_selected(arguments),
        first=before.first if before else None,
        known=before.result if before else None,
        fresh_workers=not (sandbox and sandbox.cold),
    )
    if before:
        again = before.to_grade_again(files.submission)
        checks = {key: check for key, check in grading.selected.items() if check.exercise in again}
        grading = replace(grading, checks=checks)
    worksheet = _graded_worksheet(files)

    def whole(result: Result) -> Result:
        """What is known by now, with the worksheet's part."""
        notes = [*result.notes, *([_NAMED] if arguments.name_refused else [])]
        found = replace(result, exercises=[*result.exercises, *worksheet], sha256=files.sha256, notes=notes)
        return before.merged(found) if before else found

    _save(arguments, whole(grading.empty()))
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("importing torch" if sandbox else "reading", total=len(grading.selected))

        def update(result: Result, entry: CheckResult) -> None:
            progress.update(task, advance=1, description=f"{entry.id.split('.')[0]}: {entry.function}")
            if before and entry.id == before.first:  # what somebody is waiting for, before the others have run
                _tell_first(entry, progress.console)
            _save(arguments, whole(result))

        def update_again(done: int, of: int) -> None:
            progress.update(task, completed=done, total=of, description="once more, with right earlier functions")

        def wait(result: Result) -> None:
            if sandbox:
                result.isolation_level, result.walls = sandbox.level, sandbox.walls()

        result = grading.run(update, processes.second, update_again, wait)
    _save(arguments, whole(result))
    return whole(result)


def _tell_first(entry: CheckResult, console: Console) -> None:
    from ..core.result import PASSED

    if console.is_terminal:
        words = "passes now" if entry.outcome == PASSED else "does not pass yet"
        console.print(f"{words}: {entry.title}", markup=False, highlight=False)


def _no_worker(**_: object) -> NoReturn:
    raise AssertionError("nothing of this submission is code")


def _selected(arguments: argparse.Namespace, *, hidden: bool | None = None) -> dict[str, Check] | None:
    """The checks of what was named, where that is a function; None for all checks of the exercises."""
    if not any("." in name for name in arguments.names):
        return None
    from ..grading.check import has_hidden_checks
    from ..grading.settings import declared_checks

    declared = declared_checks(arguments.exercises, hidden=has_hidden_checks() if hidden is None else hidden)
    whole = {name for name in arguments.names if "." not in name}
    return {
        key: check for key, check in declared.items() if check.exercise in whole or check.whole_name in arguments.names
    }


def _graded_worksheet(files: _Files) -> list[ExerciseResult]:
    """The worksheet's part of the result, if it is asked for."""
    if not files.worksheet:
        return []
    from ..worksheet import grade as worksheet

    return [worksheet.grade(files.worksheet)]


def _save(arguments: argparse.Namespace, result: Result) -> None:
    """Write all files again: whatever stops the grader leaves them valid."""
    if arguments.json and arguments.json != _STANDARD_OUTPUT:
        _replace(arguments.json, result.as_json())
    for name, path in arguments.write:
        try:
            _replace(path, export(result, name, os.environ))
        except ValueError as error:
            raise SandboxError(f"{name} cannot be written: {error}") from None


def _replace(path: Path, text: str) -> None:
    from ..core.result import replace_file

    try:
        replace_file(path, text)
    except OSError as error:
        raise SandboxError(f"{path} cannot be written: {error.strerror}") from None


def _report(arguments: argparse.Namespace, result: Result) -> None:
    from ..reports import terminal

    if arguments.json == _STANDARD_OUTPUT:
        sys.stdout.write(result.as_json())
        return
    console = _console()
    options: dict[str, Any] = {}
    if result.grade:
        from . import hint

        if terminal.is_whole(result):
            before = hint.last(arguments.path)
            options["finish"] = not (before and terminal.is_whole(before))
        if hint.remember(result, arguments.path):
            given = f" --path {one_line(str(arguments.path))}" if arguments.path != _default_path() else ""
            options["hint"] = f"grade hint{given}"
    terminal.show(result, console, whole_calls=arguments.call, **options)
    if arguments.hint:
        failed = terminal.first_failed(result)
        terminal.show_hints(failed, _declared(failed) if failed else None, arguments.hint, console)


def _declared(entry: CheckResult) -> Check:
    """The declaration of a check, which has the hints."""
    exercise = entry.id.split(".")[0]
    if exercise == course.WORKSHEET:
        from ..worksheet import grade as worksheet

        return worksheet.checks()[entry.id]
    from ..grading.settings import declared_checks

    return declared_checks([exercise], hidden=True)[entry.id]


def _console() -> Console:
    from rich.console import Console

    # Without a terminal rich assumes 80 columns; a log file has room for more.
    columns = os.environ.get("COLUMNS", "")
    width = max(int(columns), 20) if columns.isascii() and columns.isdigit() else 120
    # NO_COLOR asks for no colours; bold and dim are escape sequences too, and go with them.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(width=None if sys.stdout.isatty() else width, color_system=colours, emoji=False)


def _watch(arguments: argparse.Namespace, path: Path, processes: _Processes) -> int:
    """Grade after every save until Ctrl-C. Returns the last exit code."""
    from watchfiles import watch

    from ..reports import terminal

    console, code, graded, passed = _console(), GRADER_FAILED, "", ""
    before: Before | None = None
    if arguments.exercises:
        from ..grading import plugin

        _use_examples(arguments.examples or plugin.WATCH_EXAMPLES)
    if processes.sandbox:
        passed = f"Passed with {plugin.examples()} inputs for every law; run `grade` for the full number."

    def again() -> None:
        """Grade what is there now, unless it has been graded."""
        nonlocal code, graded, before
        try:
            files = _read(arguments, path)
        except SubmissionError as error:
            if graded != str(error):
                console.print(one_line(str(error), limit=1_000), markup=False)
            graded = str(error)
            return
        if files.sha256 == graded:
            return
        graded = files.sha256
        result = _grade(arguments, files, processes, before)
        failed, last, code = terminal.first_failed(result), before and before.result, result.exit_code
        before = Before(result, files.submission, failed.id if failed else None)
        if console.is_terminal:
            console.clear()
        _report(arguments, result)
        if last:
            console.print(f"since the last save  {terminal.difference(last, result)}", markup=False, highlight=False)
        if code == OK and passed:
            console.print(passed)
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
    from ..grading import plugin
    from ..grading.debug import InProcess
    from ..grading.run import Grading

    print("Debug mode: your code runs in this process, without walls or time limits. This gives no grade.")
    plugin.use_profile(arguments.examples or plugin.DEBUG_EXAMPLES)
    start: Callable[[], Loaded] = InProcess
    result = Grading(
        submission,
        arguments.exercises,
        start,
        seed=arguments.seed,
        device=arguments.device,
        hidden=False,
        checks=_selected(arguments, hidden=False),
        folder=str(submission.path),
        debug=True,
    ).run()
    _save(arguments, result)
    _report(arguments, result)
    return result.exit_code


if __name__ == "__main__":
    exit_code = main()
    # Python ends `python -m` as killed by Ctrl-C when an interrupt was ever raised inside an exec of a text, which
    # hypothesis makes often, handled or not (CPython's unhandled_keyboard_interrupt). The next exec forgets it.
    exec("")
    sys.exit(exit_code)
