"""How and why the points of a submission changed since the last time, so that its report can say so.

    history.json   by submission: the points before the last change, and what they depended on since

The table and the pages are written together with this file. A submission whose points stay the same keeps its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ..core.by_hand import shown
from ..core.result import replace_file
from .results import ClassError, Entry, each_entry

HISTORY_FILE = "history.json"


@dataclass(frozen=True)
class State:
    """What a submission's points depend on.

    Attributes:
        counts: The points that count, without lateness.
        files: Digest of the graded files.
        key: Of files, course and settings.
        by_hand: The instructor's points for everybody in a group, as text.
        decision: The instructor's decision about the files, as text.
        before: How and why the points changed to this; empty if they never did.
    """

    counts: str
    files: str
    key: str
    by_hand: tuple[str, ...] = ()
    decision: str = ""
    before: str = ""


def read_history(folder: Path) -> dict[str, State]:
    """The last state of each submission; nothing if the class was never graded.

    Raises:
        ClassError: the file is damaged.
    """
    path = folder / HISTORY_FILE
    if not path.is_file():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, State])
    except (OSError, ValueError) as error:
        raise ClassError(f"cannot read {path} ({error}); delete it, and reports no longer say what changed") from None


def with_changes(folder: Path) -> Iterator[Entry]:
    """The submissions of a class with their whole results, and with how their points changed.

    Raises:
        ClassError: the folder is damaged.
    """
    states = read_history(folder)
    for entry in each_entry(folder):
        state = state_of(entry, states.get(entry.name))
        yield replace(entry, changed=state.before if state else "")


def write_history(folder: Path, states: dict[str, State]) -> None:
    """Store the states of all submissions of the class."""
    document = msgspec.to_builtins(states)
    replace_file(folder / HISTORY_FILE, json.dumps(document, indent=1, sort_keys=True) + "\n")


def state_of(entry: Entry, last: State | None) -> State | None:
    """The state of a submission, with how its points changed since the last one.

    Args:
        entry: The submission.
        last: Its state when the table was last written; None if it is new.

    Returns:
        None if it has no points.
    """
    if entry.counts is None or entry.result is None:
        return last
    decision = str(entry.decision or "")
    by_hand = tuple(str(given) for given in entry.by_hand if not given.student)
    now = State(shown(entry.counts), entry.result.sha256, entry.key, by_hand, decision)
    if last is None:
        return now
    if last.counts == now.counts:
        return replace(now, before=last.before)
    return replace(now, before=f"{last.counts} points before, {now.counts} now: {_why(last, now)}")


def _why(last: State, now: State) -> str:
    reasons = []
    if last.key != now.key:
        if now.decision and now.decision != last.decision:
            other = "other files" if last.files != now.files else "the same files"
            reasons.append(f"your instructor {now.decision.partition(':')[0]} your submission with {other}")
            reasons += filter(None, [now.decision.partition(": ")[2]])
        elif last.decision and not now.decision:
            reasons.append("your instructor took a regrade back")
        elif last.files != now.files:
            reasons.append("other files were handed in")
        else:
            reasons.append("the course was corrected, and the same files were graded again")
    if last.by_hand != now.by_hand:
        given = "; ".join(now.by_hand) or "none now"
        reasons.append(f"points by your instructor: {given}")
    return "; ".join(reasons) or "it was graded again"
