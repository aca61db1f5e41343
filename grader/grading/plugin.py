"""The pytest plugin: runs checks against one submission and fills in the result.

A check may ask for these fixtures: `student` (a proxy to a fresh worker), `worked` (its examples with recorded
answers), `fresh` (random inputs that are in no file), `show_curve`, and in hidden checks `model` (the model answers
through the same kind of proxy). A check whose gate has not passed waits; its points still count in the total. Except in
debug mode, student code never runs in this process, so it cannot raise pytest's own exceptions here.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.errors import Flaky

from ..core import course
from ..core.note import Note
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
from ..core.secret import PUBLIC, fresh_seed
from ..core.source import cell_of, code_only, lines, location, other_defaults, returns_nothing, why_not_python
from ..core.submission import Submission
from ..oracles import recorded
from ..sandbox.worker_process import is_shortage
from . import curves, hypothesis_compat, recorded_answers
from .check import Check, checks_of
from .compare import Mismatch
from .left_out import about
from .meanings import Meaning, Pattern, exception_meaning, system_meaning, what_was_raised
from .recorded_answers import RecordedAnswer
from .settings import GradingSettings
from .shown_call import VALUE, Shown, is_written_out, needed_imports, show_call
from .student import (
    NO_TIME,
    Answer,
    Call,
    Clock,
    Example,
    Imports,
    LeftOut,
    MachineTooBusy,
    ModuleProblem,
    NoAnswer,
    NoFunction,
    Record,
    Student,
    StudentDied,
    StudentError,
)
from .withheld import is_public, withhold

# Inputs per invariant, which is a test of hypothesis. Explicit examples cover the special cases, and one input holds
# several groups, so few are enough to catch every known mistake (`course dev selftest` uses the default). Watching and
# debugging must be fast.
DEFAULT_INPUTS = 16
WATCH_INPUTS = 6
DEBUG_INPUTS = 3


def use_profile(inputs: int = DEFAULT_INPUTS, *, shrink: bool = True) -> None:
    """Set hypothesis up for grading: no clock, no database, no output. Call it before the checks are imported.

    `inputs` are those per invariant. `shrink` looks for the smallest failing input; no outcome depends on it.
    """
    settings.register_profile(
        "course",
        max_examples=inputs,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])),
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("course")
    hypothesis_compat.ignore_local_constants()
    hypothesis_compat.write_no_files()


def inputs_per_invariant() -> int:
    """Inputs per invariant in the present profile."""
    return settings.default.max_examples if settings.default else DEFAULT_INPUTS


@dataclass(frozen=True)
class Failure:
    """The call that a check failed for, what came back, and `Mismatch.pattern`."""

    example: Example
    answer: Answer
    pattern: Pattern | None = None


@dataclass
class Findings:
    """What the second pass and the diagnosis need to know of a run. Functions are named "exercise.function"."""

    failures: dict[str, Failure] = field(default_factory=dict)  # by id of the check
    raised: dict[str, Meaning] = field(default_factory=dict)  # what an error means that a check shows, by its id
    wrong_dtypes: dict[str, list[Mismatch]] = field(default_factory=dict)  # by function, noted by its checks
    without_answer: set[str] = field(default_factory=set)  # functions that answer a worked example too late or never
    unfinished: set[str] = field(default_factory=set)  # functions that call one which is not written yet
    errors: list[str] = field(default_factory=list)  # what pytest could not collect
    not_compared: set[str] = field(default_factory=set)  # functions with an answer that a handout has no record for
    left_out: dict[LeftOut, Note | None] = field(default_factory=dict)  # what was not executed, with a note on it
    clocks: dict[str, Clock] = field(default_factory=dict)  # what is left of the time of each exercise

    def add(self, others: Findings) -> None:
        """Take over what another process found in exercises of its own."""
        self.failures |= others.failures
        self.raised |= others.raised
        self.wrong_dtypes |= others.wrong_dtypes
        self.without_answer |= others.without_answer
        self.unfinished |= others.unfinished
        self.not_compared |= others.not_compared
        self.errors += others.errors
        self.left_out |= others.left_out
        for name, clock in others.clocks.items():  # each exercise has spent its time in one process
            self.clocks[name].seconds = min(self.clocks[name].seconds, clock.seconds)


@dataclass(eq=False)  # pytest before 9 asks a plugin for its hash
class GradingPlugin:
    """Runs of pytest over the checks of one submission.

    In the second pass, `corrected` has each function, "exercise.function", with the submission that its checks run on.
    """

    settings: GradingSettings
    result: Result  # filled in; every selected check is in it already
    on_update: Callable[[Result, CheckResult], None] = lambda *_: None  # called after every check
    on_collected: Callable[[Result], None] = lambda _: None  # called before the first check
    corrected: Mapping[str, Submission] = field(default_factory=dict)
    require_recorded: bool = True  # require the recorded answers to the worked examples of a check, too
    findings: Findings = field(default_factory=Findings)
    wall_clock: Clock = field(  # what is left of the whole grading's time
        default_factory=lambda: Clock(course.GRADING_SECONDS * _more_time(), "the whole grading", wall=True)
    )
    interrupted: bool = False  # set by Ctrl-C, in case the exception gets lost
    failure: Exception | None = None  # raised by `on_update` or `on_collected`; the run stops then

    def __post_init__(self) -> None:
        self._entries = {check.id: check for check in self.result.checks}
        for exercise in self.result.exercises:
            seconds = _exercise_seconds(exercise.name) * _more_time()
            self.findings.clocks.setdefault(exercise.name, Clock(seconds, "this exercise in earlier checks"))
        self._student: Student | None = None
        self._seen_secretly: list[Mismatch] = []
        self._public_failures: dict[str, Mismatch | StudentError | None] = {}
        self._models: dict[str, Student] = {}
        self._kept: dict[str, Student] = {}
        self._imports: dict[str, Imports] = defaultdict(Imports)
        self._seconds = 0.0  # of the check that runs

    def close(self) -> None:
        """End the workers that several checks share."""
        for students in (self._models, self._kept):
            while students:
                students.popitem()[1].close()

    def require_finished(self, status: int | pytest.ExitCode) -> None:
        """Raise what ended a run of pytest with this plugin early.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            Exception: what `on_update` or `on_collected` raised.
        """
        if self.failure is not None:
            raise self.failure
        if status == pytest.ExitCode.INTERRUPTED:
            raise KeyboardInterrupt

    # Fixtures

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Iterator[Student]:
        """The submission, in a fresh worker (in one for the exercise, where a worker costs an import of torch)."""
        check = _check_of(request.node)
        submission = self.corrected.get(check.whole_name, self.settings.submission)
        keep_as = check.whole_name if check.whole_name in self.corrected else check.exercise
        imports = self._imports[check.exercise]
        student = self._kept.get(keep_as) or self.settings.student(check.exercise, submission, imports)
        clocks = (
            self.findings.clocks[check.exercise],
            Clock(check.seconds * _more_time(), "this check"),
            self.wall_clock,
        )
        wrong_dtypes = self._wrong_dtypes_of(check)
        known = len(wrong_dtypes or ())
        student.begin(clocks, check.call_seconds, wrong_dtypes)
        self._student = student
        yield student
        if check.whole_name not in self.corrected:
            self._note_left_out(student)
        if self._draws_secretly(request.node):
            self._seen_secretly += (wrong_dtypes or ())[known:]
        self._student = None
        if self.settings.fresh_workers:
            student.close()
        else:
            self._kept[keep_as] = student

    @pytest.fixture
    def model(self, request: pytest.FixtureRequest) -> Student:
        """The model answers, through the same proxy. They keep one worker for all checks of an exercise."""
        name = _check_of(request.node).exercise
        if name not in self._models:
            assert self.settings.with_hidden_checks, "only hidden checks may use the model answers"
            self._models[name] = self.settings.model(name)
        return self._models[name]

    @pytest.fixture
    def worked(self, request: pytest.FixtureRequest) -> list[tuple[Example, RecordedAnswer]]:
        """The examples of this check with the model answer's recorded values."""
        return recorded_answers.of_check(_check_of(request.node))

    @pytest.fixture
    def fresh(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """Numbers that are in no file, so that a table of the worked answers does not pass a gate."""
        return np.random.default_rng(self._fresh_seed(_check_of(request.node)))

    @pytest.fixture
    def show_curve(self, request: pytest.FixtureRequest) -> Callable[..., None]:
        """Writes the first learning curve with a title into the check's result; arguments as for `curves.curve`."""
        shown = self._entries[_check_of(request.node).id].curves

        def show_curve(title: str, values: Iterable[Any], **options: Any) -> None:
            curve = curves.curve(title, values, **options)
            if curve and all(other.title != title for other in shown):
                shown.append(curve)

        return show_curve

    def _note_left_out(self, student: Student) -> None:
        """Keep a note on each statement of the submission that was not executed."""
        for part in student.left_out:
            if len(self.findings.left_out) < _MOST_LEFT_OUT and part not in self.findings.left_out:
                self.findings.left_out[part] = about(part, student.left_out, self.settings.submission)

    def _wrong_dtypes_of(self, check: Check) -> list[Mismatch] | None:
        """Where the checks of a function note a wrong dtype; None if the check that fails for it is not selected."""
        function = check.whole_name
        with_dtype = {other.whole_name for other in self.settings.selected.values() if other.dtype}
        return self.findings.wrong_dtypes.setdefault(function, []) if function in with_dtype else None

    def _seed(self, check: Check) -> int:
        # One seed per check: adding a check does not change the inputs of the others.
        return zlib.crc32(f"{self.settings.seed} {check.id}".encode())

    def _fresh_seed(self, check: Check) -> int:
        """The seed of fresh inputs, the same for every submission, so that a comment does not change a grade."""
        return fresh_seed(self.settings.secret, f"{self.settings.seed} {check.id}")

    # Collection

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the selected checks in their order, after `GradingSettings.first` and its gate, and fix their seeds.

        Of each function, the check that a wrong dtype fails comes last: until then the others may have seen one.
        """
        selected = self.settings.selected
        items[:] = [item for item in items if _check_of(item).id in selected]
        order, functions = list(selected), list(dict.fromkeys(check.whole_name for check in selected.values()))
        first = selected.get(self.settings.first or "")
        early = {
            check.id
            for check in selected.values()
            if first and not check.dtype and (check is first or (check.gate and check.function == first.function))
        }

        def rank(item: pytest.Item) -> tuple[bool, int, bool, int]:
            check = _check_of(item)
            return check.id not in early, functions.index(check.whole_name), check.dtype, order.index(check.id)

        items.sort(key=rank)
        for item in items:
            function = item.function  # type: ignore[attr-defined]
            if hypothesis.is_hypothesis_test(function):
                hypothesis_compat.forget_seed(function)
                hypothesis_compat.give_database_key(function)
                check = _check_of(item)
                hypothesis.seed(self._fresh_seed(check) if check.hidden else self._seed(check))(function)
                if inputs := recorded.records().invariants.get(check.id):
                    item.obj = self._on_recorded_inputs(function, check, inputs)  # type: ignore[attr-defined]
        try:
            self.on_collected(self.result)
        except Exception as error:  # `grade_submission` raises it again
            self.failure = error
            items.clear()

    def _on_recorded_inputs(
        self, function: Callable[..., None], check: Check, inputs: Sequence[Mapping[str, Any]]
    ) -> Callable[..., None]:
        """An invariant of a handout: it runs on inputs with a record of what the oracles answer, the shortest first."""
        test = hypothesis_compat.inner_test(function)
        few = inputs[: max(inputs_per_invariant(), len(inputs) - DEFAULT_INPUTS)]

        def run_with(given: Mapping[str, Any], fixtures: Mapping[str, Any]) -> None:
            test(**fixtures, **{name: recorded.decode(value, {"Record": Record}) for name, value in given.items()})

        def run(**fixtures: Any) -> None:
            for each in few:
                try:
                    run_with(each, fixtures)
                except recorded.NoRecord:
                    self.findings.not_compared.add(check.whole_name)
                except Mismatch as problem:
                    run_with(each, fixtures)
                    raise Flaky("the same call passes the second time") from problem

        vars(run)["check"] = vars(function)["check"]
        return run

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.findings.errors.append(str(report.longrepr))

    # Running

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Any:
        """Run a check whose gate has passed; if it passes, require what it declares, too."""
        if self.interrupted:
            raise KeyboardInterrupt
        check = _check_of(pyfuncitem)
        self._require_gate(check)
        if self.settings.debug:  # between the submission's own prints
            print(f"--- {check.function}: {check.title}")
        try:
            called = yield
        except recorded.NoRecord:
            self.findings.not_compared.add(check.whole_name)
            called = True
        if self._student is not None:
            if self.settings.fresh_workers and self._draws_secretly(pyfuncitem):
                self._student.forget()  # what it has seen must not come back as an answer that is shown
            self._require_declared(self._student, check)
        return called

    def _require_gate(self, check: Check) -> None:
        """Let a check wait if the gate of its function has not passed."""
        (exercise,) = (each for each in self.result.exercises if each.name == check.exercise)
        gates = [each for each in exercise.checks if each.gate and each.function == check.function]
        closed = [gate for gate in gates if gate.outcome != PASSED and gate.id != check.id]
        if closed and self.settings.gates:
            entry = self._entries[check.id]
            entry.outcome = NOT_WRITTEN if closed[0].outcome == NOT_WRITTEN else WAITING
            entry.waits_for = [gate.title for gate in closed]
            pytest.skip("waits for its gate")

    def _require_declared(self, student: Student, check: Check) -> None:
        """Require the recorded answers of a check's examples, a refusal of its `refuses`, and no noted wrong dtype."""
        try:
            if self.require_recorded:
                recorded_answers.require_recorded(student, recorded_answers.of_check(check))
        except Mismatch as problem:
            passed = "your answers to this check's random inputs are right, but this one is wrong: "
            problem.message = ("" if check.gate else passed) + problem.message
            raise
        recorded_answers.require_refused(student, check.function, check.refuses)
        if check.dtype:
            for noted in self._wrong_dtypes_of(check) or ():
                raise noted

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        entry = self._entries[_check_of(item).id]
        problem = call.excinfo.value if call.excinfo else None
        self._seconds += call.duration
        if call.when == "call" and problem is None:
            entry.outcome = PASSED
        elif problem is not None and not isinstance(problem, pytest.skip.Exception):
            try:
                self._write_without_secrets(item, entry, problem)
            except Exception as error:  # an unforeseen answer affects only this check
                entry.call, entry.printed, entry.rows, entry.frames, entry.may_come_from = "", "", [], [], []
                entry.error = ""
                entry.outcome = FAILED if isinstance(problem, (Mismatch, NoAnswer)) else GRADER_ERROR
                entry.message = f"the report cannot show what your function did ({type(error).__name__})"
        if call.when == "teardown":
            entry.seconds, self._seconds = round(self._seconds, 4), 0.0
            try:
                self.on_update(self.result, entry)
            except Exception as error:  # `grade_submission` raises it again, without a traceback of pytest
                self.failure = error
                item.session.shouldstop = "the caller failed"
        return report

    def _write_without_secrets(self, item: pytest.Item, entry: CheckResult, problem: BaseException) -> None:
        """Record a check that did not pass, without anything secret."""
        check = _check_of(item)
        self._write_failure(item, entry, problem)
        secret = self._draws_secretly(item) or any(problem is odd for odd in self._seen_secretly)
        if secret and isinstance(problem, MachineTooBusy):
            entry.printed = ""  # a print may contain anything that the worker has seen
        elif secret and not _is_open(check, problem):
            self.findings.failures.pop(check.id, None)
            self.findings.raised.pop(check.id, None)
            public = self._public_failure(check)
            if isinstance(public, StudentError):
                self._keep_meaning(check, public)
            call = show_call(public.call, _shown(public, public.call)) if public and public.call else ""
            withhold(entry, problem, call)

    def _draws_secretly(self, item: pytest.Item) -> bool:
        """Whether the inputs of a check come from the secret of a class, so that reports must not show them."""
        draws = _check_of(item).hidden or "fresh" in item.fixturenames  # type: ignore[attr-defined]
        return draws and self.settings.secret != PUBLIC

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

    def _write_failure(self, item: pytest.Item, entry: CheckResult, problem: BaseException) -> None:
        """Turn an exception into an outcome and the information that a student needs."""
        check = _check_of(item)
        call: Call | None = getattr(problem, "call", None)
        entry.call = show_call(call, _shown(problem, call)) if call else ""
        entry.printed = self._student.last_printed(call) if self._student else ""
        self._write_outcome(entry, check, problem)
        if check.gate and call and entry.outcome in (BROKEN, FAILED):
            worked = "worked" in item.fixturenames  # type: ignore[attr-defined]
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
        if entry.outcome in (BROKEN, FAILED) and self._student:
            entry.may_come_from += map(self._about_setting, self._student.changed_settings)
        if entry.outcome == FAILED:
            entry.may_come_from += self._about_function(check, call)

    def _write_outcome(self, entry: CheckResult, check: Check, problem: BaseException) -> None:
        """Write the outcome of an exception, with its sentence, rows and frames."""
        entry.outcome = BROKEN
        match problem:
            case Mismatch():
                self._describe_mismatch(entry, check, problem)
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
            case _ if isinstance(problem, _UNREADABLE) and self._student and self._student.has_answered:
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

    def _describe_mismatch(self, entry: CheckResult, check: Check, problem: Mismatch) -> None:
        """Write what is wrong with the numbers; instead of a long call, show a short one that also goes wrong."""
        if self._student and (answered := self._student.answered(problem.call)):
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

_MOST_LEFT_OUT = 8  # notes on what was not executed
_LONG_CALL = 700
"""Of calls with more characters, the report shows a worked example instead, if one goes wrong too."""
_LONGEST_TEXT, _LONGEST_CALL, _LONGEST_PRINTED = 2_000, 30_000, 25_000


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} ..."


def _exercise_seconds(name: str) -> float:
    """A check whose calls may take longer also gives its exercise more time."""
    longer = sum(check.seconds for check in checks_of(name, hidden=False) if check.call_seconds)
    return course.EXERCISE_SECONDS + longer


def _more_time() -> float:
    """The factor for time limits, which are set for the default number of inputs."""
    return max(1.0, inputs_per_invariant() / DEFAULT_INPUTS)


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


def _check_of(item: Any) -> Check:
    check: Check = item.function.check
    return check
