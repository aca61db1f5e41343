"""The processes that descend from this one: how many there are, and whether some stay that should have ended."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

_END_SECONDS = 10.0
"""So long a killed process may take to end on a busy machine; what an attack leaves lives for 30."""


def settled(usual: int, calm: int = 1) -> int:
    """How many processes of ours there are, once they are no more than usual or have had time to end.

    Args:
        usual: So many may stay.
        calm: So many times in a row the number must not change, every 20 ms: a worker that is just being started or
            ended is no orphan, and hides none.
    """
    deadline = time.monotonic() + _END_SECONDS
    now, same = len(descendants()), 0
    while (now > usual or same < calm) and time.monotonic() < deadline:
        time.sleep(0.02)
        before, now = now, len(descendants())
        same = same + 1 if now == before else 0
    return now


def descendants() -> set[int]:
    """All living processes that descend from this one."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            stat = Path(f"/proc/{name}/stat").read_text("ascii", "replace")
            state, parent, *_ = stat.rsplit(")", 1)[1].split()
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(name))
    found: set[int] = set()
    new = [os.getpid()]
    while new:
        new = [child for process in new for child in children.get(process, [])]
        found |= {*new}
    return found


def end(processes: Iterable[int]) -> None:
    """Kill processes, whether or not they are still there."""
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
