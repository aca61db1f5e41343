"""Which test files reach a file of the grader, the likeliest to notice a defect and the cheapest first.

Read from the imports of all files, and from what starts a module without importing it: its dotted name or its file name
in a string (`python -m grader`, a script in a test), the name of a sibling where modules are imported by name, and
a fixture of `conftest.py`. It is an estimate that errs on the side of too many tests. Left out: data files, and
JavaScript.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

_WITHOUT = ("/misconceptions/", "/variants/", "tests/browser/", "tests/lighthouse/")  # read as text, or npm's
_ALIASES = {"_course_worker": "grader.sandbox.worker"}  # the name of the package inside a worker
_OF_WORKERS = ("walls", "sandbox", "calls")  # subjects of tests that look at a worker from inside
_PRICES = {"open_page": 3, "subprocess": 2, "sandbox": 1}
"""A word in a test file to what it probably costs, whatever the layout of the tests."""

Graph = dict[str, set[str]]
"""Path of a file to those that it reaches in one step."""


def reaching_tests(file: str, root: Path) -> list[str]:
    """Paths of test files: those named after the file, then those that give its command as an argument, then by the
    number of steps, then by what they cost.

    Args:
        file: A file of the grader, from the root.
        root: Of the repository or a copy of it.
    """
    steps = _steps_to(file, import_graph(root))
    tests = [path for path in steps if path.startswith("tests/") and PurePosixPath(path).name.startswith("test_")]

    def order(path: str) -> tuple[bool, bool, int, int, int, str]:
        text = (root / path).read_text("utf-8")
        price = max((price for word, price in _PRICES.items() if word in text), default=0)
        return not _is_named_after(path, file), not _gives_command(text, file), steps[path], price, len(text), path

    return sorted(tests, key=order)


@functools.cache
def import_graph(root: Path) -> Graph:
    """What every Python file of the grader and its tests reaches."""
    paths = [path.relative_to(root).as_posix() for part in ("grader", "tests") for path in (root / part).rglob("*.py")]
    paths = [path for path in paths if not any(part in path for part in _WITHOUT)]
    modules = {_dotted(path): path for path in sorted(paths, key=lambda path: -path.count("/"))}
    used = {path: _Used.by(path, ast.parse((root / path).read_bytes())) for path in paths}
    fixtures: Graph = {}
    for path in paths:
        if path.endswith("/conftest.py"):
            fixtures |= _fixtures(ast.parse((root / path).read_bytes()), path, modules)
    graph = {path: _reached(used[path], path, modules) for path in paths}
    for path in graph:
        if path.startswith("tests/"):
            by_name = used[path].strings if "/test_" in path else set()  # `getfixturevalue("sandbox")`
            names = (used[path].parameters | by_name) & {*fixtures}
            graph[path] |= {reached for name in names for reached in fixtures[name]}
    # Who uses a fixture reaches what that fixture uses, and nothing else of its file.
    return {path: set() if path.endswith("/conftest.py") else reached for path, reached in graph.items()}


@dataclass
class _Used:
    """What one file mentions."""

    names: set[str] = field(default_factory=set)  # dotted, imported
    strings: set[str] = field(default_factory=set)  # docstrings name other modules without using them
    parameters: set[str] = field(default_factory=set)

    @classmethod
    def by(cls, path: str, tree: ast.AST) -> _Used:
        found, waiting = cls(), [tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.strings.add(node.value)
            elif isinstance(node, ast.arg):
                found.parameters.add(node.arg)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found.names |= {*_imported(node, path)}
            waiting += ast.iter_child_nodes(node)
        return found


def _steps_to(file: str, graph: Graph) -> dict[str, int]:
    steps, newest = {file: 0}, {file}
    while newest:
        newest = {path for path, reached in graph.items() if reached & newest and path not in steps}
        steps |= dict.fromkeys(newest, max(steps.values()) + 1)
    return steps


def _is_named_after(test: str, file: str) -> bool:
    subject, name = PurePosixPath(test).stem.removeprefix("test_"), PurePosixPath(file).stem
    return subject in name or name in subject or (file.startswith("grader/sandbox/worker/") and subject in _OF_WORKERS)


def _gives_command(text: str, file: str) -> bool:
    """`course diff` is the file `diff.py`, and a test that calls it says `"diff"`."""
    path = PurePosixPath(file)
    return path.parent.name == "commands" and f'"{path.stem}"' in text


def _dotted(path: str) -> str:
    """The name by which others import a file; tests and their helpers have no package."""
    parts = PurePosixPath(path).with_suffix("").parts
    return parts[-1] if parts[0] == "tests" else ".".join(parts).removesuffix(".__init__")


def _reached(used: _Used, path: str, modules: dict[str, str]) -> set[str]:
    names = {*used.names}
    for text in used.strings:
        names |= {*re.findall(r"grader(?:\.\w+)+\.?", text)}
        for package, imported in re.findall(r"from (grader[\w.]*) import ([\w, ]+)", text):
            names |= {f"{package}.{name.strip()}" for name in imported.split(",")}
        if text.endswith(".py") and text != "__init__.py":
            names |= {
                name for name, file in modules.items() if file.startswith("grader/") and file.endswith(f"/{text}")
            }
    if "importlib" in {name.partition(".")[0] for name in used.names} and path.startswith("grader/"):
        package = _dotted(path) if path.endswith("__init__.py") else _dotted(path).rpartition(".")[0]
        words = {text.replace("-", "_") for text in used.strings}
        names |= {f"{package}.{word}" for word in words if word.isidentifier()}
    return {found for name in names for found in _files(name, modules)} - {path}


def _imported(node: ast.AST, path: str) -> Iterator[str]:
    """The dotted names in an import statement; of `from a import b` it is a.b, which may be no module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        package = PurePosixPath(path).parts[: -node.level] if node.level else ()
        base = ".".join([*package, *filter(None, [node.module])])
        yield from (f"{_ALIASES.get(base, base)}.{alias.name}" for alias in node.names)


def _files(name: str, modules: dict[str, str]) -> list[str]:
    """The file of a module or of a name in it; of the beginning of names, as in `f"grader.exercises.{x}"`, all."""
    if name.endswith("."):
        return [path for module, path in modules.items() if module.startswith(name)]
    if name in modules:
        return [modules[name]]
    begun = [path for module, path in modules.items() if name.count(".") > 1 and module.startswith(name)]
    parent = name.rpartition(".")[0]
    return begun or ([modules[parent]] if parent in modules and parent != "grader" else [])


def _fixtures(tree: ast.Module, path: str, modules: dict[str, str]) -> Graph:
    """What each name that `conftest.py` gives to tests reaches: functions, and fixtures that it imports."""
    found: Graph = {}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias, name in zip(node.names, _imported(node, path), strict=True):
                found[alias.asname or alias.name] = {*_files(name, modules)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            used |= {each.arg for each in node.args.args}
            found[node.name] = {reached for name in used & {*found} for reached in found[name]}
    return found
