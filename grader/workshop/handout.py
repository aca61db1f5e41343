"""The handout: which files students get, as a folder or a zip that is reproducible for one course.

`PACKAGES` names the packages of the grader that students get, `MODULES` single modules of other packages. Nothing else
is handed out. The stubs are made from the model answers, so edits of starter/ are not included.

Left out on purpose: model answers, hidden checks, known mistakes, variants, commands for instructors, tests, and all
pages of the site except those that reports name. These become plain Markdown, readable without a site. `leak_scan`
examines the result.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..core import course
from ..core.text import listed
from ..grading.check import checks_of
from ..grading.points import FILE_NAME as POINTS
from ..oracles import recorded
from . import notebooks, oracle_records
from .functions import GIVEN, of_exercises, read_modules
from .generated import render
from .site_module import site_module
from .stubs import make_stubs

PACKAGES = ("core", "sandbox", "oracles", "grading", "worksheet", "reports")
MODULES = (
    "__init__",
    *(f"{name}/**/*" for name in PACKAGES),
    *(f"commands/{name}" for name in ("__init__", "course", "doctor", "grade", "hint", "install_torch")),
    *(
        "commands/grade_options",
        "commands/watch",
        "commands/grade_apart",
        "commands/notebook_check",
        "commands/pytest_checks",
    ),
    *("exercises/__init__", "exercises/*/__init__"),
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
        "grader/grading/meanings.toml",
        "grader/grading/pytest.ini",
        "grader/worksheet/model_answers.json",
        "grader/exercises/*/checks*",
        "grader/exercises/*/*.json",
        "grader/exercises/*/exercise.toml",
    ),
)
"""Everything that grades without a model answer."""

_TEMPLATES = Path(__file__).parent / "handout_files"
_WRITTEN_AS = {
    "Makefile": "Makefile",
    "gitignore": ".gitignore",
    "gitattributes": ".gitattributes",
    "grade.yml": ".github/workflows/grade.yml",
    "conftest": "conftest.py",
    "pytest.ini": "pytest.ini",
    "vscode_settings.json": ".vscode/settings.json",
    "vscode_extensions.json": ".vscode/extensions.json",
    "course.md": "course/README.md",
}
STAYS = (
    *("grader/oracles/in_torch.py", "grader/oracles/traced.py"),  # answers that could be pasted into the stubs
    *("grader/reports/classroom50.py", "grader/reports/gradescope.py"),
    "grader/core/result.schema.json",
)
"""Files with which a class is graded, which students do not need."""
FOLDER = "course"
"""The folder of the grader in a handout: one package to install, and nothing to read."""
MANIFEST = f"{FOLDER}/grader/core/manifest.json"
OLDER_MANIFEST = "grader/core/manifest.json"
"""Where it was when a handout had the grader at its top."""
LIBRARIES = "docs/assets/runs/as-shipped.json"
"""What libraries compute on one batch, for `starter/given/as_shipped.py`."""

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip can say


def make(*, site: str | None = None, exercises: Sequence[course.Exercise] | None = None) -> dict[str, bytes]:
    """Every file of the handout, by its path; sorted. Texts have the line end "\\n".

    Args:
        site: Address of the published pages; None puts the pages of the exercises into the handout.
        exercises: Exercises to hand out, in the order of the course; None for all, including optional ones.

    Raises:
        OSError: a file that students need is missing.
        FileRefused: a model answer cannot be made into a stub, or `course.toml` gives too few points.
    """
    exercises = course.HANDED_OUT if exercises is None else exercises
    names = [each.name for each in exercises]
    modules, stubs = modules_of(names), make_stubs(course.MODEL_ANSWERS)
    files = {f"starter/{name}": text.encode() for name, text in stubs.items() if name in modules}
    files |= _notebooks(exercises, stubs, site)
    given = (f"starter/{name}" for name in modules if name not in stubs)
    record = [LIBRARIES] if f"{GIVEN}/as_shipped.py" in modules else []
    files |= course_files(*given, *weights_of(names), exercises=names)
    graded_with = {name for each in exercises for name in each.given}
    grader = {f"grader/core/{name}": files[f"starter/{name}"] for name in graded_with}
    grader |= course_files(*GRADER, exercises=names) | _points(exercises)
    grader |= _hidden_checks(exercises) | _without_oracles(exercises)
    grader |= course_files(*record, exercises=names) | ({} if site else _pages(exercises))
    grader |= course_file(site=site, exercises=names) | {"pyproject.toml": pyproject().encode()}
    files |= {f"{FOLDER}/{name}": content for name, content in grader.items() if name not in STAYS}
    programs = [name.removesuffix(".py") for name in modules if name.startswith("run_")]
    for template, name in _WRITTEN_AS.items():
        files[name] = (_TEMPLATES / template).read_text("utf-8").encode()  # "\r\n" is read as "\n"
    files["README.md"] = _readme(site or "", exercises, programs).encode()
    own = {f"starter/{exercise.name}{ending}" for exercise in exercises for ending in (".py", ".ipynb")}
    digests = {name: digest(content) for name, content in sorted(files.items()) if name not in own}
    files[MANIFEST] = json.dumps(digests, indent=1).encode()
    return dict(sorted(files.items()))


def _without_oracles(exercises: Sequence[course.Exercise]) -> dict[str, bytes]:
    """Recorded answers in place of the oracles, which could be pasted into the stubs."""
    texts = {f"grader/oracles/{name}": text for name, text in oracle_records.modules().items()}
    for each in exercises:
        path = oracle_records.path_of(each.name)
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; run `course dev vectors {each.name}`")
        texts[f"grader/exercises/{each.name}/{recorded.FILE_NAME}"] = path.read_text("utf-8")
    return {name: text.encode() for name, text in texts.items()}


def modules_of(exercises: Sequence[str]) -> list[str]:
    """Files of all modules that some exercises need, both to write and given, by path in `starter/`."""
    modules = read_modules(course.MODEL_ANSWERS, course.STARTER)
    return sorted(modules[name].file_name for name in of_exercises(exercises, modules))


def weights_of(exercises: Sequence[str]) -> list[str]:
    """Weight files that some exercises need, by path from the root of the course."""
    paths = course.STARTER.glob(f"{GIVEN}/*.safetensors")
    return [f"starter/{GIVEN}/{path.name}" for path in paths if path.stem in exercises]


def course_files(*patterns: str, exercises: Sequence[str]) -> dict[str, bytes]:
    """Files of the course by their path from its root, texts with the line end "\n", without those of other exercises.

    A pattern that finds a folder stands for its Python files.

    Raises:
        FileNotFoundError: there is none for a pattern.
    """
    others = [name for name in course.names(drafts=True) if name not in exercises]
    files = {}
    for pattern in patterns:
        found = sorted(course.ROOT.glob(pattern))
        paths = [path for each in found for path in (sorted(each.rglob("*.py")) if each.is_dir() else [each])]
        if not paths:
            raise FileNotFoundError(f"{pattern} is missing in {course.ROOT}")
        named = {path.relative_to(course.ROOT).as_posix(): path for path in paths}
        for name, path in named.items():
            if not any(name.startswith(f"grader/exercises/{other}/") for other in others):
                content = path.read_bytes()
                files[name] = content if path.suffix == ".safetensors" else content.replace(b"\r\n", b"\n")
    return files


def _hidden_checks(exercises: Sequence[course.Exercise]) -> dict[str, bytes]:
    """Number and points of each function's hidden checks, so that full points at home do not look like all points."""
    counts: dict[str, tuple[int, int]] = {}
    for each in exercises if course.WRITTEN.hidden_checks else ():
        for check in checks_of(each.name, hidden=True):
            if check.hidden:
                name = f"{each.name}.{check.function}"
                count, points = counts.get(name, (0, 0))
                counts[name] = count + 1, points + check.points
    return {f"grader/core/{course.HIDDEN_CHECKS}": json.dumps(counts, indent=1).encode()}


def _points(exercises: Sequence[course.Exercise]) -> dict[str, bytes]:
    """Points of the public checks, per exercise whose total is in `course.toml`."""
    return {
        f"grader/exercises/{each.name}/{POINTS}": json.dumps(
            {check.id: check.points for check in checks_of(each.name, hidden=False)}, indent=1
        ).encode()
        for each in exercises
        if each.points
    }


def course_file(*, site: str | None, exercises: Sequence[str]) -> dict[str, bytes]:
    """`course.toml` for some exercises, with the site's address and without settings for instructors."""
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
    """Write files into a folder, creating it if necessary."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def renew(folder: Path, files: Mapping[str, bytes]) -> tuple[list[str], list[str], list[str]]:
    """Write a newer handout over an older one, except the modules that students write.

    The manifest is written last, so after an interruption a second call finishes the work.

    Returns:
        The files that were written, obsolete files that were removed, and the modules that stayed.

    Raises:
        OSError: a file cannot be read, written or removed.
        ValueError: the manifest of the older handout is damaged.
    """
    manifest = manifest_of(folder)
    given = {**json.loads((folder / manifest).read_text("utf-8")), manifest: ""}
    own = files.keys() - json.loads(files[MANIFEST]).keys() - {MANIFEST}
    kept = sorted(name for name in own if (folder / name).is_file())
    current = {
        name
        for name, content in files.items()
        if (folder / name).is_file() and digest((folder / name).read_bytes()) == digest(content)
    }
    written = sorted(files.keys() - current - {*kept}, key=lambda name: (name == MANIFEST, name))
    removed = sorted(name for name in given.keys() - files.keys() if (folder / name).is_file())
    for name in removed:
        (folder / name).unlink()
    write_folder({name: files[name] for name in written}, folder)
    return written, removed, kept


def manifest_of(folder: Path) -> str:
    """The manifest of a handout, of an older layout too; "" if the folder is not a handout."""
    return next((name for name in (MANIFEST, OLDER_MANIFEST) if (folder / name).is_file()), "")


def write_zip(files: Mapping[str, bytes], path: Path, *, folder: str = "", executable: tuple[str, ...] = ()) -> None:
    """Write files as a zip with one folder. The same files give the same bytes, with every zlib."""
    part = path.with_name(f"{path.name}.part")  # renamed when complete, so that nobody uploads half a file
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for name, content in sorted(files.items()):
                entry = zipfile.ZipInfo(posixpath.join(folder, name), _EARLIEST)
                entry.create_system = 3  # Unix, also on Windows: the mode is kept there only
                entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
                archive.writestr(entry, content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: Path) -> dict[str, bytes]:
    """The files of a folder, without git's files and virtual environments, or of a zip, without its one folder."""
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
    """Files that must not be handed out: unlisted files of the grader, and files in instructors' folders."""
    known = {*make(), *make(site="https://example.org/")}
    folders = (f"{FOLDER}/", "grader/", "reference/", "tests/")
    return [name for name in sorted(files) if name.startswith(folders) and name not in known]


def digest(content: bytes) -> str:
    """SHA-256 that ignores line ends, because git may change them."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def pyproject() -> str:
    """Our pyproject.toml without tools, and with the extras that given programs need."""
    text = (course.ROOT / "pyproject.toml").read_text("utf-8")
    head = "[project.optional-dependencies]\n"
    before, after = text.index(head), text.index("[project.scripts]")
    extras = re.findall(r"^(?:llm|trl) = .*\n", text[before:after], re.MULTILINE)
    return f"{text[:before]}{head}{''.join(extras)}\n{text[after : text.index('[tool.pytest')]}"


def _notebooks(exercises: Sequence[course.Exercise], stubs: Mapping[str, str], site: str | None) -> dict[str, bytes]:
    """A notebook next to each module, for those who prefer one."""
    return {
        f"starter/{each.name}.ipynb": notebooks.make(
            each,
            stubs[each.file_name],
            repository=course.WRITTEN.repository,
            folder=FOLDER,
            page=f"{site.rstrip('/')}/exercises/{each.name}/" if site else f"../{FOLDER}/{each.page}",
        ).encode()
        for each in exercises
    }


def _readme(site: str, exercises: Sequence[course.Exercise], programs: Sequence[str]) -> str:
    project = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    counted = [each for each in exercises if not each.optional] or exercises
    return render(
        _TEMPLATES / "README.md",
        title=course.TITLE,
        facts=[*site_module("course_lists").facts()],
        first=exercises[0].name,
        files=listed([f"`{each.file_name}`" for each in counted]),
        optional=[each for each in exercises if each.optional],
        programs=programs,
        counts_worksheet=course.WRITTEN.worksheet,
        hidden_points=sum(c.points for each in counted for c in checks_of(each.name, hidden=True) if c.hidden),
        site=site.rstrip("/"),
        version=f"{project['name']} {project['version']}",
    )


def _pages(exercises: Sequence[course.Exercise]) -> dict[str, bytes]:
    """The pages that reports mention, as plain Markdown."""
    texts: dict[str, str] = site_module("handout_pages").texts(exercises)
    return {name: text.encode() for name, text in texts.items()}
