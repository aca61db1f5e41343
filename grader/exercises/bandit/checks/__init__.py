"""What the checks of `bandit.py` share: a group, settings, and the oracle's steps.

A step samples nothing, so its checks are exact. A run records its groups, so the oracle replays it exactly: from the
uniform policy, group by group. Only checks of sampling use statistics, and every threshold says how often it fails a
right answer.
"""

import numpy as np

from grader.grading.calls import Record
from grader.oracles import simulation

LOGITS = np.array([1.0, 0.0, -1.0, 0.5])
REF_LOGITS = np.array([0.0, 0.5, 0.25, -0.5])
ACTIONS = np.array([0, 1, 1, 3, 0, 2])
REWARDS = np.array([1.0, 0.0, 0.5, 3.0, 0.0, -1.0])
# Nearly certain of the third action: the second action's probability rounds to 0 in float32.
SURE = np.array([0.0, -120.0, 1.0], np.float32), np.array([0, 1, 2]), np.array([1.0, 0.0, 0.5], np.float32)
DEFAULTS = {
    "group_size": 8, "steps": 50, "lr": 0.5, "clip_eps": 0.2, "kl_coef": 0.0, "inner_steps": 1, "algorithm": "grpo",
}  # fmt: skip


def config(**fields):
    """A BanditConfig for the submission, with the fields that differ from the given code's defaults."""
    return Record("BanditConfig", fields)


def setting(settings, name):
    """The value of one field."""
    return settings.fields.get(name, DEFAULTS[name])


def grpo_oracle(logits, actions, rewards, ref_logits, settings):
    """New logits and the clip fraction of the last update, by the exact gradient in numpy."""
    options = {name: setting(settings, name) for name in ("lr", "clip_eps", "kl_coef", "inner_steps")}
    logits, rewards, ref_logits = (array.astype(np.float64) for array in (logits, rewards, ref_logits))
    advantages = simulation.group_advantages(rewards[None])
    new, binding = simulation.policy_step(logits[None], actions[None], advantages, ref_logits[None], **options)
    return new[0], binding[0]


def reinforce_oracle(logits, actions, rewards, lr, baseline=0.0):
    logits, weights = logits.astype(np.float64), (rewards.astype(np.float64) - baseline)[None]
    return simulation.policy_step(logits[None], actions[None], weights, logits[None], lr=lr)[0][0]


def softmax(logits):
    return np.exp(simulation.log_softmax(logits))
