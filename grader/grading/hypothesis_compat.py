"""The only module that uses private names of hypothesis.

`pyproject.toml` bounds the versions for its sake, CI grades with the oldest and the newest of them, and
`tests/pure/test_hypothesis_compat.py` notices when one of these stops working. Of pytest nothing private is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.configuration
from hypothesis.internal.conjecture import providers


def ignore_local_constants() -> None:
    """Let the inputs depend on the seed and the checks only.

    Hypothesis mixes constants of "local" source files into its inputs, and paths tell it which those are: the inputs
    would depend on where the course is installed. There is no public switch.
    """
    if hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = lambda: providers._local_constants  # empty, because nothing else fills it


def write_no_files() -> None:
    """Give hypothesis a folder that cannot be made: its default is the current folder, which may be a submission's.

    What it would write there are caches, which it does without. The public ways are the setting `database`, which is
    one of several things that it writes, and a variable of the environment, which all that is started from here would
    inherit.
    """
    hypothesis.configuration.set_hypothesis_home_dir(Path(os.devnull) / "hypothesis")


def inner_test(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of an invariant that is called with each input."""
    inner: Callable[..., Any] = function.hypothesis.inner_test  # type: ignore[attr-defined]
    return inner


def give_database_key(function: Callable[..., Any]) -> None:
    """Give an invariant a name for hypothesis's database, which we do not use.

    Without one, hypothesis makes one from the function's source in every grading, which takes 3 ms per invariant.
    """
    vars(function)["_hypothesis_internal_database_key"] = b""


def forget_seed(function: Callable[..., Any]) -> None:
    """Take the seed of the last grading in this process from an invariant.

    `hypothesis.seed` derives new settings from those that the invariant has, which keep a reference to them: without
    this the chain would grow with each grading.
    """
    vars(function).pop("_hypothesis_internal_use_settings", None)
