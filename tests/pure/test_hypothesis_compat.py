"""The private names of hypothesis that the grader uses do what it uses them for, and one module uses them."""

import ast
import gc
import importlib.metadata
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.configuration
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from packaging.requirements import Requirement

from grader.core import course
from grader.grading import hypothesis_compat

COMPAT = "grader/grading/hypothesis_compat.py"
PUBLIC = {
    "hypothesis": {*hypothesis.__all__, "strategies", "errors"},
    "pytest": {*pytest.__all__},
}
RARE = 715_225_739_501
"""A number that no test and no input would come upon by chance."""


def private_names(text: str) -> Iterator[str]:
    """What a module takes from hypothesis and pytest that their documentation does not promise."""
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module), level=0):
                names = [f"{module}.{alias.name}" for alias in node.names]
            case ast.Attribute(value=ast.Name("hypothesis" | "pytest")):
                names = [ast.unparse(node)]
            case ast.Constant(value=str(value)) if value.startswith("_hypothesis"):
                yield value
        for name in names:
            top, _, rest = name.partition(".")
            parts = rest.split(".") if rest else []
            known = parts[0] in PUBLIC[top] if parts and top in PUBLIC else top != "_pytest"
            if top in (*PUBLIC, "_pytest") and not (known and not any(part.startswith("_") for part in parts)):
                yield name


def test_private_names_are_seen_in_every_spelling() -> None:
    text = """
import hypothesis, pytest, hypothesis.strategies as st, numpy._core
import hypothesis.internal.conjecture.engine
from hypothesis import core, given
from hypothesis.strategies import _internal
from _pytest.runner import runtestprotocol
def late(test):
    hypothesis.configuration.storage_directory()
    pytest.fixture, pytest._version
    delattr(test, "_hypothesis_internal_use_seed")
"""
    assert {*private_names(text)} == {
        "hypothesis.internal.conjecture.engine",
        "hypothesis.core",
        "hypothesis.strategies._internal",
        "_pytest.runner.runtestprotocol",
        "hypothesis.configuration",
        "pytest._version",
        "_hypothesis_internal_use_seed",
    }


def test_one_module_of_the_grader_uses_private_names_of_hypothesis_and_none_those_of_pytest() -> None:
    users = {
        file.relative_to(course.ROOT).as_posix(): found
        for file in sorted((course.ROOT / "grader").rglob("*.py"))
        if (found := {*private_names(file.read_text("utf-8"))})
    }
    assert [*users] == [COMPAT]
    assert not any("pytest" in name for name in users[COMPAT])


@pytest.mark.parametrize("package", ["hypothesis", "pytest"])
def test_versions_are_bounded_on_both_sides_and_the_bounds_are_the_ones_that_ci_tries(package: str) -> None:
    project = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))
    (bounds,) = (each for each in map(Requirement, project["project"]["dependencies"]) if each.name == package)
    oldest = {each.version for each in bounds.specifier if each.operator == ">="}
    assert len(oldest) == 1
    assert sorted(each.operator for each in bounds.specifier) == ["<", ">="]
    assert importlib.metadata.version(package) in bounds.specifier
    tried = (course.ROOT / ".github" / "oldest.txt").read_text("utf-8").split("\n")
    (pin,) = (Requirement(line) for line in tried if line.startswith(package))
    assert {each.version for each in pin.specifier} == oldest, "the oldest version that CI tries is the oldest allowed"


def draws(highest: int) -> set[int]:
    """Some integers from a range in which no other constant is.

    The bounds are part of the key under which hypothesis remembers the constants that fit.
    """
    seen = set()

    @settings(max_examples=400)
    @given(st.integers(RARE - 10**9, highest))
    def law(number: int) -> None:
        seen.add(number)

    law()
    return seen


def test_constants_of_local_files_do_not_get_into_the_inputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "of_a_student.py"
    source.write_text(f"number = {RARE}\n", "utf-8")
    module = types.ModuleType("of_a_student")
    module.__file__ = str(source)
    monkeypatch.setitem(sys.modules, "of_a_student", module)
    hypothesis_compat.ignore_local_constants()
    assert RARE not in draws(RARE + 10**9)
    # The place where it was stopped is still the one that hypothesis asks.
    constants = providers.Constants(integers={RARE}, floats=set(), bytes=set(), strings=set())
    monkeypatch.setattr(providers, "_get_local_constants", lambda: constants)
    assert RARE in draws(RARE + 10**9 + 1)


def place_of_examples() -> Path:
    place: Any = hypothesis.configuration.storage_directory("examples")
    return Path(getattr(place, "path", place))  # older versions return the path itself


def test_hypothesis_keeps_its_files_where_it_is_told(tmp_path: Path) -> None:
    before = place_of_examples().parent
    hypothesis_compat.keep_files_in(tmp_path / "home")
    try:
        assert place_of_examples() == tmp_path / "home" / "examples"
    finally:
        hypothesis_compat.keep_files_in(before)


def settings_alive() -> int:
    gc.collect()
    return sum(type(each) is settings for each in gc.get_objects())  # isinstance asks lazy objects


def test_a_law_that_is_seeded_again_and_again_does_not_remember_its_old_seeds() -> None:
    @given(st.integers())
    def law(number: int) -> None:
        pass

    def grow(*, forgetting: bool) -> int:
        before = settings_alive()
        for seed in range(20):
            if forgetting:
                hypothesis_compat.forget_seed(law)
            hypothesis.seed(seed)(law)
        return settings_alive() - before

    assert grow(forgetting=True) <= 1
    assert grow(forgetting=False) >= 20, "hypothesis has mended it: forget_seed is no longer needed"
