"""The code of the site, which only a clone of the repository has."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from ..core import course

_FOLDER = course.ROOT / ".ci"


def site_module(name: str) -> ModuleType:
    """A module of `.ci/site_steps/`.

    Raises:
        ModuleNotFoundError: the folder is missing.
    """
    if str(_FOLDER) not in sys.path:
        sys.path.append(str(_FOLDER))
    return importlib.import_module(f"site_steps.{name}")
