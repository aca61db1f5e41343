"""Warns if a command writes names, grades or a secret to a place where git would commit them.

It does not check whether the folder is shared by other means.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from ..core.text import one_line

_TAKEN = 1  # exit code of `git check-ignore`: 0 ignored, 128 no repository


def warn_if_git_takes(path: Path, what: str) -> None:
    """Print a line on standard error if a file or folder is in a git repository that does not ignore it.

    Args:
        path: File or folder to write.
        what: Its contents, for the message.
    """
    folders, git = path.absolute().parents, shutil.which("git")
    if git is None or not folders[0].is_dir() or not any((each / ".git").exists() for each in folders):
        return
    command = [git, "-C", str(path.absolute().parent), "check-ignore", "--quiet", "--no-index", path.name]
    if subprocess.run(command, check=False, capture_output=True).returncode == _TAKEN:
        problem = f"{one_line(str(path))} contains {what} and is in a git repository that does not ignore it: "
        print(f"course: {problem}write it elsewhere, or add it to .gitignore", file=sys.stderr)
