"""Where second copies of the course may lie among what a worker can read: in packages of another interpreter.

Looked for two folders deep, where interpreters and systems put packages; a walk through all of /usr/lib takes seconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

_PACKAGES = ("site-packages", "dist-packages")
_DEEP = 2


def closed_folders(readable: Iterable[str], libraries: Iterable[str]) -> set[str]:
    """Folders of packages beneath readable ones that are not the libraries' own, and folders named `grader`.

    Args:
        readable: Real paths.
        libraries: Real paths of the folders that torch and numpy are imported from.
    """
    own = {*libraries}
    # Among the libraries a copy lies beside them; whoever looks into each of them waits for that at every start.
    return {found for path in {*readable} for found in _closed(path, own, 1 if path in own else _DEEP)}


def _closed(folder: str, own: set[str], deep: int) -> Iterator[str]:
    try:
        inside = [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:  # a file, or nothing that could be read
        return
    for path in inside:
        if path in own:
            continue
        if os.path.basename(path) in (*_PACKAGES, "grader"):
            yield path
        elif deep > 1:
            yield from _closed(path, own, deep - 1)
