"""How many processors this process may use: in a container or under `taskset` fewer than the machine has."""

from __future__ import annotations

import os
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


def cores(groups: Path = _GROUPS) -> int:
    """Processors for as many gradings at a time, at least 1.

    A quota of a control group, such as that of `docker run --cpus 1.5`, is rounded down.

    Args:
        groups: Where the system shows the control group of this process, version 2 or 1.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, _quota(groups) or allowed))


def _quota(groups: Path) -> int:
    """Whole processors of the quota; 0 if there is none that can be read, at least 1 otherwise."""
    try:
        if (groups / "cpu.max").is_file():
            quota, period = (groups / "cpu.max").read_text("ascii").split()
        else:
            quota, period = ((groups / "cpu" / f"cpu.cfs_{name}_us").read_text("ascii") for name in ("quota", "period"))
        return max(1, int(quota) // int(period)) if int(quota) > 0 else 0
    except (OSError, ValueError, ZeroDivisionError):  # "max" is no number: no quota
        return 0
