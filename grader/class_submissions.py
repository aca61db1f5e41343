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

from .class_files import (
    ARCHIVES,
    MAX_ARCHIVE_BYTES,
    MAX_CLASS_MEMBERS,
    OTHER_ARCHIVES,
    ArchiveError,
    Member,
    member_of_folder,
    members_of_archive,
    members_of_folder,
    members_of_zip,
)
from .class_results import ClassError, Person, file_name
from .course import EXERCISES
from .exporters.plain_text import one_line
from .submission import MAX_FILE_BYTES, Submission, text_of
from .worksheet_questions import FILE_NAME as WORKSHEET_FILE
from .worksheet_questions import LARGEST_FILE
from .worksheet_reader import WHERE_TO_GET_IT, WorksheetFile, unreadable, worksheet_of

METADATA = "submission_metadata.yml"
MODULES = tuple(exercise.file_name for exercise in EXERCISES)
_CANVAS = re.compile(r"(?P<who>[^_/]+)_(?:(?P<late>LATE)_)?(?P<id>\d+)_(?P<submission>\d+)_(?P<file>.+)", re.DOTALL)
_MOODLE = re.compile(r"(?P<who>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL)
_LIKE_A_MODULE = re.compile(
    r"(?P<stem>[a-z]+)(?:-(?P<dash>\d{1,3})| ?\((?P<bracket>\d{1,3})\))?\.py(?:\.txt)?", re.IGNORECASE | re.ASCII
)
_LIKE_A_WORKSHEET = re.compile(r"worksheet(?:-\d{1,3}| ?\(\d{1,3}\))?\.json", re.ASCII)
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
            return _contents(self.list_files())
        except ArchiveError as error:
            return _unreadable(one_line(str(error), limit=400))
        except OSError as error:
            return _unreadable(f"it cannot be read: {error.strerror}")


@dataclass(frozen=True)
class _Top:
    """What lies at the top of a class: a folder, or a file that is its own only member."""

    name: str
    is_file: bool
    list_files: Callable[[], Sequence[Member]]

    def renamed(self, place: str) -> Callable[[], Sequence[Member]]:
        """Its files, below another folder or, for a file, under another name."""
        if self.is_file:
            return lambda: [replace(member, path=PurePosixPath(place)) for member in self.list_files()]
        return lambda: [replace(member, path=PurePosixPath(place) / member.path) for member in self.list_files()]


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
    own = sorted({top.name for top in tops if top.is_file} & {*MODULES})
    if own:
        what = "give the folder that holds the folders of all students, or grade this one with `grade --path`"
        raise ClassError(f"{path} holds {', '.join(own)} itself, so it is one submission; {what}")
    taken, found = _gradescope(tops) or _canvas(tops) or _moodle(tops) or _plain(tops)
    if not found:
        raise ClassError(f"{path} holds no folder and no archive of a student")
    if left_out is not None:
        left_out += sorted({top.name for top in tops} - taken - {METADATA})
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
    entries = [file for file in sorted(path.iterdir()) if not file.name.startswith(".")]
    alone = len(entries) == 1 and entries[0].is_dir() and not _MOODLE.fullmatch(entries[0].name)
    if alone and _is_class(each.path for each in members_of_folder(entries[0], max_members=MAX_CLASS_MEMBERS)):
        return _tops_of_folder(entries[0])
    return [
        _Top(file.name, False, partial(members_of_folder, file))
        if file.is_dir() and not file.is_symlink()
        else _Top(file.name, True, partial(_lone, file))
        for file in entries
    ]


def _lone(file: Path) -> list[Member]:
    return [member_of_folder(file, PurePosixPath(file.name))]


def _tops_of_zip(members: Sequence[Member]) -> list[_Top]:
    if len({member.path.parts[0] for member in members}) == 1 and _is_class(_below(each.path) for each in members):
        members = [replace(member, path=_below(member.path)) for member in members if len(member.path.parts) > 1]
    grouped: dict[str, list[Member]] = {}
    for member in members:
        grouped.setdefault(member.path.parts[0], []).append(member)
    tops = []
    for name, files in sorted(grouped.items()):
        is_file = len(files[0].path.parts) == 1
        inside = files if is_file else [replace(member, path=_below(member.path)) for member in files]
        tops.append(_Top(name, is_file, partial(list, inside)))
    return tops


def _is_class(paths: Iterable[PurePosixPath]) -> bool:
    """Whether the only folder at the top is a class and not a student.

    A class holds folders, archives or a platform's flat files, and no modules where a student has them.
    """
    paths = [path for path in paths if path.parts]
    if any(_LIKE_A_MODULE.fullmatch(path.name) and path.parts[:-1] in ((), ("starter",)) for path in paths):
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
    found = []
    for top in tops:
        if not top.is_file:
            entry = metadata.get(top.name)
            entry = entry if isinstance(entry, dict) else {}
            submitters = entry.get(":submitters")
            people = (
                [_gradescope_person(one) for one in submitters if isinstance(one, dict)]
                if isinstance(submitters, list)
                else []
            )
            found.append(HandedIn(top.name, top.list_files, tuple(people), _time(entry.get(":created_at"))))
    return {each.name for each in found}, found


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
        listers = [top.renamed(match["file"]) for top, match in parts]
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
    found = _modules(members)
    if not found and depth:
        inner = [member for member in members if member.is_archive]
        if inner:
            return _from_archive(inner, depth)
        other = [member.name for member in members if member.name.lower().endswith(OTHER_ARCHIVES)]
        if other:
            return _unreadable(f"{one_line(other[0])} is packed in a way that is not read here; hand in a zip")
    if not found:
        found = {PurePosixPath(): {}}
    ranked = sorted(
        found, key=lambda place: (place.name != "starter", -len(found[place]), len(place.parts), str(place))
    )
    chosen = found[ranked[0]]
    graded = one_line(str(ranked[0]))
    notes = [f"there are modules in {one_line(str(place))} too; graded is {graded}" for place in ranked[1:]]
    if not chosen:
        named = ", ".join(one_line(member.name, limit=60) for member in members[:5])
        notes.append(f"no module was found; there are {len(members)} files" + (f": {named}" if named else ""))
    files: dict[str, str] = {}
    problems: dict[str, str] = {}
    for name in MODULES:
        if name not in chosen:
            problems[name] = f"{name} is missing"
            continue
        member, *others = chosen[name]
        if member.name != name:
            notes.append(f"{one_line(member.name)} was taken as {name}")
        taken = one_line(member.name)
        if same := sum(other.name == member.name for other in others):
            notes.append(f"there are {same + 1} of {taken} in one place; graded is the last, as when unpacked")
        notes += [
            f"there is {one_line(each.name)} too; graded is {taken}" for each in others if each.name != member.name
        ]
        text, problem = ("", f"{name} {member.problem}") if member.problem else _text(name, member)
        (problems if problem else files)[name] = problem or text
        notes += [problem] if problem else []
    submission = Submission("submission", Path("submission"), files, problems)
    if len(notes) > _NOTES:
        notes[_NOTES:] = [f"and {len(notes) - _NOTES} more of this kind"]
    return Contents(submission, _worksheet(members), tuple(notes))


def _from_archive(archives: Sequence[Member], depth: int) -> Contents:
    """What an archive holds; of several the last one, which is the newest where a platform numbers them."""
    last = archives[-1]
    notes = [f"there are {len(archives)} archives; graded is {one_line(last.name)}"] if len(archives) > 1 else []
    if last.problem:
        return _unreadable(f"{one_line(last.name)} {last.problem}")
    try:
        data = last.read(MAX_ARCHIVE_BYTES + 1)
    except Exception as error:  # a damaged archive in an archive shows when it is unpacked
        raise ArchiveError(
            f"{one_line(last.name)} cannot be unpacked ({type(error).__name__}); pack it again"
        ) from None
    contents = _contents(members_of_archive(last.name, data), depth - 1)
    return Contents(contents.submission, contents.worksheet, (*notes, *contents.notes))


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


def _number(file_name: str) -> int:
    match = _LIKE_A_MODULE.fullmatch(file_name)
    return int(match["dash"] or match["bracket"] or 0) if match else 0


def _text(name: str, member: Member) -> tuple[str, str]:
    try:
        return text_of(name, member.read(MAX_FILE_BYTES + 1))
    except OSError as error:
        return "", f"{name} cannot be read: {error.strerror}"
    except Exception as error:  # a damaged place in an archive shows when it is unpacked
        return "", f"{name} cannot be unpacked ({type(error).__name__}); pack it again"


def _worksheet(members: Sequence[Member]) -> bytes | WorksheetFile:
    """The worksheet that lies least deep; `worksheet-2.json` and `worksheet (1).json` are second uploads."""
    like = [member for member in reversed(members) if _LIKE_A_WORKSHEET.fullmatch(member.name)]
    found = sorted(like, key=lambda m: (m.name != WORKSHEET_FILE, len(m.path.parts), str(m.path)))
    if not found:
        return unreadable(WHERE_TO_GET_IT, missing=True)
    if found[0].problem:
        return unreadable(f"{WORKSHEET_FILE} {found[0].problem}")
    try:
        return found[0].read(LARGEST_FILE + 1)
    except Exception as error:
        return unreadable(f"{WORKSHEET_FILE} cannot be read ({type(error).__name__})")


def _unreadable(problem: str) -> Contents:
    """A submission of which nothing can be read: every module has the same problem."""
    submission = Submission("submission", Path("submission"), {}, dict.fromkeys(MODULES, problem))
    return Contents(submission, unreadable(problem), (problem,))
