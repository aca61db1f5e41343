"""`course dev new`: make the files of a new exercise, which is graded at once."""

from __future__ import annotations

import argparse
import subprocess
import sys

from ..core import course
from ..workshop.new_exercise import make, require_name, require_new


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev new`."""
    parser.add_argument("name", help="of the exercise and of its module, such as length_penalty")
    parser.add_argument("--title", metavar="TEXT", help="what it is about, in a few words (default: from the name)")
    parser.add_argument("--function", default="double", metavar="NAME", help="its first function (default: double)")


def run(arguments: argparse.Namespace) -> int:
    """`course dev new`: 0 made, 1 a command that writes the generated files failed, 2 the name is refused."""
    name: str = arguments.name
    title = (arguments.title or "").strip() or name.replace("_", " ").capitalize()
    require_new(name)
    require_name(arguments.function, of="a function")
    for path, text in make(name, title=title, function=arguments.function).items():
        file = course.ROOT / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="\n")
        print(f"wrote {path}")
    for command in (["stubs"], ["vectors", name], ["numbers"]):  # they must see the new exercise
        print(f"course dev {' '.join(command)}", flush=True)
        program = [sys.executable, "-m", "grader.commands.course", "dev", *command]
        if subprocess.run(program, cwd=course.ROOT, check=False).returncode != 0:
            print(f"stopped at `course dev {command[0]}`; correct what it names, then run", file=sys.stderr)
            print(f"`course dev vectors {name}` and `course dev numbers`", file=sys.stderr)
            return 1
    print(f"\n{name} is a draft: it can be graded by its name, and counts nowhere.")
    print(f"  grade {name} --path reference    grades its model answer")
    print(f"  course dev check {name}          says what it still lacks, and how to release it")
    return 0
