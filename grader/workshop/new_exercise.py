"""The files of a new exercise: one placeholder function, gradable at once, to be replaced piece by piece.

Left out: the entry in `course.toml`. Until somebody adds it, the exercise is a draft.
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


def require_new(name: str) -> None:
    """Refuse a name that the course or Python already uses, or that is not a valid name.

    Raises:
        FileRefused: the name cannot be used; the text says why and what to do.
    """
    _require_name(name)
    paths = (f"grader/exercises/{name}", f"reference/{name}.py", f"starter/given/{name}.py")
    taken = [path for path in paths if (course.ROOT / path).exists()]
    if name == course.WORKSHEET:
        taken = [f"`grade {name}`"]
    elif importlib.util.find_spec(name):
        taken = [f"Python's module {name}"]
    if taken:
        raise FileRefused(f"{taken[0]} already exists; choose another name, or delete it first")


def _require_name(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise FileRefused(f"{name!r} is not possible: take small letters, digits and _, such as length_penalty")


def make(name: str, *, title: str, function: str) -> dict[str, str]:
    """The files of a new exercise with one function, by path from the repository root."""
    _require_name(function)
    folder = f"grader/exercises/{name}"
    files = {
        f"reference/{name}.py": "reference.py",
        f"{folder}/exercise.toml": "exercise.toml",
        f"{folder}/checks.py": "checks.py",
        f"{folder}/hidden_checks.py": "hidden_checks.py",
        f"{folder}/known_mistakes/{function}.py": "known_mistake.py",
        f"{folder}/fair_variants/{function}.py": "variant.py",
        f"docs/exercises/{name}.md": "page.md",
    }
    number = max((each.number for each in course.ALL_EXERCISES), default=0) + 1
    values = {"name": name, "title": title, "title_as_toml": json.dumps(title), "function": function, "number": number}
    templates = {path: (_TEMPLATES / f"{file}.template").read_text("utf-8") for path, file in files.items()}
    texts = {path: Template(text).substitute(values) for path, text in templates.items()}
    return {f"{folder}/__init__.py": '"""All that only this exercise has."""\n', **texts}
