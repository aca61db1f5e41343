"""Finds the submissions of a class in a platform's download, and their owners.

A folder, or one zip, with a folder or an archive for each student; and the layouts of Gradescope (a file names people
and times), Canvas (flat files, `name_LATE_user_submission_file`), Moodle (`name_participant_assignsubmission_file`) and
GitHub (`assignment-username`). `contents` says what is in a submission.

It ignores the times of commits and files, because an author can set a commit's time, and a file has the time of its
unpacking. If the platform gives no time, `late` asks for it.
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

from ..core.contents import MODULES, Contents, may_be_graded, read_contents
from ..core.files import (
    ARCHIVES,
    MAX_CLASS_MEMBERS,
    OTHER_ARCHIVES,
    Member,
    UnreadableError,
    is_ignored,
    member_of_folder,
    members_of_folder,
    members_of_zip,
)
from ..core.text import one_line
from .results import ClassError, Decision, Person, file_name

METADATA = "submission_metadata.yml"
CANVAS_FILE = re.compile(
    r"(?P<who>[^_/]+)_(?:(?P<late>LATE)_)?(?P<id>\d+)_(?P<submission>\d{1,20})_(?P<file>.+)", re.DOTALL
)
"""Name of a file in Canvas's download: whose it is, and the numbers of the user and of the uploaded file."""

_MOODLE = re.compile(r"(?P<who>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL)
# Of a folder: nothing follows, whatever its student is called.
_MOODLE_FOLDER = re.compile(r"(?P<who>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>)", re.DOTALL)
_OF_A_MAC = (".DS_Store", "._")  # where a Mac has shown a folder, or copied it to a disk of another kind
_YAML_DEPTH = 20  # an export needs 4


@dataclass(frozen=True)
class HandedIn:
    """One submission of a class, not read yet.

    Attributes:
        name: Unique in the class.
        list_files: Gives its files.
        people: Whose it is.
        submitted_at: When, if the platform says.
        marked_late: Whether the platform calls it late.
        uploads: What its files are called in Canvas's download, which takes feedback by these names.
        contents: What counts in place of the files; None if the files count. See `kept`.
        decision: Whether the instructor regraded or added it.
    """

    name: str
    list_files: Callable[[], Sequence[Member]] = field(repr=False)
    people: tuple[Person, ...] = ()
    submitted_at: datetime | None = None
    marked_late: bool = False
    uploads: tuple[str, ...] = ()
    contents: Contents | None = field(default=None, repr=False)
    decision: Decision | None = None

    def read(self) -> Contents:
        """Read the graded files. Nothing that a student did raises an error: it becomes a problem of the submission."""
        return self.contents or read_contents(self.list_files)


@dataclass(frozen=True)
class _Top:
    """What lies at the top of a class: a folder, or a file that is its own only member."""

    name: str
    is_file: bool
    list_files: Callable[[], Sequence[Member]]

    def renamed(self, folder: str, upload: int) -> Callable[[], Sequence[Member]]:
        """Its files, below another folder or, for a file, under another name, with the number of their upload."""
        top = PurePosixPath(folder)
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
    except UnreadableError as error:
        raise ClassError(str(error)) from None
    except OSError as error:
        raise ClassError(f"cannot read {path}: {error.strerror}") from None
    names = {top.name for top in tops if not top.name.startswith(_OF_A_MAC)} - {METADATA}
    tops = [top for top in tops if not _is_hidden(top.name)]
    own = sorted({top.name for top in tops if top.is_file} & {*MODULES})
    if own:
        what = "give the folder with the folders of all students, or grade this one with `grade --path`"
        raise ClassError(f"{path} itself contains {', '.join(own)}, so it is one submission; {what}")
    taken, found = _gradescope(tops) or _canvas(tops) or _moodle(tops) or _plain(tops)
    if not found:
        raise ClassError(f"{path} contains no folder or archive of a student")
    if left_out is not None:
        left_out += sorted(names - taken)
    return _unique(sorted(found, key=lambda each: each.name))


def _tops(path: Path) -> list[_Top]:
    if path.is_dir():
        return _tops_of_folder(path)
    if not path.exists():
        raise ClassError(f"there is no {path}; give the folder or the zip with the submissions of the class")
    if path.suffix.lower() != ".zip" or not path.is_file():
        raise ClassError(f"{path} is neither a folder nor a zip; unpack it and give the folder")
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


def submission_at(path: Path) -> HandedIn:
    """One submission in a folder, an archive or a file of any name.

    Raises:
        ClassError: there is none.
    """
    if not path.exists():
        raise ClassError(f"there is no {path}")
    return HandedIn(path.stem, partial(members_of_folder if path.is_dir() else _lone, path))


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
    """Whether the folder inside a student's folder, if the path has one, may contain answers."""
    return len(path.parts) < 3 or not is_ignored(path.parts[1])


def _is_class(name: str, paths: Iterable[PurePosixPath]) -> bool:
    """Whether the only folder at the top is a class and not a student.

    A class holds folders, archives or a platform's flat files, and no modules or worksheet where a student has them.
    """
    if _MOODLE.fullmatch(name):
        return False
    paths = [path for path in paths if path.parts]
    students = [path.name for path in paths if path.parts[:-1] in ((), ("starter",))]
    if any(map(may_be_graded, students)):
        return False
    tops = {path.parts[0]: len(path.parts) > 1 for path in paths}
    return any(
        is_folder or name.lower().endswith(ARCHIVES) or CANVAS_FILE.fullmatch(name) or _MOODLE.fullmatch(name)
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
        raise ClassError(f"cannot read {METADATA}: {one_line(str(error))}; download the export again") from None
    metadata = metadata if isinstance(metadata, dict) else {}
    folders = {top.name: top.list_files for top in tops if not top.is_file}
    if not folders:
        return set(), []
    listed = {name: _not_in_the_export for name, entry in metadata.items() if isinstance(entry, dict)}
    found = [_gradescope_submission(name, files, metadata.get(name)) for name, files in {**listed, **folders}.items()]
    return set(folders), found


def _not_in_the_export() -> list[Member]:
    raise UnreadableError("the export lists this submission but does not contain it; download the export again")


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
            raise ValueError(f"it is nested more than {_YAML_DEPTH} levels deep")
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
    return _grouped(tops, CANVAS_FILE, "canvas")


def _moodle(tops: Sequence[_Top]) -> _Found:
    """A download: a folder for each student, or flat files."""
    return _grouped(tops, _MOODLE, "moodle")


def _grouped(tops: Sequence[_Top], pattern: re.Pattern[str], platform: str) -> _Found:
    """The students whose names and numbers are in the names at the top; None if fewer than half are like that."""
    matches = [(top, match) for top in tops if (match := _match(pattern, top))]
    other = _MOODLE if pattern is CANVAS_FILE else CANVAS_FILE  # a student may be called like a file of the other
    if not matches or 2 * len(matches) < len(tops) or len(matches) < sum(bool(_match(other, top)) for top in tops):
        return None
    grouped: dict[tuple[str, str], list[tuple[_Top, re.Match[str]]]] = {}
    found = []
    for top, match in matches:
        if second := pattern is _MOODLE and top.is_file and _MOODLE.fullmatch(top.name, match.end("id") + 1):
            found.append(HandedIn(top.name, partial(_read_in_two_ways, match, second)))
        else:
            grouped.setdefault((match["who"], match["id"]), []).append((top, match))
    for (who, number), parts in grouped.items():
        uploads = [int(match.groupdict().get("submission") or 0) for _, match in parts]
        listers = [top.renamed(match["file"], upload) for (top, match), upload in zip(parts, uploads, strict=True)]
        late = any(match.groupdict().get("late") for _, match in parts)
        person = Person(name=who, platform=platform, platform_id=number)
        names = tuple(top.name for top, _ in parts) if pattern is CANVAS_FILE else ()
        found.append(HandedIn(f"{who}_{number}", partial(_joined, listers), (person,), None, late, names))
    return {top.name for top, _ in matches}, found


def _match(pattern: re.Pattern[str], top: _Top) -> re.Match[str] | None:
    return (_MOODLE_FOLDER if pattern is _MOODLE and not top.is_file else pattern).fullmatch(top.name)


def _read_in_two_ways(first: re.Match[str], second: re.Match[str]) -> list[Member]:
    """Students choose names freely, so one name may contain the other's separator."""
    name = first.string
    others = one_line(name[: second.end("id")].rpartition("_")[0])
    raise UnreadableError(
        f"it may be {one_line(first['file'])} of {one_line(first['who'])} ({first['id']}) or {one_line(second['file'])}"
        f" of {others} ({second['id']}); ask both, and rename it"
    )


def _joined(listers: Iterable[Callable[[], Sequence[Member]]]) -> list[Member]:
    return [member for lister in listers for member in lister()]


def _plain(tops: Sequence[_Top]) -> tuple[set[str], list[HandedIn]]:
    """One folder or archive per student; other files are a list of names or a note."""
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
    shown = {each.name: _as_shown(each.name) for each in found}
    for each in sorted(found, key=lambda each: shown[each.name] != each.name):  # plain names first: they keep theirs
        short = shown[each.name]
        tries = itertools.chain([short], (f"{short} ({number})" for number in itertools.count(2)))
        name = next(one for one in tries if file_name(one).casefold() not in names)
        names.add(file_name(name).casefold())
        unique.append(replace(each, name=name))
    return sorted(unique, key=lambda each: each.name)


def _as_shown(name: str) -> str:
    composed = unicodedata.normalize("NFC", name)  # as in `file_name`; a few letters take more bytes then
    return one_line(composed, limit=80).encode()[:200].decode("utf-8", "ignore").strip() or "submission"
