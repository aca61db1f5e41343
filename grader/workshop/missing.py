"""What an exercise still lacks, in sentences.

A draft must only hang together. An exercise that `course.toml` names is what a class is graded with; it must have all.
`course dev selftest` says whether the checks are right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import course
from ..core.course import Exercise
from ..grading import vectors
from ..grading.check import Check, checks_of
from .catalogue import Entry, misconceptions, variants
from .functions import Module, make, of_exercises
from .generated import holds
from .handout import FRONT_MATTER
from .stubs import make_stub

MISCONCEPTIONS, VARIANTS = 15, 12
"""As many as a released exercise has at least."""
PLACEHOLDER = "TODO:"
SECTIONS = ("What it takes", "The idea", "The formula", "By hand", "Your turn", "Hints", "Afterwards", "Sources")
"""Of the page of an exercise."""
_PLAIN = {"dict", "list", "tuple", "str", "float", "int", "bool"}
"""What a function returns that returns no tensors."""


@dataclass(frozen=True)
class Missing:
    """One thing that is missing.

    Attributes:
        sentence: Where it is missing, and what to do.
        only_for_release: Whether a draft may do without.
    """

    sentence: str
    only_for_release: bool = False

    def __str__(self) -> str:
        return self.sentence


def missing(name: str, modules: Mapping[str, Module]) -> list[Missing]:
    """What an exercise lacks, in the order in which it is best added.

    Args:
        name: Of the exercise.
        modules: All files of the model answers by name.

    Raises:
        FileRefused: a file must be corrected before the others can be looked at.
    """
    exercise = course.exercise(name)
    written = make(name, modules, without=exercise.extra_parameters)
    if not holds(exercise.folder / "functions.json", written):
        return [Missing(f"{_in(exercise, 'functions.json')} is not what reference/ says: `course dev stubs`")]
    if not exercise.functions:
        return [Missing(f"reference/{exercise.file_name}: mark the solution of a function, then `course dev stubs`")]
    checks = checks_of(name, hidden=True)
    found = [*_of_files(exercise, modules[name])]
    for function in exercise.function_names:
        found += _of_a_function(exercise, modules[name].functions[function], checks)
    for check in checks:
        found += _of_a_check(exercise, check, [each.id for each in checks])
    found += _of_answers(exercise, misconceptions(name))
    return [*found, *_of_page(exercise)]


def left_over(modules: Mapping[str, Module]) -> list[str]:
    """Files of exercises whose folder in `grader/exercises/` is gone, from the repository root.

    Args:
        modules: All files of the model answers by name.
    """
    names = course.names(drafts=True)
    kept = of_exercises(names, modules)
    found = [path for path in sorted(course.MODEL_ANSWERS.glob("[!_]*.py")) if path.stem not in kept]
    found += [path for path in sorted(course.STARTER.rglob("*.py")) if path.stem not in kept]
    pages = sorted((course.ROOT / "docs/exercises").rglob("*.md"))
    found += [path for path in pages if {path.stem, path.parent.name}.isdisjoint(names)]
    return [path.relative_to(course.ROOT).as_posix() for path in found]


def _of_files(exercise: Exercise, module: Module) -> Iterator[Missing]:
    stub = make_stub(module.text, path=Path("reference", exercise.file_name))
    if not holds(course.STARTER / exercise.file_name, stub):
        yield Missing(f"starter/{exercise.file_name} differs from what `course dev stubs` writes")
    places = [course.MODEL_ANSWERS / exercise.file_name, course.ROOT / exercise.page, *exercise.folder.rglob("*.*")]
    for path in places:
        if path.suffix in (".py", ".md", ".toml") and path.is_file():
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if PLACEHOLDER in line:  # `course dev new` wrote it for its author to replace
                    what = line.partition(PLACEHOLDER)[2].strip(' "')
                    yield Missing(f"{path.relative_to(course.ROOT).as_posix()}, line {number}: {what}", True)
    if not (exercise.folder / "hidden_checks.py").is_file():
        yield Missing(f"{_in(exercise, 'hidden_checks.py')}: add it, with a check against the model answer", True)


def _of_a_function(exercise: Exercise, function: ast.FunctionDef, checks: Sequence[Check]) -> Iterator[Missing]:
    """Whether a function has a gate, and checks ask for what its signature and docstring promise."""
    where, name = _in(exercise, "checks.py"), function.name
    own = [check for check in checks if check.function == name and not check.hidden]
    gates = [check for check in own if check.gate]
    if len(gates) != 1:
        count = f"{len(gates)} checks" if gates else "no check"
        yield Missing(f"{where}: {name} has {count} with gate=True; it needs exactly one")
    elif not gates[0].examples:
        yield Missing(f"{where}: give {gates[0].id}, the gate of {name}, an example")
    returned = {node.id for node in ast.walk(function.returns or function) if isinstance(node, ast.Name)}
    count_of_dtype = sum(check.dtype for check in own)
    if not returned <= _PLAIN and count_of_dtype != 1:
        yield Missing(f"{where}: {name} returns tensors; give one of its checks dtype=True, not {count_of_dtype}", True)
    asked = sum(bool(check.refuses) for check in own)
    promised = "Raises:" in (ast.get_docstring(function) or "")
    if asked != promised:
        says = 'says "Raises:"' if promised else 'does not say "Raises:"'
        sentence = f"{name} {says}; give refuses=[...] to {'one' if promised else 'none'} of its checks"
        yield Missing(f"{where}: {sentence}, not {asked}", True)


def _of_a_check(exercise: Exercise, check: Check, ids: Sequence[str]) -> Iterator[Missing]:
    where = _in(exercise, "hidden_checks.py" if check.hidden else "checks.py")
    if ids.count(check.id) > 1:
        yield Missing(f"{where}: two checks have the id {check.id}; rename one")
    if not check.explanation:
        yield Missing(f"{where}: say in the docstring of {check.id} why it must hold")
    if check.points < 1:
        yield Missing(f"{where}: {check.id} is worth nothing; give it points", True)
    if not check.hidden and not check.hints:
        yield Missing(f"{where}: give {check.id} a hint: a student may ask for one", True)
    for need in check.needs:
        if need not in ids:
            yield Missing(f"{where}: {check.id} needs {need}, which is no check of this exercise")


def _of_answers(exercise: Exercise, wrong: Sequence[Entry]) -> Iterator[Missing]:
    """Wrong answers that are known and recorded, and right ones."""
    for what, count, wanted in (
        ("wrong answers in misconceptions/", len(wrong), MISCONCEPTIONS),
        ("right answers in variants/", len(variants(exercise.name)), VARIANTS),
    ):
        if count < wanted:
            yield Missing(f"{_in(exercise, '')} has {count} of at least {wanted} {what}", True)
    command = f"`course dev vectors {exercise.name}`"
    if not (exercise.folder / "vectors.json").is_file():
        yield Missing(f"{_in(exercise, 'vectors.json')} is not written yet: {command}")
        return
    recorded, known = vectors.load(exercise.name)
    for entry in wrong:
        where = f"{_in(exercise, 'misconceptions')}/{entry.function}.py: {entry.name}"
        if not entry.sentence.startswith("you ") or entry.sentence.endswith("."):
            yield Missing(f'{where}: let the first line go on after "if", as in "you sum ...", without a period')
        if not entry.explanation:
            yield Missing(f"{where}: say below the first line what follows from the mistake")
        diagnosis = known.get(entry.function, {}).get(entry.name)
        if diagnosis is None or diagnosis.sentence != entry.sentence:
            yield Missing(f"{_in(exercise, 'vectors.json')} does not know {entry.name}, or not its words: {command}")
        elif not any(entry.name in vector.mistakes for group in recorded.values() for vector in group):
            where = f"{_in(exercise, 'checks.py')}: no check catches {entry.name} in a worked example"
            yield Missing(f"{where}; add one to a check of {entry.function} in which it differs from the model answer")


def _of_page(exercise: Exercise) -> Iterator[Missing]:
    path = course.ROOT / exercise.page
    if not path.is_file():
        yield Missing(f"{exercise.page}: write the page", True)
        return
    text = path.read_text("utf-8")
    heading = f"# Exercise {exercise.number}. {exercise.title}"
    if not FRONT_MATTER.sub("", text).startswith(f"{heading}\n"):
        yield Missing(f'{exercise.page}: begin it with "{heading}"', exercise.draft)
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    if tuple(re.findall(r"^## (.*)$", prose, re.MULTILINE)) != SECTIONS:
        yield Missing(f"{exercise.page}: let its sections be {', '.join(SECTIONS)}", True)


def _in(exercise: Exercise, file: str) -> str:
    return f"grader/exercises/{exercise.name}/{file}"
