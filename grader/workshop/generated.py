"""Files that a command or the build of the site writes."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import course

if TYPE_CHECKING:
    from jinja2 import Environment


def holds(path: Path, text: str) -> bool:
    """Whether a file is there and has this text; git may have changed its line ends."""
    return path.is_file() and path.read_bytes().replace(b"\r\n", b"\n") == text.encode()


def shown(path: Path) -> str:
    """A file as messages name it: from the root of the course, where it lies in it."""
    return path.relative_to(course.ROOT).as_posix() if path.is_relative_to(course.ROOT) else path.name


def one_per_line(entries: Sequence[Mapping[str, Any]]) -> str:
    """JSON objects with a line for each, so that a difference between two versions is a line."""
    return ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)


@functools.cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def render(name: str, **values: object) -> str:
    """A template in a folder of this room, with values put in. Nothing is escaped."""
    return _templates().get_template(name).render(**values)
