"""Reads what one student handed in, as far as it is graded: a module or worksheet from wherever it lies.

The modules may lie at the top, in `starter/`, in any other folder, or in one more archive. Every choice among several
files has a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..core.course import EXERCISES
from ..core.submission import MAX_FILE_BYTES, Submission, text_of
from ..core.text import counted, one_line
from ..worksheet.questions import FILE_NAME as WORKSHEET_FILE
from ..worksheet.questions import LARGEST_FILE
from ..worksheet.reader import WHERE_TO_GET_IT, WorksheetFile, unreadable, worksheet_of
from .files import ARCHIVES, MAX_ARCHIVE_BYTES, OTHER_ARCHIVES, ArchiveError, Member, members_of_archive

MODULES = tuple(exercise.file_name for exercise in EXERCISES)
# What Canvas and browsers add to the name of a second upload or download: six characters at most.
_COPY = r"(?:-(?P<dash>\d{1,3})| ?\((?P<bracket>\d{1,3})\))"
_ENDS_LIKE_A_COPY = re.compile(rf"{_COPY}\Z", re.ASCII)
_STEMS = "|".join(re.escape(exercise.name) for exercise in EXERCISES)  # one with "_" looks like Canvas's names
_LIKE_A_MODULE = re.compile(rf"(?P<stem>{_STEMS}|[a-z]+){_COPY}?\.py(?:\.txt)?", re.IGNORECASE | re.ASCII)
_LIKE_A_WORKSHEET = re.compile(rf"worksheet{_COPY}?\.json", re.IGNORECASE | re.ASCII)
_NOTES = 8
_ARCHIVES_DEEP = 2
"""Archives in archives: a student's zip in a platform's, and one more that somebody packed once too often."""


@dataclass(frozen=True)
class Contents:
    """What one student handed in, as far as it is graded.

    Attributes:
        submission: The modules; what cannot be read has a problem instead of a text.
        worksheet: Data of the file, or why there is none.
        notes: What was odd, for the instructor.
    """

    submission: Submission
    worksheet: bytes | WorksheetFile
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the files that are not there; one that cannot be read is there."""
        modules = [name for name in MODULES if self.submission.problems.get(name) == _is_missing(name)]
        no_worksheet = isinstance(self.worksheet, WorksheetFile) and self.worksheet.missing
        return (*modules, WORKSHEET_FILE) if no_worksheet else tuple(modules)

    def read_worksheet(self) -> WorksheetFile:
        """The worksheet, whatever is in it."""
        return worksheet_of(self.worksheet) if isinstance(self.worksheet, bytes) else self.worksheet


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
    if (more := len(contents.notes) - _NOTES) > 0:
        return replace(contents, notes=(*contents.notes[:_NOTES], f"and {more} more of this kind"))
    return contents


def _contents(members: Sequence[Member], depth: int = _ARCHIVES_DEEP) -> Contents:
    """What lies here, and from an archive what is missing beside it."""
    members = sorted(members, key=_age)
    loose = _loose(members)
    # Where only the worksheet is missing, nobody needs to hear that `data.gz` is not read here.
    endings = (*ARCHIVES, *OTHER_ARCHIVES) if {*loose.missing} & {*MODULES} else ARCHIVES
    archives = [member for member in members if member.name.lower().endswith(endings)]
    if archives and depth and loose.missing:
        return _filled(loose, sorted(archives, key=lambda archive: archive.is_archive), depth)
    if {*loose.missing} >= {*MODULES}:
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


def _loose(members: Sequence[Member]) -> Contents:
    """What lies here in no archive."""
    found = _modules(members) or {PurePosixPath(): {}}
    ranked = sorted(
        found, key=lambda place: (place.name != "starter", -len(found[place]), len(place.parts), str(place))
    )
    chosen = found[ranked[0]]
    graded = one_line(str(ranked[0]))
    notes = [f"there are modules in {one_line(str(place))} too; graded is {graded}" for place in ranked[1:]]
    files: dict[str, str] = {}
    problems: dict[str, str] = {}
    for name in MODULES:
        if name not in chosen:
            problems[name] = _is_missing(name)
            continue
        member = chosen[name][0]
        notes += _notes_on_choice(name, chosen[name])
        text, problem = ("", f"{name} {member.problem}") if member.problem else _text(name, member)
        (problems if problem else files)[name] = problem or text
        notes += [problem] if problem else []
    worksheet, more = _worksheet(members)
    return Contents(Submission("submission", Path("submission"), files, problems), worksheet, (*notes, *more))


def _is_missing(name: str) -> str:
    return f"{name} is missing"


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
    if not wanted and not taken:
        return loose
    if WORKSHEET_FILE in read and WORKSHEET_FILE not in loose.missing:
        notes.append(f"there is a {WORKSHEET_FILE} in {name} too; graded is the one beside it")
    if len(wanted) < len(MODULES):
        notes.append(f"taken from {name}: {', '.join(taken) or 'nothing'}")
        notes += [f"in {name}: {note}" for note in archive.notes]
    else:
        notes += archive.notes
    sources = {each: (archive if each in wanted else loose).submission for each in MODULES}
    files = {each: source.files[each] for each, source in sources.items() if each in source.files}
    problems = {each: source.problems[each] for each, source in sources.items() if each in source.problems}
    return Contents(
        replace(loose.submission, files=files, problems=problems),
        archive.worksheet if WORKSHEET_FILE in loose.missing else loose.worksheet,
        (*notes, *loose.notes),
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
    editors make of a name. The plain name, where it is there, is what its student means; then the highest number.
    """
    found: dict[PurePosixPath, dict[str, list[Member]]] = {}
    for member in reversed(members):  # of two with one path the last, as unpacked
        match = _LIKE_A_MODULE.fullmatch(member.name)
        name = f"{match['stem'].lower()}.py" if match else ""
        if name in MODULES:
            found.setdefault(member.path.parent, {}).setdefault(name, []).append(member)
    for modules in found.values():
        for candidates in modules.values():
            candidates.sort(key=lambda member: (member.name not in MODULES, -_number(member.name), member.name))
    return found


def _text(name: str, member: Member) -> tuple[str, str]:
    try:
        return text_of(name, member.read(MAX_FILE_BYTES + 1))
    except OSError as error:
        return "", f"{name} cannot be read: {error.strerror}"
    except Exception as error:  # a damaged place in an archive shows when it is unpacked
        return "", f"{name} cannot be unpacked ({type(error).__name__}); pack it again"


def _worksheet(members: Sequence[Member]) -> tuple[bytes | WorksheetFile, list[str]]:
    """The worksheet that lies least deep, and notes; of several in one folder that with the highest number.

    A module is edited, so its plain name is the one that its student means; a worksheet comes from a browser, which
    leaves the plain name to the first download and numbers the later ones.
    """
    found: dict[PurePosixPath, list[Member]] = {}
    for member in reversed(members):
        if _LIKE_A_WORKSHEET.fullmatch(member.name):
            found.setdefault(member.path.parent, []).append(member)
    if not found:
        return unreadable(WHERE_TO_GET_IT, missing=True), []
    place, *others = sorted(found, key=lambda place: (len(place.parts), str(place)))
    candidates = sorted(found[place], key=lambda m: (-_number(m.name), m.name != WORKSHEET_FILE, m.name))
    graded = one_line(str(place))
    notes = _notes_on_choice(WORKSHEET_FILE, candidates)
    notes += [f"there is a worksheet in {one_line(str(other))} too; graded is that in {graded}" for other in others]
    if candidates[0].problem:
        return unreadable(f"{WORKSHEET_FILE} {candidates[0].problem}"), notes
    try:
        return candidates[0].read(LARGEST_FILE + 1), notes
    except Exception as error:
        return unreadable(f"{WORKSHEET_FILE} cannot be read ({type(error).__name__})"), notes


def _unreadable(problem: str) -> Contents:
    """A submission of which nothing can be read: every module has the same problem."""
    submission = Submission("submission", Path("submission"), {}, dict.fromkeys(MODULES, problem))
    return Contents(submission, unreadable(problem), (problem,))
