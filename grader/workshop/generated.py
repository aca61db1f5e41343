"""Files that a command or the build of the site writes."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import course

if TYPE_CHECKING:
    from jinja2 import Template

FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
"""The settings of a page, at its beginning."""


def holds(path: Path, text: str) -> bool:
    """Whether a file exists and has this text, whatever its line ends."""
    return path.is_file() and path.read_bytes().replace(b"\r\n", b"\n") == text.encode()


def shown(path: Path) -> str:
    """A file's path in messages: relative to the root of the course if it is inside."""
    return path.relative_to(course.ROOT).as_posix() if path.is_relative_to(course.ROOT) else path.name


def one_per_line(entries: Sequence[Mapping[str, Any]]) -> str:
    """JSON objects, one per line, so that a diff shows single objects."""
    return ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)


@functools.cache
def _template(path: Path) -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    return environment.from_string(path.read_text("utf-8"))


def render(template: Path, **values: object) -> str:
    """A template with values inserted. Nothing is escaped."""
    return _template(template).render(**values)
