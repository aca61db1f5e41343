"""Grades a class: what is not in the journal goes to an executor, what comes back is written down at once.

A grading that was stopped, by Ctrl-C, a kill or a power cut, goes on where it was. Equal contents are graded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from .. import __version__
from ..core import course
from ..core.contents import WORKSHEET_FILE, Contents
from ..core.result import from_json
from .grading_job import Answer, grade_job, make_job
from .request import Settings
from .results import ClassError, Entry, Journal, replace_entry, write_entries
from .submissions import HandedIn

LOCK_FILE = ".grading.lock"


@dataclass(frozen=True)
class Planned:
    """A submission with its key, before it is graded.

    Attributes:
        handed_in: Where its files are.
        content: Digest of the graded files alone.
        entry: What is written down of it.
    """

    handed_in: HandedIn
    content: str
    entry: Entry

    @property
    def key(self) -> str:
        return self.entry.key


@dataclass
class Progress:
    """What is known while a class is graded; given to `on_update` after every step.

    Attributes:
        total: Different contents to grade.
        known: Of these, graded in an earlier run.
        done: Graded in this run.
        failed: Key to the sentence why the grader could not.
    """

    total: int = 0
    known: int = 0
    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def grade_class(
    found: Sequence[HandedIn],
    out: Path,
    settings: Settings,
    executor: Executor,
    *,
    at_a_time: int,
    on_update: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Grade all submissions into a folder; `class_results` reads it.

    Args:
        found: The submissions.
        out: The folder; made if it is missing. What is in it already is not graded again.
        settings: What they are graded with.
        executor: Runs `grade_job`.
        at_a_time: How many gradings it runs at once; some more are kept waiting there.
        on_update: Called after every grading.

    Raises:
        ClassError: the folder cannot be used, or another process grades into it.
    """
    with _only_one(out):
        journal = Journal(out)
        planned = [_plan(each, settings) for each in found]
        first = {each.key: each for each in planned}
        missing = [each for key, each in first.items() if not journal.has(key)]
        missing.sort(key=lambda each: -(journal.seconds(each.content) or 0.0))  # nobody waits for a long one at the end
        progress = Progress(total=len(first), known=len(first) - len(missing))
        _write(out, planned, settings, progress)
        on_update(progress)
        too_busy: list[Planned] = []
        try:
            for each, answer in _run(missing, settings, executor, ahead=2 * at_a_time):
                if answer.too_busy:
                    too_busy.append(each)
                    continue
                _keep(journal, each, answer, progress)
                on_update(progress)
            # What others had kept waiting is graded when all others are done, one at a time: load changes no mark.
            for each, answer in _run(too_busy, settings, executor, ahead=1):
                _keep(journal, each, answer, progress)
                on_update(progress)
        finally:
            journal.close()
            _write(out, planned, settings, progress)


def grade_one(handed_in: HandedIn, settings: Settings, executor: Executor) -> tuple[Planned, Answer]:
    """Grade one submission as it is now, whatever is known of it, and keep nothing.

    Returns:
        The submission, and what came of it: no result if the grader itself failed.
    """
    ((planned, answer),) = _run([_plan(handed_in, settings)], settings, executor, ahead=1)
    return planned, answer


def keep_one(out: Path, planned: Planned, answer: Answer) -> None:
    """Put the new result of one submission into the folder of its class; nothing of the others changes.

    Args:
        out: The folder, which has the submission.
        planned: The submission.
        answer: What came of it, with a result.

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
        replace_entry(out, planned.entry)


def _only_one(out: Path) -> FileLock:
    """Two processes in one folder would grade everything twice; a kill gives the lock back."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = FileLock(out / LOCK_FILE)
        lock.acquire(timeout=0)
    except Timeout:
        raise ClassError(f"another process grades into {out}; wait for it, or choose another --out") from None
    except OSError as error:
        raise ClassError(f"{out} cannot be written to: {error.strerror}") from None
    return lock


def _plan(handed_in: HandedIn, settings: Settings) -> Planned:
    contents = handed_in.read()
    entry = Entry(
        name=handed_in.name,
        people=handed_in.people,
        submitted_at=handed_in.submitted_at,
        marked_late=handed_in.marked_late,
        key=make_job(contents, settings).key,
        uploads=handed_in.uploads,
        notes=(*contents.notes, *_missing(contents, settings), *_uncounted(contents, settings)),
        unread=tuple(one.name for one in course.EXERCISES if one.file_name in contents.submission.problems),
    )
    return Planned(handed_in, contents.submission.sha256, entry)


def _missing(contents: Contents, settings: Settings) -> list[str]:
    """A note on what was asked for and is not there. Where there is no module at all, `contents` has said so."""
    wanted = [*map(course.file_of, settings.exercises)] if contents.has_modules else []
    wanted += [WORKSHEET_FILE] if settings.worksheet else []
    names = [name for name in wanted if name in contents.missing]
    return [f"not handed in: {', '.join(names)}"] if names else []


def _uncounted(contents: Contents, settings: Settings) -> list[str]:
    """A note on work that was handed in and that this class does not count."""
    drafts = [each.file_name for each in course.DRAFTS if each.name not in settings.exercises]
    names = [name for name in drafts if name in contents.submission.files]
    if isinstance(contents.worksheet, bytes) and not settings.worksheet:
        names.append(f"{WORKSHEET_FILE} (--worksheet, or worksheet = true in course.toml, counts it)")
    return [f"handed in and not counted: {', '.join(names)}"] if names else []


def _run(
    missing: Iterable[Planned], settings: Settings, executor: Executor, *, ahead: int
) -> Iterator[tuple[Planned, Answer]]:
    """Each submission with what `grade_job` said of it, as they come.

    Files are read again when it is their turn, so that a large class needs no memory; and only so many jobs (`ahead`)
    are with the executor at a time, so that a stop loses little.
    """
    waiting = iter(missing)
    running: dict[Future[bytes], Planned] = {}
    while True:
        for each in waiting:
            job = make_job(each.handed_in.read(), settings)
            if job.key != each.key:
                yield each, Answer(None, "its files changed meanwhile; run the same command again")
                continue
            running[executor.submit(grade_job, job.data)] = each
            if len(running) >= ahead or any(future.done() for future in running):
                break
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), _answer(future)


def _answer(future: Future[bytes]) -> Answer:
    """What came of a job. Its result is read here: kept unread, one that cannot be read would stop the whole class."""
    try:
        answer = msgspec.json.decode(future.result(), type=Answer)
        result = None if answer.result is None else from_json(answer.result).as_json()
    except Exception as error:  # of whatever executor it is
        return Answer(None, f"the engine gave no result that can be read ({type(error).__name__}: {error})")
    return replace(answer, result=result)


def _keep(journal: Journal, each: Planned, answer: Answer, progress: Progress) -> None:
    progress.done += 1
    if answer.result is None:
        progress.failed[each.key] = answer.problem
    else:
        journal.add(each.key, each.content, answer.result, answer.seconds)


def _write(out: Path, planned: Sequence[Planned], settings: Settings, progress: Progress) -> None:
    entries = [replace(each.entry, problem=progress.failed.get(each.key, "")) for each in planned]
    write_entries(out, entries, {"course_version": __version__, "settings": settings.noted()})
