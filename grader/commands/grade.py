"""The students' command: `grade`.

It uses argparse and imports modules late, because users wait longest for the fork server's import of torch, which must
start before the imports of pytest and hypothesis.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ..core import course
from ..core.arguments import cores
from ..core.contents import MODULES, WORKSHEET_FILE, Contents, read_upload
from ..core.note import Note
from ..core.refusal import FileRefused
from ..core.running_course import refuse_other_course, running_course
from ..core.source import cell_of, functions
from ..core.submission import Submission, SubmissionError
from ..core.text import one_line
from ..grading.grading_process import GradingProcess
from ..reports import export
from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import SandboxError
from .grade_options import STANDARD_OUTPUT, default_path, parse
from .watch import Before

if TYPE_CHECKING:
    from rich.console import Console

    from ..core.result import CheckResult, ExerciseResult, Result
    from ..grading.check import Check
    from ..grading.settings import GradingSettings
    from ..grading.student import Loaded
    from ..worksheet.reader import WorksheetFile

OK, CHECKS_FAILED, USAGE, GRADER_FAILED = 0, 1, 2, 3
_SAVING_SECONDS = 0.5


@dataclass(frozen=True)
class _Files:
    """The files to grade.

    Attributes:
        submission: The modules; empty when grading only the worksheet.
        worksheet: None when not grading it.
        has_worksheet: Whether a worksheet exists, graded or not.
    """

    submission: Submission
    worksheet: WorksheetFile | None
    has_worksheet: bool

    @property
    def sha256(self) -> str:
        """Digest of the graded files."""
        if not self.worksheet:
            return self.submission.sha256
        import hashlib

        return hashlib.sha256(f"{self.submission.sha256} {self.worksheet.sha256}".encode()).hexdigest()


@dataclass(frozen=True)
class _Processes:
    """The processes that grade code; none if there is no code to grade."""

    sandbox: Sandbox | None = None
    grading: GradingProcess | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Grade, report, and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal cannot show must not end the report
            stream.reconfigure(errors="replace")
    arguments = parse(argv)
    print(f"grade: {running_course()}", file=sys.stderr)
    try:
        refuse_other_course("grade")
        return _graded(arguments)
    except (SandboxError, FileRefused) as error:
        print(f"grade: {error}", file=sys.stderr)
        return GRADER_FAILED
    except KeyboardInterrupt:
        print("grade: stopped", file=sys.stderr)
        return GRADER_FAILED
    finally:
        if argv is None:  # this process is about to end
            gc.freeze()  # saves a tenth of a second in which Python would collect garbage in all modules


def _graded(arguments: argparse.Namespace) -> int:
    """Do what the arguments ask for."""
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


def _read(arguments: argparse.Namespace, path: Path) -> _Files:
    """Read the files to grade, once. With `--upload`, grade only what was handed in.

    Raises:
        SubmissionError: there is nothing to grade.
    """
    found = read_upload(path)
    if arguments.upload:
        _keep_handed_in_parts(arguments, found)
        found = replace(found, notes=(*_notes_on_parts(arguments, found), *found.notes))
    elif path.name == "starter":
        outside = [
            Note(f"{name} is outside {path.name}/; move it into that folder to have it graded")
            for name in MODULES
            if (path.parent / name).is_file()
        ]
        found = replace(found, notes=(*outside, *found.notes))
    if arguments.exercises:
        submission = found.graded()
    else:
        submission = replace(found.submission, files={}, problems={}, notes=found.notes)
    arguments.lines = _lines(submission.files)
    if not arguments.worksheet:
        return _Files(submission, None, isinstance(found.worksheet, bytes))
    from ..worksheet.reader import worksheet_in

    return _Files(submission, worksheet_in(found.worksheet), True)


def _lines(files: Mapping[str, str]) -> dict[tuple[str, str], int]:
    """File and function to the line that defines it; nothing for notebooks, whose cells have lines of their own."""
    found = {(name, each): numbers[-1] for name, text in files.items() for each, numbers in functions(text).items()}
    return {key: number for key, number in found.items() if not cell_of(files[key[0]], number)}


def _keep_handed_in_parts(arguments: argparse.Namespace, found: Contents) -> None:
    """Leave out the modules, or the worksheet, if none was handed in."""
    has_worksheet = WORKSHEET_FILE not in found.missing
    if not found.has_modules and not (arguments.worksheet and has_worksheet):
        names = (*MODULES, *((WORKSHEET_FILE,) if arguments.worksheet else ()))
        raise SubmissionError(f"None of the files {', '.join(names)} was handed in. Upload them and submit again.")
    if not found.has_modules:
        arguments.exercises, arguments.names = [], [course.WORKSHEET]
    arguments.worksheet = arguments.worksheet and has_worksheet


def _notes_on_parts(arguments: argparse.Namespace, found: Contents) -> list[Note]:
    """Where the modules are, and which parts were not handed in."""
    sentences = [f"graded the files in {one_line(str(found.folder))}"] if found.has_modules else []
    if not found.has_modules:
        sentences.append(f"none of the files {', '.join(MODULES)} was handed in")
    if WORKSHEET_FILE in found.missing and course.WORKSHEET in arguments.names:
        sentences.append(f"no {WORKSHEET_FILE} was handed in, so there are no points for the worksheet")
    return [*map(Note, sentences)]


@contextlib.contextmanager
def _started(arguments: argparse.Namespace) -> Iterator[_Processes]:
    """Start the processes that grade, without waiting for them."""
    of_code = sum(map(course.runs_code, arguments.exercises))
    options = {"device": arguments.device, "require_level": arguments.require_level}
    with contextlib.ExitStack() as stack:
        processes = _Processes()
        if of_code:
            processes = _Processes(stack.enter_context(Sandbox.start(**options)))
        # A GPU runs everything.
        if of_code > 1 and arguments.device == "cpu" and (arguments.jobs or min(2, cores())) == 2:
            with contextlib.suppress(OSError):  # cannot start another process: grade everything here
                processes = replace(processes, grading=stack.enter_context(GradingProcess(options)))
        yield processes


def _use_inputs(inputs: int) -> None:
    """Import the grading and reporting modules while the sandbox imports torch."""
    from ..grading import hypothesis_profile, run  # noqa: F401
    from ..reports import terminal  # noqa: F401

    hypothesis_profile.use_profile(inputs)


def _grade_once(arguments: argparse.Namespace, files: _Files, processes: _Processes) -> int:
    if arguments.exercises:
        from ..grading import hypothesis_profile

        _use_inputs(arguments.examples or hypothesis_profile.DEFAULT_INPUTS)
    result = _grade(arguments, files, processes)
    _report(arguments, result)
    if not arguments.names:
        _point_to_worksheet(arguments, files)
    return result.exit_code


def _point_to_worksheet(arguments: argparse.Namespace, files: _Files) -> None:
    """Plain `grade` leaves out the worksheet, so mention it if there is one."""
    if arguments.json != STANDARD_OUTPUT and files.has_worksheet:
        _console().print(f"There is also a {WORKSHEET_FILE}: run `grade worksheet` to grade it.", highlight=False)


def _grade(arguments: argparse.Namespace, files: _Files, processes: _Processes, before: Before | None = None) -> Result:
    """Grade what the arguments ask for; after an earlier grading, only what may have changed."""
    if arguments.exercises:
        return _grade_with_progress(arguments, files, processes, before)
    from ..worksheet.grade import grade_alone

    assert files.worksheet  # something is asked for
    submission, options = files.submission, {"seed": arguments.seed, "device": arguments.device}
    result = grade_alone(files.worksheet, submission=submission.folder, sha256=files.sha256, **options)
    result = replace(result, notes=[*submission.notes])
    _save(arguments, result)
    return result


def _grade_with_progress(
    arguments: argparse.Namespace, files: _Files, processes: _Processes, before: Before | None
) -> Result:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    from ..grading.run import empty_result, grade_submission

    sandbox, worksheet = processes.sandbox, _graded_worksheet(files)
    settings = _settings(arguments, files.submission, sandbox, before)

    def whole(result: Result) -> Result:
        """The result so far, with the worksheet's part."""
        found = replace(result, exercises=[*result.exercises, *worksheet], sha256=files.sha256)
        return before.merged(found) if before else found

    _save(arguments, whole(empty_result(settings)))
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("importing torch" if sandbox else "reading", total=len(settings.selected))

        def update(result: Result, entry: CheckResult) -> None:
            progress.update(task, advance=1, description=f"{entry.id.split('.')[0]}: {entry.function}")
            if before and entry.id == before.first:  # the user waits for this one
                _tell_first(entry, progress.console)
            _save(arguments, whole(result))

        def update_again(done: int, of: int) -> None:
            progress.update(task, completed=done, total=of, description="again, with correct earlier functions")

        def wait(result: Result) -> None:
            if sandbox:
                result.isolation_level, result.walls = sandbox.level, sandbox.walls()

        result = grade_submission(settings, update, processes.grading, update_again, wait)
    _save(arguments, whole(result))
    return whole(result)


def _settings(
    arguments: argparse.Namespace, submission: Submission, sandbox: Sandbox | None, before: Before | None
) -> GradingSettings:
    """The request to grade what is not known from before."""
    from ..core.secret import PUBLIC, read_secret
    from ..grading.settings import GradingSettings

    settings = GradingSettings(
        submission,
        arguments.exercises,
        sandbox.worker if sandbox else _no_worker,
        seed=arguments.seed,
        secret=read_secret(arguments.secret) if arguments.secret else PUBLIC,
        device=arguments.device,
        checks=_selected(arguments),
        fresh_workers=not (sandbox and sandbox.cold),
    )
    if not before:
        return settings
    again = before.to_grade_again(submission)
    checks = {key: check for key, check in settings.selected.items() if check.exercise in again}
    return replace(settings, checks=checks, first=before.first, earlier=before.result)


def _tell_first(entry: CheckResult, console: Console) -> None:
    from ..core.result import PASSED

    if console.is_terminal:
        words = "passes now" if entry.outcome == PASSED else "does not pass yet"
        console.print(f"{words}: {entry.title}", markup=False, highlight=False)


def _no_worker(**_: object) -> NoReturn:
    raise AssertionError("this submission has no code")


def _selected(arguments: argparse.Namespace, *, hidden: bool | None = None) -> dict[str, Check] | None:
    """The checks of the named functions; None for all checks of the exercises."""
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
    """The worksheet's part of the result, if requested."""
    if not files.worksheet:
        return []
    from ..worksheet import grade as worksheet

    return [worksheet.grade(files.worksheet)]


def _save(arguments: argparse.Namespace, result: Result) -> None:
    """Rewrite all files, so that they stay valid if the grader stops."""
    if arguments.json and arguments.json != STANDARD_OUTPUT:
        _replace(arguments.json, result.as_json())
    for name, path in arguments.write:
        try:
            _replace(path, export(result, name, os.environ, arguments.lines))
        except ValueError as error:
            raise SandboxError(f"cannot write {name}: {error}") from None


def _replace(path: Path, text: str) -> None:
    from ..core.result import replace_file

    try:
        replace_file(path, text)
    except OSError as error:
        raise SandboxError(f"cannot write {path}: {error.strerror}") from None


def _report(arguments: argparse.Namespace, result: Result) -> None:
    from ..reports import terminal

    if arguments.json == STANDARD_OUTPUT:
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
            given = f" --path {one_line(str(arguments.path))}" if arguments.path != default_path() else ""
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

    # Without a terminal, rich assumes 80 columns, but a log file has room for more.
    columns = os.environ.get("COLUMNS", "")
    width = max(int(columns), 20) if columns.isascii() and columns.isdigit() else 120
    # NO_COLOR also turns off bold and dim, which are escape sequences too.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(width=None if sys.stdout.isatty() else width, color_system=colours, emoji=False)


def _watch(arguments: argparse.Namespace, path: Path, processes: _Processes) -> int:
    """Grade after every save until Ctrl-C. Returns the last exit code."""
    from watchfiles import watch

    from ..reports import terminal

    console, code, graded, passed = _console(), GRADER_FAILED, "", ""
    before: Before | None = None
    if arguments.exercises:
        from ..grading import hypothesis_profile

        _use_inputs(arguments.examples or hypothesis_profile.WATCH_INPUTS)
    if processes.sandbox:
        inputs = f"{hypothesis_profile.inputs_per_invariant()} generated inputs per check"
        passed = f"Passed with {inputs}; run `grade` without --watch to try {hypothesis_profile.DEFAULT_INPUTS}."

    def again() -> None:
        """Grade the current files, unless they have been graded."""
        nonlocal code, graded, before
        try:
            files = _read(arguments, path)
            if _is_being_saved(files.submission):
                time.sleep(_SAVING_SECONDS)
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
        # Also once a second, for files saved during a grading.
        for _ in watch(path, debounce=100, step=20, rust_timeout=1_000, yield_on_timeout=True, recursive=False):
            again()
    except KeyboardInterrupt:
        pass
    return code


def _is_being_saved(submission: Submission) -> bool:
    """Whether a module is empty: many editors empty a file before they write it."""
    modules = [submission.path / name for name in submission.problems]
    return any(path.is_file() and not path.stat().st_size for path in modules)


def _debug(arguments: argparse.Namespace, submission: Submission) -> int:
    """Run the same checks in this process, without a grade."""
    from ..grading import hypothesis_profile
    from ..grading.debug import InProcess
    from ..grading.run import grade_submission
    from ..grading.settings import GradingSettings

    print("Debug mode gives no grade: your code runs in this process, without walls or time limits.")
    hypothesis_profile.use_profile(arguments.examples or hypothesis_profile.DEBUG_INPUTS)
    start: Callable[[], Loaded] = InProcess
    result = grade_submission(
        GradingSettings(
            submission,
            arguments.exercises,
            start,
            seed=arguments.seed,
            device=arguments.device,
            hidden=False,
            checks=_selected(arguments, hidden=False),
            folder=str(submission.path),
            debug=True,
        )
    )
    _save(arguments, result)
    _report(arguments, result)
    return result.exit_code


if __name__ == "__main__":
    exit_code = main()
    # If an interrupt was ever raised inside an exec of a text, handled or not, `python -m` exits as if killed by
    # Ctrl-C (CPython's unhandled_keyboard_interrupt). Hypothesis uses exec often. Another exec resets that state.
    exec("")
    sys.exit(exit_code)
