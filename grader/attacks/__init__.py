"""Hostile submissions, the yard that they are let loose in, and what each isolation level stops of them.

Nothing of this package is in a handout.
"""

from __future__ import annotations

from . import (
    answers,
    behind_gate,
    channel,
    classes,
    files,
    memory_and_time,
    network,
    processes,
    python_tricks,
    reports,
    resubmissions,
    shared,
    together,
)
from .attack import Attack, Harm, Topic

__all__ = ["ATTACKS", "TOPICS", "Attack", "Harm", "Topic"]

TOPICS: tuple[Topic, ...] = tuple(
    module.TOPIC
    for module in (
        *(answers, channel, python_tricks, behind_gate, memory_and_time, processes, shared, together, files, network),
        *(resubmissions, classes, reports),
    )
)
ATTACKS: dict[str, Attack] = {attack.name: attack for topic in TOPICS for attack in topic.attacks}
"""Every attack by its name."""
