"""Which functions of a submission a change may have changed, for a watch: it grades these again, and keeps the rest.

A function is as it was if its own definition is, what its module has besides the graded functions, and every function
whose name occurs in one of the two. Comments and blank lines are no change. Where that cannot be told, as in a file
that is no Python or that lies beside the modules, all of it has changed: rather too much is graded again than too
little.

Left out: what a function reads at run time, such as its own source.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace

from ..core import course
from ..core.result import ExerciseResult, Result
from ..core.submission import Submission


@dataclass(frozen=True)
class _Part:
    """A piece of a module: a graded function, or all that is none.

    Attributes:
        text: What it says, without comments and places.
        names: All words in it that could be the name of a function.
        lines: Where it begins, statement by statement.
    """

    text: str = ""
    names: frozenset[str] = frozenset()
    lines: tuple[int, ...] = ()


def changed(before: Submission, after: Submission, *, shown: Container[str] = ()) -> set[str]:
    """The functions of all exercises, "exercise.function", that may do something else than before.

    Args:
        before: What was graded.
        after: What is there now.
        shown: Functions whose lines are in the report: they are among these too where they have moved.
    """
    modules = {exercise.file_name: exercise for exercise in course.KNOWN}
    differing = _differing(before.files, after.files) | _differing(before.problems, after.problems)
    if not differing <= modules.keys():
        return {f"{exercise.name}.{name}" for exercise in course.KNOWN for name in exercise.function_names}
    found: set[str] = set()
    mentioned: dict[str, frozenset[str]] = {}
    for file_name, exercise in modules.items():
        old, new = (_parts(each, file_name, exercise.function_names) for each in (before, after))
        for name in exercise.function_names:
            function = f"{exercise.name}.{name}"
            if file_name in differing and not (old and new and _same(old, new, name, lines=function in shown)):
                found.add(function)
            called = frozenset(used.split(".")[1] for used in exercise.uses.get(name, ()))
            mentioned[function] = called | (new[name].names | new[""].names if new else frozenset())
    return _with_callers(found, mentioned)


def _differing(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _same(old: dict[str, _Part], new: dict[str, _Part], name: str, *, lines: bool) -> bool:
    """Whether a function and what is around it are as they were, and its lines are where they were if that counts."""
    texts = old[name].text == new[name].text and old[""].text == new[""].text
    return texts and not (lines and old[name].lines != new[name].lines)


def _with_callers(found: set[str], mentioned: dict[str, frozenset[str]]) -> set[str]:
    """Some functions, those that mention one of them, those that mention one of these, and so on."""
    while True:
        names = {function.split(".")[1] for function in found}
        more = {function for function, words in mentioned.items() if words & names} - found
        if not more:
            return found
        found = found | more


def _parts(submission: Submission, file_name: str, functions: Iterable[str]) -> dict[str, _Part] | None:
    """The graded functions of a module, and under "" the rest; None if it is no Python."""
    try:
        tree = ast.parse(submission.files[file_name])
    except (KeyError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    statements: dict[str, list[ast.stmt]] = {name: [] for name in (*functions, "")}
    for statement in tree.body:
        name = statement.name if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) else ""
        statements[name if name in statements else ""].append(statement)
    return {
        name: _Part(
            "\n".join(map(ast.dump, found)),
            frozenset(word for each in found for word in _words(each)),
            tuple(each.lineno for each in found),
        )
        for name, found in statements.items()
    }


def _words(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Name():
                yield node.id
            case ast.Attribute():
                yield node.attr
            case ast.alias():
                yield from (node.name, *node.name.split("."))
            case ast.Constant(value=str(text)):  # getattr(module, "name")
                yield text


def merged(known: Result, part: Result) -> Result:
    """A result in which the checks of another one take the places of those that it had.

    Args:
        known: Of all checks.
        part: Of some of them, graded later. Everything that is said of the whole comes from it.
    """
    later = {exercise.name: exercise for exercise in part.exercises}
    return replace(part, exercises=[_merged(each, later.get(each.name, each)) for each in known.exercises])


def _merged(known: ExerciseResult, part: ExerciseResult) -> ExerciseResult:
    if len(part.checks) == len(known.checks):
        return part
    fresh = {check.id: check for check in part.checks}
    functions = {check.function for check in part.checks}
    order = [check.id for check in known.checks]
    kept = [mistake for mistake in known.misconceptions if mistake.function not in functions]
    return replace(
        known,
        checks=[fresh.get(check.id, check) for check in known.checks],
        misconceptions=sorted([*kept, *part.misconceptions], key=lambda mistake: order.index(mistake.check)),
        not_imported=part.not_imported if part.checks else known.not_imported,
    )
