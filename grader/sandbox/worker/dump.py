"""Asks a worker that gives no answer where it is: faulthandler writes its innermost frames when SIGUSR1 comes.

On a busy machine it takes a while until a process gets the processor, and with it the signal. So instead of waiting for
a fixed time, we wait until the signal is no longer pending and the process had the processor for long enough to write.
Without /proc (macOS) it ends after the first look.
"""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

_WRITING = 3
"""Ticks (usually of 10 ms) of the processor that faulthandler gets to write, once it runs."""
_LONGEST = 2.0
"""Seconds after which a worker that blocks the signal is given up."""
_BETWEEN_LOOKS = 0.05


def ask_where(process: int) -> None:
    """Send the signal and wait until the answer is written, for at most about two seconds.

    Args:
        process: Id of the worker; it may have ended already.

    Raises:
        ProcessLookupError: There is no such process.
    """
    os.kill(process, signal.SIGUSR1)
    deadline = time.monotonic() + _LONGEST
    while _is_pending(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    _, ticks = _state(process)
    while time.monotonic() < deadline:
        time.sleep(_BETWEEN_LOOKS)
        state, now = _state(process)
        if state not in ("R", "D") or now - ticks >= _WRITING:  # a process that sleeps again has written
            break


def _is_pending(process: int) -> bool:
    """Whether the signal still waits for the process to run."""
    try:
        status = Path(f"/proc/{process}/status").read_text("ascii", "replace")
    except OSError:
        return False
    sets = re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$", status, re.M)
    return any(int(bits, 16) >> (signal.SIGUSR1 - 1) & 1 for bits in sets)


def _state(process: int) -> tuple[str, int]:
    """State of a process, "R" or "D" if it runs or waits for a processor or a disk, and its ticks; see proc(5)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii", "replace").rsplit(")", 1)[1].split()
        return fields[0], int(fields[11]) + int(fields[12])
    except (OSError, IndexError, ValueError):
        return "", 0
