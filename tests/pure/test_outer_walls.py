"""The walls of macOS and Windows, as far as they are text and calls: the profile, and job objects."""

import itertools
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.sandbox import cold_worker
from grader.sandbox.walls import seatbelt
from grader.sandbox.walls.windows_job import WindowsJob

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stands in for what Windows has")


def test_the_macos_profile_uses_every_parameter(tmp_path: Path) -> None:
    command = seatbelt._wrapped(["python", "x"], str(tmp_path))
    given = {part.split("=")[0] for before, part in itertools.pairwise(command) if before == "-D"}
    profile = command[command.index("-p") + 1]
    assert set(re.findall(r'\(param "([A-Z_0-9]+)"\)', profile)) == given
    assert profile.count("(") == profile.count(")")
    assert command[-2:] == ["python", "x"]


@pytest.mark.parametrize(
    ("system", "walls"),
    [
        ("linux", {"NoOrphans"}), ("darwin", {"Seatbelt", "MemoryWatchdog", "NoOrphans"}), ("win32", {"WindowsJob"}),
    ],
)  # fmt: skip
def test_each_system_has_its_walls(monkeypatch, system, walls, tmp_path):
    monkeypatch.setattr(sys, "platform", system)
    assert {type(wall).__name__ for wall in cold_worker.outer_walls(str(tmp_path), 1 << 30)} == walls


class StandInJobs:
    """Stands in for pywin32: records the calls, and fails in one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, fails: str = "", missing: str = "") -> None:
        self.fails, self.open_handles = fails, 0
        self.calls: list[Any] = []
        self.limits: dict[str, Any] = {"BasicLimitInformation": {"LimitFlags": 0, "ActiveProcessLimit": 0}}
        names = ("KILL_ON_JOB_CLOSE", "ACTIVE_PROCESS", "PROCESS_MEMORY", "DIE_ON_UNHANDLED_EXCEPTION")
        calls = ("CreateJobObject", "SetInformationJobObject", "AssignProcessToJobObject", "TerminateJobObject")
        job = SimpleNamespace(
            **{f"JOB_OBJECT_LIMIT_{name}": 1 << number for number, name in enumerate(names)},
            **{name: lambda *arguments, name=name: self.call(name) for name in calls},
            QueryInformationJobObject=lambda job, kind: self.limits if kind == "limits" else (os.getpid(),),
            JobObjectExtendedLimitInformation="limits",
            JobObjectBasicProcessIdList="processes",
        )
        rights = SimpleNamespace(PROCESS_SET_QUOTA=1, PROCESS_TERMINATE=2)
        api = SimpleNamespace(OpenProcess=lambda *_: self.call("OpenProcess"))
        for name, module in {"win32job": job, "win32con": rights, "win32api": api, missing: None}.items():
            monkeypatch.setitem(sys.modules, name, module)

    def call(self, name: str) -> Any:
        if self.fails in (name, f"{name} {len(self.calls)}"):
            raise RuntimeError("refused")
        self.calls.append(name)
        if name not in ("CreateJobObject", "OpenProcess"):
            return None
        self.open_handles += 1
        return SimpleNamespace(Close=self.close)

    def close(self) -> None:
        self.open_handles -= 1


@pytest.mark.parametrize(
    ("missing", "fails"),
    [
        ("win32job", ""), ("win32api", ""), ("win32con", ""), ("", "CreateJobObject"),
        ("", "SetInformationJobObject"), ("", "OpenProcess"), ("", "AssignProcessToJobObject"),
    ],
)  # fmt: skip
def test_a_job_that_is_missing_or_fails_is_no_wall(missing: str, fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = StandInJobs(monkeypatch, missing=missing, fails=fails)
    wall = WindowsJob(1 << 30)
    wall.started(os.getpid())
    assert not wall.stands()
    wall.end()
    assert jobs.open_handles == 0 and "TerminateJobObject" not in jobs.calls


def test_a_job_is_limited_when_the_worker_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = StandInJobs(monkeypatch)
    wall = WindowsJob(1 << 30)
    wall.started(os.getpid())
    assert jobs.limits["BasicLimitInformation"]["LimitFlags"] == 1  # the launcher of an interpreter may start it now
    assert wall.stands()
    assert jobs.limits["BasicLimitInformation"] == {"LimitFlags": 15, "ActiveProcessLimit": 1}
    assert jobs.limits["ProcessMemoryLimit"] > 1 << 30
    wall.end()
    wall.end()
    assert jobs.calls.count("TerminateJobObject") == 1 and jobs.open_handles == 0
