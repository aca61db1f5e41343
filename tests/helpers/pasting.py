"""What Python prints when the call of a report is pasted into it, with a wrong answer as `starter` or the model answer.

A call shows its failure if the two print something else. The oracle is Python itself: nothing here knows what a check
asks for.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import TO_PASTE, CheckResult, from_json
from grader.reports.shared_texts import PASTED, rows
from grader.workshop.catalogue import known_mistakes


def looking_right(reports: Path, exercise: str, folder: Path, *, every: int = 1) -> tuple[int, list[str]]:
    """How many calls were pasted, and those that print the same with a known mistake as with the model answer.

    Args:
        reports: What `course dev selftest --reports` wrote.
        exercise: Of this one.
        folder: For the package `starter`.
        every: Only each so-manieth failing check.
    """
    wrong, kinds = [], reports / exercise / "known-mistakes"
    for entry in known_mistakes(exercise):
        result = from_json((kinds / f"{entry.function}.{entry.name}.json").read_text("utf-8"))
        failing = [check for check in result.checks if check.outcome in ("failed", "broken") and check.call]
        failing = [check for check in failing if TO_PASTE in dict(check.rows)]
        wrong += [(entry, check) for check in failing]
    wrong = wrong[::every]
    printed = []
    for entry, check in wrong:
        with starter(folder, entry.submission.files):
            printed.append(paste(check))
    with starter(folder, read_submission(course.MODEL_ANSWERS).files):
        right = {check.call: paste(check) for _, check in wrong}
    alike = [
        f"{entry.function}.{entry.name}: {check.id} prints {lines!r}\n{check.call}"
        for (entry, check), lines in zip(wrong, printed, strict=True)
        if lines == right[check.call]
    ]
    return len(wrong), alike


@contextlib.contextmanager
def starter(folder: Path, files: Mapping[str, str]) -> Iterator[None]:
    """The package `starter` is the one of the course with these files in it, for a while."""

    def forget() -> dict[str, object]:
        return {name: sys.modules.pop(name) for name in [*sys.modules] if name.split(".")[0] == "starter"}

    package, before = folder / "starter", forget()
    shutil.copytree(course.STARTER, package, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for name, text in files.items():
        (package / name).write_text(text, "utf-8")
    sys.path.insert(0, str(folder))
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(str(folder))
        forget()
        sys.modules.update(before)  # type: ignore[arg-type]


def paste(check: CheckResult) -> str:
    """What an interactive Python prints for the lines of a call, up to the first exception."""
    lines = dict(rows(check))[PASTED].split("\n")
    names: dict[str, object] = {"__name__": "__console__"}
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for line in lines:
            code = compile(line, "<pasted>", "single")
            try:
                exec(code, names)
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
                break
    return printed.getvalue()
