"""A handout on disk, for tests of what a student's course may look like."""

from __future__ import annotations

import functools
from pathlib import Path

from grader.workshop import handout


@functools.cache
def _files() -> dict[str, bytes]:
    return handout.make()


def untouched_handout(folder: Path) -> Path:
    """Write the handout that nobody has touched into a folder, and return it."""
    handout.write_folder(_files(), folder)
    return folder
