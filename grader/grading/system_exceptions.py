"""What the exceptions of the system (files, network, memory) mean while a submission is graded."""

from __future__ import annotations

import re

_HELP = {
    "InductorError|BackendCompilerFailed|torch[.]_inductor": (
        "torch.compile starts a compiler, which the grader does not allow; leave it out, no exercise needs it"
    ),
    "URLError|gaierror|name resolution|Name or service not known": (
        "your code tried to use the network, which the grader does not allow; it can download nothing"
    ),
    "(Operation not permitted|Permission denied|Read-only file system): ['\"]": (
        "your code tried to use a file outside of its own folder, or to make a folder, which the grader does not allow"
    ),
    "PermissionError|Operation not permitted|Permission denied": (
        "your code tried to use the network, another process or the system, which the grader does not allow"
    ),
    "FileNotFoundError|No such file or directory": ("your code looked for a file that is not there while it is graded"),
    "MemoryError|[Cc]annot allocate memory|can't allocate memory": (
        "your code needs more memory than the grader gives it"
    ),
    "BlockingIOError|can't start new thread": "your code started more threads or processes than the grader allows",
    "Too many open files": "your code opened more files than the grader allows",
    "File too large": "your code wrote more than the grader allows",
    "^SystemExit": "your code ended the program, but a function must return",
    "^EOFError: EOF when reading a line": "your code waits for input, but while it is graded nobody types",
}
"""What an exception of the system means here, by a pattern in its type and message."""
_NUMBER = re.compile(r"\[Errno -?[0-9]+\] ")


def what_was_raised(kind: str, message: str) -> str:
    """An exception of a submission in one sentence, with its message."""
    raised = f"{kind}: {_NUMBER.sub('', message)}" if message.strip() else kind
    means = meaning(raised)
    return f"{means} ({raised})" if means else raised


def meaning(raised: str) -> str:
    """What an exception of the system, given as its type and message, means here; empty where it means nothing more."""
    return next((words for pattern, words in _HELP.items() if re.search(pattern, raised)), "")
