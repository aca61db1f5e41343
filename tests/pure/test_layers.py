"""Who may import whom: the walls between the layers, read from the source."""

import ast
import functools
import graphlib
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.workshop.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[2]
STANDARD = frozenset(sys.stdlib_module_names) | {"__future__"}
TESTING = frozenset({"pytest", "_pytest", "hypothesis"})
PROCESSES = frozenset({"subprocess", "multiprocessing", "socket"})


@dataclass(frozen=True)
class Import:
    """One imported name.

    Attributes:
        file: Where, from the repository root.
        line: In which line.
        name: What, in full: `from ..core.result import Result` in a report is `grader.core.result.Result`.
        late: Inside a function.
    """

    file: str
    line: int
    name: str
    late: bool

    @property
    def top(self) -> str:
        return self.name.split(".")[0]

    def is_in(self, modules: Collection[str]) -> bool:
        """Whether it is one of these modules or something in one of them."""
        return any(self.name == module or self.name.startswith(f"{module}.") for module in modules)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.name}"


def imports_of(text: str, file: str) -> Iterator[Import]:
    """Every import of a module, wherever it stands."""
    tree = ast.parse(text)
    late = {
        id(inner)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for inner in ast.walk(outer)
    }
    package = Path(file).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            base += [node.module] if node.module else []
            names = [".".join([*base, alias.name]) for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            constants = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            names = [value for value in constants if isinstance(value, str)]
        else:
            continue
        for name in names:
            yield Import(file, node.lineno, name, id(node) in late)


@functools.cache
def imports_of_file(name: str) -> tuple[Import, ...]:
    """All imports in one file of the repository."""
    return (*imports_of((ROOT / name).read_text("utf-8"), name),)


def imports_in(*places: str, without: Collection[str] = ()) -> list[Import]:
    """All imports in some files and folders of the repository, except in some others."""
    found: list[Import] = []
    files = 0
    for place in places:
        path = ROOT / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            name = file.relative_to(ROOT).as_posix()
            if not any(part in name for part in without):
                files += 1
                found += imports_of_file(name)
    assert files, f"nothing was read in {places}"
    return found


def listed(imports: Iterator[Import]) -> list[str]:
    return [str(found) for found in imports]


# These modules are text that is put together with a model answer and runs in a worker, never here.
SUBMISSIONS = ("/misconceptions/", "/variants/")
# Importing one of these imports torch.
WITH_TORCH = (
    "torch",
    "grader.sandbox.worker.serve",
    "grader.sandbox.worker.forkserver",
    "grader.sandbox.worker.start",
    "_course_worker",
)


def test_this_file_sees_every_kind_of_import() -> None:
    text = """
import torch.nn as nn, numpy
from . import course
from ..room.thing import Thing as Found
from .paper import paper
def late():
    from ..walk import walk
    importlib.import_module("reference.kl")
class Early:
    import pytest
"""
    found = {(each.name, each.late) for each in imports_of(text, "grader/reports/report.py")}
    assert found == {
        ("torch.nn", False),
        ("numpy", False),
        ("grader.reports.course", False),
        ("grader.room.thing.Thing", False),
        ("grader.reports.paper.paper", False),
        ("grader.walk.walk", True),
        ("reference.kl", True),
        ("pytest", False),
    }


def test_the_grader_imports_neither_starter_nor_model_answers() -> None:
    wrong = (each for each in imports_in("grader") if each.top in ("starter", "reference"))
    assert listed(wrong) == []


@pytest.mark.parametrize("folder", ["reference", "starter"])
def test_exercises_import_torch_numpy_the_standard_library_and_their_siblings(folder: str) -> None:
    allowed = STANDARD | {"torch", "numpy", "safetensors", folder}
    # Commands for people, which no worker ever loads: they draw, and show how far they are.
    names = [
        *("bandit_plots.py", "charlm_plots.py", "pretrain_charlm.py", "run_bandit.py", "run_charlm.py"),
        *("llm_files.py", "llm_report.py", "run_llm.py", "run_trl.py", "trl_trainer.py"),
    ]
    for_people = [f"{folder}/{name}" for name in names if (ROOT / folder / name).exists()]
    wrong = (each for each in imports_in(folder, without=for_people) if each.top not in allowed)
    assert listed(wrong) == []
    allowed |= {"matplotlib", "rich", "psutil", "transformers", "trl", "datasets"}
    wrong = (each for each in imports_in(*for_people) if each.top not in allowed)
    assert listed(wrong) == []
    # A sibling is imported with a dot: a submission lies in a folder of any name.
    texts = ((file, ast.parse(file.read_text("utf-8"))) for file in (ROOT / folder).rglob("*.py"))
    absolute = [
        file.name
        for file, tree in texts
        for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == folder)
        or (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == folder for alias in node.names))
    ]
    assert absolute == []


@pytest.mark.parametrize("folder", ["misconceptions", "variants"])
def test_misconceptions_and_variants_import_what_a_submission_may(folder: str) -> None:
    places = [path.relative_to(ROOT).as_posix() for path in (ROOT / "grader" / "exercises").glob(f"*/{folder}")]
    wrong = (each for each in imports_in(*places) if each.top not in STANDARD | {"torch", "numpy"})
    assert listed(wrong) == []


def test_the_worker_imports_nothing_of_ours() -> None:
    own = ("grader.sandbox.worker", "_course_worker")
    allowed = STANDARD | {"torch", "numpy", "pyseccomp"}
    wrong = (each for each in imports_in("grader/sandbox/worker") if each.top not in allowed and not each.is_in(own))
    assert listed(wrong) == []


def test_what_both_sides_share_imports_no_torch() -> None:
    shared = imports_in("grader/sandbox/worker/wire.py", "grader/sandbox/worker/confine.py")
    wrong = (each for each in shared if each.is_in(WITH_TORCH) or each.top not in STANDARD | {"pyseccomp"})
    assert listed(wrong) == []


def test_torch_is_imported_by_the_worker_only_and_late_by_the_debugger() -> None:
    wrong = [
        each
        for each in imports_in("grader", without=(*SUBMISSIONS, "grader/sandbox/worker/"))
        if each.is_in(WITH_TORCH) and not (each.file == "grader/grading/debug.py" and each.late)
    ]
    assert listed(iter(wrong)) == []


def test_checks_know_of_the_grading_what_checks_need_and_no_process() -> None:
    ours = [f"grader.grading.{name}" for name in ("check", "student", "compare", "strategies", "premises", "hand_in")]
    found = [each for each in imports_in("grader/exercises", without=SUBMISSIONS) if each.is_in(["grader.grading"])]
    assert found and listed(each for each in found if not each.is_in(ours)) == []


def test_comparisons_and_strategies_know_no_process() -> None:
    runs = [f"grader.{name}" for name in ("grading.run", "grading.plugin", "sandbox.sandbox", "core.submission")]
    wrong = (
        each
        for each in imports_in("grader/grading/compare.py", "grader/grading/strategies.py")
        if each.is_in(runs) or each.top in PROCESSES | {"pytest"}
    )
    assert listed(wrong) == []


# The rooms


def rooms_of(each: Import) -> set[str]:
    """The room that an import leads to: none if it is not ours, or the version of it."""
    parts = each.name.split(".")
    return {parts[1]} if parts[0] == "grader" and each.name not in ("grader", "grader.__version__") else set()


def test_no_file_lies_outside_a_room_and_every_room_says_what_it_is_for() -> None:
    inside = [path for path in (ROOT / "grader").iterdir() if path.name != "__pycache__"]
    assert {path.name for path in inside if path.is_file()} == {"__init__.py", "README.md"}
    assert {path.name for path in inside if path.is_dir()} == {*ROOMS}
    overview = (ROOT / "grader" / "README.md").read_text("utf-8")
    assert re.findall(r"^\| \[`(\w+)/`\]\((\w+)/README\.md\) \|", overview, re.M) == [(room, room) for room in ROOMS]
    for room in ROOMS:
        lines = (ROOT / "grader" / room / "README.md").read_text("utf-8").splitlines()
        assert lines[0] == f"# {room}" and len(lines) <= 20


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_its_law_says_and_only_downwards(room: str) -> None:
    law, below = ROOMS[room], [*ROOMS][: [*ROOMS].index(room)]
    assert {*law.imports} <= {*below}, "an arrow between rooms points down"
    wrong = []
    for each in imports_in(f"grader/{room}", without=SUBMISSIONS):
        foreign = each.top not in STANDARD | {*law.packages, "grader"} or (each.top in PROCESSES and not law.processes)
        if foreign or not rooms_of(each) <= {room, *law.imports}:
            wrong.append(str(each))
    assert wrong == []


def test_the_worksheet_knows_of_the_grading_only_what_a_check_is() -> None:
    grading = [each for each in imports_in("grader/worksheet") if each.is_in(["grader.grading"])]
    assert grading and listed(each for each in grading if not each.is_in(["grader.grading.check"])) == []


def test_reports_know_of_the_grading_only_what_a_check_and_a_curve_are() -> None:
    grading = [each for each in imports_in("grader/reports") if each.is_in(["grader.grading"])]
    data = ["grader.grading.check", "grader.grading.curves"]
    assert grading and listed(each for each in grading if not each.is_in(data)) == []


# "python -m grader.commands.grade" in a text, and "from grader.core import course" in a script of a test.
NAMED = re.compile(r"\bfrom (grader[\w.]*) import (\w+)|\b(grader(?:\.\w+)+)")
NO_MODULES = ("grader.__file__", "grader.py")
EXAMPLES = ("tests/pure/test_layers.py", "tests/pure/test_mutants.py")


@pytest.mark.parametrize("folder", ["grader", "tests"])
def test_every_module_that_is_named_in_a_string_exists(folder: str) -> None:
    wrong, right = [], 0
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name in EXAMPLES or "node_modules" in name:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            for package, imported, dotted in NAMED.findall(node.value):
                named = dotted or f"{package}.{imported}"
                room = ROOT.joinpath(*named.split(".")[:2])
                if named not in NO_MODULES and not room.is_dir():
                    wrong.append(f"{name}:{node.lineno} names {named}")
                right += 1
    assert wrong == [] and right >= 5


def test_no_imports_go_in_a_circle() -> None:
    modules = {}
    for path in (ROOT / "grader").rglob("*.py"):
        name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        modules[name] = path.relative_to(ROOT).as_posix()
    reached = {
        name: {found for each in imports_of_file(file) for found in (each.name, each.name.rpartition(".")[0])}
        for name, file in modules.items()
        if not any(part in file for part in SUBMISSIONS)
    }
    graph = {name: {other for other in found if other in reached} - {name} for name, found in reached.items()}
    order = [*graphlib.TopologicalSorter(graph).static_order()]  # a circle is an error that names it
    assert order.index("grader.core.course") < order.index("grader.commands.grade")


def test_no_scripts_of_the_pages_import_in_a_circle() -> None:
    scripts = ROOT / "docs" / "assets" / "js"
    graph = {}
    for path in scripts.rglob("*.mjs"):
        names = re.findall(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""", path.read_text("utf-8"))
        graph[path] = {(path.parent / name).resolve() for name in names}
    assert {reached for found in graph.values() for reached in found if reached.is_relative_to(scripts)} <= {*graph}
    order = [*graphlib.TopologicalSorter(graph).static_order()]
    assert order.index(scripts / "core" / "grpo.mjs") < order.index(scripts / "core" / "bandit.mjs")


def test_nothing_in_the_product_imports_its_tests() -> None:
    tests = {"tests", "conftest"} | {file.stem for file in (ROOT / "tests").glob("*/*.py")}
    assert {"test_layers", "command", "bench_soak"} <= tests
    wrong = (each for each in imports_in("grader", "reference", "starter") if each.top in tests)
    assert listed(wrong) == []
