"""`course doctor`: find problems with this machine and say how to fix them.

It imports none of the course's dependencies, so `python -m grader.commands.doctor` works if one is missing. On purpose,
it fixes nothing by itself and does not use the network.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core import course
from ..sandbox.sandbox import missing_walls
from ..sandbox.worker import confine
from ..sandbox.worker.copies import closed_folders

EXAMPLES = """examples:
  course doctor
  course doctor > doctor.txt     a file to send to your instructor

exit code: 0 fine, 1 something needs a fix
"""
_INSTALL = "python -m pip install -c constraints.txt -e ."
_INSTALL_A_HANDOUT = "python -m pip install -c course/constraints.txt -e ./course"
_ACTIVATE = r".venv\Scripts\activate" if sys.platform == "win32" else "source .venv/bin/activate"
_LONGEST_PATH = 150  # length of the folder's path on Windows; file names in it need the rest of the 260 characters
_SYNCED = re.compile(r"onedrive|dropbox|google ?drive|icloud|mobile documents|nextcloud|box sync", re.IGNORECASE)
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*])?\s*>=\s*([\d.]+)[^;]*(?:;\s*sys_platform == '(\w+)')?")


@dataclass(frozen=True)
class Finding:
    """Something about this machine that the course does not expect; if it is not serious, it is good to know."""

    subject: str
    what: str
    todo: str
    command: str = ""
    serious: bool = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course doctor`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter


def run(arguments: argparse.Namespace) -> int:
    """`course doctor`: 0 fine, 1 something needs a fix."""
    print(f"Python {sys.version.split()[0]}, {sys.platform}, isolation level {isolation_level()}, {course.FOLDER}")
    serious = 0
    for found in findings(course.ROOT):
        serious += found.serious
        print(f"\n{'to fix' if found.serious else 'to know'}  {found.subject}: {found.what}\n         {found.todo}")
        if found.command:
            print(f"         $ {found.command}")
    print(f"\n{serious} to fix" if serious else "\nnothing to fix")
    return 1 if serious else 0


def findings(root: Path) -> Iterator[Finding]:
    """All findings about the course whose grader is in a folder, causes before their effects."""
    folder = course.FOLDER
    for each in (packages(root), shell(), changed_files(folder), location(str(folder)), walls(), second_copies()):
        yield from each


def packages(root: Path) -> Iterator[Finding]:
    """Are the course and its packages installed, in the versions that the course was tested with?"""
    needed = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    least = {name: least for name, least, system in map(_requirement, needed) if system in (None, sys.platform)}
    tested = dict(re.findall(r"^([\w.-]+)==([\w.!]+)", (root / "constraints.txt").read_text("utf-8"), re.MULTILINE))
    install = _INSTALL if root == course.FOLDER else _INSTALL_A_HANDOUT
    installed = {name: _installed_version(name) for name in (*least, "grpo-course")}
    missing = [name for name, version in installed.items() if not version]
    if missing:
        todo = f"Activate the course's environment ({_ACTIVATE}), or install the course into this one."
        yield Finding("packages", f"not installed here: {', '.join(missing)}", todo, install)
    old = [name for name in least if installed[name] and _number(installed[name]) < _number(least[name])]
    if old:
        what = f"too old: {', '.join(f'{name} {installed[name]} (needed: {least[name]} or later)' for name in old)}"
        yield Finding("packages", what, "Install the versions that the course was tested with.", install)
    other = [n for n in least if n in tested and n not in (*missing, *old) and installed[n].split("+")[0] != tested[n]]
    if other:
        what = ", ".join(f"{name} {installed[name]} (tested: {tested[name]})" for name in other)
        todo = "If your result differs from somebody else's, install the tested versions."
        yield Finding("packages", f"not the tested version: {what}", todo, install, serious=False)


def shell() -> Iterator[Finding]:
    """Does the shell start the `grade` of this environment?"""
    found, own = shutil.which("grade"), Path(sysconfig.get_path("scripts"))
    if shutil.which("grade", path=str(own)) and (found is None or Path(found).parent.resolve() != own.resolve()):
        what = f"your shell runs {found or 'no `grade`'}, but this environment is {own.parent}"
        longer = "python -P -m grader.commands.grade"
        yield Finding("grade", what, f"Activate the environment in which the course is installed, or use {longer}.")


def changed_files(folder: Path) -> Iterator[Finding]:
    """Are the files of a handout as they were handed out?"""
    path = folder / "course" / "grader" / "core" / "manifest.json"
    if not path.is_file():
        return  # the instructor's copy: git shows what has changed
    own = {f"starter/{exercise.file_name}" for exercise in course.HANDED_OUT}
    for name, sha256 in {**dict.fromkeys(own), **json.loads(path.read_text("utf-8"))}.items():
        file = folder / name
        if not file.is_file():
            what = "missing"
        elif name in own or hashlib.sha256(file.read_bytes().replace(b"\r\n", b"\n")).hexdigest() == sha256:
            continue
        else:
            what = "changed since it was handed out"
        command = f"git checkout -- {name}" if (folder / ".git").exists() else ""  # an unpacked zip has no history
        serious = name.startswith("course/") or what == "missing"
        yield Finding(name, what, "Restore it from a fresh copy of the course.", command, serious)


def location(root: str, *, windows: bool = sys.platform == "win32") -> Iterator[Finding]:
    """Is the course in a folder where its files work?"""
    move = "Move the folder, for example to your home folder, and install the course again there."
    if _SYNCED.search(root):
        what = f"{root} is synchronized with a cloud, which locks files and replaces them with placeholders"
        yield Finding("folder", what, move, serious=False)
    if windows and (not root.isascii() or len(root) > _LONGEST_PATH):
        what = f"the path {root} has letters that some libraries cannot open, or is too long for Windows"
        yield Finding("folder", what, move)


def walls() -> Iterator[Finding]:
    """Which walls does this machine support?"""
    if missing := missing_walls(1):
        what = f"level 0: your code runs in a separate process, without {' and '.join(missing)}"
        yield Finding("isolation", what, "This is enough for your own code; grades require level 1.", serious=False)
    elif (missing := missing_walls(2)) and course.MODEL_ANSWERS.is_dir():  # for instructors only
        what = f"level 1, without the namespaces of level 2: {missing[0]}"
        todo = "This is enough for grades. For level 2, Debian and Ubuntu have a package."
        yield Finding("isolation", what, todo, "sudo apt install bubblewrap", serious=False)


def isolation_level() -> int:
    """The level that the grader would choose here."""
    return max(level for level in confine.LEVELS if not missing_walls(level))


def second_copies(readable: Iterable[str] = (sysconfig.get_path("stdlib"), "/usr/lib")) -> Iterator[Finding]:
    """Is another copy of the course installed in a folder that workers may read?"""
    for folder in sorted(closed_folders(map(os.path.realpath, readable), map(os.path.realpath, sys.path))):
        if Path(folder, "grader", "exercises").is_dir() or Path(folder).name == "grader":
            what = f"{folder} has a second copy of the course, which workers at levels 1 and 2 cannot read"
            todo = "Remove it, because at level 0 a submission could read the checks in it."
            yield Finding("isolation", what, todo, serious=False)


def _requirement(text: str) -> tuple[str, str, str | None]:
    found = _REQUIREMENT.match(text)
    assert found, text
    return found[1], found[2], found[3]


def _installed_version(name: str) -> str:
    """Empty if the package is missing, or if an interrupted installation left a folder without a version."""
    try:
        return importlib.metadata.version(name) or ""
    except (importlib.metadata.PackageNotFoundError, KeyError, OSError):
        return ""


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])


if __name__ == "__main__":
    sys.exit(run(argparse.Namespace()))
