"""What the report adds to errors of Python: the version that reads the file, what was probably meant, whose error."""

from __future__ import annotations

import builtins
import difflib
import keyword
import re
import sys
from collections.abc import Mapping

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


def syntax_advice(message: str, line: str) -> str:
    """The end of a message on a syntax error: what to type, if the line shows it."""
    if "tabs and spaces" in message:
        return "; indent with spaces only"
    first = re.match(r"\s*([a-z]+) ", line)
    alike = difflib.get_close_matches(first[1], keyword.kwlist, 1, 0.75) if first else []
    is_misspelled = alike and first and alike[0] != first[1] and message == "invalid syntax"
    return f"; did you mean `{alike[0]}`?" if is_misspelled else ""


def unknown_import(message: str, files: Mapping[str, str]) -> str:
    """What a message on an import from a module of the submission means; empty for other messages."""
    found = re.match(r"cannot import name '(\w+)' from '(?:submission|starter)\.(\w+)'", message)
    if not found or f"{found[2]}.py" not in files:
        return ""
    name, file_name = found[1], f"{found[2]}.py"
    defined = re.findall(r"^(?:def|class) (\w+)|^(\w+) *=", files[file_name], re.MULTILINE)
    names = sorted({"".join(each) for each in defined})
    swapped = [each for each in names if sorted(each.split("_")) == sorted(name.split("_"))]
    meant = (swapped or difflib.get_close_matches(name, names, 1, 0.6))[:1]
    return f"{file_name} has no `{name}`" + (f"; did you mean `{meant[0]}`?" if meant else "")


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
    names = {*re.findall(r"(?<![\w.])[A-Za-z_]\w*", text), *dir(builtins)} - {name}
    alike = difflib.get_close_matches(name, sorted(names), 1, 0.75)
    return f"; did you mean `{alike[0]}`?" if alike else ""


_NO_SIGNATURE = re.compile(
    r"(\w+)\(\) received an invalid combination of arguments - got \(([^()]*)\), but expected one of:(.*)", re.DOTALL
)


def with_unknown_keywords(message: str) -> str:
    """torch's message on arguments that fit no signature; if their names do not, it is written as Python would."""
    found = _NO_SIGNATURE.match(message)
    if not found:
        return message
    taken = [name for name in dict.fromkeys(re.findall(r"(\w+)(?: = \w+)?[,)]", found[3])) if name not in _UNNAMED]
    unknown = [name for name in re.findall(r"(\w+)=", found[2]) if name not in taken]
    if not unknown:
        return message
    names = " or ".join(f"'{name}'" for name in sorted(unknown))
    return f"{found[1]}() got an unexpected keyword argument {names} (it takes: {', '.join(taken)})"


_UNNAMED = ("input", "self", "out")
"""Arguments in a signature of torch whose names nobody writes."""


def is_built_in(name: str) -> bool:
    """Whether an exception of this type is Python's own; any other name was chosen by a submission or a library."""
    known = getattr(builtins, name, None)
    return isinstance(known, type) and issubclass(known, BaseException)
