"""The report of a failing call whose numbers are drawn from the secret of a class: it must not reveal them.

Everything that the submission could influence is left out: its prints, the text of its exception, the name of a type.
What stays is what the grader knows: the kinds of the arguments, and another, public call that goes wrong too.
"""

from __future__ import annotations

from typing import Any

from ..core.python_errors import is_built_in
from ..core.result import FAILED, GRADER_ERROR, CheckResult
from .calls import Call, Record, is_array
from .calls_on_the_wire import as_sent
from .check import Check
from .meanings import system_meaning
from .shown_call import show_call
from .student_errors import StudentDied, StudentError

_WRITTEN: dict[str, set[str]] = {}
"""Id of a check to the texts of its calls, because a process that grades a class needs them often."""


def is_public(check: Check, call: Call) -> bool:
    """Whether a call is written in the check, so that everybody may see it."""
    if check.id not in _WRITTEN:
        _WRITTEN[check.id] = {show_call(check.call(example)) for example in (*check.examples, *check.refuses)}
    return show_call(call) in _WRITTEN[check.id]


def withhold(entry: CheckResult, problem: BaseException, public_call: str) -> None:
    """Remove everything from an entry that reveals the numbers of its call or the expected ones; the outcome stays.

    Args:
        entry: The entry of the check in the result.
        problem: The exception that ended the check.
        public_call: Lines of a public call that goes wrong too; empty if none was found.
    """
    if entry.outcome == GRADER_ERROR:
        entry.message = f"{type(problem).__name__} in the grader"
    else:
        call: Call | None = getattr(problem, "call", None)
        asked = f" ({', '.join(_kind(*each) for each in call.handed_over.items())})" if call else ""
        found = "the call below also goes wrong" if public_call else "no public call shows the same"
        entry.message = f"{_what_happened(entry, problem)} for an input that is not shown{asked}; {found}"
        entry.withheld = True
    entry.rows, entry.frames, entry.curves = [], [], []
    entry.printed, entry.call = "", public_call


_SAYS_NOTHING = {"crash": "ended the process", "protocol": "sent the grader a malformed answer"}
"""Reasons of a death whose details the submission may have chosen, and the words without them."""


def _what_happened(entry: CheckResult, problem: BaseException) -> str:
    if isinstance(problem, StudentError):
        type_name = problem.type if is_built_in(problem.type) else "an exception"
        means = system_meaning(f"{problem.type}: {problem.message}")
        return f"{means} ({type_name})" if means else f"your code raises {type_name}"
    if isinstance(problem, StudentDied):  # the submission chose the exit status, the signal and the message
        return f"your code {_SAYS_NOTHING.get(problem.death.reason, problem.death.detail)}"
    return "the check does not hold" if entry.outcome == FAILED else "your code cannot be judged"


def _kind(name: str, value: Any) -> str:
    """An argument by its name, dtype and shape."""
    if is_array(value):
        sent = as_sent(value)
        return f"{name}: {sent.dtype} of shape {sent.shape}"
    return f"{name}: {value.type_name if isinstance(value, Record) else type(value).__name__}"
