"""A wall for cold workers on Windows: a job object, which the kernel ends as a whole, with a limit of memory.

The worker is put into the job as soon as it runs. When it is ready, and before any student code is sent, the limits
follow: no process more than there are by then, and so much memory on top of what the worker has by then. Numbers fixed
in advance would be wrong somewhere: an interpreter may be a launcher that starts the real one, Windows may count the
program behind an invisible console, and a torch with CUDA reserves gigabytes. Nothing in the job survives the grader,
since its last handle closes with it.

Left out: limits of processor time (the grader has deadlines), of windows and the clipboard, and a reduced token.

Sources: Microsoft's pages "Job Objects", JOBOBJECT_BASIC_LIMIT_INFORMATION and JOBOBJECT_EXTENDED_LIMIT_INFORMATION;
pywin32's module win32job; CPython's Lib/venv and PC/launcher on the launcher in a virtual environment.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any

import psutil

from .wall import OuterWall


class WindowsJob(OuterWall):
    """Keeps a worker in a job object. Without the package pywin32 there is no such wall.

    Args:
        memory_bytes: What it may use on top of what it has when it is ready; None for no limit.
    """

    name = "job object"

    def __init__(self, memory_bytes: int | None) -> None:
        self._memory_bytes = memory_bytes
        self._api: Any = None  # pywin32's module, which exists on Windows only
        self._job: Any = None

    def around(self, command: list[str]) -> list[str]:
        """The interpreter itself: that of a virtual environment is a launcher, which starts it as a second process."""
        return [getattr(sys, "_base_executable", "") or command[0], *command[1:]]

    def started(self, process: int) -> None:
        # Whatever is missing or refused, an older Windows, a job around us: then the worker has no job.
        with contextlib.suppress(Exception):
            self._api = importlib.import_module("win32job")
            self._job = self._api.CreateJobObject(None, "")
            try:
                self._limit(self._api.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
                self._assign(process)
            except Exception:
                self._job.Close()
                self._job = None
                raise

    def stands(self) -> bool:
        if self._job is None:
            return False
        try:
            processes = self._api.QueryInformationJobObject(self._job, self._api.JobObjectBasicProcessIdList)
            flags = self._api.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | self._api.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
            memory = 0
            if self._memory_bytes is not None:
                flags |= self._api.JOB_OBJECT_LIMIT_PROCESS_MEMORY
                memory = max(psutil.Process(process).memory_info().vms for process in processes) + self._memory_bytes
            self._limit(flags, processes=len(processes), memory=memory)
        except Exception:  # as above: it has a job that ends with it, and that is all
            return False
        return True

    def _assign(self, process: int) -> None:
        api, rights = importlib.import_module("win32api"), importlib.import_module("win32con")
        handle = api.OpenProcess(rights.PROCESS_SET_QUOTA | rights.PROCESS_TERMINATE, False, process)
        try:
            self._api.AssignProcessToJobObject(self._job, handle)
        finally:
            handle.Close()

    def _limit(self, flags: int, *, processes: int = 0, memory: int = 0) -> None:
        """Add limits to those that the job has."""
        kind = self._api.JobObjectExtendedLimitInformation
        limits = self._api.QueryInformationJobObject(self._job, kind)
        limits["BasicLimitInformation"]["LimitFlags"] |= flags
        limits["BasicLimitInformation"]["ActiveProcessLimit"] = processes
        limits["ProcessMemoryLimit"] = memory
        self._api.SetInformationJobObject(self._job, kind, limits)

    def end(self) -> None:
        if self._job is None:
            return
        with contextlib.suppress(Exception):
            self._api.TerminateJobObject(self._job, 1)
        self._job.Close()
        self._job = None
