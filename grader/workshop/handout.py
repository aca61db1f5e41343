"""What a student gets: which files, with which texts, as a folder or a zip that is the same for the same course.

`ROOMS` says which rooms of the grader are for students, `MODULES` which modules of the others; whatever is not named
stays here. The stubs are made from the model answers, so that nothing written into starter/ by hand goes along.

Left out on purpose: the model answers, hidden checks, misconceptions, variants, the commands for instructors, the
tests, and of the site all but the pages that reports name; these become plain Markdown, which is read without a site.
`leak_scan` looks at what was written.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import posixpath
import re
import textwrap
import tomllib
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

from ..core import course
from ..core.text import listed
from ..grading import observations
from ..grading.check import checks_of
from ..grading.points import FILE_NAME as POINTS
from . import mistakes
from .course_lists import facts
from .functions import GIVEN, of_exercises, read_modules
from .page_values import expand
from .rooms import ROOMS
from .stubs import make_stubs

MODULES = (
    "__init__",
    *(f"{name}/**/*" for name, room in ROOMS.items() if room.students),
    *(f"commands/{name}" for name in ("__init__", "course", "doctor", "export", "grade", "hint", "install_torch")),
    *("commands/grade_options", "commands/tip", "commands/watch"),
    *("exercises/__init__", "exercises/*/__init__", "exercises/*/checks"),
)
"""Modules of the grader that students need, without their suffix."""

GRADER = (
    *(f"grader/{module}.py" for module in MODULES),
    *(
        "LICENSE",
        "constraints.txt",
        "grader/core/result.schema.json",
        "grader/core/templates/*.css",  # those of reports; what is for a class lies in a folder
        "grader/core/templates/*.jinja",
        "grader/grading/observations.toml",
        "grader/grading/pytest.ini",
        "grader/worksheet/model_answers.json",
        "grader/exercises/*/*.json",
        "grader/exercises/*/exercise.toml",
    ),
)
"""Everything that grades without a model answer."""

_TEMPLATES = Path(__file__).parent / "handout_files"
_WRITTEN_AS = {
    "README.md": "README.md",
    "Makefile": "Makefile",
    "gitignore": ".gitignore",
    "gitattributes": ".gitattributes",
    "grade.yml": ".github/workflows/grade.yml",
}
MANIFEST = "grader/core/manifest.json"
LIBRARIES = "docs/assets/runs/as-shipped.json"
"""What libraries compute on one batch, for `starter/given/as_shipped.py`."""

_PACKAGE = re.compile(r"grader/(.*/)?__init__\.py$")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
_FOLDED = re.compile(r"^/// details \| ([^\n]+)\n(?: +type:[^\n]*\n)? +attrs: \{id: ([^}]+)}\n(.*?)^///$", re.M | re.S)
_HINT = re.compile(r'^\?\?\? \w+ "([^"\n]+)"\n((?:(?: {4}[^\n]*)?\n)+)', re.MULTILINE)
_PICTURE = re.compile(r"^!\[[^]]*]\([^)]*\)[^\n]*\n\n(?:[A-Z][^\n]*\n(?:[^\n]+\n)*\n?)?", re.MULTILINE)
_LINK = re.compile(r"\[([^]\n]+)\]\(([^):\s]+)\)")
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip can say


def make(*, site: str | None = None, exercises: Sequence[course.Exercise] | None = None) -> dict[str, bytes]:
    """Every file of the handout.

    Args:
        site: Address of the published pages; None puts the pages of the exercises into the handout.
        exercises: Those that are handed out, in the order of the course; None: all of it, the optional ones too.

    Returns:
        Path, from the root of the handout, to content; sorted. Texts have the line end "\n".

    Raises:
        OSError: a file that students need is missing here.
        FileRefused: a model answer cannot be made into a stub, or `course.toml` gives too few points.
    """
    exercises = course.HANDED_OUT if exercises is None else exercises
    names = [each.name for each in exercises]
    modules, stubs = modules_of(names), make_stubs(course.MODEL_ANSWERS)
    files = {f"starter/{name}": text.encode() for name, text in stubs.items() if name in modules}
    given = (f"starter/{name}" for name in modules if name not in stubs)
    record = [LIBRARIES] if f"{GIVEN}/as_shipped.py" in modules else []
    files |= course_files("starter/README.md", *given, *weights_of(names), *record, exercises=names)
    graded_with = {name for each in exercises for name in each.given}
    files |= {f"grader/core/{name}": files[f"starter/{name}"] for name in graded_with}
    files |= course_files(*GRADER, exercises=names) | _points(exercises)
    files |= {} if site else _pages(exercises)
    files |= course_file(site=site, exercises=names)
    files["starter/README.md"] = _first_steps(files, exercises)
    for template, name in _WRITTEN_AS.items():
        text = (_TEMPLATES / template).read_text("utf-8")  # "\r\n" is read as "\n"
        files[name] = (_readme(text, site, exercises) if name == "README.md" else text).encode()
    files["pyproject.toml"] = pyproject(files).encode()
    files[MANIFEST] = _manifest(files, exercises).encode()
    return dict(sorted(files.items()))


def modules_of(exercises: Sequence[str]) -> list[str]:
    """Files of the modules, to write and given, that some exercises need, by their path in `starter/`."""
    modules = read_modules(course.MODEL_ANSWERS, course.STARTER)
    return sorted(modules[name].file_name for name in of_exercises(exercises, modules))


def weights_of(exercises: Sequence[str]) -> list[str]:
    """The files with the weights of models that some exercises need, by their path from the root of the course."""
    paths = course.STARTER.glob(f"{GIVEN}/*.safetensors")
    return [f"starter/{GIVEN}/{path.name}" for path in paths if path.stem in exercises]


def course_files(*patterns: str, exercises: Sequence[str]) -> dict[str, bytes]:
    """Files of the course by their path from its root, texts with the line end "\n", without those of other exercises.

    Raises:
        FileNotFoundError: there is none for a pattern.
    """
    others = [name for name in course.names(drafts=True) if name not in exercises]
    files = {}
    for pattern in patterns:
        paths = sorted(course.ROOT.glob(pattern))
        if not paths:
            raise FileNotFoundError(f"{pattern} is missing in {course.ROOT}")
        named = {path.relative_to(course.ROOT).as_posix(): path for path in paths}
        for name, path in named.items():
            if not any(name.startswith(f"grader/exercises/{other}/") for other in others):
                content = path.read_bytes()
                files[name] = content if path.suffix == ".safetensors" else content.replace(b"\r\n", b"\n")
    return files


def _points(exercises: Sequence[course.Exercise]) -> dict[str, bytes]:
    """What the checks that students have are worth, for each exercise whose total is in `course.toml`."""
    return {
        f"grader/exercises/{each.name}/{POINTS}": json.dumps(
            {check.id: check.points for check in checks_of(each.name, hidden=False)}, indent=1
        ).encode()
        for each in exercises
        if each.points
    }


def course_file(*, site: str | None, exercises: Sequence[str]) -> dict[str, bytes]:
    """`course.toml` for some exercises and the address of the published pages, without what is for instructors."""
    ours = course.WRITTEN
    points = {name: value for name, value in ours.points.items() if name in exercises}
    counted = tuple(name for name in exercises if name not in ours.optional)
    optional = tuple(name for name in exercises if name in ours.optional)
    theirs = replace(
        ours, exercises=counted or optional, optional=optional if counted else (), points=points, site=site or "",
        bonus=tuple(name for name in ours.bonus if name in (*counted, course.WORKSHEET) and {*counted} - {*ours.bonus}),
        logo="",
    )  # fmt: skip
    return {course.FILE.name: f"# What this course is, as it was handed out.\n{theirs}".encode()}


def write_folder(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a folder, which is made if it is missing."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def write_zip(files: Mapping[str, bytes], path: Path, *, folder: str = "", executable: tuple[str, ...] = ()) -> None:
    """Write files as a zip: the same files give the same bytes, on every machine and with every zlib.

    Args:
        files: Path to content.
        path: The zip.
        folder: That all of them lie in.
        executable: Names of files that are run.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(posixpath.join(folder, name), _EARLIEST)
            entry.create_system = 3  # Unix, also on Windows: the mode is kept there only
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(entry, content)


def read(path: Path) -> dict[str, bytes]:
    """The files of a folder, but for git's and an environment's, or of a zip, without the one folder around them.

    Raises:
        OSError: it cannot be read.
        zipfile.BadZipFile: it is no zip.
    """
    if path.is_dir():
        found = {each.relative_to(path).as_posix(): each for each in sorted(path.rglob("*")) if each.is_file()}
        return {name: each.read_bytes() for name, each in found.items() if not name.startswith((".git/", ".venv/"))}
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    folders = {name.partition("/")[0] for name in files}
    if len(folders) == 1 and all("/" in name for name in files):
        files = {name.partition("/")[2]: content for name, content in files.items()}
    return files


def foreign(files: Mapping[str, bytes]) -> list[str]:
    """The files that the course does not hand out, from the grader's folder or in a place of the instructor's."""
    known = {*make(), *make(site="https://example.org/")}
    places = ("grader/", "reference/", "tests/")
    return [name for name in sorted(files) if name.startswith(places) and name not in known]


def digest(content: bytes) -> str:
    """SHA-256 that does not change with the line ends, which git may change."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def _manifest(files: Mapping[str, bytes], exercises: Sequence[course.Exercise]) -> str:
    """The files that students leave as they are, for `course doctor`."""
    own = {f"starter/{exercise.file_name}" for exercise in exercises}
    return json.dumps({name: digest(content) for name, content in sorted(files.items()) if name not in own}, indent=1)


def _project() -> dict[str, Any]:
    return tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))


def pyproject(files: Iterable[str]) -> str:
    """Our pyproject.toml for some of our files: their packages, no tools and no extras.

    A string of JSON is one of TOML, and so is a list of them.
    """
    files, project = {*files}, _project()
    ours, tool = project["project"], project["tool"]["setuptools"]
    packages = sorted(Path(name).parent.as_posix().replace("/", ".") for name in files if _PACKAGE.match(name))
    data = [pattern for pattern in tool["package-data"]["grader"] if fnmatch.filter(files, f"grader/{pattern}")]
    data.append(MANIFEST.removeprefix("grader/"))
    kept = ("name", "version", "description", "readme", "license", "license-files", "requires-python", "dependencies")
    lines = ["[build-system]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in project["build-system"].items()]
    lines += ["", "[project]", *(f"{name} = {json.dumps(ours[name])}" for name in kept)]
    lines += ["", "[project.scripts]", *(f"{name} = {json.dumps(value)}" for name, value in ours["scripts"].items())]
    lines += ["", "[tool.setuptools]", f"packages = {json.dumps(packages)}"]
    lines += ["", "[tool.setuptools.package-data]", f"grader = {json.dumps(data)}", ""]
    return "\n".join(lines)


def _readme(text: str, site: str | None, exercises: Sequence[course.Exercise]) -> str:
    """The README: a line that begins with "$site_only " or "$folder_only " is for one kind of handout."""
    ours, other = ("$site_only ", "$folder_only ") if site else ("$folder_only ", "$site_only ")
    kept = "".join(line.removeprefix(ours) for line in text.splitlines(keepends=True) if not line.startswith(other))
    project, counted = _project()["project"], [each for each in exercises if not each.optional]
    return Template(kept).substitute(
        title=course.TITLE,
        facts="".join(f"\n- **{name}**: {text}" for name, text in facts()),
        first=exercises[0].name,
        files=listed([f"`{each.file_name}`" for each in counted or exercises]),
        optional="".join(
            f" `{each.file_name}` is optional: `grade {each.name}`." for each in exercises if each.optional
        ),
        worksheet=" and, if you did the worksheet, `worksheet.json`" if site and course.WRITTEN.worksheet else "",
        uncounted="" if course.WRITTEN.worksheet else "; this course does not count it",
        site=(site or "").rstrip("/"),
        name=project["name"],
        version=project["version"],
    )


def _first_steps(files: Mapping[str, bytes], exercises: Sequence[course.Exercise]) -> bytes:
    """The README of starter/, which names what this handout has."""
    text = files["starter/README.md"].decode()
    first, *others = [f"`{each.file_name}`" for each in exercises if not each.optional] or ["`kl.py`"]
    text = text.replace("`advantages.py`", first).replace("grade advantages", f"grade {first[1:-4]}")
    optional = [f"`{each.file_name}` is optional." for each in exercises if each.optional]
    steps = " ".join(([f"Go on with {listed(others)}."] if others else []) + optional)
    text = re.sub(r"^3\. .*$", f"3. {steps}" if steps else "3. Hand in.", text, flags=re.MULTILINE)
    programs = re.findall(r"`(run_\w+\.py)`", text)
    kept = [f"`{name}`" for name in programs if f"starter/{name}" in files]
    what = "train with your code: `python -m starter.{}` (from the folder above this one)"
    line = f"| {', '.join(kept)} | {what.format(kept[0][1:-4])} |\n" if kept else ""
    return re.sub(r"^\| `run_.*\n", line, text, flags=re.MULTILINE).encode()


def _pages(exercises: Sequence[course.Exercise]) -> dict[str, bytes]:
    """The pages that reports name, as plain Markdown."""
    texts = {each.page: expand((course.ROOT / each.page).read_text("utf-8")) for each in exercises}
    texts |= {each.mistakes_page: mistakes.make(each.name) for each in exercises}
    texts[observations.PAGE] = mistakes.make_general()
    return {name: plain_page(name, text, texts).encode() for name, text in texts.items()}


def plain_page(page: str, text: str, files: Collection[str]) -> str:
    """A page of the site as Markdown that GitHub and editors show; dead links become words."""
    text = _PICTURE.sub("", FRONT_MATTER.sub("", text))  # a picture goes with the paragraph below, which is about it
    text = _FOLDED.sub(lambda each: _details(each[1], each[3], f' id="{each[2]}"'), text)
    text = _HINT.sub(lambda each: _details(each[1], textwrap.dedent(each[2]), "") + "\n\n", text)

    def words_of_a_dead_link(link: re.Match[str]) -> str:
        path = link[2].partition("#")[0].partition("?")[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        return link[0] if link[2].startswith("#") or target in files else link[1]

    return _LINK.sub(words_of_a_dead_link, text)


def _details(summary: str, body: str, attribute: str) -> str:
    """What opens on a click. Markdown is not read in a summary, so it is HTML there."""
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", re.sub(r"\\([^\w\s])|\\(_)", r"\1\2", summary))
    return f"<details{attribute}>\n<summary>{words}</summary>\n\n{body.strip()}\n\n</details>"
