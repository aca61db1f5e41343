"""One `grade` in a process of its own, for pytest and for notebooks, which show its result."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ..core import course
from ..core.result import NOT_RUN, Result, from_json

_LOOKS_EVERY = 0.2
"""Seconds between two looks at how far `grade` is."""


class GradeFailed(Exception):
    """`grade` has no result. The text is its own last sentence."""


def grade_apart(
    names: Sequence[str], path: Path, on_progress: Callable[[int, int], None] = lambda done, of: None
) -> Result:
    """Run `grade NAMES --path PATH` and return its result.

    Args:
        names: Each an exercise or "exercise.function".
        path: The folder to grade.
        on_progress: Called with the number of checks that have run, and of all; never on Windows.

    Raises:
        GradeFailed: it refused to start, or ended without a result.
    """
    with tempfile.TemporaryDirectory(prefix="grade-") as folder, open(Path(folder) / "errors", "w+b") as errors:
        written = Path(folder) / "result.json"
        code = _run(
            [*names, "--path", str(path.absolute()), "--json", str(written)], errors.fileno(), written, on_progress
        )
        result = _read(written)
        if result and (code in (0, 1) or result.problem):
            return result
        errors.seek(0)
        lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    raise GradeFailed(lines[-1] if lines else f"grade ended with exit code {code}")


def _run(arguments: Sequence[str], errors: int, written: Path, on_progress: Callable[[int, int], None]) -> int:
    """Run `grade`, report its progress, and return its exit code."""
    # Without -P, Python would search the current folder first; PYTHONPATH makes it run this copy of the course.
    paths = [str(course.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "grader.commands.grade", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_LOOKS_EVERY)
            # Windows cannot replace a file that somebody reads.
            if sys.platform != "win32" and (result := _read(written)):
                on_progress(sum(check.outcome != NOT_RUN for check in result.checks), len(result.checks))
    finally:
        if process.poll() is None:  # Ctrl-C, or the kernel's stop button
            process.terminate()
            process.wait()


def _read(written: Path) -> Result | None:
    """The result so far, which `grade` replaces after every check."""
    with contextlib.suppress(OSError, ValueError):
        return from_json(written.read_text("utf-8"))
    return None
