"""What was found in every cell, kept line by line, so that a recording that was interrupted goes on where it was.

A line counts as long as the attack and the walls are what they were when it was written. A recording takes longer than
some machines live, so the journal belongs to the repository, and another machine goes on with it. Paths and process
numbers are replaced by words: it is public, as the page is.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from ..core import course
from . import ATTACKS
from .attack import Attack
from .cells import Cell
from .finding import Finding

PLACE = Path(__file__).with_name("recorded.jsonl")


@dataclass(frozen=True)
class Line:
    """One attack in one cell.

    Attributes:
        cell: The way in which it was made.
        digest: Of the attack and the walls.
        day: When, as 2026-11-24.
        machine: What it ran on, in words.
        finding: What it did.
    """

    cell: Cell
    digest: str
    day: str
    machine: str
    finding: Finding


def digest(attack: Attack) -> str:
    """Digest of what a finding depends on: the text of the attack, and the room of the walls."""
    text = (attack.name, attack.body, attack.top, attack.exercise, attack.function, attack.rounds)
    return hashlib.sha256(f"{text} {_digest_of_walls()}".encode()).hexdigest()[:16]


def read(path: Path = PLACE) -> Mapping[Cell, Mapping[str, Line]]:
    """Cell to the name of an attack to the last line about it; without those that no longer count."""
    found: dict[Cell, dict[str, Line]] = defaultdict(dict)
    for text in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            line = msgspec.json.decode(text, type=Line)
        except msgspec.DecodeError:  # the last one, of a recording that was killed
            continue
        attack = ATTACKS.get(line.finding.name)
        if attack and line.digest == digest(attack):
            found[line.cell][attack.name] = line
    return found


def add(line: Line, path: Path = PLACE) -> None:
    """Keep one more line."""
    found = line.finding
    found = replace(found, sentence=_without_machine(found.sentence), printed=_without_machine(found.printed))
    line = replace(line, finding=found)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(line)) + "\n")


def _without_machine(text: str) -> str:
    """The text without what differs from run to run and from machine to machine."""
    places = {
        sysconfig.get_path("purelib"): "/packages",  # it and the program before the course, in which they may lie
        sys.executable: "/python",
        str(course.ROOT): "/course",
        tempfile.gettempdir(): "/tmp",
        sysconfig.get_path("stdlib"): "/library",
        os.path.realpath(sys.executable): "/python",
    }
    for path, word in places.items():
        text = text.replace(path, word)
    text = re.sub(r"yard-\w{8}", "yard", re.sub(r"attack-[0-9a-f]{12}", "attack", text))
    text = re.sub(r"workers-\w{8}/[0-9a-f]{16}", "work", text)
    return re.sub(r"/proc/(?!1/)[0-9]+", "/proc/1000", text)


@functools.cache
def _digest_of_walls() -> str:
    found = hashlib.sha256()
    for path in sorted((course.GRADER / "sandbox").rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
