"""Run your bandit from the command line and look at it: `python -m starter.run_bandit --help`.

Given code. It calls your `train_bandit`, prints the results and draws a picture.
"""

import argparse
import sys

if not __package__:
    sys.exit("Go to the folder that contains starter/ and run: python -m starter.run_bandit")

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.progress import track
from torch import Tensor

from .bandit import train_bandit
from .given.bandit_task import ALGORITHMS, BanditConfig, BanditHistory, double_peak, linear, single_peak

_EXAMPLES = """examples (in the folder that contains starter/):
  python -m starter.run_bandit                            one run with the default settings
  python -m starter.run_bandit --group-size 16 --seed 3   another group size and seed
  python -m starter.run_bandit --table double_peak --inner-steps 4
  python -m starter.run_bandit --compare                  compare GRPO with REINFORCE, 20 seeds each
  python -m starter.run_bandit --compare --add 5          the same with 5 added to all rewards
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit codes: 0 done, 1 `train_bandit` or something it needs is not written yet, 2 usage."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.variant and arguments.compare:
        parser.error("omit --compare: --variant sets the method for the whole run")
    name = "compare" if arguments.compare else f"bandit-{arguments.variant}" if arguments.variant else "bandit"
    arguments.out = arguments.out or Path(f"{name}.png")
    if arguments.out.suffix not in (".png", ".svg", ".pdf") or not arguments.out.parent.is_dir():
        parser.error(f"--out must be a .png, .svg or .pdf file in a folder that exists, got {arguments.out}")
    try:
        config = BanditConfig(**{name: getattr(arguments, name) for name in _NUMBERS})
        table = _TABLES[arguments.table]().double() + arguments.add
        arguments.work = _variant(arguments.variant) if arguments.variant else None
    except ValueError as error:
        parser.error(str(error))
    try:
        (_compare if arguments.compare else _run_once)(table, config, arguments)
    except NotImplementedError as error:
        print(f"{error}; this command needs it.", file=sys.stderr)
        return 1
    return 0


_TABLES = {"single_peak": single_peak, "double_peak": double_peak, "linear": linear}
_NUMBERS = {
    "group_size": "samples per step",
    "steps": "steps, with one group each",
    "lr": "learning rate",
    "clip_eps": "clip range; matters only with several inner steps",
    "kl_coef": "weight of the KL from the initial policy",
    "inner_steps": "updates per group",
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.run_bandit",
        description="Train the ten-action bandit with the code in this folder, and draw the run.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--table", choices=_TABLES, default="single_peak", help="reward table (single_peak)")
    parser.add_argument("--add", type=float, default=0.0, metavar="X", help="number to add to all rewards (0)")
    text = "train with a variant of GRPO (exercise variants), such as rloo; a wrong name lists them all"
    parser.add_argument("--variant", metavar="NAME", help=text)
    for name, text in _NUMBERS.items():
        value, option = getattr(BanditConfig, name), f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(value), default=value, metavar="X", help=f"{text} ({value:g})")
    text = "seed of the run; with --compare, the first seed (0)"
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=text)
    parser.add_argument("--compare", action="store_true", help="run all three algorithms with many seeds")
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="runs per algorithm with --compare (20)")
    text = "picture to write, .png, .svg or .pdf (bandit.png or compare.png)"
    parser.add_argument("--out", type=Path, metavar="FILE", help=text)
    return parser


def _variant(name: str) -> Any:
    """A relative of GRPO at work in your `train_bandit`.

    Raises:
        ValueError: there is none of this name.
    """
    if importlib.util.find_spec(".given.variants_training", __package__) is None:
        raise ValueError("--variant: this course does not have the exercise variants")
    module = importlib.import_module(".given.variants_training", __package__)
    return module.BanditWork(module.variant(name))


def _run_once(table: Tensor, config: BanditConfig, arguments: argparse.Namespace) -> None:
    from .given.plots import plot_run

    work = arguments.work
    if work:
        print(f"{arguments.variant}: {work.variant.summary}")
    history = (work.train if work else train_bandit)(table, config, seed=arguments.seed)
    best = int(table.argmax())
    print("action      " + " ".join(f"{action:5}" for action in range(1, len(table) + 1)))
    print("reward      " + " ".join(f"{reward:5.2f}" for reward in table.tolist()))
    print("probability " + " ".join(f"{probability:5.3f}" for probability in history.probabilities[-1].tolist()))
    print(f"probability of the best action, {best + 1}, over 0.5: {_first_step(history, best)}")
    print(f"entropy {history.entropy[0]:.3f} to {history.entropy[-1]:.3f} nats, KL from the start {history.kl[-1]:.3f}")
    print(f"groups without signal: {int(history.zero_signal.sum())} of {config.steps}")
    plot_run(history, table, title=_title(config, arguments, f"seed {arguments.seed}"), path=arguments.out)
    print(f"picture: {arguments.out}")
    if work:
        print(f"samples drawn: {work.samples}")


def _compare(table: Tensor, config: BanditConfig, arguments: argparse.Namespace) -> None:
    from .given.plots import plot_comparison

    best = int(table.argmax())
    seeds = range(arguments.seed, arguments.seed + max(1, arguments.seeds))
    histories: dict[str, list[BanditHistory]] = {}
    for algorithm in track(ALGORITHMS, description="runs", transient=True, disable=not sys.stderr.isatty()):
        settings = replace(config, algorithm=algorithm)
        histories[algorithm] = [train_bandit(table, settings, seed=seed) for seed in seeds]
    print(f"probability of the best action, {best + 1}, after {config.steps} steps, {len(seeds)} seeds")
    for algorithm, runs in histories.items():
        ends = torch.stack([run.probabilities[-1, best] for run in runs])
        print(f"  {algorithm:20} median {ends.median():.3f}, lowest {ends.min():.3f}, highest {ends.max():.3f}")
    title = _title(config, arguments, f"seeds {seeds[0]} to {seeds[-1]}, median and middle 80 %")
    plot_comparison(histories, best, title=title, path=arguments.out)
    print(f"picture: {arguments.out}")


def _first_step(history: BanditHistory, best: int) -> str:
    over = torch.nonzero(history.probabilities[:, best] > 0.5)
    return f"after {int(over[0])} steps" if len(over) else "never"


def _title(config: BanditConfig, arguments: argparse.Namespace, seeds: str) -> str:
    names = "" if arguments.compare else f"{arguments.variant or config.algorithm}, "
    table = arguments.table + (f" + {arguments.add:g}" if arguments.add else "")
    return (
        f"{names}{table}, G = {config.group_size}, lr = {config.lr:g}, clip_eps = {config.clip_eps:g}, "
        f"kl_coef = {config.kl_coef:g}, inner_steps = {config.inner_steps}, {seeds}"
    )


if __name__ == "__main__":
    sys.exit(main())
