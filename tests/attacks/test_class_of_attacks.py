"""Attacks that are graded as one class, by `course grade-all`.

The landing tier grades every third of the names and archives that only the class command meets; the proof grades all
attacks. Many attacks are one class because a start costs more than a grading.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from attack import Attack, Harm, submission
from corpus import ATTACKS, TOPICS, classes
from exports_readers import READERS
from finding import finding_of
from hostile_texts import csv_inventory, html_inventory
from trial import EXAMPLES, descendants, end, neighbor, neighbor_is_changed, settled
from yard import Yard

from grader.classroom.results import Entry, each_entry
from grader.core import course
from grader.core.result import PASSED, Result
from grader.sandbox.sandbox import missing_walls
from grader.sandbox.worker.confine import adopt_orphans

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")

LEVEL = max(level for level in (0, 1, 2) if not missing_walls(level))
NEIGHBOR = "neighbor"
COMMAND = """
import json, sys
from grader.commands.course import main

for line in sys.stdin:
    try:
        code = main(json.loads(line))
    except SystemExit as ended:
        code = ended.code
    print("\\nended with", code, flush=True)
"""
FORMATS = ("html", "junit", "gradescope", "github-annotations", "github-summary")


@pytest.mark.skipif(LEVEL == 0, reason="a class is graded at level 1 or above")
@pytest.mark.parametrize(
    "attacks",
    [
        pytest.param([*TOPICS[classes.TITLE][::3]], id="some packings"),
        pytest.param([*TOPICS[classes.TITLE]], id="packings", marks=[pytest.mark.best, pytest.mark.proof]),
        pytest.param([*ATTACKS.values()], id="all attacks", marks=pytest.mark.proof),
    ],
)
def test_a_class_of_attacks(attacks: list[Attack], tmp_path: Path) -> None:
    adopt_orphans()
    before = descendants()
    secret = secrets.token_hex(16)
    try:
        with class_command(secret) as command, Yard(secret, command.pid) as yard:
            usual = len(descendants())
            entries, texts = {}, ""
            for number in range(1, max(attack.rounds for attack in attacks) + 1):
                addresses = {**yard.addresses(), "limit": course.CALL_SECONDS, "has_spare_user": False, "round": number}
                write_class(tmp_path / "class", attacks, addresses)
                grade_class(command, tmp_path, attacks)
                entries = {entry.name: entry for entry in each_entry(tmp_path / "graded")}
                texts += "\n".join(map(text_of, entries.values()))
                assert {*os.listdir(tmp_path)} == {"class", "graded"}
                assert_nothing_is_more_than_text(tmp_path / "graded", len(entries))
                (honest,) = (entry for name, entry in entries.items() if name.startswith(NEIGHBOR))
                assert not neighbor_is_changed(honest.result)
            assert len(entries) == len(attacks) + 1
            assert yard.harms(texts) == set()
            assert settled(usual, set()) <= usual  # what an earlier test left may end meanwhile
    finally:
        end(descendants() - before)
    graded = [(attack, entry_of(number, attack, entries)) for number, attack in enumerate(attacks)]
    assert {attack.name: problems for attack, entry in graded if (problems := problems_of(attack, entry))} == {}


@contextlib.contextmanager
def class_command(secret: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs `course` with the arguments of each line of its input. It stays until it is looked at."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, "GRADER_SECRET": secret}
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND], cwd=course.ROOT, env=environment, stderr=subprocess.STDOUT, **pipes
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def grade_class(command: subprocess.Popen[str], place: Path, attacks: Sequence[Attack]) -> None:
    assert command.stdin and command.stdout
    exercises = {exercise for attack in attacks for exercise in (attack.exercise, attack.called_by)}
    options = ["--jobs", "2" if len(attacks) > 100 else "1", "--examples", str(EXAMPLES), "--require-level", str(LEVEL)]
    options += [part for name in FORMATS for part in ("--write", name)]
    options += ["--exercises", *(name for name in course.names() if name in exercises)]
    command.stdin.write(json.dumps(["grade-all", str(place / "class"), "--out", str(place / "graded"), *options]))
    command.stdin.write("\n")
    command.stdin.flush()
    printed = ""
    for line in command.stdout:
        if line.startswith("ended with "):
            assert line.split()[-1] in ("0", "1", "3"), printed  # 1, 3: some could not be read or graded
            return
        printed += line
    raise AssertionError(f"the command ended: {printed}")


def assert_nothing_is_more_than_text(folder: Path, submissions: int) -> None:
    """Read what `grade-all` wrote as its readers do: a spreadsheet, a browser, the program of each platform."""
    columns = csv_inventory((folder / "grades.csv").read_text("utf-8"))
    assert isinstance(columns, list) and len(columns) == submissions + 1 and len({*columns}) == 1
    for path in (folder / "graded").iterdir():
        json.loads(path.read_text("utf-8"), parse_constant=pytest.fail)
    for name in FORMATS:
        for path in (folder / name).iterdir():
            text = path.read_text("utf-8")
            if name != "html":
                READERS[name](text)
                continue
            for tag, attributes in html_inventory(text)[0]:
                assert tag not in ("script", "iframe", "object", "embed", "base", "form", "img"), path
                assert not [each for each in attributes if each[0].startswith("on") or "javascript:" in each[1]], path


def write_class(folder: Path, attacks: Sequence[Attack], addresses: dict[str, Any]) -> None:
    """Write submissions and their honest neighbor; a later round replaces those that it changes."""
    folder.mkdir(exist_ok=True)
    as_folder = classes.folder_named("{0}")
    for number, attack in enumerate(attacks):
        if addresses["round"] <= attack.rounds:
            files = submission(attack, addresses).files
            (attack.packing or as_folder)(folder, token(number), files, addresses)
    if addresses["round"] == 1:
        as_folder(folder, NEIGHBOR, neighbor().files, {})


def token(number: int) -> str:
    """What the names of a submission hold, however it is packed."""
    return f"student-{number:03d}"


def entry_of(number: int, attack: Attack, entries: dict[str, Entry]) -> Entry | None:
    """The entry of an attack: its name holds the token, unless the attack gives its folder a name of its own."""
    own = token(number) if "{0}" in classes.NAMES.get(attack.name, "{0}") else classes.NAMES[attack.name]
    return next((entry for name, entry in entries.items() if own in name), None)


def text_of(entry: Entry) -> str:
    return "\n".join((*map(str, entry.notes), entry.problem, entry.result.as_json() if entry.result else ""))


def problems_of(attack: Attack, entry: Entry | None) -> list[str]:
    if entry is None:
        return ["it was not graded"]
    empty = Result("", "", 0, "cpu", [], "", isolation_level=LEVEL, problem=entry.problem)
    finding = finding_of(attack, entry.result or empty, ())
    if attack.packing and attack.verdict != PASSED:  # a broken archive may leave nothing of the honest exercise
        finding = replace(finding, harms=finding.harms - {Harm.GRADER_FAILED})
    return finding.problems()
