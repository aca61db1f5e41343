"""What an attack is: the text of a hostile submission, and what it may and may not reach at each isolation level.

An attack replaces a function, `group_advantages` of the first exercise unless it says another. The text finds the
addresses of everything worth attacking in the dict `YARD`, see `yard.Yard.addresses`.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..core import course
from ..core.contents import read_submission
from ..core.result import BROKEN, PASSED
from ..core.submission import Submission

EXERCISE, FUNCTION = "advantages", "group_advantages"
BESIDE = "kl"
"""The exercise that is graded along with it and must keep all its points."""

Files = Mapping[str, str]
Packing = Callable[[Path, str, Files, Mapping[str, Any]], None]
"""Puts a submission into the folder of a class: the folder, the name that it is to have, its files, the addresses."""


class Harm(StrEnum):
    """What an attack can do, as a phrase for a table."""

    GRADE_RAISED = "grade raised"
    GRADER_FAILED = "grader failed"
    SECRET_READ = "secret read"
    FILE_CHANGED = "file changed"
    NETWORK_REACHED = "network reached"
    PROCESS_DISTURBED = "process disturbed"
    PROCESS_LEFT = "process left behind"
    MEMORY_LEFT = "memory left behind"
    NEIGHBOR_CHANGED = "another's points changed"
    CLASS_STOPPED = "class stopped"
    REPORT_MISREAD = "report misread"


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Attributes:
        name: Verb first.
        tries: What it tries, as a sentence.
        body: Of `attack(rewards, *, std_eps=1e-8, divide_by_std=True)`, which takes the place of `group_advantages`; of
            `attack(*arguments, **options)`, where it takes the place of another function.
        top: Text of the module before the function.
        verdict: What the outcome of the function's gate check must be at every level. PASSED: it answers with `honest`,
            the right numbers, and full points are right. "": nothing of it is graded.
        level_0: The harms that level 0 does not stop.
        reason: Why not.
        not_at_level_0: Why it is not run there; "" if it is.
        varies: What it reaches at level 0 depends on the kernel and on who runs the grader.
        exercise: Of the function.
        function: Whose place it takes.
        behind_gate: It answers rightly at the gate and attacks behind it: some points of the function must be lost.
        called_by: An exercise that calls the function, and is graded along so that a second pass judges it.
        rounds: How often it is handed in; `YARD["round"]` says the how manieth time it is.
        packing: How it is packed. Such an attack is aimed at a class, so only `grade-all` meets it.
    """

    name: str
    tries: str
    body: str
    top: str = ""
    verdict: str = BROKEN
    level_0: frozenset[Harm] = frozenset()
    reason: str = ""
    not_at_level_0: str = ""
    varies: bool = False
    exercise: str = EXERCISE
    function: str = FUNCTION
    behind_gate: bool = False
    called_by: str = ""
    rounds: int = 1
    packing: Packing | None = None

    def __post_init__(self) -> None:
        if bool(self.level_0) != bool(self.reason):
            raise ValueError(f"{self.name}: what level 0 does not stop has a reason, and nothing else has one")

    @property
    def is_honest(self) -> bool:
        """Whether it gives the right answer besides."""
        return self.verdict == PASSED

    @property
    def exercises(self) -> tuple[str, ...]:
        """What is graded of it, in course order."""
        graded = {self.exercise, self.called_by, BESIDE}
        return tuple(name for name in course.names() if name in graded)

    def allowed(self, level: int) -> frozenset[Harm]:
        """The harms that this isolation level is not said to stop."""
        return self.level_0 if level == 0 else frozenset()


@dataclass(frozen=True)
class Topic:
    """Attacks of one kind.

    Attributes:
        title: Heading of their table.
        attacks: In the order of the table.
    """

    title: str
    attacks: tuple[Attack, ...]


def submission(attack: Attack, addresses: Mapping[str, Any]) -> Submission:
    """The submission of an attack.

    Args:
        attack: What it does.
        addresses: Becomes the dict `YARD` of its module.

    Returns:
        The model answers of what is graded, and of what that imports, with the attack in the place of the function.
        Nothing of the model answer to that function is left in it, unless the attack is honest.
    """
    model = read_submission(course.MODEL_ANSWERS).files
    name, function = course.exercise(attack.exercise).file_name, attack.function
    own = f"{model[name]}\n\nhonest = {function}\n" if attack.is_honest else _without(function, model[name])
    text = f"{own}\n\nYARD = {dict(addresses)!r}\n\n{textwrap.dedent(attack.top)}\n\n"
    usual = function == FUNCTION
    text += f"def attack({'rewards, *, std_eps=1e-8, divide_by_std=True' if usual else '*arguments, **options'}):\n"
    text += textwrap.indent(textwrap.dedent(attack.body), "    ") + f"\n\n{function} = attack\n"
    ast.parse(text)
    last = max(map(course.names().index, attack.exercises))
    needed = course.names()[: last + 1] if attack.exercises != (EXERCISE, BESIDE) else attack.exercises
    files = {file: model[file] for each in needed if (file := course.exercise(each).file_name)}
    return Submission("attack", Path("attack"), {**files, name: text}, {})


def _without(function: str, text: str) -> str:
    """The module without the lines of one function."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines)
