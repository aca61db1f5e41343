"""Asks a worker that gives no answer where it is: faulthandler writes its innermost frames when SIGUSR1 comes.

On a busy machine it takes a while until a process gets the processor, and with it the signal. So the wait ends when the
signal is no longer pending, and not after a fixed time. Without /proc (macOS) only a fixed time is left.
"""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

_WRITING = 0.03
"""Seconds that faulthandler gets to write, once it runs."""
_LONGEST = 2.0
"""Seconds after which a worker that blocks the signal is given up."""
_WITHOUT_PROC = 0.1


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
    time.sleep(_WRITING if Path("/proc/self/status").exists() else _WITHOUT_PROC)


def _is_pending(process: int) -> bool:
    """Whether the signal still waits for the process to run."""
    try:
        status = Path(f"/proc/{process}/status").read_text("ascii", "replace")
    except OSError:
        return False
    sets = re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$", status, re.M)
    return any(int(bits, 16) >> (signal.SIGUSR1 - 1) & 1 for bits in sets)
