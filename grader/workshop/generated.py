"""Files that a command writes and that are part of the course: write the stale ones, or say which they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core import course


def write_or_check(texts: Mapping[Path, str], *, command: str, what: str, check: bool) -> int:
    """Write the files whose text changed; with `check` only name them.

    Args:
        texts: File to the text that it must hold.
        command: That writes them, for the message.
        what: They are, all together: "the vectors are".
        check: Write nothing.

    Returns:
        Exit code: 1 if a file is stale and was only checked.
    """
    stale = [path for path, text in texts.items() if not holds(path, text)]
    for path in stale:
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], "utf-8", newline="\n")
        print(f"{shown(path)} " + (f"is stale: run `{command}`" if check else "written"))
    if not stale:
        print(f"{what} current")
    return 1 if stale and check else 0


def holds(path: Path, text: str) -> bool:
    """Whether a file is there and has this text; git may have changed its line ends."""
    return path.is_file() and path.read_bytes().replace(b"\r\n", b"\n") == text.encode()


def shown(path: Path) -> str:
    """A file as messages name it: from the root of the course, where it lies in it."""
    return path.relative_to(course.ROOT).as_posix() if path.is_relative_to(course.ROOT) else path.name


def one_per_line(entries: Sequence[Mapping[str, Any]]) -> str:
    """JSON objects with a line for each, so that a difference between two versions is a line."""
    return ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
