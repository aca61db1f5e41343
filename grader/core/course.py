"""The course as data: its exercises, their functions and pages, and where things lie.

Points, hints and visibility of a check are beside the check (`grader/exercises/`); an exercise's total is their sum,
unless `course.toml` gives it another one.

An *optional* exercise is on the site and in the handout, is graded when it is asked for by name, and is in no total. A
folder in `grader/exercises/` that `course.toml` does not name is a *draft*: the same, but with no trace on the site and
in the handout. The points of a *bonus* exercise are added to the total and are not in the maximum.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .course_file import COUNT, TEXT, TEXTS, CourseFile, read_course_file, read_toml
from .refusal import FileRefused
from .text import listed

if TYPE_CHECKING:
    from .result import Result

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "course.toml"
GRADER = ROOT / "grader"
MODEL_ANSWERS = ROOT / "reference"
STARTER = ROOT / "starter"
FOLDERS = GRADER / "exercises"
RUNS = ROOT / "docs" / "assets" / "runs"

WORKSHEET = "worksheet"
"""The one entry of a result that is no exercise."""

CALL_SECONDS = 5.0
"""Time that one call of a student's function may take, without waiting for a processor; the model answers take well
under a millisecond."""

EXERCISE_SECONDS = 60.0
"""Time that student code may take in all checks of one exercise together, counted in the same way."""

GRADING_SECONDS = 500.0
"""Wall-clock time that a whole grading waits for student code. What is not done by then is not graded."""


@dataclass(frozen=True)
class Exercise:
    """One file that the student writes.

    Attributes:
        name: Name of the file, without its suffix, and of the exercise on the command line.
        title: What it is about, in a few words.
        minutes: What it takes a student, roughly.
        functions: The functions to write, as signatures without annotations.
        given: Files that the module needs and that students do not write, from `starter/`; a submission's own are not
            read.
        uses: Function to those of this and earlier exercises that it calls, itself or through others, as
            "exercise.function".
        slow_imports: Modules that the given files make torch import, and that take a second or more in each worker.
        extra_parameters: Keyword-only parameters of the model answers that no check passes, for our own commands.
        short: The title in a menu.
        question: What it answers, for the table of all exercises.
        points: What `course.toml` makes all its checks worth together; 0: as much as they say.
        number: What pages and reports call it, whatever its place in the course; no two have the same.
        optional: Whether it is shown and handed out, but in no total.
        bonus: Whether its points are added to the total without being in the maximum.
        draft: Whether `course.toml` does not name it.
    """

    name: str
    title: str
    minutes: int
    functions: tuple[str, ...]
    given: tuple[str, ...] = ()
    uses: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    slow_imports: tuple[str, ...] = ()
    extra_parameters: tuple[str, ...] = ()
    short: str = ""
    question: str = ""
    points: int = 0
    number: int = 0
    optional: bool = False
    bonus: bool = False
    draft: bool = False

    @property
    def file_name(self) -> str:
        return f"{self.name}.py"

    @property
    def needed_files(self) -> tuple[str, ...]:
        """The file of this exercise, and those of the exercises whose functions it calls."""
        used = (name.split(".")[0] for names in self.uses.values() for name in names)
        return tuple(dict.fromkeys((self.file_name, *(f"{name}.py" for name in used))))

    @property
    def folder(self) -> Path:
        """Where all lies that only this exercise has: checks, misconceptions, variants and what is recorded of them."""
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
    def pages(self) -> tuple[str, ...]:
        """Its pages, from the repository root."""
        return (self.page, self.mistakes_page)

    @property
    def function_names(self) -> tuple[str, ...]:
        return tuple(signature.split("(")[0] for signature in self.functions)

    def signature(self, function: str) -> str:
        """The line that a student reads: `group_advantages(rewards, *, std_eps, divide_by_std)`."""
        return self.functions[self.function_names.index(function)]

    @functools.cache  # noqa: B019 - the exercises live as long as the process
    def parameters(self, function: str) -> tuple[list[str], list[str]]:
        """Names of the positional and of the keyword-only parameters."""
        (definition,) = ast.parse(f"def {self.signature(function)}: ...").body
        assert isinstance(definition, ast.FunctionDef)
        arguments = definition.args
        return [argument.arg for argument in arguments.args], [argument.arg for argument in arguments.kwonlyargs]


def _exercise(
    name: str, *, optional: bool = False, draft: bool = False, bonus: bool = False, points: int = 0
) -> Exercise:
    """The exercise in a folder, from the author's `exercise.toml` and from the model answer."""
    kinds = {"title": TEXT, "short": TEXT, "number": COUNT, "question": TEXT, "minutes": COUNT}
    kinds |= {"slow_imports": TEXTS, "extra_parameters": TEXTS}
    entries = read_toml(FOLDERS / name / "exercise.toml", kinds, optional={"slow_imports", "extra_parameters"})
    written = _functions(name)
    entries |= {key: tuple(value) for key, value in entries.items() if isinstance(value, list)}
    return Exercise(
        name=name,
        functions=tuple(written["functions"]),
        given=tuple(written["given"]),
        uses={function: tuple(used) for function, used in written["uses"].items()},
        points=points,
        optional=optional,
        bonus=bonus,
        draft=draft,
        **entries,
    )


def _functions(name: str) -> dict[str, Any]:
    """What `course dev stubs` read from the model answer; nothing before it has run."""
    path = FOLDERS / name / "functions.json"
    if not path.is_file() and (MODEL_ANSWERS / f"{name}.py").is_file():
        return {"functions": [], "given": [], "uses": {}}
    written: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return written


def _exercises(written: CourseFile) -> tuple[tuple[Exercise, ...], ...]:
    """The exercises that count, in the order of `course.toml`, the optional ones, and the drafts."""
    names = (*written.exercises, *written.optional)
    folders = sorted(path.parent.name for path in FOLDERS.glob("*/exercise.toml"))
    for name in names:
        if name not in folders:
            raise FileRefused(f"{FILE}: there is no exercise {name!r}; there are {', '.join(folders)}")
        if names.count(name) > 1:
            raise FileRefused(f"{FILE}: name the exercise {name!r} once")
    for name in written.points:
        if name not in written.exercises:
            there = f"there are {', '.join(written.exercises)}"
            raise FileRefused(f"{FILE}: there is no entry 'points.{name}'; {there}")
    for name in written.bonus:
        if name not in (*written.exercises, WORKSHEET):
            raise FileRefused(f"{FILE}: bonus: {name!r} is not among `exercises`, and is not {WORKSHEET!r}")
    if {*written.exercises} <= {*written.bonus}:
        raise FileRefused(f"{FILE}: bonus: at least one exercise must not be bonus, because these make up the maximum")
    counted = tuple(
        _exercise(name, bonus=name in written.bonus, points=written.points.get(name, 0)) for name in written.exercises
    )
    optional = tuple(_exercise(name, optional=True) for name in written.optional)
    others = (_exercise(name, draft=True) for name in folders if name not in names)
    drafts = tuple(sorted(others, key=lambda exercise: exercise.number))
    numbers: dict[int, str] = {}
    for exercise in (*counted, *optional, *drafts):
        other = numbers.setdefault(exercise.number, exercise.name)
        if other != exercise.name:
            file = exercise.folder / "exercise.toml"
            raise FileRefused(f"{file}: {other} has the number {exercise.number} already")
    for exercises in (counted, (*counted, *optional)):
        if missing := missing_of(exercises):
            raise FileRefused(f"{FILE}: {missing}")
    return counted, optional, drafts


def missing_of(exercises: Sequence[Exercise]) -> str:
    """What to add to some exercises, in their order, so that each comes after those that it calls; "" for nothing."""
    before: list[str] = []
    for each in exercises:
        before.append(each.file_name)
        if left := [file.rpartition(".")[0] for file in each.needed_files if file not in before]:
            return f"{each.name} calls functions of {listed(left)}: name them before it"
    return ""


try:
    WRITTEN = read_course_file(FILE)
    EXERCISES, OPTIONAL, DRAFTS = _exercises(WRITTEN)
except (FileRefused, OSError) as error:  # a person must repair a file before any command can do anything
    print(error, file=sys.stderr)
    raise SystemExit(2) from None

TITLE = WRITTEN.title
HANDED_OUT = (*EXERCISES, *OPTIONAL)
"""All that students see and get, in the order of the course."""
KNOWN = (*HANDED_OUT, *DRAFTS)
"""All that can be graded, in the order of the course."""


@functools.cache
def given_files() -> Mapping[str, str]:
    """Name to text of every given file that an exercise needs; the name is the path in `starter/`.

    In a handout, where `starter/` is the student's, the grader has a copy of its own.
    """
    folder = GRADER / "core" if (GRADER / "core" / "given").is_dir() else STARTER
    names = {name for exercise in KNOWN for name in exercise.given}
    return {name: (folder / name).read_text("utf-8") for name in sorted(names)}


def page_address(page: str, site: str = "") -> str:
    """Where a student reads a page: on the published site if there is one, else the path from the root of the course.

    Args:
        page: Path from the repository root, with an anchor or without: `docs/exercises/clip/mistakes.md#clip_fraction`.
        site: Address of the site, with a slash at its end, where it is not that of this course.
    """
    site = site or WRITTEN.site
    if not site:
        return page
    path, _, anchor = page.partition("#")
    address = site + path.removeprefix("docs/").removesuffix(".md") + "/"
    return f"{address}#{anchor}" if anchor else address


def where_given(name: str) -> str | None:
    """The module of given code that defines a name, such as `given.bandit_task`; None if there is none."""
    for file_name, text in given_files().items():
        if re.search(rf"^(class|def) {re.escape(name)}\b", text, re.MULTILINE):
            return file_name.removesuffix(".py").replace("/", ".")
    return None


@functools.cache
def given_defaults(name: str) -> Mapping[str, Any]:
    """The fields of a class of given code that have a plain default value, with that value."""
    trees = (ast.parse(text) for text in given_files().values())
    classes = (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {
        field.target.id: field.value.value
        for found in classes
        for field in found.body
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(field.value, ast.Constant)
    }


def file_of(name: str) -> str:
    """The file of the exercise of that name, which need not be here any more."""
    return f"{name}.py"


def exercise(name: str) -> Exercise:
    """The exercise of that name.

    Raises:
        KeyError: there is none.
    """
    return {exercise.name: exercise for exercise in KNOWN}[name]


def runs_code(name: str) -> bool:
    """Whether grading an entry runs code of a submission; the worksheet is only read."""
    return name != WORKSHEET


def lacks_walls(result: Result) -> bool:
    """Whether code of a submission ran without walls: such a result is a self-check, and no mark."""
    return result.isolation_level < 1 and any(runs_code(each.name) for each in result.exercises)


def names(*, optional: bool = False, drafts: bool = False) -> list[str]:
    """Names of the exercises that count, in the order of the course; with the optional ones; with the drafts too."""
    return [exercise.name for exercise in (KNOWN if drafts else HANDED_OUT if optional else EXERCISES)]
