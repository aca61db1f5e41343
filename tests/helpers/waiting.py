"""Waits for the thing itself, because no test depends on the clock.

Left out: what a browser shows, for which Playwright waits, and test_watch.py, which says what it has read meanwhile.
"""

import subprocess
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 120.0
"""Seconds after which something does not come any more, on a machine that has much else to do."""
PAUSE = 0.02


def wait_until(condition: Callable[[], Any], process: subprocess.Popen[Any] | None = None) -> Any:
    """What a condition gives once it holds; it fails if it never does, or if a process ends before."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert process is None or process.poll() is None, "the process ended before"
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(PAUSE)
    return found
