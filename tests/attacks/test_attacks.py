"""Hostile submissions: each isolation level stops what it claims to stop, and the report says so in a sentence.

The landing tier makes every third attack of each topic, at the best level of this machine; `sandbox/test_walls.py`
tries what each wall refuses. `make attacks` makes all of them, on the machine that gives the grades. The proof makes
them at level 0, where no wall stands, and at levels 1 and 2 in pairs with an honest submission; every third of these
also as an ordinary user. Attacks on the class command are in `test_class_of_attacks.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
ALONE = {name: attack for name, attack in ATTACKS.items() if attack.packing is None}
LANDING = {attack.name for attacks in TOPICS.values() for attack in attacks[::3]}
ON_A_NEIGHBOR = {attack.name for attack in TOPICS[together.TITLE]}


def made_at(level: int, name: str, *, pairs: bool = False, best: bool = False) -> Any:
    """An attack at a level, with the tiers that make it."""
    marks = [pytest.mark.best] * best + [pytest.mark.proof] * (not best or name not in LANDING)
    marks += [pytest.mark.third] * (name in LANDING)
    label = "best level" if best else f"level {level}{', pairs' * pairs}"
    return pytest.param((level, pairs), ALONE[name], id=f"{label}-{name}", marks=marks)


@pytest.fixture(scope="session")
def trial(request: pytest.FixtureRequest) -> Iterator[tuple[Trial, int]]:
    """A way to make attacks, with its level."""
    level, pairs = request.param
    if missing := missing_walls(level):
        pytest.skip(f"no isolation level {level}: {'; '.join(missing)}")
    with Trial(level, pairs=pairs) as started:
        yield started, level


@pytest.mark.parametrize(
    ("trial", "attack"),
    [
        *(made_at(BEST, name, best=True) for name in ALONE),
        *(made_at(level, name, pairs=level > 0) for level in (0, 1, 2) for name in ALONE),
    ],
    indirect=["trial"],
)
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
def test_every_third_attack_in_pairs_as_an_ordinary_user() -> None:
    pairs = [sys.executable, "-m", "pytest", "-q", "-m", "third", "-k", "pairs-", __file__]
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        os.chmod(folder, 0o777)
        command = [*as_ordinary_user(Path(folder)), *pairs, "-o", f"cache_dir={folder}/cache"]
        # A grading in this process has told pytest to load no plugins.
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
        done = subprocess.run(command, cwd=course.ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-1_000:]
    assert re.search(r"[1-9][0-9]* passed", done.stdout)
