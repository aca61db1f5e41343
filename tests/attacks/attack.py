"""What an attack is, how the corpus writes it down, and the submission that it becomes.

The corpus holds attacks as text, one paragraph per attack:

    its name: what it tries
    - failed; level 0: file changed (files)
        code at the top of the module
        ----
        code of the function

Options follow a dash, separated by semicolons; each is a line of `_OPTIONS`. The line of dashes is left out where
there is no code at the top. Unless the code returns or raises, the function ends as its verdict asks: a broken one
raises, a failed one returns its input, a passed one returns the right answer. The code finds the addresses of
everything worth attacking in the dict `YARD`, see `yard.Yard.addresses`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import BROKEN, FAILED, PASSED, Outcome
from grader.core.submission import Submission

EXERCISE, FUNCTION = "advantages", "group_advantages"
HONEST_EXERCISE = "kl"
"""One check of this exercise is graded with every attack and must pass."""

REASONS = {
    "files": "no wall around files",
    "network": "no wall around the network",
    "processes": "no wall between processes of the same user",
    "memory": "no wall around shared memory",
    "programs": "no ban on starting programs",
}
"""Level 0 does not stop a harm because it has ..."""

_PRELUDE = """
import ctypes, fcntl, gc, json, mmap, os, signal, socket, stat, struct, sys, threading, time, types
import torch

libc = ctypes.CDLL(None, use_errno=True)

def needs(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def tried(action, *arguments):
    try:
        return action(*arguments)
    except (OSError, ValueError, RuntimeError):
        return None

def tell():
    raise RuntimeError(YARD["found"])
"""
_ENDS = {BROKEN: 'raise RuntimeError("done")', FAILED: "return rewards", PASSED: "return honest(*arguments, **options)"}

Files = Mapping[str, str]
Packing = Callable[[Path, str, Files, Mapping[str, Any]], None]
"""Puts a submission into the folder of a class: the folder, the submission's name, its files, the addresses."""


class Harm(StrEnum):
    """What an attack can do."""

    GRADE_RAISED = "grade raised"
    GRADER_FAILED = "grader failed"
    SECRET_READ = "secret read"
    FILE_CHANGED = "file changed"
    NETWORK_REACHED = "network reached"
    PROCESS_DISTURBED = "process disturbed"
    PROCESS_LEFT = "process left behind"
    MEMORY_LEFT = "memory left behind"
    NEIGHBOR_CHANGED = "neighbor's points changed"


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Attributes:
        name: What it does, verb first.
        tries: More about that; may be empty.
        body: Code of the function that takes the place of the attacked one.
        top: Code of the module before the function.
        verdict: Outcome of the function's gate at every level.
        level_0: The harms that level 0 does not stop. It stops no harm of a level above.
        reason: Why not; one of the values of `REASONS`.
        dangerous: Why it is not run at level 0; "" if it is.
        varies: What it reaches at level 0 depends on the kernel and on who runs the grader.
        exercise: Of the function.
        function: The attacked function.
        behind_gate: It answers rightly at the gate and attacks behind it, so it must lose points there.
        called_by: An exercise that calls the function and is graded along, so that a second pass judges it.
        rounds: How often it is handed in; `YARD["round"]` counts from 1.
        packing: How the submission is packed; "grade-all" alone meets such an attack.
    """

    name: str
    tries: str = ""
    body: str = ""
    top: str = ""
    verdict: Outcome = BROKEN
    level_0: frozenset[Harm] = frozenset()
    reason: str = ""
    dangerous: str = ""
    varies: bool = False
    exercise: str = EXERCISE
    function: str = FUNCTION
    behind_gate: bool = False
    called_by: str = ""
    rounds: int = 1
    packing: Packing | None = None

    @property
    def exercises(self) -> tuple[str, ...]:
        """Names of the graded exercises, in course order."""
        graded = {self.exercise, self.called_by, HONEST_EXERCISE}
        return tuple(name for name in course.names() if name in graded)

    def allowed(self, level: int) -> frozenset[Harm]:
        """The harms that an isolation level does not claim to stop."""
        return self.level_0 if level == 0 else frozenset()


def _level_0(text: str) -> dict[str, Any]:
    harms, _, reason = text.rstrip(")").partition(" (")
    return {"level_0": frozenset(map(Harm, harms.split(", "))), "reason": REASONS[reason]}


def _attacks(text: str) -> dict[str, Any]:
    exercise, function = text.split(".")
    return {"exercise": exercise, "function": function}


_OPTIONS: dict[str, Callable[[str], dict[str, Any]]] = {
    "failed": lambda _: {"verdict": FAILED}, "passed": lambda _: {"verdict": PASSED}, "level 0: ": _level_0,
    "varies": lambda _: {"varies": True}, "dangerous: ": lambda text: {"dangerous": text}, "attacks ": _attacks,
    "behind the gate": lambda _: {"verdict": PASSED, "behind_gate": True},
    "called by ": lambda text: {"verdict": FAILED, "called_by": text},
    "twice": lambda _: {"verdict": FAILED, "rounds": 2},
}  # fmt: skip


def attacks_in(text: str, shared: Mapping[str, str]) -> tuple[Attack, ...]:
    """The attacks of a text, see the head of this module.

    Args:
        text: A topic of the corpus.
        shared: Code by its name; the option `uses NAME` puts it at the top of a module.
    """
    paragraphs = re.split(r"\n(?=\S)(?!- )", text.strip())
    return tuple(_attack(paragraph, shared) for paragraph in paragraphs)


def _attack(paragraph: str, shared: Mapping[str, str]) -> Attack:
    head, *lines = paragraph.splitlines()
    name, _, tries = head.partition(": ")
    attack, uses = Attack(name, tries), []
    while lines and lines[0].startswith("- "):
        for option in lines.pop(0).removeprefix("- ").split("; "):
            if option.startswith("uses "):
                uses += option.split()[1:]
            else:
                (key,) = (key for key in _OPTIONS if option.startswith(key))
                attack = replace(attack, **_OPTIONS[key](option.removeprefix(key)))
    code = textwrap.dedent("\n".join(lines)) + "\n"
    top, _, body = code.rpartition("----\n")
    return replace(attack, body=body.strip("\n"), top="\n".join([*(shared[name] for name in uses), top]))


def submission(attack: Attack, addresses: Mapping[str, Any]) -> Submission:
    """The submission of an attack.

    Args:
        attack: What it does.
        addresses: Becomes the dict `YARD` of its module.

    Returns:
        The model answers of the graded exercises and of those that they import, with the attack in the place of the
        function. The model answer to that function is left out unless the attack is honest.
    """
    model = read_submission(course.MODEL_ANSWERS).files
    file, function = course.exercise(attack.exercise).file_name, attack.function
    own = f"{model[file]}\n\nhonest = {function}\n"
    if attack.verdict != PASSED and "honest" not in attack.body:
        own = _without(function, model[file])
    body = "\n".join(["rewards = arguments[0]", attack.body, _ENDS[attack.verdict]])
    text = f"{own}\n\nYARD = {dict(addresses)!r}\n\n{_PRELUDE}\n\n{attack.top}\n\ndef attack(*arguments, **options):\n"
    text += f"{textwrap.indent(body, '    ')}\n\n{function} = attack\n"
    last = max(map(course.names().index, attack.exercises))
    needed = course.names()[: last + 1] if attack.exercises != (EXERCISE, HONEST_EXERCISE) else attack.exercises
    files = {name: model[name] for each in needed if (name := course.exercise(each).file_name)}
    return Submission("attack", Path("attack"), {**files, file: text}, {})


def attacked_functions(files: Files) -> Iterator[tuple[str, str]]:
    """The functions, each with its exercise, that a submission of `submission` replaces."""
    for name, text in files.items():
        for function in re.findall(r"^(\w+) = attack$", text, re.MULTILINE):
            yield name.removesuffix(".py"), function


def _without(function: str, text: str) -> str:
    return re.sub(rf"^def {function}\(.*?(?=^\S|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
