"""Grades answers whose grade is known: the proof that the checks are right.

The untouched stub earns nothing, answers without work earn nothing, the model answers and every fair variant earn
everything, also where later exercises call them, and every misconception is caught and named.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core import course
from ..core.contents import read_submission
from ..core.result import BROKEN, FAILED, GRADER_ERROR, NOT_WRITTEN, PASSED, Result
from ..core.submission import Submission
from ..grading import vectors
from ..grading.run import Grading
from ..grading.settings import declared_checks
from ..grading.student import Loaded
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


@dataclass
class Report:
    """What the self-test found.

    Attributes:
        counts: What was graded, and how often.
        problems: One sentence for everything that is not as it must be.
    """

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Job:
    """One answer with a known grade, as plain data: another process may grade it.

    Attributes:
        what: Its kind, as the report counts it.
        name: For whoever reads the report.
        exercise: The exercise that it is graded on.
        problems: What is wrong with a result.
        submission: The answer.
        functions: The replaced functions, each as "exercise.function"; empty for stubs and model answers.
        seed: Of the generated inputs.
    """

    what: str
    name: str
    exercise: str
    problems: Callable[[Result], Iterable[str]]
    submission: Submission
    functions: frozenset[str] = frozenset()
    seed: int = 0

    @property
    def checks(self) -> tuple[str, ...]:
        """Ids of the checks to run: those of a replaced function, and the gates of the functions that call it.

        Of variants together, those of the functions that call one of them; where nothing is replaced, all checks.
        """
        declared = declared_checks([self.exercise], hidden=True)
        if not self.functions:
            return (*declared,)
        callers = _callers(self.exercise, self.functions)
        if self.what == "fair variants together":
            return tuple(name for name, check in declared.items() if check.function in callers)
        own = {name.partition(".")[2] for name in self.functions}
        return tuple(
            name
            for name, check in declared.items()
            if check.function in own or (check.gate and check.function in callers)
        )

    def graded(self, start: Callable[..., Loaded], *, quick: bool = False) -> Result:
        """What the grader says, with workers from `start`; if `quick`, with one per answer instead of one per check."""
        declared = declared_checks([self.exercise], hidden=True)
        checks = {name: declared[name] for name in self.checks}
        options: dict[str, Any] = {"fresh_workers": not quick, "second_pass": False, "seed": self.seed}
        return Grading(self.submission, [self.exercise], start, checks=checks, **options).run()


Grade = Callable[[Sequence[Job]], Iterable[Result]]
"""Grades answers, here or in other processes, and gives the results in the same order."""


def _callers(exercise: str, functions: Iterable[str]) -> set[str]:
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
    yield Job("stubs", "the untouched stub", exercise, _not_unwritten, stub)
    for function in course.exercise(exercise).function_names:
        for name, body in WITHOUT_WORK.items():
            text = f"def {name}(*arguments, **options):\n    {body}\n"
            submission = replaced(exercise, function, name, text)
            replaced_functions = frozenset({f"{exercise}.{function}"})
            problems = functools.partial(_earning, function)
            yield Job("answers without work", f"{function}: {name}", exercise, problems, submission, replaced_functions)
    for seed in range(seeds):
        for job in _right(exercise):
            yield replace(job, seed=seed, name=f"{job.name}, seed {seed}" if seed else job.name)
    for entry in misconceptions(exercise):
        yield _of_entry("misconceptions", entry, functools.partial(_unnamed, entry))


def _right(exercise: str) -> Iterator[Job]:
    """The answers that must earn everything."""
    yield Job("model answers", "the model answer", exercise, _lost, read_submission(course.MODEL_ANSWERS))
    for entry in variants(exercise):
        yield _of_entry("fair variants", entry, _lost)
    yield from _variants_together(exercise)


def _of_entry(what: str, entry: Entry, problems: Callable[[Result], Iterable[str]]) -> Job:
    name, functions = f"{entry.function}: {entry.name}", frozenset({f"{entry.exercise}.{entry.function}"})
    return Job(what, name, entry.exercise, problems, entry.submission, functions)


def _variants_together(exercise: str) -> Iterator[Job]:
    """Variants of all functions at once, where the functions of an exercise call those of others.

    A right answer must not cost points two exercises later, whatever the other right answers are.
    """
    called = {name for names in course.exercise(exercise).uses.values() for name in names}
    used = {name.split(".")[0] for name in called}
    if used <= {exercise}:
        return
    known = (f"{name}.{entry.function}" for name in {*used, exercise} for entry in variants(name))
    counts = Counter(name for name in known if name in called)  # beyond these nothing has a caller to be graded
    for place in range(max(counts.values(), default=0)):
        submission, functions = variants_together(place)
        yield Job("fair variants together", submission.folder, exercise, _lost, submission, functions)


def selftest(
    exercises: list[str],
    grade: Grade,
    *,
    only: str = "",
    seeds: int = 1,
    on_result: Callable[[Job, Result], None] = lambda *_: None,
    track: Callable[[list[Any]], Iterable[Any]] = iter,
) -> Report:
    """Grade every answer whose grade is known.

    Args:
        exercises: Names of exercises.
        grade: Does the gradings.
        only: Only answers with this text in their name, which begins with the function that they replace.
        seeds: Grade the answers that must earn everything with this many seeds.
        on_result: Called with every answer and what the grader said of it.
        track: Goes through a list and shows how far it is.
    """
    report = Report()
    starter = make_stubs(course.MODEL_ANSWERS)
    answers = [job for exercise in exercises for job in jobs(exercise, starter, seeds=seeds) if only in job.name]
    for job, result in zip(track(answers), grade(answers), strict=True):
        on_result(job, result)
        report.counts[job.what] += 1
        problems = _failures_of_the_grader(result) or job.problems(result)
        report.problems += [f"{job.exercise}: {job.name}: {problem}" for problem in problems]
    return report


def _failures_of_the_grader(result: Result) -> list[str]:
    if result.exit_code != 3:
        return []
    broken = next((f"{check.id}: {check.story}" for check in result.checks if check.outcome == GRADER_ERROR), "")
    return [f"the grader failed: {result.problem or broken}"]


# What is wrong with the result of an answer


def _lost(result: Result) -> Iterator[str]:
    """Checks that a right answer did not pass."""
    for check in result.checks:
        if check.outcome != PASSED:
            details = (f"{check.outcome}: {check.title}", check.call, check.story, str(check.rows or ""))
            yield " ".join(filter(None, details))


def _not_unwritten(result: Result) -> Iterator[str]:
    """Checks that do not say of a stub that it is not written."""
    for check in result.checks:
        if check.outcome != NOT_WRITTEN:
            yield f"{check.outcome}, not unwritten: {check.title}"


def _earning(function: str, result: Result) -> Iterator[str]:
    """Checks of a function that an answer without work passed."""
    for check in result.checks:
        if check.function == function and check.earned:
            yield f"earns {check.earned} for: {check.title}"


def _unnamed(entry: Entry, result: Result) -> Iterator[str]:
    """Whether a misconception is missed, or not named alone."""
    if all(check.outcome not in (FAILED, BROKEN) for check in result.checks):
        yield "is not caught; add a check that it fails, or an example to one"
        return
    named = {mistake.name for exercise in result.exercises for mistake in exercise.misconceptions}
    if named != {entry.name}:
        yield f"is named {' and '.join(sorted(named)) or 'nothing'}; {_to_be_named(entry)}"


def _to_be_named(entry: Entry) -> str:
    """What to do about a misconception that is not named alone."""
    record = f"run `course dev vectors {entry.exercise}`"
    _, known = vectors.load(entry.exercise)
    if entry.name not in known.get(entry.function, {}):
        return f"{record}, which has not recorded it yet"
    return f"{record}, and if that changes nothing, add an example in which it differs from every other misconception"
