"""Ten honest programs that met a wall: what each gets now, from the files that were handed in to the answer of a call.

The same table is on the page on isolation. `torch.compile` takes eight seconds to find out that it may not, so the
whole list is a proof; what is special about a program has a test in the folder of what does it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grader.core import course
from grader.core.contents import read_submission
from grader.grading.student import Student, StudentError
from grader.grading.system_exceptions import what_was_raised
from grader.sandbox.sandbox import Sandbox, missing_walls

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(bool(missing_walls(1)), reason="level 1 is not to be had here"),
]

MODEL = (course.MODEL_ANSWERS / "advantages.py").read_text("utf-8")
BEFORE = """
_right = group_advantages
def group_advantages(rewards, **options):
    {line}
    return _right(rewards, **options)
"""
POINT = """
import dataclasses, pickle
@dataclasses.dataclass
class Point:
    x: int
"""
FLOOD = "for _ in range(3_000): print('x' * 10_000)"
THREADS = "import threading; t = threading.Thread(target=print); t.start(); t.join()"


def doing(line: str, top: str = "") -> dict[str, bytes]:
    """The files of a right answer that does something else first."""
    return {"advantages.py": (MODEL + top + BEFORE.format(line=line)).encode()}


NOTEBOOK = json.dumps(
    {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": MODEL}]}
)
RIGHT: dict[str, dict[str, bytes]] = {
    "imports matplotlib.pyplot": {"advantages.py": f"{MODEL}\nimport matplotlib.pyplot\n".encode()},
    "floods its output": doing(FLOOD),
    "has a helpers.py": {
        "advantages.py": b"from helpers import *\n",
        "helpers.py": MODEL.encode(),
    },
    "imports starter.advantages": {
        "advantages.py": MODEL.encode(),
        "kl.py": b"from starter.advantages import group_advantages\n",
    },
    "is a notebook": {"advantages.ipynb": NOTEBOOK.encode()},
    "is latin-1 with a coding line": {
        "advantages.py": b"# -*- coding: latin-1 -*-\n# gr\xfc\xdfe\n" + MODEL.encode("ascii", "replace")
    },
    "pickles a dataclass": doing("assert pickle.loads(pickle.dumps(Point(1))) == Point(1)", POINT),
    "starts threads": doing(THREADS),
}
TOLD = {
    "starts processes": (doing("import multiprocessing; multiprocessing.Pool(2)"), "which the grader does not allow"),
    "compiles": (doing("import torch; torch.compile(lambda x: x + 1)(rewards)"), "torch.compile starts a compiler"),
}


@pytest.fixture(scope="module")
def confined() -> Iterator[Sandbox]:
    with Sandbox.start(level=1) as sandbox:
        yield sandbox


def answer(sandbox: Sandbox, folder: Path, files: dict[str, bytes]) -> list[list[float]]:
    """What `group_advantages` of these files makes of one group."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    submission = read_submission(folder)
    exercise = course.exercise("advantages")
    with contextlib.closing(Student(exercise, submission, sandbox.worker)) as student:
        value = student.group_advantages(np.array([[1.0, 0.0, 0.0, 1.0]], dtype=np.float32)).value
    found: list[list[float]] = value.array.round(3).tolist()
    return found


@pytest.mark.parametrize("program", RIGHT)
def test_an_honest_program_gets_its_answer(confined: Sandbox, tmp_path: Path, program: str) -> None:
    reference = answer(confined, tmp_path, {"advantages.py": MODEL.encode()})
    (tmp_path / "advantages.py").unlink()
    assert answer(confined, tmp_path, RIGHT[program]) == reference


@pytest.mark.parametrize("program", TOLD)
def test_what_cannot_be_is_one_sentence(confined: Sandbox, tmp_path: Path, program: str) -> None:
    files, sentence = TOLD[program]
    with pytest.raises(StudentError) as raised:
        answer(confined, tmp_path, files)
    assert sentence in what_was_raised(raised.value.type, raised.value.message)
