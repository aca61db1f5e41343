"""`course doctor`: find problems with this machine and say how to fix them.

It reads files and versions and imports none of the course's dependencies, so it works if one is missing:
`python -m grader.commands.doctor` works even if the course is not installed.

On purpose, it fixes nothing by itself and does not use the network.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..core import course
from ..core.served import other_course
from ..sandbox.sandbox import missing_walls
from ..sandbox.worker import confine
from ..sandbox.worker.copies import closed_folders

EXAMPLES = """examples:
  course doctor
  course doctor --json > doctor.json     a file to send to your instructor

exit code: 0 fine, 1 something needs a fix
"""
_INSTALL = "python -m pip install -c constraints.txt -e ."
_MAKE_ENVIRONMENT = (
    rf"py -m venv .venv; .venv\Scripts\{_INSTALL}"
    if sys.platform == "win32"
    else f"python3 -m venv .venv && .venv/bin/{_INSTALL}"
)
_ACTIVATE = r".venv\Scripts\activate" if sys.platform == "win32" else "source .venv/bin/activate"
_FRESH = "copy it from a fresh copy of the course"
_DISTRIBUTION = "grpo-course"
_WITH_WEIGHTS = ("charlm",)
"""Exercises that come with the weights of a model."""
_LONGEST_PATH = 150  # length of the folder's path on Windows; file names in it need the rest of the 260 characters
_SYNCED = re.compile(r"onedrive|dropbox|google ?drive|icloud|mobile documents|nextcloud|box sync", re.IGNORECASE)
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*])?\s*>=\s*([\d.]+)[^;]*(?:;\s*sys_platform == '(\w+)')?")


@dataclass(frozen=True)
class Finding:
    """Something about this machine that the course does not expect.

    Attributes:
        subject: What it is about: "Python", "torch", "starter/kl.py".
        what: What is wrong or different.
        todo: What to do.
        command: One command that does it; empty if no single command does.
        serious: It needs a fix; otherwise it is good to know.
    """

    subject: str
    what: str
    todo: str
    command: str = ""
    serious: bool = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course doctor`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    """`course doctor`: 0 fine, 1 something needs a fix."""
    found = list(findings(course.ROOT))
    if arguments.json:
        print(json.dumps({"level": isolation_level(), "findings": [asdict(each) for each in found]}, indent=1))
    else:
        print(report(found))
    return 1 if any(each.serious for each in found) else 0


def findings(root: Path) -> Iterator[Finding]:
    """All findings, causes before their effects.

    Args:
        root: Folder of the course.
    """
    yield from python_version(sys.version_info[:2])
    yield from packages(root)
    yield from installation(root, Path.cwd())
    yield from search_path(os.environ.get("PYTHONPATH", ""))
    yield from command_on_path(os.environ.get("PATH", ""), Path(sysconfig.get_path("scripts")), root)
    yield from starter_files(root)
    yield from course_files(root)
    yield from changed_files(root)
    yield from place(str(root), windows=sys.platform == "win32")
    yield from walls()
    yield from second_copies()


def report(found: list[Finding]) -> str:
    """The findings as text for a terminal, without color, so that you can paste it into an email."""
    level = isolation_level()
    lines = [f"Python {sys.version.split()[0]}, {sys.platform}, isolation level {level}, {course.ROOT}"]
    for each in found:
        lines.append("")
        lines.append(f"{'to fix' if each.serious else 'to know'}  {each.subject}: {each.what}")
        lines.append(f"         {each.todo}")
        if each.command:
            lines.append(f"         $ {each.command}")
    count = sum(each.serious for each in found)
    lines += ["", f"{count} to fix" if count else "nothing to fix"]
    return "\n".join(lines)


def python_version(version: tuple[int, ...]) -> Iterator[Finding]:
    """Does the course support this version of Python?"""
    if not (3, 11) <= version <= (3, 14):
        what = f"this is {version[0]}.{version[1]}, but the course needs 3.11 to 3.14"
        yield Finding("Python", what, "Install one of these, then make a new environment.", "python3.14 -m venv .venv")


def packages(root: Path) -> Iterator[Finding]:
    """Are the course and its packages installed, in the versions that the course was tested with?

    Problems that the same command fixes form one finding.
    """
    tested = _tested_versions(root)
    missing, old, other = [], [], []
    for name, least in {**_requirements(root), _DISTRIBUTION: "0"}.items():
        version = _installed_version(name)
        if not version:
            missing.append(name)
        elif _number(version) < _number(least):
            old.append(f"{name} {version} (needed: {least} or later)")
        elif name in tested and version.split("+")[0] != tested[name]:
            other.append(f"{name} {version} (tested: {tested[name]})")
    if missing:
        what = f"not installed here: {', '.join(missing)}"
        in_environment = sys.prefix != sys.base_prefix or "CONDA_PREFIX" in os.environ
        if in_environment:
            yield Finding("packages", what, "Install the course into this environment.", _INSTALL)
        elif (root / ".venv").is_dir():
            yield Finding("packages", what, "You are not using the environment in .venv. Activate it.", _ACTIVATE)
        else:
            todo = "Make an environment with the course in it, then activate it."
            yield Finding("packages", what, todo, _MAKE_ENVIRONMENT)
    if old:
        what = f"too old: {', '.join(old)}"
        yield Finding("packages", what, "Install the versions that the course was tested with.", _INSTALL)
    if other:
        what = f"not the tested version: {', '.join(other)}"
        todo = "If your result differs from somebody else's, install the tested versions."
        yield Finding("packages", what, todo, _INSTALL, serious=False)


def installation(root: Path, here: Path) -> Iterator[Finding]:
    """Does the installed command belong to this folder?

    Args:
        root: Folder of the course that is running.
        here: The current folder.
    """
    try:
        address = importlib.metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return  # reported by `packages`
    url = json.loads(address)["url"] if address else ""
    path = unquote(urlsplit(url).path)
    installed = Path(path.lstrip("/") if re.match(r"/[A-Za-z]:", path) else path)
    if url.startswith("file:") and installed.resolve() != root.resolve():
        what = f"`grade` is installed from {installed}, but this course is in {root}"
        yield Finding("course", what, "Install it again from the folder that you work in.", _INSTALL)
    if folder := other_course(here, root):
        what = f"you are in {folder}, but these commands belong to {root}"
        yield Finding("course", what, "Change to that folder, or install the copy that you are in.", _INSTALL)


def search_path(variable: str) -> Iterator[Finding]:
    """Does PYTHONPATH make Python search the current folder, which may be a submission's?

    Args:
        variable: The variable PYTHONPATH.
    """
    if variable and not all(map(os.path.isabs, variable.split(os.pathsep))):
        what = f"{variable!r} makes Python search the current folder, because an entry is empty or not a full path"
        todo = "Remove that entry: with it, Python would run a grader.py that lies next to a submission."
        yield Finding("PYTHONPATH", what, todo)


def command_on_path(path: str, scripts: Path, root: Path) -> Iterator[Finding]:
    """Does `grade` start this environment's grader?

    Args:
        path: The variable PATH.
        scripts: Folder with this environment's commands.
        root: Folder of the course.
    """
    found = shutil.which("grade", path=path)
    if found is not None and Path(found).parent.resolve() == scripts.resolve():
        return
    if found is not None:
        what = f"your shell runs {found}, but this environment is {scripts.parent}"
        todo = "Activate the environment that you want to use"
    elif shutil.which("grade", path=str(scripts)):
        what, todo = "your shell does not find the command", "Activate the environment that the course is installed in"
    else:
        return  # not installed; `packages` reports that
    if (root / ".venv").is_dir():
        yield Finding("grade", what, f"{todo}.", _ACTIVATE)
    else:
        yield Finding("grade", what, f"{todo}, or use the longer name.", "python -P -m grader.commands.grade")


def starter_files(root: Path) -> Iterator[Finding]:
    """Is every file of starter/ present and unchanged?"""
    names = [exercise.file_name for exercise in course.EXERCISES]
    given = sorted({name for exercise in course.HANDED_OUT for name in exercise.given})
    weights = [f"given/{name}.safetensors" for name in _WITH_WEIGHTS if name in course.names(optional=True)]
    for name in (*names, *given, *weights):
        path = root / "starter" / name
        try:
            content = path.read_bytes() if path.is_file() else None
        except OSError as error:
            yield _unreadable(f"starter/{name}", error)
            continue
        if content is None:
            renamed = _renamed(path)
            if renamed:
                what = f"the file is missing, but {renamed} exists"
                yield Finding(f"starter/{name}", what, f"If it is your file, rename it to {name}.")
            else:
                yield _to_restore(root, f"starter/{name}", "missing")


def course_files(root: Path) -> Iterator[Finding]:
    """Are the files that list the course's requirements readable?"""
    for name in ("pyproject.toml", "constraints.txt"):
        try:
            text = (root / name).read_text("utf-8")
            if name == "pyproject.toml" and not re.search(r"^dependencies\b", text, re.MULTILINE):
                raise ValueError
        except FileNotFoundError:
            yield _to_restore(root, name, "missing", serious=True)
        except (OSError, ValueError):
            yield _to_restore(root, name, "damaged", serious=True)


def changed_files(root: Path) -> Iterator[Finding]:
    """Are the course's own files unchanged since the handout?"""
    path = root / "grader" / "core" / "manifest.json"
    if not path.is_file():
        return  # the instructor's copy: git shows what has changed
    try:
        expected = json.loads(path.read_text("utf-8"))
    except OSError as error:
        yield _unreadable("grader/core/manifest.json", error)
        return
    except ValueError:
        expected = None
    if not isinstance(expected, dict):
        yield _to_restore(root, "grader/core/manifest.json", "damaged", serious=True)
        return
    for name, sha256 in expected.items():
        file = root / name
        try:
            content = file.read_bytes() if file.is_file() else None
        except OSError as error:
            if not name.startswith("starter/"):  # reported by `starter_files`
                yield _unreadable(name, error)
            continue
        if name.startswith("starter/") and content is None:
            continue  # reported by `starter_files`
        if content is None:
            yield _to_restore(root, name, "missing", serious=name.startswith("grader/"))
        elif hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest() != sha256:
            yield _to_restore(root, name, "changed since it was handed out", serious=name.startswith("grader/"))


def _is_checkout(root: Path) -> bool:
    """Whether git can bring a file back: an unpacked zip has no history."""
    return (root / ".git").exists()


def _to_restore(root: Path, name: str, what: str, *, serious: bool = True) -> Finding:
    """A missing or changed file to restore."""
    own = name in {f"starter/{exercise.file_name}" for exercise in course.HANDED_OUT}
    keep = "" if own or what == "missing" else " Your own code belongs in the exercises in starter/."
    if keep and name.startswith("starter/given/"):
        keep = " The grader always uses its own copy."
    if _is_checkout(root):
        return Finding(name, what, f"Restore the original.{keep}", f"git checkout -- {name}", serious)
    return Finding(name, what, f"{_FRESH.capitalize()}.{keep}", serious=serious)


def _unreadable(name: str, error: OSError) -> Finding:
    """An unreadable file, which `git checkout` must not replace: it may hold the student's own work."""
    todo = "Give yourself permission to read it, close it in other programs, and check the disk for errors."
    return Finding(name, f"cannot be read: {error.strerror}", todo)


def _renamed(path: Path) -> str:
    """The name under which a browser or file manager saved a missing file; empty if there is none."""
    stem, suffix = map(re.escape, (path.stem, path.suffix))
    pattern = rf"(copy of )?{stem}([ _-]*(\(\d+\)|\d+|\(?copy\)?))*({suffix}|{suffix}\.txt)"
    names = sorted(each.name for each in path.parent.glob("*")) if path.parent.is_dir() else []
    return next((name for name in names if re.fullmatch(pattern, name, re.IGNORECASE)), "")


def place(root: str, *, windows: bool) -> Iterator[Finding]:
    """Is the course in a folder where its files work?

    Args:
        root: Path of its folder.
        windows: Whether this is Windows, which has more restrictions.
    """
    move = "Move the folder, for example to your home folder, and install the course again there."
    if _SYNCED.search(root):
        what = f"{root} is synchronized with a cloud, which locks files and replaces them with placeholders"
        yield Finding("folder", what, move, _INSTALL, serious=False)
    if windows and not root.isascii():
        what = f"{root} contains letters that some libraries cannot open on Windows"
        yield Finding("folder", what, move, _INSTALL, serious=False)
    if windows and len(root) > _LONGEST_PATH:
        what = f"its path has {len(root)} characters, and Windows allows 260 for a whole file path"
        yield Finding("folder", what, move, _INSTALL)


def walls() -> Iterator[Finding]:
    """Which walls does this machine support?"""
    if missing := missing_walls(1):
        what = f"level 0: your code runs in a separate process, without {' and '.join(missing)}"
        yield Finding("isolation", what, "This is enough for your own code; a mark needs level 1.", serious=False)
    elif (missing := missing_walls(2)) and course.MODEL_ANSWERS.is_dir():  # for instructors only
        what = f"level 1, without the namespaces of level 2: {missing[0]}"
        todo = "This is enough for marks. For level 2, Debian and Ubuntu have a package."
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


def _requirements(root: Path) -> dict[str, str]:
    """Package to its lowest supported version, for the packages that this system needs."""
    try:
        import tomllib
    except ImportError:  # Python 3.10 or earlier, which is reported already
        return {}
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, ValueError, KeyError):  # reported by `course_files`
        return {}
    needed = [found.groups() for found in map(_REQUIREMENT.match, project["dependencies"]) if found]
    return {name: least for name, least, system in needed if system in (None, sys.platform)}


def _tested_versions(root: Path) -> dict[str, str]:
    try:
        text = (root / "constraints.txt").read_text("utf-8", "replace")
    except OSError:  # reported by `course_files`
        return {}
    return dict(re.findall(r"^([\w.-]+)==([\w.!]+)", text, re.MULTILINE))


def _installed_version(name: str) -> str:
    """Empty if the package is missing, or if an interrupted installation left a folder without a version.

    In the second case, Python versions differ in what they raise or return.
    """
    try:
        return importlib.metadata.version(name) or ""
    except (importlib.metadata.PackageNotFoundError, KeyError, OSError):
        return ""


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])


def main() -> int:
    """Run as `python -m grader.commands.doctor`."""
    parser = argparse.ArgumentParser(prog="course doctor", description="Find problems with this machine.")
    add_arguments(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
