"""Runs a library's function without the library's GPU stack: its one file, with stand-ins for what it only imports."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import textwrap
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

DOCUMENTED = tomllib.loads(Path(__file__).with_name("libraries.toml").read_text("utf-8"))


class StandIn(ModuleType):
    """Answers imports, decorators, base classes and annotations. It cannot be computed with."""

    def __getattr__(self, name: str) -> Any:
        if name in ("__file__", "__wrapped__", "__path__"):
            raise AttributeError(name)
        child, places = f"{self.__name__}.{name}", getattr(self.__spec__, "submodule_search_locations", None)
        if child in sys.modules or (places and importlib.machinery.PathFinder.find_spec(child, places)):
            return importlib.import_module(child)
        return StandIn(child)

    def __call__(self, *given: Any, **named: Any) -> Any:
        return given[0] if len(given) == 1 and not named and callable(given[0]) else self  # a decorator changes nothing

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (type(self.__name__.rsplit(".")[-1], (), {}),)

    def __bool__(self) -> bool:
        return False

    def __getitem__(self, key: Any) -> StandIn:
        return self

    def __or__(self, other: Any) -> StandIn:
        return self

    __ror__ = __or__


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Packages of the library become empty, so their `__init__` does not run; named ones become stand-ins."""

    def __init__(self, library: str, missing: tuple[str, ...]) -> None:
        self.library = library
        self.missing = missing

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        wanted = any(f"{name}.".startswith(f"{each}.") for each in self.missing)
        places: list[str] = []
        if name.split(".")[0] == self.library and not wanted:
            found = importlib.machinery.PathFinder.find_spec(name, path)
            if found and not found.submodule_search_locations:
                return None  # a file: it is run
            places = list(found.submodule_search_locations or ()) if found else []
        elif not wanted:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = places
        return spec

    def create_module(self, spec: Any) -> ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def load(name: str) -> Any:
    """The module `name` from its own file; the packages around it and the library's `stand_ins` are stand-ins."""
    library = name.split(".")[0]
    finder = _Finder(library, tuple(DOCUMENTED["stand_ins"].get(library, ())))
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module(name)
    finally:
        sys.meta_path.remove(finder)


def cut(function: Callable[..., Any], first: str, last: str) -> str:
    """Source lines of a long method, from the one that begins with `first` to the one that begins with `last`."""
    lines = inspect.getsource(function).splitlines()
    starts = [i for i, line in enumerate(lines) if line.strip().startswith(first)]
    start = starts[0]
    end = next(i for i in range(start, len(lines)) if lines[i].strip().startswith(last))
    return textwrap.dedent("\n".join(lines[start : end + 1]))


def line_of(file: str, function: str, text: str) -> int:
    """Number of the first line of an installed file that begins with `text`, in `function` if the file defines it."""
    found = importlib.util.find_spec(file.split("/")[0])
    assert found is not None and found.submodule_search_locations
    path = Path(next(iter(found.submodule_search_locations))).parent / file
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    starts = [i for i, line in enumerate(lines) if line.startswith((f"def {function}(", f"class {function}"))]
    for i in range(starts[0] if starts else 0, len(lines)):
        if lines[i].startswith(text):
            return i + 1
    raise LookupError(f"{file}, {function}: no line begins with {text!r} any more")
