"""Nothing grows while one grading process grades on; `bench_soak.py` does a thousand gradings, by hand."""

from __future__ import annotations

import contextlib
import gc
import sys

import hypothesis
import pytest
from bench_soak import Soak
from submissions import grading_profile

from grader.core import course
from grader.core.contents import read_submission
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox, missing_walls

pytestmark = [pytest.mark.proof, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]


@pytest.mark.parametrize("level", [0, 1, 2])
def test_forty_gradings_leave_no_process_no_file_and_no_memory_behind(level: int) -> None:
    if missing := missing_walls(level):
        pytest.skip(f"no isolation level {level}: {'; '.join(missing)}")
    with contextlib.closing(Soak(level=level, hanging=False)) as soak:
        kinds = len(soak.points)
        soak.grade(kinds)
        first = soak.state()
        soak.grade(40 - kinds)
        second = soak.state()
    assert second.counts() == first.counts()
    assert all(after - before < 10 << 20 for before, after in zip(first.memory, second.memory, strict=True))
    assert [name for name, points in soak.points.items() if len(points) > 1] == []


def test_the_seeds_of_one_grading_are_forgotten_with_it(sandbox: Sandbox) -> None:
    submission = read_submission(course.MODEL_ANSWERS)
    declared = declared_checks(["kl"], hidden=True)
    checks = {name: check for name, check in declared.items() if check.function == "kl_estimate"}

    def settings_after_grading() -> int:
        with grading_profile():
            assert Grading(submission, ["kl"], sandbox.worker, checks=checks).run().exit_code == 0
        gc.collect()
        return sum(type(each) is hypothesis.settings for each in gc.get_objects())  # isinstance asks lazy objects

    first = settings_after_grading()
    assert first > 10
    assert settings_after_grading() == first
