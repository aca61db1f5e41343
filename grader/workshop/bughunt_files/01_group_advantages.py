"""Group advantages

The mean runs over axis 0, so each reward is compared with completions of other prompts. Broadcasting hides it: the
shapes fit. In this call one prompt is easy and one is hard. With the bug, every completion of the easy prompt gets a
positive advantage, even the worst of its group ({wrong[2]:+.1f}), and every completion of the hard prompt a negative
one, even the best ({wrong[6]:+.1f} instead of {right[6]:+.1f}). Most of the signal now says which prompt was easier,
not which completion was better.
"""

import numpy as np

PICTURE = {
    "kind": "advantages",
    "caption": "Advantages of two groups of four completions",
    "names": ["0.9", "1.0", "0.7", "0.8", "0.1", "0.0", "0.3", "0.2"],
    "axis": "rewards: easy prompt left, hard prompt right",
    "ticks": [-6, -3, 0, 3, 6],
    "limit": 6,
}


def group_advantages(rewards):
    """The advantage of each completion: its reward minus the mean of its group, divided by the group's standard
    deviation plus 0.0001. `rewards` has one row per prompt; a row is a group.
    """
    mean = rewards.mean(axis=1, keepdims=True)
    # bug axis: mean = rewards.mean(axis=0, keepdims=True)
    std = rewards.std(axis=1, keepdims=True)
    return (rewards - mean) / (std + 0.0001)


def effect(group_advantages):
    return group_advantages(np.array([[0.9, 1.0, 0.7, 0.8], [0.1, 0.0, 0.3, 0.2]])).ravel()
