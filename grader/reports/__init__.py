"""One module per output format. Each turns a result into text and runs nothing."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.result import Result

_MODULES = {
    "html": "html_report",
    "gradescope": "gradescope",
    "classroom50": "classroom50",
    "github-annotations": "github_annotations",
    "github-summary": "github_summary",
    "junit": "junit",
}
FORMATS = {name: module for name, module in _MODULES.items() if Path(__file__).with_name(f"{module}.py").is_file()}
"""Name of a format to the module that writes it; a handout lacks those for classes."""


def export(
    result: Result, name: str, environment: Mapping[str, str], lines: Mapping[tuple[str, str], int] | None = None
) -> str:
    """One result in one format.

    Args:
        result: Result of the grading, complete or not.
        name: One of `FORMATS`.
        environment: Environment variables, such as `os.environ`, in which some platforms name the submission's owner.
        lines: File and function to the line that defines it, for formats that point into the code.

    Raises:
        ValueError: the format needs a variable that is missing from the environment; the text says which one.
    """
    module = importlib.import_module(f"{__name__}.{FORMATS[name]}")
    more = {"lines": lines or {}} if name == "github-annotations" else {}
    text: str = module.export(result, environment, **more)
    return text
