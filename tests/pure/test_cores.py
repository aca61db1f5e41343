"""The number of gradings at a time is that of the processors which a container may use."""

import os
from pathlib import Path

import pytest

from grader.core.cores import cores


def ours() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.mark.parametrize(
    ("quota", "most"),
    [("150000 100000\n", 1), ("50000 100000\n", 1), ("200000 100000\n", 2), ("max 100000\n", None), ("odd", None)],
)
def test_a_quota_of_a_container_is_rounded_down_and_at_least_one(tmp_path: Path, quota: str, most: int | None) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    assert cores(tmp_path) == (ours() if most is None else min(ours(), most))


@pytest.mark.parametrize(("quota", "most"), [("100000\n", 1), ("-1\n", None)])
def test_the_older_kind_of_control_group_is_read_too(tmp_path: Path, quota: str, most: int | None) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cores(tmp_path) == (ours() if most is None else most)


def test_without_a_control_group_it_is_what_the_system_allows(tmp_path: Path) -> None:
    assert cores(tmp_path) == ours()
