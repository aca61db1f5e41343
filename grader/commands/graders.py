"""What grades for `grade`: a sandbox, and helpers for some of the exercises where there are processors for them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from ..core import course
from ..core.cores import cores
from ..grading.helper import Helper
from ..sandbox.sandbox import Sandbox

MOST_JOBS = 2
"""Exercises at a time unless more are asked for: the longest one takes half of the time, and each process has an import
of torch to pay."""


class Graders:
    """A sandbox, and the helpers that were needed so far. Use it as a context manager.

    Args:
        options: Of `Sandbox.start`, for this sandbox and those of the helpers.
    """

    def __init__(self, **options: Any) -> None:
        """Begin to start the sandbox, without waiting."""
        self._options = options
        self._helpers: list[Helper] = []
        self._started = contextlib.ExitStack()
        self.sandbox = self._started.enter_context(Sandbox.start(**options))

    def helpers(self, exercises: Sequence[str], jobs: int | None = None) -> list[Helper]:
        """Helpers for some exercises, without waiting for those that are not ready yet.

        Args:
            exercises: What is to be graded.
            jobs: Exercises at a time; None for as many as help.
        """
        if self.sandbox.device != "cpu":  # all of it runs on one GPU
            return []
        of_code = sum(map(course.runs_code, exercises))
        wanted = min(jobs or min(MOST_JOBS, cores()), of_code) - 1
        with contextlib.suppress(OSError):  # no process more: what it was to do is done here
            while len(self._helpers) < wanted:
                self._helpers.append(self._started.enter_context(Helper(**self._options)))
        return self._helpers[: max(0, wanted)]

    def __enter__(self) -> Graders:
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()
