"""What a check is: a pytest test with points, and with the worked examples that belong to it.

    @check("group_advantages", points=4, gate=True, hints=("Which axis is the group?",), examples=[Example(REWARDS)])
    def test_rewards_1_0_0_0(student, worked):
        '''Rewards 1, 0, 0, 0 become 1.732, -0.577, -0.577, -0.577.'''

The first line of the docstring is the sentence that the student reads; the rest says why it must hold. Every example
has recorded answers: `course dev vectors` records what the model answer and each known mistake return, so a report can
name the mistake that a submission's numbers show without running any of them.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, TypeVar

from ..core import course
from ..core.refusal import FileRefused, not_python
from ..core.result import CheckResult
from .calls import Call, Example
from .points import shared_out

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Check:
    """One declared check.

    Raises:
        ValueError: it is both a gate, which comes first, and the check that a wrong dtype fails, which comes last.
    """

    function: str = field(kw_only=False)  # the function under test
    points: int  # what it is worth: as declared, or from `checks_of` its share of the total in `course.toml`
    gate: bool = False  # until this worked example is right, the other checks of the function wait
    dtype: bool = False  # fails if any check of the function saw a wrong dtype; no other check fails for it
    needs: Sequence[str] = ()  # ids of checks that the report names next to a failure, because they may have caused it
    hints: Sequence[str] = ()  # a ladder, from a question to the concept to look up; never code
    seconds: float = 20.0  # wall-clock time that it may wait for student code
    call_seconds: float | None = None  # the same for one call, where it is not `course.CALL_SECONDS`
    examples: Sequence[Example] = field(default=(), repr=False)  # the calls that belong to it
    refuses: Sequence[Example] = field(default=(), repr=False)  # calls that must end with a ValueError
    id: str = ""  # "exercise.name of the test"
    exercise: str = ""  # name of the exercise
    title: str = ""  # the sentence that the student reads
    explanation: str = ""  # why it must hold
    hidden: bool = False  # not part of the handout

    def __post_init__(self) -> None:
        if self.gate and self.dtype:
            raise ValueError("use gate=True and dtype=True for different checks of a function: its first and its last")

    @property
    def whole_name(self) -> str:
        """The function under test, "exercise.function"."""
        return f"{self.exercise}.{self.function}"

    def call(self, example: Example) -> Call:
        """The call of one of its examples."""
        names, _ = course.exercise(self.exercise).parameters(self.function)
        return Call.of(self.function, example, names)


def check(function: str, *, needs: Sequence[str] = (), **declared: Any) -> Callable[[Function], Function]:
    """Declare the test below to be a check; it goes above the test's `@given`.

    Args:
        function: The function under test.
        needs: Names of checks of the same exercise, without "test_".
        declared: Other fields of `Check`; the test's name, docstring and module decide the last five.
    """

    def declare(test: Function) -> Function:
        _, _, exercise, module, *_ = test.__module__.split(".")
        title, _, rest = inspect.cleandoc(test.__doc__ or "").partition("\n")
        vars(test)["check"] = Check(
            function,
            **declared,
            needs=[f"{exercise}.{need}" for need in needs],
            id=f"{exercise}.{test.__name__.removeprefix('test_')}",
            exercise=exercise,
            title=title.strip(),
            explanation=" ".join(rest.split()),
            hidden=module == "hidden_checks",
        )
        return test

    return declare


def modules(exercise: str, *, hidden: bool) -> list[str]:
    """Names of the modules with the checks of an exercise: `checks`, or one per function in a package of that name.

    A handout has no hidden checks.
    """
    folder = course.exercise(exercise).folder
    names = [f"checks.{path.stem}" for path in sorted(folder.glob("checks/[!_]*.py"))] or ["checks"]
    if hidden and course.WRITTEN.hidden_checks and (folder / "hidden_checks.py").is_file():
        names.append("hidden_checks")
    return [f"grader.exercises.{exercise}.{name}" for name in names]


def has_hidden_checks() -> bool:
    """Whether to run checks that compare with the model answers: in the instructor's copy, if `course.toml` says so."""
    return (
        course.WRITTEN.hidden_checks
        and course.MODEL_ANSWERS.is_dir()
        and any((exercise.folder / "hidden_checks.py").is_file() for exercise in course.EXERCISES)
    )


def checks_of(exercise: str, *, hidden: bool) -> list[Check]:
    """All checks of an exercise with their points, in order; a function's gate comes first.

    Raises:
        FileRefused: a file of checks cannot be imported, or has a check for a function that is not there, or the points
            in `course.toml` are too few.
    """
    graded = course.exercise(exercise)
    order = graded.function_names
    declared: list[Check] = []
    for name in modules(exercise, hidden=hidden or bool(graded.points)):
        file = f"{name.replace('.', '/')}.py"
        found = (getattr(value, "check", None) for value in vars(_imported(name, file)).values())
        of_file = [each for each in found if isinstance(each, Check)]
        for unknown in (each for each in of_file if each.function not in order):
            there = f"the functions to write are {', '.join(order)}" if order else "there are none yet"
            raise FileRefused(f"{file}: {unknown.id} is for {unknown.function!r}; {there}")
        declared += of_file
    if graded.points:
        points = shared_out(graded, {each.id: each.points for each in declared})
        declared = [replace(each, points=points[each.id]) for each in declared if hidden or not each.hidden]
    return sorted(declared, key=lambda each: (order.index(each.function), not each.gate, each.hidden))


def _imported(name: str, file: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except SyntaxError as error:
        raise not_python(file, error) from None
    except Exception as error:  # the author's code may raise anything
        raise FileRefused(f"cannot import {file} ({type(error).__name__}: {error}); correct it") from error


def as_result(check: Check) -> CheckResult:
    """The entry of a check in a result before it has run."""
    return CheckResult(
        id=check.id,
        function=check.function,
        title=check.title,
        points=check.points,
        hidden=check.hidden,
        gate=check.gate,
    )
