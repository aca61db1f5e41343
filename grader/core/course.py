"""The course as data: its exercises, their functions and pages, and the paths of its files.

Each check declares its points, hints and visibility (`grader/exercises/`); an exercise's total is the sum, unless
`course.toml` sets another one.

An *optional* exercise is on the site and in the handout, is graded when somebody names it, and is in no total. A folder
in `grader/exercises/` that `course.toml` does not name is a *draft*: optional, and neither on the site nor in the
handout. The points of a *bonus* exercise are added to the total but not to the maximum.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .course_file import COUNT, TEXT, TEXTS, CourseFile, read_course_file, read_toml
from .refusal import FileRefused
from .text import listed

if TYPE_CHECKING:
    from .result import Result

ROOT = Path(__file__).resolve().parents[2]
"""The folder that contains the grader: the repository, or `course/` in a handout."""
_OF_TESTS = ROOT / os.environ.get("COURSE_FILE_OF_TESTS", "course.toml")
"""Tests have a course file of their own, because an instructor edits ours. A handout has neither."""
FILE = _OF_TESTS if _OF_TESTS.is_file() else ROOT / "course.toml"
GRADER = ROOT / "grader"
MODEL_ANSWERS = ROOT / "reference"
FOLDER = ROOT if (ROOT / "starter").is_dir() else ROOT.parent
"""The folder in which people work: the repository, or the handout."""
STARTER = FOLDER / "starter"
FOLDERS = GRADER / "exercises"
RUNS = ROOT / "docs" / "assets" / "runs"

HIDDEN_CHECKS = "further_checks.json"
"""In a handout, in the package `core`: how many checks it lacks, and their points."""
WORKSHEET = "worksheet"
"""The only entry of a result that is not an exercise."""

CALL_SECONDS = 5.0
"""Time that one call of a student's function may take, without waiting for a processor; the model answers take well
under a millisecond."""

EXERCISE_SECONDS = 60.0
"""Time that student code may take in all checks of one exercise together, counted in the same way."""

GRADING_SECONDS = 500.0
"""Wall-clock time that a whole grading waits for student code. Checks that have not finished by then do not run."""


@dataclass(frozen=True)
class Exercise:
    """One file that the student writes."""

    name: str  # of the file, without its suffix, and of the exercise on the command line
    title: str
    minutes: int  # that it takes a student, roughly
    functions: tuple[str, ...]  # to write, as signatures with defaults, without annotations
    given: tuple[str, ...] = ()  # files that it needs, from `starter/`; a submission's own are not read
    # Function to those of this and earlier exercises that it calls, itself or through others: "exercise.function".
    uses: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    slow_imports: tuple[str, ...] = ()  # modules that the given files make torch import, a second or more per worker
    extra_parameters: tuple[str, ...] = ()  # keyword-only ones of the model answers that no check passes
    short: str = ""  # the title in a menu
    question: str = ""  # that it answers, for the table of all exercises
    points: int = 0  # that `course.toml` makes all its checks worth together; 0: as much as they say
    number: int = 0  # on pages and in reports, whatever its place in the course; no two have the same
    optional: bool = False
    bonus: bool = False
    draft: bool = False

    @property
    def file_name(self) -> str:
        return f"{self.name}.py"

    @property
    def needed_files(self) -> tuple[str, ...]:
        """The file of this exercise, and the files of the exercises whose functions it calls."""
        used = (name.split(".")[0] for names in self.uses.values() for name in names)
        return tuple(dict.fromkeys((self.file_name, *(f"{name}.py" for name in used))))

    @property
    def folder(self) -> Path:
        """Holds all that only this exercise has: checks, known mistakes, variants and recorded answers."""
        return FOLDERS / self.name

    @property
    def page(self) -> str:
        """The page to read, from the repository root."""
        return f"docs/exercises/{self.name}.md"

    @property
    def mistakes_page(self) -> str:
        """The page of its common mistakes, from the repository root."""
        return f"docs/exercises/{self.name}/mistakes.md"

    @property
    def functions_page(self) -> str:
        """The page of its functions with their corner cases, from the repository root."""
        return f"docs/exercises/{self.name}/functions.md"

    @property
    def pages(self) -> tuple[str, ...]:
        """Its pages, from the repository root."""
        return (self.page, self.mistakes_page, self.functions_page)

    @property
    def function_names(self) -> tuple[str, ...]:
        return tuple(signature.split("(")[0] for signature in self.functions)

    def signature(self, function: str) -> str:
        """The line that a student reads: `group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True)`."""
        return self.functions[self.function_names.index(function)]

    @functools.cache  # noqa: B019 - the exercises live as long as the process
    def parameters(self, function: str) -> tuple[list[str], list[str]]:
        """Names of the positional and of the keyword-only parameters."""
        (definition,) = ast.parse(f"def {self.signature(function)}: ...").body
        assert isinstance(definition, ast.FunctionDef)
        arguments = definition.args
        return [argument.arg for argument in arguments.args], [argument.arg for argument in arguments.kwonlyargs]


def _exercise(name: str, **entries: Any) -> Exercise:
    """The exercise in a folder, from the author's `exercise.toml`, the model answer, and the entries of the course."""
    kinds = {"title": TEXT, "short": TEXT, "number": COUNT, "question": TEXT, "minutes": COUNT}
    kinds |= {"slow_imports": TEXTS, "extra_parameters": TEXTS}
    entries |= read_toml(FOLDERS / name / "exercise.toml", kinds, optional={"slow_imports", "extra_parameters"})
    # What `course dev stubs` read from the model answer; nothing before it has run.
    path = FOLDERS / name / "functions.json"
    if path.is_file() or not (MODEL_ANSWERS / f"{name}.py").is_file():
        written = json.loads(path.read_text("utf-8"))
        entries |= {key: written[key] for key in ("functions", "given", "uses")}
    uses = {function: tuple(used) for function, used in entries.pop("uses", {}).items()}
    entries |= {key: tuple(value) for key, value in entries.items() if isinstance(value, list)}
    return Exercise(**{"functions": (), **entries}, name=name, uses=uses)


def _exercises(written: CourseFile) -> tuple[tuple[Exercise, ...], ...]:
    """The exercises that count, in the order of `course.toml`, the optional ones, and the drafts."""
    named = (*written.exercises, *written.optional)
    folders = sorted(path.parent.name for path in FOLDERS.glob("*/exercise.toml"))
    for problem in _wrong_names(written, named, folders):
        raise FileRefused(f"{FILE}: {problem}")
    bonus, points = written.bonus, written.points
    counted = tuple(_exercise(name, bonus=name in bonus, points=points.get(name, 0)) for name in written.exercises)
    optional = tuple(_exercise(name, optional=True) for name in written.optional)
    others = (_exercise(name, draft=True) for name in folders if name not in named)
    drafts = tuple(sorted(others, key=lambda exercise: exercise.number))
    numbers: dict[int, str] = {}
    for exercise in (*counted, *optional, *drafts):
        other = numbers.setdefault(exercise.number, exercise.name)
        if other != exercise.name:
            file = exercise.folder / "exercise.toml"
            raise FileRefused(f"{file}: {other} already has the number {exercise.number}")
    for exercises in (counted, (*counted, *optional)):
        if missing := missing_of(exercises):
            raise FileRefused(f"{FILE}: {missing}")
    return counted, optional, drafts


def _wrong_names(written: CourseFile, named: Sequence[str], folders: Sequence[str]) -> Iterator[str]:
    """What is wrong with the names in `course.toml`."""
    for name in named:
        if name not in folders:
            yield f"there is no exercise {name!r}; choose from {', '.join(folders)}"
        if named.count(name) > 1:
            yield f"name the exercise {name!r} only once"
    for name in written.points.keys() - written.exercises:
        yield f"there is no entry 'points.{name}'; there are {', '.join(written.exercises)}"
    for name in {*written.bonus} - {*written.exercises, WORKSHEET}:
        yield f"bonus: {name!r} is neither in `exercises` nor {WORKSHEET!r}"
    if {*written.exercises} <= {*written.bonus}:
        yield "bonus: at least one exercise must not be a bonus, because the others make up the maximum"


def missing_of(exercises: Sequence[Exercise]) -> str:
    """The exercises to name before others that call them, in words; "" if the order is right."""
    before: list[str] = []
    for exercise in exercises:
        before.append(exercise.file_name)
        if missing := [file.removesuffix(".py") for file in exercise.needed_files if file not in before]:
            return f"{exercise.name} calls functions of {listed(missing)}: name them before it"
    return ""


try:
    WRITTEN = read_course_file(FILE)
    EXERCISES, OPTIONAL, DRAFTS = _exercises(WRITTEN)
except (FileRefused, OSError) as error:  # no command works until a person repairs the file
    print(error, file=sys.stderr)
    raise SystemExit(2) from None

TITLE = WRITTEN.title
HANDED_OUT = (*EXERCISES, *OPTIONAL)
"""The exercises that students see and receive, in the order of the course."""
ALL_EXERCISES = (*HANDED_OUT, *DRAFTS)
"""The exercises that can be graded, in the order of the course."""


def is_handout() -> bool:
    """Whether this is a student's copy, which has neither model answers nor oracles."""
    return (GRADER / "core" / "manifest.json").is_file()


@functools.cache
def given_files() -> Mapping[str, str]:
    """Name to text of every given file that an exercise needs; the name is the path in `starter/`.

    In a handout, where `starter/` is the student's, the grader has a copy of its own.
    """
    folder = GRADER / "core" if (GRADER / "core" / "given").is_dir() else STARTER
    names = {name for exercise in ALL_EXERCISES for name in exercise.given}
    return {name: (folder / name).read_text("utf-8") for name in sorted(names)}


def page_address(page: str, site: str = "") -> str:
    """Where a student reads a page: on the published site if there is one, else its path in the folder of the course.

    Args:
        page: Path from the repository root, with an anchor or without: `docs/exercises/clip/mistakes.md#clip_fraction`.
        site: Address of another site than this course's, with a slash at its end.
    """
    site = site or WRITTEN.site
    if not site:
        return f"{ROOT.name}/{page}" if is_handout() else page
    path, _, anchor = page.partition("#")
    address = site + path.removeprefix("docs/").removesuffix(".md") + "/"
    return f"{address}#{anchor}" if anchor else address


@functools.cache
def not_handed_out() -> Mapping[str, tuple[int, int]]:
    """Number and points of the hidden checks that a handout lacks, by "exercise.function"; empty in the repository."""
    file = GRADER / "core" / HIDDEN_CHECKS
    entries = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {name: (count, points) for name, (count, points) in entries.items()}


def where_given(name: str) -> str | None:
    """The module of given code that defines a name, such as `given.bandit_task`; None if there is none."""
    for file_name, text in given_files().items():
        if re.search(rf"^(class|def) {re.escape(name)}\b", text, re.MULTILINE):
            return file_name.removesuffix(".py").replace("/", ".")
    return None


@functools.cache
def given_defaults(name: str) -> Mapping[str, Any]:
    """The fields of a class of given code that have a plain default value, with that value."""
    for node in (node for text in given_files().values() for node in ast.parse(text).body):
        if isinstance(node, ast.ClassDef) and node.name == name:
            fields = [(field.target, field.value) for field in node.body if isinstance(field, ast.AnnAssign)]
            return {ast.unparse(field): value.value for field, value in fields if isinstance(value, ast.Constant)}
    return {}


def file_of(name: str) -> str:
    """The file of an exercise, which the course may no longer have."""
    return f"{name}.py"


def exercise(name: str) -> Exercise:
    """The exercise of that name.

    Raises:
        KeyError: there is no such exercise.
    """
    return {exercise.name: exercise for exercise in ALL_EXERCISES}[name]


def runs_code(name: str) -> bool:
    """Whether grading an entry runs code of a submission; the grader only reads the worksheet."""
    return name != WORKSHEET


def lacks_walls(result: Result) -> bool:
    """Whether a submission's code ran without walls: the result is a self-check, which gives no grade."""
    return result.isolation_level < 1 and any(runs_code(exercise.name) for exercise in result.exercises)


def names(*, optional: bool = False, drafts: bool = False) -> list[str]:
    """Names of the exercises that count, in the order of the course; with the optional ones; with the drafts too."""
    return [exercise.name for exercise in (ALL_EXERCISES if drafts else HANDED_OUT if optional else EXERCISES)]
