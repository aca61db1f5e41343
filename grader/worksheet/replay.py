"""Repeats the runs of a worksheet, and pairs every recorded number with the one that its seed gives.

It simulates what the question asks for, regardless of the settings and the number of steps in the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..oracles.simulation import Floats, steps_until
from .questions import QUANTITIES, RUNS, Quantity, Run
from .reader import Number, RecordedRun, Value, Worksheet, shown
from .simulation import Played, simulate

TOLERANCE = 0.0005 + 1e-9
"""The simulation shows three decimals, so a copied number is off by at most half of the last one. The browser's
simulation and this one agree to 1e-9. A larger tolerance would accept a last digit that is off by one."""


@dataclass(frozen=True)
class Cell:
    """One number of a worksheet.

    Attributes:
        quantity: Name of its quantity.
        words: Its name in a sentence: "pi(7)", "action 3".
        recorded: The student's number; None means "never".
        replayed: The number that the seed gives.
        right: Whether the two agree.
    """

    quantity: str
    words: str
    recorded: Number | None
    replayed: Number | None
    right: bool

    @property
    def is_too_short(self) -> bool:
        """Whether it would be right if rounded to two decimals or one."""
        if not isinstance(self.recorded, float) or not isinstance(self.replayed, float):
            return False
        return self.recorded != 0 and any(round(self.replayed, digits) == self.recorded for digits in (1, 2))

    @property
    def shown(self) -> tuple[str, str]:
        """Recorded and replayed, as text."""
        return _as_written(self.recorded), _as_shown(self.replayed)


@dataclass(frozen=True)
class ReplayedRun:
    """One run of a worksheet and its replay.

    Attributes:
        run: The run that the worksheet asks for.
        seed: The student's seed; None without one.
        cells: The recorded numbers; empty if they cannot be compared.
        problem: Why the run cannot be compared, or what is missing.
        written: Whether anything was recorded.
    """

    run: Run
    seed: int | None = None
    cells: tuple[Cell, ...] = ()
    problem: str = ""
    written: bool = True

    @property
    def problems(self) -> list[tuple[str, str]]:
        """Place and problem of everything that is wrong."""
        found = [(self.run.name, self.problem)] if self.problem else []
        for cell in self.cells:
            if not cell.right:
                recorded, replayed = cell.shown
                what = f"seed {self.seed} gives {replayed}, but the worksheet says {recorded}"
                if cell.is_too_short:
                    what += ", which has too few decimals: record three"
                found.append((f"{self.run.name}, {cell.words}", what))
        return found


def replay(worksheet: Worksheet) -> dict[str, ReplayedRun]:
    """Every run that the worksheet asks for, by its id."""
    return {run.id: _replay(run, worksheet) for run in RUNS}


def _replay(run: Run, worksheet: Worksheet) -> ReplayedRun:
    if run.id in worksheet.problems:
        return ReplayedRun(run, problem=worksheet.problems[run.id])
    recorded = worksheet.runs.get(run.id)
    if recorded is None or (recorded.seed is None and not recorded.values):
        return ReplayedRun(run, problem="not recorded yet", written=False)
    if recorded.seed is None:
        return ReplayedRun(run, problem="there is no seed with the numbers, so nobody can repeat the run")
    different = _different_setting(run, recorded)
    if different:
        return ReplayedRun(run, recorded.seed, problem=different)
    missing = [_words(name) for name in run.values if name not in recorded.values]
    cells = _cells(run, recorded.seed, recorded)
    return ReplayedRun(
        run, recorded.seed, tuple(cells), "nothing is recorded as " + " and ".join(missing) if missing else ""
    )


def _different_setting(run: Run, recorded: RecordedRun) -> str:
    """How the recorded run differs from the question; "" if it does not."""
    asked = {"steps": run.steps, **asdict(run.settings)}
    given = {**recorded.settings, "steps": recorded.steps}
    for name, value in asked.items():
        if name not in given:
            return f"the recorded run lacks its {name}"
        if not _same(given[name], value):
            if isinstance(value, tuple):
                return f"the recorded run has a different {name} from the one that this question asks for"
            return f"the recorded run has {name} {shown(given[name])}, but this question asks for {shown(value)}"
    unknown = next((name for name in given if name not in asked), None)
    return f"the recorded run has a setting {shown(unknown)}, which does not exist in the simulation" if unknown else ""


def _same(given: Any, asked: Any) -> bool:
    """Whether a recorded setting is the one that the question asks for."""
    if isinstance(asked, tuple):
        pairs = zip(given, asked, strict=True) if isinstance(given, list) and len(given) == len(asked) else None
        return pairs is not None and all(_same(*pair) for pair in pairs)
    if type(given) in (int, float) and type(asked) in (int, float):
        return math.isclose(given, asked, abs_tol=1e-9)
    return type(given) is type(asked) and bool(given == asked)


def _cells(run: Run, seed: int, recorded: RecordedRun) -> Iterator[Cell]:
    replayed = _quantities(run, simulate(run.settings, seed=seed, steps=run.steps))
    for name in run.values:
        if name not in recorded.values:
            continue
        quantity, ours, theirs = QUANTITIES[name], _numbers(replayed[name]), _numbers(recorded.values[name])
        for number, (our, their) in enumerate(zip(ours, theirs, strict=True), 1):
            words = quantity.words if quantity.length is None else f"{quantity.words} {number}"
            yield Cell(name, words, their, our, _agree(our, their, quantity))


def _agree(ours: Number | None, theirs: Number | None, quantity: Quantity) -> bool:
    if ours is None or theirs is None or quantity.whole:
        return ours == theirs
    return abs(ours - theirs) <= TOLERANCE


def _numbers(value: Value) -> tuple[Number | None, ...]:
    return value if isinstance(value, tuple) else (value,)


def _quantities(run: Run, played: Played) -> dict[str, Value]:
    """Everything that a worksheet may ask about a run."""
    last = played.probabilities[-1]
    curve = played.probabilities[None, :, int(np.argmax(run.settings.reward_table))]  # of the best action
    return {
        "actions": tuple((played.actions[0] + 1).tolist()),
        "advantages": tuple(played.advantages[0].tolist()),
        "policy": tuple(last.tolist()),
        "best_probability": float(curve[0, -1]),
        "max_probability": float(last.max()),
        "steps_to_half": _first_step(curve, 0.5),
        "steps_to_90": _first_step(curve, 0.9),
    }


def _first_step(curve: Floats, threshold: float) -> int | None:
    step = float(steps_until(curve, threshold)[0])
    return None if math.isinf(step) else int(step)


def _words(name: str) -> str:
    quantity = QUANTITIES[name]
    return name if quantity.length else quantity.words


def _as_shown(number: Number | None) -> str:
    """A number as the simulation shows it."""
    if number is None:
        return "never"
    return str(number) if isinstance(number, int) else f"{round(number, 3) + 0.0:.3f}"  # + 0.0 makes -0.0 a 0.0


def _as_written(number: Number | None) -> str:
    """A number as the student wrote it, including extra digits, so that a wrong number looks wrong."""
    if number is None or (abs(number) < 1_000 and float(_as_shown(number)) == number):
        return _as_shown(number)
    return f"{number:.6g}"
