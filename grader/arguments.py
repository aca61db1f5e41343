"""Types of command-line arguments that several commands share.

Left out: whether a file is there. Each command says that itself, with what to give instead.
"""

from __future__ import annotations

import argparse
import errno
import os
from pathlib import Path


def path_argument(text: str) -> Path:
    """A path on a command line.

    Args:
        text: As it was given.

    Raises:
        argparse.ArgumentTypeError: it is empty, which would mean the current folder, or longer than the system takes,
            so that every question about it would fail.
    """
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; give one, or . for the current folder")
    try:
        os.lstat(text)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise argparse.ArgumentTypeError("the path is longer than this system takes; give a shorter one") from None
    return Path(text)


def positive(text: str) -> int:
    """A number on the command line that is at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)
