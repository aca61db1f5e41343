"""Which course the commands serve: a copy of the course must never be graded by the code of the original."""

from __future__ import annotations

from pathlib import Path

from . import course
from .refusal import FileRefused
from .text import one_line


def served() -> str:
    """The course whose code runs, in words."""
    return one_line(f"{course.TITLE}, in {course.ROOT}", limit=1_000)


def other_course(here: Path, root: Path) -> Path | None:
    """The course that a folder lies in, if it is not the one at `root`.

    Args:
        here: The current folder.
        root: Folder of the course whose code runs.
    """
    for folder in (here, *here.parents):
        if (folder / "grader" / "core" / "course.py").is_file():
            return None if folder.resolve() == root.resolve() else folder
    return None


def refuse_other_course(command: str) -> None:
    """Stop in the folder of another course.

    Args:
        command: "course" or "grade".

    Raises:
        FileRefused: the current folder lies in another course than the code that runs.
    """
    try:
        folder = other_course(Path.cwd(), course.ROOT)
    except OSError:  # the current folder was removed
        return
    if folder:
        raise FileRefused(
            f"you are in the course {folder}, but this command runs the code of {course.ROOT}. To use the course you "
            f"are in: cd {folder}, then python -m grader.commands.{command} ... (or install it into an environment of "
            f"its own). To use the other one: cd {course.ROOT}"
        )
