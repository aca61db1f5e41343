"""Nothing grows while one grading process grades on; `bench_soak.py` does a thousand gradings, by hand."""

from __future__ import annotations

import contextlib
import sys

import pytest
from bench_soak import Soak

from grader.sandbox.sandbox import missing_walls

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
