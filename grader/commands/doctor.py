"""`course doctor`: what is different about this machine, and what to do about it.

It reads files and versions and imports no package of the course's dependencies, so that it works where one is missing:
`python -m grader.commands.doctor` works even where the course is not installed.

Left out on purpose: fixing anything by itself, and asking the network.
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
  course doctor --json > doctor.json     to send to your instructor

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
_LONGEST_PATH = 150  # of the course's folder on Windows; names below it need the rest of the 260 characters
_SYNCED = re.compile(r"onedrive|dropbox|google ?drive|icloud|mobile documents|nextcloud|box sync", re.IGNORECASE)
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*])?\s*>=\s*([\d.]+)[^;]*(?:;\s*sys_platform == '(\w+)')?")


@dataclass(frozen=True)
class Finding:
    """Something about this machine that is not as the course expects it.

    Attributes:
        subject: What it is about: "Python", "torch", "starter/kl.py".
        what: What is different.
        todo: What to do.
        command: One command that does it; empty if there is none.
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
    """All that is different, the cause of other things first.

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
    """The findings as text for a terminal; without colour, so that it can be pasted into a mail."""
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
    """Does this Python have the packages of the course?"""
    if not (3, 11) <= version <= (3, 14):
        what = f"this is {version[0]}.{version[1]}, and the course needs 3.11 to 3.14"
        yield Finding("Python", what, "Install one of these, then make a new environment.", "python3.14 -m venv .venv")


def packages(root: Path) -> Iterator[Finding]:
    """Is every package there, in a version that the course was tested with, and the course itself?

    What one command fixes is one finding.
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
            yield Finding("packages", what, "This is not the environment in .venv. Activate that one.", _ACTIVATE)
        else:
            todo = "Make an environment with the course in it; then activate it."
            yield Finding("packages", what, todo, _MAKE_ENVIRONMENT)
    if old:
        what = f"too old: {', '.join(old)}"
        yield Finding("packages", what, "Install the versions that the course was tested with.", _INSTALL)
    if other:
        what = f"not the tested version: {', '.join(other)}"
        todo = "If a result differs from somebody else's, use the tested versions."
        yield Finding("packages", what, todo, _INSTALL, serious=False)


def installation(root: Path, here: Path) -> Iterator[Finding]:
    """Is it this folder that is installed?

    Args:
        root: Folder of the course that is running.
        here: The current folder.
    """
    try:
        address = importlib.metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return  # said by packages
    url = json.loads(address)["url"] if address else ""
    path = unquote(urlsplit(url).path)
    installed = Path(path.lstrip("/") if re.match(r"/[A-Za-z]:", path) else path)
    if url.startswith("file:") and installed.resolve() != root.resolve():
        what = f"`grade` is installed from {installed}, and this course is {root}"
        yield Finding("course", what, "Install it again, in the folder that you work in.", _INSTALL)
    if folder := other_course(here, root):
        what = f"you are in {folder}, but the commands here belong to {root}"
        yield Finding("course", what, "Use one copy, or install the one that you are in.", _INSTALL)


def search_path(variable: str) -> Iterator[Finding]:
    """Does Python search whichever folder one is in, which may be a submission's?

    Args:
        variable: The variable PYTHONPATH.
    """
    if variable and not all(map(os.path.isabs, variable.split(os.pathsep))):
        what = f"{variable!r} names the folder that you are in, by an entry that is empty or no whole path"
        todo = "Take that entry out: with it, Python runs a grader.py that lies beside a submission."
        yield Finding("PYTHONPATH", what, todo)


def command_on_path(path: str, scripts: Path, root: Path) -> Iterator[Finding]:
    """Does `grade` start the grader of this environment?

    Args:
        path: The variable PATH.
        scripts: Where this environment has its commands.
        root: Folder of the course.
    """
    found = shutil.which("grade", path=path)
    if found is not None and Path(found).parent.resolve() == scripts.resolve():
        return
    if found is not None:
        what = f"the command is {found}, but this environment is {scripts.parent}"
        todo = "Activate the environment that you want to use"
    elif shutil.which("grade", path=str(scripts)):
        what, todo = "the command is not on the path", "Activate the environment that the course is installed in"
    else:
        return  # it is not installed, which packages says
    if (root / ".venv").is_dir():
        yield Finding("grade", what, f"{todo}.", _ACTIVATE)
    else:
        yield Finding("grade", what, f"{todo}, or use the longer name.", "python -P -m grader.commands.grade")


def starter_files(root: Path) -> Iterator[Finding]:
    """Are all files of starter/ there, and whole?"""
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
                what = f"missing, but there is {renamed}"
                yield Finding(f"starter/{name}", what, f"If that is your file, rename it to {name}.")
            else:
                yield _to_restore(root, f"starter/{name}", "missing")


def course_files(root: Path) -> Iterator[Finding]:
    """Can the files be read that say what this course needs?"""
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
    """Is the course itself as it was handed out?"""
    path = root / "grader" / "core" / "manifest.json"
    if not path.is_file():
        return  # the instructor's tree: git says what has changed
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
            if not name.startswith("starter/"):  # said by starter_files
                yield _unreadable(name, error)
            continue
        if name.startswith("starter/") and content is None:
            continue  # said by starter_files
        if content is None:
            yield _to_restore(root, name, "missing", serious=name.startswith("grader/"))
        elif hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest() != sha256:
            yield _to_restore(root, name, "not as it was handed out", serious=name.startswith("grader/"))


def _is_checkout(root: Path) -> bool:
    """Whether git can bring a file back: an unpacked zip has no history."""
    return (root / ".git").exists()


def _to_restore(root: Path, name: str, what: str, *, serious: bool = True) -> Finding:
    """A file to bring back."""
    own = name in {f"starter/{exercise.file_name}" for exercise in course.HANDED_OUT}
    keep = "" if own or what == "missing" else " Your own code belongs into the exercises in starter/."
    if keep and name.startswith("starter/given/"):
        keep = " The grader uses its own copy in any case."
    if _is_checkout(root):
        return Finding(name, what, f"Bring the original back.{keep}", f"git checkout -- {name}", serious)
    return Finding(name, what, f"{_FRESH.capitalize()}.{keep}", serious=serious)


def _unreadable(name: str, error: OSError) -> Finding:
    """A file that is there; bringing it back could cost the student's own work."""
    todo = "Give yourself the right to read it, close it in other programs, and look whether the disk is in order."
    return Finding(name, f"cannot be read: {error.strerror}", todo)


def _renamed(path: Path) -> str:
    """The name beside a missing file that a browser or a file manager makes of it; empty if there is none."""
    stem, suffix = map(re.escape, (path.stem, path.suffix))
    pattern = rf"(copy of )?{stem}([ _-]*(\(\d+\)|\d+|\(?copy\)?))*({suffix}|{suffix}\.txt)"
    names = sorted(each.name for each in path.parent.glob("*")) if path.parent.is_dir() else []
    return next((name for name in names if re.fullmatch(pattern, name, re.IGNORECASE)), "")


def place(root: str, *, windows: bool) -> Iterator[Finding]:
    """Does the course lie where its files can be used?

    Args:
        root: Path of its folder.
        windows: Whether this is Windows, where more can go wrong.
    """
    move = "Move the folder, for example to your home folder, and install it there again."
    if _SYNCED.search(root):
        what = f"{root} is kept in step with a cloud, which locks files and puts placeholders in their place"
        yield Finding("folder", what, move, _INSTALL, serious=False)
    if windows and not root.isascii():
        what = f"{root} has letters in it that some libraries cannot open on Windows"
        yield Finding("folder", what, move, _INSTALL, serious=False)
    if windows and len(root) > _LONGEST_PATH:
        what = f"its path has {len(root)} characters, and Windows allows 260 for a file"
        yield Finding("folder", what, move, _INSTALL)


def walls() -> Iterator[Finding]:
    """Which walls does this machine offer?"""
    if missing := missing_walls(1):
        what = f"level 0: your code runs in a process of its own, without {' and '.join(missing)}"
        yield Finding("isolation", what, "Nothing to do for your own code; a mark needs level 1.", serious=False)
    elif (missing := missing_walls(2)) and course.MODEL_ANSWERS.is_dir():  # who grades others, not a student
        what = f"level 1, without the namespaces of level 2: {missing[0]}"
        todo = "Enough for a mark. Debian and Ubuntu have a package."
        yield Finding("isolation", what, todo, "sudo apt install bubblewrap", serious=False)


def isolation_level() -> int:
    """The level that the grader would choose here."""
    return max(level for level in confine.LEVELS if not missing_walls(level))


def second_copies(readable: Iterable[str] = (sysconfig.get_path("stdlib"), "/usr/lib")) -> Iterator[Finding]:
    """Does a copy of the course lie among packages of another interpreter, below folders that workers may read?"""
    for folder in sorted(closed_folders(map(os.path.realpath, readable), map(os.path.realpath, sys.path))):
        if Path(folder, "grader", "exercises").is_dir() or Path(folder).name == "grader":
            what = f"a second copy of the course lies in {folder}; workers of level 1 and 2 cannot read it"
            todo = "Remove it: at level 0 a submission could read the checks there."
            yield Finding("isolation", what, todo, serious=False)


def _requirements(root: Path) -> dict[str, str]:
    """Package to the least version, of those that this system needs."""
    try:
        import tomllib
    except ImportError:  # Python 3.10 or earlier: that is said already
        return {}
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, ValueError, KeyError):  # said by course_files
        return {}
    needed = [found.groups() for found in map(_REQUIREMENT.match, project["dependencies"]) if found]
    return {name: least for name, least, system in needed if system in (None, sys.platform)}


def _tested_versions(root: Path) -> dict[str, str]:
    try:
        text = (root / "constraints.txt").read_text("utf-8", "replace")
    except OSError:  # said by course_files
        return {}
    return dict(re.findall(r"^([\w.-]+)==([\w.!]+)", text, re.MULTILINE))


def _installed_version(name: str) -> str:
    """Empty if it is not there, also where an installation that was stopped left a folder that says no version.

    What is raised then, or returned, is different from Python to Python.
    """
    try:
        return importlib.metadata.version(name) or ""
    except (importlib.metadata.PackageNotFoundError, KeyError, OSError):
        return ""


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])


def main() -> int:
    """Run as `python -m grader.commands.doctor`."""
    parser = argparse.ArgumentParser(prog="course doctor", description="Say what is different about this machine.")
    add_arguments(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
