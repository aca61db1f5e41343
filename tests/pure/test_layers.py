"""Which module may import which: packages import downwards, and no student code shares a process with answers."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.grading.right_functions import ORACLES_FOR_WORKERS

ROOT = Path(__file__).resolve().parents[2]
STANDARD = frozenset(sys.stdlib_module_names) | {"__future__"}
PROCESSES = frozenset({"subprocess", "multiprocessing", "socket"})
SUBMISSIONS = ("/known_mistakes/", "/fair_variants/")  # texts that run in a worker, joined with a model answer
WITH_TORCH = ("torch", *(f"grader.sandbox.worker.{name}" for name in ("serve", "forkserver", "start")))
FOR_PEOPLE = re.compile(r"/(plots|runs|run_\w+|llm_\w+|trl_trainer)\.py$")  # no worker loads them


@dataclass(frozen=True)
class Package:
    """The rule of one package.

    Attributes:
        imports: Other packages of the grader that it may import.
        libraries: Other libraries that it may import, besides Python's own.
        processes: Whether it may start a process or open a connection.
    """

    imports: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    processes: bool = False


PACKAGES = {
    "core": Package(libraries=("jinja2", "markupsafe", "msgspec")),
    "sandbox": Package(
        libraries=("numpy", "psutil", "pyseccomp", "torch", "_course_worker"),
        processes=True,
    ),
    "oracles": Package(imports=("core",), libraries=("numpy", "safetensors", "torch")),
    "grading": Package(
        imports=("core", "sandbox", "oracles"),  # of the oracles only what is recorded of them
        libraries=("hypothesis", "numpy", "pytest", "torch"),
        processes=True,
    ),
    "exercises": Package(imports=("core", "oracles", "grading"), libraries=("hypothesis", "numpy", "pytest")),
    "worksheet": Package(imports=("core", "grading", "oracles"), libraries=("numpy",)),
    "reports": Package(imports=("core", "grading", "worksheet"), libraries=("rich",)),
    "classroom": Package(
        imports=("core", "sandbox", "grading", "worksheet", "reports"),
        libraries=("distributed", "filelock", "msgspec", "numpy", "psutil", "yaml"),
        processes=True,
    ),
    "gradebook": Package(imports=("core", "worksheet", "classroom"), libraries=("dateparser",)),
    "workshop": Package(
        imports=("core", "sandbox", "oracles", "grading", "worksheet"),
        libraries=("jinja2", "numpy"),
    ),
    "commands": Package(
        imports=("core", "sandbox", "grading", "worksheet", "reports", "classroom", "gradebook", "workshop"),
        libraries=("IPython", "pytest", "rich", "watchfiles"),
        processes=True,
    ),
}
"""Name to rule, from the ground up: each may import only from those above it here."""


def imports_of(text: str, file: str) -> Iterator[str]:
    """The full name of every import of a module, wherever it is; the one inside a function begins with a blank."""
    tree, package = ast.parse(text), Path(file).parent.parts
    late = {
        id(node) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            names = [".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            names = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        yield from (" " * (id(node) in late) + name for name in names)


@functools.cache
def imports_of_file(name: str) -> list[str]:
    return [*imports_of((ROOT / name).read_text("utf-8"), name)]


def imports(place: str) -> list[tuple[str, str]]:
    """Each file of a place in the repository with each of its imports; a package is read without its submissions."""
    path = ROOT / place
    names = [file.relative_to(ROOT).as_posix() for file in (path.rglob("*.py") if path.is_dir() else [path])]
    names = [name for name in names if all(part in f"/{place}/" or part not in name for part in SUBMISSIONS)]
    assert names
    return [(name, each) for name in names for each in imports_of_file(name)]


def top(name: str) -> str:
    return name.strip().split(".")[0]


def is_in(name: str, modules: Collection[str]) -> bool:
    return any(f"{name.strip()}.".startswith(f"{module}.") for module in modules)


def test_the_grader_imports_neither_starter_nor_model_answers_nor_tests() -> None:
    assert [each for each in imports("grader") if top(each[1]) in ("starter", "reference", "tests", "conftest")] == []


@pytest.mark.parametrize("folder", ["reference", "starter", "known_mistakes", "fair_variants"])
def test_exercises_import_what_a_submission_may(folder: str) -> None:
    own = folder in ("reference", "starter")
    places = [folder] if own else [str(path.relative_to(ROOT)) for path in ROOT.glob(f"grader/exercises/*/{folder}")]
    allowed = STANDARD | ({"torch", "numpy", "safetensors", folder} if own else {"torch", "numpy"})
    for file, name in (each for place in places for each in imports(place)):
        assert FOR_PEOPLE.search(f"/{file}") or top(name) in allowed, (file, name)
    # A sibling is imported with a dot: a submission lies in a folder of any name.
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / folder).rglob("*.py")}
    assert not [name for name, text in texts.items() if re.search(rf"^\s*(from|import) {folder}\b", text, re.M)]


def test_the_worker_imports_nothing_of_ours_and_the_wire_no_torch() -> None:
    for file, name in imports("grader/sandbox/worker"):
        own = is_in(name, ("grader.sandbox.worker", "_course_worker"))
        assert own or top(name) in STANDARD | {"torch", "numpy", "pyseccomp"}, (file, name)
        if file.endswith(("/wire.py", "/confine.py")):
            assert not is_in(name, WITH_TORCH) and top(name) in STANDARD | {"pyseccomp"}, (file, name)


def test_torch_is_imported_in_workers_only_and_late_by_the_debugger() -> None:
    for file, name in imports("grader"):
        in_a_worker = file.startswith("grader/sandbox/worker/") or file == "grader/oracles/in_torch.py"
        if not in_a_worker and is_in(name, (*WITH_TORCH, "grader.oracles.in_torch")):
            assert file == "grader/grading/debug.py" and name.startswith(" "), (file, name)


def test_the_oracles_that_a_worker_gets_import_numpy_torch_and_each_other_only() -> None:
    names = [f"grader.oracles.{name}" for name in ORACLES_FOR_WORKERS]
    for module in ORACLES_FOR_WORKERS:
        for file, name in imports(f"grader/oracles/{module}.py"):
            assert top(name) in STANDARD | {"numpy", "torch"} or is_in(name, names), (file, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_what_its_rule_says_and_only_downwards(package: str) -> None:
    rule, below = PACKAGES[package], [*PACKAGES][: [*PACKAGES].index(package)]
    assert {*rule.imports} <= {*below} and {path.name for path in ROOT.glob("grader/*/")} - {"__pycache__"} == {
        *PACKAGES
    }
    for file, name in imports(f"grader/{package}"):
        assert top(name) in STANDARD | {*rule.libraries, "grader"}, (file, name)
        assert top(name) not in PROCESSES or rule.processes, (file, name)
        packages = {name.split(".")[1]} if top(name) == "grader" and "." in name else set()
        assert packages <= {package, "__version__", *rule.imports}, (file, name)


def test_a_class_name_means_one_thing() -> None:
    files = [file for file in (ROOT / "grader").rglob("*.py") if file.parts[len(ROOT.parts) + 1] != "exercises"]
    places: dict[str, list[str]] = {}
    for file in files:
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(file.relative_to(ROOT).as_posix())
    assert places and {name: there for name, there in places.items() if len(there) > 1} == {}
