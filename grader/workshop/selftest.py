"""Grades answers whose grade is known: the proof that the checks are right.

The untouched stub earns nothing, answers without work earn nothing, the model answers and every fair variant earn
everything, also where later exercises call them, and every misconception is caught and named. A sample is graded once
more in one interpreter for all checks, as on macOS and Windows, and must get the same verdicts. `one_check_less` asks
what each check is good for.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core import course
from ..core.contents import read_submission
from ..core.result import BROKEN, FAILED, GRADER_ERROR, NOT_WRITTEN, PASSED, Result
from ..core.submission import Submission
from ..grading import vectors
from ..grading.check import Check
from ..grading.diagnosis import diagnose
from ..grading.run import Grading
from ..grading.settings import declared_checks
from ..grading.student import Loaded
from ..grading.vectors import Observation, Vector
from .catalogue import Entry, misconceptions, replaced, variants, variants_together
from .stubs import make_stubs

WITHOUT_WORK = {
    "returns_nothing": "return None",
    "returns_zeros": "return torch.zeros_like(torch.as_tensor(arguments[0]).double())",
    "returns_ones": "return torch.ones_like(torch.as_tensor(arguments[0]).double())",
    "returns_its_argument": "return arguments[0]",
    "returns_its_argument_with_the_other_sign": "return -arguments[0]",
    "returns_a_number": "return torch.tensor(0.5, dtype=torch.float64)",
    "returns_nan": "return arguments[0] * float('nan')",
    "returns_noise": "return torch.randn(arguments[0].shape, dtype=torch.float64)",
}
"""Bodies of functions that take `*arguments, **options` and do no work."""

ONE_OF = {
    "stubs": "stub",
    "model answers": "model answer",
    "answers without work": "answer without work",
    "fair variants": "fair variant",
    "fair variants together": "fair variant together",
    "misconceptions": "misconception",
}
"""Every kind of answers, and what one of them is called."""

AGAIN = "once more in one interpreter"
"""What is counted of the sample."""
_IN_TURN = 4
"""Of so many checks `quick` runs one on variants together: the other variants of a function meet the others."""
_SAMPLED = ("model answers", "answers without work", "fair variants", "misconceptions")


@dataclass
class Report:
    """What the self-test found.

    Attributes:
        counts: What was tried, and how often.
        problems: One sentence for everything that is not as it must be.
    """

    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


@dataclass(frozen=True)
class Asked:
    """One grading of an answer, as plain data: another process may do it.

    Attributes:
        submission: The answer.
        exercise: The one that it is graded on.
        checks: Ids of the checks to run.
        options: Of `Settings`.
        cold: In one interpreter for all checks, and not in a forked worker for each.
    """

    submission: Submission
    exercise: str
    checks: tuple[str, ...]
    options: dict[str, Any]
    cold: bool = False

    def graded(self, start: Callable[..., Loaded], start_cold: Callable[..., Loaded]) -> Result:
        """What the grader says, with workers from `start`, or from `start_cold`."""
        start = start_cold if self.cold else start
        declared = declared_checks([self.exercise], hidden=True)
        checks = {name: declared[name] for name in self.checks}
        return Grading(self.submission, [self.exercise], start, checks=checks, **self.options).run()


Grade = Callable[[Sequence[Asked]], Iterable[Result]]
"""Does gradings, here or in other processes, and gives their results in the same order."""


def grading_here(start: Callable[..., Loaded], start_cold: Callable[..., Loaded]) -> Grade:
    """Grades one after the other in this process.

    Args:
        start: Makes an empty worker.
        start_cold: Makes one that is an interpreter of its own.
    """
    return lambda asked: (each.graded(start, start_cold) for each in asked)


@dataclass(frozen=True)
class Job:
    """One answer with a known grade.

    Attributes:
        what: Its kind, one of `ONE_OF`.
        name: For whoever reads the report.
        exercise: The one that it is graded on.
        judge: Writes into the report what is not as it must be.
        submission: The answer.
        replaced: The one function that is not the model answer; "" if there is none, or more.
        mistake: Name of the misconception; "" if it is none.
        together: All functions that are variants, each as "exercise.function", if there are more than one.
        place: Of variants together, the number of this submission.
        seed: Of the generated inputs.
    """

    what: str
    name: str
    exercise: str
    judge: Callable[[Result, Report], None]
    submission: Submission
    replaced: str = ""
    mistake: str = ""
    together: frozenset[str] = frozenset()
    place: int = 0
    seed: int = 0

    def checks(self, *, quick: bool = False) -> dict[str, Check]:
        """Those of the function that was replaced, and the gates of the others: they say whether it harms its callers.

        Of variants together those of the functions that call one of them, and all checks where nothing was replaced.

        Args:
            quick: Leave out the gates of functions that do not call it, because what they run is the model answer; and
                for a misconception the checks whose worked examples do not show it, because they do not name it. Of
                variants together the gates of their callers and every fourth of the other checks, in turn: each check
                meets several of these submissions, each submission several checks, and each variant alone all of its.
        """
        declared = declared_checks([self.exercise], hidden=True)
        if self.together:
            callers = _callers(self.exercise, self.together)
            of_callers = {name: check for name, check in declared.items() if check.function in callers}
            in_turn = [name for name, check in of_callers.items() if quick and not check.gate]
            left_out = {name for number, name in enumerate(in_turn) if (number + self.place) % _IN_TURN}
            return {name: check for name, check in of_callers.items() if name not in left_out}
        if not self.replaced:
            return declared
        gates_of = {*course.exercise(self.exercise).function_names}
        own = {name for name, check in declared.items() if check.function == self.replaced}
        if quick:
            gates_of = _callers(self.exercise, {f"{self.exercise}.{self.replaced}"}) | {self.replaced}
            own = self._showing() or own
        if self.what == "fair variants" and (quick or self.seed):  # with their callers they are graded together
            gates_of = {self.replaced}
        return {name: c for name, c in declared.items() if name in own or (c.gate and c.function in gates_of)}

    def _showing(self) -> set[str]:
        """The checks in whose worked examples a misconception was recorded."""
        answers = recorded_answers(self.exercise, self.replaced, self.mistake)
        return {vector.check for vector, _ in answers if self.mistake in vector.mistakes}


def _callers(exercise: str, functions: Collection[str]) -> set[str]:
    """The functions of an exercise that call one of some functions, each given as "exercise.function"."""
    uses = course.exercise(exercise).uses
    return {name for name, called in uses.items() if not {*called}.isdisjoint(functions)}


def jobs(exercise: str, starter: dict[str, str], *, seeds: int = 1) -> Iterator[Job]:
    """Every answer whose grade is known; those that must earn everything once with each seed.

    Args:
        exercise: Its name.
        starter: The texts of the stubs.
        seeds: How many seeds, from 0.
    """
    stub = Submission("stub", Path("stub"), starter, {})
    yield Job("stubs", "the untouched stub", exercise, _must_be_not_written, stub)
    for function in course.exercise(exercise).function_names:
        for name, submission in _without_work(exercise, function):
            judge = _must_earn_nothing(function)
            yield Job("answers without work", f"{function}: {name}", exercise, judge, submission, function)
    for seed in range(seeds):
        for job in _right(exercise, seed):
            yield replace(job, seed=seed, name=f"{job.name}, seed {seed}" if seed else job.name)
    for entry in misconceptions(exercise):
        name = f"{entry.function}: {entry.name}"
        judge = _must_be_named(entry)
        yield Job("misconceptions", name, exercise, judge, entry.submission, entry.function, entry.name)


def _right(exercise: str, seed: int) -> Iterator[Job]:
    """The answers that must earn everything; which variants are together depends on the seed."""
    yield Job("model answers", "the model answer", exercise, _must_earn_all, read_submission(course.MODEL_ANSWERS))
    for entry in variants(exercise):
        name = f"{entry.function}: {entry.name}"
        yield Job("fair variants", name, exercise, _must_earn_all, entry.submission, entry.function)
    yield from _variants_together(exercise, seed)


def _variants_together(exercise: str, seed: int) -> Iterator[Job]:
    """Variants of all functions at once, where the functions of an exercise call those of others.

    A right answer must not cost points two exercises later, whatever the other right answers are.
    """
    called = {name for names in course.exercise(exercise).uses.values() for name in names}
    used = {name.split(".")[0] for name in called}
    if used <= {exercise}:
        return
    known = (f"{name}.{entry.function}" for name in {*used, exercise} for entry in variants(name))
    counts = Counter(name for name in known if name in called)  # beyond these nothing has a caller to be graded
    for place, (submission, together) in enumerate(variants_together(max(counts.values(), default=0), seed=seed)):
        job = Job("fair variants together", submission.folder, exercise, _must_earn_all, submission, together=together)
        yield replace(job, place=place)


def _without_work(exercise: str, function: str) -> Iterator[tuple[str, Submission]]:
    """The answers without work to one function, by name."""
    for name, body in WITHOUT_WORK.items():
        text = f"def {name}(*arguments, **options):\n    {body}\n"
        yield name, replaced(exercise, function, name, text)


def selftest(
    exercises: list[str],
    grade: Grade,
    *,
    only: str = "",
    quick: bool = False,
    seeds: int = 1,
    cold: bool = False,
    on_result: Callable[[Job, Result], None] = lambda *_: None,
    track: Callable[[list[Any]], Iterable[Any]] = iter,
) -> Report:
    """Grade every answer whose grade is known.

    Args:
        exercises: Names of exercises.
        grade: Does the gradings.
        only: Only answers with this text in their name, which begins with the function that they replace.
        quick: Each answer on the checks that can tell it from the model answer, and no others, in one worker. A
            misconception is named by its recorded answers; `course dev vectors --check` says whether they are its.
        seeds: Grade the answers that must earn everything with this many seeds.
        cold: Grade a sample once more in one interpreter, where no fork helps: each costs an import of torch.
        on_result: Called with every answer and what the grader said of it.
        track: Goes through a list and shows how far it is.
    """
    report = Report(problems=[problem for exercise in exercises for problem in _unchecked(exercise, only)])
    starter = make_stubs(course.MODEL_ANSWERS)
    answers = [job for exercise in exercises for job in jobs(exercise, starter, seeds=seeds) if only in job.name]
    options = {"fresh_workers": not quick, "name_mistakes": not quick, "second_pass": False}
    asked = [
        Asked(job.submission, job.exercise, (*job.checks(quick=quick),), {**options, "seed": job.seed})
        for job in answers
    ]
    sampled = sample(answers) if cold else []
    verdicts: dict[tuple[str, str], dict[str, str]] = {}
    for job, question, result in zip(track(answers), asked, grade(asked), strict=True):
        if job in sampled:
            verdicts[job.exercise, job.name] = _verdicts(result)
        if quick and job.mistake and result.exit_code == 0:  # it shows in what no worked example asks for
            (result,) = grade([replace(question, checks=(*job.checks(),))])
        if quick and job.mistake:
            _name_by_recorded_answers(job, result)
        on_result(job, result)
        report.count(job.what)
        found = Report()
        if problem := grader_problem(result):
            found.problems.append(problem)
        else:
            job.judge(result, found)
        report.problems += [f"{job.exercise}: {job.name}: {problem}" for problem in found.problems]
    again = {
        (job.exercise, job.name): replace(question, cold=True, options={**question.options, "fresh_workers": False})
        for job, question in zip(answers, asked, strict=True)
        if job in sampled
    }
    for (exercise, name), result in zip(track([*again]), grade([*again.values()]), strict=True):
        report.count(AGAIN)
        warm = verdicts[exercise, name]
        report.problems += [
            f"{exercise}: {name}: {check} is {warm.get(check)}, and in one interpreter {verdict}"
            for check, verdict in _verdicts(result).items()
            if warm.get(check) != verdict
        ]
    return report


def _verdicts(result: Result) -> dict[str, str]:
    return {check.id: check.outcome for check in result.checks}


def sample(answers: Sequence[Job]) -> list[Job]:
    """One answer of each kind of each exercise, by the digest of its name: the same one until others are added."""
    kinds: dict[tuple[str, str], list[Job]] = {}
    for job in answers:
        if job.what in _SAMPLED and not job.seed:
            kinds.setdefault((job.exercise, job.what), []).append(job)
    return [min(same, key=lambda job: hashlib.sha256(job.name.encode()).digest()) for same in kinds.values()]


def grader_problem(result: Result) -> str:
    """Why the grader, and not the answer, failed; "" if it did not."""
    if result.exit_code != 3:
        return ""
    broken = next((f"{check.id}: {check.story}" for check in result.checks if check.outcome == GRADER_ERROR), "")
    return f"the grader failed: {result.problem or broken}"


def _unchecked(exercise: str, only: str) -> Iterator[str]:
    """A problem for each function that no check is for, so that every answer to it earns the same."""
    checked = {check.function for check in declared_checks([exercise], hidden=True).values()}
    for function in course.exercise(exercise).function_names:
        if function not in checked and only in function:
            yield f"{exercise}: {function}: has no check; `course dev check {exercise}` says what it needs"


def recorded_answers(exercise: str, function: str, mistake: str) -> list[tuple[Vector, Observation]]:
    """Every worked example of a function with what was recorded of a misconception."""
    recorded, _ = vectors.load(exercise)
    return [
        (vector, vector.mistakes.get(mistake, vector.expected))
        for examples in recorded.values()
        for vector in examples
        if vector.function == function
    ]


def _name_by_recorded_answers(job: Job, result: Result) -> None:
    """Write into a result what naming would find, without making the calls again that were recorded."""
    _, known = vectors.load(job.exercise)
    seen = recorded_answers(job.exercise, job.replaced, job.mistake)
    failing = [c.id for c in result.checks if c.function == job.replaced and c.outcome in (FAILED, BROKEN)]
    result.exercises[0].misconceptions = diagnose(seen, known[job.replaced], failing)


def _must_earn_all(result: Result, report: Report) -> None:
    report.problems += [
        " ".join(filter(None, (f"{c.outcome}: {c.title}", c.call, c.story, str(c.rows or ""))))
        for c in result.checks
        if c.outcome != PASSED
    ]


def _must_be_not_written(result: Result, report: Report) -> None:
    report.problems += [f"{c.outcome}, not unwritten: {c.title}" for c in result.checks if c.outcome != NOT_WRITTEN]


def _must_earn_nothing(function: str) -> Callable[[Result, Report], None]:
    def judge(result: Result, report: Report) -> None:
        free = [check for check in result.checks if check.function == function and check.earned]
        report.problems += [f"earns {check.earned} for: {check.title}" for check in free]

    return judge


def _must_be_named(entry: Entry) -> Callable[[Result, Report], None]:
    def judge(result: Result, report: Report) -> None:
        failed = [check for check in result.checks if check.outcome in (FAILED, BROKEN)]
        named = {found.name for exercise in result.exercises for found in exercise.misconceptions}
        if not failed:
            report.problems.append("is not caught; add a check that it fails, or an example to one")
        elif named != {entry.name}:
            report.problems.append(f"is named {' and '.join(sorted(named)) or 'nothing'}; {_to_be_named(entry)}")
        callers = _callers(entry.exercise, {f"{entry.exercise}.{entry.function}"})
        if any(check.function not in {entry.function, *callers} for check in failed):
            report.problems.append("makes checks of another function fail; let it do one thing wrong, not two")

    return judge


def _to_be_named(entry: Entry) -> str:
    """What to do about a misconception that is not named alone."""
    record = f"run `course dev vectors {entry.exercise}`"
    _, known = vectors.load(entry.exercise)
    if entry.name not in known.get(entry.function, {}):
        return f"{record}, which has not recorded it yet"
    return f"{record}, and if that changes nothing, add an example in which it differs from every other misconception"
