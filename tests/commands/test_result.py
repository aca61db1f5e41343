"""The result file: its schema holds for every kind of submission, and at every moment of a grading."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command import call, start

import grader
from grader.commands import grade as cli
from grader.core import course
from grader.core.result import from_json, replace_file
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import replaced

Document = dict[str, Any]

SCHEMA: Document = json.loads((Path(grader.__file__).parent / "core" / "result.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
DECLARED = {
    exercise.name: sorted(
        f"{exercise.name}.{name}"
        for path in exercise.folder.glob("*checks.py")
        for name in re.findall(r"^def test_(\w+)", path.read_text("utf-8"), re.M)
    )
    for exercise in course.EXERCISES
}

MINUS_ONE = """
def minus_one(rewards, *, std_eps=1e-8, divide_by_std=True):
    rewards = _checked(rewards)
    print("rewards", rewards)
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    return centred / (rewards.std(dim=-1, keepdim=True) + std_eps) if divide_by_std else centred
"""
FORGETS_THE_MINUS = """
_right = kl_estimate
def forgets_the_minus(logp, ref_logp, *, kind="k3"):
    return _right(logp, ref_logp, kind=kind) * (-1 if kind == "k1" else 1)
"""
ENDLESS = """
_right = kl_estimate
def endless(logp, ref_logp, *, kind="k3"):
    while kind != "k3":
        pass
    return _right(logp, ref_logp, kind=kind)
"""
CRASHES = """
import os
def crashes(ratio, advantages, *, clip_eps=0.2, clip_eps_high=None, mask=None):
    os.abort()
"""
SURROGATES = """
def surrogates(ratio, advantages, *, clip_eps=0.2, clip_eps_high=None):
    print("lone \\udcff surrogates \\ud800")
    raise ValueError("a lone surrogate: \\ud83d, a null: \\0, an escape: \\x1b[2J")
"""


Grade = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def grade(tmp_path: Path, sandbox: Sandbox) -> Grade:
    """The command in this process, with warm workers."""
    return functools.partial(call, cli.main, cwd=tmp_path, sandbox=sandbox)


def write(folder: Path, exercise: str, function: str, text: str) -> Path:
    """The model answers with one function replaced by the last one of a text."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in replaced(exercise, function, re.findall(r"^def (\w+)", text, re.M)[-1], text).files.items():
        (folder / name).write_text(module, "utf-8")
    return folder


def checks(document: Document) -> list[Document]:
    return [check for exercise in document["exercises"] for check in exercise["checks"]]


def assert_sound(document: Document) -> None:
    """Valid, complete as a list, and its sums are sums."""
    VALIDATOR.validate(document)
    for exercise in document["exercises"]:
        assert sorted(check["id"] for check in exercise["checks"]) == DECLARED[exercise["name"]]
        assert exercise["points"] == sum(check["points"] for check in exercise["checks"])
        assert exercise["earned"] == sum(check["earned"] for check in exercise["checks"])
        assert all(check["earned"] in (0, check["points"]) for check in exercise["checks"])
    assert document["points"] == sum(exercise["points"] for exercise in document["exercises"])
    assert document["earned"] == sum(exercise["earned"] for exercise in document["exercises"])
    assert 0 <= document["earned"] <= document["points"]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> dict[str, Document]:
    """One result of each kind."""
    folder = tmp_path_factory.mktemp("graded")
    write(folder / "broken", "clip", "clip_fraction", CRASHES)
    (folder / "broken" / "advantages.py").write_text("def group_advantages(rewards:\n")
    (folder / "broken" / "kl.py").unlink()
    jobs = {
        "right": (course.MODEL_ANSWERS, ["kl"]),
        "starter": (course.STARTER, ["advantages", "clip", "kl"]),
        "wrong": (write(folder / "wrong", "advantages", "group_advantages", MINUS_ONE), ["advantages"]),
        "misled": (write(folder / "misled", "kl", "kl_estimate", FORGETS_THE_MINUS), ["kl"]),
        "broken": (folder / "broken", ["advantages", "clip", "kl"]),
        "debug": (course.MODEL_ANSWERS, ["kl", "--debug"]),
    }
    found = {}
    for name, (path, more) in jobs.items():
        target = folder / f"{name}.json"
        done = call(cli.main, "--path", path, "--json", target, *more, cwd=folder, sandbox=sandbox)
        assert target.exists(), done.stderr
        found[name] = json.loads(target.read_text("utf-8"))
        found[name]["exit code"] = done.returncode
    return found


@pytest.mark.parametrize("kind", ["right", "starter", "wrong", "misled", "broken", "debug"])
def test_the_schema_holds_for(graded: dict[str, Document], kind: str) -> None:
    document = dict(graded[kind])
    code = document.pop("exit code")
    if kind == "debug":
        VALIDATOR.validate(document)
    else:
        assert_sound(document)
    outcomes = {check["outcome"] for check in checks(document)}
    expected = {
        "right": ({"passed"}, 0),
        "starter": ({"not written"}, 1),
        "wrong": ({"passed", "failed", "waiting"}, 1),
        "misled": ({"passed", "failed"}, 1),
        "broken": ({"passed", "broken", "waiting"}, 1),
        "debug": ({"passed"}, 0),
    }
    assert (outcomes, code) == expected[kind]
    assert document["complete"] is True
    assert document["grade"] is (kind != "debug")
    assert (document["isolation_level"] == -1) is (kind == "debug")


def test_the_results_hold_what_the_schema_has_room_for(graded: dict[str, Document]) -> None:
    """No field of a check is empty in every kind of result, so that the schema is tried on all of them."""
    for field in ("story", "call", "rows", "frames", "waits_for", "may_come_from", "explanation", "hints", "seconds"):
        assert any(check[field] for document in graded.values() for check in checks(document)), field
    assert any(found["misconceptions"] for document in graded.values() for found in document["exercises"])
    assert any("rewards" in check["printed"] for check in checks(graded["wrong"]))


def test_text_that_is_no_unicode_does_not_spoil_the_file(grade: Grade, tmp_path: Path) -> None:
    """A lone surrogate can be in a string of Python and in no UTF-8 file."""
    me = write(tmp_path / "me", "clip", "clipped_surrogate", SURROGATES)
    done = grade("clip", "--path", me, "--json", "r.json")
    assert "Traceback (most recent call last)" not in done.stdout + done.stderr
    assert done.returncode == 1
    text = (tmp_path / "r.json").read_bytes().decode("utf-8")
    document = json.loads(text)
    assert_sound(document)
    assert document["complete"] is True
    (gate,) = [check for check in checks(document) if check["outcome"] == "broken"]
    assert "a lone surrogate" in gate["story"]
    # Escaped or not: readers of other languages refuse half a character.
    gate["story"].encode("utf-8")
    gate["printed"].encode("utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_a_folder_whose_name_is_no_unicode_can_be_graded(grade: Grade, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/me\xff"))
    write(folder, "kl", "kl_estimate", FORGETS_THE_MINUS)
    done = grade("kl", "--path", folder, "--json", "r.json")
    assert "Traceback (most recent call last)" not in done.stdout + done.stderr
    assert done.returncode == 1
    assert_sound(json.loads((tmp_path / "r.json").read_bytes().decode("utf-8")))


# While it is being written


def read_when_there(path: Path, process: subprocess.Popen[str], *, seconds: float = 60) -> Document:
    """The first state of the file."""
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no file was written"
        time.sleep(0.005)
    found: Document = json.loads(path.read_text("utf-8"))
    return found


def test_every_state_of_the_file_is_valid_and_has_the_same_totals(
    grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader beside a process that writes: test_a_stopped_grader_leaves_a_valid_file_and_no_process."""
    states: list[Document] = []

    def replace_and_read(path: Path, text: str) -> None:
        replace_file(path, text)
        states.append(json.loads(path.read_text("utf-8")))

    monkeypatch.setattr("grader.core.result.replace_file", replace_and_read)
    assert grade("kl", "--path", course.MODEL_ANSWERS, "--json", "r.json").returncode == 0
    assert len(states) > 7
    for state in states:
        assert_sound(state)
        assert state["points"] == states[0]["points"]
        left = [check for check in checks(state) if check["outcome"] == "not run"]
        assert not state["complete"] or not left
    assert {check["outcome"] for check in checks(states[0])} == {"not run"}
    assert [state["complete"] for state in states] == sorted(state["complete"] for state in states)
    earned = [state["earned"] for state in states]
    assert earned == sorted(earned)
    assert earned[0] == 0 and earned[-1] == states[-1]["points"]
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"], "what was being written is gone"


def descendants(pid: int) -> set[int]:
    """Processes that were started by a process, or by one of those."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in found | {pid}} - found:
        found |= more
    return found


def running(pid: int) -> bool:
    """Whether a process lives: one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def seconds_used(processes: set[int]) -> float:
    """CPU seconds of those that still are."""
    used = 0
    for pid in processes:
        with contextlib.suppress(OSError):
            used += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
    return used / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_a_stopped_grader_leaves_a_valid_file_and_no_process(tmp_path: Path, by: signal.Signals) -> None:
    """The worker is in an endless loop when its grader is stopped."""
    write(tmp_path / "me", "kl", "kl_estimate", ENDLESS)
    target = tmp_path / "r.json"
    process = start("kl", "--path", "me", "--json", target, "--examples", "2", cwd=tmp_path)
    try:
        state = read_when_there(target, process)
        deadline = time.monotonic() + 60
        (gate,) = [n for n, check in enumerate(checks(state)) if check["gate"] and check["function"] == "kl_estimate"]
        while checks(state)[gate]["outcome"] != "passed":
            assert process.poll() is None and time.monotonic() < deadline, state
            time.sleep(0.005)
            state = json.loads(target.read_text("utf-8"))
            assert_sound(state)
        started = descendants(process.pid)
        before = seconds_used(started)
        while seconds_used(started := started | descendants(process.pid)) < before + 0.2:  # in the loop
            assert process.poll() is None and time.monotonic() < deadline, state
            time.sleep(0.02)
    finally:
        if by == signal.SIGKILL or process.poll() is not None:
            process.kill()
        else:
            os.killpg(process.pid, by)  # as a terminal sends it
        _, errors = process.communicate(timeout=60)
    if by == signal.SIGINT:
        assert (process.returncode, errors.strip()) == (3, "grade: stopped")
    state = json.loads(target.read_text("utf-8"))
    assert_sound(state)
    assert state["complete"] is False
    outcomes = {check["outcome"] for check in checks(state)}
    assert {"passed", "not run"} <= outcomes
    assert 0 < state["earned"] < state["points"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["me", "r.json"], "no half-written file beside it"
    deadline = time.monotonic() + 20
    while left := {pid for pid in started if running(pid)}:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.05)


@pytest.mark.parametrize("target", ["a_folder", "/proc/r.json"])
def test_a_file_that_cannot_be_written_is_said_before_anything_is_graded(
    grade: Grade, tmp_path: Path, target: str
) -> None:
    (tmp_path / "a_folder").mkdir()
    if target.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("no /proc")
    done = grade("kl", "--path", course.MODEL_ANSWERS, "--json", target)
    assert done.returncode in (2, 3)
    assert "Traceback" not in done.stderr
    assert Path(target).name in done.stderr
    assert "total" not in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a_folder"]


def test_a_folder_that_vanishes_while_grading_is_a_clear_error(
    grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out" / "r.json"
    target.parent.mkdir()

    def replace_and_remove(path: Path, text: str) -> None:
        replace_file(path, text)
        if '"passed"' in text:
            shutil.rmtree(path.parent)

    monkeypatch.setattr("grader.core.result.replace_file", replace_and_remove)
    done = grade("kl", "--path", course.MODEL_ANSWERS, "--json", target)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "r.json" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_file_has_the_permissions_of_any_other_file_of_the_user(grade: Grade, tmp_path: Path) -> None:
    """A grader in a container runs as one user, and who reads the result is another."""
    (tmp_path / "other").write_text("")
    grade("kl", "--path", course.STARTER, "--json", "r.json")
    assert oct((tmp_path / "r.json").stat().st_mode) == oct((tmp_path / "other").stat().st_mode)


def test_a_result_can_be_read_back(graded: dict[str, Document]) -> None:
    for kind, document in graded.items():
        written = {name: part for name, part in document.items() if name != "exit code"}
        assert json.loads(from_json(json.dumps(document)).as_json()) == written, kind
