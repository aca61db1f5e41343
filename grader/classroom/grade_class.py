"""Grades a class: submissions that are not in the journal go to an executor, and every result is stored immediately.

A grading that was stopped by Ctrl-C, a kill or a power cut can continue. Identical submissions are graded once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from .. import __version__
from ..core import course
from ..core.contents import MODULES, WORKSHEET_FILE, Contents
from ..core.files import MAX_ARCHIVE_BYTES, members_of_archive
from ..core.note import Note, NoteKind
from ..core.result import from_json
from ..core.text import one_line
from .grading_job import JobResult, grade_job, request_for
from .kept import Kept, forget, keep
from .request import ClassSettings, Request
from .results import ClassError, Entry, Journal, replace_entry, write_entries
from .submissions import HandedIn

LOCK_FILE = ".grading.lock"
_MOST_VERSIONS = 5


@dataclass(frozen=True)
class Planned:
    """A submission with its key, before it is graded.

    Attributes:
        handed_in: Its files.
        settings: What the class is graded with.
        content: Digest of the graded files only.
        entry: Its entry in the class.
    """

    handed_in: HandedIn
    settings: ClassSettings
    content: str
    entry: Entry

    @property
    def key(self) -> str:
        return self.entry.key

    def request(self) -> Request:
        """The request to grade it. Its files are read again, so that a large class needs no memory."""
        return request_for(self.handed_in.read(), self.settings)


@dataclass
class Progress:
    """The progress of grading a class, which `on_update` gets after every step.

    Attributes:
        total: Number of different submissions to grade.
        graded_before: How many of these an earlier run graded.
        done: How many of these this run graded.
        failed: Key to a sentence that says why the grader failed.
    """

    total: int = 0
    graded_before: int = 0
    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def grade_class(
    found: Sequence[HandedIn],
    out: Path,
    settings: ClassSettings,
    executor: Executor,
    *,
    at_a_time: int,
    source: Path | None = None,
    on_update: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Grade all submissions into a folder; `class_results` reads it.

    Args:
        found: The submissions.
        out: The folder, created if missing. Submissions that it already has are not graded again.
        settings: Settings of the grading.
        executor: Runs `grade_job`.
        at_a_time: Number of gradings that it runs at a time; a few more wait in its queue.
        source: The folder or zip of the class, to find the files of a submission again.
        on_update: Called after every grading.

    Raises:
        ClassError: the folder cannot be used, or another process grades into it.
    """
    about: dict[str, Any] = {"course_version": __version__, "settings": settings.noted()}
    about |= {"source": os.path.abspath(source)} if source else {}
    with _only_one(out):
        journal = Journal(out)
        planned = [_plan(each, settings) for each in found]
        first = {each.key: each for each in planned}
        missing = [each for key, each in first.items() if not journal.has(key)]
        missing.sort(
            key=lambda each: -(journal.seconds(each.content) or 0.0)
        )  # longest first, so that nobody waits for a long one at the end
        progress = Progress(total=len(first), graded_before=len(first) - len(missing))
        _write(out, planned, progress, about)
        on_update(progress)
        too_busy: list[Planned] = []
        try:
            for each, answer in _run(missing, executor, ahead=2 * at_a_time):
                if answer.too_busy:
                    too_busy.append(each)
                    continue
                _keep(journal, each, answer, progress)
                on_update(progress)
            # Gradings that failed because of load run again at the end, one at a time, so that load changes no grade.
            for each, answer in _run(too_busy, executor, ahead=1):
                _keep(journal, each, answer, progress)
                on_update(progress)
        finally:
            journal.close()
            _write(out, planned, progress, about)


def grade_one(handed_in: HandedIn, settings: ClassSettings, executor: Executor) -> tuple[Planned, JobResult]:
    """Grade one submission as it is now, whatever is known of it, and keep nothing.

    Returns:
        The submission, and what came of it: no result if the grader itself failed.
    """
    ((planned, answer),) = _run([_plan(handed_in, settings)], executor, ahead=1)
    return planned, answer


def keep_one(out: Path, planned: Planned, answer: JobResult, kept: Kept | None) -> None:
    """Put the new result of one submission into the folder of its class; nothing of the others changes.

    Args:
        out: The folder, which has the submission.
        planned: The submission.
        answer: What came of it, with a result.
        kept: The files that count from now on in place of the upload; None if the upload counts.

    Raises:
        ClassError: the folder cannot be used, or another process grades into it.
    """
    assert answer.result is not None
    with _only_one(out):
        journal = Journal(out)
        try:
            journal.add(planned.key, planned.content, answer.result, answer.seconds)
        finally:
            journal.close()
        if kept:
            keep(out, kept)
        else:
            forget(out, planned.entry.name)
        replace_entry(out, planned.entry.name, planned.entry)


def remove_one(out: Path, name: str) -> None:
    """Remove a submission that the instructor added from the folder of its class.

    Raises:
        ClassError: the folder cannot be used, or another process grades into it.
    """
    with _only_one(out):
        forget(out, name)
        replace_entry(out, name, None)


def _only_one(out: Path) -> FileLock:
    """A lock, because two processes in one folder would grade everything twice; killing a process releases it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = FileLock(out / LOCK_FILE)
        lock.acquire(timeout=0)
    except Timeout:
        raise ClassError(f"another process is grading into {out}; wait for it, or choose another --out") from None
    except OSError as error:
        raise ClassError(f"cannot write to {out}: {error.strerror}") from None
    return lock


def _plan(handed_in: HandedIn, settings: ClassSettings) -> Planned:
    contents = handed_in.read()
    entry = Entry(
        name=handed_in.name,
        people=handed_in.people,
        submitted_at=handed_in.submitted_at,
        marked_late=handed_in.marked_late,
        key=request_for(contents, settings).key,
        uploads=handed_in.uploads,
        notes=(
            *contents.notes,
            *_versions(handed_in, contents),
            *_missing(contents, settings),
            *_uncounted(contents, settings),
        ),
        unread=tuple(one.name for one in course.EXERCISES if one.file_name in contents.submission.problems),
        decision=handed_in.decision,
    )
    return Planned(handed_in, settings, contents.submission.sha256, entry)


def _versions(handed_in: HandedIn, contents: Contents) -> list[Note]:
    """Notes on files such as `kl_final.py` next to a `kl.py` that was taken, although they may be what counts."""
    try:
        members = handed_in.list_files()
        packed = [each for each in members if each.name.lower().endswith(".zip")]  # others are read to list them
        data = ((each.name, each.first_bytes(MAX_ARCHIVE_BYTES + 1)) for each in packed)
        members = [*members, *(inner for each in data for inner in members_of_archive(*each))]
    except Exception:  # whatever a student packed: `contents` says what is wrong with it
        return []
    taken, ours = contents.submission.files, {path.name for path in course.STARTER.rglob("*.py")}
    noted = {name for note in contents.notes for name in note.about}
    found = []
    for member in members:
        if member.name in ours or member.name in noted or any(map(_is_not_work, member.path.parts)):
            continue
        stem, dot, ending = member.name.lower().rpartition(".")
        names = [name for name in MODULES if name in taken and _is_like(stem, name.removesuffix(".py"))]
        is_helper = member.name in taken or stem.startswith("test_") or stem.endswith("_test")
        if dot and ending in ("py", "ipynb") and names and not is_helper:
            text = f"{one_line(member.name)} looks like another version of {names[0]}, which the grader took"
            found.append(Note(text, NoteKind.VERSIONS, (member.name, names[0])))
    return list(dict.fromkeys(found))[:_MOST_VERSIONS]


def _is_not_work(part: str) -> bool:
    """Whether a folder or file of this name is made by a program or belongs to the course."""
    return part.startswith((".", "__")) or part in ("grader", "reference", "tests", "docs")


def _is_like(stem: str, module: str) -> bool:
    """Whether a file's name is a module's name with more words, such as "kl_final"."""
    return stem != module and re.search(rf"(?<![a-z]){module}(?![a-z])", stem) is not None


def _missing(contents: Contents, settings: ClassSettings) -> list[Note]:
    """A note on missing files. If there is no module at all, `contents` has already noted it."""
    wanted = [*map(course.file_of, settings.exercises)] if contents.has_modules else []
    wanted += [WORKSHEET_FILE] if settings.worksheet else []
    names = [name for name in wanted if name in contents.missing]
    return [Note(f"not handed in: {', '.join(names)}", NoteKind.MISSING)] if names else []


def _uncounted(contents: Contents, settings: ClassSettings) -> list[Note]:
    """A note on work that was handed in but does not count in this class."""
    drafts = [each.file_name for each in course.DRAFTS if each.name not in settings.exercises]
    names = [name for name in drafts if name in contents.submission.files]
    if isinstance(contents.worksheet, bytes) and not settings.worksheet:
        names.append(f"{WORKSHEET_FILE} (--worksheet, or worksheet = true in course.toml, counts it)")
    return [Note(f"handed in but not counted: {', '.join(names)}")] if names else []


def _run(missing: Iterable[Planned], executor: Executor, *, ahead: int) -> Iterator[tuple[Planned, JobResult]]:
    """Each submission with the answer of `grade_job`, as they come.

    Only so many jobs (`ahead`) are with the executor at a time, so that a stop loses little.
    """
    waiting = iter(missing)
    running: dict[Future[bytes], Planned] = {}
    while True:
        for each in waiting:
            request = each.request()
            if request.key != each.key:
                yield each, JobResult(None, "its files changed during the grading; run the same command again")
                continue
            running[executor.submit(grade_job, request.as_json())] = each
            if len(running) >= ahead or any(future.done() for future in running):
                break
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), _answer(future)


def _answer(future: Future[bytes]) -> JobResult:
    """The answer to a job. It parses the result, because an unreadable one would later stop the whole class."""
    try:
        answer = msgspec.json.decode(future.result(), type=JobResult)
        result = None if answer.result is None else from_json(answer.result).as_json()
    except Exception as error:  # of whatever executor it is
        return JobResult(None, f"the engine gave no readable result ({type(error).__name__}: {error})")
    return replace(answer, result=result)


def _keep(journal: Journal, each: Planned, answer: JobResult, progress: Progress) -> None:
    progress.done += 1
    if answer.result is None:
        progress.failed[each.key] = answer.problem
    else:
        journal.add(each.key, each.content, answer.result, answer.seconds)


def _write(out: Path, planned: Sequence[Planned], progress: Progress, about: Mapping[str, Any]) -> None:
    entries = [replace(each.entry, problem=progress.failed.get(each.key, "")) for each in planned]
    write_entries(out, entries, about)
