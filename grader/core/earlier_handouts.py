"""What is new since a submission's stubs were handed out. Older submissions are graded as they are."""

from __future__ import annotations

from collections.abc import Mapping

from .note import Note

# File to a line that only its earlier stubs have, and what is new since then.
_EARLIER = {
    "advantages.py": (
        "def group_advantages(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:",
        "`group_advantages` also takes `correction`, which is optional and has no points",
    ),
    "bandit.py": (
        "def _clip_fraction(",
        "the code that records a run is in given/bandit_history.py; the copy in your bandit.py works as well",
    ),
}


def note(files: Mapping[str, str]) -> list[Note]:
    """One note about all files that are from an earlier handout; none if all are current."""
    found = {name: new for name, (line, new) in _EARLIER.items() if line in files.get(name, "")}
    if not found:
        return []
    are = "is" if len(found) == 1 else "are"
    text = f"{' and '.join(found)} {are} from an earlier handout and graded as before. New: {'; '.join(found.values())}"
    return [Note(text, about=(*found,))]
