"""What functions promise in corner cases, which their docstrings leave out: `exercises/NAME/corner_cases.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence

from grader.core.course import Exercise
from grader.core.refusal import FileRefused
from grader.workshop.generated import shown

from .templates import render


def load(exercise: Exercise) -> Mapping[str, Sequence[str]]:
    """Function to promises, in Markdown; empty if the author wrote none.

    Raises:
        FileRefused: the file is not TOML, names a function that the exercise does not have, or holds no list of texts.
    """
    path = exercise.folder / "corner_cases.toml"
    if not path.is_file():
        return {}
    try:
        entries = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FileRefused(f"{shown(path)}: this is not TOML: {error}") from None
    for name, promises in entries.items():
        if name not in exercise.function_names:
            raise FileRefused(f"{shown(path)}: rename {name} to one of {', '.join(exercise.function_names)}")
        if not isinstance(promises, list) or not all(isinstance(each, str) for each in promises):
            raise FileRefused(f"{shown(path)}: write the promises of {name} as a list of texts")
    return entries


def page(exercise: Exercise, *, docstrings: bool) -> str:
    """The page of an exercise's functions, as Markdown.

    Args:
        exercise: One with a page.
        docstrings: Whether the site inserts the docstrings. A student reads them in the stubs.
    """
    return render("functions.md", exercise=exercise, corner_cases=load(exercise), docstrings=docstrings)
