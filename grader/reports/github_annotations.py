"""Output of a GitHub Actions step: every check as a line of the log, and failures as annotations of the code.

GitHub keeps ten annotations per kind and step, so the last error stands for all the others. Lines with text of the
course or the submission are between stop-commands with a random token, and annotations are escaped.

Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions. The token is the only thing that
differs between two exports of one result.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from types import MappingProxyType

from ..core import course
from ..core.result import BROKEN, FAILED, GRADER_ERROR, NOT_RUN, NOT_WRITTEN, WAITING, Result
from .shared_texts import Listed, feedback, file_and_line, listed, no_command, notes, refuse_debug, title, total

_MOST_ERRORS = 10
_LONGEST = 2_000
"""Characters of one annotation."""


def export(
    result: Result, environment: Mapping[str, str], lines: Mapping[tuple[str, str], int] = MappingProxyType({})
) -> str:
    """Text for the standard output of a step.

    Args:
        result: What the grading found.
        environment: Not used.
        lines: File and function to the line that defines it.

    Raises:
        ValueError: the result does not count.
    """
    refuse_debug(result)
    token = secrets.token_hex(16)
    printed = [f"::stop-commands::{token}"]
    for each in listed(result):
        check = each.check
        line = f"{check.outcome} {check.earned}/{check.points} {each.number} {check.id} {title(check)}"
        printed.append(no_command(line))
    printed += [f"::{token}::", *_errors(result, lines), *_waiting(result)]
    about = [f"total: {total(result)}, isolation level {result.isolation_level}", *notes(result)]
    return "\n".join([*printed, _command("notice", "\n".join(about), title=course.TITLE)]) + "\n"


def _errors(result: Result, defined: Mapping[tuple[str, str], int]) -> list[str]:
    found = [each for each in listed(result) if each.check.outcome in (FAILED, BROKEN, GRADER_ERROR)]
    shown = found if len(found) <= _MOST_ERRORS else found[: _MOST_ERRORS - 1]
    lines = [_error(each, defined) for each in shown]
    rest = found[len(shown) :]
    if rest:
        text = "\n".join(f"{each.check.id}: {title(each.check)}" for each in rest)[:_LONGEST]
        lines.append(_command("error", text, title=f"{len(rest)} more checks did not pass"))
    return lines


def _error(each: Listed, defined: Mapping[tuple[str, str], int]) -> str:
    """An annotation where the code failed, or else where its function begins; without a line if nobody knows it."""
    file, line = file_and_line(each)
    line = line or defined.get((file.rpartition("/")[2], each.check.function), 0)
    where = {"file": file, "line": str(line)} if line else {"file": file}
    return _command("error", feedback(each, limit=_LONGEST), **where, title=title(each.check))


def _waiting(result: Result) -> list[str]:
    counts = {
        outcome: sum(check.outcome == outcome for check in result.checks) for outcome in (NOT_WRITTEN, WAITING, NOT_RUN)
    }
    text = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    return [_command("warning", text, title="Checks that did not run")] if text else []


def _command(name: str, text: str, **properties: str) -> str:
    given = ",".join(f"{key}={_escaped(value, ':', ',')}" for key, value in properties.items())
    return f"::{name} {given}::{_escaped(text)}"


def _escaped(text: str, *more: str) -> str:
    for character in ("%", "\r", "\n", *more):
        text = text.replace(character, f"%{ord(character):02X}")
    return text
