"""The folder of a worker, the only place where it may write: made before its fork, removed after its end.

It holds files only: a folder inside would belong to the worker's user, and in namespaces the fork server could neither
look into it nor remove it. A folder can have no limit of bytes or files, so the fork server checks it regularly and
ends a worker that took too much. Files that are deleted and still open, or mapped into memory, have no name there. They
show in what is free on the disk: a worker that has deleted files is ended if that falls too far.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import struct
import sys
import tempfile
from typing import Any

VARIABLES = ("HOME", "TMPDIR", "TMP", "TEMP", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR")
"""Tell libraries where they may write."""

MAX_BYTES, MAX_FILES = 64 << 20, 256
_LARGEST_FALL = 128 << 20  # of what is free on the disk, while a worker holds deleted files
_FEW_DELETED = 4  # files, of which each may hold 8 MiB
_IN_DELETED, _IN_NONBLOCK_CLOEXEC = 0x200 | 0x80, os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
"""inotify's events: a file was deleted, or moved onto another one."""
_EVENT = struct.Struct("iIII")  # and a name, whose length is the last number
_libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None


class Homes:
    """The folders of all workers of one fork server, in one that only lists to its owner.

    Args:
        parent: The folder that holds it; None for the system's folder for temporary files.
    """

    def __init__(self, parent: str | None) -> None:
        self.folder = tempfile.mkdtemp(prefix="workers-", dir=parent)
        os.chmod(self.folder, 0o711)

    def make(self, *, shared: bool) -> str:
        """An empty folder that nobody can guess.

        Args:
            shared: Another user will write in it.
        """
        home = os.path.join(self.folder, os.urandom(8).hex())
        os.mkdir(home, 0o700)
        if shared:
            os.chmod(home, 0o777)
        return home

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def variables(home: str) -> dict[str, str]:
    """The environment by which libraries find the folder."""
    return dict.fromkeys(VARIABLES, home)


class Deleted:
    """Watches for files that a worker deletes and may still hold, in its folder."""

    def __init__(self, home: str) -> None:
        self.home, self._count, self._most_free = home, 0, _free(home)
        self._events = _libc.inotify_init1(_IN_NONBLOCK_CLOEXEC) if _libc is not None else -1
        if self._events >= 0:
            _libc.inotify_add_watch(self._events, os.fsencode(home), _IN_DELETED)
        else:  # unknown, and so suspected
            self._count = _FEW_DELETED + 1

    def are_too_large(self) -> bool:
        """Whether they may be what fills the disk. What other programs write to it is no worker's fault."""
        with contextlib.suppress(OSError):  # there is nothing to read
            while self._count <= _FEW_DELETED:
                events = os.read(self._events, 1 << 16)
                while events:
                    self._count += 1
                    events = events[_EVENT.size + _EVENT.unpack_from(events)[3] :]
        free = _free(self.home)
        self._most_free = max(free, self._most_free)
        return self._count > _FEW_DELETED and self._most_free - free > _LARGEST_FALL

    def close(self) -> None:
        if self._events >= 0:
            os.close(self._events)


def _free(home: str) -> int:
    """Bytes that are free on the disk of a folder."""
    if not hasattr(os, "statvfs"):
        return 0
    disk = os.statvfs(home)
    return disk.f_bfree * disk.f_frsize


def is_overfull(home: str) -> bool:
    """Whether there are more files or bytes in it than a worker may have. Looks at no more than that many files."""
    files = size = 0
    with contextlib.suppress(OSError), os.scandir(home) as entries:
        for entry in entries:
            files += 1
            with contextlib.suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_size
            if files > MAX_FILES or size > MAX_BYTES:
                return True
    return False


def remove(home: str) -> None:
    """Remove it with its files. Only where nothing confines a worker can there be folders in it."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(home, ignore_errors=True)
