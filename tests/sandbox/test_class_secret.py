"""What fresh inputs are drawn from, and that a report with a secret does not tell them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from submissions import grading_profile

from grader.core.contents import read_submission
from grader.core.refusal import FileRefused
from grader.core.result import PASSED, Result
from grader.core.secret import PUBLIC, fingerprint, fresh_seed, secret_in
from grader.exercises.advantages.checks import PAGE_EXAMPLE
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
from grader.reports import FORMATS, export
from grader.sandbox.sandbox import Sandbox

SECRET, OTHER = "5" * 64, "7" * 64
GATE = "advantages.the_worked_example_of_the_page"
# Right for the example of the page only. It tries to take the fresh input along in every way that a report has: prints,
# the text and the type of an exception, and the numbers that it returns.
KNOWS_THE_EXAMPLE = """
import torch
def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):
    if rewards.tolist() == {example}:
        return (rewards - rewards.mean(1, True)) / (rewards.std(1, keepdim=True, unbiased=False) + std_eps)
    print("saw", rewards.tolist())
    {ends}
"""
ENDS = {
    "returns": "return rewards",
    "raises": "raise type('Saw' + str(int(rewards.sum())), (ValueError,), {})(str(rewards.tolist()))",
    "is refused": "raise PermissionError(13, 'Permission denied', str(rewards.tolist()))",
    "changes its type": "return rewards.to(torch.int32)",
    "ends its process": "import os; os._exit(int(rewards.abs().sum()) % 200 + 3)",
    "never returns": "import time; time.sleep(1000)",
}


def graded(folder: Path, sandbox: Sandbox, *, secret: str, function: str = "group_advantages") -> Result:
    submission = read_submission(folder)
    declared = declared_checks(["advantages"], hidden=True)
    checks = {name: check for name, check in declared.items() if check.function == function}
    with grading_profile():
        return grade_submission(
            GradingSettings(submission, ["advantages"], sandbox.worker, secret=secret, checks=checks)
        )


def test_each_secret_and_check_draws_other_inputs() -> None:
    drawn = [fresh_seed(secret, check) for secret in (SECRET, OTHER, PUBLIC) for check in ("a", "b")]
    assert len({*drawn}) == len(drawn)
    assert fresh_seed(SECRET, "a") == drawn[0] < 2**128


def test_a_comment_does_not_change_the_inputs(make_submission, sandbox):
    shows = KNOWS_THE_EXAMPLE.replace("{ends}", ENDS["returns"]).replace("{example}", str(PAGE_EXAMPLE.tolist()))
    folders = [make_submission({"advantages.py": text}) for text in (shows, f"# mine\n{shows}")]
    entries = [graded(folder, sandbox, secret=PUBLIC).checks[0] for folder in folders]
    assert entries[0].id == GATE and entries[0].printed
    assert entries[0].printed == entries[1].printed


def test_a_secret_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "class" / "secret"
    secret = secret_in(path)
    assert len(secret) == 64
    assert path.stat().st_mode & 0o777 == 0o600
    assert secret_in(path) == secret
    assert fingerprint(secret) not in secret
    path.write_text("7391\n")
    with pytest.raises(FileRefused, match="64 random hexadecimal digits"):
        secret_in(path)


@pytest.mark.parametrize("ends", [pytest.param(end, marks=[pytest.mark.proof] * (end != "raises")) for end in ENDS])
def test_a_report_with_a_secret_tells_no_fresh_number(ends, make_submission, sandbox):
    text = KNOWS_THE_EXAMPLE.replace("{ends}", ENDS[ends]).replace("{example}", str(PAGE_EXAMPLE.tolist()))
    folder = make_submission({"advantages.py": text})
    told, withheld = (graded(folder, sandbox, secret=secret) for secret in (PUBLIC, SECRET))
    (shown,) = (check for check in told.checks if check.id == GATE)
    (entry,) = (check for check in withheld.checks if check.id == GATE)
    assert shown.outcome == entry.outcome != PASSED
    assert re.search(r"saw \[", shown.printed)
    # Of several calls in a message nobody knows which one ended the process.
    is_known = ends not in ("ends its process", "never returns")
    assert ("rewards: float64 of shape" in entry.message) is is_known
    assert not any(exercise.not_imported for exercise in (*told.exercises, *withheld.exercises))
    assert ("PermissionError" in entry.message) is (ends == "is refused")
    assert not entry.printed and not entry.rows and not entry.frames
    assert ("group_advantages(" in entry.call) is is_known  # a worked example of another check, which is wrong too
    fresh = fresh_numbers()
    reports = [withheld.as_json(), *(export(withheld, name, {}) for name in FORMATS if name != "classroom50")]
    for report in reports:
        assert not [number for number in fresh if number in report]
        assert not re.search(r"saw \[|Saw-?[0-9]|exit status", report)
        assert SECRET not in report


def fresh_numbers() -> list[str]:
    """Some of the numbers that the gate draws, as a report would write them."""
    random = np.random.default_rng(fresh_seed(SECRET, f"0 {GATE}"))
    random.integers(9, size=(2, 1))
    drawn = (f"{number:.4g}" for number in random.uniform(-5.0, 5.0, size=(1, int(random.integers(13, 90))))[0])
    return [text for text in drawn if len(text) > 4]  # 2 stands in every report


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("import torch\nimport = trl\n", "SyntaxError", marks=pytest.mark.proof),
        ("import os\nprint('once')\nos._exit(3)\n", "exit status 3"),
    ],
)
def test_a_module_that_cannot_be_imported_says_why_for_it_has_seen_no_input(text, message, make_submission, sandbox):
    folder = make_submission({"advantages.py": text})
    told, withheld = (graded(folder, sandbox, secret=secret) for secret in (PUBLIC, SECRET))
    for result in told, withheld:
        (entry,) = (check for check in result.checks if check.id == GATE)
        assert message in entry.message
        assert [frame.line for frame in entry.frames] == ([2] if "trl" in text else [])
        assert not entry.call
        reason = result.exercises[0].not_imported
        assert message in reason and ("advantages.py, line 2" in reason) == ("trl" in text)
