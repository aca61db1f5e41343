"""Submissions for tests, and the settings with which they are graded."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from hypothesis import settings

from grader.core import course

SubmissionMaker = Callable[[Mapping[str, str | bytes | None]], Path]
"""What the fixture `make_submission` gives."""


@contextlib.contextmanager
def grading_profile() -> Iterator[None]:
    """The profile of a grading: time limits depend on it."""
    settings.load_profile("course")
    try:
        yield
    finally:
        settings.load_profile("tests")


def model_answer(exercise: str) -> str:
    """The text of one model answer."""
    return (course.MODEL_ANSWERS / f"{exercise}.py").read_text("utf-8")
