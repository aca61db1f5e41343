"""Ends what a cold worker leaves behind, on Linux and macOS: processes in sessions of their own, which no group has.

Each worker carries a random word in its environment, which its descendants inherit. When the worker is to end, it is
stopped first, so that its family does not change; then every process is looked at that was not there before it.

Left out: a parent that adopts orphans (Linux only; the worker asks for that itself where it can), control groups (need
rights that a student seldom has), and a search by user (a student's own programs have the same one). Not found: a
process that has cleaned its environment, left the session and lost its parent; one that hands itself over to a new
process in a new session faster than the processes can be listed; and one that got the number of a process that was
there before the worker and has ended since.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import sys
import time
from collections.abc import Collection, Iterator

import psutil

from .wall import OuterWall

assert sys.platform != "win32", "Windows has job objects for this"

_NAME = "COURSE_WORKER"
_LONGEST = 3.0
_STOPPING = 0.1


class NoOrphans(OuterWall):
    """Ends a worker together with all its descendants."""

    name = "no orphans"

    def __init__(self) -> None:
        self._word = secrets.token_hex(16)
        self._worker: psutil.Process | None = None
        self._strangers: set[int] = set()

    def environment(self) -> dict[str, str]:
        return {_NAME: self._word}

    def started(self, process: int) -> None:
        with contextlib.suppress(psutil.Error):
            self._worker, self._strangers = psutil.Process(process), {*psutil.pids()}

    def stands(self) -> bool:
        return self._worker is not None

    def end(self) -> None:
        """Stop the family, kill it, and look again until none is left, for at most some seconds."""
        worker = self._worker
        if worker is None:
            return
        deadline = time.monotonic() + _LONGEST
        _stop(worker)
        family = {worker}
        while self._grows(family) and time.monotonic() < deadline:
            pass
        for process in family:
            _send(process, signal.SIGKILL)
        while any([*self._relatives({worker}, signal.SIGKILL)]) and time.monotonic() < deadline:
            pass

    def _grows(self, family: set[psutil.Process]) -> bool:
        """Stop relatives that are not known yet, and add them; says whether there may be more."""
        # A new zombie counts: somebody may have handed over between the listing and the look.
        before = len(family), len(self._strangers)
        family.update(self._relatives(family, signal.SIGSTOP))
        return (len(family), len(self._strangers)) != before

    def _relatives(self, known: Collection[psutil.Process], number: int) -> Iterator[psutil.Process]:
        """Send a signal to every living relative that is not known yet, at once: it may not live long."""
        pids = {process.pid for process in known}
        for pid in sorted({*psutil.pids()} - self._strangers - pids, reverse=True):  # the youngest first
            with contextlib.suppress(psutil.Error, OSError):
                process = psutil.Process(pid)
                if process.status() == psutil.STATUS_ZOMBIE:
                    self._strangers.add(pid)  # a worker may leave thousands: they are looked at once
                elif self._is_relative(process, pids):
                    _send(process, number)
                    yield process

    def _is_relative(self, process: psutil.Process, pids: Collection[int]) -> bool:
        assert self._worker is not None
        if process.ppid() in pids or self._worker.pid in (os.getsid(process.pid), os.getpgid(process.pid)):
            return True
        return process.environ().get(_NAME) == self._word


def _stop(worker: psutil.Process) -> None:
    """Stop a process, and wait until it stands still or has ended: a signal takes a moment to arrive."""
    _send(worker, signal.SIGSTOP)
    deadline = time.monotonic() + _STOPPING
    with contextlib.suppress(psutil.Error):
        while worker.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE) and time.monotonic() < deadline:
            time.sleep(0.0005)


def _send(process: psutil.Process, number: int) -> None:
    """Send a signal to a process and to its whole group at once; a fork cannot slip through in between."""
    with contextlib.suppress(OSError):
        group = os.getpgid(process.pid)
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)  # psutil looks first whether it is still the same process
        if group != os.getpgrp():
            os.killpg(group, number)  # it may have ended by now, and its child has not
