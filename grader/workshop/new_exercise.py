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
from ..core.refusal import FileRefused

_TEMPLATES = Path(__file__).parent / "exercise_files"


def require_name(name: str, *, of: str) -> None:
    """Refuse a name that Python, the course or a reader would stumble over.

    Args:
        name: The name.
        of: What it is to name: "an exercise" or "a function".

    Raises:
        FileRefused: it is refused; the text says why and what to do.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise FileRefused(f"{of} cannot be called {name!r}: take small letters, digits and _, such as length_penalty")


def require_new(name: str) -> None:
    """Refuse the name of an exercise that the course or Python already has.

    Raises:
        FileRefused: it is refused; the text says why and what to do.
    """
    require_name(name, of="an exercise")
    places = (f"grader/exercises/{name}", f"reference/{name}.py", f"starter/given/{name}.py")
    taken = [place for place in places if (course.ROOT / place).exists()]
    if name == course.WORKSHEET:
        taken = [f"`grade {name}`"]
    elif importlib.util.find_spec(name):
        taken = [f"Python's module {name}"]
    if taken:
        raise FileRefused(f"{taken[0]} is there already; take another name, or delete it first")


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
