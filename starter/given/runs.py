"""Shared parts of the training commands `run_charlm` and `run_llm`: options, progress, files, checkpoints, errors.

Given code. A command makes a `Run`, which calls your `train`, measures the policy from time to time, and writes files.
"""

import argparse
import csv
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from rich.console import Console
from rich.progress import Progress
from torch import nn

from .charlm_task import RewardFunction
from .charlm_training import LEVELS, CharLMConfig, TrainingState, replacing, save_checkpoint

METRICS, CHECKPOINT = "metrics.csv", "checkpoint.pt"


class WentWrong(Exception):
    """A run cannot continue; the text says what to do."""


# Options

_NUMBERS = {
    "steps": "number of batches",
    "lr": "learning rate of the first step; it falls to a tenth",
    "kl_coef": "weight of the KL penalty",
    "clip_eps": "clip range; matters only with several inner steps",
    "group_size": "completions per prompt",
    "prompts_per_step": "prompts per batch",
    "inner_steps": "updates per batch",
    "max_new_tokens": "longest completion, in tokens",
}
_LEVELS = {
    "loss_level": ("--level", "how the loss averages: the same weight for every completion, or for every token"),
    "ratio_level": ("--ratio-level", "one importance ratio per token, or one per completion"),
}


def add_options(
    parser: argparse.ArgumentParser, default: CharLMConfig, *, shown: Mapping[str, str], folder: str
) -> None:
    """Add the options of a run. Options that were not given are None, so that --resume can tell.

    Args:
        parser: The options are added here.
        default: Settings whose values the help shows as defaults.
        shown: Text to show instead, for some settings.
        folder: Default of --out.
    """
    for name, (option, text) in _LEVELS.items():
        parser.add_argument(option, dest=name, choices=LEVELS, help=f"{text} ({getattr(default, name)})")
    for name, text in _NUMBERS.items():
        value, option = getattr(default, name), f"--{name.replace('_', '-')}"
        kind = count if isinstance(value, int) else float
        parser.add_argument(option, type=kind, metavar="X", help=f"{text} ({shown.get(name, f'{value:g}')})")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the samples (0)")
    parser.add_argument("--out", type=Path, default=Path(folder), metavar="DIR", help=f"the folder to fill ({folder})")
    parser.add_argument("--overwrite", action="store_true", help="overwrite the run in the folder")
    parser.add_argument("--resume", action="store_true", help="continue the run in the folder")


def count(text: str) -> int:
    """A positive whole number from the command line."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return number


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given as options, under their names in `CharLMConfig`."""
    settings = {name: getattr(arguments, name) for name in (*_LEVELS, *_NUMBERS)}
    return {name: value for name, value in settings.items() if value is not None}


def refuse_what_cannot_work(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, *, files: Iterable[str], to_resume: Iterable[str]
) -> None:
    """Stop before the run if its folder cannot be used: the parser prints a message and exits with code 2.

    Args:
        parser: The command's parser.
        arguments: The parsed options of `add_options`.
        files: Names of the files that the command writes.
        to_resume: Names of the files that --resume needs.
    """
    folder: Path = arguments.out
    found = {name for name in files if (folder / name).exists()}
    is_something_else = folder.exists() and not folder.is_dir()
    if is_something_else or not os.access(folder if folder.is_dir() else folder.parent, os.W_OK):
        parser.error(f"--out must be a folder, in a folder that exists and is writable, got {folder}")
    if arguments.resume and arguments.overwrite:
        parser.error("--resume continues a run, --overwrite starts a new one: choose one of them")
    if arguments.resume and not {*to_resume} <= found:
        parser.error(f"--resume: there is no checkpoint in {folder} yet; omit --resume to start a run")
    if found and not arguments.resume and not arguments.overwrite:
        parser.error(f"{folder} already has a run: add --resume or --overwrite, or choose another folder with --out")


def refuse_other_settings(folder: Path, asked: Mapping[str, Any], began: Mapping[str, Any]) -> None:
    """Raise a ValueError if an option (not None) differs from the setting with which the run in the folder began."""
    for name, value in asked.items():
        if value is not None and value != began[name]:
            raise ValueError(
                f"--resume: the run in {folder} began with {name} {began[name]}, not {value}; "
                "omit the option, or start a new run with --overwrite or another --out"
            )


# Files


def write(path: Path, text: str) -> None:
    """Write a text. An interruption leaves the old file or the new one, never half a file."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def read_document(path: Path, *, settings: str) -> dict[str, Any]:
    """Read the document that `Run.save` wrote; a ValueError if the file is not one or has no valid `settings`."""
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        CharLMConfig(**document[settings])
        [point["step"] + 1 for point in document["points"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"this command did not write {path}: start again with --overwrite") from error
    return document


# Runs


@dataclass(kw_only=True)
class Run:
    """A run and its folder. Each command adds its own measurements and its own document.

    Attributes:
        folder: Folder of its files, made with the first file.
        policy: The model that is trained.
        ref_policy: The model that the KL penalty compares the policy with.
        generator: Source of the training's randomness.
        state: Progress of the run.
        points: Measurements at up to eleven moments of the run.
        seconds: CPU seconds of the training, without measuring or saving.
    """

    document_name: ClassVar[str]
    folder: Path
    policy: nn.Module
    ref_policy: nn.Module
    generator: torch.Generator
    state: TrainingState
    points: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        # A run that was stopped between writing document and checkpoint has points ahead of its checkpoint.
        self.points = [point for point in self.points if point["step"] <= len(self.state.history)]

    def measure(self) -> dict[str, Any]:
        """Measure the current policy, for a point."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """The run as JSON: everything that `--resume` needs except the checkpoint."""
        raise NotImplementedError

    def look(self) -> None:
        """Add a point and save, at the start and after every tenth of the run."""
        step, steps = len(self.state.history), self.state.config.steps
        if step in {round(steps * tenth / 10) for tenth in range(11)}:
            self.points.append({"step": step, **self.measure()})
            if step:
                self.save()

    def save(self) -> None:
        """Write everything that --resume needs. The checkpoint comes last, so the other files are never older.

        Raises:
            WentWrong: the weights are not finite; the earlier files are kept.
            OSError: a file cannot be written; the earlier checkpoint is kept.
        """
        history = self.state.history
        if not all(parameter.isfinite().all() for parameter in self.policy.parameters()):
            raise WentWrong(
                f"After {len(history)} steps the weights are not finite numbers, so they are not saved. "
                "Does `grade charlm` pass? Then start again with a smaller --lr and --overwrite."
            )
        table = io.StringIO()
        writer = csv.DictWriter(table, history[-1].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(history)
        self.folder.mkdir(parents=True, exist_ok=True)
        write(self.folder / METRICS, table.getvalue())
        write(self.folder / self.document_name, json.dumps(self.document(), indent=1) + "\n")
        save_checkpoint(self.folder / CHECKPOINT, self.policy, self.state, self.generator)

    def train(self, train: Callable[..., object], prompt: str | Sequence[str], reward_fn: RewardFunction) -> None:
        """Call the student's `train`, with a progress bar in a terminal.

        Raises:
            WentWrong: the weights are not finite, or steps are missing.
        """
        steps, history = self.state.config.steps, self.state.history
        if not self.state.steps_left:
            print(f"This run is finished: all {steps} steps are done, so there is nothing to train.")
        if not self.points:
            self.look()
        began = time.process_time()
        with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
            bar = progress.add_task("training", total=steps, completed=len(history))

            def after_step() -> None:
                nonlocal began
                self.seconds += time.process_time() - began
                text = f"step {len(history)} of {steps}, mean reward {history[-1]['rolling_mean_reward']:.2f}"
                progress.update(bar, completed=len(history), description=text)
                self.look()
                began = time.process_time()

            self.state.after_step = after_step
            config, generator, state = self.state.config, self.generator, self.state
            train(self.policy, self.ref_policy, prompt, reward_fn, config, generator=generator, state=state)
        if self.state.steps_left:
            raise WentWrong(
                f"`train` recorded {len(history)} of {steps} steps, but it must record every step: run `grade charlm`."
            )


def say_where_to_read(file: Path) -> None:
    """Print which page explains the numbers of a run."""
    print(f'to read this run: open the page "Read your run" of the course\'s site and drop {file} there')


def exit_code(
    parser: argparse.ArgumentParser,
    folder: Path,
    work: Callable[[], object],
    *,
    failures: tuple[type[Exception], ...] = (OSError,),
) -> int:
    """Run a command. If it stops early, print why and how to continue.

    Args:
        parser: The command's parser.
        folder: Folder of its files.
        work: Trains and prints the results.
        failures: Exceptions that are printed as a message; all others show a traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character must not stop the run
            stream.reconfigure(errors="replace")
    try:
        work()
        sys.stdout.flush()
    except (NotImplementedError, WentWrong) as error:
        print(f"{error}; this command needs it." if isinstance(error, NotImplementedError) else error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"Interrupted; {_how_to_go_on(folder)}.", file=sys.stderr)
        return 130
    except failures as error:
        text = str(error)
        if isinstance(error, OSError) and error.errno is not None:  # turn an error of the system into a sentence
            text = f"cannot read or write {error.filename or folder} ({error.strerror})"
        print(f"{parser.prog}: {text}; {_how_to_go_on(folder)}.", file=sys.stderr)
        return 2
    except Exception as error:
        error.add_note(f"If the error is in your code, run `grade` to find it. Then: {_how_to_go_on(folder)}.")
        raise
    return 0


def _how_to_go_on(folder: Path) -> str:
    """How to continue after a run that stopped early, as the end of a sentence."""
    there = (folder / CHECKPOINT).exists()
    return "add --resume to continue from the last checkpoint" if there else "there is no checkpoint yet"
