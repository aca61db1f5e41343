"""The files of a new exercise: one placeholder function that is graded at once, to be replaced piece by piece.

Left out: its place in `course.toml`. Until somebody writes it there, the exercise is a draft.
"""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
from pathlib import Path
from string import Template

from ..core import course

_TEMPLATES = Path(__file__).parent / "exercise_files"


class NameRefused(ValueError):
    """No exercise can have this name; the text says why and what to do."""


def require_name(name: str, *, of: str) -> None:
    """Refuse a name that Python, the course or a reader would stumble over.

    Args:
        name: The name.
        of: What it is to name: "an exercise" or "a function".

    Raises:
        NameRefused: it is refused.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise NameRefused(f"{of} cannot be called {name!r}: take small letters, digits and _, such as length_penalty")


def require_new(name: str) -> None:
    """Refuse the name of an exercise that the course or Python already has.

    Raises:
        NameRefused: it is refused.
    """
    require_name(name, of="an exercise")
    if name in course.names(drafts=True):
        raise NameRefused(f"there is an exercise {name} already; `course dev check {name}` says what it lacks")
    places = (f"reference/{name}.py", f"starter/given/{name}.py", f"grader/exercises/{name}")
    taken = [place for place in places if (course.ROOT / place).exists()]
    if taken or name == course.WORKSHEET:
        what = taken[0] if taken else f"`grade {name}`"
        raise NameRefused(f"{what} is there already; take another name, or delete it first")
    if importlib.util.find_spec(name):
        raise NameRefused(f"Python has a module {name}, which the exercise would hide; take another name")


def make(name: str, *, title: str, function: str) -> dict[str, str]:
    """The files of a new exercise: path from the repository root to text.

    Args:
        name: Of the exercise and of its module.
        title: What it is about, in a few words.
        function: The name of its first function.
    """
    folder = f"grader/exercises/{name}"
    files = {
        f"reference/{name}.py": "reference.py",
        f"{folder}/exercise.toml": "exercise.toml",
        f"{folder}/checks.py": "checks.py",
        f"{folder}/hidden_checks.py": "hidden_checks.py",
        f"{folder}/misconceptions/{function}.py": "misconception.py",
        f"{folder}/variants/{function}.py": "variant.py",
        f"docs/exercises/{name}.md": "page.md",
    }
    number = max((each.number for each in course.KNOWN), default=0) + 1
    values = {"name": name, "title": title, "title_as_toml": json.dumps(title), "function": function, "number": number}
    texts = {path: _template(file).substitute(values) for path, file in files.items()}
    return {f"{folder}/__init__.py": '"""All that only this exercise has."""\n', **texts}


def _template(file: str) -> Template:
    return Template((_TEMPLATES / f"{file}.template").read_text("utf-8"))
