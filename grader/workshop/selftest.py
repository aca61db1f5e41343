"""Grade answers with known grades, to prove that the checks are right.

The untouched stub and answers without work earn nothing. The model answers and every fair variant earn all points, also
when later exercises call them. Every known mistake is caught and named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core import course
from ..core.contents import read_submission
from ..core.result import BROKEN, FAILED, GRADER_ERROR, NOT_WRITTEN, PASSED, Result
from ..core.submission import Submission
from ..grading import recorded_answers
from ..grading.run import grade_submission
from ..grading.settings import GradingSettings, declared_checks
from ..grading.student import Loaded
from .catalogue import fair_variants, fair_variants_together, known_mistakes, replaced
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
STUBS, IDLE, MODEL, VARIANTS, TOGETHER, KNOWN_MISTAKES = (
    "stubs", "answers without work", "model answers", "fair variants", "fair variants together", "known mistakes",
)  # fmt: skip


@dataclass(frozen=True)
class SelfTestJob:
    """One answer with a known grade, as plain data: another process may grade it."""

    what: str  # its kind
    name: str  # begins with the function that it replaces
    exercise: str
    submission: Submission
    functions: frozenset[str] = frozenset()  # the replaced ones, each as "exercise.function"; none in whole answers
    seed: int = 0

    @property
    def checks(self) -> tuple[str, ...]:
        """Ids of the checks to run: those of a replaced function, and the gates of the functions that call it.

        For fair variants together, the checks of the functions that call one of them; without replacements, all checks.
        """
        declared = declared_checks([self.exercise], hidden=True)
        if not self.functions:
            return (*declared,)
        uses = course.exercise(self.exercise).uses
        callers = {name for name, called in uses.items() if not self.functions.isdisjoint(called)}
        own = set() if self.what == TOGETHER else {name.partition(".")[2] for name in self.functions}
        return tuple(
            name
            for name, check in declared.items()
            if check.function in own or (check.function in callers and (check.gate or self.what == TOGETHER))
        )

    def graded(self, start: Callable[..., Loaded], *, quick: bool = False) -> Result:
        """The grader's result, with workers from `start`; if `quick`, one per answer instead of one per check."""
        declared = declared_checks([self.exercise], hidden=True)
        checks = {name: declared[name] for name in self.checks}
        options: dict[str, Any] = {"fresh_workers": not quick, "second_pass": False, "seed": self.seed}
        return grade_submission(GradingSettings(self.submission, [self.exercise], start, checks=checks, **options))


def jobs(exercise: str, starter: dict[str, str], *, seeds: int = 1) -> Iterator[SelfTestJob]:
    """Every answer with a known grade, and the stubs in `starter`; right answers once per seed."""
    yield SelfTestJob(STUBS, "the untouched stub", exercise, Submission("stub", Path("stub"), starter, {}))
    for function in course.exercise(exercise).function_names:
        for name, body in WITHOUT_WORK.items():
            text = f"def {name}(*arguments, **options):\n    {body}\n"
            yield _replacing(IDLE, exercise, function, name, replaced(exercise, function, name, text))
    for seed in range(seeds):
        for job in _right(exercise):
            yield replace(job, seed=seed, name=f"{job.name}, seed {seed}" if seed else job.name)
    for entry in known_mistakes(exercise):
        yield _replacing(KNOWN_MISTAKES, exercise, entry.function, entry.name, entry.submission)


def _replacing(what: str, exercise: str, function: str, name: str, submission: Submission) -> SelfTestJob:
    return SelfTestJob(what, f"{function}: {name}", exercise, submission, frozenset({f"{exercise}.{function}"}))


def _right(exercise: str) -> Iterator[SelfTestJob]:
    """The answers that must earn all points."""
    yield SelfTestJob(MODEL, "the model answer", exercise, read_submission(course.MODEL_ANSWERS))
    for entry in fair_variants(exercise):
        yield _replacing(VARIANTS, exercise, entry.function, entry.name, entry.submission)
    # A right answer must not cost points in a later exercise, whatever the other right answers are.
    called = {name for names in course.exercise(exercise).uses.values() for name in names}
    used = {name.split(".")[0] for name in called}
    if used <= {exercise}:
        return
    known = (f"{name}.{entry.function}" for name in {*used, exercise} for entry in fair_variants(name))
    counts = Counter(name for name in known if name in called)  # beyond these nothing has a caller to be graded
    for index in range(max(counts.values(), default=0)):
        submission, functions = fair_variants_together(index)
        yield SelfTestJob(TOGETHER, submission.folder, exercise, submission, functions)


def all_jobs(exercises: Sequence[str], *, only: str = "", seeds: int = 1) -> list[SelfTestJob]:
    """Every answer with a known grade whose name contains `only`, and next to these the model answers."""
    starter = make_stubs(course.MODEL_ANSWERS)
    found = [job for exercise in exercises for job in jobs(exercise, starter, seeds=seeds)]
    matching = [job for job in found if only in job.name or job.what == MODEL]
    return matching if any(only in job.name for job in matching) else []


@dataclass
class CheckValue:
    """What some checks are good for, counted from graded answers; a check behind a failing gate did not run."""

    caught: Counter[str] = field(default_factory=Counter)  # by id: wrong answers that fail it
    alone: Counter[str] = field(default_factory=Counter)  # those that no other check catches

    def count(self, job: SelfTestJob, result: Result) -> None:
        """Count what a graded answer shows, if it is a wrong one."""
        if job.what in (IDLE, KNOWN_MISTAKES):
            failing = [check.id for check in result.checks if check.outcome in (FAILED, BROKEN)]
            self.caught.update(failing)
            self.alone.update(failing[:1] if len(failing) == 1 else [])

    def problems(self, exercises: Sequence[str]) -> list[str]:
        """One sentence per check that catches nothing, of exercises whose wrong answers are all counted."""
        useless = [name for name in declared_checks(exercises, hidden=True) if not self.caught[name]]
        return [f"{name}: catches no known mistake; add one that needs it, or remove the check" for name in useless]


def problems_of(job: SelfTestJob, result: Result) -> list[str]:
    """One sentence per deviation of a result from its known grade."""
    checks, problems = result.checks, []
    if result.exit_code == 3:
        broken = next((f"{check.id}: {check.message}" for check in checks if check.outcome == GRADER_ERROR), "")
        problems.append(f"the grader failed: {result.problem or broken}")
    elif job.what == STUBS:
        wrong = [check for check in checks if check.outcome != NOT_WRITTEN]
        problems += [f"{check.outcome}, not unwritten: {check.title}" for check in wrong]
    elif job.what == IDLE:
        own = [check for check in checks if f"{job.exercise}.{check.function}" in job.functions]
        problems += [f"earns {check.earned} for: {check.title}" for check in own if check.earned]
    elif job.what == KNOWN_MISTAKES:
        problems += _unnamed(job, result)
    else:
        for check in checks:
            if check.outcome != PASSED:
                details = (f"{check.outcome}: {check.title}", check.call, check.message, str(check.rows or ""))
                problems.append(" ".join(filter(None, details)))
    return [f"{job.exercise}: {job.name}: {problem}" for problem in problems]


def _unnamed(job: SelfTestJob, result: Result) -> Iterator[str]:
    """What to do about a known mistake that is not caught, or is not the only one named."""
    if all(check.outcome not in (FAILED, BROKEN) for check in result.checks):
        yield "is not caught; add a check that it fails, or an example to one"
        return
    function, _, name = job.name.partition(": ")
    named = {mistake.name for exercise in result.exercises for mistake in exercise.known_mistakes}
    if named != {name}:
        advice = f"run `course dev vectors {job.exercise}`"
        if name not in recorded_answers.load(job.exercise)[1].get(function, {}):
            advice += ", which has not recorded it yet"
        else:
            advice += ", and if that changes nothing, add an example in which it differs from every other known mistake"
        yield f"is named {' and '.join(sorted(named)) or 'nothing'}; {advice}"
