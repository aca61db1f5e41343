"""Hostile submissions, the yard that they are let loose in, and what each isolation level stops of them.

Left out: attacks that are no code, such as archives with paths out of their folder; the tests of what reads those make
them. Nothing of this package is in a handout.
"""

from __future__ import annotations

from . import answers, channel, files, memory_and_time, network, processes, python_tricks, reports, shared
from .attack import Attack, Harm, Topic

__all__ = ["ATTACKS", "TOPICS", "Attack", "Harm", "Topic"]

TOPICS: tuple[Topic, ...] = tuple(
    module.TOPIC
    for module in (answers, channel, python_tricks, memory_and_time, processes, shared, files, network, reports)
)
ATTACKS: dict[str, Attack] = {attack.name: attack for topic in TOPICS for attack in topic.attacks}
"""Every attack by its name."""
