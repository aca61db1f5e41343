"""Writes the files of a graded class for people: the table `grades.csv`, and one page per submission.

It keeps each result only while it needs it, so a large class fits into memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..core import course
from ..core.result import replace_file
from ..reports import FORMATS as ALL_FORMATS
from ..reports import export, html_report
from .grades_csv import grades_csv
from .history import read_history, state_of, write_history
from .results import Entry, each_entry, file_name

GRADES_FILE, PAGES_FILE = "grades.csv", "pages.json"
FORMATS = tuple(name for name in ALL_FORMATS if name != "classroom50")
"""Of a class. Classroom 50's needs variables that say whose the one submission is, so only its runner can write it."""
_ENDINGS = {"html": ".html", "junit": ".xml", "github-annotations": ".txt", "github-summary": ".md"}


def write_files(out: Path, exercises: Sequence[str], formats: Sequence[str] = ()) -> dict[str, str]:
    """Write the table, then every result in other formats.

    Args:
        out: Folder of the graded class.
        exercises: Names of the graded exercises.
        formats: Names of formats to write; formats written before are always updated.

    Returns:
        Name of a submission to the reason why one of its pages could not be written.

    Raises:
        FileRefused: the folder is damaged, or its points by hand are wrong; nothing is written.
        OSError: a file cannot be written.
    """
    graded, unwritten, before, states = [], {}, read_history(out), {}

    def each() -> Iterator[Entry]:
        for entry in each_entry(out):
            graded.extend([entry.name] if entry.result else [])
            if state := state_of(entry, before.get(entry.name)):
                states[entry.name] = state
            yield entry

    # Excel recognizes the encoding by a byte-order mark at the start.
    replace_file(out / GRADES_FILE, "\ufeff" + grades_csv(each(), exercises))
    if states != before:
        write_history(out, states)
    formats = [name for name in FORMATS if name in formats or (out / name).is_dir()]
    if formats:
        _remove_old_pages(out, graded)
    for entry in each_entry(out) if formats else ():
        entry = replace(entry, changed=states[entry.name].before if entry.name in states else "")
        for name in formats if entry.result else ():
            if problem := _export(_page(out, name, file_name(entry.name)), name, entry):
                unwritten[entry.name] = problem
    return unwritten


def in_format(entry: Entry, name: str) -> str:
    """The result of a submission in a format, with the notes on its files; in `html` with its points by hand.

    The other formats are for programs, which add up checks: they tell what the code earned, and have no word for a
    submission without a grade, which must not get 0 there.

    Args:
        entry: A submission with a result.
        name: One of `FORMATS`.
    """
    assert entry.result
    result = replace(entry.result, notes=[*entry.all_notes])
    if name == "html":
        late_rule = course.WRITTEN.late_work  # a roster or a gradebook may give the hand-in time later
        return html_report.page(
            result, by_hand=entry.by_hand, no_grade=entry.why_no_grade, late_rule=late_rule, changed=entry.changed
        )
    return export(result, name, os.environ)


def _remove_old_pages(out: Path, names: Sequence[str]) -> None:
    """Remove files that an earlier run wrote for other submissions, so that nobody sends them.

    A list of them ensures that it removes no file that somebody else put there.
    """
    try:
        before = {file_name(name) for name in json.loads((out / PAGES_FILE).read_text("utf-8"))}
    except (OSError, ValueError, TypeError):
        before = set()
    old = before - {file_name(name) for name in names}
    for kind in FORMATS:
        for file in old:
            _page(out, kind, file).unlink(missing_ok=True)
    replace_file(out / PAGES_FILE, json.dumps(names, indent=1) + "\n")


def _page(out: Path, kind: str, file: str) -> Path:
    return out / kind / f"{file}{_ENDINGS.get(kind, '.json')}"


def _export(path: Path, name: str, entry: Entry) -> str:
    """Write one result in one format. Returns why that failed, because no result may stop a class."""
    path.parent.mkdir(exist_ok=True)
    if entry.no_code and name != "html":  # it would show 0 points
        path.unlink(missing_ok=True)
        return ""
    try:
        replace_file(path, in_format(entry, name))
    except OSError:
        raise
    except Exception as error:
        path.unlink(missing_ok=True)  # an existing page belongs to an older result
        return f"its {name} could not be written ({type(error).__name__}: {error})"
    return ""
