"""Finds second copies of the course among the files that a worker can read: in packages of another interpreter.

The search goes two folders deep, where interpreters and systems put packages; all of /usr/lib would take seconds.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator

_PACKAGES = ("site-packages", "dist-packages")
_CLOSED = (*_PACKAGES, "grader")
_DEEP = 2


def closed_folders(readable: Iterable[str], libraries: Iterable[str]) -> set[str]:
    """Folders of packages beneath readable ones that are not the libraries' own, and folders named `grader`.

    Args:
        readable: Real paths.
        libraries: Real paths of the folders that torch and numpy are imported from.
    """
    own = {*libraries}
    # Among packages a copy lies next to them; looking into each package would slow down every start.
    deep = {path: 1 if path in own and os.path.basename(path) in _PACKAGES else _DEEP for path in readable}
    return {found for path in deep for found in _closed(path, own, deep[path])}


def _closed(folder: str, own: set[str], deep: int) -> Iterator[str]:
    for path in (os.path.join(folder, name) for name in _CLOSED):
        if path not in own and os.path.isdir(path) and not os.path.islink(path):
            yield path
    if deep > 1:  # a folder of the system has thousands of entries, so list only where we look further down
        with contextlib.suppress(OSError):  # it is a file, or cannot be read
            inside = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
            for entry in inside:
                if entry.path not in own and entry.name not in _CLOSED:
                    yield from _closed(entry.path, own, deep - 1)
