"""The texts of right functions for a worker: these functions, what they need of the oracles, and nothing else.

A submission can read everything that comes with it into a worker, so the oracles are cut to what the replaced functions
need. Whatever is being judged, or comes later in the course, is not there to be called.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Set
from pathlib import Path

PACKAGE, MODULE = "course_oracles", "in_torch"
_FOLDER = Path(__file__).parents[1] / "oracles"
ORACLES_FOR_WORKERS = (MODULE, "charlm_oracle", "simulation", "sfc32", "traced")
"""The modules of the oracles that may come with a submission into a worker."""


def are_available() -> bool:
    """Whether this copy of the course has right functions; a handout has none."""
    return (_FOLDER / f"{MODULE}.py").is_file()


@functools.lru_cache(maxsize=64)
def files(functions: frozenset[str]) -> Mapping[str, str]:
    """File name to text: a package whose module `MODULE` defines some functions of the exercises."""
    modules = {name: ast.parse((_FOLDER / f"{name}.py").read_text("utf-8")) for name in ORACLES_FOR_WORKERS}
    needed: dict[str, set[str]] = {}
    waiting = {(MODULE, name) for name in functions}
    while waiting:
        module, name = waiting.pop()
        if name not in needed.setdefault(module, set()):
            needed[module].add(name)
            waiting |= _used(module, modules[module], name)
    return {f"{PACKAGE}/{name}.py": _cut(modules[name], names, needed) for name, names in needed.items()}


def _used(module: str, tree: ast.Module, name: str) -> set[tuple[str, str]]:
    """What a definition uses of the oracles, as pairs of module and name."""
    own, siblings = {_defines(each) for each in tree.body}, set[str]()
    imported: dict[str, str] = {}
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.level:
            names = {alias.name for alias in statement.names}
            imported |= dict.fromkeys(names, statement.module or "")
            siblings |= set() if statement.module else names
    used = set()
    for node in (node for each in tree.body if _defines(each) == name for node in ast.walk(each)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in siblings:
            used.add((node.value.id, node.attr))
        elif isinstance(node, ast.Name) and node.id in own:
            used.add((module, node.id))
        elif isinstance(node, ast.Name) and imported.get(node.id):
            used.add((imported[node.id], node.id))
    return used


def _defines(statement: ast.stmt) -> str:
    """The name that a statement at module level defines; "" for imports and docstrings."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


def _cut(tree: ast.Module, names: Set[str], needed: Mapping[str, Set[str]]) -> str:
    """The text of a module with only some of its definitions, and without imports of what is not there."""
    kept: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.level:
            there = needed if not statement.module else needed.get(statement.module, set())
            aliases = [alias for alias in statement.names if alias.name in there]
            if aliases:
                kept.append(ast.ImportFrom(statement.module, aliases, statement.level))
        elif isinstance(statement, ast.Import | ast.ImportFrom) or _defines(statement) in names:
            kept.append(statement)
    return ast.unparse(ast.Module(kept, []))
