"""The folder that a cold worker may write in, and its removal whatever a submission made of it.

Left out: `shutil.rmtree` and `tempfile.TemporaryDirectory`. They call themselves for each level, and a submission can
nest folders deeper than Python can call; paths get longer than systems take; and on some versions of Python (before
3.11.8) the removal of a link changed the permissions of what it points to (CVE-2023-6597). Also left out: a limit of
its size, which needs a file system of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import tempfile
import threading

_PATIENCE = 2.0


def make_home() -> str:
    """A new folder for this user alone, by its real path."""
    return os.path.realpath(tempfile.mkdtemp(prefix="worker-"))


def remove_home(home: str) -> None:
    """Remove it with everything inside. What cannot be removed is left; nothing is raised.

    A hundred thousand folders are made in seconds and take minutes to remove. So the grader waits for a moment only,
    and the rest goes on beside it.
    """
    thread = threading.Thread(target=_remove_all, args=(home,), name=f"removes {home}")
    try:
        thread.start()
    except RuntimeError:  # the grader ends, or has no thread left
        _remove_all(home)
    else:
        thread.join(_PATIENCE)


def _remove_all(home: str) -> None:
    """Move a folder inside of a folder to the top before it is emptied, so that no path is longer than two names."""
    numbers, unused = itertools.count(), os.urandom(8).hex()
    folders = [home]
    while folders:
        folder = folders.pop()
        for entry in _entries(folder):
            if not _is_folder(entry):
                _remove(entry.path)
                continue
            _permit(entry.path)
            top = os.path.join(home, f"{unused}-{next(numbers)}")
            with contextlib.suppress(OSError):
                os.rename(entry.path, top)
                folders.append(top)
        if folder != home:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
    with contextlib.suppress(OSError):
        os.rmdir(home)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    _permit(folder)
    try:
        with os.scandir(folder) as entries:
            return [*entries]
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder itself and not a link to one, of whatever kind the system knows."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    is_junction = getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    return stat.S_ISDIR(status.st_mode) and not is_junction


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        _permit(path)
        with contextlib.suppress(OSError):
            os.unlink(path)


def _permit(path: str) -> None:
    """Take away what keeps its owner from emptying or removing it; a link is not followed."""
    if hasattr(os, "lchflags"):  # macOS: flags that make it immutable
        with contextlib.suppress(OSError):
            os.lchflags(path, 0)
    with contextlib.suppress(OSError):
        if not os.path.islink(path):
            os.chmod(path, stat.S_IRWXU)
