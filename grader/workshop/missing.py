"""What an exercise still lacks, in sentences: the laws of the course that every exercise keeps.

A draft must only hang together. An exercise that `course.toml` names is what a class is graded with; it must have all.
Left out: whether the checks are right, which `course dev selftest` tries, and whether the generated pages are current,
which their commands say.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import course
from ..core.course import Exercise
from ..grading import vectors
from ..grading.check import Check, checks_of
from .catalogue import Entry, misconceptions, parsed, variants
from .functions import Module, make, of_exercises
from .handout import FRONT_MATTER
from .stubs import make_stub, why_stale

MISCONCEPTIONS, VARIANTS = 15, 12
"""As many as a released exercise has at least."""
PLACEHOLDER = "TODO:"
SECTIONS = ("What it takes", "The idea", "The formula", "By hand", "Your turn", "Hints", "Afterwards", "Sources")
"""Of the page of an exercise."""
_LONGEST_SENTENCE = 160
_PLAIN = ("dict", "list", "tuple", "str", "float", "int", "bool")
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
    if (exercise.folder / "functions.json").read_text("utf-8") != written:
        return [Missing(f"{_in(exercise, 'functions.json')} is not what reference/ says: `course dev stubs`")]
    if not exercise.functions:
        return [Missing(f"reference/{exercise.file_name}: mark the solution of a function, then `course dev stubs`")]
    checks = checks_of(name, hidden=True)
    page = course.ROOT / exercise.page
    found = [*_of_files(exercise, modules[name]), *_of_functions(exercise, checks)]
    for function in exercise.function_names:
        own = [check for check in checks if check.function == function and not check.hidden]
        found += _of_promises(_in(exercise, "checks.py"), modules[name].functions[function], own)
    for check in checks:
        found += _of_a_check(exercise, check, [each.id for each in checks])
    wrong = misconceptions(name)
    found += [*_of_answers(exercise, wrong), *_of_recorded(exercise, wrong)]
    if page.is_file():
        found += [*_of_page(exercise, page.read_text("utf-8"), checks)]
    return found


def left_over(modules: Mapping[str, Module]) -> list[str]:
    """Files of exercises whose folder in `grader/exercises/` is gone, from the repository root.

    Args:
        modules: All files of the model answers by name.
    """
    names = course.names(drafts=True)
    kept = of_exercises(names, modules)
    found = [path for path in sorted(course.MODEL_ANSWERS.glob("[!_]*.py")) if path.stem not in kept]
    found += [path for path in sorted(course.STARTER.rglob("*.py")) if path.stem not in kept]
    found += [path for path in sorted((course.ROOT / "docs/exercises").glob("*.md")) if path.stem not in names]
    return [path.relative_to(course.ROOT).as_posix() for path in found]


def _of_files(exercise: Exercise, module: Module) -> Iterator[Missing]:
    stub = make_stub(module.text, path=Path("reference", exercise.file_name))
    if sentence := why_stale(course.STARTER / exercise.file_name, stub.encode()):
        yield Missing(sentence)
    places = [course.MODEL_ANSWERS / exercise.file_name, course.ROOT / exercise.page, *exercise.folder.rglob("*.*")]
    for path in places:
        if path.suffix in (".py", ".md", ".toml") and path.is_file():
            yield from _of_placeholders(path)
    if not (exercise.folder / "hidden_checks.py").is_file():
        yield Missing(f"{_in(exercise, 'hidden_checks.py')}: add it, with a check against the model answer", True)
    if not (course.ROOT / exercise.page).is_file():
        yield Missing(f"{exercise.page}: write the page", True)


def _of_placeholders(path: Path) -> Iterator[Missing]:
    """What `course dev new` wrote for its author to replace."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if PLACEHOLDER in line:
            what = line.partition(PLACEHOLDER)[2].strip(' "')
            yield Missing(f"{path.relative_to(course.ROOT).as_posix()}, line {number}: {what}", True)


def _of_functions(exercise: Exercise, checks: Sequence[Check]) -> Iterator[Missing]:
    names = course.exercise(exercise.name).function_names
    for function in names:
        gates = [check for check in checks if check.function == function and check.gate]
        if len(gates) != 1:
            count = "no check" if not gates else f"{len(gates)} checks"
            yield Missing(f"{_in(exercise, 'checks.py')}: {function} has {count} with gate=True; it needs exactly one")
        elif not gates[0].examples:
            yield Missing(f"{_in(exercise, 'checks.py')}: give {gates[0].id}, the gate of {function}, an example")
    for kind in ("misconceptions", "variants"):
        for path in sorted((exercise.folder / kind).glob("*.py")):
            for twice in _defined_twice(path):
                yield Missing(f"{_in(exercise, kind)}/{path.name}: {twice} is defined twice; rename one")


def _of_promises(where: str, function: ast.FunctionDef, checks: Sequence[Check]) -> Iterator[Missing]:
    """Whether checks ask for what the signature and the docstring of a function promise.

    Args:
        where: The file of the checks.
        function: As the model answers have it.
        checks: Those of the function that students have.
    """
    name = function.name
    returned = {node.id for node in ast.walk(function.returns or function) if isinstance(node, ast.Name)}
    count = sum(check.dtype for check in checks)
    if not returned <= {*_PLAIN} and count != 1:
        yield Missing(f"{where}: {name} returns tensors; give one of its checks dtype=True, not {count}", True)
    asked = [check for check in checks if check.refuses]
    promised = "Raises:" in (ast.get_docstring(function) or "")
    if len(asked) != promised:
        says = 'says "Raises:"' if promised else 'does not say "Raises:"'
        sentence = f"{name} {says}; give refuses=[...] to {'one' if promised else 'none'} of its checks"
        yield Missing(f"{where}: {sentence}, not {len(asked)}", True)
    for check in asked:
        if "ValueError" not in check.explanation:
            yield Missing(f"{where}: say in the docstring of {check.id} that a ValueError is due", True)


def _of_a_check(exercise: Exercise, check: Check, ids: Sequence[str]) -> Iterator[Missing]:
    where = _in(exercise, "hidden_checks.py" if check.hidden else "checks.py")
    if ids.count(check.id) > 1:
        yield Missing(f"{where}: two checks have the id {check.id}; rename one")
    if not check.title.endswith("."):
        yield Missing(f"{where}: end the first line of the docstring of {check.id} with a period: it is a sentence")
    if not check.explanation:
        yield Missing(f"{where}: say in the docstring of {check.id} why it must hold")
    if check.points < 1:
        yield Missing(f"{where}: {check.id} is worth nothing; give it points", True)
    if not check.hidden and not check.hints:
        yield Missing(f"{where}: give {check.id} a hint: a student may ask for one", True)
    for hint in check.hints:
        if re.search(r"torch\.\w+\(", hint):
            yield Missing(f"{where}: a hint of {check.id} has code; say what to look up instead")
    for need in check.needs:
        if need not in ids:
            yield Missing(f"{where}: {check.id} needs {need}, which is no check of this exercise")


def _of_answers(exercise: Exercise, wrong: Sequence[Entry]) -> Iterator[Missing]:
    """Wrong answers that are known, and right ones."""
    right = variants(exercise.name)
    for what, count, wanted in (
        ("wrong answers in misconceptions/", len(wrong), MISCONCEPTIONS),
        ("right answers in variants/", len(right), VARIANTS),
    ):
        if count < wanted:
            yield Missing(f"{_in(exercise, '')} has {count} of at least {wanted} {what}", True)
    for entry in wrong:
        where = f"{_in(exercise, 'misconceptions')}/{entry.function}.py: {entry.name}"
        if not entry.sentence.startswith("you ") or entry.sentence.endswith("."):
            yield Missing(f'{where}: let the first line go on after "if", as in "you sum ...", without a period')
        if len(entry.sentence) > _LONGEST_SENTENCE:
            yield Missing(f"{where}: the first line has {len(entry.sentence)} characters; {_LONGEST_SENTENCE} fit")
        if not entry.explanation:
            yield Missing(f"{where}: say below the first line what follows from the mistake")


def _of_recorded(exercise: Exercise, wrong: Sequence[Entry]) -> Iterator[Missing]:
    """What `course dev vectors` wrote."""
    command = f"`course dev vectors {exercise.name}`"
    if not (exercise.folder / "vectors.json").is_file():
        yield Missing(f"{_in(exercise, 'vectors.json')} is not written yet: {command}")
        return
    recorded, known = vectors.load(exercise.name)
    for entry in wrong:
        diagnosis = known.get(entry.function, {}).get(entry.name)
        if diagnosis is None or diagnosis.sentence != entry.sentence:
            yield Missing(f"{_in(exercise, 'vectors.json')} does not know {entry.name}, or not its words: {command}")
        elif not any(entry.name in vector.mistakes for group in recorded.values() for vector in group):
            where = f"{_in(exercise, 'checks.py')}: no check catches {entry.name} in a worked example"
            yield Missing(f"{where}; add one to a check of {entry.function} in which it differs from the model answer")


def _of_heading(exercise: Exercise, text: str) -> Iterator[Missing]:
    heading = f"# {exercise.number}. {exercise.title}"
    if not FRONT_MATTER.sub("", text).startswith(f"{heading}\n"):
        yield Missing(f'{exercise.page}: begin it with "{heading}"', exercise.draft)


def _of_page(exercise: Exercise, text: str, checks: Sequence[Check]) -> Iterator[Missing]:
    page = exercise.page
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    yield from _of_heading(exercise, text)
    found = tuple(re.findall(r"^## (.*)$", prose, re.MULTILINE))
    if found != SECTIONS:
        yield Missing(f"{page}: let its sections be {', '.join(SECTIONS)}", True)
        return
    takes = section(prose, "What it takes")
    size = f"of code for {{{{ points {exercise.name} }}}} points ({{{{ functions {exercise.name} }}}})"
    minutes = f"about {{{{ minutes {exercise.name} }}}} minutes"
    wanted = (minutes, size, f"`starter/{exercise.file_name}`", "You need to know")
    for words in (*wanted, "Exercises before this one", "Afterwards you will be able to"):
        if words not in takes:
            yield Missing(f'{page}: say "{words}" in "What it takes"', True)
    for function in exercise.function_names:
        yield from _of_hints(page, section(text, "Hints"), function)
    for symbol in symbols_without_a_row(text):
        yield Missing(f"{page}: the formula has {symbol}, and no row of a table says what it is", True)
    for check in checks:
        for number in _numbers_of_a_gate(check):
            if number not in text:
                yield Missing(
                    f"{page}: compute the worked example by hand; {number} is missing of: {check.title}", True
                )


def _of_hints(page: str, hints: str, function: str) -> Iterator[Missing]:
    _, heading, rest = hints.partition(f"### `{function}`\n")
    own = re.split(r"^### ", rest, flags=re.MULTILINE)[0]
    numbers = re.findall(r'^\?\?\? tip "(\d)\. [^"]+"$', own, re.MULTILINE)
    if not heading or "".join(numbers) not in ("123", "1234"):
        yield Missing(f"{page}: give `{function}` three or four numbered hints", True)
    if re.search(r"torch\.\w+\(|```", own):
        yield Missing(f"{page}: a hint of `{function}` has code; say what to look up instead")


def section(text: str, title: str) -> str:
    """The text of a page below a heading of the second level, without code; empty if there is none."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return re.split(r"^## ", prose.partition(f"## {title}\n")[2], flags=re.MULTILINE)[0]


def symbols_without_a_row(text: str) -> list[str]:
    """Letters of a page's formulas that no table explains: Greek ones, and single Latin ones outside of names."""
    formulas = "\n".join(re.findall(r"^\$\$$(.*?)^\$\$$", section(text, "The formula"), re.MULTILINE | re.DOTALL))
    table = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    named = re.sub(r"\\(text|operatorname|mathrm|begin|end)\{[^}]*\}", " ", formulas)
    greek = {*re.findall(r"\\(pi|rho|theta|varepsilon|beta|eta|delta)\b", named)}
    latin = {*re.findall(r"(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])", named)} - {*"eist"}  # e, and running indices
    missing = {name for name in greek if not re.search(rf"\\{name}\b", table)}
    missing |= {name for name in latin if not re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z])", table)}
    return sorted(missing)


def _numbers_of_a_gate(check: Check) -> list[str]:
    """The results in the title of a worked example that students have."""
    if not check.gate or check.hidden:
        return []
    result = check.title.rsplit("give" if "give" in check.title else "become", 1)[-1]
    return re.findall(r"-?\d+\.\d+", result) or re.findall(r"-?\d+\.\d+", check.title)


def _defined_twice(path: Path) -> list[str]:
    body = parsed(path).body
    counts = Counter(node.name for node in body if isinstance(node, ast.FunctionDef))
    return [name for name, count in counts.items() if count > 1]


def _in(exercise: Exercise, file: str) -> str:
    return f"grader/exercises/{exercise.name}/{file}"
