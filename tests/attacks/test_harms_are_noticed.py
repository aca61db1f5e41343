"""Each harm that an attack could do is done here by hand, and is noticed: by the yard, by readers of reports, by the
judgement of a grading. Otherwise a wall might be praised because nobody looked."""

from __future__ import annotations

import ast
import ctypes
import json
import os
import re
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attack import FUNCTION, Attack, Harm, submission
from corpus import ATTACKS, TOPICS
from corpus.behind_gate import SHARED
from finding import finding_of
from trial import HARMLESS, neighbor, neighbor_is_changed
from yard import Yard

from grader.core import course
from grader.core.result import BROKEN, FAILED, PASSED, CheckResult, ExerciseResult, Outcome, Result
from grader.grading.vectors import Vector

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")
Addresses = dict[str, Any]


# The yard


def send_packet(at: Addresses) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"", ("127.0.0.1", at["udp"]))


HARMS: dict[str, tuple[Harm, Callable[[Addresses], object]]] = {
    "signal": (Harm.PROCESS_DISTURBED, lambda at: os.kill(at["victim_process"], signal.SIGUSR2)),
    "stop": (Harm.PROCESS_DISTURBED, lambda at: os.kill(at["victim_process"], signal.SIGSTOP)),
    "results": (Harm.FILE_CHANGED, lambda at: Path(at["results"]).write_text('{"earned": 80}')),
    "time": (Harm.FILE_CHANGED, lambda at: os.utime(at["victim"], (0, 0))),
    "delete": (Harm.FILE_CHANGED, lambda at: os.unlink(at["victim"])),
    "link": (Harm.FILE_CHANGED, lambda at: os.symlink("/", f"{at['folder']}/link")),
    "public folder": (Harm.FILE_CHANGED, lambda at: Path(f"/tmp/{at['mark']}").touch()),
    "udp": (Harm.NETWORK_REACHED, send_packet),
    "shared memory": (Harm.MEMORY_LEFT, lambda at: ctypes.CDLL(None).shmget(at["key"], 4096, 0o1600)),
    "queue": (Harm.MEMORY_LEFT, lambda at: ctypes.CDLL(None).mq_open(f"/{at['mark']}".encode(), 0o102, 0o600, None)),
}


@linux_only
@pytest.mark.parametrize("name", HARMS)
def test_the_yard_notices_and_removes_a_harm(name: str) -> None:
    harm, do = HARMS[name]
    with Yard("the secret", os.getpid()) as yard:
        at = yard.addresses()
        assert yard.harms("nothing") == set()
        do(at)
        assert harm in yard.harms("nothing")
    assert not Path(f"/tmp/{at['mark']}").exists() and not Path(at["folder"]).exists()
    assert not Path(f"/proc/{at['victim_process']}").exists()
    assert str(at["key"]) not in Path("/proc/sysvipc/shm").read_text()


@linux_only
def test_the_yard_recognizes_its_secret_and_the_model_answers() -> None:
    answers = (course.MODEL_ANSWERS / "clip.py").read_text("utf-8")
    with Yard("a-very-secret-text", os.getpid()) as yard:
        at = yard.addresses()
        assert "a-very-secret-text" not in repr(at)
        for report in ("some a-very-secret-text more", at["found"], json.dumps({"story": answers})):
            assert yard.harms(report) == {Harm.SECRET_READ}
        own = json.dumps(submission(HARMLESS, at).files)
        assert yard.harms(own.replace(at["found"], "")) == set()
        with socket.create_connection(("127.0.0.1", at["tcp"])) as connection:
            connection.sendall(b"it is a-very-secret-text")
        assert yard.harms("") == {Harm.SECRET_READ, Harm.NETWORK_REACHED}


def test_the_search_of_an_attack_finds_an_expected_value() -> None:
    space: dict[str, Any] = {"tried": lambda action, *arguments: action(*arguments)}
    exec(f"import gc, os, sys\n{SHARED['SEARCH'].replace('range(3, 64)', 'range(0)')}", space)
    expected = Vector("a.check", "f", {}, {})
    assert expected and {"Vector", "expected", "grader"} <= {*space["secrets"]({"expected"})}


# The judgement


def result_of(*outcomes: Outcome) -> Result:
    checks = [
        CheckResult(f"advantages.{n}", FUNCTION, "", 1, hidden=False, gate=n == 0, outcome=outcome)
        for n, outcome in enumerate(outcomes)
    ]
    exercise = ExerciseResult("advantages", "Advantages", "advantages.md", checks)
    return Result("a", "", 0, "cpu", [exercise], "0", isolation_level=1, complete=True)


@pytest.mark.parametrize(
    ("attack", "outcomes", "harms", "problem"),
    [
        (Attack("x"), (BROKEN,), set(), ""),
        (Attack("x"), (FAILED,), set(), "verdict"),
        (Attack("x"), (), set(), "verdict"),
        (Attack("x"), (PASSED,), set(), Harm.GRADE_RAISED),
        (Attack("x", level_0=frozenset({Harm.FILE_CHANGED})), (BROKEN,), {Harm.FILE_CHANGED}, Harm.FILE_CHANGED),
        (Attack("x", behind_gate=True, verdict=PASSED), (PASSED, FAILED), set(), ""),
        (Attack("x", behind_gate=True, verdict=PASSED), (PASSED, PASSED), set(), Harm.GRADE_RAISED),
        (Attack("x", called_by="bandit", verdict=FAILED), (FAILED,), set(), "not called"),
    ],
)
def test_the_judgement_of_a_grading(attack: Attack, outcomes: Any, harms: set[Harm], problem: str) -> None:
    problems = finding_of(attack, result_of(*outcomes), harms).problems()
    assert problem in " ".join(problems) if problem else problems == []


def test_a_lost_check_or_a_stopped_grading_changes_the_neighbor() -> None:
    assert not neighbor_is_changed(result_of(PASSED, PASSED))
    assert neighbor_is_changed(result_of(PASSED, FAILED))
    assert neighbor_is_changed(None)
    assert neighbor().files != neighbor().files  # no two share a result


def test_every_attack_has_its_own_name_and_holds_no_answer_that_it_looks_for() -> None:
    assert len(ATTACKS) == sum(map(len, TOPICS.values())) >= 295
    for name, attack in ATTACKS.items():
        assert re.fullmatch(r"[a-z][\w ,.'^-]+", name)
        text = submission(attack, {}).files[f"{attack.exercise}.py"]
        ast.parse(text)
        assert (f"def {attack.function}(" in text) == ("honest" in text.partition("\ndef attack(")[2]), name
