"""The process that grades for `grading_job`: a job on a line of its input, a result as JSON on a line of its output.

    python -m grader.classroom.grading_process

It imports pytest and the checks once, and its sandbox imports torch once. It ends with everything that it started as
soon as its input closes, also in the middle of a grading: whoever asked is gone.
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
    # Whatever a library prints must not stand between the results.
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
            sandbox.walls()  # waits for what is started once, so that no submission pays for it
        answers.write(json.dumps(json.loads(_handed_over(_grade(request, sandbox)))) + "\n")
        answers.flush()


def _handed_over(result: Result) -> str:
    """A result as JSON that whoever asked can read. One that nobody could read back costs this submission its grade
    and has a sentence; it must not reach the class."""
    text = result.as_json()
    try:
        from_json(text)
    except ValueError as error:
        return replace(result, exercises=[], problem=f"what came of it cannot be kept: {error}").as_json()
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
