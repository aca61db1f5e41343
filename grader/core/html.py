"""Pages that are one HTML file: they load nothing, run nothing, and look well in light, dark and print.

A page is made of a template in `templates/` and of values. Every value is text and is escaped, unless `drawing` has
marked it. A name without a value is an error. Invisible characters are written out in the finished page, so no text can
miss that.

Jinja2 is imported when the first page is written, because `grade` must start fast and most gradings write no page. Left
out: Jinja2's sandbox, because all templates are ours.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .course import TITLE
from .text import visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


def render(name: str, **values: Any) -> str:
    """A whole HTML file.

    Args:
        name: Of its template: the path in `templates/`, without the ending.
        values: By the names that the template uses. A function among them is one that the template calls.

    Raises:
        jinja2.UndefinedError: the template uses a name that no value has.
    """
    return visible(environment().get_template(f"{name}.html.jinja").render(values))


def drawing(svg: str) -> str:
    """A drawing of ours, which templates insert unchanged; its words are escaped already."""
    from markupsafe import Markup

    return Markup(svg)


@functools.cache
def environment() -> Environment:
    """The environment of all templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,  # a line that holds nothing but a tag of the template leaves no line in the page
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.globals["course_title"] = TITLE
    del made.filters["safe"]  # a template cannot put a value in as HTML; only `drawing` can
    made.filters |= {"sha256": _sha256, "between_backticks": _between_backticks}
    made.tests["web_address"] = _is_web_address
    return made


def _sha256(sheet: str) -> str:
    """A digest as a policy names it: the browser takes this style sheet and refuses every other, attributes too."""
    return base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


def _between_backticks(words: str) -> list[str]:
    """The text in pieces: every second one stood between backticks and is code."""
    return re.split(r"`([^`\n]+)`", words)


def _is_web_address(address: str) -> bool:
    """Whether it may be a link: neither a path nor anything that would run."""
    return address.startswith(("https://", "http://"))
