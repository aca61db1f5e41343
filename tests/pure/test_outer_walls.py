"""Walls of other systems, as far as they are text and calls: the profile for macOS, and job objects of Windows."""

import itertools
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.sandbox.walls import seatbelt
from grader.sandbox.walls.windows_job import WindowsJob

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stands in for what Windows has")


def test_the_profile_names_what_is_given_to_it(tmp_path: Path) -> None:
    command = seatbelt._wrapped(["python", "x"], str(tmp_path))
    given = {part.split("=")[0] for before, part in itertools.pairwise(command) if before == "-D"}
    profile = command[command.index("-p") + 1]
    assert set(re.findall(r'\(param "([A-Z_0-9]+)"\)', profile)) == given
    assert profile.count("(") == profile.count(")")
    assert os.path.realpath(sys.executable) in seatbelt._interpreters()
    assert command[-2:] == ["python", "x"]


class StandInJobs:
    """Stands in for pywin32: remembers what it was told, and fails where it is told to."""

    class Handle:
        closed = False

        def Close(self) -> None:
            self.closed = True

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.calls: list[str] = []
        self.handles: list[StandInJobs.Handle] = []
        self.limits: dict[str, Any] = {"BasicLimitInformation": {"LimitFlags": 0, "ActiveProcessLimit": 0}}

    def modules(self) -> dict[str, Any]:
        names = ("KILL_ON_JOB_CLOSE", "ACTIVE_PROCESS", "PROCESS_MEMORY", "DIE_ON_UNHANDLED_EXCEPTION")
        flags = {f"JOB_OBJECT_LIMIT_{name}": 1 << number for number, name in enumerate(names)}
        calls = ("CreateJobObject", "SetInformationJobObject", "AssignProcessToJobObject", "TerminateJobObject")
        job = SimpleNamespace(
            **flags,
            **{name: lambda *arguments, name=name: self.call(name, *arguments) for name in calls},
            QueryInformationJobObject=lambda job, kind: self.limits if kind == "limits" else (os.getpid(),),
            JobObjectExtendedLimitInformation="limits",
            JobObjectBasicProcessIdList="processes",
        )
        rights = SimpleNamespace(PROCESS_SET_QUOTA=1, PROCESS_TERMINATE=2)
        api = SimpleNamespace(OpenProcess=lambda *arguments: self.call("OpenProcess", *arguments))
        return {"win32job": job, "win32con": rights, "win32api": api}

    def call(self, name: str, *_: Any) -> Any:
        if name == self.fails or f"{name} {len(self.calls)}" == self.fails:
            raise RuntimeError("refused")
        self.calls.append(name)
        if name in ("CreateJobObject", "OpenProcess"):
            self.handles.append(self.Handle())
            return self.handles[-1]
        return None


@pytest.mark.parametrize("module", ["win32job", "win32api", "win32con"])
def test_without_pywin32_there_is_no_job(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    api = StandInJobs()
    for name, found in {**api.modules(), module: None}.items():
        monkeypatch.setitem(sys.modules, name, found)
    check_no_job(api)


@pytest.mark.parametrize(
    "fails", ["CreateJobObject", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject"]
)
def test_a_stand_in_job_that_fails_is_no_wall(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    api = StandInJobs(fails)
    for name, found in api.modules().items():
        monkeypatch.setitem(sys.modules, name, found)
    check_no_job(api)


def check_no_job(api: StandInJobs) -> None:
    wall = WindowsJob(1 << 30)
    wall.started(os.getpid())
    assert not wall.stands()
    wall.end()
    assert all(handle.closed for handle in api.handles)
    assert "TerminateJobObject" not in api.calls


def test_a_stand_in_job_is_limited_when_the_worker_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    api = StandInJobs()
    for name, found in api.modules().items():
        monkeypatch.setitem(sys.modules, name, found)
    wall = WindowsJob(1 << 30)
    wall.started(os.getpid())
    assert api.limits["BasicLimitInformation"]["LimitFlags"] == 1  # the launcher of an interpreter may start it now
    assert wall.stands()
    assert api.limits["BasicLimitInformation"] == {"LimitFlags": 15, "ActiveProcessLimit": 1}
    assert api.limits["ProcessMemoryLimit"] > 1 << 30
    wall.end()
    wall.end()
    assert api.calls == [
        *("CreateJobObject", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject"),
        *("SetInformationJobObject", "TerminateJobObject"),
    ]
    assert all(handle.closed for handle in api.handles)


def test_a_stand_in_job_that_takes_no_limits_still_ends_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    api = StandInJobs("SetInformationJobObject 4")
    for name, found in api.modules().items():
        monkeypatch.setitem(sys.modules, name, found)
    wall = WindowsJob(None)
    wall.started(os.getpid())
    assert not wall.stands()
    wall.end()
    assert api.calls[-1] == "TerminateJobObject"
