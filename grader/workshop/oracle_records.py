"""What a handout has instead of the oracles: recorded answers, and the few functions that are no exercise's answer.

`course dev vectors` grades the model answers with the public checks. Meanwhile it records every call of an oracle by a
check with its answer, and every input of an invariant that asks an oracle. In the handout a lookup replaces the oracle.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.util
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from ..core import course
from ..core.contents import read_submission
from ..core.refusal import FileRefused
from ..grading import hypothesis_compat
from ..grading.check import modules as modules_of
from ..grading.run import grade_submission
from ..grading.settings import GradingSettings
from ..grading.student import Loaded
from ..oracles import recorded

_FOLDER = Path(recorded.__file__).parent
KEPT = {
    "simulation": (
        *("SimulationSettings", "ALGORITHMS", "STD_EPS", "Floats", "log_softmax"),
        *("single_peak", "double_peak", "linear", "steps_until"),
    ),
    "charlm_oracle": ("Settings", "EOS_ID", "Float64", "Ints", "encode", "tiny_lm_logits", "completion_probability"),
    "formulas": ("softmax", "Floats"),
}
"""Definitions that a handout keeps, by module of the oracles: data, tables of rewards, and what torch has anyway."""
_FIXTURES = ("student", "worked", "fresh", "show_curve")


def modules() -> dict[str, str]:
    """File name to text of the oracles' modules of a handout, in which lookups replace the functions."""
    return {f"{name}.py": _with_lookups(name, kept) for name, kept in KEPT.items()}


def _with_lookups(module: str, kept: Sequence[str]) -> str:
    tree = ast.parse((_FOLDER / f"{module}.py").read_text("utf-8"))
    body: list[ast.stmt] = [ast.Expr(ast.Constant("Some of the course's oracles; the others are recorded."))]
    missing = {*kept}
    for statement in tree.body[1:]:
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        if isinstance(statement, ast.ImportFrom) and statement.level and statement.module == "traced":
            continue  # it is not handed out
        names = {each.id for each in getattr(statement, "targets", []) if isinstance(each, ast.Name)}
        names |= {statement.name} if isinstance(statement, ast.FunctionDef | ast.ClassDef) else set()
        if is_import or names & {*kept}:
            body.append(statement)
        missing -= names
    if missing:
        raise FileRefused(f"grader/oracles/{module}.py no longer defines {', '.join(sorted(missing))}; correct KEPT")
    lookups = [f"{name} = recorded({f'{module}.{name}'!r})" for name in _replaced(tree, kept)]
    return "\n".join([ast.unparse(ast.Module(body, [])), "from .recorded import recorded", *lookups, ""])


def _replaced(tree: ast.Module, kept: Sequence[str]) -> list[str]:
    """The public functions of a module that a lookup replaces."""
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in functions if name not in kept and not name.startswith("_")]


def path_of(exercise: str) -> Path:
    """Where the records of an exercise are kept for the next handout."""
    return Path(__file__).parent / "record_files" / f"{exercise}.json"


def make(exercise: str, start: Callable[..., Loaded]) -> str:
    """The text of the records of an exercise. Numbers stay if they agree up to rounding.

    Args:
        exercise: Whose model answer is graded.
        start: Makes an empty worker.

    Raises:
        FileRefused: the model answer does not pass.
    """
    recorder = _Recorder()
    with recorder.listening(exercise):
        model = read_submission(course.MODEL_ANSWERS)
        settings = GradingSettings(model, [exercise], start, hidden=False, second_pass=False, name_mistakes=False)
        if grade_submission(settings).exit_code:
            raise FileRefused(f"the model answers do not pass the public checks of {exercise}")
    found, path = {"answers": recorder.answers, "invariants": recorder.invariants}, path_of(exercise)
    old = json.loads(path.read_text("utf-8")) if path.is_file() else None
    return json.dumps(old if _alike(old, found) else found, separators=(",", ":")) + "\n"


def _alike(old: Any, new: Any) -> bool:
    """Whether two records differ by rounding only."""
    if isinstance(new, float) and isinstance(old, float | int):
        return math.isclose(old, new, rel_tol=1e-8, abs_tol=1e-12) or (math.isnan(old) and math.isnan(new))
    if isinstance(new, dict) and isinstance(old, dict):
        return old.keys() == new.keys() and all(_alike(old[name], each) for name, each in new.items())
    if isinstance(new, list | tuple) and isinstance(old, list):
        return len(old) == len(new) and all(map(_alike, old, new))
    return bool(old == new)


class _Recorder:
    """Listens to the oracles and the invariants while checks run."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.invariants: dict[str, list[dict[str, Any]]] = {}
        self._depth = 0
        self._calls = 0

    @contextlib.contextmanager
    def listening(self, exercise: str) -> Iterator[None]:
        """Put the listener around every oracle that checks can reach, and around every invariant."""
        names = dict.fromkeys([f"grader.exercises.{exercise}.checks", *modules_of(exercise, hidden=False)])
        with contextlib.ExitStack() as stack:
            stack.enter_context(_changed(recorded, "records", lambda: recorded.Records({"recording": None}, {})))
            oracles = {}
            for module_name, kept in KEPT.items():
                module = importlib.import_module(f"grader.oracles.{module_name}")
                for name in _replaced(ast.parse((_FOLDER / f"{module_name}.py").read_text("utf-8")), kept):
                    original = getattr(module, name)
                    oracles[original] = self._oracle(f"{module_name}.{name}", original)
                    stack.enter_context(_changed(module, name, oracles[original]))
            for checks in map(importlib.import_module, names):
                for name, value in [*vars(checks).items()]:
                    if isinstance(value, FunctionType) and value in oracles:
                        stack.enter_context(_changed(checks, name, oracles[value]))
                    elif name == "records":
                        stack.enter_context(_changed(checks, name, recorded.records))
                    elif hasattr(value, "check") and hasattr(value, "hypothesis"):
                        invariant = self._invariant(value.check.id, hypothesis_compat.inner_test(value))
                        stack.enter_context(_changed(value.hypothesis, "inner_test", invariant))
                assert checks.__spec__ and checks.__spec__.loader
                copy = importlib.util.module_from_spec(checks.__spec__)  # its constants ask oracles, too
                checks.__spec__.loader.exec_module(copy)
            yield

    def _oracle(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def listened(*arguments: Any, **options: Any) -> Any:
            key = "" if self._depth else recorded.key(name, arguments, options)
            self._depth += 1
            try:
                answer = original(*arguments, **options)
            finally:
                self._depth -= 1
            if key:
                self.answers[key] = json.loads(json.dumps(recorded.encode(answer)))
                self._calls += 1
            return answer

        return listened

    def _invariant(self, check: str, invariant: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(invariant)
        def listened(**given: Any) -> None:
            before, inputs = self._calls, {name: each for name, each in given.items() if name not in _FIXTURES}
            try:
                encoded = {name: recorded.encode(each, exact=True) for name, each in inputs.items()}
            except TypeError:
                encoded = {}
            invariant(**given)
            if self._calls > before:
                self.invariants.setdefault(check, []).append(json.loads(json.dumps(encoded)))

        return listened


@contextlib.contextmanager
def _changed(owner: Any, name: str, value: Any) -> Iterator[None]:
    """An attribute has another value for a while."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
