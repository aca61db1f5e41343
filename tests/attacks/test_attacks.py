"""Hostile submissions: each isolation level stops what it claims to stop, and the report says so in a sentence.

The landing tier makes every attack once, at the best level of this machine. The proof makes them at level 0, where no
wall stands, and at levels 1 and 2 in pairs with an honest submission. `make attacks` makes them on the machine that
gives the marks. Attacks on the class command are in `test_class_of_attacks.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from attack import Attack
from corpus import ATTACKS, TOPICS, together
from finding import Finding
from ordinary_user import as_ordinary_user
from trial import Trial

from grader.core import course
from grader.core.result import PASSED
from grader.sandbox.sandbox import missing_walls

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")

BEST = max(level for level in (0, 1, 2) if not missing_walls(level))
ALONE = [pytest.param(attack, id=name) for name, attack in ATTACKS.items() if attack.packing is None]
ON_A_NEIGHBOR = {attack.name for attack in TOPICS[together.TITLE]}


@pytest.fixture(
    scope="session",
    params=[
        pytest.param((BEST, False), id="best level"),
        pytest.param((0, False), id="level 0", marks=pytest.mark.proof),
        pytest.param((1, True), id="level 1, pairs", marks=pytest.mark.proof),
        pytest.param((2, True), id="level 2, pairs", marks=pytest.mark.proof),
    ],
)
def trial(request: pytest.FixtureRequest) -> Iterator[tuple[Trial, int]]:
    """A way to make attacks, with its level."""
    level, pairs = request.param
    if missing := missing_walls(level):
        pytest.skip(f"no isolation level {level}: {'; '.join(missing)}")
    with Trial(level, pairs=pairs) as started:
        yield started, level


@pytest.mark.parametrize("attack", ALONE)
def test_attack(trial: tuple[Trial, int], attack: Attack) -> None:
    made, level = trial
    if level == 0 and attack.dangerous:
        pytest.skip(f"not made at level 0: {attack.dangerous}")
    finding = made.made(attack, pairs=level > 0 and attack.name in ON_A_NEIGHBOR)
    assert finding.problems() == []
    assert finding.level == level
    if finding.verdict != PASSED and not finding.harms:
        assert_is_one_sentence_for_people(finding)


def assert_is_one_sentence_for_people(finding: Finding) -> None:
    sentence = finding.sentence
    assert sentence == sentence.strip() != ""
    assert "\n" not in sentence
    assert len(sentence) < 2_200
    for ours in ("Errno", "Traceback", "_course_worker", "grader/", "site-packages/", "<class", "StudentDied"):
        assert ours not in sentence
    for ours in ("_course_worker", "serve.py", "Stack (most recent call first)", "Fatal Python error"):
        assert ours not in finding.printed
    if "PermissionError" in sentence:
        assert re.search("does not allow", sentence)


@pytest.mark.proof
@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can run the attacks as another user")
def test_all_attacks_in_pairs_as_an_ordinary_user() -> None:
    pairs = [sys.executable, "-m", "pytest", "-q", "-m", "", "-k", "pairs-", __file__]
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        os.chmod(folder, 0o777)
        command = [*as_ordinary_user(Path(folder)), *pairs, "-o", f"cache_dir={folder}/cache"]
        # A grading in this process has told pytest to load no plugins.
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
        done = subprocess.run(command, cwd=course.ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-1_000:]
    assert re.search(r"[1-9][0-9]* passed", done.stdout)
