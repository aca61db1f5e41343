"""Pages in a single HTML file, without scripts or other files, for light mode, dark mode and print.

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
    """A whole HTML file, from the template `templates/NAME.html.jinja` and the values that it names.

    Raises:
        jinja2.UndefinedError: the template uses a name that no value has.
    """
    return visible(environment().get_template(f"{name}.html.jinja").render(values))


def drawing(svg: str) -> str:
    """One of our drawings, which templates insert unchanged; its text is already escaped."""
    from markupsafe import Markup

    return Markup(svg)


@functools.cache
def environment() -> Environment:
    """The environment of all templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    jinja = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,  # a line with only a tag of the template leaves no line in the page
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    jinja.globals["course_title"] = TITLE
    del jinja.filters["safe"]  # a template cannot put a value in as HTML; only `drawing` can
    jinja.filters["sha256"] = _sha256
    jinja.filters["between_backticks"] = re.compile(r"`([^`\n]+)`").split  # every second piece is code
    jinja.tests["web_address"] = lambda address: address.startswith(("https://", "http://"))  # not what would run
    return jinja


def _sha256(sheet: str) -> str:
    """A digest as a policy names it: the browser takes this style sheet and refuses every other, attributes too."""
    return base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
