"""Sentences that say what an exercise lacks.

A draft needs only what makes it gradable. An exercise that `course.toml` names is used to grade a class, so it must be
complete. `course dev selftest` says whether the checks are right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..core import course
from ..core.course import Exercise
from ..core.text import pluralize
from ..grading import recorded_answers
from ..grading.check import Check, checks_of
from .catalogue import KnownAnswer, fair_variants, known_mistakes
from .functions import Module, make
from .generated import FRONT_MATTER, holds
from .stubs import make_stub

KNOWN_MISTAKES, FAIR_VARIANTS = 15, 12
"""As many as a released exercise has at least."""
PLACEHOLDER = "TODO:"
_PLAIN = {"dict", "list", "tuple", "str", "float", "int", "bool"}
"""What a function returns that returns no tensors."""


class Missing(NamedTuple):
    """A missing part: where, what to do, and whether a draft may lack it."""

    sentence: str
    only_for_release: bool = False

    def __str__(self) -> str:
        return self.sentence


def missing(name: str, modules: Mapping[str, Module]) -> list[Missing]:
    """The missing parts, in the order in which to add them; `modules` are all files of the model answers.

    Raises:
        FileRefused: a file must be corrected first.
    """
    exercise = course.exercise(name)
    folder = f"grader/exercises/{name}"
    if not holds(exercise.folder / "functions.json", make(name, modules, without=exercise.extra_parameters)):
        return [Missing(f"{folder}/functions.json is not what reference/ says: `course dev stubs`")]
    if not exercise.functions:
        return [Missing(f"reference/{exercise.file_name}: mark the solution of a function, then `course dev stubs`")]
    checks = checks_of(name, hidden=True)
    found = [*_of_files(exercise, modules[name])]
    for function in exercise.function_names:
        own = [check for check in checks if check.function == function and not check.hidden]
        found += _of_a_function(_checks_file(exercise, function), modules[name].functions[function], own)
    for check in checks:
        file = f"{folder}/hidden_checks.py" if check.hidden else _checks_file(exercise, check.function)
        found += _of_a_check(file, check, [each.id for each in checks])
    found += _of_answers(exercise, folder, known_mistakes(name), checks)
    return [*found, *_of_page(exercise)]


def _checks_file(exercise: Exercise, function: str) -> str:
    """Where the public checks of a function are."""
    file = f"checks/{function}.py" if (exercise.folder / "checks").is_dir() else "checks.py"
    return f"grader/exercises/{exercise.name}/{file}"


def _of_files(exercise: Exercise, module: Module) -> Iterator[Missing]:
    stub = make_stub(module.text, path=Path("reference", exercise.file_name))
    if not holds(course.STARTER / exercise.file_name, stub):
        yield Missing(f"starter/{exercise.file_name} differs from what `course dev stubs` writes")
    paths = [course.MODEL_ANSWERS / exercise.file_name, course.ROOT / exercise.page, *exercise.folder.rglob("*.*")]
    for path in paths:
        if path.suffix in (".py", ".md", ".toml") and path.is_file():
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if PLACEHOLDER in line:  # `course dev new` wrote it for its author to replace
                    what = line.partition(PLACEHOLDER)[2].strip(' "')
                    yield Missing(f"{path.relative_to(course.ROOT).as_posix()}, line {number}: {what}", True)
    if not (exercise.folder / "hidden_checks.py").is_file():
        where = f"grader/exercises/{exercise.name}/hidden_checks.py"
        yield Missing(f"{where}: add it, with a check against the model answer", True)


def _of_a_function(where: str, function: ast.FunctionDef, own: Sequence[Check]) -> Iterator[Missing]:
    """Whether a function has a gate and checks for the promises of its signature and docstring."""
    name, gates = function.name, [check for check in own if check.gate]
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
    promised = "ValueError" in (ast.get_docstring(function) or "")
    if asked != promised:
        says = 'promises a "ValueError"' if promised else 'does not promise a "ValueError"'
        sentence = f"{name} {says}; give refuses=[...] to {'one' if promised else 'none'} of its checks"
        yield Missing(f"{where}: {sentence}, not {asked}", True)


def _of_a_check(where: str, check: Check, ids: Sequence[str]) -> Iterator[Missing]:
    if ids.count(check.id) > 1:
        yield Missing(f"{where}: two checks have the id {check.id}; rename one")
    if not check.explanation:
        yield Missing(f"{where}: say in the docstring of {check.id} why it must hold")
    if check.points < 1:
        yield Missing(f"{where}: {check.id} is worth nothing; give it points", True)
    if not check.hidden and not check.hints:
        yield Missing(f"{where}: give {check.id} a hint: a student may ask for one", True)
    for need in {*check.needs} - {*ids}:
        yield Missing(f"{where}: {check.id} needs {need}, which is no check of this exercise")


def _of_answers(
    exercise: Exercise, folder: str, wrong: Sequence[KnownAnswer], checks: Sequence[Check]
) -> Iterator[Missing]:
    """Missing wrong and right answers, and unrecorded ones."""
    for what, count, wanted in (
        ("wrong answers in known_mistakes/", len(wrong), KNOWN_MISTAKES),
        ("right answers in fair_variants/", len(fair_variants(exercise.name)), FAIR_VARIANTS),
    ):
        if count < wanted:
            yield Missing(f"{folder}/ has {count} of at least {wanted} {what}", True)
    command = f"`course dev vectors {exercise.name}`"
    if not (exercise.folder / "vectors.json").is_file():
        yield Missing(f"{folder}/vectors.json is not written yet: {command}")
        return
    by_check, known = recorded_answers.load(exercise.name)
    for check in checks:
        count, examples = len(by_check.get(check.id, ())), len(check.examples)
        if count != examples:
            what = f"has {pluralize(count, 'recorded answer')} for the {pluralize(examples, 'example')} of {check.id}"
            yield Missing(f"{folder}/vectors.json {what}: {command}")
    caught = {mistake for group in by_check.values() for recorded in group for mistake in recorded.mistakes}
    for entry in wrong:
        where = f"{folder}/known_mistakes/{entry.function}.py: {entry.name}"
        if not entry.sentence.startswith("you ") or entry.sentence.endswith("."):
            yield Missing(f'{where}: let the first line go on after "if", as in "you sum ...", without a period')
        if not entry.explanation:
            yield Missing(f"{where}: say below the first line what follows from the mistake")
        diagnosis = known.get(entry.function, {}).get(entry.name)
        if diagnosis is None or diagnosis.sentence != entry.sentence:
            yield Missing(f"{folder}/vectors.json does not know {entry.name}, or not its words: {command}")
        elif entry.name not in caught:
            where = f"{_checks_file(exercise, entry.function)}: no check catches {entry.name} in a worked example"
            yield Missing(f"{where}; add one to a check of {entry.function} in which it differs from the model answer")


def _of_page(exercise: Exercise) -> Iterator[Missing]:
    path, heading = course.ROOT / exercise.page, f"# Exercise {exercise.number}. {exercise.title}"
    if not path.is_file():
        yield Missing(f"{exercise.page}: write the page", True)
    elif not FRONT_MATTER.sub("", path.read_text("utf-8")).startswith(f"{heading}\n"):
        yield Missing(f'{exercise.page}: begin it with "{heading}"', exercise.draft)
