"""The hostile submissions by topic. What a paragraph of their text means is said in `attack.py`."""

from attack import Attack, attacks_in

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

_MODULES = (answers, channel, python_tricks, behind_gate, memory_and_time, processes, shared, together, files, network)
TOPICS: dict[str, tuple[Attack, ...]] = {
    module.TITLE: attacks_in(module.ATTACKS, module.SHARED) for module in (*_MODULES, resubmissions, reports)
}
TOPICS[classes.TITLE] = classes.ATTACKS
ATTACKS: dict[str, Attack] = {attack.name: attack for attacks in TOPICS.values() for attack in attacks}
