"""How reliably does the language model of the course learn? The same training with many seeds.

    python tests/bench/bench_charlm.py --task arithmetic --seeds 10 --out FOLDER

The thresholds of the checks come from these numbers. Probabilities are exact, by teacher forcing.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from rich.progress import track

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for reference/: the model answers are not installed

from reference.charlm import train
from reference.given.charlm_model import load_model
from reference.given.charlm_sampling import completion_logp, make_generator
from reference.given.charlm_task import FOODS
from reference.given.charlm_training import TrainingState, make_optimizer
from reference.run_charlm import TASKS

GOAL = 0.9
"""The success whose first step is reported."""
WELL_FORMED = [f"{body}." for body in (*FOODS, *range(19))]
EVERY = {"pizza": 1, "arithmetic": 10}
"""Steps between two measurements of a task's success."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run.

    Attributes:
        curve: Success before the first step, and then every few steps.
        end: Success after the last step.
        steps_to_goal: None: never.
        well_formed: Exact probability of a well-formed completion at the end, mean over the prompts.
        kl: The KL of the last step, from the metrics of the run.
        seconds: CPU time of the run and its measurements.
    """

    curve: list[float]
    end: float
    steps_to_goal: int | None
    well_formed: float
    kl: float
    seconds: float


def train_once(name: str, lr: float, steps: int, seed: int) -> Outcome:
    """Train from the shipped weights with one seed."""
    torch.set_num_threads(1)
    started, task = time.process_time(), TASKS[name]
    config = replace(task.config, lr=lr, steps=steps)
    policy = load_model()
    curve = [task.exact(policy)]
    state, steps_done = TrainingState(make_optimizer(policy, config), config), 0

    def after_step() -> None:
        nonlocal steps_done
        steps_done += 1
        if steps_done % EVERY[name] == 0:
            curve.append(task.exact(policy))

    state.after_step = after_step
    train(policy, load_model(), task.prompt, task.reward, config, generator=make_generator(seed), state=state)
    prompts = [task.prompt] if isinstance(task.prompt, str) else task.prompt
    return Outcome(
        curve=curve,
        end=task.exact(policy),
        steps_to_goal=next((n * EVERY[name] for n, success in enumerate(curve) if n and success >= GOAL), None),
        well_formed=statistics.mean(
            completion_logp(policy, prompt, WELL_FORMED).exp().sum().item() for prompt in prompts
        ),
        kl=state.history[-1]["kl"],
        seconds=time.process_time() - started,
    )


def show(outcomes: list[Outcome]) -> None:
    ends = [outcome.end for outcome in outcomes]
    well_formed = [outcome.well_formed for outcome in outcomes]
    kl = [outcome.kl for outcome in outcomes]
    steps = sorted(outcome.steps_to_goal or sys.maxsize for outcome in outcomes)
    median, worst = ("never" if each == sys.maxsize else each for each in (statistics.median_low(steps), steps[-1]))
    print(f"  success before training        {outcomes[0].curve[0]:.4f}")
    print(f"  success after it               mean {statistics.mean(ends):.4f}, lowest {min(ends):.4f}")
    print(f"    seeds below 0.9 / 0.95       {sum(e < 0.9 for e in ends)} / {sum(e < 0.95 for e in ends)}")
    print(f"  steps to {GOAL}, median / worst  {median} / {worst}")
    print(f"  well-formed, exact             mean {statistics.mean(well_formed):.4f}, lowest {min(well_formed):.4f}")
    print(f"  KL in the last step, nats      mean {statistics.mean(kl):.4f}, highest {max(kl):.4f}")
    print(f"  CPU seconds per run            median {statistics.median(o.seconds for o in outcomes):.2f}")


def write_histogram(values: Sequence[float], path: Path, bins: int = 200) -> None:
    """Count values from 0 to 1 in bins of equal width, without the bins below the lowest value."""
    counts = Counter(min(bins - 1, int(value * bins)) for value in values)
    rows = [(f"{place / bins:g}", f"{(place + 1) / bins:g}", counts[place]) for place in range(min(counts), bins)]
    write_csv(path, ("from", "below", "seeds"), rows)


def write_curve(curves: Sequence[Sequence[float]], every: int, path: Path) -> None:
    """Success over the steps: mean, lowest and highest of all seeds."""
    rows = [
        (place * every, f"{statistics.mean(values):.6f}", f"{min(values):.6f}", f"{max(values):.6f}")
        for place, values in enumerate(zip(*curves, strict=True))
    ]
    write_csv(path, ("step", "mean", "lowest", "highest"), rows)


def write_csv(path: Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--task", choices=TASKS, default="pizza")
    parser.add_argument("--seeds", type=int, metavar="N", help="default: 1000; 10 for arithmetic")
    parser.add_argument("--lr", type=float, metavar="X", help="learning rate; default: the task's")
    parser.add_argument("--steps", type=int, metavar="N", help="default: the task's")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write a histogram and a curve there, as CSV")
    arguments = parser.parse_args()
    name, config = arguments.task, TASKS[arguments.task].config
    lr, steps = arguments.lr or config.lr, arguments.steps or config.steps
    seeds = arguments.seeds or (1000 if name == "pizza" else 10)
    # A fresh interpreter per process: a fork of one that has used torch may hang.
    with ProcessPoolExecutor(arguments.processes, multiprocessing.get_context("spawn")) as pool:
        runs = pool.map(train_once, [name] * seeds, [lr] * seeds, [steps] * seeds, range(seeds), chunksize=5)
        outcomes = list(track(runs, description="runs", total=seeds, disable=not sys.stderr.isatty()))
    print(f"{name}, lr {lr:g}, {steps} steps, seeds 0 to {seeds - 1}; torch {torch.__version__}, one thread")
    show(outcomes)
    if arguments.out:
        stem = f"{name}-lr{lr:g}-{seeds}-seeds"
        write_histogram([outcome.end for outcome in outcomes], arguments.out / f"{stem}-histogram.csv")
        write_curve([outcome.curve for outcome in outcomes], EVERY[name], arguments.out / f"{stem}-curve.csv")
        print(f"written to {arguments.out}: {stem}-histogram.csv, {stem}-curve.csv")


if __name__ == "__main__":
    main()
