"""The one reader of submissions: decides which file of an upload is which module, for every command alike.

The modules may lie at the top, in `starter/`, in any other folder, or in one more archive. Other Python files beside
them that they import are taken along. Every choice has a note. What is no module, no worksheet and not imported is not
read: `conftest.py`, `pytest.ini`, given files, which are the course's own, and whatever has the name of a library.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .course import EXERCISES, KNOWN, given_files
from .files import (
    ARCHIVES,
    MAX_ARCHIVE_BYTES,
    OTHER_ARCHIVES,
    ArchiveError,
    Member,
    members_of_archive,
    members_of_folder,
)
from .notebook import MAX_NOTEBOOK_BYTES, code_of
from .submission import MAX_FILE_BYTES, Submission, SubmissionError, text_of
from .text import counted, listed, one_line

WORKSHEET_FILE, LARGEST_WORKSHEET = "worksheet.json", 2_000_000
"""Its name, and how many bytes of it are read. JSON takes at most six bytes for a character."""

WHERE_TO_GET_IT = (
    f'there is no {WORKSHEET_FILE}: press "Download answers (JSON)" on the worksheet page and put it beside your'
    " modules"
)
MODULES = tuple(exercise.file_name for exercise in EXERCISES)
MAX_HELPERS, MAX_HELPER_BYTES = 10, 100_000
"""Other files that are taken along: how many, and how large all together."""

_UNCOUNTED = tuple(exercise.file_name for exercise in KNOWN if exercise not in EXERCISES)  # optional, and drafts
# What Canvas and browsers add to the name of a second upload or download: six characters at most.
_COPY = r"(?:-(?P<dash>\d{1,3})| ?\((?P<bracket>\d{1,3})\))"
_ENDS_LIKE_A_COPY = re.compile(rf"{_COPY}\Z", re.ASCII)
# A name with "_" is like those of Canvas.
_STEMS = "|".join(re.escape(name.rpartition(".")[0]) for name in (*MODULES, *_UNCOUNTED))
_LIKE_A_MODULE = re.compile(rf"(?P<stem>{_STEMS}|[a-z]+){_COPY}?\.(?:py(?:\.txt)?|ipynb)", re.IGNORECASE | re.ASCII)
_LIKE_A_WORKSHEET = re.compile(rf"worksheet{_COPY}?\.json", re.IGNORECASE | re.ASCII)
_IMPORT = re.compile(r"\b(?:from|import)\b[^\n(]{0,200}(?:\([^)]{0,2000}\))?")
# Python's own, torch with what it imports, and what a worker takes for the submission's folder.
_LIBRARIES = frozenset(
    {"torch", "functorch", "torchgen", "numpy", "scipy", "sympy", "mpmath", "networkx", "jinja2", "markupsafe"}
    | {"filelock", "fsspec", "setuptools", "typing_extensions", "matplotlib", "pandas"}
    | {"starter", "submission", "grader", "reference", "given"}
)
_GIVEN = {PurePosixPath(name).name: name for exercise in KNOWN for name in exercise.given}
"""Name of a file of given code to its path in `starter/`; once all of them lay next to the modules."""
_GIVEN_STEMS = "|".join(name.removesuffix(".py") for name in _GIVEN) or "(?!)"
_IMPORTS_GIVEN = re.compile(rf"(?<!given )\b(?:from|import)\s+(?:starter)?\.?({_GIVEN_STEMS})\b")
_NOTES = 8
_TOP = PurePosixPath()
_ARCHIVES_DEEP = 2
"""Archives in archives: a student's zip in a platform's, and one more that somebody packed once too often."""


@dataclass(frozen=True)
class NoWorksheet:
    """Why there is nothing of a worksheet to read.

    Attributes:
        problem: The sentence for the student.
        missing: There is no such file.
    """

    problem: str
    missing: bool = False


@dataclass(frozen=True)
class Contents:
    """What one student handed in, as far as it is graded.

    Attributes:
        submission: The modules; what cannot be read has a problem instead of a text.
        worksheet: Data of the file, or why there is none.
        notes: What was decided and what was odd, for the student and the instructor.
        place: The folder of the modules, from the top of the upload.
    """

    submission: Submission
    worksheet: bytes | NoWorksheet
    notes: tuple[str, ...] = ()
    place: PurePosixPath = _TOP

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the files that are not there; one that cannot be read is there."""
        modules = [name for name in MODULES if self.submission.problems.get(name) == _is_missing(name)]
        no_worksheet = isinstance(self.worksheet, NoWorksheet) and self.worksheet.missing
        return (*modules, WORKSHEET_FILE) if no_worksheet else tuple(modules)

    @property
    def has_modules(self) -> bool:
        """Whether there is a file of any module, of an optional one too, readable or not."""
        there = {*self.submission.files, *self.submission.problems}
        return not {*self.missing} >= {*MODULES} or bool(there & {*_UNCOUNTED})

    def graded(self) -> Submission:
        """The modules, with the notes.

        Raises:
            SubmissionError: there are none.
        """
        if not self.has_modules:
            raise SubmissionError(
                f"{self.submission.path} holds none of {', '.join(MODULES)}; give the folder that does: "
                "grade --path FOLDER"
            )
        return replace(self.submission, notes=self.notes)


def read_submission(path: Path) -> Submission:
    """The modules of one upload.

    Raises:
        SubmissionError: no such folder, it cannot be read, or it holds none of the graded files.
    """
    return read_upload(path).graded()


def read_upload(path: Path) -> Contents:
    """Read a folder, or an archive, that one student handed in or is working in.

    Raises:
        SubmissionError: there is none, or it cannot be read.
    """
    try:
        if not path.exists():
            raise SubmissionError(f"there is no folder {path}; give the folder with your modules: grade --path FOLDER")
        if path.is_dir():
            found = _contents(members_of_folder(path), top=path.resolve().name)
        elif path.name.lower().endswith(ARCHIVES):
            with path.open("rb") as file:
                found = _contents(members_of_archive(path.name, file.read(MAX_ARCHIVE_BYTES + 1)))
        else:
            raise SubmissionError(f"{path} is a file; give the folder that holds it: grade --path {path.parent}")
    except OSError as error:
        raise SubmissionError(f"{path} cannot be read: {error.strerror}") from None
    except ArchiveError as error:
        raise SubmissionError(f"{path} cannot be read: {error}") from None
    place = path.resolve() / found.place
    if not place.is_dir():  # in an archive
        place = path.resolve()
    named = replace(found.submission, folder=place.name or "submission", path=place)
    return _few_notes(replace(found, submission=named))


def may_be_graded(file_name: str) -> bool:
    """Whether a file has the name of a module or a worksheet, or of a copy of one."""
    return bool(_LIKE_A_MODULE.fullmatch(file_name) or _LIKE_A_WORKSHEET.fullmatch(file_name))


def read_contents(list_files: Callable[[], Sequence[Member]]) -> Contents:
    """Read what is graded. Never raises for what a student did: that becomes a problem of the submission.

    Args:
        list_files: Gives the files of the submission.
    """
    try:
        contents = _contents(list_files())
    except ArchiveError as error:
        return _unreadable(one_line(str(error), limit=400))
    except OSError as error:
        return _unreadable(f"it cannot be read: {error.strerror}")
    return _few_notes(contents)


def _few_notes(contents: Contents) -> Contents:
    if (more := len(contents.notes) - _NOTES) > 0:
        return replace(contents, notes=(*contents.notes[:_NOTES], f"and {more} more of this kind"))
    return contents


def _contents(members: Sequence[Member], depth: int = _ARCHIVES_DEEP, top: str = "") -> Contents:
    """What lies here, and from an archive what is missing beside it.

    Args:
        members: The files.
        depth: How many archives may still lie in one another.
        top: Name of the folder that holds them all, where it has one.
    """
    members = sorted(members, key=_age)
    loose = _loose(members, top)
    # Where only the worksheet is missing, nobody needs to hear that `data.gz` is not read here.
    endings = (*ARCHIVES, *OTHER_ARCHIVES) if {*loose.missing} & {*MODULES} else ARCHIVES
    archives = [member for member in members if member.name.lower().endswith(endings)]
    if archives and depth and loose.missing:
        return _filled(loose, sorted(archives, key=lambda archive: archive.is_archive), depth)
    if not loose.has_modules:
        named = ", ".join(one_line(member.name, limit=60) for member in members[:5])
        there = f"there {'is' if len(members) == 1 else 'are'} {counted(len(members), 'file')}"
        note = f"no module was found; {there}" + (f": {named}" if named else "")
        return replace(loose, notes=(note, *loose.notes))
    return loose


def _age(member: Member) -> tuple[int, tuple[str, ...], str, int, str]:
    """Sorts what is newer behind what is older, as far as numbers say: those of a platform, then those of copies.

    The order in an archive or on a disk says nothing, and the same files shall have the same grade in both.
    """
    return member.upload, member.path.parent.parts, *_stem_and_number(member.name), member.name


def _stem_and_number(file_name: str) -> tuple[str, int]:
    """What the copies of a file have in common, and which copy this is."""
    stem = file_name.lower().rpartition(".")[0].removesuffix(".tar").removesuffix(".py")
    match = _ENDS_LIKE_A_COPY.search(stem, max(0, len(stem) - 6))
    return (stem[: match.start()], int(match["dash"] or match["bracket"])) if match else (stem, 0)


def _number(file_name: str) -> int:
    return _stem_and_number(file_name)[1]


def _loose(members: Sequence[Member], top: str) -> Contents:
    """What lies here in no archive."""
    found = _modules(members) or {PurePosixPath(): {}}
    ranked = sorted(
        found, key=lambda place: ((place.name or top) != "starter", -len(found[place]), len(place.parts), str(place))
    )
    place, *others = ranked
    graded = one_line(str(place))
    notes = [f"there are modules in {one_line(str(other))} too; graded is {graded}" for other in others]
    files: dict[str, str] = {}
    problems: dict[str, str] = {}
    for name in (*MODULES, *(name for name in _UNCOUNTED if name in found[place])):
        if name not in found[place]:
            problems[name] = _is_missing(name)
            continue
        member = found[place][name][0]
        notes += _notes_on_choice(name, found[place][name])
        text, problem, note = _text(name, member)
        (problems if problem else files)[name] = problem or text
        notes += [each for each in (problem, note) if each]
    helpers, about = _helpers(files, [member for member in members if member.path.parent == place])
    about += _notes_on_given(files, members, place)
    worksheet, of_it = _worksheet(members)
    submission = Submission("submission", Path("submission"), files | helpers, problems)
    unnamed = _unnamed_notebooks(members) if _is_missing_any(problems) else []
    return Contents(submission, worksheet, (*notes, *about, *unnamed, *of_it), place)


def _helpers(modules: Mapping[str, str], beside: Sequence[Member]) -> tuple[dict[str, str], list[str]]:
    """Other Python files that the modules import, or that these import: their texts, and notes."""
    others = {
        member.name.removesuffix(".py"): member
        for member in beside
        if member.name.endswith(".py") and member.name.removesuffix(".py").isidentifier()
        if _module_name(member) not in (*MODULES, *_UNCOUNTED) and member.name not in (*_GIVEN, "__init__.py")
    }
    taken: dict[str, str] = {}
    notes: list[str] = []
    size, waiting = 0, [text for name, text in modules.items() if name.endswith(".py")]
    while waiting and others:
        importing = waiting.pop()
        named = {stem for stem in others if stem in importing}  # most modules name none, which is seen at once
        imported = re.findall(r"\w+", "\n".join(_IMPORT.findall(importing))) if named else ()
        for stem in sorted(named.intersection(imported)):
            member = others.pop(stem)
            if stem in sys.stdlib_module_names or stem in _LIBRARIES:
                notes.append(f"{member.name} was left out: a library has that name")
                continue
            text, problem, _ = _text(member.name, member)
            size += len(text.encode("utf-8", "replace"))
            if not problem and (len(taken) == MAX_HELPERS or size > MAX_HELPER_BYTES):
                limit = f"{MAX_HELPERS} files with {MAX_HELPER_BYTES // 1_000} kB together"
                problem = f"{member.name} was left out: beside the modules at most {limit} are taken along"
            if problem:
                notes.append(problem)
                continue
            taken[member.name] = text
            waiting.append(text)
            notes.append(f"{member.name} was taken along, because a module imports it")
    return taken, notes


def _notes_on_given(modules: Mapping[str, str], members: Sequence[Member], place: PurePosixPath) -> list[str]:
    """Which given code is not the course's own, or is looked for where it lay once: the grader uses its own."""
    beside = {member.name for member in members if member.path.parent == place} & {*_GIVEN}
    imported = {f"{name}.py" for text in modules.values() for name in _IMPORTS_GIVEN.findall(text)}
    changed = [
        name
        for name, text in given_files().items()
        for member in members
        if member.path == place / name and _text(name, member)[0] != text
    ]
    notes = []
    if moved := sorted(beside | imported):
        notes.append(f"given code lies in given/ now ({listed(moved)}); the grader used its own")
    if changed:
        differ = "differs" if len(changed) == 1 else "differ"
        notes.append(f"{listed(changed)} {differ} from the course's; the grader used its own")
    return notes


def _unnamed_notebooks(members: Sequence[Member]) -> list[str]:
    return [
        f"{one_line(member.name, limit=60)} was left out: of a notebook the code is taken if it has the name of a"
        f" module, for example {MODULES[0].removesuffix('.py')}.ipynb"
        for member in members
        if member.name.lower().endswith(".ipynb") and _module_name(member) not in (*MODULES, *_UNCOUNTED)
    ]


def _is_missing(name: str) -> str:
    return f"{name} is missing"


def _is_missing_any(problems: Mapping[str, str]) -> bool:
    return any(problem == _is_missing(name) for name, problem in problems.items())


def _notes_on_choice(name: str, candidates: Sequence[Member]) -> list[str]:
    """Why the first of these files of one folder is graded as the file of this name."""
    member, *others = candidates
    taken = one_line(member.name)
    notes = [f"{taken} was taken as {name}"] if member.name != name else []
    if same := sum(other.name == member.name for other in others):
        notes.append(f"there are {same + 1} of {taken} in one place; graded is the last, as when unpacked")
    return notes + [
        f"there is {one_line(each.name)} too; graded is {taken}" for each in others if each.name != member.name
    ]


def _filled(loose: Contents, archives: Sequence[Member], depth: int) -> Contents:
    """What lies beside archives, and from the last one, which is the newest, what is missing there."""
    name = one_line(archives[-1].name, limit=60)
    wanted = [each for each in MODULES if each in loose.missing]
    notes = [f"there are {len(archives)} archives; graded is {name}"] if len(archives) > 1 else []
    try:
        archive = _unpacked(archives[-1], depth)
    except ArchiveError as error:
        problem = one_line(str(error), limit=400)
        if len(wanted) < len(MODULES):
            return replace(loose, notes=(*notes, f"{name} was not opened: {problem}", *loose.notes))
        archive = _unreadable(problem)
    read = {*archive.submission.files, *([WORKSHEET_FILE] if isinstance(archive.worksheet, bytes) else [])}
    taken = [each for each in loose.missing if each in read]
    ours, theirs = loose.submission.files, archive.submission.files
    other = [each for each in MODULES if each in ours and theirs.get(each, ours[each]) != ours[each]]
    if other:
        notes.append(f"in {name} there is another text of {listed(other)}; graded is what lies beside it")
    if not wanted and not taken:
        return replace(loose, notes=(*notes, *loose.notes)) if other else loose
    if WORKSHEET_FILE in read and WORKSHEET_FILE not in loose.missing:
        notes.append(f"there is a {WORKSHEET_FILE} in {name} too; graded is the one beside it")
    if len(wanted) < len(MODULES):
        notes.append(f"taken from {name}: {', '.join(taken) or 'nothing'}")
        notes += [f"in {name}: {note}" for note in archive.notes]
    else:
        notes += archive.notes
    # What lies beside the archive comes last, so that it counts: also a file that its modules import.
    files = (archive.submission.files if wanted else {}) | loose.submission.files
    problems = {
        each: (archive if each in wanted else loose).submission.problems[each] for each in MODULES if each not in files
    }
    return Contents(
        replace(loose.submission, files=files, problems=problems),
        archive.worksheet if WORKSHEET_FILE in loose.missing else loose.worksheet,
        (*notes, *loose.notes),
        loose.place,
    )


def _unpacked(archive: Member, depth: int) -> Contents:
    """What an archive holds.

    Raises:
        ArchiveError: it cannot be read.
    """
    name = one_line(archive.name)
    if not archive.is_archive:
        raise ArchiveError(f"{name} is packed in a way that is not read here; hand in a zip")
    if archive.problem:
        raise ArchiveError(f"{name} {archive.problem}")
    try:
        data = archive.read(MAX_ARCHIVE_BYTES + 1)
    except Exception as error:  # a damaged archive in an archive shows when it is unpacked
        raise ArchiveError(f"{name} cannot be unpacked ({type(error).__name__}); pack it again") from None
    return _contents(members_of_archive(archive.name, data), depth - 1)


def _modules(members: Sequence[Member]) -> dict[PurePosixPath, dict[str, list[Member]]]:
    """Folder to the files that may be each module, the best first.

    `clip-2.py` and `clip (2).py` are what a second upload or download is called, `Clip.py` and `clip.py.txt` what some
    editors make of a name. The newest upload wins, where a platform numbers them; then the plain name, which is the one
    that its student edits and imports; then the highest number. A notebook counts where there is no such file.
    """
    found: dict[PurePosixPath, dict[str, list[Member]]] = {}
    for member in reversed(members):  # of two with one path the last, as unpacked
        name = _module_name(member)
        if name in (*MODULES, *_UNCOUNTED):
            found.setdefault(member.path.parent, {}).setdefault(name, []).append(member)
    for modules in found.values():
        for candidates in modules.values():
            candidates.sort(key=_worst_last)
    return found


def _module_name(member: Member) -> str:
    match = _LIKE_A_MODULE.fullmatch(member.name)
    return f"{match['stem'].lower()}.py" if match else ""


def _worst_last(member: Member) -> tuple[bool, int, bool, int, str]:
    plain = member.name in (*MODULES, *_UNCOUNTED)
    return _is_notebook(member), -member.upload, not plain, -_number(member.name), member.name


def _is_notebook(member: Member) -> bool:
    return member.name.lower().endswith(".ipynb")


def _text(name: str, member: Member) -> tuple[str, str, str]:
    """The text of a module, why there is none, and a note."""
    if member.problem:
        return "", f"{name} {member.problem}", ""
    try:
        if not _is_notebook(member):
            return *text_of(name, member.read(MAX_FILE_BYTES + 1)), ""
        code, problem, note = code_of(one_line(member.name), member.read(MAX_NOTEBOOK_BYTES + 1))
        text, unfit = text_of(name, code.encode("utf-8", "replace"))
        return text, problem or unfit, "" if problem or unfit else note
    except OSError as error:
        return "", f"{name} cannot be read: {error.strerror}", ""
    except Exception as error:  # a damaged place in an archive shows when it is unpacked
        return "", f"{name} cannot be unpacked ({type(error).__name__}); pack it again", ""


def _worksheet(members: Sequence[Member]) -> tuple[bytes | NoWorksheet, list[str]]:
    """The worksheet that lies least deep, and notes; of several in one folder that with the highest number.

    A module is edited, so its plain name is the one that its student means; a worksheet comes from a browser, which
    leaves the plain name to the first download and numbers the later ones.
    """
    found: dict[PurePosixPath, list[Member]] = {}
    for member in reversed(members):
        if _LIKE_A_WORKSHEET.fullmatch(member.name):
            found.setdefault(member.path.parent, []).append(member)
    if not found:
        return NoWorksheet(WHERE_TO_GET_IT, missing=True), []
    place, *others = sorted(found, key=lambda place: (len(place.parts), str(place)))
    candidates = sorted(found[place], key=lambda m: (-_number(m.name), m.name != WORKSHEET_FILE, m.name))
    graded = one_line(str(place))
    notes = _notes_on_choice(WORKSHEET_FILE, candidates)
    notes += [f"there is a worksheet in {one_line(str(other))} too; graded is that in {graded}" for other in others]
    if candidates[0].problem:
        return NoWorksheet(f"{WORKSHEET_FILE} {candidates[0].problem}"), notes
    try:
        return candidates[0].read(LARGEST_WORKSHEET + 1), notes
    except Exception as error:
        return NoWorksheet(f"{WORKSHEET_FILE} cannot be read ({type(error).__name__})"), notes


def _unreadable(problem: str) -> Contents:
    """A submission of which nothing can be read: every module has the same problem."""
    submission = Submission("submission", Path("submission"), {}, dict.fromkeys(MODULES, problem))
    return Contents(submission, NoWorksheet(problem), (problem,))
