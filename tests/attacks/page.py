"""Writes the page of attacks from the corpus.

python tests/attacks/page.py
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
from attack import Attack
from corpus import ATTACKS, TOPICS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "maintainers" / "attacks.md"
_HEAD = """<!-- Written by `python tests/attacks/page.py`; do not edit. -->

# Attacks

Every change of the grader is tested with {count} hostile submissions;
[isolation](../instructors/isolation.md#test-the-walls) says how to run them on the machine that gives the marks.
Levels 1 and 2 stop all of them: no attack raises a grade, reads a secret, changes a file, reaches the network, disturbs
another process, takes a point from another submission, or leaves anything behind. Level 0 does not stop the attacks in
*italics*, because it has {reasons}. The code is in `tests/attacks/corpus/`.

Each list says what submissions do.
"""


def page() -> str:
    """The page as Markdown."""
    reasons = [*dict.fromkeys(attack.reason for attack in ATTACKS.values() if attack.reason)]
    reasons[-1] = f"and {reasons[-1]}"
    head = _HEAD.format(count=len(ATTACKS), reasons=", ".join(reasons))
    topics = (
        f"\n## {title}\n\n" + textwrap.fill("; ".join(map(_shown, attacks)) + ".", 120) + "\n"
        for title, attacks in TOPICS.items()
    )
    return head + "".join(topics)


def _shown(attack: Attack) -> str:
    return f"*{attack.name}*" if attack.level_0 else attack.name


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
