"""The pytest plugin: runs checks against one submission and fills in the result.

A check may ask for these fixtures: `student` (a proxy to a fresh worker), `worked` (its examples with recorded
answers), `fresh` (random inputs that are in no file), `show_curve`, and in hidden checks `model` (the model answers
through the same kind of proxy). A check whose gate has not passed waits; its points still count in the total. Except in
debug mode, student code never runs in this process, so it cannot raise pytest's own exceptions here.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis.errors import Flaky

from ..core import course
from ..core.result import FAILED, GRADER_ERROR, NOT_WRITTEN, PASSED, WAITING, CheckResult, Result
from ..core.secret import PUBLIC, fresh_seed
from ..core.submission import Submission
from ..oracles import recorded
from . import curves, hypothesis_compat, recorded_answers
from .calls import Example, Record
from .check import Check, checks_of
from .compare import Mismatch
from .failure_writer import FailureWriter
from .findings import Findings
from .hypothesis_profile import DEFAULT_INPUTS, inputs_per_invariant
from .not_executed import about
from .recorded_answers import RecordedAnswer
from .settings import GradingSettings
from .student import Clock, Imports, Student
from .student_errors import NoAnswer


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
        self._models: dict[str, Student] = {}
        self._kept: dict[str, Student] = {}
        self._imports: dict[str, Imports] = defaultdict(Imports)
        self._seconds = 0.0  # of the check that runs
        self._failures = FailureWriter(self.settings, self.result, self.findings, self.wall_clock)

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
            self._note_not_executed(student)
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

    def _note_not_executed(self, student: Student) -> None:
        """Keep a note on each statement of the submission that was not executed."""
        for part in student.not_executed:
            if len(self.findings.not_executed) < _MOST_NOTES and part not in self.findings.not_executed:
                self.findings.not_executed[part] = about(part, student.not_executed, self.settings.submission)

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
                self._write_failure(item, entry, problem)
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

    def _write_failure(self, item: pytest.Item, entry: CheckResult, problem: BaseException) -> None:
        """Record a check that did not pass, without anything secret."""
        check = _check_of(item)
        worked = "worked" in item.fixturenames  # type: ignore[attr-defined]
        self._failures.write(entry, check, problem, self._student, worked=worked)
        if self._draws_secretly(item) or any(problem is odd for odd in self._seen_secretly):
            self._failures.withhold(entry, check, problem)

    def _draws_secretly(self, item: pytest.Item) -> bool:
        """Whether the inputs of a check come from the secret of a class, so that reports must not show them."""
        draws = _check_of(item).hidden or "fresh" in item.fixturenames  # type: ignore[attr-defined]
        return draws and self.settings.secret != PUBLIC


_MOST_NOTES = 8  # on parts that were not executed


def _exercise_seconds(name: str) -> float:
    """A check whose calls may take longer also gives its exercise more time."""
    longer = sum(check.seconds for check in checks_of(name, hidden=False) if check.call_seconds)
    return course.EXERCISE_SECONDS + longer


def _more_time() -> float:
    """The factor for time limits, which are set for the default number of inputs."""
    return max(1.0, inputs_per_invariant() / DEFAULT_INPUTS)


def _check_of(item: Any) -> Check:
    check: Check = item.function.check
    return check
