"""A disk that is full while something is saved. Not on Windows, which has no limit for the size of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def fill_up(monkeypatch: pytest.MonkeyPatch, owner: type, is_full: Callable[[Any], bool]) -> None:
    """Let the method `save` of a class find no room for more than 20 kB whenever `is_full` says so of its object."""
    import resource

    save, limits = owner.save, resource.getrlimit(resource.RLIMIT_FSIZE)  # type: ignore[attr-defined]

    def on_a_disk_that_fills_up(saved: Any) -> None:
        if is_full(saved):
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        try:
            save(saved)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    monkeypatch.setattr(owner, "save", on_a_disk_that_fills_up)
