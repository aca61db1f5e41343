"""`course dev`: writes and checks the files of this repository."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ..core import course
from ..core.arguments import add_names
from ..core.refusal import FileRefused
from ..grading import hypothesis_profile, recorded_answers
from ..sandbox.sandbox import Sandbox
from ..workshop import combinations, new_exercise, oracle_records, write_vectors
from ..workshop.functions import read_modules, stub_files
from ..workshop.generated import holds, shown
from ..workshop.missing import missing
from ..workshop.site_module import site_module
from . import selftest

EXAMPLES = """examples:
  course dev new length_penalty --title "A penalty for length"
                             create a new exercise, as a draft
  course dev check length_penalty
                             list what it lacks before a class can use it
  course dev stubs           write starter/ from the model answers
  course dev stubs --check   check whether starter/ is current
  course dev vectors clip    record how the model answer and the known mistakes answer the worked examples
  course dev golden          write the values that the browser must match: runs of the simulation, the worksheet's table
  course dev selftest        check that every known answer gets its grade
  course dev selftest clip   the same for one exercise
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A subcommand per kind of file."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="dev_command", required=True, metavar="COMMAND")
    for name, (text, run) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name in ("check", "vectors"):
            add_names(command)
        if name in WRITERS:
            command.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")
        command.set_defaults(run=run)
        if name == "vectors":
            how = "record every set of known mistakes again, for one that you rewrote although it answers as before"
            command.add_argument("--anew", action="store_true", help=f"{how}; about ten minutes")
        elif name == "new":
            command.add_argument("name", help="of the exercise and of its module, such as length_penalty")
            command.add_argument("--title", metavar="TEXT", help="what it is about (default: from the name)")
            command.add_argument("--function", default="double", metavar="NAME", help="its first one (default: double)")
        elif name == "selftest":
            selftest.add_arguments(command)


def _new(arguments: argparse.Namespace) -> int:
    """0 made, 1 a command that writes the generated files failed."""
    name: str = arguments.name
    new_exercise.require_new(name)
    title = (arguments.title or "").strip() or name.replace("_", " ").capitalize()
    for path, text in new_exercise.make(name, title=title, function=arguments.function).items():
        file = course.ROOT / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="\n")
        print(f"wrote {path}")
    for command in (["stubs"], ["vectors", name], ["numbers"]):  # each in a process, which sees the new exercise
        print(f"course dev {' '.join(command)}", flush=True)
        program = [sys.executable, "-m", "grader.commands.course", "dev", *command]
        if subprocess.run(program, cwd=course.ROOT, check=False).returncode != 0:
            print(f"stopped: correct what it names, then run it and `course dev check {name}`", file=sys.stderr)
            return 1
    print(f"\n{name} is a draft: it can be graded by its name, and counts nowhere.")
    print(f"  grade {name} --path reference    grades its model answer")
    print(f"  course dev check {name}          says what it still lacks, and how to release it")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    """0 nothing is missing, for a draft nothing that a draft must have; 1 something is."""
    hypothesis_profile.use_profile()
    return max([_check_one(name) for name in arguments.exercises or course.names(drafts=True)])


def _check_one(name: str) -> int:
    draft = course.exercise(name).draft
    title = f"{name} (draft)" if draft else name
    try:
        found = missing(name, read_modules(course.MODEL_ANSWERS, course.STARTER))
    except FileRefused as error:
        print(f"{title}: this must be corrected first:\n- {error}")
        return 1
    needed = [each for each in found if not (draft and each.only_for_release)]
    later = [each for each in found if each not in needed]
    print("\n- ".join([f"{title}: {'this is missing:' if needed else 'nothing is missing'}", *map(str, needed)]))
    if later:
        print("\n- ".join(["before a class is graded with it:", *map(str, later)]))
    elif draft and not needed:
        print(f"to release it, add it to course.toml and run `course dev numbers` and `course dev selftest {name}`")
    return 1 if needed else 0


def _vectors(arguments: argparse.Namespace) -> dict[Path, str]:
    hypothesis_profile.use_profile()
    texts = {}
    with Sandbox.start() as sandbox:
        for name in arguments.exercises or course.names(optional=True):
            folder = course.exercise(name).folder
            vectors = texts[folder / "vectors.json"] = write_vectors.make(name, sandbox.worker)
            if not holds(folder / "vectors.json", vectors):  # the other files are made with it
                if arguments.check:
                    continue
                _write_text(folder / "vectors.json", vectors)
                recorded_answers.load.cache_clear()
            texts[folder / "combinations.json"] = combinations.make(name, anew=arguments.anew)
            texts[oracle_records.path_of(name)] = oracle_records.make(name, sandbox.worker)
            if drawn := write_vectors.make_curves(name, sandbox.worker):
                texts[folder / "curves.json"] = drawn
    return texts


def _write(arguments: argparse.Namespace) -> int:
    """Write the files whose text changed; with `--check` only name them, and 1 if there is one."""
    name: str = arguments.dev_command
    texts = WRITERS[name](arguments)
    stale = [path for path, text in texts.items() if not holds(path, text)]
    for path in stale:
        if not arguments.check:
            _write_text(path, texts[path])
        else:
            print(f"{shown(path)} is stale: run `course dev {name}`")
    if not stale:
        print(f"all that `course dev {name}` writes is current")
    elif name == "vectors" and not arguments.check:
        print(f"next: {' '.join(['course dev selftest', *arguments.exercises])}")
    return 1 if stale and arguments.check else 0


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", newline="\n")
    print(f"{shown(path)} written")


WRITERS: dict[str, Callable[[argparse.Namespace], dict[Path, str]]] = {
    "stubs": lambda _: stub_files(),
    "vectors": _vectors,
    "numbers": lambda _: site_module("course_lists").with_lists(),
    "golden": lambda _: site_module("golden").make(),
    "recordings": lambda _: site_module("recordings").make(),
}
"""Command to the files that it writes."""
COMMANDS = {
    "new": ("create the files of a new exercise, which you can grade at once", _new),
    "check": ("list what an exercise still lacks", _check),
    "stubs": ("write starter/ from the model answers", _write),
    "vectors": ("record the answers to the worked examples", _write),
    "numbers": ("update the site's menus and one of its scripts from course.toml", _write),
    "golden": ("write the values that the browser must match", _write),
    "selftest": ("check that every known answer gets its grade", selftest.run),
    "recordings": ("write the recorded runs for the browser", _write),
}
"""Name to what it does, and the function that does it."""
