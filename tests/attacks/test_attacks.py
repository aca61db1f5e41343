"""What the walls refuse, asked for through libraries that Python does not know: system calls, and capabilities.

The hostile submissions themselves are in grader/attacks and are run by test_attack_corpus.py.
"""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import GRADER_ERROR, PASSED
from grader.grading.run import Grading
from grader.sandbox.sandbox import Sandbox
from grader.workshop import catalogue


@pytest.mark.parametrize(
    "call",
    [
        "libc.syscall(72, 0, (1 << 32) | 8, 1)",  # fcntl F_SETOWN with a bit that the kernel does not look at
        "libc.prctl(1, 0, 0, 0, 0)",  # live on when the fork server dies
        "libc.sethostname(b'x', 1)",
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "libc.syscall(160, 7, bytes(16))",  # setrlimit
    ],
)
def test_a_privileged_or_disguised_system_call_is_refused(sandbox: Sandbox, call: str) -> None:
    import platform

    if sandbox.level < 1 or platform.machine() != "x86_64":
        pytest.skip("needs the walls of level 1; the numbers are those of x86-64")
    body = f"import ctypes, torch; libc = ctypes.CDLL(None); return torch.tensor(float({call}))"
    submission = catalogue.replaced("advantages", "group_advantages", "attack", f"def attack(*a, **k):\n    {body}\n")
    result = Grading(submission, ["advantages"], sandbox.worker).run()
    gate = next(check for check in result.checks if check.gate and check.function == "group_advantages")
    assert dict(gate.rows)["yours"].startswith("-1")


def test_a_worker_has_no_capabilities(sandbox: Sandbox) -> None:
    if sandbox.level < 1:
        pytest.skip("needs the walls of level 1")
    body = """
    import ctypes, struct, torch
    data = ctypes.create_string_buffer(24)
    ctypes.CDLL(None).capget(struct.pack("Ii", 0x20080522, 0), data)
    return torch.tensor([float(n) for n in struct.unpack("6I", data.raw)])
    """
    text = "def attack(*a, **k):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    submission = catalogue.replaced("advantages", "group_advantages", "attack", text)
    result = Grading(submission, ["advantages"], sandbox.worker).run()
    gate = next(check for check in result.checks if check.gate and check.function == "group_advantages")
    assert dict(gate.rows)["yours"].startswith("[0, 0, 0, 0, 0, 0]")


@pytest.mark.parametrize(
    "body",
    [
        "import os; os.write(1, bytes(400_000)); raise ValueError",
        "raise type('E' * 1_000_000, (Exception,), {})('x' * 1_000_000)",
        "return {'k' * 1000 + str(number): rewards for number in range(700)}",
        "import sys; wire = sys.modules['_course_worker.wire']; serve = sys.modules['_course_worker.serve'];"
        "serve._from_torch = lambda value: wire.Tensor('float64', (2, 4), bytes(64), 'é' * 500_000); return rewards",
    ],
    ids=["prints past Python", "a long exception", "long keys", "a long device"],
)
def test_a_report_is_not_as_long_as_a_submission_likes(sandbox: Sandbox, body: str) -> None:
    submission = catalogue.replaced(
        "advantages", "group_advantages", "attack", f"def attack(rewards, **k):\n    {body}\n"
    )
    result = Grading(submission, ["advantages"], sandbox.worker).run()
    assert len(result.as_json()) < 1_000_000
    assert [check.story for check in result.checks if check.outcome == GRADER_ERROR] == []


def test_a_model_answer_that_dies_takes_no_point_from_the_submission(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = read_submission(course.MODEL_ANSWERS)
    dying = tmp_path / "reference"
    shutil.copytree(course.MODEL_ANSWERS, dying)
    text = (dying / "advantages.py").read_text("utf-8")
    (dying / "advantages.py").write_text(f"{text}\nimport os\nos._exit(9)\n", "utf-8")
    monkeypatch.setattr(course, "MODEL_ANSWERS", dying)
    result = Grading(submission, ["advantages"], sandbox.worker).run()
    assert {check.outcome for check in result.checks} == {PASSED, GRADER_ERROR}
    failed = [check for check in result.checks if check.outcome == GRADER_ERROR]
    assert all(check.hidden and "the model answer ended the process" in check.story for check in failed)
    assert result.exit_code == 3, "no grade, so that somebody looks"
