"""The draft exercise bughunt: its answer key earns all points, and hostile data earns none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.core.submission import Submission
from grader.exercises.bughunt import known, sets
from grader.grading.run import Grading

pytestmark = pytest.mark.proof
SECRET = "5" * 64


def no_worker(*_: object) -> Any:
    raise AssertionError("data needs no worker")


def earned(text: str, secret: str = SECRET) -> int:
    submission = Submission("one", Path("one"), {"bughunt.toml": text}, {})
    return Grading(submission, ["bughunt"], no_worker, secret=secret).run().earned


def test_the_key_of_a_bug_hunt_earns_all_points_in_its_own_class_only() -> None:
    code = sets.name_of_set("Ada", SECRET)
    key = known.toml_of(known.key_of(sets.pieces_of(code, SECRET)), code)
    assert earned(key) == known.ALL and earned(key, "6" * 64) == 0
    deep = "[" * 5_000 + "]" * 5_000
    assert earned(f'set = "practice"\n[piece_01]\nbug = true\nline = 1\ncall = {{ x = {deep} }}\n') == 0
