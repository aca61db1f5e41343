"""The process that grades for `grading_job`: one job per input line, one result as JSON per output line.

    python -m grader.classroom.grading_process

It imports pytest and the checks once, and its sandbox imports torch once. As soon as its input closes, it ends with
everything that it started, even in the middle of a grading.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from ..core.result import Result, from_json
from ..core.submission import Submission
from ..grading import plugin
from ..grading.input_queue import queued
from ..grading.run import Grading
from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import SandboxError
from ..worksheet import grade as worksheet
from ..worksheet.reader import worksheet_in
from .request import Request, read_request


def main() -> int:
    """Grade until the input ends."""
    # Prints of libraries must not come between the results.
    with os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n") as answers:
        os.dup2(2, 1)
        _serve(answers)
    return 0


def _serve(answers: TextIO) -> None:
    jobs = queued(sys.stdin)
    start = functools.cache(Sandbox.start)
    while True:
        request = read_request(jobs.get())
        settings = request.settings
        plugin.use_profile(settings.examples or plugin.DEFAULT_EXAMPLES)
        sandbox = start(level=settings.level, require_level=settings.require_level)
        with contextlib.suppress(SandboxError):  # `_grade` says so
            sandbox.walls()  # waits for everything that starts once, so that it does not count for the first submission
        answers.write(json.dumps(json.loads(_handed_over(_grade(request, sandbox)))) + "\n")
        answers.flush()


def _handed_over(result: Result) -> str:
    """A result as JSON that the caller can read. An unreadable result becomes a problem of this submission, so it does
    not affect the class."""
    text = result.as_json()
    try:
        from_json(text)
    except ValueError as error:
        return replace(result, exercises=[], problem=f"the result cannot be stored: {error}").as_json()
    return text


def _grade(request: Request, sandbox: Sandbox) -> Result:
    settings, sheet = request.settings, request.worksheet
    submission = Submission("submission", Path("submission"), request.files, request.problems)
    try:
        level, walls = sandbox.level, sandbox.walls()
        result = Grading(
            submission,
            settings.exercises,
            sandbox.worker,
            seed=settings.seed,
            secret=settings.secret,
            fresh_workers=not sandbox.cold,
            level=level,
            walls=tuple(walls),
        ).run()
    except SandboxError as error:
        return Result("submission", submission.sha256, settings.seed, "cpu", [], "0", problem=str(error))
    if sheet is not None:
        result = replace(result, exercises=[*result.exercises, worksheet.grade(worksheet_in(sheet))])
    return result


if __name__ == "__main__":
    sys.exit(main())
