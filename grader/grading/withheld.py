"""What a report says of a call whose numbers are drawn from the secret of a class: nothing that tells them.

Whatever the submission itself had a say in goes: its prints, the text of its exception, the name of a type. What stays
is what the grader knows: what kind of arguments they were, and another call, open to everybody, that goes wrong too.
"""

from __future__ import annotations

import builtins
import re
from typing import Any

import numpy as np

from ..core.result import FAILED, GRADER_ERROR, NOT_SHOWN, CheckResult
from .check import Check
from .observations import system_meaning
from .shown_call import show_call
from .student import Call, Half, Record, StudentDied, StudentError, Transposed, as_sent

_WRITTEN: dict[str, set[str]] = {}
"""Id of a check to the texts of its calls: a process that grades a class needs those of the same check often."""


def is_public(check: Check, call: Call) -> bool:
    """Whether a call is written down in the check, so that everybody may see it."""
    if check.id not in _WRITTEN:
        _WRITTEN[check.id] = {show_call(check.call(example)) for example in (*check.examples, *check.refuses)}
    return show_call(call) in _WRITTEN[check.id]


def withhold(entry: CheckResult, problem: BaseException, public_call: str) -> None:
    """Leave nothing in an entry that tells the numbers of its call or the expected ones.

    Args:
        entry: What would be reported; its outcome stays.
        problem: What the check ended with.
        public_call: Lines of a call that may be shown and goes wrong too; empty if none was found.
    """
    if entry.outcome == GRADER_ERROR:
        entry.story = f"{type(problem).__name__} in the grader"
    else:
        call: Call | None = getattr(problem, "call", None)
        asked = f" ({', '.join(_kind(*each) for each in call.handed_over.items())})" if call else ""
        found = "the call shown goes wrong too" if public_call else "a public call that shows the same: none found"
        entry.story = f"{_what_happened(entry, problem)} {NOT_SHOWN}{asked}; {found}"
    entry.rows, entry.frames, entry.curves = [], [], []
    entry.printed, entry.call = "", public_call


def _what_happened(entry: CheckResult, problem: BaseException) -> str:
    if isinstance(problem, StudentError):
        known = problem.type if isinstance(getattr(builtins, problem.type, None), type) else "an exception"
        means = system_meaning(f"{problem.type}: {problem.message}")
        return f"{means} ({known})" if means else f"your code raises {known}"
    if isinstance(problem, StudentDied):  # an exit status, a signal, what was sent: it chose them
        return f"your code {re.split(' with exit status | [(]', problem.death.detail)[0]}"
    return "the check does not hold" if entry.outcome == FAILED else "your code cannot be judged"


def _kind(name: str, value: Any) -> str:
    """An argument by its name, dtype and shape."""
    if isinstance(value, np.ndarray | np.generic | Half | Transposed):
        sent = as_sent(value)
        return f"{name}: {sent.dtype} of shape {sent.shape}"
    return f"{name}: {value.type_name if isinstance(value, Record) else type(value).__name__}"
