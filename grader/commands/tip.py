"""The tip to use `grade --watch`, for people who run `grade` repeatedly at a terminal."""

from __future__ import annotations

import json
import os
import sys
import time

from ..core.result import replace_file
from .hint import cache_folder

TIP = (
    "This is your third `grade` in ten minutes: `grade --watch` grades after every save and imports PyTorch only once."
)
_SECONDS = 600
_TIMES = 3


def is_due() -> bool:
    """Record this run of `grade`, and return whether it is the third in ten minutes."""
    if not sys.stdout.isatty() or os.environ.get("CI"):
        return False
    now = time.time()
    try:
        file = cache_folder() / "times.json"
        times = [*_earlier(file.read_text("utf-8") if file.exists() else "[]", now), now]
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(times[-_TIMES - 1 :]))
    except OSError:
        return False
    return len(times) == _TIMES


def _earlier(text: str, now: float) -> list[float]:
    """The times of the last ten minutes; none if the file is damaged."""
    try:
        return [earlier for earlier in json.loads(text) if now - _SECONDS < earlier <= now]
    except (ValueError, TypeError):
        return []
