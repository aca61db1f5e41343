"""The pytest plugin: runs checks against one submission and fills in the result.

Its fixtures are what a check may ask for: `student` (a proxy to a fresh worker), `worked` (its examples with recorded
answers), `fresh` (random inputs that are in no file), `show_curve`, and in hidden checks `model` (the model answers
behind the same kind of proxy). A check whose gate has not passed waits; its points still count in the total. Except in
debug mode, student code never runs in this process, so it cannot raise pytest's own exceptions here.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.errors import Flaky

from ..core import course
from ..core.refusal import FileRefused
from ..core.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_WRITTEN,
    PASSED,
    TO_PASTE,
    WAITING,
    CheckResult,
    Frame,
    Result,
)
from ..core.secret import PUBLIC, fresh_seed
from ..core.source import cell_of, lines, place, why_not_python
from ..core.submission import Submission
from . import curves, hypothesis_compat, vectors
from .check import Check, as_result, checks_of
from .compare import Mismatch
from .diagnosis import Failure
from .observations import what_was_raised
from .settings import Settings
from .shown_call import VALUE, Shown, is_written_out, needed_imports, show_call
from .student import (
    Call,
    Clock,
    EndlessImports,
    Example,
    MachineTooBusy,
    ModuleProblem,
    NoAnswer,
    Student,
    StudentDied,
    StudentError,
)
from .vectors import Vector
from .withheld import is_public, withhold

# Inputs for every law. Explicit examples hold the traps, and one input holds several groups, so few are enough to
# catch every known mistake (`course dev selftest` takes the default); watching and debugging want an answer at once.
DEFAULT_EXAMPLES = 16
WATCH_EXAMPLES = 6
DEBUG_EXAMPLES = 3
_HOME = tempfile.TemporaryDirectory(prefix="hypothesis-", ignore_cleanup_errors=True)


def forget_examples() -> None:
    """Remove the folder of hypothesis, where a process ends without running exit handlers."""
    _HOME.cleanup()


def use_profile(examples: int = DEFAULT_EXAMPLES, *, shrink: bool = True) -> None:
    """Set hypothesis up for grading: no clock, no database, no output. Call it before the checks are imported.

    Args:
        examples: Inputs for every law.
        shrink: Look for the smallest failing input; the report shows it, and the outcome is the same without.
    """
    settings.register_profile(
        "course",
        max_examples=examples,
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
    hypothesis_compat.keep_files_in(_HOME.name)


def examples() -> int:
    """Inputs for every law in the present profile."""
    return settings.default.max_examples if settings.default else DEFAULT_EXAMPLES


@dataclass
class Findings:
    """What the checks of a run found that is in no result, for what comes after them.

    Attributes:
        failures: Id of a check to the call that it failed for.
        odd_dtypes: Function to the wrong dtypes that its checks have noted.
        without_answer: The functions, "exercise.function", that gave none to a worked example within their limits.
        unfinished: The functions, "exercise.function", that call one which is not written yet.
        errors: What pytest could not collect.
        clocks: Exercise to what is left of its time. The second pass and naming mistakes spend it too.
    """

    failures: dict[str, Failure] = field(default_factory=dict)
    odd_dtypes: dict[str, list[Mismatch]] = field(default_factory=dict)
    without_answer: set[str] = field(default_factory=set)
    unfinished: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    clocks: dict[str, Clock] = field(default_factory=dict)

    def add(self, others: Findings) -> None:
        """Take over what another process found in exercises of its own."""
        self.failures |= others.failures
        self.odd_dtypes |= others.odd_dtypes
        self.without_answer |= others.without_answer
        self.unfinished |= others.unfinished
        self.errors += others.errors
        for name, clock in others.clocks.items():  # each exercise has spent its time in one process
            self.clocks[name].seconds = min(self.clocks[name].seconds, clock.seconds)


@dataclass(eq=False)  # pytest before 9 asks a plugin for its hash
class GradingPlugin:
    """Runs of pytest over the checks of one submission.

    Attributes:
        settings: What is asked for.
        result: Filled in; every selected check is in it already.
        on_update: Called after every check, with the result and the check's entry.
        on_collected: Called before the first check, with the result.
        corrected: Function, "exercise.function", to the submission that its checks run on in the second pass.
        found: What is known beside the result.
        wall_clock: What is left of the whole grading's time.
        failure: What `on_update` raised; the run stops then.
        interrupted: Set by Ctrl-C, in case the exception gets lost.
    """

    settings: Settings
    result: Result
    on_update: Callable[[Result, CheckResult], None] = lambda *_: None
    on_collected: Callable[[Result], None] = lambda _: None
    corrected: Mapping[str, Submission] = field(default_factory=dict)
    found: Findings = field(default_factory=Findings)
    wall_clock: Clock = field(
        default_factory=lambda: Clock(course.GRADING_SECONDS * _more_time(), "the whole grading", wall=True)
    )
    interrupted: bool = False
    failure: Exception | None = None

    def __post_init__(self) -> None:
        self._entries = {check.id: check for check in self.result.checks}
        for exercise in self.result.exercises:
            seconds = _exercise_seconds(exercise.name) * _more_time()
            self.found.clocks.setdefault(exercise.name, Clock(seconds, "this exercise in earlier checks"))
        self._student: Student | None = None
        self._seen_secretly: list[Mismatch] = []
        self._public_failures: dict[tuple[str, str], Mismatch | StudentError | None] = {}
        self._models: dict[str, Student] = {}
        self._kept: dict[str, Student] = {}
        self._endless_imports: dict[str, EndlessImports] = defaultdict(dict)
        self._started = time.monotonic()

    # Fixtures

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Iterator[Student]:
        """The submission, in a fresh worker (in one for the exercise, where a worker costs an import of torch)."""
        check, asked = _check_of(request.node), self.settings
        submission = self.corrected.get(check.whole_name, asked.submission)
        keep_as = check.exercise if submission is asked.submission else check.whole_name
        student = self._kept.get(keep_as) or Student(
            course.exercise(check.exercise),
            submission,
            asked.start,
            device=asked.device,
            folder=asked.folder,
            endless_imports=self._endless_imports[check.exercise],
        )
        clocks = (self.found.clocks[check.exercise], Clock(check.seconds * _more_time(), "this check"), self.wall_clock)
        odd_dtypes = self._odd_dtypes_of(check)
        known = len(odd_dtypes or ())
        student.begin(clocks, check.call_seconds, odd_dtypes)
        self._student = student
        yield student
        if self._draws_secretly(request.node):
            self._seen_secretly += (odd_dtypes or ())[known:]
        self._student = None
        if asked.fresh_workers:
            student.close()
        else:
            self._kept[keep_as] = student

    @pytest.fixture
    def model(self, request: pytest.FixtureRequest) -> Student:
        """The model answers, behind the same proxy. They keep one worker for all checks of an exercise."""
        name = _check_of(request.node).exercise
        if name not in self._models:
            assert self.settings.with_hidden_checks, "only hidden checks may ask for the model answers"
            asked, exercise = self.settings, course.exercise(name)
            self._models[name] = Student(exercise, asked.model_answers, asked.start, device=asked.device, is_model=True)
        return self._models[name]

    @pytest.fixture
    def worked(self, request: pytest.FixtureRequest) -> list[tuple[Example, Vector]]:
        """The examples of this check with the model answer's recorded values."""
        return self._worked(_check_of(request.node))

    def _worked(self, check: Check) -> list[tuple[Example, Vector]]:
        recorded, _ = vectors.load(check.exercise)
        if len(recorded.get(check.id, ())) != len(check.examples):
            raise FileRefused(f"the examples of {check.id} are not recorded; run `course dev vectors {check.exercise}`")
        return list(zip(check.examples, recorded[check.id], strict=True))

    @pytest.fixture
    def fresh(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """Numbers that are in no file, so that a table of the worked answers does not pass a gate."""
        return np.random.default_rng(self._fresh_seed(_check_of(request.node)))

    @pytest.fixture
    def show_curve(self, request: pytest.FixtureRequest) -> Callable[..., None]:
        """Writes a learning curve into the check's result; arguments as for `curves.curve`.

        Of several runs the first is shown: a title that is there already is not drawn again.
        """
        shown = self._entries[_check_of(request.node).id].curves

        def show_curve(title: str, values: Iterable[Any], **options: Any) -> None:
            curve = curves.curve(title, values, **options)
            if curve and all(other.title != title for other in shown):
                shown.append(curve)

        return show_curve

    def _odd_dtypes_of(self, check: Check) -> list[Mismatch] | None:
        """Where the checks of a function note a wrong dtype, for the one that it fails; None if that one is not run."""
        function = check.whole_name
        promised = {other.whole_name for other in self.settings.selected.values() if other.dtype}
        return self.found.odd_dtypes.setdefault(function, []) if function in promised else None

    def _seed(self, check: Check) -> int:
        # One seed per check: adding a check does not change the inputs of the others.
        return zlib.crc32(f"{self.settings.seed} {check.id}".encode())

    def _fresh_seed(self, check: Check) -> int:
        """The seed of fresh inputs, new for each submission: one report tells nothing about the inputs of another."""
        asked = self.settings
        return fresh_seed(asked.secret, asked.submission.sha256, f"{asked.seed} {check.id}")

    # Collection

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the selected checks in their order, the one that failed last time first; fix their seeds.

        Of each function, the check that a wrong dtype fails comes last: until then the others may have seen one.
        """
        items[:] = [item for item in items if _check_of(item).id in self.settings.selected]
        order = list(self.settings.selected)
        functions = list(dict.fromkeys((check.exercise, check.function) for check in self.settings.selected.values()))
        first = self.settings.selected.get(self.settings.first or "")

        def rank(item: pytest.Item) -> tuple[bool, int, bool, int]:
            check = _check_of(item)
            early = first is not None and (check.id == first.id or (check.gate and check.function == first.function))
            early = early and not check.dtype
            return not early, functions.index((check.exercise, check.function)), check.dtype, order.index(check.id)

        items.sort(key=rank)
        for item in items:
            function = item.function  # type: ignore[attr-defined]
            if hypothesis.is_hypothesis_test(function):
                hypothesis_compat.forget_seed(function)
                check = _check_of(item)
                hypothesis.seed(self._fresh_seed(check) if check.hidden else self._seed(check))(function)
        try:
            self.on_collected(self.result)
        except Exception as error:  # `Grading.run` raises it again
            self.failure = error
            items.clear()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.found.errors.append(str(report.longrepr))

    def pytest_sessionfinish(self) -> None:
        for students in (self._models, self._kept):
            while students:
                students.popitem()[1].close()

    # Running

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Let a check wait for its gate."""
        if self.interrupted:
            raise KeyboardInterrupt
        self._started = time.monotonic()
        check, entry = _check_of(item), self._entries[_check_of(item).id]
        gates = [other for other in self.result.checks if self.settings.gates and self._is_gate_of(other, check)]
        closed = [gate for gate in gates if gate.outcome != PASSED]
        if closed:
            entry.outcome = NOT_WRITTEN if closed[0].outcome == NOT_WRITTEN else WAITING
            entry.waits_for = [gate.title for gate in closed]
            pytest.skip("waits for its gate")
        if self.settings.debug:  # between the submission's own prints
            print(f"--- {check.function}: {check.title}")

    def _is_gate_of(self, other: CheckResult, check: Check) -> bool:
        same_exercise = other.id.split(".")[0] == check.exercise
        return other.gate and other.id != check.id and same_exercise and other.function == check.function

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Any:
        """Run the test. If it passes, grade the check's worked examples, its calls to refuse and the noted dtypes too.

        Worked examples that draw random numbers are left out, because a right answer may draw other ones.
        """
        called = yield
        check = _check_of(pyfuncitem)
        if self._student is not None and self.settings.fresh_workers and self._draws_secretly(pyfuncitem):
            self._student.forget()  # what it has seen must not come back as an answer that is shown
        if check.examples and self._student is not None:
            try:
                vectors.require_recorded(self._student, self._worked(check))
            except Mismatch as problem:
                passed = "every input drawn for this check passes, but this worked example does not: "
                problem.story = ("" if check.gate else passed) + problem.story
                raise
        if self._student is not None:
            vectors.require_refused(self._student, check.function, check.refuses)
        if check.dtype:
            for odd in self._odd_dtypes_of(check) or ():
                raise odd
        return called

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        entry = self._entries[_check_of(item).id]
        problem = call.excinfo.value if call.excinfo else None
        if call.when == "call" and problem is None:
            entry.outcome = PASSED
        elif problem is not None and not isinstance(problem, pytest.skip.Exception):
            try:
                self._report(item, entry, problem)
            except Exception as error:  # an unforeseen answer costs this check, not the others
                vars(entry).update(vars(as_result(_check_of(item))))
                entry.outcome = FAILED if isinstance(problem, (Mismatch, NoAnswer)) else GRADER_ERROR
                entry.story = f"what your function did cannot be shown ({type(error).__name__})"
        if call.when == "teardown":
            entry.seconds = round(time.monotonic() - self._started, 4)
            try:
                self.on_update(self.result, entry)
            except Exception as error:  # `Grading.run` raises it again, without a traceback of pytest
                self.failure = error
                item.session.shouldstop = "the caller failed"
        return report

    def _report(self, item: pytest.Item, entry: CheckResult, problem: BaseException) -> None:
        """Write what came of a check that did not pass, without what is secret."""
        check = _check_of(item)
        self._record(entry, check, problem)
        secret = self._draws_secretly(item) or any(problem is odd for odd in self._seen_secretly)
        if secret and isinstance(problem, MachineTooBusy):
            entry.printed = ""  # a print may hold anything that the worker has seen
        elif secret and not self._may_be_told(check, problem):
            self.found.failures.pop(check.id, None)
            public = self._public_failure(check)
            lines = show_call(public.call, _shown(public, public.call)) if public and public.call else ""
            withhold(entry, problem, lines)

    def _draws_secretly(self, item: pytest.Item) -> bool:
        """Whether the inputs of a check come from the secret of a class, and so must not be shown."""
        draws = _check_of(item).hidden or "fresh" in item.fixturenames  # type: ignore[attr-defined]
        return draws and self.settings.secret != PUBLIC

    def _may_be_told(self, check: Check, problem: BaseException) -> bool:
        """Whether a failure of such a check says nothing of its secret inputs."""
        if isinstance(problem, _WITHOUT_INPUTS) or _at_import(problem):
            return True
        call: Call | None = getattr(problem, "call", None)
        return call is not None and is_public(check, call)

    def _public_failure(self, check: Check) -> Mismatch | StudentError | None:
        """What goes wrong with the first worked example of the function that does; None if none is known to."""
        function = (check.exercise, check.function)
        if function not in self._public_failures:
            self._public_failures[function] = self._look_for_a_public_failure(*function)
        return self._public_failures[function]

    def _look_for_a_public_failure(self, name: str, function: str) -> Mismatch | StudentError | None:
        """In a new worker: the one that has seen secret inputs could show them in place of an answer."""
        asked, exercise = self.settings, course.exercise(name)
        clocks = (self.found.clocks[name], self.wall_clock)
        student = Student(exercise, asked.submission, asked.start, device=asked.device, clocks=clocks)
        with contextlib.closing(student):
            for other in checks_of(name, hidden=False):
                if other.function != function or not other.examples:
                    continue
                try:
                    vectors.require_recorded(student, self._worked(other))
                except (Mismatch, StudentError) as problem:
                    return problem
                except (StudentDied, MachineTooBusy, Exception):
                    return None
        return None

    def _record(self, entry: CheckResult, check: Check, problem: BaseException) -> None:
        """Turn an exception into an outcome and what a student needs to know."""
        call: Call | None = getattr(problem, "call", None)
        entry.call = show_call(call, _shown(problem, call)) if call else ""
        entry.printed = self._student.last_printed(call) if self._student else ""
        self._describe(entry, check, problem)
        # Names and messages of theirs begin no line of their own, and no report is as long as they like.
        entry.story = _cut(" ".join(entry.story.split()), _LONGEST_TEXT)
        not_imported = entry.outcome == BROKEN and _at_import(problem)
        if not_imported and entry.frames:
            self._say_why_it_is_not_imported(entry, problem)
        entry.frames = [self._in_cell(frame) for frame in entry.frames]
        if not_imported:
            (exercise,) = (each for each in self.result.exercises if each.name == check.exercise)
            places = [f" ({frame.file.rsplit('/', 1)[-1]}, line {frame.line})" for frame in entry.frames[-1:]]
            exercise.not_imported = entry.story + "".join(places)
        entry.rows = [(label, _cut(text, _LONGEST_TEXT)) for label, text in entry.rows]
        entry.call, entry.printed = _cut(entry.call, _LONGEST_CALL), _cut(entry.printed, _LONGEST_PRINTED)
        if call and entry.call and is_written_out(entry.call):
            imports = needed_imports(call.function, check.exercise, entry.call)
            entry.rows = [*entry.rows, (TO_PASTE, imports)]
        needed = [self._entries[name] for name in check.needs if name in self._entries]
        failed = [other.title for other in needed if other.outcome not in (PASSED, WAITING)]
        entry.may_come_from = [f"what fails in “{title}”" for title in failed]
        if entry.outcome in (BROKEN, FAILED) and self._student:
            entry.may_come_from += map(self._about_setting, self._student.changed_settings)

    def _describe(self, entry: CheckResult, check: Check, problem: BaseException) -> None:
        """Write the outcome and the story of an exception, with its rows and frames."""
        entry.outcome = BROKEN
        match problem:
            case Mismatch():
                self._describe_mismatch(entry, check, problem)
            case StudentError(not_written=True) if problem.frames:  # a worker may send anything
                entry.frames = problem.frames
                file_name, function = entry.frames[-1].file.rsplit("/", 1)[-1], entry.frames[-1].function
                if file_name == course.exercise(check.exercise).file_name:
                    entry.outcome, entry.call = NOT_WRITTEN, ""
                else:  # this function may be right: it calls one of an earlier exercise
                    self.found.unfinished.add(check.whole_name)
                    entry.story = f"it needs `{function}` of {file_name}, which is not written yet: do that first"
            case StudentError():
                entry.story, entry.frames = what_was_raised(problem.type, problem.message), problem.frames
            case StudentDied():
                if problem.at_import or (problem.call and is_public(check, problem.call)):
                    self.found.without_answer.add(check.whole_name)
                entry.story, entry.printed = f"your code {problem.death.detail}", problem.printed
                if problem.death.place:
                    file, line, function = problem.death.place
                    entry.frames = [Frame(file, line, function, self._source(file, line))]
            case ModuleProblem():
                entry.story = str(problem)
            case Flaky():
                entry.outcome = FAILED
                entry.story = (
                    "your function gives different answers to the same question; it must depend on its arguments only"
                )
            case MachineTooBusy() | FileRefused():
                entry.outcome, entry.story = GRADER_ERROR, str(problem)
            case _ if isinstance(problem, _OF_ODD_ANSWERS) and self._student and self._student.has_answered:
                entry.outcome = FAILED
                entry.story = "your function returned something of another kind than the check can read"
            case _:
                entry.outcome, entry.story = GRADER_ERROR, f"{type(problem).__name__}: {problem}"

    def _describe_mismatch(self, entry: CheckResult, check: Check, problem: Mismatch) -> None:
        """Write what is wrong with the numbers; of a long call, show a short one that goes wrong too."""
        if self._student and (asked := self._student.asked(problem.call)):
            self.found.failures[check.id] = Failure(*asked, problem.seen)
        entry.outcome, entry.rows = FAILED, problem.rows
        entry.story = _about_another_example(check, problem.call) + problem.story
        smaller = self._public_failure(check) if len(entry.call) > _LONG_CALL else None
        if isinstance(smaller, Mismatch) and len(lines := show_call(smaller.call, smaller.shown)) <= _LONG_CALL:
            entry.call, entry.rows = lines, smaller.rows
            entry.story += f"; a smaller call goes wrong too: {smaller.story or 'the values differ'}"

    def _say_why_it_is_not_imported(self, entry: CheckResult, problem: BaseException) -> None:
        """Add to the story what a student has to change, where the text of the module shows it."""
        last = entry.frames[-1]
        text = self._text(last.file)
        if isinstance(problem, StudentError) and problem.type in ("SyntaxError", "IndentationError", "TabError"):
            line, why = why_not_python(text, last.line, problem.message)
            entry.story = f"{problem.type}: {why}"
            entry.frames[-1] = Frame(last.file, line, last.function, self._source(last.file, line))
            return
        at_module_level = [frame for frame in entry.frames if frame.function == "<module>"]
        needed = _NEEDED_AT_IMPORT if isinstance(problem, StudentDied) else _DEFINES
        if at_module_level and not needed.match(at_module_level[-1].source):
            where = place(self._text(at_module_level[-1].file), at_module_level[-1].line)
            entry.story += f'; {where} runs when the file is imported: move it below `if __name__ == "__main__":`'

    def _about_setting(self, name: str) -> str:
        """What the import of a submission changed for all of torch, and in which line."""
        what, call = _SETTINGS.get(name, ("a setting of torch that your code changes", r"(?!)"))
        for file, text in self.settings.submission.files.items():
            for line in lines(text):
                if re.search(call, line.code):
                    return f"{what} while {file} is imported ({place(text, line.number)}); delete that line"
        return f"{what} while your code is imported"

    def _in_cell(self, frame: Frame) -> Frame:
        """The frame with the place in a notebook, if its file was made from one."""
        cell = cell_of(self._text(frame.file), frame.line)
        if cell is None:
            return frame
        notebook, number, line = cell
        return replace(frame, file=f"{frame.file.rpartition('/')[0]}/{notebook}, code cell {number}", line=line)

    def _text(self, file: str) -> str:
        return self.settings.submission.files.get(file.rsplit("/", 1)[-1], "")

    def _source(self, file: str, line: int) -> str:
        lines = self._text(file).split("\n")
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""


_OF_ODD_ANSWERS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a check raises for an answer of a kind that it cannot read."""

_NEEDED_AT_IMPORT = re.compile(r"(?:import|from|def|class|async)\b|@|$")
_DEFINES = re.compile(rf"{_NEEDED_AT_IMPORT.pattern}|\w+\s*(?::[^=]*)?=(?!=)")
_SETTINGS = {
    "gradients": ("gradients, which are switched off", r"\b(?:set_grad_enabled|no_grad|inference_mode)\b"),
    "inference": ("gradients, which are switched off", r"\binference_mode\b"),
    "dtype": ("torch's default dtype, which is changed", r"\bset_default_(?:dtype|tensor_type)\b"),
    "device": ("torch's default device, which is changed", r"\bset_default_device\b"),
    "determinism": ("deterministic algorithms, which are switched on", r"\bdeterministic\w*\b"),
}
"""What `Student.changed_settings` may hold: in words, and the calls that do it."""

_WITHOUT_INPUTS = (ModuleProblem, MachineTooBusy)
"""Exceptions whose text says nothing about the inputs of a check, and so cannot reveal secret ones."""
_LONG_CALL = 700
"""Instead of a call with more characters a worked example is shown, if one goes wrong too."""
_LONGEST_TEXT, _LONGEST_CALL, _LONGEST_PRINTED = 2_000, 30_000, 25_000


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} ..."


def _exercise_seconds(name: str) -> float:
    """A check whose calls may take longer gives its exercise that time as well."""
    longer = sum(check.seconds for check in checks_of(name, hidden=False) if check.call_seconds)
    return course.EXERCISE_SECONDS + longer


def _more_time() -> float:
    """How much more time than usual: the limits are made for the default number of inputs."""
    return max(1.0, examples() / DEFAULT_EXAMPLES)


def _about_another_example(check: Check, call: Call) -> str:
    """What to say first of a call that is not the one in the title of a gate, but a later worked example."""
    later = [show_call(check.call(example)) for example in check.examples[1:]]
    return "the first example is right; here " if check.gate and show_call(call) in later else ""


def _shown(problem: BaseException, call: Call) -> Shown:
    """What the lines of a failing call print; where it raised, that may have been on the way back to the arguments."""
    if isinstance(problem, Mismatch):
        return problem.shown
    if not call.gradients_of:
        return VALUE
    return Shown(f"torch.autograd.grad(value.sum(), [{', '.join(call.gradients_of)}], allow_unused=True)")


def _at_import(problem: BaseException) -> bool:
    return isinstance(problem, NoAnswer) and problem.at_import


def _check_of(item: Any) -> Check:
    check: Check = item.function.check
    return check
