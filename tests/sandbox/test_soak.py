"""Nothing grows while one grading process grades on; `bench_soak.py` does a thousand gradings, by hand."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import hypothesis
import pytest
from bench_soak import Soak

from grader import course
from grader.run import grade
from grader.sandbox import Sandbox, missing_walls
from grader.submission import read_submission

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(params=[0, 1, 2], ids=lambda level: f"level {level}")
def soak(request: pytest.FixtureRequest) -> Iterator[Soak]:
    if missing := missing_walls(request.param):
        pytest.skip(f"no isolation level {request.param}: {'; '.join(missing)}")
    started = Soak(level=request.param, hanging=False)
    yield started
    started.close()


def test_forty_gradings_leave_no_process_no_file_and_no_memory_behind(soak: Soak) -> None:
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

    def settings_after_grading() -> int:
        grade(submission, ["kl"], sandbox.worker)
        gc.collect()
        return sum(type(each) is hypothesis.settings for each in gc.get_objects())  # isinstance asks lazy objects

    first = settings_after_grading()
    assert first > 10
    assert settings_after_grading() == first
