"""Which course the commands serve: the original's code must never grade a copy of the course."""

from __future__ import annotations

import contextlib
from pathlib import Path

from . import course
from .refusal import FileRefused
from .text import one_line


def running_course() -> str:
    """The course whose code runs, in words."""
    return one_line(f"{course.TITLE}, in {course.FOLDER}", limit=1_000)


def other_course(here: Path, root: Path) -> Path | None:
    """The course that a folder lies in, if it is not the one at `root`, whose code runs."""
    for folder in (here, *here.parents):
        for top in (folder, folder / "course"):  # a handout has the grader one folder down
            if (top / "grader" / "core" / "course.py").is_file():
                return None if top.resolve() == root.resolve() else folder
    return None


def refuse_other_course(command: str) -> None:
    """Stop "course" or "grade" in the folder of another course.

    Raises:
        FileRefused: the current folder belongs to a different course than the running code.
    """
    with contextlib.suppress(OSError):  # the current folder was removed
        folder = other_course(Path.cwd(), course.ROOT)
        if folder is None:
            return
        raise FileRefused(
            f"you are in the course {folder}, but this command runs the code of {course.FOLDER}. To use the course you "
            f"are in: {_how_to_run(command, folder)}. To use the other course: cd {course.FOLDER}"
        )


def _how_to_run(command: str, folder: Path) -> str:
    if (folder / "grader").is_dir():
        return f"cd {folder}, then python -m grader.commands.{command} ... (or install it into its own environment)"
    return "install it into its own environment, as its README says"
