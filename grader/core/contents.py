"""The one reader of submissions: decides which file of an upload is which module, for every command alike.

The modules may lie at the top, in `starter/`, in another folder, or in one archive. Other Python files next to them
that they import are taken along. Every choice has a note. Nothing else is read: `conftest.py`, `pytest.ini`, given
files, which are the course's own, archives in archives, and whatever has the name of a library.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .course import EXERCISES, KNOWN, given_files
from .files import (
    ARCHIVES,
    MAX_ARCHIVE_BYTES,
    OTHER_ARCHIVES,
    ArchiveError,
    Member,
    member_of_folder,
    members_of_archive,
    members_of_folder,
)
from .notebook import MAX_NOTEBOOK_BYTES, code_of, without_host_setup, written_files
from .source import INSTALLED, defined_again, foreign_imports, functions, place
from .submission import MAX_FILE_BYTES, Submission, SubmissionError, text_of, wide_encoding
from .text import counted, listed, one_line

WORKSHEET_FILE, LARGEST_WORKSHEET = "worksheet.json", 2_000_000
"""Its name, and how many of its bytes are read. JSON takes at most six bytes per character."""

WHERE_TO_GET_IT = (
    f'there is no {WORKSHEET_FILE}: press "Download answers (JSON)" on the worksheet page and put it next to your'
    " modules"
)
READING_SECONDS = 15.0
"""Processor time for reading one submission; an honest one takes milliseconds."""

MODULES = tuple(exercise.file_name for exercise in EXERCISES)
MAX_HELPERS, MAX_HELPER_BYTES = 10, 100_000
"""Other files that are taken along: how many, and their total size."""

_UNCOUNTED = tuple(exercise.file_name for exercise in KNOWN if exercise not in EXERCISES)  # optional, and drafts
# What Canvas and browsers add to the name of a second upload or download: at most six characters.
_COPY = r"(?:-(?P<dash>\d{1,3})| ?\((?P<bracket>\d{1,3})\))"
_ENDS_LIKE_A_COPY = re.compile(rf"{_COPY}\Z", re.ASCII)
# Any other name with "_" may be one of Canvas's.
_STEMS = "|".join(re.escape(name.removesuffix(".py")) for name in (*MODULES, *_UNCOUNTED))
_LIKE_A_MODULE = re.compile(rf"(?P<stem>{_STEMS}|[a-z]+){_COPY}?\.(?:py(?:\.txt)?|ipynb)", re.IGNORECASE | re.ASCII)
_LIKE_A_WORKSHEET = re.compile(rf"worksheet{_COPY}?\.json", re.IGNORECASE | re.ASCII)
_IMPORT = re.compile(r"\b(?:from|import)\b[^\n(]{0,200}(?:\([^)]{0,2000}\))?")
# Python's own, what may be installed, and the names that a worker takes for the submission's folder.
_LIBRARIES = (
    sys.stdlib_module_names | INSTALLED | {"scipy", "pandas", "starter", "submission", "grader", "reference", "given"}
)
_NOTES, _LISTED = 8, 3
_STRAYS = 20
"""Files without the name of a module that are looked into."""
_TOP = PurePosixPath()


@dataclass(frozen=True)
class NoWorksheet:
    """Why there is no worksheet to read.

    Attributes:
        problem: The sentence for the student.
        missing: Whether there is no such file.
    """

    problem: str
    missing: bool = False


@dataclass(frozen=True)
class Contents:
    """What one student handed in, as far as it is graded.

    Attributes:
        submission: The modules; one that cannot be read has a problem instead of a text.
        worksheet: The bytes of the file, or why there is none.
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
        """Whether there is a file of any module, including the optional ones, readable or not."""
        there = {*self.submission.files, *self.submission.problems}
        return not {*self.missing} >= {*MODULES} or bool(there & {*_UNCOUNTED})

    def graded(self) -> Submission:
        """The modules, with the notes.

        Raises:
            SubmissionError: there are none.
        """
        if not self.has_modules:
            raise SubmissionError(
                f"{self.submission.path}: {'; '.join(self.notes)}; give the folder that holds {', '.join(MODULES)}:"
                " grade --path FOLDER"
            )
        return replace(self.submission, notes=self.notes)


def read_submission(path: Path) -> Submission:
    """The modules of one upload.

    Raises:
        SubmissionError: no such folder, it cannot be read, or it holds none of the graded files.
    """
    return read_upload(path).graded()


def read_upload(path: Path) -> Contents:
    """Read a folder or an archive that one student handed in or is working in.

    Raises:
        SubmissionError: there is none, or it cannot be read.
    """
    try:
        if not os.path.lexists(path):
            raise SubmissionError(f"there is no folder {path}; give the folder with your modules: grade --path FOLDER")
        if path.is_dir():
            found = _read(lambda: _contents(members_of_folder(path), top=path.resolve().name))
        elif path.name.lower().endswith(ARCHIVES):
            archive = member_of_folder(path.resolve(), PurePosixPath(path.name))
            found = _read(lambda: _unpacked(archive))
        else:
            raise SubmissionError(f"{path} is a file; give the folder that holds it: grade --path {path.parent}")
    except (ArchiveError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SubmissionError(f"{path} cannot be read: {reason}") from None
    place = path.resolve() / found.place
    if not os.path.isdir(place):  # in an archive
        place = path.resolve()
    named = replace(found.submission, folder=place.name or "submission", path=place)
    return replace(found, submission=named)


def may_be_graded(file_name: str) -> bool:
    """Whether a file has the name of a module or a worksheet, or of a copy of one."""
    return bool(_LIKE_A_MODULE.fullmatch(file_name) or _LIKE_A_WORKSHEET.fullmatch(file_name))


def read_contents(list_files: Callable[[], Sequence[Member]]) -> Contents:
    """Read what is graded. Never raises for what a student did: that becomes a problem of the submission.

    Args:
        list_files: Returns the files of the submission.
    """
    try:
        return _read(lambda: _contents(list_files()))
    except ArchiveError as error:
        return _unreadable(one_line(str(error), limit=400))


def _read(read: Callable[[], Contents]) -> Contents:
    """Read one submission, within its time.

    Raises:
        ArchiveError: it cannot be read, whatever its readers raised.
    """
    try:
        with _limited(READING_SECONDS):
            found = _few_notes(read())
            assert found.submission.sha256  # raises for text that cannot be written as UTF-8
            return found
    except ArchiveError:
        raise
    except OSError as error:
        raise ArchiveError(f"it cannot be read: {error.strerror}") from None
    except _TooSlow:
        raise ArchiveError(f"reading it takes more than {READING_SECONDS:.0f} s; hand in the modules only") from None
    except Exception as error:
        reason = f"it cannot be read ({type(error).__name__}); hand in the modules only, saved as UTF-8"
        raise ArchiveError(reason) from None


class _TooSlow(BaseException):
    """The time for reading is over. A BaseException, because readers of single files go on after an Exception."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End what takes more processor time, where the system can (not on Windows) and in the main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # and again, in case the first exception is lost
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _few_notes(contents: Contents) -> Contents:
    if (more := len(contents.notes) - _NOTES) > 0:
        return replace(contents, notes=(*contents.notes[:_NOTES], f"and {more} more of this kind"))
    return contents


def _unreadable(problem: str) -> Contents:
    """A submission of which nothing can be read: every module has the same problem."""
    submission = Submission("submission", Path("submission"), {}, dict.fromkeys(MODULES, problem))
    return Contents(submission, NoWorksheet(problem), (problem,))


def _contents(members: Sequence[Member], top: str = "") -> Contents:
    """The loose files or, if no module is among them, the newest archive with the loose worksheet.

    Args:
        members: The files.
        top: Name of the folder that holds them all, if it has one.
    """
    archives = sorted((member for member in members if _is_packed(member)), key=_age)
    loose = _chosen(members, top, any_name=not archives)
    if not archives:
        return loose
    name = one_line(archives[-1].name, limit=60)
    if loose.has_modules:
        return replace(loose, notes=(f"{name} was not opened, because modules lie next to it", *loose.notes))
    try:
        packed = _unpacked(archives[-1])
    except ArchiveError as error:
        packed = _unreadable(one_line(str(error), limit=400))
    notes = [f"there are {len(archives)} archives; graded is {name}"] if len(archives) > 1 else []
    worksheet = packed.worksheet if WORKSHEET_FILE in loose.missing else loose.worksheet
    if worksheet is not packed.worksheet and isinstance(packed.worksheet, bytes):
        notes.append(f"there is a {WORKSHEET_FILE} in {name} too; graded is the one next to it")
    return replace(packed, worksheet=worksheet, notes=(*notes, *packed.notes), place=_TOP)


def _is_packed(member: Member) -> bool:
    return member.name.lower().endswith((*ARCHIVES, *OTHER_ARCHIVES))


def _age(archive: Member) -> tuple[bool, int, tuple[str, ...], str, int, str]:
    """Sorts newer archives behind older ones, as far as numbers say: a platform's, then those of copies.

    The order in an archive or on a disk says nothing, and the same files must get the same grade in both.
    """
    readable = archive.name.lower().endswith(ARCHIVES)
    return readable, archive.upload, archive.path.parent.parts, *_stem_and_number(archive.name), archive.name


def _stem_and_number(file_name: str) -> tuple[str, int]:
    """What the copies of a file have in common, and the number of this copy."""
    stem = file_name.lower().rpartition(".")[0].removesuffix(".tar").removesuffix(".py")
    match = _ENDS_LIKE_A_COPY.search(stem, max(0, len(stem) - 6))
    return (stem[: match.start()], int(match["dash"] or match["bracket"])) if match else (stem, 0)


def _written_by_notebooks(members: Sequence[Member]) -> list[Member]:
    """The modules that `%%writefile` cells write, as if they lay next to their notebooks."""
    written = []
    notebooks = [member for member in members if _is_notebook(member) and not member.problem]
    for member in notebooks[:_STRAYS]:
        try:
            data = member.read(MAX_NOTEBOOK_BYTES + 1)
        except Exception:  # told where a module is read
            continue
        if b"%%" not in data or len(data) > MAX_NOTEBOOK_BYTES:
            continue
        notebook = one_line(member.name)
        for name, text in written_files(notebook, data).items():
            read = functools.partial(_start_of, text.encode("utf-8", "replace"))
            written.append(Member(member.path.parent / name, read, upload=member.upload, notebook=notebook))
    return written


def _start_of(data: bytes, limit: int) -> bytes:
    return data[:limit]


def _unpacked(archive: Member) -> Contents:
    """What an archive holds.

    Raises:
        ArchiveError: it cannot be read.
    """
    name = one_line(archive.name)
    if not name.lower().endswith(ARCHIVES):
        raise ArchiveError(f"{name} is packed in a way that is not read here; hand in a zip")
    if archive.problem:
        raise ArchiveError(f"{name} {archive.problem}")
    try:
        data = archive.read(MAX_ARCHIVE_BYTES + 1)
    except Exception as error:  # a damaged place in a class's zip shows when it is unpacked
        raise ArchiveError(f"{name} cannot be unpacked ({type(error).__name__}); pack it again") from None
    members = members_of_archive(archive.name, data)
    found = _chosen(members)
    inner = [
        f"{one_line(member.name, limit=60)} was not opened, because it lies in an archive"
        for member in members
        if _is_packed(member)
    ]
    return replace(found, notes=(*inner, *found.notes))


def _chosen(members: Sequence[Member], top: str = "", *, any_name: bool = True) -> Contents:
    """The modules and the worksheet among some files, without opening an archive.

    Args:
        members: The files.
        top: Name of the folder that holds them all, if it has one.
        any_name: Take a file of any name for a module that is missing, if it defines functions of it.
    """
    members = [*members, *_written_by_notebooks(members)]
    found = _candidates(members)
    left_out = _add_by_content(found, members) if any_name else []
    modules = {place: {*files} - {WORKSHEET_FILE} for place, files in found.items()}
    places = sorted(
        (place for place in found if modules[place]),
        key=lambda place: ((place.name or top) != "starter", -len(modules[place]), len(place.parts), str(place)),
    )
    place = places[0] if places else _TOP
    graded = one_line(str(place))
    notes = [f"there are modules in {one_line(str(other))} too; graded is {graded}" for other in places[1:]]
    files: dict[str, str] = {}
    problems: dict[str, str] = {}
    for name in (*MODULES, *_UNCOUNTED):
        candidates = found.get(place, {}).get(name)
        if candidates:
            notes += _notes_on_choice(name, candidates)
            text, problem, about = _text(name, candidates[0])
            if not problem and not text.strip():
                problem = f"{name} is empty; save your work in the editor and hand it in again"
            (problems if problem else files)[name] = problem or text
            notes += [problem] if problem else about
        elif name in MODULES:
            problems[name] = _is_missing(name)
    loose = [member for member in members if member.path.parent == place]
    helpers, about = _helpers(files, loose)
    notes += [*about, *_notes_on_given(members, place)]
    notes[:0] = _notes_on_code({**files, **helpers}, loose)
    if not places:
        notes.append(_note_on_none(members))
    notes += [note for folder, note in left_out if folder == place or not places]
    worksheet, about = _worksheet(found)
    submission = Submission("submission", Path("submission"), files | helpers, problems)
    return Contents(submission, worksheet, (*notes, *about), place)


def _is_missing(name: str) -> str:
    return f"{name} is missing"


def _note_on_none(members: Sequence[Member]) -> str:
    if not members:
        return "no module was found, because there are no files"
    named = ", ".join(one_line(member.name, limit=60) for member in sorted(members, key=lambda member: member.path)[:5])
    return f"no module was found among {counted(len(members), 'file')}: {named}"


def _candidates(members: Sequence[Member]) -> dict[PurePosixPath, dict[str, list[Member]]]:
    """Folder to the files that may be each module or the worksheet, the best first.

    `clip-2.py` and `clip (2).py` are names of a second upload or download, `Clip.py` and `clip.py.txt` what some
    editors make of a name. The newest upload wins, where a platform numbers them. Then the plain name of a module wins,
    because its student edits and imports it, but the highest number of a worksheet, because a browser gives the plain
    name to the first download. A file that a notebook writes counts if there is no such file, then a notebook.
    """

    def rank(member: Member) -> tuple[bool, bool, int, int, int, str]:
        renamed, number = member.name != _graded_name(member), -_stem_and_number(member.name)[1]
        first, second = (number, renamed) if _graded_name(member) == WORKSHEET_FILE else (renamed, number)
        return _is_notebook(member), bool(member.notebook), -member.upload, first, second, member.name

    found: dict[PurePosixPath, dict[str, list[Member]]] = {}
    for member in reversed(members):  # of two with one path the last, as unpacked
        if name := _graded_name(member):
            found.setdefault(member.path.parent, {}).setdefault(name, []).append(member)
    for files in found.values():
        for candidates in files.values():
            candidates.sort(key=rank)
    return found


def _graded_name(member: Member) -> str:
    """The module that a file may be, or the worksheet; "" for any other file."""
    if _LIKE_A_WORKSHEET.fullmatch(member.name):
        return WORKSHEET_FILE
    match = _LIKE_A_MODULE.fullmatch(member.name)
    name = f"{match['stem'].lower()}.py" if match else ""
    return name if name in (*MODULES, *_UNCOUNTED) else ""


def _is_notebook(member: Member) -> bool:
    return member.name.lower().endswith(".ipynb")


def _notes_on_choice(name: str, candidates: Sequence[Member]) -> list[str]:
    """Why the first of these files of one folder is graded as the file of this name."""
    taken, *others = [_called(member) for member in candidates]
    notes = [f"{taken} was taken as {name}"] if taken != name else []
    if same := others.count(taken):
        notes.append(f"there are {same + 1} of {taken} in one place; graded is the last, as when unpacked")
    return notes + [f"there is {other} too; graded is {taken}" for other in others if other != taken]


def _called(member: Member) -> str:
    """A file's name for a note, with the notebook that writes it."""
    return one_line(member.name) + (f" (written by a cell of {member.notebook})" if member.notebook else "")


def _add_by_content(
    found: dict[PurePosixPath, dict[str, list[Member]]], members: Sequence[Member]
) -> list[tuple[PurePosixPath, str]]:
    """Add a file of any name for a module that its folder lacks, if it alone defines functions of it and of no other.

    Returns:
        The folder of each file that was left out although it defines such functions, and a note.
    """
    places = {place for place, files in found.items() if {*files} - {WORKSHEET_FILE}}
    given = {PurePosixPath(name).name for name in given_files()}
    strays = [
        member
        for member in members
        if member.name.lower().endswith((".py", ".ipynb", ".pyw", ".txt")) and member.name not in given
        if not _graded_name(member) and (member.path.parent in places or not places)
    ]
    meant: dict[tuple[PurePosixPath, str], list[Member]] = {}
    notes = []
    for member in sorted(strays, key=lambda member: member.path)[:_STRAYS]:
        folder, defined = member.path.parent, {*functions(_text(member.name, member)[0])}
        there = found.get(folder, {})
        modules = [each.file_name for each in KNOWN if defined & {*each.function_names} and each.file_name not in there]
        if len(modules) == 1:
            meant.setdefault((folder, modules[0]), []).append(member)
        elif modules:
            what = f"{one_line(member.name)} was left out, because it defines functions of {listed(modules)}"
            notes.append((folder, f"{what}; hand in one file per module"))
    for (folder, name), several in meant.items():
        if len(several) == 1:
            found.setdefault(folder, {})[name] = several
        else:
            called = listed([one_line(member.name) for member in several])
            what = f"{called} were left out, because each defines functions of {name}"
            notes.append((folder, f"{what}; rename the one that counts to {name}"))
    return notes


def _notes_on_code(files: Mapping[str, str], loose: Sequence[Member]) -> list[str]:
    """What works differently from what its student expects: functions defined twice, imports that will fail."""
    there = (*files, *given_files(), *(member.name for member in loose))
    own = {PurePosixPath(name).stem for name in there} | {"starter", "submission", "given"}
    notes = []
    for name, text in files.items():
        for function, numbers in defined_again(text):
            times = "twice" if len(numbers) == 2 else f"{len(numbers)} times"
            places = f"{place(text, numbers[0])} and {place(text, numbers[-1])}"
            notes.append(f"{name} defines `{one_line(function, limit=60)}` {times} ({places}); the last one counts")
        for module, number in foreign_imports(text, own):
            what = f"{name} imports {one_line(module, limit=60)} ({place(text, number)})"
            notes.append(f"{what}, which is neither handed in nor installed by the course: the import fails in class")
    return notes


def _text(name: str, member: Member) -> tuple[str, str, list[str]]:
    """The text of a module, why there is none, and notes."""
    if member.problem:
        return "", f"{name} {member.problem}", []
    called = one_line(member.name)
    try:
        if _is_notebook(member):
            code, problem, note = code_of(called, member.read(MAX_NOTEBOOK_BYTES + 1))
            text, unfit = text_of(name, f"\ufeff{code}".encode("utf-8", "replace"))  # a coding line in it says nothing
            problem = problem or unfit
        else:
            data = member.read(MAX_FILE_BYTES + 1)
            text, problem = text_of(name, data)
            wide = wide_encoding(data)
            note = f"{called} was read as {wide}, which Python itself cannot import; save it as UTF-8" if wide else ""
    except OSError as error:
        return "", f"{name} cannot be read: {error.strerror}", []
    except Exception as error:  # a damaged place in an archive shows when it is unpacked
        return "", f"{name} cannot be unpacked ({type(error).__name__}); pack it again", []
    text, dropped = without_host_setup(text)
    notes = [note] if note else []
    if dropped:
        shown = "; ".join(one_line(line, limit=60) for line in dropped[:_LISTED])
        more = f" and {len(dropped) - _LISTED} more" if len(dropped) > _LISTED else ""
        notes.append(f"{called}: left out, because it only sets up the machine of a notebook: {shown}{more}")
    return text, problem, notes


def _helpers(modules: Mapping[str, str], loose: Sequence[Member]) -> tuple[dict[str, str], list[str]]:
    """Other Python files of a folder that its modules or other helpers import: their texts, and notes."""
    given = {PurePosixPath(name).name for name in given_files()}
    others = {
        member.name.removesuffix(".py"): member
        for member in loose
        if member.name.endswith(".py") and member.name.removesuffix(".py").isidentifier()
        if not _graded_name(member) and member.name not in (*given, "__init__.py")
    }
    taken: dict[str, str] = {}
    notes: list[str] = []
    size, waiting = 0, [text for name, text in modules.items() if name.endswith(".py")]
    while waiting and others:
        importing = waiting.pop()
        imported = {*re.findall(r"\w+", "\n".join(_IMPORT.findall(importing)))}
        for stem in sorted(imported & others.keys()):
            member = others.pop(stem)
            if stem in _LIBRARIES:
                notes.append(f"{member.name} was left out: a library has that name")
                continue
            text, problem, _ = _text(member.name, member)
            size += len(text.encode("utf-8", "replace"))
            if not problem and (len(taken) == MAX_HELPERS or size > MAX_HELPER_BYTES):
                limit = f"{MAX_HELPERS} files with {MAX_HELPER_BYTES // 1_000} kB together"
                problem = f"{member.name} was left out: besides the modules at most {limit} are taken along"
            notes.append(problem or f"{member.name} was taken along, because a module imports it")
            if not problem:
                taken[member.name] = text
                waiting.append(text)
    return taken, notes


def _notes_on_given(members: Sequence[Member], place: PurePosixPath) -> list[str]:
    """Which given code is not the course's own; in old handouts it lay next to the modules."""
    last = {member.path: member for member in members}  # of two with one path the last, as unpacked
    changed = [
        str(path.relative_to(place))
        for name, text in given_files().items()
        for path in dict.fromkeys((place / name, place / PurePosixPath(name).name))
        if path in last and _text(name, last[path])[0] != text
    ]
    if not changed:
        return []
    differ = "differs" if len(changed) == 1 else "differ"
    return [f"{listed(changed)} {differ} from the course's; the grader used its own"]


def _worksheet(found: Mapping[PurePosixPath, Mapping[str, list[Member]]]) -> tuple[bytes | NoWorksheet, list[str]]:
    """The worksheet nearest to the top, and notes."""
    places = [place for place, files in found.items() if WORKSHEET_FILE in files]
    if not places:
        return NoWorksheet(WHERE_TO_GET_IT, missing=True), []
    place, *others = sorted(places, key=lambda place: (len(place.parts), str(place)))
    graded = one_line(str(place))
    notes = _notes_on_choice(WORKSHEET_FILE, found[place][WORKSHEET_FILE])
    notes += [f"there is a worksheet in {one_line(str(other))} too; graded is that in {graded}" for other in others]
    member = found[place][WORKSHEET_FILE][0]
    if member.problem:
        return NoWorksheet(f"{WORKSHEET_FILE} {member.problem}"), notes
    try:
        return member.read(LARGEST_WORKSHEET + 1), notes
    except Exception as error:
        return NoWorksheet(f"{WORKSHEET_FILE} cannot be read ({type(error).__name__})"), notes
