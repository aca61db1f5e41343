"""Why checks failed: the mistakes that a submission's answers show, and wrong functions that are called.

A function that fails a check is asked for all worked examples again, and its answers are compared with the recorded
ones of the model answer and of every known mistake (`vectors`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..core import course
from ..core.result import BROKEN, FAILED, PASSED, ExerciseResult, NamedMistake, Result
from ..sandbox.worker_process import SandboxError
from . import vectors
from .check import checks_of
from .settings import Settings
from .student import Clock, Student, StudentDied
from .vectors import Diagnosis, Observation, Vector, agree

_NAMING_SECONDS = 10.0


@dataclass(frozen=True)
class Named:
    """A misconception that a submission's answers to the examples of one check show.

    Attributes:
        check: Id of the check.
        diagnosis: The misconception.
        everywhere: The answers to all other examples show it too; False if another mistake is mixed in.
    """

    check: str
    diagnosis: Diagnosis
    everywhere: bool


def explain(settings: Settings, result: Result) -> None:
    """Write into a result why checks failed.

    Raises:
        SandboxError: there is no worker to be had.
    """
    for exercise in result.exercises:
        blameless = _blame_what_is_called(settings, exercise, result)
        exercise.misconceptions = _named(settings, exercise, blameless)


def as_entry(exercise: str, named: Named) -> NamedMistake:
    """A named mistake as a result holds it."""
    page = f"{course.exercise(exercise).mistakes_page}#{named.diagnosis.anchor}"
    return NamedMistake(check=named.check, everywhere=named.everywhere, page=page, **vars(named.diagnosis))


def _named(settings: Settings, exercise: ExerciseResult, blameless: set[str]) -> list[NamedMistake]:
    """Name the mistakes that the submission's answers to the worked examples show.

    Not those of blameless functions: their numbers are wrong because of what they call, and a mistake of their own that
    gives the same numbers is not the one that was made.
    """
    failing = [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]
    suspects = {check.function for check in failing} - blameless
    found = []
    _, known = vectors.load(exercise.name)
    for function, seen in observations(settings, exercise.name, suspects).items():
        ids = [check.id for check in failing if check.function == function]
        mistakes = diagnose(seen, known.get(function, {}), ids)
        found += [as_entry(exercise.name, named) for named in mistakes]
    return found


def _blame_what_is_called(settings: Settings, exercise: ExerciseResult, result: Result) -> set[str]:
    """Write beside each failing check which functions it calls that are wrong themselves.

    Returns:
        The failing functions that call a wrong one.
    """
    failing = [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]
    uses = course.exercise(exercise.name).uses
    wrong: dict[str, bool] = {}
    blameless = set()
    for check in failing:
        for used in uses.get(check.function, ()):
            if used not in wrong:
                wrong[used] = _is_wrong(settings, used, result)
            name, function = used.split(".")
            if wrong[used]:
                where = "see above" if name == exercise.name else f"grade the exercise {name} first"
                check.may_come_from.append(f"your `{function}`, which it calls: {where}")
                blameless.add(check.function)
    return blameless


def _is_wrong(settings: Settings, used: str, result: Result) -> bool:
    """Whether a function, "exercise.function", fails a check, or a worked example if its exercise was not graded."""
    name, function = used.split(".")
    checks = [check for exercise in result.exercises if exercise.name == name for check in exercise.checks]
    graded = [check for check in checks if check.function == function]
    if graded:
        return any(check.outcome != PASSED for check in graded)
    public = {check.id: check for check in checks_of(name, hidden=False)}
    seen = observations(replace(settings, checks=public), name, {function}).get(function)
    return seen is None or not all(agree(observation, vector.expected) for vector, observation in seen)


def observations(settings: Settings, exercise: str, functions: set[str]) -> dict[str, list[tuple[Vector, Observation]]]:
    """What some functions of a submission make of all worked examples of the selected checks."""
    recorded, _ = vectors.load(exercise)
    seen: dict[str, list[tuple[Vector, Observation]]] = {}
    clocks = (Clock(_NAMING_SECONDS, "naming the mistake"), Clock(3 * _NAMING_SECONDS, "naming it", wall=True))
    module = course.exercise(exercise)
    for function in module.function_names:
        if function not in functions:
            continue
        student = Student(module, settings.submission, settings.start, device=settings.device, clocks=clocks)
        try:
            for check in settings.selected.values():
                if check.exercise == exercise and check.function == function:
                    for example, vector in zip(check.examples, recorded.get(check.id, []), strict=True):
                        seen.setdefault(function, []).append((vector, vectors.observe(student, function, example)))
        except SandboxError:
            raise
        except (StudentDied, Exception):
            seen.pop(function, None)  # nothing to compare: the report already says what is broken
        finally:
            student.close()
    return seen


def diagnose(
    seen: list[tuple[Vector, Observation]], known: dict[str, Diagnosis], failing: Sequence[str]
) -> list[Named]:
    """Name the misconceptions that the answers of one function show, check by check.

    A failing check names a misconception only if it reproduces the submission's answers to *all* examples of that check
    and some of them are wrong: the sentence must be true of the numbers that stand above it. Of several, the one is
    named that the fewest other examples speak against, then the one that reproduces most of them; none is named if two
    are equally good. A check that fails although its own examples are right gets what all examples together bear out,
    if no check can name anything by its own.

    A submission may also change its arguments in place, or return a graph. That is a mistake of its own, with a check
    of its own; where no name fits with it, one is looked for without it.

    Args:
        seen: Every example of the function with the submission's observation.
        known: The function's misconceptions by name.
        failing: Ids of the failing checks, in order.
    """
    strict = _Agreement.of(seen, known)
    named = strict.named(seen, known, failing)
    unnamed = [check for check in failing if check not in named]
    if unnamed:
        named |= _Agreement.of(seen, known, values_only=True).named(seen, known, unnamed)
    if named:
        return [named[check] for check in failing if check in named]
    for check in failing:
        if all(agree(observation, vector.expected) for vector, observation in seen if vector.check == check):
            best = strict.best([name for name in known if strict.evidence[name] and strict.against[name] == 0])
            return [Named(check, known[best], True)] if best else []
    return []


@dataclass(frozen=True)
class _Agreement:
    """How a submission's answers agree with those of each misconception, by its name.

    Attributes:
        agreeing: Examples on which the two give the same answer.
        evidence: Examples on which the misconception gives another answer than the model.
        against: How many of its evidence the submission does not show.
    """

    agreeing: dict[str, set[int]]
    evidence: dict[str, set[int]]
    against: dict[str, int]

    @classmethod
    def of(
        cls, seen: list[tuple[Vector, Observation]], known: dict[str, Diagnosis], *, values_only: bool = False
    ) -> _Agreement:
        """Compare everything with everything."""
        agreeing: dict[str, set[int]] = {name: set() for name in known}
        evidence: dict[str, set[int]] = {name: set() for name in known}
        for index, (vector, observation) in enumerate(seen):
            is_right = agree(observation, vector.expected, values_only=values_only)
            for name in known:
                mistake = vector.mistakes.get(name)
                if mistake is None or (values_only and agree(mistake, vector.expected, values_only=True)):
                    if is_right:
                        agreeing[name].add(index)
                    continue
                evidence[name].add(index)
                if agree(observation, mistake, values_only=values_only):
                    agreeing[name].add(index)
        return cls(agreeing, evidence, {name: len(evidence[name] - agreeing[name]) for name in known})

    def named(
        self, seen: list[tuple[Vector, Observation]], known: dict[str, Diagnosis], checks: Sequence[str]
    ) -> dict[str, Named]:
        """Check to the one misconception that it shows; checks that show none, or several alike, are left out."""
        found = {}
        for check in checks:
            own = {index for index, (vector, _) in enumerate(seen) if vector.check == check}
            best = self.best([name for name in known if self.shows(name, own)])
            if best:
                found[check] = Named(check, known[best], self.against[best] == 0)
        return found

    def shows(self, name: str, examples: set[int]) -> bool:
        """Whether the submission gives a misconception's answers to all of some examples, and some are wrong."""
        return examples <= self.agreeing[name] and bool(examples & self.evidence[name])

    def best(self, names: list[str]) -> str | None:
        """The one with the least evidence against it, then with most answers reproduced; None if that is not one."""
        ranks = {name: (-self.against[name], len(self.agreeing[name])) for name in names}
        best = [name for name in names if ranks[name] == max(ranks.values())]
        return best[0] if len(best) == 1 else None
