"""Why a check did not pass, in the words of the report: outcome, sentence, call, rows, lines, possible causes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hypothesis.errors import Flaky

from ..core import course
from ..core.python_errors import is_built_in, unknown_import, unknown_name, version_note
from ..core.refusal import FileRefused
from ..core.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NO_FUNCTION,
    NOT_WRITTEN,
    PASSED,
    TO_PASTE,
    WAITING,
    CheckResult,
    Frame,
    Result,
)
from ..core.source import cell_of, code_only, lines, location, other_defaults, returns_nothing, why_not_python
from ..sandbox.worker_process import is_shortage
from . import recorded_answers
from .calls import Call
from .check import Check, checks_of
from .compare import Mismatch
from .findings import Failure, Findings
from .meanings import Meaning, exception_meaning, system_meaning, what_was_raised
from .settings import GradingSettings
from .shown_call import VALUE, Shown, is_written_out, needed_imports, show_call
from .student import Clock, Student
from .student_errors import NO_TIME, MachineTooBusy, ModuleProblem, NoAnswer, NoFunction, StudentDied, StudentError
from .withheld import is_public, withhold


@dataclass
class FailureWriter:
    """Writes into the result why a check of one submission did not pass."""

    settings: GradingSettings
    result: Result
    findings: Findings
    wall_clock: Clock  # what is left of the whole grading's time

    def __post_init__(self) -> None:
        self._entries = {check.id: check for check in self.result.checks}
        self._public_failures: dict[str, Mismatch | StudentError | None] = {}

    def write(
        self, entry: CheckResult, check: Check, problem: BaseException, student: Student | None, *, worked: bool
    ) -> None:
        """Turn an exception into an outcome and the information that a student needs.

        Args:
            entry: Where to write it.
            check: The check that did not pass.
            problem: What ended it.
            student: The proxy that it called, if it got that far.
            worked: Whether the check begins with its examples.
        """
        call: Call | None = getattr(problem, "call", None)
        entry.call = show_call(call, _shown(problem, call)) if call else ""
        entry.printed = student.last_printed(call) if student else ""
        self._write_outcome(entry, check, problem, student)
        if check.gate and call and entry.outcome in (BROKEN, FAILED):
            entry.message = _about_examples(check, call, worked=worked) + entry.message
        # A submission's names and messages must not begin a line, nor make a report endless.
        entry.message = _cut(" ".join(entry.message.split()), _LONGEST_TEXT)
        not_imported = entry.outcome == BROKEN and _at_import(problem) and not _had_no_time(problem)
        if not_imported and entry.frames:
            self._explain_failed_import(entry, problem)
        entry.frames = [self._in_cell(frame) for frame in entry.frames]
        if not_imported and not (isinstance(problem, NoAnswer) and problem.rest_imported):
            (exercise,) = (each for each in self.result.exercises if each.name == check.exercise)
            where = [f" ({frame.file.rsplit('/', 1)[-1]}, line {frame.line})" for frame in entry.frames[-1:]]
            exercise.not_imported = entry.message + "".join(where)
        entry.printed = _cut(entry.printed, _LONGEST_PRINTED)
        _fit(entry, check, call)
        needed = [self._entries[name] for name in check.needs if name in self._entries]
        failed = [other.title for other in needed if other.outcome not in (PASSED, WAITING)]
        entry.may_come_from = [f"what fails in “{title}”" for title in failed]
        if entry.outcome in (BROKEN, FAILED) and student:
            entry.may_come_from += map(self._about_setting, student.changed_settings)
        if entry.outcome == FAILED:
            entry.may_come_from += self._about_function(check, call)

    def withhold(self, entry: CheckResult, check: Check, problem: BaseException) -> None:
        """Remove what would show the secret inputs of a check from what was written."""
        if isinstance(problem, MachineTooBusy):
            entry.printed = ""  # a print may contain anything that the worker has seen
        elif not _is_open(check, problem):
            self.findings.failures.pop(check.id, None)
            self.findings.raised.pop(check.id, None)
            public = self._public_failure(check)
            if isinstance(public, StudentError):
                self._keep_meaning(check, public)
            call = show_call(public.call, _shown(public, public.call)) if public and public.call else ""
            withhold(entry, problem, call)

    def _public_failure(self, check: Check) -> Mismatch | StudentError | None:
        """What goes wrong with the first worked example of the function that does; None if none is known to.

        In a new worker: the one that has seen secret inputs could return them as an answer that is shown.
        """
        if check.whole_name not in self._public_failures:
            clocks = (self.findings.clocks[check.exercise], self.wall_clock)
            problem: Mismatch | StudentError | None = None
            with contextlib.closing(self.settings.student(check.exercise, clocks=clocks)) as student:
                try:
                    for other in checks_of(check.exercise, hidden=False):
                        if other.function == check.function and other.examples:
                            recorded_answers.require_recorded(student, recorded_answers.of_check(other))
                except (Mismatch, StudentError) as error:
                    problem = error
                except (StudentDied, MachineTooBusy, Exception):
                    pass
            self._public_failures[check.whole_name] = problem
        return self._public_failures[check.whole_name]

    def _write_outcome(self, entry: CheckResult, check: Check, problem: BaseException, student: Student | None) -> None:
        """Write the outcome of an exception, with its sentence, rows and frames."""
        entry.outcome = BROKEN
        match problem:
            case Mismatch():
                self._describe_mismatch(entry, check, problem, student)
            case StudentError(not_written=True) if problem.frames:  # a hostile worker may send anything
                entry.frames = problem.frames
                file_name, function = entry.frames[-1].file.rsplit("/", 1)[-1], entry.frames[-1].function
                if file_name == course.exercise(check.exercise).file_name:
                    entry.outcome, entry.call = NOT_WRITTEN, ""
                    above = "\n".join(self._text(file_name).split("\n")[: entry.frames[-1].line - 1]).rstrip()
                    if above and "TODO" not in above.rpartition("\n")[2]:  # code stands between the two
                        entry.message = "your code ends at this `raise`; delete that line"
                else:  # this function may be right, but it calls one of an earlier exercise
                    self.findings.unfinished.add(check.whole_name)
                    entry.message = f"it calls `{function}` of {file_name}, which is not written yet; write that first"
            case StudentError():
                entry.message, entry.frames = what_was_raised(problem.type, problem.message), problem.frames
                entry.error = problem.type if is_built_in(problem.type) else ""
                if there := unknown_import(problem.message, self.settings.submission.files):
                    entry.message = f"{problem.type}: {there}"
                if problem.type == "RecursionError":  # the line that calls again, not the one where the stack ended
                    calls = [frame for frame in entry.frames if f"{frame.function}(" in frame.source]
                    entry.frames = calls[-1:] or entry.frames
                self._keep_meaning(check, problem)
                if problem.type == "NameError" and problem.frames:
                    entry.message += unknown_name(problem.message, code_only(self._text(problem.frames[-1].file)))
            case StudentDied():
                is_open = problem.at_import or (problem.call and is_public(check, problem.call))
                if is_open and not _had_no_time(problem):
                    self.findings.without_answer.add(check.whole_name)
                entry.message, entry.printed = f"your code {problem.death.detail}", problem.printed
                if problem.death.location:
                    file, line, function = problem.death.location
                    entry.frames = [Frame(file, line, function, self._source(file, line))]
            case ModuleProblem():
                entry.message, entry.error = str(problem), NO_FUNCTION * isinstance(problem, NoFunction)
            case Flaky():
                entry.outcome = FAILED
                entry.message = (
                    "your function answers the same call in different ways; its result may depend only on its arguments"
                )
            case MachineTooBusy() | FileRefused():
                entry.outcome, entry.message = GRADER_ERROR, str(problem)
                entry.shortage = isinstance(problem, MachineTooBusy)
            case _ if isinstance(problem, _UNREADABLE) and student and student.has_answered:
                entry.outcome = FAILED
                entry.message = (
                    "your function returned something that this check cannot read; compare it with the docstring"
                )
            case _:
                entry.outcome, entry.message = GRADER_ERROR, f"{type(problem).__name__}: {problem}"
                entry.shortage = is_shortage(problem)

    def _keep_meaning(self, check: Check, problem: StudentError) -> None:
        """Keep what an error means, for the report."""
        if system_meaning(f"{problem.type}: {problem.message}"):
            return
        meaning = exception_meaning(problem.type, problem.message, problem.frames[-1].source if problem.frames else "")
        if problem.type == "TypeError" and not problem.frames and problem.message.startswith(f"{check.function}()"):
            meaning = _other_def_line(course.exercise(check.exercise).signature(check.function))
        if meaning:
            self.findings.raised[check.id] = meaning

    def _describe_mismatch(self, entry: CheckResult, check: Check, problem: Mismatch, student: Student | None) -> None:
        """Write what is wrong with the numbers; instead of a long call, show a short one that also goes wrong."""
        if student and (answered := student.answered(problem.call)):
            self.findings.failures[check.id] = Failure(*answered, problem.pattern)
        entry.outcome, entry.rows = FAILED, problem.rows
        entry.message = problem.message
        smaller = self._public_failure(check) if len(entry.call) > _LONG_CALL else None
        if isinstance(smaller, Mismatch) and len(shorter := show_call(smaller.call, smaller.shown)) <= _LONG_CALL:
            entry.call, entry.rows = shorter, smaller.rows
            entry.message += ". The call below is a shorter one that also fails"
            if smaller.message != problem.message:
                entry.message += f": {smaller.message or 'the values differ'}"

    def _explain_failed_import(self, entry: CheckResult, problem: BaseException) -> None:
        """Add what a student has to change, where the text of the module shows it."""
        last = entry.frames[-1]
        text = self._text(last.file)
        if isinstance(problem, StudentError) and problem.type in ("SyntaxError", "IndentationError", "TabError"):
            line, why = why_not_python(text, last.line, problem.message)
            source = self._source(last.file, line)
            entry.message = f"{problem.type}: {why}{version_note(source)}"
            entry.frames[-1] = Frame(last.file, line, last.function, source)
            return
        at_module_level = [frame for frame in entry.frames if frame.function == "<module>"]
        needed = _NEEDED_AT_IMPORT if isinstance(problem, StudentDied) else _DEFINES
        if at_module_level and not needed.match(at_module_level[-1].source):
            where = location(self._text(at_module_level[-1].file), at_module_level[-1].line)
            entry.message += f'; {where} runs while the file is imported, so move it below `if __name__ == "__main__":`'

    def _about_function(self, check: Check, call: Call | None) -> Iterator[str]:
        """What the text of a function shows: that it returns nothing, and changed defaults that the call relies on."""
        exercise = course.exercise(check.exercise)
        text = self._text(exercise.file_name)
        if returns_nothing(text, check.function):
            yield f"`{check.function}` has no `return` with a value"
        signature = exercise.signature(check.function)
        for name, yours, given in other_defaults(text, check.function, signature):
            if call and name not in call.handed_over:
                yield f"your `def` line has the default {name}={yours}; you were given {name}={given}"

    def _about_setting(self, name: str) -> str:
        """The global torch setting that a submission's import changed, and the line."""
        what, call = _SETTINGS.get(name, ("a setting of torch that your code changes", r"(?!)"))
        for file, text in self.settings.submission.files.items():
            for line in lines(text):
                if re.search(call, line.code):
                    return f"{what} while {file} is imported ({location(text, line.number)}); delete that line"
        return f"{what} while your code is imported"

    def _in_cell(self, frame: Frame) -> Frame:
        """The frame with its location in a notebook, if its file was made from one."""
        cell = cell_of(self._text(frame.file), frame.line)
        if cell is None:
            return frame
        notebook, number, line = cell
        return replace(frame, file=f"{frame.file.rpartition('/')[0]}/{notebook}, code cell {number}", line=line)

    def _text(self, file: str) -> str:
        return self.settings.submission.files.get(file.rsplit("/", 1)[-1], "")

    def _source(self, file: str, line: int) -> str:
        written = self._text(file).split("\n")
        return written[line - 1].strip() if 0 < line <= len(written) else ""


def show_mismatch(entry: CheckResult, check: Check, problem: Mismatch) -> None:
    """Show another call that goes wrong in a failed check."""
    entry.rows, entry.call = problem.rows, show_call(problem.call, problem.shown)
    entry.message = " ".join(problem.message.split())
    _fit(entry, check, problem.call)


def _fit(entry: CheckResult, check: Check, call: Call | None) -> None:
    """Cut what is too long, and say how to paste the call."""
    entry.rows = [(label, _cut(text, _LONGEST_TEXT)) for label, text in entry.rows]
    entry.call = _cut(entry.call, _LONGEST_CALL)
    if call and entry.call and is_written_out(entry.call):
        imports = needed_imports(call.function, check.exercise, entry.call)
        entry.rows = [*entry.rows, (TO_PASTE, imports)]


def _other_def_line(signature: str) -> Meaning:
    return Meaning(
        "the `def` line of your function takes other arguments than the one that you were given",
        f"write `def {signature}:` again, with the defaults",
    )


_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions of a check that cannot read an answer."""

_NEEDED_AT_IMPORT = re.compile(r"(?:import|from|def|class|async)\b|@|$")
_DEFINES = re.compile(rf"{_NEEDED_AT_IMPORT.pattern}|\w+\s*(?::[^=]*)?=(?!=)")
_SETTINGS = {
    "gradients": ("gradients, which are switched off", r"\b(?:set_grad_enabled|no_grad|inference_mode)\b"),
    "inference": ("gradients, which are switched off", r"\binference_mode\b"),
    "dtype": ("torch's default dtype, which is changed", r"\bset_default_(?:dtype|tensor_type)\b"),
    "device": ("torch's default device, which is changed", r"\bset_default_device\b"),
    "determinism": ("deterministic algorithms, which are switched on", r"\bdeterministic\w*\b"),
}
"""Each of `Student.changed_settings` in words, and the calls that change it."""

_LONG_CALL = 700
"""Of calls with more characters, the report shows a worked example instead, if one goes wrong too."""
_LONGEST_TEXT, _LONGEST_CALL, _LONGEST_PRINTED = 2_000, 30_000, 25_000


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} ..."


def _is_open(check: Check, problem: BaseException) -> bool:
    """Whether a failure of a check with secret inputs reveals nothing about them."""
    call: Call | None = getattr(problem, "call", None)
    without_inputs = isinstance(problem, ModuleProblem) or _at_import(problem)
    return without_inputs or (call is not None and is_public(check, call))


def _about_examples(check: Check, call: Call, *, worked: bool) -> str:
    """The start of a gate's message on another call than the example in its title: what is right before it.

    Args:
        check: The gate.
        call: The call that goes wrong.
        worked: Whether the check begins with its examples.
    """
    examples = [show_call(check.call(example)) for example in check.examples]
    if show_call(call) in examples[1:]:
        return "the first example is right, this one is not: "
    if not worked or show_call(call) in examples:
        return ""
    return f"the {'examples are' if len(examples) > 1 else 'example is'} right, but another call is not: "


def _shown(problem: BaseException, call: Call) -> Shown:
    """What the lines of a failing call print; a call that raised may have done so while computing gradients."""
    if isinstance(problem, Mismatch):
        return problem.shown
    if not call.gradients_of:
        return VALUE
    return Shown(f"torch.autograd.grad(value.sum(), [{', '.join(call.gradients_of)}], allow_unused=True)")


def _at_import(problem: BaseException) -> bool:
    return isinstance(problem, NoAnswer) and problem.at_import


def _had_no_time(problem: BaseException) -> bool:
    return isinstance(problem, StudentDied) and problem.death.reason == NO_TIME
