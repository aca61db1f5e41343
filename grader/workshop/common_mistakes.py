"""Mistakes that look alike in several functions: one list of changes, applied to the model answers.

The list is `grader/exercises/common_mistakes.toml`, which says what its entries mean.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from ..core import course
from . import changes
from .generated import shown

FILE = course.FOLDERS / "common_mistakes.toml"


def written_out(exercise: str, function: str) -> str:
    """All wrong answers of the list to a function, as text."""
    return "".join(
        f"\n\n{whole_function(name, mistake, exercise, function)}\n"
        for name, mistake in listed().items()
        if f"{exercise}.{function}" in mistake["functions"]
    )


@functools.cache
def listed() -> Mapping[str, Mapping[str, Any]]:
    """The entries of the list by the names of the mistakes."""
    return tomllib.loads(FILE.read_text("utf-8"))


def whole_function(name: str, mistake: Mapping[str, Any], exercise: str, function: str) -> str:
    """A wrong answer of the list, as the text of a function with the name of the mistake.

    Raises:
        ChangeRefused: the model answer has no line that it changes.
    """
    model = (course.MODEL_ANSWERS / f"{exercise}.py").read_text("utf-8")
    head, body = changes.head_and_body(model, function)
    pattern = re.compile(mistake["from"])
    matches = [match for line in body if (match := pattern.search(line.code))]
    if not matches:
        raise changes.ChangeRefused(f"{shown(FILE)}: {name}: the model answer to `{function}` has nothing to change")
    sentence = mistake["sentence"].format(**matches[0].groupdict())
    return "\n".join(
        [
            *(line.text.replace(f"def {function}(", f"def {name}(") for line in head),
            f'    """{sentence}\n{mistake["explanation"]}"""',
            *(pattern.sub(mistake["to"], line.code) for line in body),
        ]
    )
