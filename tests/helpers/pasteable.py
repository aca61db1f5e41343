"""The functions of a handout that answer an exercise, so that a student could paste them into a stub.

Every function that computes with numpy, whatever its name, is tried on the worked examples of every exercise. Left out:
recorded answers and worked examples, because every gate also asks for fresh inputs; glue that a person writes who
understands both functions, because writing that is the exercise.
"""

from __future__ import annotations

import ast
import posixpath
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from grader.core import course
from grader.grading import recorded_answers
from grader.grading.calls import Example, Half, Record, Transposed
from grader.grading.check import checks_of

_PLACES = ("oracles", "exercises", "worksheet")
"""Where the grader computes what the exercises ask for; functions elsewhere may do more than compute."""
_LIBRARIES = ("math", "numpy", "dataclasses", "collections", "typing", "functools", "__future__")

_Place = tuple[str, str]  # a file of the handout, and a name that it defines


def answering(files: Mapping[str, bytes], exercises: Sequence[str]) -> dict[str, str]:
    """Function of an exercise to the place of a function of the handout that answers its gate."""
    trees = {name: ast.parse(text) for name, text in files.items() if name.endswith(".py")}
    functions = [
        (name, node) for name, tree in trees.items() for node in tree.body if isinstance(node, ast.FunctionDef)
    ]
    places = [(name, node.name) for name, node in functions if _may_answer(name, node)]
    candidates = {place: _executed(_with_what_it_needs(trees, place), place[1]) for place in places}
    return {
        f"{exercise}.{function}": " ".join(place)
        for exercise in exercises
        for function in course.exercise(exercise).function_names
        for place, code in candidates.items()
        if _answers(code, exercise, function)
    }


def _may_answer(name: str, node: ast.FunctionDef) -> bool:
    return not node.name.startswith("test_") and name.startswith(tuple(f"course/grader/{place}/" for place in _PLACES))


def _with_what_it_needs(trees: Mapping[str, ast.Module], place: _Place) -> str:
    """A definition of a handout with all that it uses, as one module without imports of the course."""
    kept: dict[_Place, ast.stmt] = {}
    imports: dict[str, ast.stmt] = {}
    waiting, seen = [place], {place}
    while waiting:
        name, wanted = waiting.pop()
        more: list[_Place] = []
        for statement in trees[name].body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                origin = _origin(name, statement)
                names = {alias.asname or alias.name: alias.name for alias in statement.names}
                if not origin and _is_library(statement):
                    imports[ast.unparse(statement)] = statement
                elif origin in trees and wanted in names:
                    more.append((origin, names[wanted]))
            elif wanted in _defined(statement):
                kept[name, wanted] = statement
                used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                more += [(name, each) for each in sorted(used)]
        waiting += [each for each in dict.fromkeys(more) if each not in seen]
        seen |= {*more}
    # In reverse, because what is needed was found later.
    body = [*imports.values(), *dict.fromkeys(reversed(kept.values()))]
    first = [each for each in body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    return ast.unparse(ast.Module([*first, *(each for each in body if each not in first)], []))


def _is_library(statement: ast.Import | ast.ImportFrom) -> bool:
    modules = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else [a.name for a in statement.names]
    return all(module.split(".")[0] in _LIBRARIES for module in modules)


def _origin(name: str, statement: ast.stmt) -> str:
    """The file of the handout that a statement imports names from; "" if it is none."""
    if not isinstance(statement, ast.ImportFrom):
        return ""
    if statement.level:
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(name), *[".."] * (statement.level - 1)))
        return f"{posixpath.join(folder, (statement.module or '').replace('.', '/'))}.py"
    module = statement.module or ""
    return f"course/{module.replace('.', '/')}.py" if module.startswith("grader.") else ""


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _executed(text: str, name: str) -> Callable[..., Any] | None:
    """The function of that name in a text; None if the text needs more than libraries."""
    names: dict[str, Any] = {"__name__": "pasted"}
    try:
        exec(compile(text, "<pasted>", "exec"), names)
    except Exception:
        return None
    found: Callable[..., Any] = names[name]
    return found


def _answers(candidate: Callable[..., Any] | None, exercise: str, function: str) -> bool:
    """Whether a candidate answers the worked examples of an exercise's function that open its gate."""
    gates = [check for check in checks_of(exercise, hidden=False) if check.function == function and check.gate]
    worked = [each for check in gates for each in recorded_answers.of_check(check)]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(candidate and worked) and all(_agrees(candidate, *each) for each in worked)
    except Exception:  # it is made for other arguments
        return False


def _agrees(candidate: Any, example: Example, answer: recorded_answers.RecordedAnswer) -> bool:
    expected = answer.expected
    wanted = expected["values"] if "values" in expected else expected["fields"]["0"]["values"]
    options = {} if not example.options else {key: _plain(value) for key, value in example.options.items()}
    result = candidate(*map(_plain, example.arguments), **options)
    value = getattr(result, "value", getattr(result, "loss", result))
    value = value[0] if isinstance(value, tuple) else value
    found = np.asarray(value, dtype=np.float64).reshape(-1)
    return found.shape == (len(wanted),) and np.allclose(found, np.asarray(wanted, dtype=np.float64), atol=1e-4)


def _plain(value: Any) -> Any:
    if isinstance(value, Half | Transposed):
        return value.array
    if isinstance(value, Record):
        return SimpleNamespace(**{**course.given_defaults(value.type_name), **value.fields})
    return value
