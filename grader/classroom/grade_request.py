"""Grades the submission of a request.

Only a grading process calls it, so the imports that take long are inside.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..core.result import Result
from ..core.submission import Submission
from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import SandboxError, is_shortage
from .request import Request


def grade_request(sandbox: Sandbox, request: Request) -> Result:
    """The result, with a problem if there are no workers to be had."""
    from ..grading import hypothesis_profile, run
    from ..grading.settings import GradingSettings
    from ..worksheet import grade as worksheet
    from ..worksheet.reader import worksheet_in

    settings, sheet = request.settings, request.worksheet
    hypothesis_profile.use_profile(settings.examples or hypothesis_profile.DEFAULT_INPUTS)
    submission = Submission("submission", Path("submission"), request.files, request.problems)
    try:
        # Asking for the walls waits for everything that starts once, so that it does not count for a submission.
        level, walls = sandbox.level, sandbox.walls()
        result = run.grade_submission(
            GradingSettings(
                submission,
                settings.exercises,
                sandbox.worker,
                seed=settings.seed,
                secret=settings.secret,
                fresh_workers=not sandbox.cold,
                level=level,
                walls=tuple(walls),
            )
        )
    except SandboxError as error:
        return Result(
            "submission", submission.sha256, settings.seed, "cpu", [], "0",
            problem=str(error), shortage=is_shortage(error),
        )  # fmt: skip
    if sheet is not None:
        result = replace(result, exercises=[*result.exercises, worksheet.grade(worksheet_in(sheet))])
    return result
