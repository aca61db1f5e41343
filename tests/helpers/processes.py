"""Ends what a run of tests has started and left behind."""

from __future__ import annotations

import contextlib

import psutil


def end_all_that_was_started() -> None:
    """End every process below this one, and those that they start meanwhile.

    Workers have sessions of their own, so no signal to a group reaches them. Call `confine.adopt_orphans` first: then
    a process whose parent has ended is below this one, too.
    """
    while family := psutil.Process().children(recursive=True):
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(family, timeout=5)
