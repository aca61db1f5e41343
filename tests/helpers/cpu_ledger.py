"""A pytest plugin: how many CPU seconds each test used, its children included, and what its share of the suite may use.

Wall time is noise on a machine that others use too; CPU seconds are nearly the same on every day. The folder of a test
is the share that pays for it (`CONTRIBUTING.md` says what lives where), so nobody has to be asked twice.

The program bubblewrap ends without waiting for the first process of its namespaces, and what ran inside would be lost.
So this process adopts it, waits for it, and its time counts here. Left out: what other orphans use after their parents
have ended, and the last moments of a process that nobody waits for.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.worker.confine import adopt_orphans

SLOWEST = 20
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Ledger:
    """Notes the CPU seconds of each test, and shows them at the end.

    With several processes each notes its own tests, and the first one gathers what they report.
    """

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.processes = 0.0
        self._last: float | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        if self._last is None:
            self._last = used()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        if call.when != "teardown":
            return report  # to look costs 2 ms where a browser runs, so it is done once for each test, at its end
        now = used()  # may be less than before: what ended is missing until somebody has waited for it
        assert self._last is not None
        report.user_properties = [*report.user_properties, ("cpu_seconds", now - self._last)]
        self._last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent: list[Any] = [value for name, value in report.user_properties if name == "cpu_seconds"]
        self.seconds[report.nodeid] += sum(spent[-1:])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["cpu_seconds"] = used()
        elif session.config.pluginmanager.hasplugin("dsession"):  # the others are below this process, and report
            self.processes += sum(os.times()[:2])
        else:
            self.processes += used()

    def pytest_testnodedown(self, node: Any) -> None:  # a hook of pytest-xdist
        self.processes += getattr(node, "workeroutput", {}).get("cpu_seconds", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.seconds:
            return
        shares: Counter[str] = Counter()  # of seconds; the types of Counter know whole numbers only
        counts: Counter[str] = Counter()
        for name, seconds in self.seconds.items():
            share = share_of(name)
            shares[share] += seconds
            counts[share] += 1
        shares["start and collection"] = max(0.0, self.processes - self.seconds.total())  # type: ignore[assignment]
        terminalreporter.section("CPU seconds, children included")
        for name, seconds in self.seconds.most_common(SLOWEST):
            terminalreporter.write_line(f"{seconds:8.1f}  {name}")
        terminalreporter.write_line("")
        for share, seconds in shares.most_common():
            terminalreporter.write_line(f"{seconds:8.1f}  {share}" + f" ({counts[share]} tests)" * (counts[share] > 0))
        terminalreporter.write_line(f"{shares.total():8.1f}  all")


def share_of(nodeid: str) -> str:
    """The folder of a test below `tests/`."""
    return Path(nodeid.split("::")[0]).parent.name


def used() -> float:
    """CPU seconds of this process and of all that it started, the living and the dead."""
    below = _processes_below() if sys.platform == "linux" else {}
    for process, (seconds, ended) in below.items():
        if ended and _is_in_namespaces(process):
            with contextlib.suppress(ChildProcessError):
                below[process] = 0.0 if os.waitpid(process, os.WNOHANG)[0] else seconds, ended
    return sum(os.times()[:4]) + sum(seconds for seconds, _ in below.values())


def _processes_below() -> dict[int, tuple[float, bool]]:
    """Each process below this one: its CPU seconds with those of its dead children, and whether it is a dead child."""
    below: dict[int, tuple[float, bool]] = {}
    waiting = _children(os.getpid())
    while waiting:
        process = waiting.pop()
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ended = fields[0] == "Z" and int(fields[1]) == os.getpid()
            below[process] = sum(map(int, fields[11:15])) / _TICKS, ended
            waiting += _children(process)
    return below


def _children(process: int) -> list[int]:
    """Its children; none on a kernel without this file. All of /proc would cost 6 ms at every test."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    return found


def _is_in_namespaces(process: int) -> bool:
    """Whether it was started by bubblewrap, and by nobody here who would wait for it."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    return len(status.partition("NSpid:")[2].partition("\n")[0].split()) > 1


def pytest_configure(config: pytest.Config) -> None:
    adopt_orphans()
    config.pluginmanager.register(Ledger(), "cpu_ledger_of_this_run")
