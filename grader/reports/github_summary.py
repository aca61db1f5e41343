"""Text for GITHUB_STEP_SUMMARY: one table per exercise, then the first failures in full.

GitHub reads it as Markdown with HTML. It is written as HTML without empty lines, because only then does Markdown leave
it unchanged; a line break in a text is a character reference. So texts need escaping only for HTML.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from ..core import course
from ..core.result import BROKEN, FAILED, GRADER_ERROR, PASSED, Result
from ..core.text import one_line, plain
from .shared_texts import Listed, feedback, file_and_line, fitting, listed, notes, refuse_debug, title, total

SIZE = 1024 * 1024 - 1
"""GitHub refuses a step's summary of more than 1 MiB."""
_DETAILED = 10
_SIGNS = {PASSED: "✅", FAILED: "❌", BROKEN: "❌", GRADER_ERROR: "❗"}


def export(result: Result, environment: Mapping[str, str]) -> str:
    """Text to append to the file that GITHUB_STEP_SUMMARY names.

    Raises:
        ValueError: the result does not count.
    """
    refuse_debug(result)
    return fitting(lambda limit: _summary(result, limit), SIZE)


def _summary(result: Result, limit: int) -> str:
    about = [f"isolation level {result.isolation_level}", f"seed {result.seed}", f"course {result.course_version}"]
    lines = [f"<h2>{_text(course.TITLE)}: {total(result)}</h2>", f"<p>{_text(', '.join(about))}</p>"]
    lines += [f"<p><strong>{_text(note)}</strong></p>" for note in notes(result)]
    for exercise in result.exercises:
        lines += _table([each for each in listed(result) if each.exercise is exercise])
    failures = [each for each in listed(result) if each.check.outcome in (FAILED, BROKEN, GRADER_ERROR)]
    if failures:
        first = (
            "Checks that did not pass"
            if len(failures) <= _DETAILED
            else f"The first {_DETAILED} checks that did not pass"
        )
        lines.append(f"<h3>{first}</h3>")
    for each in failures[:_DETAILED]:
        file, line = file_and_line(each)
        where = f"{file}:{line}" if line else file
        lines.append(f"<h4>{_text(title(each.check))} (<code>{_text(where)}</code>)</h4>")
        lines.append(f"<pre>{_text(feedback(each, limit=limit))}</pre>")
    return "\n".join(lines) + "\n\n"


def _table(checks: Sequence[Listed]) -> list[str]:
    exercise = checks[0].exercise
    heading = f"{one_line(exercise.title)}: {exercise.earned} of {exercise.points} points{' (bonus)' * exercise.bonus}"
    lines = [f"<h3>{_text(heading)}</h3>", "<table>"]
    lines.append("<tr><th>Check</th><th>Rule</th><th>Outcome</th><th>Points</th></tr>")
    for each in checks:
        check = each.check
        cells = (
            f"{each.number} <code>{_text(one_line(check.id))}</code>",
            _text(title(check)),
            f"{_SIGNS.get(check.outcome, '')} {check.outcome}".strip(),
            f"{check.earned}/{check.points}" if check.points else "",
        )
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return [*lines, "</table>"]


def _text(words: str) -> str:
    return html.escape(plain(words, limit=100_000)).replace("\n", "&#10;")
