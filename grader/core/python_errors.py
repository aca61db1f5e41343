"""What a message on a syntax error or an unknown name adds: the version of Python, and what was probably meant."""

from __future__ import annotations

import builtins
import difflib
import re
import sys

_SINCE = (
    (r"\s*type\s+\w+\s*(\[.*\])?\s*=", (3, 12)),
    (r"\s*(async\s+)?(def|class)\s+\w+\[", (3, 12)),
    (r""".*\b[rR]?[fF][rR]?("|')(?:(?!\1).)*\{[^{}"']*\1[^{}]*\1[^{}]*\}""", (3, 12)),
    (r"""(?i).*\b(t|rt|tr)["']""", (3, 14)),
    (r"\s*except\s+\w[\w.]*\s*,", (3, 14)),
)
"""Beginnings of lines, and the first version that reads them. From 3.12 on, an f-string may contain its own quotes."""


def _since(line: str) -> tuple[int, int] | None:
    """The first Python that reads a line, if it is later than this one."""
    versions = [version for pattern, version in _SINCE if re.match(pattern, line)]
    return max((version for version in versions if version > sys.version_info[:2]), default=None)


def version_note(line: str) -> str:
    """The end of a message on a syntax error: which Python reads the file."""
    ours = f"{sys.version_info[0]}.{sys.version_info[1]}"
    newer = _since(line)
    if newer is None:
        return f" (read as Python {ours})"
    return f"; this is syntax of Python {newer[0]}.{newer[1]}, and the grader runs {ours}: write it as {ours} reads it"


_IMPORTS = {
    "F": "import torch.nn.functional as F",
    "np": "import numpy as np",
    "nn": "from torch import nn",
    "math": "import math",
    "torch": "import torch",
}


def unknown_name(message: str, text: str) -> str:
    """The end of a message on a NameError: the import that is missing, or a name of the module that looks alike."""
    found = re.match(r"name '(\w+)' is not defined", message)
    if not found:
        return ""
    name = found[1]
    if name in _IMPORTS:
        return f"; write `{_IMPORTS[name]}` at the top of the file"
    names = {*re.findall(r"[A-Za-z_]\w*", text), *dir(builtins)} - {name}
    alike = difflib.get_close_matches(name, sorted(names), 1, 0.75)
    return f"; did you mean `{alike[0]}`?" if alike else ""
