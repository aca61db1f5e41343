"""An honest submission that is graded at the same time as an attack, and must get the points that it gets alone."""

from __future__ import annotations

import secrets
from pathlib import Path

from ..core import course
from ..core.contents import read_submission
from ..core.result import PASSED, Result
from ..core.submission import Submission
from .attack import BESIDE, EXERCISE

GRADED = (EXERCISE, BESIDE)

_USES_WHAT_ALL_SHARE = """

# Whatever an attack may take away from a neighbor is needed here, at the top of every module and so in every worker.
import colorsys, os, tempfile
with tempfile.NamedTemporaryFile() as _file:
    _file.write(bytes(1000))
_reader, _writer = os.pipe()
os.write(_writer, bytes(1000)), os.read(_reader, 1000), os.close(_reader), os.close(_writer)
assert colorsys.rgb_to_hsv(0.0, 0.0, 0.0)[2] == 0.0
"""


def neighbor() -> Submission:
    """The model answers, different in every call so that no two neighbors share a result."""
    model = read_submission(course.MODEL_ANSWERS).files
    end = f"{_USES_WHAT_ALL_SHARE}# {secrets.token_hex(8)}\n"
    names = [exercise.file_name for exercise in course.EXERCISES]
    return Submission("neighbor", Path("neighbor"), {name: model[name] + end for name in names}, {})


def is_changed(result: Result | None) -> bool:
    """Whether a neighbor lost a point, or its grade. Alone it has all of them; `trial.Trial` looks before it begins."""
    return result is None or not result.complete or any(check.outcome != PASSED for check in result.checks)
