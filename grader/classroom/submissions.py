"""Finds the submissions of a class in what a platform lets one download, and whose they are.

A folder, or one zip, with a folder or an archive for each student; and the layouts of Gradescope (a file names people
and times), Canvas (flat files, `name_LATE_user_submission_file`), Moodle (`name_participant_assignsubmission_file`) and
GitHub (`assignment-username`). Inside a submission the modules may lie at the top, in `starter/`, in any other folder,
or in one more archive.

Left out on purpose: times of commits and files. A commit says what its author wants, and a file when it was unpacked;
`late` asks for the time of those that the platform does not tell.
"""

from __future__ import annotations

import itertools
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from ..core.course import EXERCISES
from ..core.submission import MAX_FILE_BYTES, Submission, text_of
from ..core.text import counted, one_line
from ..worksheet.questions import FILE_NAME as WORKSHEET_FILE
from ..worksheet.questions import LARGEST_FILE
from ..worksheet.reader import WHERE_TO_GET_IT, WorksheetFile, unreadable, worksheet_of
from .files import (
    ARCHIVES,
    MAX_ARCHIVE_BYTES,
    MAX_CLASS_MEMBERS,
    OTHER_ARCHIVES,
    ArchiveError,
    Member,
    is_ignored,
    member_of_folder,
    members_of_archive,
    members_of_folder,
    members_of_zip,
)
from .results import ClassError, Person, file_name

METADATA = "submission_metadata.yml"
MODULES = tuple(exercise.file_name for exercise in EXERCISES)
_CANVAS = re.compile(
    r"(?P<who>[^_/]+)_(?:(?P<late>LATE)_)?(?P<id>\d+)_(?P<submission>\d{1,20})_(?P<file>.+)", re.DOTALL
)
_MOODLE = re.compile(r"(?P<who>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL)
# What Canvas and browsers add to the name of a second upload or download: six characters at most.
_COPY = r"(?:-(?P<dash>\d{1,3})| ?\((?P<bracket>\d{1,3})\))"
_ENDS_LIKE_A_COPY = re.compile(rf"{_COPY}\Z", re.ASCII)
_STEMS = "|".join(re.escape(exercise.name) for exercise in EXERCISES)  # one with "_" looks like Canvas's names
_LIKE_A_MODULE = re.compile(rf"(?P<stem>{_STEMS}|[a-z]+){_COPY}?\.py(?:\.txt)?", re.IGNORECASE | re.ASCII)
_LIKE_A_WORKSHEET = re.compile(rf"worksheet{_COPY}?\.json", re.IGNORECASE | re.ASCII)
_OF_A_MAC = (".DS_Store", "._")  # where a Mac has shown a folder, or copied it to a disk of another kind
_NOTES = 8
_YAML_DEPTH = 20  # an export needs 4
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


@dataclass(frozen=True)
class HandedIn:
    """One submission of a class, not read yet.

    Attributes:
        name: Unique in the class.
        list_files: Gives its files.
        people: Whose it is.
        submitted_at: When, if the platform says.
        marked_late: Whether the platform calls it late.
    """

    name: str
    list_files: Callable[[], Sequence[Member]] = field(repr=False)
    people: tuple[Person, ...] = ()
    submitted_at: datetime | None = None
    marked_late: bool = False

    def read(self) -> Contents:
        """Read what is graded. Never raises for what a student did: that becomes a problem of the submission."""
        try:
            contents = _contents(self.list_files())
        except ArchiveError as error:
            return _unreadable(one_line(str(error), limit=400))
        except OSError as error:
            return _unreadable(f"it cannot be read: {error.strerror}")
        if (more := len(contents.notes) - _NOTES) > 0:
            return replace(contents, notes=(*contents.notes[:_NOTES], f"and {more} more of this kind"))
        return contents


@dataclass(frozen=True)
class _Top:
    """What lies at the top of a class: a folder, or a file that is its own only member."""

    name: str
    is_file: bool
    list_files: Callable[[], Sequence[Member]]

    def renamed(self, place: str, upload: int) -> Callable[[], Sequence[Member]]:
        """Its files, below another folder or, for a file, under another name, with the number of their upload."""
        top = PurePosixPath(place)
        return lambda: [
            replace(member, path=top if self.is_file else top / member.path, upload=upload)
            for member in self.list_files()
        ]


def find_submissions(path: Path, *, left_out: list[str] | None = None) -> list[HandedIn]:
    """Every submission of a class, sorted by name.

    Args:
        path: A folder, or the zip that a platform makes.
        left_out: Filled with the names of what lies beside the submissions and is none.

    Raises:
        ClassError: there is nothing like a class; the text says what to do.
    """
    try:
        tops = _tops(path)
    except ArchiveError as error:
        raise ClassError(str(error)) from None
    except OSError as error:
        raise ClassError(f"{path} cannot be read: {error.strerror}") from None
    names = {top.name for top in tops if not top.name.startswith(_OF_A_MAC)} - {METADATA}
    tops = [top for top in tops if not _is_hidden(top.name)]
    own = sorted({top.name for top in tops if top.is_file} & {*MODULES})
    if own:
        what = "give the folder that holds the folders of all students, or grade this one with `grade --path`"
        raise ClassError(f"{path} holds {', '.join(own)} itself, so it is one submission; {what}")
    taken, found = _gradescope(tops) or _canvas(tops) or _moodle(tops) or _plain(tops)
    if not found:
        raise ClassError(f"{path} holds no folder and no archive of a student")
    if left_out is not None:
        left_out += sorted(names - taken)
    return _unique(sorted(found, key=lambda each: each.name))


def _tops(path: Path) -> list[_Top]:
    if path.is_dir():
        return _tops_of_folder(path)
    if not path.exists():
        raise ClassError(f"there is no {path}; give the folder or the zip with the submissions of the class")
    if path.suffix.lower() != ".zip":
        raise ClassError(f"{path} is no folder and no zip; unpack it and give the folder")
    return _tops_of_zip(members_of_zip(path))


def _tops_of_folder(path: Path) -> list[_Top]:
    entries = sorted(path.iterdir())
    seen = [file for file in entries if not _is_hidden(file.name)]
    if len(seen) == 1 and seen[0].is_dir():
        members = members_of_folder(seen[0], max_members=MAX_CLASS_MEMBERS)
        if _is_class(seen[0].name, [member.path for member in members]):
            return _tops_of_folder(seen[0])
    return [
        _Top(file.name, False, partial(members_of_folder, file))
        if file.is_dir() and not file.is_symlink()
        else _Top(file.name, True, partial(_lone, file))
        for file in entries
    ]


def _lone(file: Path) -> list[Member]:
    return [member_of_folder(file, PurePosixPath(file.name))]


def _tops_of_zip(members: Sequence[Member]) -> list[_Top]:
    seen = [member.path for member in members if not _is_hidden(member.path.parts[0])]
    outer = seen[0].parts[0] if seen else ""
    alone = all(path.parts[0] == outer for path in seen)
    if alone and _is_class(outer, [_below(path) for path in seen if _is_walked(path)]):
        inside = [member for member in members if member.path.parts[0] == outer and len(member.path.parts) > 1]
        members = [replace(member, path=_below(member.path)) for member in inside]
    grouped: dict[str, list[Member]] = {}
    for member in members:
        grouped.setdefault(member.path.parts[0], []).append(member)
    tops = []
    for name, files in sorted(grouped.items()):
        is_file = len(files[0].path.parts) == 1
        walked = [replace(member, path=_below(member.path)) for member in files if _is_walked(member.path)]
        tops.append(_Top(name, is_file, partial(list, files if is_file else walked)))
    return tops


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _is_walked(path: PurePosixPath) -> bool:
    """Whether the folder below that of a student, if the path has one, may hold answers."""
    return len(path.parts) < 3 or not is_ignored(path.parts[1])


def _is_class(name: str, paths: Iterable[PurePosixPath]) -> bool:
    """Whether the only folder at the top is a class and not a student.

    A class holds folders, archives or a platform's flat files, and no modules or worksheet where a student has them.
    """
    if _MOODLE.fullmatch(name):
        return False
    paths = [path for path in paths if path.parts]
    students = [path.name for path in paths if path.parts[:-1] in ((), ("starter",))]
    if any(_LIKE_A_MODULE.fullmatch(name) or _LIKE_A_WORKSHEET.fullmatch(name) for name in students):
        return False
    tops = {path.parts[0]: len(path.parts) > 1 for path in paths}
    return any(
        is_folder or name.lower().endswith(ARCHIVES) or _CANVAS.fullmatch(name) or _MOODLE.fullmatch(name)
        for name, is_folder in tops.items()
    )


def _below(path: PurePosixPath) -> PurePosixPath:
    return PurePosixPath(*path.parts[1:])


# Layouts


_Found = tuple[set[str], list[HandedIn]] | None
"""Names at the top that were taken, and the submissions; None if this is another layout."""


def _gradescope(tops: Sequence[_Top]) -> _Found:
    """An export: folders `submission_123`, and a file that says whose they are and when they came."""
    described = next((top for top in tops if top.name == METADATA and top.is_file), None)
    if described is None:
        return None
    try:
        metadata = _yaml(described.list_files()[0].read(50_000_000))
    except Exception as error:  # no YAML, or a damaged place in the zip, which shows when it is unpacked
        raise ClassError(f"{METADATA} cannot be read: {one_line(str(error))}; download the export again") from None
    metadata = metadata if isinstance(metadata, dict) else {}
    folders = {top.name: top.list_files for top in tops if not top.is_file}
    if not folders:
        return set(), []
    listed = {name: _not_in_the_export for name, entry in metadata.items() if isinstance(entry, dict)}
    found = [_gradescope_submission(name, files, metadata.get(name)) for name, files in {**listed, **folders}.items()]
    return set(folders), found


def _not_in_the_export() -> list[Member]:
    raise ArchiveError("the export lists this submission and does not hold it; download the export again")


def _gradescope_submission(name: str, list_files: Callable[[], Sequence[Member]], entry: object) -> HandedIn:
    entry = entry if isinstance(entry, dict) else {}
    submitters = entry.get(":submitters")
    submitters = submitters if isinstance(submitters, list) else []
    people = tuple(_gradescope_person(one) for one in submitters if isinstance(one, dict))
    return HandedIn(name, list_files, people, _time(entry.get(":created_at")))


def _yaml(data: bytes) -> Any:
    """The content of a YAML file.

    Everything is text for this loader: no tag makes an object, and no student number becomes an octal number.

    Raises:
        yaml.YAMLError: it is no YAML.
        ValueError: it is nested too deeply, or no text.
    """
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    depth = 0
    for event in yaml.parse(data, loader):  # a loop: the loader itself recurses in C until the process is gone
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _YAML_DEPTH:
            raise ValueError(f"it is nested more than {_YAML_DEPTH} deep")
    return yaml.load(data, loader)


def _gradescope_person(entry: Mapping[str, Any]) -> Person:
    texts = (entry.get(key) for key in (":name", ":email", ":sid"))
    name, email, number = (text if isinstance(text, str) and text not in ("~", "null") else "" for text in texts)
    return Person(name=name, email=email, number=number, platform="gradescope")


def _time(value: object) -> datetime | None:
    """A time of Gradescope's file, as Ruby writes it; those without a zone are UTC, as YAML readers give them."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(re.sub(r" (?=[+-]\d\d:?\d\d$|Z$)", "", value.strip().removesuffix(" UTC")))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _canvas(tops: Sequence[_Top]) -> _Found:
    """A download: one flat file for each file of each student."""
    return _grouped(tops, _CANVAS, "canvas")


def _moodle(tops: Sequence[_Top]) -> _Found:
    """A download: a folder for each student, or flat files."""
    return _grouped(tops, _MOODLE, "moodle")


def _grouped(tops: Sequence[_Top], pattern: re.Pattern[str], platform: str) -> _Found:
    """The students whose names and numbers stand in the names at the top; None if fewer than half are like that."""
    matches = [(top, match) for top in tops if (match := pattern.fullmatch(top.name))]
    if not matches or 2 * len(matches) < len(tops):
        return None
    grouped: dict[tuple[str, str], list[tuple[_Top, re.Match[str]]]] = {}
    for top, match in matches:
        grouped.setdefault((match["who"], match["id"]), []).append((top, match))
    found = []
    for (who, number), parts in grouped.items():
        uploads = [int(match.groupdict().get("submission") or 0) for _, match in parts]
        listers = [top.renamed(match["file"], upload) for (top, match), upload in zip(parts, uploads, strict=True)]
        late = any(match.groupdict().get("late") for _, match in parts)
        person = Person(name=who, platform=platform, platform_id=number)
        found.append(HandedIn(f"{who}_{number}", partial(_joined, listers), (person,), None, late))
    return {top.name for top, _ in matches}, found


def _joined(listers: Iterable[Callable[[], Sequence[Member]]]) -> list[Member]:
    return [member for lister in listers for member in lister()]


def _plain(tops: Sequence[_Top]) -> tuple[set[str], list[HandedIn]]:
    """A folder or an archive for each student; other files are a list of names or a note."""
    folders = [top.name for top in tops if not top.is_file]
    shared = os.path.commonprefix(folders) if len(folders) > 1 else ""  # noqa: RUF071 (of names, not of paths)
    assignment = shared[: shared.rfind("-") + 1]  # GitHub calls a folder `assignment-username`
    taken, found = set(), []
    for top in tops:
        ending = next((each for each in (*ARCHIVES, *OTHER_ARCHIVES) if top.name.lower().endswith(each)), "")
        if ending or not top.is_file:
            taken.add(top.name)
        if top.is_file and ending:
            found.append(HandedIn(top.name[: -len(ending)], top.list_files))
        elif not top.is_file:
            username = top.name.removeprefix(assignment) if assignment else ""
            found.append(
                HandedIn(top.name, top.list_files, (Person(username=username, platform="github"),) if username else ())
            )
    return taken, found


def _unique(found: list[HandedIn]) -> list[HandedIn]:
    """The same, with names that stay different as names of files, on a disk that knows no capitals too."""
    names: set[str] = set()
    unique = []
    for each in found:
        composed = unicodedata.normalize("NFC", each.name)  # as in `file_name`; a few letters take more bytes then
        short = one_line(composed, limit=80).encode()[:200].decode("utf-8", "ignore").strip() or "submission"
        tries = itertools.chain([short], (f"{short} ({number})" for number in itertools.count(2)))
        name = next(one for one in tries if file_name(one).casefold() not in names)
        names.add(file_name(name).casefold())
        unique.append(replace(each, name=name))
    return unique


# What one student handed in


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
