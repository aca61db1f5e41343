"""The result file: its schema holds for every kind of submission, and at every moment of a grading."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest
from command import call, start, wrong_answer
from waiting import wait_until

from grader.commands import grade as cli
from grader.core import course
from grader.core.result import from_json, replace_file

Document = dict[str, Any]

SCHEMA: Document = json.loads((course.GRADER / "core" / "result.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
DECLARED = {
    exercise.name: sorted(
        f"{exercise.name}.{name}"
        for path in [*exercise.folder.glob("*checks.py"), *exercise.folder.glob("checks/*.py")]
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


def test_the_schema_holds_for_every_kind_of_submission(tmp_path, sandbox):
    wrong_answer(tmp_path / "broken", "clip", "clip_fraction", CRASHES)
    (tmp_path / "broken" / "advantages.py").write_text("def group_advantages(rewards:\n")
    (tmp_path / "broken" / "kl.py").unlink()
    wrong_answer(tmp_path / "wrong", "advantages", "group_advantages", MINUS_ONE)
    wrong_answer(tmp_path / "misled", "kl", "kl_estimate", FORGETS_THE_MINUS)
    documents = {}
    for name, path, arguments, code, outcomes in (
        ("right", course.MODEL_ANSWERS, ["kl"], 0, {"passed"}),
        ("starter", course.STARTER, ["kl"], 1, {"not written"}),
        ("wrong", "wrong", ["advantages"], 1, {"passed", "failed"}),
        ("misled", "misled", ["kl"], 1, {"passed", "failed"}),
        ("broken", "broken", ["advantages", "clip", "kl"], 1, {"passed", "broken", "waiting"}),
    ):
        options = ("--path", path, "--json", f"{name}.json", "--examples", "2")
        done = call(cli.main, *options, *arguments, cwd=tmp_path, sandbox=sandbox)
        documents[name] = document = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
        assert_sound(document)
        assert (done.returncode, {check["outcome"] for check in checks(document)}) == (code, outcomes), name
        assert document["complete"] is True and document["grade"] is True
        assert json.loads(from_json(json.dumps(document)).as_json()) == document, "it can be read back"
    # No field of a check is empty in every kind of result, so the schema is tried on all of them.
    for field in ("message", "call", "rows", "frames", "waits_for", "may_come_from", "seconds"):
        assert any(check[field] for document in documents.values() for check in checks(document)), field
    assert any(exercise["known_mistakes"] for document in documents.values() for exercise in document["exercises"])
    assert any("rewards" in check["printed"] for check in checks(documents["wrong"]))


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_text_and_folder_names_outside_unicode_do_not_spoil_the_file(grade, tmp_path):
    """A lone surrogate can be in a string of Python and in no UTF-8 file."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/me\xff"))
    wrong_answer(folder, "clip", "clipped_surrogate", SURROGATES)
    done = grade("clip", "--path", folder, "--json", "r.json")
    assert "Traceback (most recent call last)" not in done.stdout + done.stderr
    assert done.returncode == 1
    document = json.loads((tmp_path / "r.json").read_bytes().decode("utf-8"))
    assert_sound(document)
    assert document["complete"] is True
    (gate,) = (check for check in checks(document) if check["outcome"] == "broken")
    assert "a lone surrogate" in gate["message"]
    # Escaped or not: readers of other languages refuse half a character.
    gate["message"].encode("utf-8")
    gate["printed"].encode("utf-8")


# While it is being written


def test_every_state_of_the_file_is_valid_and_has_the_same_totals(grade, tmp_path, monkeypatch):
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
        assert not state["complete"] or all(check["outcome"] != "not run" for check in checks(state))
    assert {check["outcome"] for check in checks(states[0])} == {"not run"}
    assert [state["complete"] for state in states] == sorted(state["complete"] for state in states)
    earned = [state["earned"] for state in states]
    assert earned == sorted(earned)
    assert earned[0] == 0 and earned[-1] == states[-1]["points"]
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"], "no half-written file beside it"


def seconds_used(processes: list[psutil.Process]) -> float:
    """CPU seconds of the processes that are still there."""
    seconds = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            seconds += sum(process.cpu_times()[:2])
    return seconds


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("by", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.proof)])
def test_a_stopped_grader_leaves_a_valid_file_and_no_process(tmp_path, by):
    """The worker is in an endless loop when its grader is stopped."""
    wrong_answer(tmp_path / "me", "kl", "kl_estimate", ENDLESS)
    target = tmp_path / "r.json"
    process = start("kl", "--path", "me", "--json", target, "--examples", "2", cwd=tmp_path)

    def gate_has_passed() -> bool:
        state = json.loads(target.read_text("utf-8"))
        assert_sound(state)
        (gate,) = (check for check in checks(state) if check["gate"] and check["function"] == "kl_estimate")
        return gate["outcome"] == "passed"

    try:
        wait_until(target.exists, process)
        wait_until(gate_has_passed, process)
        family = psutil.Process(process.pid).children(recursive=True)
        before = seconds_used(family)
        wait_until(lambda: seconds_used(family) > before + 0.2, process)  # in the loop
    finally:
        if by == signal.SIGKILL or process.poll() is not None:
            process.kill()
        else:
            os.killpg(process.pid, by)  # as a terminal sends it
        _, errors = process.communicate(timeout=60)
    if by == signal.SIGINT:
        assert (process.returncode, errors.strip().splitlines()[-1]) == (3, "grade: stopped")
    state = json.loads(target.read_text("utf-8"))
    assert_sound(state)
    assert state["complete"] is False and 0 < state["earned"] < state["points"]
    assert {"passed", "not run"} <= {check["outcome"] for check in checks(state)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["me", "r.json"], "no half-written file beside it"
    _, left = psutil.wait_procs(family, timeout=20)
    assert family and not left


@pytest.mark.parametrize("target", ["a_folder", "/proc/r.json"])
def test_a_file_that_cannot_be_written_is_said_before_anything_is_graded(grade, tmp_path, target):
    (tmp_path / "a_folder").mkdir()
    if target.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("no /proc")
    done = grade("kl", "--path", course.MODEL_ANSWERS, "--json", target)
    assert done.returncode in (2, 3)
    assert Path(target).name in done.stderr and "Traceback" not in done.stderr
    assert "total" not in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["a_folder"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_file_has_the_permissions_of_any_other_file_of_the_user(grade, tmp_path):
    """A grader in a container runs as one user, and who reads the result is another."""
    (tmp_path / "other").write_text("")
    grade("kl", "--path", course.STARTER, "--json", "r.json")
    assert oct((tmp_path / "r.json").stat().st_mode) == oct((tmp_path / "other").stat().st_mode)
