"""One run of pytest over the checks of some exercises."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from .check import modules
from .plugin import GradingPlugin

_PYTEST_INI = Path(__file__).with_name("pytest.ini")
_UNUSED = (
    *("doctest", "junitxml", "legacypath", "logging", "monkeypatch", "pastebin", "recwarn"),
    *("setuponly", "setupplan", "stepwise", "subtests", "threadexception", "unittest"),
)
"""Plugins of pytest that no check asks for: each would be set up for every grading, and the self-test makes many."""
_OPTIONS = (
    *("-c", str(_PYTEST_INI), "--noconftest", "--assert=plain"),
    *("-p", "no:terminal"),  # the report is made from the result
    *("-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:debugging", "--pyargs"),
    *(part for name in _UNUSED for part in ("-p", f"no:{name}")),
)


def run_checks_of(grading: GradingPlugin, exercises: Sequence[str]) -> int | pytest.ExitCode:
    """Run pytest on the modules of the checks of some exercises."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # entry points of other packages have no business here
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    settings = grading.settings
    hidden = settings.with_hidden_checks
    names = [module for exercise in exercises for module in modules(exercise, hidden=hidden)]
    shown = ["--capture=no", "--maxfail=1"] if settings.debug else ["--capture=sys"]
    with contextlib.closing(grading), _interruptible(grading):
        return pytest.main([*_OPTIONS, *shown, *names], plugins=[grading])


@contextlib.contextmanager
def _interruptible(grading: GradingPlugin) -> Iterator[None]:
    """Remember Ctrl-C: inside a garbage collection, which hypothesis makes often, a KeyboardInterrupt gets lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        grading.interrupted = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
