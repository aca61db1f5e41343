"""The frame of the training commands `run_charlm` and `run_llm`: options, progress, files, checkpoints, errors.

Given code. A command makes a `Run`, which calls your `train`, measures the policy on the way, and fills a folder.

Left out on purpose: tasks, measurements and pictures, which differ between the commands.
"""

import argparse
import csv
import io
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch import nn

from .charlm_task import RewardFunction
from .charlm_training import LEVELS, CharLMConfig, TrainingState, save_checkpoint

METRICS, CHECKPOINT = "metrics.csv", "checkpoint.pt"


class WentWrong(Exception):
    """A run that cannot end well; the text says what to do."""


# Options

_NUMBERS = {
    "steps": "batches, one after the other",
    "lr": "learning rate of the first step; it falls to a tenth",
    "kl_coef": "weight of the KL penalty",
    "clip_eps": "clip range; matters only with several inner steps",
    "group_size": "completions per prompt",
    "prompts_per_step": "prompts per batch",
    "inner_steps": "updates per batch",
    "max_new_tokens": "longest completion, in tokens",
}
_LEVELS = {
    "loss_level": ("--level", "of the means in the loss: every completion has the same weight, or every token"),
    "ratio_level": ("--ratio-level", "one importance ratio per token, or one per completion"),
}


def add_options(
    parser: argparse.ArgumentParser,
    default: CharLMConfig,
    *,
    shown: Mapping[str, str],
    folder: str,
    checkpoint_every: int,
) -> None:
    """Add the options of a run. Settings and seed are None unless given, so that --resume knows which ones were.

    Args:
        parser: Gets the options.
        default: Settings that the help names as defaults.
        shown: Text to show instead, for some of these settings.
        folder: Default of --out.
        checkpoint_every: Default of this option.
    """
    for name, (option, text) in _LEVELS.items():
        parser.add_argument(option, dest=name, choices=LEVELS, help=f"{text} ({getattr(default, name)})")
    for name, text in _NUMBERS.items():
        value, option = getattr(default, name), f"--{name.replace('_', '-')}"
        kind = count if isinstance(value, int) else amount
        parser.add_argument(option, type=kind, metavar="X", help=f"{text} ({shown.get(name, f'{value:g}')})")
    parser.add_argument("--seed", type=_seed, metavar="N", help="of the samples, from 0 (0)")
    parser.add_argument("--out", type=_path, default=Path(folder), metavar="DIR", help=f"the folder to fill ({folder})")
    parser.add_argument("--overwrite", action="store_true", help="write over the run that is in the folder")
    parser.add_argument("--resume", action="store_true", help="go on with the run that is in the folder")
    parser.add_argument(
        "--checkpoint-every",
        type=count,
        default=checkpoint_every,
        metavar="N",
        help=f"steps between checkpoints ({checkpoint_every})",
    )


def count(text: str) -> int:
    """A number of things on the command line; a billion or more is a typing error."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text)):
        raise argparse.ArgumentTypeError(f"must be at least 1 and below a billion, and a whole number, got {text!r}")
    return int(text)


def amount(text: str) -> float:
    """A finite number on the command line that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number and not negative, got {text!r}")
    return value


def device(text: str) -> str:
    """A device on the command line that torch finds here; "auto" becomes the fastest one."""
    found = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if text == "auto":
        return next(name for name, is_here in found.items() if is_here)
    if not found.get(text, True):
        raise argparse.ArgumentTypeError(f"torch finds no {text} here; leave the option out")
    return text


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) < 2**63):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2**63 - 1, got {text!r}")
    return int(text)


def _path(text: str) -> Path:
    """A path on the command line: not empty, which would be the current folder, and short enough for the system."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; give one, or . for the current folder")
    try:
        Path(text).exists()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{error.strerror}; choose another folder") from error
    return Path(text)


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given as options, by their names in `CharLMConfig`."""
    settings = {name: getattr(arguments, name) for name in (*_LEVELS, *_NUMBERS)}
    return {name: value for name, value in settings.items() if value is not None}


def refuse_what_cannot_work(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, *, files: Iterable[str], to_resume: Iterable[str]
) -> None:
    """Refuse a folder that cannot be filled, before the run.

    Args:
        parser: Prints the sentence and exits with 2.
        arguments: With the options of `add_options`.
        files: Names of the files that the command writes.
        to_resume: Those that a run needs to go on.
    """
    folder: Path = arguments.out
    found = {name for name in files if (folder / name).exists()}
    if (folder.exists() and not folder.is_dir()) or not folder.parent.is_dir():
        parser.error(f"--out must be a folder, in a folder that exists, got {folder}")
    if arguments.resume and arguments.overwrite:
        parser.error("--resume goes on with a run, --overwrite starts a new one: choose one of them")
    if arguments.resume and not {*to_resume} <= found:
        parser.error(f"--resume: there is no checkpoint in {folder} yet; leave it out to start a run")
    if found and not arguments.resume and not arguments.overwrite:
        parser.error(f"there is a run in {folder}: add --resume or --overwrite, or choose another folder with --out")
    try:
        with tempfile.TemporaryFile(dir=folder if folder.exists() else folder.parent):
            pass
    except OSError as error:
        parser.error(f"--out: nothing can be written into {folder} ({error.strerror}); choose another folder")


def refuse_other_settings(folder: Path, asked: Mapping[str, Any], began: Mapping[str, Any]) -> None:
    """Refuse to go on with other settings than the run began with.

    Args:
        folder: Where the run is.
        asked: Settings that were given as options; None for the others.
        began: Settings of the run.

    Raises:
        ValueError: they differ.
    """
    for name, value in asked.items():
        if value is not None and value != began[name]:
            raise ValueError(
                f"--resume: the run in {folder} began with {name} {began[name]}, not {value}, and goes on with "
                "what it began with; leave the option out, or start a new run with --overwrite or another --out"
            )


# Files


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that a kill at any moment leaves the old file or the new one, never half."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as CSV, with the columns of all of them in the order in which they came up."""
    table = io.StringIO()
    names = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(table, [*names], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()


def read_document(path: Path, *, settings: str) -> dict[str, Any]:
    """The document that `Run.save` wrote.

    Args:
        path: Its file.
        settings: The name under which it holds a `CharLMConfig`.

    Raises:
        ValueError: the file holds something else.
    """
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        CharLMConfig(**document[settings])
        [point["step"] + 1 for point in document["points"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not what this command wrote: start again with --overwrite") from error
    return document


# Runs


@dataclass(kw_only=True)
class Run:
    """A run and the folder that it fills. Each command adds its measurements and its document.

    Attributes:
        folder: Where its files go; made with the first of them.
        policy: The model that is trained.
        ref_policy: The model that the KL is measured against.
        generator: Source of the training's randomness.
        state: How far the run has come.
        points: Measurements at about eleven moments of the run.
        seconds: CPU seconds of the training, without measuring and saving.
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
        """Measurements of the current policy, for a point."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """The run as JSON: all that `--resume` needs besides the checkpoint."""
        raise NotImplementedError

    def note_step(self) -> None:
        """Add to the last row of metrics what `train` does not know."""

    def look(self) -> None:
        """Add a point, at the start and after every tenth of the run."""
        step, steps = len(self.state.history), self.state.config.steps
        if step in {round(steps * tenth / 10) for tenth in range(11)}:
            self.points.append({"step": step, **self.measure()})

    def save(self) -> None:
        """Write all that is needed to go on, the checkpoint last, so the other files are never behind it.

        Raises:
            WentWrong: the weights are of no use; the files before are kept.
            OSError: a file cannot be written; the checkpoint before is kept.
        """
        if not all(parameter.isfinite().all() for parameter in self.policy.parameters()):
            raise WentWrong(
                f"After {len(self.state.history)} steps the weights are not finite numbers, so they are not saved. "
                "Does `grade charlm` pass? Then start again with a smaller --lr and --overwrite."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        write(self.folder / METRICS, _as_csv(self.state.history))
        write(self.folder / self.document_name, json.dumps(self.document(), indent=1) + "\n")
        save_checkpoint(self.folder / CHECKPOINT, self.policy, self.state, self.generator)

    def train(
        self,
        train: Callable[..., object],
        prompt: str | Sequence[str],
        reward_fn: RewardFunction,
        *,
        checkpoint_every: int,
    ) -> None:
        """Call the student's `train`, with a progress bar in a terminal.

        Raises:
            WentWrong: the weights are not finite, or steps are missing.
        """
        steps, history = self.state.config.steps, self.state.history
        if not self.state.steps_left:
            print(f"This run is finished: all {steps} steps are done, so nothing is trained.")
        columns = (TextColumn("training"), BarColumn(), TextColumn("{task.completed}/{task.total} {task.description}"))
        quiet = not sys.stderr.isatty()
        if not self.points:
            self.look()
        began = time.process_time()
        with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), disable=quiet) as progress:
            bar = progress.add_task("", total=steps, completed=len(history))

            def after_step() -> None:
                nonlocal began
                self.seconds += time.process_time() - began
                self.note_step()
                row, done = history[-1], len(history)
                silent = f"groups without signal {row['zero_signal_fraction']:.0%}"
                text = f"mean reward {row['rolling_mean_reward']:.2f}, {silent}"
                progress.update(bar, completed=done, description=text)
                self.look()
                if done % checkpoint_every == 0 or done == steps:
                    self.save()
                began = time.process_time()

            self.state.after_step = after_step
            config, generator, state = self.state.config, self.generator, self.state
            train(self.policy, self.ref_policy, prompt, reward_fn, config, generator=generator, state=state)
        if self.state.steps_left:
            raise WentWrong(
                f"`train` recorded {len(history)} of {steps} steps, but it must record every step: run `grade charlm`."
            )


def exit_code(
    parser: argparse.ArgumentParser,
    folder: Path,
    work: Callable[[], object],
    *,
    failures: tuple[type[Exception], ...] = (),
) -> int:
    """Do the work of a command, and say in a sentence what stopped it and how to go on.

    Args:
        parser: Of the command.
        folder: Where its files go.
        work: Trains and says what came out.
        failures: Exceptions of the task whose texts are sentences.

    Returns:
        0 fine, 1 an exercise is missing or wrong, 2 a folder, disk or task that does not work, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character must not end the run
            stream.reconfigure(errors="replace")
    expected: tuple[type[Exception], ...] = (OSError, *failures)
    try:
        work()
        sys.stdout.flush()
    except (NotImplementedError, WentWrong) as error:
        is_missing = isinstance(error, NotImplementedError)
        print(f"{error}; this command needs it." if is_missing else error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"Interrupted; {_how_to_go_on(folder)}.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # as of `| head`: nobody reads on, so there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except expected as error:
        text = str(error)
        if isinstance(error, OSError) and error.errno is not None:  # an error of the system is not yet a sentence
            text = f"{error.filename or folder} could not be read or written ({error.strerror})"
        print(f"{parser.prog}: {text}; {_how_to_go_on(folder)}.", file=sys.stderr)
        return 2
    except Exception as error:
        error.add_note(f"Is it in your code? `grade` says what is wrong there. Then: {_how_to_go_on(folder)}.")
        raise
    return 0


def _how_to_go_on(folder: Path) -> str:
    """How to go on after a run that stopped early; completes a sentence."""
    there = (folder / CHECKPOINT).exists()
    return "add --resume to go on from the last checkpoint" if there else "there is no checkpoint yet"
