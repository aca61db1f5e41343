"""The number of gradings at a time is the number of processors that a container may use."""

import os
from pathlib import Path

import pytest

from grader.core.arguments import cores

pytestmark = pytest.mark.machine

OURS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.mark.parametrize(
    ("files", "most"),
    [
        ({"cpu.max": "150000 100000\n"}, 1), ({"cpu.max": "50000 100000\n"}, 1), ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "max 100000\n"}, OURS), ({"cpu.max": "odd"}, OURS), ({}, OURS),
    ],
)  # fmt: skip
def test_a_quota_of_a_container_is_rounded_down_and_at_least_one(tmp_path: Path, files: dict, most: int) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert cores(tmp_path) == min(OURS, most)
