"""Known wrong answers (`known_mistakes/`) and correct answers in other styles (`fair_variants/`), as submissions.

Each answer is a small function in one of these folders of its exercise, in a file named after the function that it
replaces, or a change to the model answer (`changes.py`). Mistakes that look alike in several functions are in
`common_mistakes.toml`. To make a submission, this module replaces one function in the model answer's module. The
submission then runs in a worker like any other. This module imports no answer: it reads and parses the files as text.
"""

from __future__ import annotations

import ast
import functools
import re
import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import course
from ..core.contents import read_submission
from ..core.refusal import FileRefused, not_python
from ..core.submission import Submission
from . import changes
from .generated import shown


@dataclass(frozen=True)
class KnownAnswer:
    """One wrong answer or one variant of a function: the model answers with this function replaced.

    The sentence of a known mistake completes "your numbers are what you get if ...".
    """

    exercise: str
    function: str
    name: str
    sentence: str
    explanation: str
    submission: Submission


def known_mistakes(exercise: str) -> list[KnownAnswer]:
    """The known wrong answers to an exercise."""
    return _entries("known_mistakes", exercise)


def fair_variants(exercise: str) -> list[KnownAnswer]:
    """Correct answers to an exercise in other styles."""
    return _entries("fair_variants", exercise)


def replaced(exercise: str, function: str, name: str, text: str) -> Submission:
    """The model answers with `function` replaced by the function `name` of another text."""
    return _replaced(read_submission(course.MODEL_ANSWERS), exercise, function, name, text)


def _replaced(model: Submission, exercise: str, function: str, name: str, text: str) -> Submission:
    file_name = course.exercise(exercise).file_name
    module = f"{model.files[file_name]}\n\n{text}\n\n{function} = {name}\n"
    return Submission(name, Path(name), {**model.files, file_name: module}, {})


def fair_variants_together(index: int) -> tuple[Submission, frozenset[str]]:
    """The model answers with one variant of every function: the one with a given index in each file, if there is one.

    Each variant has a scope of its own, because the files use the same names for helpers.

    Returns:
        The submission, and the functions in it that are variants, each as "exercise.function".
    """
    files = dict(read_submission(course.MODEL_ANSWERS).files)
    functions = set()
    for exercise in course.HANDED_OUT:
        for path in sorted((exercise.folder / "fair_variants").glob("*.py")):
            function, text = path.stem, whole_functions(path)
            names = [node.name for node in _public_functions(text)]
            if index < len(names):
                functions.add(f"{exercise.name}.{function}")
                files[exercise.file_name] += (
                    f"\n\ndef _variants_of_{function}():\n{textwrap.indent(text, '    ')}\n    return {names[index]}\n"
                    f"\n{function} = _variants_of_{function}()\n"
                )
    name = f"variant {index + 1} of every function"
    return Submission(name, Path(name), files, {}), frozenset(functions)


def whole_functions(path: Path) -> str:
    """The text of a file of the catalogue, with every change expanded to a whole function."""
    model = course.MODEL_ANSWERS / f"{path.parents[1].name}.py"
    answer = model.read_text("utf-8") if model.is_file() else ""
    parsed(path)
    return changes.written_out(path.read_text("utf-8"), answer, path.stem, shown(path))


def parsed(path: Path) -> ast.Module:
    """A file of the catalogue as a tree.

    Raises:
        FileRefused: the file is not valid Python.
    """
    try:
        return ast.parse(path.read_text("utf-8"))
    except SyntaxError as error:
        raise not_python(shown(path), error) from None


def _entries(folder: str, exercise: str) -> list[KnownAnswer]:
    model, found = read_submission(course.MODEL_ANSWERS), []
    functions = course.exercise(exercise).function_names
    paths = {path.stem: path for path in sorted((course.exercise(exercise).folder / folder).glob("*.py"))}
    for name in paths.keys() - {*functions} if functions else ():
        raise FileRefused(f"{shown(paths[name])}: rename it to one of the functions {', '.join(functions)}")
    for function in functions:
        path = paths.get(function)
        if not path:
            continue
        text = whole_functions(path)
        if folder == "known_mistakes":
            common = _common(exercise, function)
            for node in _public_functions(common):
                if f"def {node.name}(" in text:
                    raise FileRefused(f"{shown(path)}: {node.name} is in common_mistakes.toml, too; delete one of them")
            text += common
        for node in _public_functions(text):
            sentence, _, rest = (ast.get_docstring(node) or "").partition("\n")
            if not sentence:
                raise FileRefused(f"{shown(path)}: {node.name}: say in its docstring what is special about it")
            submission = _replaced(model, exercise, function, node.name, text)
            explanation = " ".join(rest.split())
            found.append(KnownAnswer(exercise, function, node.name, sentence.strip(), explanation, submission))
    return found


@functools.cache
def common_mistakes() -> Mapping[str, Mapping[str, Any]]:
    """The entries of `common_mistakes.toml` by name; the file explains their fields."""
    return tomllib.loads((course.FOLDERS / "common_mistakes.toml").read_text("utf-8"))


def _common(exercise: str, function: str) -> str:
    """All common mistakes of a function, as text."""
    return "".join(
        f"\n\n{common_mistake(name, mistake, exercise, function)}\n"
        for name, mistake in common_mistakes().items()
        if f"{exercise}.{function}" in mistake["functions"]
    )


def common_mistake(name: str, mistake: Mapping[str, Any], exercise: str, function: str) -> str:
    """A common mistake, as the text of a function with its name.

    Raises:
        ChangeRefused: no line of the model answer matches.
    """
    model = (course.MODEL_ANSWERS / f"{exercise}.py").read_text("utf-8")
    head, body = changes.head_and_body(model, function)
    pattern = re.compile(mistake["from"])
    matches = [match for line in body if (match := pattern.search(line.code))]
    if not matches:
        where = f"common_mistakes.toml: {name}"
        raise changes.ChangeRefused(f"{where}: the model answer to `{function}` has nothing to change")
    sentence = mistake["sentence"].format(**matches[0].groupdict())
    return "\n".join(
        [
            *(line.text.replace(f"def {function}(", f"def {name}(") for line in head),
            f'    """{sentence}\n{mistake["explanation"]}"""',
            *(pattern.sub(mistake["to"], line.code) for line in body),
        ]
    )


def _public_functions(text: str) -> list[ast.FunctionDef]:
    """The answers in a file of the catalogue, without helpers, whose names begin with an underscore."""
    return [
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
