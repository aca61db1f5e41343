"""The folder of a worker, the only place where it may write: made before its fork, removed after its end.

It holds files only: a folder inside would belong to the worker's user, and in namespaces the fork server could neither
look into it nor remove it. A folder can have no limit of bytes or files, so the fork server checks it regularly and
ends a worker that took too much.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile

VARIABLES = ("HOME", "TMPDIR", "TMP", "TEMP", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR")
"""Tell libraries where they may write."""

MAX_BYTES, MAX_FILES = 64 << 20, 256


class Homes:
    """The folders of all workers of one fork server, in one that only lists to its owner.

    Args:
        place: Where; None for the system's folder for temporary files.
    """

    def __init__(self, place: str | None) -> None:
        self.folder = tempfile.mkdtemp(prefix="workers-", dir=place)
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
