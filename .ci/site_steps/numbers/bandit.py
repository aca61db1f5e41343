"""The bandit of the page on the simulation, and the policies of a myth."""

from __future__ import annotations

import numpy as np

from grader.oracles.simulation import SimulationSettings, simulate, single_peak

from .written import rows

POLICY, REFERENCE = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
RATIO = np.log(POLICY / REFERENCE)
KL_SLOPE = POLICY * (RATIO - POLICY @ RATIO)
K3_SLOPE = POLICY - REFERENCE
"""Gradients by the logits: of KL(policy || reference), and of the mean of k3."""


def probabilities() -> str:
    """Rows of rewards and probabilities, from the run with seed 7."""
    run = simulate(SimulationSettings(reward_table=single_peak()), seeds=[7], steps=20).probabilities[0]
    lines = {"Reward": single_peak(), "Probability at the start": run[0], "Probability after 20 steps": run[20]}
    return rows([name, *(f"{number:.3f}" for number in numbers)] for name, numbers in lines.items())
