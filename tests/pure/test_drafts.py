"""The drafts bughunt and laws, in short: their answer keys earn their points, and hostile data earns none."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from grader.core import course
from grader.core.submission import Submission
from grader.exercises.bughunt import known, sets
from grader.exercises.laws.checks import LAWS
from grader.exercises.laws.hidden_checks import KEEPS, RIGHT, WRONG
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


@pytest.mark.parametrize("law", LAWS)
def test_each_known_answer_breaks_its_law_or_keeps_it(law: str) -> None:
    exercise, function = LAWS[law].of.split(".")
    text = (course.exercise(exercise).folder / "misconceptions" / f"{function}.py").read_text("utf-8")
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    sorted_in = [*(each.name for each in (*WRONG[law], *RIGHT[law]) if each.name), *KEEPS[law]]
    assert sorted(sorted_in) == sorted(names)
