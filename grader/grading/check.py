"""What a check is: a pytest test with points, and with the worked examples that belong to it.

    @check("group_advantages", points=4, gate=True, hints=("Which axis is the group?",), examples=[Example(REWARDS)])
    def test_rewards_1_0_0_0(student, worked):
        '''Rewards 1, 0, 0, 0 become 1.732, -0.577, -0.577, -0.577.'''

The first line of the docstring is the sentence that the student reads; the rest says why. Every example becomes a
vector: `course dev vectors` writes down what the model answer and each misconception make of it, and so the report can
say which mistake a submission's numbers show without running any of them.
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
from .points import shared_out
from .student import Call, Example

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Check:
    """One declared check.

    Attributes:
        id: `exercise.name of the test`.
        exercise: Name of the exercise.
        function: The function under test.
        title: The sentence that the student reads.
        explanation: Why it must hold.
        points: What it is worth: as declared, or by `checks_of` its share of the total in `course.toml`.
        gate: Until this worked example is right, the other checks of the function wait.
        needs: Ids of checks that are named beside a failure, because they may have caused it.
        hidden: Not part of the handout.
        hints: A ladder, from a question to the concept to look up; never code.
        seconds: Wall-clock time that it may wait for student code.
        call_seconds: The same for one call, where it is not `course.CALL_SECONDS`.
        examples: The calls that belong to it.
        dtype: Whether a wrong dtype of the function fails it, whichever check saw that; it fails no other.
        refuses: Calls without an answer, one for each case under "Raises" of the stub: they must end with a ValueError.
    """

    id: str
    exercise: str
    function: str
    title: str
    explanation: str
    points: int
    gate: bool
    needs: tuple[str, ...]
    hidden: bool
    hints: tuple[str, ...]
    seconds: float
    examples: tuple[Example, ...] = field(repr=False)
    call_seconds: float | None = None
    dtype: bool = False
    refuses: tuple[Example, ...] = field(default=(), repr=False)

    @property
    def whole_name(self) -> str:
        """The function under test, "exercise.function"."""
        return f"{self.exercise}.{self.function}"

    def call(self, example: Example) -> Call:
        """The call of one of its examples."""
        names, _ = course.exercise(self.exercise).parameters(self.function)
        return Call.of(self.function, example, names)


def check(
    function: str,
    *,
    points: int,
    gate: bool = False,
    dtype: bool = False,
    needs: Sequence[str] = (),
    hints: Sequence[str] = (),
    seconds: float = 20.0,
    examples: Sequence[Example] = (),
    call_seconds: float | None = None,
    refuses: Sequence[Example] = (),
) -> Callable[[Function], Function]:
    """Declare a test function a check; see `Check` for the arguments. Put it above `@given`.

    Raises:
        ValueError: the check is to come first, as a gate, and last, because a wrong dtype fails it.
    """
    if gate and dtype:
        raise ValueError("gate=True and dtype=True are for two checks of a function, its first and its last")

    def declare(test: Function) -> Function:
        *_, exercise, module = test.__module__.split(".")
        title, _, rest = inspect.cleandoc(test.__doc__ or "").partition("\n")
        declared = Check(
            id=f"{exercise}.{test.__name__.removeprefix('test_')}",
            exercise=exercise,
            function=function,
            title=title.strip(),
            explanation=" ".join(rest.split()),
            points=points,
            gate=gate,
            dtype=dtype,
            needs=tuple(f"{exercise}.{need}" for need in needs),
            hidden=module == "hidden_checks",
            hints=tuple(hints),
            seconds=seconds,
            examples=tuple(examples),
            call_seconds=call_seconds,
            refuses=tuple(refuses),
        )
        test.check = declared  # type: ignore[attr-defined]
        return test

    return declare


def modules(exercise: str, *, hidden: bool) -> list[str]:
    """Names of the modules that hold the checks of an exercise. Hidden ones are not in a handout."""
    names = [f"grader.exercises.{exercise}.checks"]
    if hidden and course.WRITTEN.hidden_checks and (course.exercise(exercise).folder / "hidden_checks.py").is_file():
        names.append(f"grader.exercises.{exercise}.hidden_checks")
    return names


def has_hidden_checks() -> bool:
    """Whether checks compare with the model answers: in an instructor's tree, if `course.toml` wants it."""
    return (
        course.WRITTEN.hidden_checks
        and course.MODEL_ANSWERS.is_dir()
        and any((exercise.folder / "hidden_checks.py").is_file() for exercise in course.EXERCISES)
    )


def checks_of(exercise: str, *, hidden: bool) -> list[Check]:
    """All checks of an exercise with what each is worth, in order; a function's gate comes first.

    Raises:
        FileRefused: a file of checks cannot be imported, or has a check for a function that is not there, or the points
            in `course.toml` are too few.
    """
    graded = course.exercise(exercise)
    found = _declared(exercise, hidden=hidden or bool(graded.points))
    if graded.points:
        points = shared_out(graded, {each.id: each.points for each in found})
        found = [replace(each, points=points[each.id]) for each in found if hidden or not each.hidden]
    order = graded.function_names
    return sorted(found, key=lambda declared: (order.index(declared.function), not declared.gate, declared.hidden))


def _declared(exercise: str, *, hidden: bool) -> list[Check]:
    """The checks of an exercise as they are declared.

    Raises:
        FileRefused: a file of checks cannot be imported, or has a check for a function that is not there.
    """
    found: list[Check] = []
    order = course.exercise(exercise).function_names
    for name in modules(exercise, hidden=hidden):
        file = f"{name.replace('.', '/')}.py"
        module = _imported(name, file)
        own = [value.check for value in vars(module).values() if hasattr(value, "check")]
        for declared in own:
            if declared.function not in order:
                there = f"the functions to write are {', '.join(order)}" if order else "there is none to write yet"
                raise FileRefused(f"{file}: {declared.id} is for {declared.function!r}; {there}")
        found += own
    return found


def _imported(name: str, file: str) -> ModuleType:
    """A module of checks.

    Raises:
        FileRefused: it cannot be imported.
    """
    try:
        return importlib.import_module(name)
    except SyntaxError as error:
        raise not_python(file, error) from None
    except Exception as error:  # an author may write anything
        raise FileRefused(f"{file} cannot be imported ({type(error).__name__}: {error}); correct it") from error


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
