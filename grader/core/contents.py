"""The only reader of submissions: for every command, it decides which file of an upload is which module.

The modules may be at the top, in `starter/`, in another folder, or in one archive. The reader also takes other Python
files next to them that they import. It notes every choice, and reads nothing else: not `conftest.py` or `pytest.ini`,
not the given files (the course has its own), only one archive in an archive, and no file named like a library.
"""

from __future__ import annotations

import codecs
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
from typing import TypeVar

from . import earlier_handouts
from .course import ALL_EXERCISES, EXERCISES, given_files
from .files import (
    ARCHIVES,
    MAX_ARCHIVE_BYTES,
    OTHER_ARCHIVES,
    Member,
    UnreadableError,
    in_memory,
    member_of_folder,
    members_of_archive,
    members_of_folder,
)
from .note import Note, NoteKind
from .notebook import MAX_NOTEBOOK_BYTES, code_of, is_notebook, without_host_setup, written_files
from .source import INSTALLED, foreign_imports, functions, is_unwritten, location
from .submission import Submission, SubmissionError, about_missing, text_of
from .text import listed, one_line, pluralize, some

WORKSHEET_FILE, LARGEST_WORKSHEET = "worksheet.json", 2_000_000
"""Its name, and the number of bytes to read. JSON takes at most six bytes per character."""

WHERE_TO_GET_IT = (
    f'there is no {WORKSHEET_FILE}: press "Download answers (JSON)" on the worksheet page and put it next to your'
    " modules"
)
READING_SECONDS = 15.0
"""Processor time for reading one submission; an honest one takes milliseconds."""

MODULES = tuple(exercise.file_name for exercise in EXERCISES)
MAX_HELPERS, MAX_HELPER_BYTES = 10, 100_000
"""Limits on the other files that the reader takes: their number and total size."""

_BY_FILE_NAME = {exercise.file_name: exercise for exercise in ALL_EXERCISES}
_ENDINGS = (".py", ".py.txt", ".ipynb")
# A copy has the number that Canvas or a browser adds to the name of a second upload or download.
_NAME = re.compile(
    r"(?P<stem>.*?)(?:-(?P<dash>\d{1,3})| ?\((?P<bracket>\d{1,3})\))?(?P<ending>\.py\.txt|(?:\.tar)?\.[a-z0-9]+)",
    re.DOTALL | re.ASCII,
)
_IMPORT = re.compile(r"\b(?:from|import)\b[^\n(]{0,200}(?:\([^)]{0,2000}\))?")
# Python's own modules, packages that may be installed, and names that a worker gives to the submission's folder.
_LIBRARIES = (
    sys.stdlib_module_names | INSTALLED | {"scipy", "pandas", "starter", "submission", "grader", "reference", "given"}
)
_CODING_LINE = re.compile(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]")
_MAX_NOTES = 8
_MAX_STRAYS = 20
"""Files without the name of a module that are searched for its functions."""
_TOP = PurePosixPath()
_Candidates = dict[PurePosixPath, dict[str, list[Member]]]
_Choice = TypeVar("_Choice")


@dataclass(frozen=True)
class NoWorksheet:
    """Why there is no worksheet to read."""

    problem: str  # the sentence for the student
    missing: bool = False  # there is no such file


@dataclass(frozen=True)
class Contents:
    """What one student handed in, as far as it is graded."""

    submission: Submission  # a module that cannot be read has a problem instead of a text
    worksheet: bytes | NoWorksheet  # the bytes of the file, or why there is none
    notes: tuple[Note, ...] = ()  # which files were chosen and what was odd, for the student and the instructor
    folder: PurePosixPath = _TOP  # the folder of the modules, from the top of the upload
    missing_modules: tuple[str, ...] = ()  # those without a file

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of missing files; unreadable ones are not missing."""
        no_worksheet = isinstance(self.worksheet, NoWorksheet) and self.worksheet.missing
        return (*self.missing_modules, WORKSHEET_FILE) if no_worksheet else self.missing_modules

    @property
    def has_modules(self) -> bool:
        """Whether there is a file for any module, including the optional ones, readable or not."""
        return bool({*self.submission.files, *self.submission.problems} - {*self.missing_modules})

    def graded(self) -> Submission:
        """The modules, with the notes.

        Raises:
            SubmissionError: there are no modules.
        """
        if not self.has_modules:
            what = f"{self.submission.path}: {'; '.join(map(str, self.notes))}"
            raise SubmissionError(f"{what}; give the folder that contains {', '.join(MODULES)}: grade --path FOLDER")
        return replace(self.submission, notes=self.notes)


def read_submission(path: Path) -> Submission:
    """The modules of one upload.

    Raises:
        SubmissionError: the folder is missing, unreadable, or has none of the graded files.
    """
    return read_upload(path).graded()


def read_upload(path: Path) -> Contents:
    """Read a folder or an archive that one student handed in or is working in.

    Raises:
        SubmissionError: the folder or archive is missing or unreadable.
    """
    try:
        if not os.path.lexists(path):
            raise SubmissionError(f"there is no folder {path}; give the folder with your modules: grade --path FOLDER")
        if path.is_dir():
            contents = _read(lambda: _contents(members_of_folder(path), top=path.resolve().name))
        elif path.name.lower().endswith(ARCHIVES):
            archive = member_of_folder(path.resolve(), PurePosixPath(path.name))
            contents = _read(lambda: _unpacked(archive))
        else:
            raise SubmissionError(f"{path} is a file; give the folder that contains it: grade --path {path.parent}")
    except (UnreadableError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SubmissionError(f"{path} cannot be read: {reason}") from None
    folder = path.resolve() / contents.folder
    if not os.path.isdir(folder):  # in an archive
        folder = path.resolve()
    return replace(contents, submission=replace(contents.submission, folder=folder.name or "submission", path=folder))


def may_be_graded(file_name: str) -> bool:
    """Whether a file may be a module or a worksheet: any one word, because a name with "_" may be one of Canvas's."""
    stem, _, ending = _parts(file_name)
    return bool(_graded_name(file_name)) or (ending in _ENDINGS and stem.isascii() and stem.isalpha())


def read_contents(list_files: Callable[[], Sequence[Member]]) -> Contents:
    """Read what is graded. Never raises for what a student did: that becomes a problem of the submission."""
    try:
        return _read(lambda: _contents(list_files()))
    except UnreadableError as error:
        return _unreadable(error)


def _read(read: Callable[[], Contents]) -> Contents:
    """Read one submission, within its time limit.

    Raises:
        UnreadableError: it cannot be read, whatever its readers raised.
    """
    try:
        with _limited(READING_SECONDS):
            contents = read()
            assert contents.submission.sha256  # raises for text that cannot be written as UTF-8
    except UnreadableError:
        raise
    except OSError as error:
        raise UnreadableError(f"it cannot be read: {error.strerror}") from None
    except _TooSlow:
        raise UnreadableError(f"reading it takes more than {READING_SECONDS:.0f} s; hand in only the modules") from None
    except Exception as error:
        reason = f"it cannot be read ({type(error).__name__}); hand in only the modules, saved as UTF-8"
        raise UnreadableError(reason) from None
    more = len(contents.notes) - _MAX_NOTES
    notes = (*contents.notes[:_MAX_NOTES], *([Note(f"and {more} more notes like these")] if more > 0 else []))
    return replace(contents, notes=notes)


class _TooSlow(BaseException):
    """The time for reading is over. A BaseException, because readers of single files continue after an Exception."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop code that takes more processor time, in the main thread and if the system can (Windows cannot)."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # repeat the signal, in case the first exception is lost
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _unreadable(error: UnreadableError) -> Contents:
    """An unreadable submission: every module has the same problem."""
    problem = one_line(str(error), limit=400)
    submission = Submission("submission", Path("submission"), {}, dict.fromkeys(MODULES, problem))
    return Contents(submission, NoWorksheet(problem), (Note(problem, NoteKind.UNREADABLE, MODULES),))


def _contents(members: Sequence[Member], top: str = "") -> Contents:
    """The loose files or, if no module is among them, the newest archive with the loose worksheet."""
    archives = sorted((member for member in members if _is_packed(member)), key=_age)
    loose = _chosen(members, top, any_name=not archives)
    if not archives:
        return loose
    name = one_line(archives[-1].name, limit=60)
    if loose.has_modules:
        note = f"the grader did not open {name}, because there are modules next to it"
        return replace(loose, notes=(Note(note, NoteKind.VERSIONS), *loose.notes))
    try:
        packed = _unpacked(archives[-1])
    except UnreadableError as error:
        packed = _unreadable(error)
    notes = []
    if len(archives) > 1:
        notes.append(Note(f"the grader opened the newest of {len(archives)} archives, {name}", NoteKind.VERSIONS))
    if WORKSHEET_FILE not in loose.missing:
        if isinstance(packed.worksheet, bytes):
            notes.append(Note(f"the grader took the {WORKSHEET_FILE} next to {name}, not the one inside"))
        packed = replace(packed, worksheet=loose.worksheet)
    return replace(packed, notes=(*notes, *packed.notes), folder=_TOP)


def _is_packed(member: Member) -> bool:
    return member.name.lower().endswith((*ARCHIVES, *OTHER_ARCHIVES))


def _age(archive: Member) -> tuple[bool, int, tuple[str, ...], str, int, str]:
    """Sorts archives from old to new by the platform's upload number, then by the number of a copy.

    The order in an archive or on a disk means nothing, and the same files must get the same grade in both.
    """
    readable, (stem, number, _) = archive.name.lower().endswith(ARCHIVES), _parts(archive.name)
    return readable, archive.upload, archive.path.parent.parts, stem, number, archive.name


def _parts(file_name: str) -> tuple[str, int, str]:
    """What the copies of a file have in common, the number of this copy, and the ending."""
    match = _NAME.fullmatch(file_name.lower())
    return (match["stem"], int(match["dash"] or match["bracket"] or 0), match["ending"]) if match else ("", 0, "")


def _unpacked(archive: Member, *, inside: bool = False) -> Contents:
    """The contents of an archive; if it holds no module, those of the newest archive in it, one level deep.

    Raises:
        UnreadableError: it cannot be read.
    """
    name = one_line(archive.name)
    if not name.lower().endswith(ARCHIVES):
        raise UnreadableError(f"the grader cannot open {name}; hand in a zip")
    members = members_of_archive(archive.name, archive.first_bytes(MAX_ARCHIVE_BYTES + 1))
    contents = _chosen(members)
    packed = sorted((member for member in members if _is_packed(member)), key=_age)
    if not packed or inside or contents.has_modules:
        why = "because it is an archive in an archive"
        shut = (f"the grader did not open {one_line(each.name, limit=60)}, {why}" for each in packed)
        return replace(contents, notes=(*(Note(text, NoteKind.VERSIONS) for text in shut), *contents.notes))
    inner = _unpacked(packed[-1], inside=True)
    opened = f"the grader opened {one_line(packed[-1].name, limit=60)}, which is in {name}"
    if len(packed) > 1:
        note = Note(f"{opened}, the newest of {len(packed)} archives", NoteKind.VERSIONS)
    else:
        note = Note(opened)
    worksheet = inner.worksheet if WORKSHEET_FILE in contents.missing else contents.worksheet
    return replace(inner, worksheet=worksheet, notes=(note, *inner.notes))


def _chosen(members: Sequence[Member], top: str = "", *, any_name: bool = True) -> Contents:
    """The modules and the worksheet among some files, without opening an archive.

    Args:
        members: The files.
        top: Name of the folder that holds them all, if it has one.
        any_name: Use a file of any name for a missing module if it defines that module's functions.
    """
    members = [*members, *_written_by_notebooks(members)]
    candidates = _candidates(members)
    left_out = _add_by_content(candidates, members) if any_name else []
    folder, notes = _choose_folder(candidates, top)
    here = {name: candidates[folder][name] for name in _BY_FILE_NAME if name in candidates.get(folder, {})}
    files, problems, about_modules = _modules(here)
    notes += about_modules
    missing = tuple(name for name in MODULES if name not in here)
    problems |= {name: about_missing(name) for name in missing}
    loose = [member for member in members if member.path.parent == folder]
    helpers, about = _helpers(files, loose)
    notes = [
        *_notes_on_code(files | helpers, loose),
        *earlier_handouts.note(files),
        *notes,
        *about,
        *_notes_on_given(members, folder),
    ]
    if not here:
        notes.append(_note_on_none(members))
    notes += [note for where, note in left_out if where == folder or not here]
    worksheet, about = _worksheet(candidates)
    submission = Submission("submission", Path("submission"), files | helpers, problems)
    return Contents(submission, worksheet, (*notes, *about), folder, missing)


def _modules(candidates: Mapping[str, Sequence[Member]]) -> tuple[dict[str, str], dict[str, str], list[Note]]:
    """The texts of the modules, the problems of those that cannot be read, and notes."""
    files: dict[str, str] = {}
    problems: dict[str, str] = {}
    notes: list[Note] = []
    for name, same in candidates.items():
        notes += _notes_on_choice(name, same)
        try:
            text, about = _text(name, same[0])
            if not text.strip():
                raise UnreadableError(f"{name} is empty; save your work in the editor and hand it in again")
            files[name] = text
        except UnreadableError as error:
            problems[name], about = str(error), [Note(str(error), NoteKind.UNREADABLE, (name,))]
        notes += about
    return files, problems, notes


def _written_by_notebooks(members: Sequence[Member]) -> list[Member]:
    """The modules that `%%writefile` cells write, as if they were next to their notebooks."""
    written = []
    for member in [*filter(_is_notebook, members)][:_MAX_STRAYS]:
        with contextlib.suppress(UnreadableError):  # a module says so where it is read
            notebook = one_line(member.name)
            for name, text in written_files(notebook, member.first_bytes(MAX_NOTEBOOK_BYTES + 1)).items():
                read = in_memory(text.encode("utf-8", "replace"))
                written.append(Member(member.path.parent / name, read, upload=member.upload, notebook=notebook))
    return written


def _note_on_none(members: Sequence[Member]) -> Note:
    if not members:
        return Note("found no module, because there are no files")
    names = [member.name for member in sorted(members, key=lambda member: member.path)[:5]]
    shown = ", ".join(one_line(name, limit=60) for name in names)
    return Note(f"found no module among {pluralize(len(members), 'file')}: {shown}", about=(*names,))


def _candidates(members: Sequence[Member]) -> _Candidates:
    """Folder to the files that may be each module or the worksheet, best first.

    `clip-2.py` and `clip (2).py` are names of a second upload or download; some editors save `clip.py` as `Clip.py` or
    `clip.py.txt`. A file wins over a cell that writes it, and that over a notebook of its name. Among files of one
    kind, the newest upload wins if the platform numbers uploads, then a module's plain name, because students edit and
    import it; for a worksheet the highest number, because a browser gives the plain name to the first download. But if
    only one of several files has been written in, it is the best.
    """

    candidates: _Candidates = {}
    # Of equal paths the last one, which unpacking would leave.
    unique = {(member.path, member.upload, member.notebook): member for member in members}
    for member in unique.values():
        if name := _graded_name(member.name):
            candidates.setdefault(member.path.parent, {}).setdefault(name, []).append(member)
    for files in candidates.values():
        for name, same in files.items():
            same.sort(key=_rank)
            files[name] = _written_first(same, functools.partial(_is_unwritten, name))
    return candidates


def _rank(member: Member) -> tuple[bool, bool, int, tuple[int, int], str]:
    """Sorts files of one name, the best first; each part decides only between files equal in all parts before it."""
    name, (_, number, _) = _graded_name(member.name), _parts(member.name)
    is_renamed = member.name != name
    return (
        _is_notebook(member),
        bool(member.notebook),  # a cell of it writes the file
        -member.upload,
        (-number, is_renamed) if name == WORKSHEET_FILE else (is_renamed, -number),
        member.name,
    )


def _graded_name(file_name: str) -> str:
    """The module or worksheet that a file may be; "" for any other file."""
    stem, _, ending = _parts(file_name)
    name = stem + (".py" if ending in _ENDINGS else ending)
    return name if name in (WORKSHEET_FILE, *_BY_FILE_NAME) else ""


def _is_notebook(member: Member) -> bool:
    return member.name.lower().endswith(".ipynb")


def _choose_folder(candidates: _Candidates, top: str) -> tuple[PurePosixPath, list[Note]]:
    """The folder whose modules are graded, and notes.

    That is `starter`, then the one with the most modules, then the one nearest to the top, unless only one has answers.
    """
    modules = {
        folder: files.keys() & _BY_FILE_NAME for folder, files in candidates.items() if files.keys() & _BY_FILE_NAME
    }

    def rank(folder: PurePosixPath) -> tuple[bool, int, int, str]:
        return (folder.name or top) != "starter", -len(modules[folder]), len(folder.parts), str(folder)

    def lacks_answers(folder: PurePosixPath) -> bool:
        return all(_is_unwritten(name, candidates[folder][name][0]) for name in modules[folder])

    ranked = sorted(modules, key=rank)
    folder, *others = _written_first(ranked, lacks_answers) or [_TOP]
    why, kind = "", NoteKind.VERSIONS
    if others and folder != ranked[0]:
        why, kind = ", which are as they were handed out", NoteKind.OTHER
    taken = _folder_name(folder)
    notes = [f"there are modules in {_folder_name(other)} too{why}; the grader took {taken}" for other in others]
    return folder, [Note(note, kind) for note in notes]


def _written_first(choices: list[_Choice], lacks_answers: Callable[[_Choice], bool]) -> list[_Choice]:
    """The choices, beginning with the only one that was written in; as they are if that is true of several or none."""
    written = [choice for choice in choices if not lacks_answers(choice)] if len(choices) > 1 else []
    return [*written, *(choice for choice in choices if choice not in written)] if len(written) == 1 else choices


def _folder_name(folder: PurePosixPath) -> str:
    return one_line(str(folder)) if folder.parts else "the top folder"


def _is_unwritten(name: str, member: Member) -> bool:
    """Whether a file is a module as it was handed out."""
    return name in _BY_FILE_NAME and is_unwritten(_text_or_nothing(member), _BY_FILE_NAME[name].function_names)


def _notes_on_choice(name: str, candidates: Sequence[Member]) -> list[Note]:
    """Why the grader uses the first of these files of one folder as the file of this name."""
    # A handout has a notebook next to each module; one that nobody touched is no surprise.
    used = [member for member in candidates[1:] if not (_is_notebook(member) and _is_unwritten(name, member))]
    (taken, file), *others = {_called(member): member for member in [candidates[0], *used]}.items()
    stub = [each for each in others if each[0] == name and _is_unwritten(name, each[1])]
    notes = []
    if taken != name:
        kind = NoteKind.OTHER_NAME if _graded_name(file.name) else NoteKind.GUESSED
        why = f", because {name} is as it was handed out" if stub else ""
        notes.append(Note(f"the grader used {taken} as {name}{why}", kind, (name, file.name)))
    for other, other_file in (each for each in others if each not in stub):
        about = (name, file.name, other_file.name)
        notes.append(Note(f"the grader took {taken}, not {other}", NoteKind.VERSIONS, about))
    return notes


def _called(member: Member) -> str:
    """A file's name for a note, including the notebook that writes it."""
    return one_line(member.name) + (f" (written by a cell of {member.notebook})" if member.notebook else "")


def _add_by_content(candidates: _Candidates, members: Sequence[Member]) -> list[tuple[PurePosixPath, Note]]:
    """Add a file of any name for a module that its folder lacks, or holds as it was handed out.

    It has to be the only one that defines functions of that module, and must not define those of another one.

    Returns:
        The folder of each file that was left out although it defines such functions, with a note.
    """
    folders = {folder for folder, files in candidates.items() if files.keys() & _BY_FILE_NAME}
    strays = [
        member
        for member in sorted(members, key=lambda member: member.path)
        if member.name.lower().endswith((".py", ".ipynb", ".pyw", ".txt")) and member.name not in _given_names()
        if not _graded_name(member.name) and (member.path.parent in folders or not folders)
    ]
    unwritten = {name: functools.partial(_is_unwritten, name) for name in _BY_FILE_NAME}
    by_module: dict[tuple[PurePosixPath, str], list[Member]] = {}
    notes = []
    for member in strays[:_MAX_STRAYS]:
        folder, defined = member.path.parent, functions(_text_or_nothing(member)).keys()
        there = candidates.get(folder, {})
        modules = [
            name
            for name, exercise in _BY_FILE_NAME.items()
            if defined & {*exercise.function_names}
            if name not in there or (all(map(unwritten[name], there[name])) and not unwritten[name](member))
        ]
        if len(modules) == 1:
            by_module.setdefault((folder, modules[0]), []).append(member)
        elif modules:
            what = f"the grader left out {one_line(member.name)}, because it defines functions of {listed(modules)}"
            text = f"{what}; hand in one file per module"
            notes.append((folder, Note(text, NoteKind.VERSIONS, (member.name, *modules))))
    for (folder, name), same in by_module.items():
        if len(same) == 1:
            candidates.setdefault(folder, {})[name] = [*same, *candidates.get(folder, {}).get(name, [])]
        else:
            called = listed([one_line(member.name) for member in same])
            what = f"the grader left out {called}, because each defines functions of {name}"
            text = f"{what}; rename the one that counts to {name}"
            notes.append((folder, Note(text, NoteKind.VERSIONS, (name, *(member.name for member in same)))))
    return notes


def _given_names() -> set[str]:
    return {PurePosixPath(name).name for name in given_files()}


def _notes_on_code(files: Mapping[str, str], loose: Sequence[Member]) -> list[Note]:
    """Surprises for the student: functions defined twice, imports that will fail."""
    there = (*files, *given_files(), *(member.name for member in loose))
    own = {PurePosixPath(name).stem for name in there} | {"starter", "submission", "given"}
    notes: list[Callable[[], Note]] = []
    for name, text in files.items():
        repeated = [(function, at) for function, at in functions(text).items() if len(at) > 1 and function != "_"]
        notes += [functools.partial(_note_on_repeated, name, text, *each) for each in repeated]
        notes += [functools.partial(_note_on_import, name, text, *each) for each in foreign_imports(text, own).items()]
    # The others are only counted, because finding their lines takes time.
    return [*(note() for note in notes[:_MAX_NOTES]), *([Note("")] * len(notes[_MAX_NOTES:]))]


def _note_on_repeated(name: str, text: str, function: str, numbers: Sequence[int]) -> Note:
    times = "twice" if len(numbers) == 2 else f"{len(numbers)} times"
    where = f"{location(text, numbers[0])} and {location(text, numbers[-1])}"
    what = f"{name} defines `{one_line(function, limit=60)}` {times}"
    return Note(f"{what} ({where}); the last one counts", about=(name,))


def _note_on_import(name: str, text: str, module: str, number: int) -> Note:
    what = f"{name} imports {one_line(module, limit=60)} ({location(text, number)})"
    why = "which was not handed in and which the course does not install (numpy and torch are installed)"
    return Note(f"{what}, {why}, so the grader skips this import in class", NoteKind.FOREIGN_IMPORT, (name, module))


def _text(name: str, member: Member) -> tuple[str, list[Note]]:
    """The text of a module, and notes.

    Raises:
        UnreadableError: there is none.
    """
    called = one_line(member.name)
    dropped: list[str] = []
    about: list[str] = []
    data = member.first_bytes(MAX_NOTEBOOK_BYTES + 1, name)
    if _is_notebook(member) or is_notebook(data):
        if not _is_notebook(member):
            as_notebook = f"{PurePosixPath(name).stem}.ipynb"
            about = [f"{called} is a notebook, so the grader used its code cells; rename it to {as_notebook}"]
            called = as_notebook
        code, dropped = code_of(called, data)
        data = f"\ufeff{code}".encode("utf-8", "replace")  # after this mark a coding line says nothing
    elif _is_latin_1(data):
        data = data.decode("cp1252").encode()
        about = [f"{called} is not UTF-8, so the grader read it as Latin-1; save it as UTF-8"]
    text, setup = without_host_setup(text_of(name, data))
    dropped += setup
    names = name, member.name
    notes = [Note(note, about=names) for note in about]
    if dropped:
        left_out = f"{called}: the grader left out what only a notebook can run: {some(dropped)}"
        notes.append(Note(left_out, NoteKind.LEFT_OUT, names))
    return text, notes


def _is_latin_1(data: bytes) -> bool:
    """Whether an older editor saved a text that is mostly ASCII without UTF-8 and without saying so."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _CODING_LINE.match(data):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        others = sum(byte > 127 for byte in data)
        with contextlib.suppress(UnicodeDecodeError):
            return bool(data.decode("cp1252")) and b"\0" not in data and 4 * others <= len(data)
    return False


def _text_or_nothing(member: Member) -> str:
    with contextlib.suppress(UnreadableError):
        return _text(member.name, member)[0]
    return ""


def _helpers(modules: Mapping[str, str], loose: Sequence[Member]) -> tuple[dict[str, str], list[Note]]:
    """Other Python files that the modules or their helpers import: their texts, and notes."""
    others = {
        member.name.removesuffix(".py"): member
        for member in loose
        if member.name.endswith(".py") and member.name.removesuffix(".py").isidentifier()
        if not _graded_name(member.name) and member.name not in (*_given_names(), "__init__.py")
    }
    helpers: dict[str, str] = {}
    notes: list[Note] = []
    size, waiting = 0, [*modules.values()]
    while waiting and others:
        imported = {*re.findall(r"\w+", "\n".join(_IMPORT.findall(waiting.pop())))}
        for stem in sorted(imported & others.keys()):
            member = others.pop(stem)
            try:
                if stem in _LIBRARIES:
                    raise UnreadableError(f"the grader left out {member.name}, because a library has that name")
                text, _ = _text(member.name, member)
                size += len(text.encode("utf-8", "replace"))
                if len(helpers) == MAX_HELPERS or size > MAX_HELPER_BYTES:
                    limit = f"{MAX_HELPERS} files with {MAX_HELPER_BYTES // 1_000} kB together"
                    raise UnreadableError(
                        f"the grader left out {member.name}: apart from the modules, it takes at most {limit}"
                    )
            except UnreadableError as error:
                notes.append(Note(str(error), NoteKind.LEFT_OUT, (member.name,)))
                continue
            taken = f"the grader also took {member.name}, because a module imports it"
            notes.append(Note(taken, about=(member.name,)))
            helpers[member.name] = text
            waiting.append(text)
    return helpers, notes


def _notes_on_given(members: Sequence[Member], folder: PurePosixPath) -> list[Note]:
    """Which given files differ from the course's; in old handouts they were next to the modules."""
    given = {folder / name: text for name, text in given_files().items()}
    given |= {folder / PurePosixPath(name).name: text for name, text in given_files().items()}
    files = [member for member in members if member.path in given]
    changed = [str(file.path.relative_to(folder)) for file in files if _text_or_nothing(file) != given[file.path]]
    return [Note(f"the grader used the course's own version of {listed(changed)}, not yours")] if changed else []


def _worksheet(candidates: _Candidates) -> tuple[bytes | NoWorksheet, list[Note]]:
    """The worksheet nearest to the top, and notes."""
    folders = [folder for folder, files in candidates.items() if WORKSHEET_FILE in files]
    if not folders:
        return NoWorksheet(WHERE_TO_GET_IT, missing=True), []
    folder, *others = sorted(folders, key=lambda folder: (len(folder.parts), str(folder)))
    notes = _notes_on_choice(WORKSHEET_FILE, candidates[folder][WORKSHEET_FILE])
    for other in others:
        notes.append(Note(f"there is a worksheet in {_folder_name(other)} too; the grader took {_folder_name(folder)}"))
    try:
        return candidates[folder][WORKSHEET_FILE][0].first_bytes(LARGEST_WORKSHEET + 1, WORKSHEET_FILE), notes
    except UnreadableError as error:
        return NoWorksheet(str(error)), notes
