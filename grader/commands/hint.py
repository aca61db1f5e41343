"""`grade hint`: one more hint for the first failure of the last grading, without grading again.

`grade` remembers the last result of each folder in the user's cache, but only at a terminal: a grading by a program
leaves nothing behind. Each `grade hint` gives the check's next hint, until the folder is graded again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.result import from_json, replace_file

if TYPE_CHECKING:
    from rich.console import Console

    from ..core.result import CheckResult, Result
    from ..grading.check import Check

OK, USAGE = 0, 2


def remember(result: Result, folder: Path) -> bool:
    """Store a result for `grade hint`, and return whether that worked."""
    if not sys.stdout.isatty():
        return False
    try:
        _write(folder, result.as_json(), {})
    except OSError:
        return False
    return True


def last(folder: Path) -> Result | None:
    """The last result of a folder; None if none is stored."""
    try:
        return from_json(json.loads(_last_result(folder).read_text("utf-8"))["result"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run(
    names: Sequence[str],
    folder: Path,
    sha256: str,
    console: Console,
    declared: Callable[[CheckResult], Check],
) -> int:
    """Show the hints for the first failure of the last grading, one more than last time.

    Args:
        names: "exercise" or "exercise.function": only failures of these; of all if empty.
        folder: Folder of the submission.
        sha256: Digest of its current files.
        console: Where to print.
        declared: The declaration of a check, which has the hints.

    Returns:
        0, or 2 if no result is stored.
    """
    from ..reports import terminal

    try:
        document = json.loads(_last_result(folder).read_text("utf-8"))
        result, given = from_json(document["result"]), dict(document["given"])
    except (OSError, ValueError, KeyError, TypeError):
        print(
            "grade: there is no earlier grading of this folder; run `grade` first, in a terminal (output that goes "
            "to a file or a pipe is not remembered), or run `grade --hint`, which grades and gives a hint",
            file=sys.stderr,
        )
        return USAGE
    if sha256 != result.sha256:
        console.print("Your files have changed since the last grading; this hint is about that grading.", style="dim")
    for exercise in result.exercises:
        exercise.checks = [check for check in exercise.checks if not names or _is_named(check, names)]
    failed = terminal.first_failed(result)
    check = declared(failed) if failed else None
    count = 1
    if check:
        count = given[check.id] = min(given.get(check.id, 0) + 1, max(1, len(check.hints)))
    terminal.show_hints(failed, check, count, console, again="`grade hint` again")
    with contextlib.suppress(OSError):
        _write(folder, document["result"], given)
    return OK


def _is_named(check: CheckResult, names: Sequence[str]) -> bool:
    exercise = check.id.split(".")[0]
    return exercise in names or f"{exercise}.{check.function}" in names


def _write(folder: Path, result: str, given: dict[str, int]) -> None:
    path = _last_result(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps({"result": result, "given": given}))


def _last_result(folder: Path) -> Path:
    """File with the last result of a folder."""
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return cache_folder() / f"{name}.json"


def cache_folder() -> Path:
    """Folder where `grade` stores what later commands of the same user need.

    Raises:
        OSError: this user has no home folder.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return Path(cache or Path.home() / ".cache") / "grpo-course"
    except RuntimeError as error:
        raise OSError(str(error)) from None
