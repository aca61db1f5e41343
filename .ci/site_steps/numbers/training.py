"""Chapter 7, training: the simulation, averages of a loss, and recorded runs."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from grader.core import course
from grader.oracles.formulas import exact_kl
from grader.oracles.simulation import SimulationSettings, group_advantages, simulate, single_peak

from ..recordings import metrics_of
from .written import plain, rows, signed

Floats = npt.NDArray[np.float64]
ACTIONS = len(single_peak())
CERTAIN = math.log(ACTIONS)
LENGTHS = np.array([4, 10, 4, 20])
NAMES = ("correct 1", "correct 2", "wrong 1", "wrong 2")
ADVANTAGES = group_advantages(np.array([1.0, 1.0, 0.0, 0.0]))


@functools.cache
def kl(kl_coef: float, *, divide_by_std: bool = True) -> Floats:
    """Mean KL of twenty runs, per step."""
    settings = SimulationSettings(reward_table=single_peak(), kl_coef=kl_coef, divide_by_std=divide_by_std)
    return np.asarray(simulate(settings, seeds=range(20), steps=200).kl.mean(axis=0))


def balance(kl_coef: float, group_size: int = 8) -> float:
    """KL of softmax(c * reward / kl_coef) to the uniform policy."""
    logits = np.array(single_peak()) * (1 - 1 / group_size) / kl_coef
    return float(exact_kl(logits, np.zeros_like(logits)))


def kl_over_steps() -> str:
    """Rows of the KL after some steps."""
    columns = [*(kl(kl_coef) for kl_coef in (0.0, 0.04, 0.3, 1.0)), kl(0.3, divide_by_std=False)]
    return rows([step, *(plain(column[step]) for column in columns)] for step in (10, 50, 200))


def token_weights(way: str) -> Floats:
    """Weight of each token of the four completions in a mean."""
    divisors = {"sequence": len(LENGTHS) * LENGTHS, "token": LENGTHS.sum(), "constant": len(LENGTHS) * LENGTHS.max()}
    return np.asarray(np.ones(len(LENGTHS)) / divisors[way])


def averages() -> str:
    """Rows of the push on a token of each completion in three means, and of the loss of a fresh group."""
    ways = [token_weights(way) for way in ("sequence", "token", "constant")]

    def cells() -> Iterator[list[object]]:
        for i, name in enumerate(NAMES):
            yield [name, LENGTHS[i], *(signed(weights[i] * ADVANTAGES[i], 4) for weights in ways)]
        yield ["fresh loss", "", *(plain(-(weights * LENGTHS * ADVANTAGES).sum(), 4) for weights in ways)]

    return rows(cells())


def exact(run: str, step: int) -> float:
    """Exact success of a recorded run at a step."""
    points = json.loads((course.RUNS / f"charlm-{run}/samples.json").read_text("utf-8"))["points"]
    return float(next(point["exact"] for point in points if point["step"] == step))


def steps_of(run: str) -> int:
    """The number of its steps."""
    return len(metrics_of(run))
