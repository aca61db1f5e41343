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
    before = settings.get_current_profile_name()
    settings.load_profile("course")
    try:
        yield
    finally:
        settings.load_profile(before)


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes files into a folder, each by its path from there."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def model_answer(exercise: str) -> str:
    """The text of one model answer."""
    return (course.MODEL_ANSWERS / f"{exercise}.py").read_text("utf-8")
