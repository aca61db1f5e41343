"""One module for each output format; each turns a result into text and runs nothing."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.result import Result

FORMATS = {
    "html": "html_report",
    "gradescope": "gradescope",
    "classroom50": "classroom50",
    "github-annotations": "github_annotations",
    "github-summary": "github_summary",
    "prairielearn": "prairielearn",
    "junit": "junit",
}
"""Name of a format to the module that writes it."""


def export(result: Result, name: str, environment: Mapping[str, str]) -> str:
    """One result in one format.

    Args:
        result: What the grading found, complete or not.
        name: One of `FORMATS`.
        environment: Variables in which some machines say whose submission it is, such as `os.environ`.

    Raises:
        ValueError: the format needs something that the environment does not say; the text says what.
    """
    module = importlib.import_module(f"{__name__}.{FORMATS[name]}")
    text: str = module.export(result, environment)
    return text
