"""Train a pretrained language model with your code: `python -m starter.run_llm --help`.

Given code. Your `train`, `train_step`, `grpo_loss`, `token_logp`, `completion_mask`, `group_advantages` and
`importance_ratio` compute every number of the loss; this command finds the model (`llm_files`), adapts it to them
(`llm_model`), brings the task (`llm_tasks`), and shows what came out (`llm_report`).

Left out on purpose: a grade, that is what `grade` is for; a dashboard, for a CSV file opens anywhere.
"""

import argparse
import hashlib
import json
import os
import shlex
import signal
import sys

if not __package__:
    sys.exit("Go to the folder that holds starter/ and run: python -m starter.run_llm")
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during the imports needs no traceback

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from .charlm import train
from .given import run_folder
from .given.charlm_model import BigramLM
from .given.charlm_sampling import make_generator
from .given.charlm_task import LetterReward
from .given.charlm_training import CharLMConfig, TrainingState, load_checkpoint, make_optimizer, save_checkpoint
from .given.llm_files import (
    DEFAULT_MODEL,
    INSTALL,
    ModelNotFound,
    give_back_freed_memory,
    keep_freed_memory,
    load,
    memory_needed,
)
from .given.llm_model import LanguageModel
from .given.llm_report import Point, Story, draw, page
from .given.llm_tasks import TASKS, Task, TaskFailed, own_task

METRICS, RUN, CHECKPOINT, PICTURE, PAGE = "metrics.csv", "run.json", "checkpoint.pt", "run.png", "run.html"
FILES = (METRICS, RUN, CHECKPOINT, PICTURE, PAGE)
SHOWN = 8
MEASURED = 64
"""Prompts that the accuracy is measured with on the way; at the start and at the end it is all of them."""
_AT_ONCE = 64
_GIVE_BACK_EVERY = 10  # steps
_NEEDED = "exercises 1, 2, 3 and 5: `grade` says where you are."
_HOPELESS = 10
"""Times the memory of the machine; the need is an upper bound, and most completions end early."""
_PROGRAM = ("python", "-m", f"{__package__}.run_llm")

_EXAMPLES = f"""examples (in the folder that holds starter/, after {INSTALL}):
  python -m starter.run_llm                             teach SmolLM2 to add
  python -m starter.run_llm --task word-problems --out stories
  python -m starter.run_llm --task my_task.py           prompts() and reward(prompt, completion) of your own
  python -m starter.run_llm --resume                    go on after an interruption
  python -m starter.run_llm --model Qwen/Qwen3-0.6B --device cuda --dtype bfloat16
"""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a run took, all of it: loading, sampling, training, measuring.

    Attributes:
        cpu_seconds: Of all threads. What an interruption threw away is not counted.
        peak_memory: The most bytes that a process held.
    """

    cpu_seconds: float = 0.0
    peak_memory: int = 0

    def so_far(self) -> "Cost":
        """This and what the present process took."""
        return Cost(
            cpu_seconds=self.cpu_seconds + time.process_time(), peak_memory=max(self.peak_memory, _peak_memory())
        )


def _peak_memory() -> int:
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _most_probable(policy: LanguageModel, prompts: Sequence[str], *, max_new_tokens: int) -> list[str]:
    """The most probable completion of each prompt."""
    parts = [prompts[place : place + _AT_ONCE] for place in range(0, len(prompts), _AT_ONCE)]
    found = [policy.sample(part, max_new_tokens=max_new_tokens, generator=None).texts for part in parts]
    return [text for texts in found for text in texts]


class WentWrong(Exception):
    """A run that comes to no good end; the text says what to do."""


@dataclass(kw_only=True)
class Run:
    """A run and the folder that it fills.

    Attributes:
        folder: Where its files go.
        task: What is trained.
        settings: What the run began with, for `--resume`: model, task, seed and settings of the training.
        policy: Is trained.
        generator: Where the randomness of the training comes from.
        state: How far the run has come.
        seconds: CPU seconds of the training so far.
        earlier: What the processes before this one took, if the run was interrupted.
        points: What the policy said at about eleven moments.
    """

    folder: Path
    task: Task
    settings: dict[str, Any]
    policy: LanguageModel
    generator: torch.Generator
    state: TrainingState
    seconds: float = 0.0
    earlier: Cost = field(default_factory=Cost)
    points: list[Point] = field(default_factory=list)

    def look(self) -> None:
        """Write down what the policy says now, unless nobody wants to know at this step."""
        done, steps = len(self.state.history), self.state.config.steps
        if done not in {round(steps * tenth / 10) for tenth in range(11)}:
            return
        prompts = self.task.held_out if done in (0, steps) else self.task.held_out[:MEASURED]
        texts = _most_probable(self.policy, prompts, max_new_tokens=self.state.config.max_new_tokens)
        score = self.task.rewards(prompts, texts).mean().item()
        self.points.append(Point(step=done, score=score, texts=texts[:SHOWN]))

    def save(self) -> None:
        """Write all that is needed to go on. The checkpoint comes last: what lies beside it is never behind it.

        Raises:
            WentWrong: nobody could go on from there; what was written before is kept.
            OSError: it cannot be written; the checkpoint before is kept.
        """
        if not all(each.isfinite().all() for each in self.policy.parameters()):
            raise WentWrong(
                f"After {len(self.state.history)} steps the weights are not finite numbers, so they are not saved. "
                "Does `grade charlm` pass? Then start again with a smaller --lr and --overwrite."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        run_folder.write_table(self.folder / METRICS, self.state.history)
        points = [asdict(point) for point in self.points]
        cost = asdict(self.earlier.so_far())
        document = {**self.settings, "seconds": self.seconds, "cost": cost, "points": points}
        run_folder.write(self.folder / RUN, json.dumps(document, indent=1) + "\n")
        save_checkpoint(self.folder / CHECKPOINT, self.policy, self.state, self.generator)

    def story(self) -> Story:
        """What picture and page tell."""
        prompts = self.task.held_out[:SHOWN]
        before, after = (self.task.rewards(prompts, self.points[place].texts).tolist() for place in (0, -1))
        return Story(
            title=f"{Path(self.settings['model'] or DEFAULT_MODEL).absolute().name} learns {self.task.name} by GRPO",
            command=self.settings["command"],
            measure=self.task.measure,
            prompts=prompts,
            rewards=(before, after),
            points=self.points,
            seconds=self.seconds,
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 fine, 1 an exercise is missing or wrong, 2 usage, or a task, model or folder that does not work,
        130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a sign must not end the run
            stream.reconfigure(errors="replace")
    parser = make_parser()
    words = sys.argv[1:] if argv is None else [*argv]
    arguments = parser.parse_args(words)
    _refuse_what_cannot_work(parser, arguments)
    try:
        missing = _what_is_missing()
        if missing:
            print(f"{missing}; this command needs {_NEEDED}", file=sys.stderr)
            return 1
        _run(parser, arguments, command=shlex.join([*_PROGRAM, *words]))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"Interrupted; {run_folder.how_to_go_on(arguments.out / CHECKPOINT)}.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # as of `| head`: nobody reads on, so there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except WentWrong as error:
        print(error, file=sys.stderr)
        return 1
    except (TaskFailed, OSError) as error:
        print(f"{parser.prog}: {error}; {run_folder.how_to_go_on(arguments.out / CHECKPOINT)}.", file=sys.stderr)
        return 2
    return 0


def _run(parser: argparse.ArgumentParser, arguments: argparse.Namespace, *, command: str) -> None:
    """Prepare a run, train, and tell what came out."""
    try:
        run, ref_policy = prepare(arguments, command=command)
    except (ModelNotFound, ValueError) as error:
        parser.error(str(error))
    try:
        run_to_the_end(run, ref_policy, checkpoint_every=arguments.checkpoint_every)
    except Exception as error:
        then = run_folder.how_to_go_on(run.folder / CHECKPOINT)
        error.add_note(f"Is it in your code? `grade` says what is wrong there. Then: {then}.")
        raise
    _tell(run)


_NUMBER_OPTIONS = {
    "steps": "batches, one after the other",
    "lr": "learning rate of the first step; it falls to a tenth",
    "kl_coef": "weight of the KL penalty; 0 needs no reference policy and half the memory",
    "clip_eps": "clip range; matters with several inner steps only",
    "group_size": "completions of each prompt",
    "prompts_per_step": "prompts in a batch",
    "inner_steps": "updates with each batch",
    "max_new_tokens": "tokens of a completion at most",
}
_LEVEL_OPTIONS = {"loss_level": "--level", "ratio_level": "--ratio-level"}
SETTINGS = CharLMConfig(steps=400, lr=1e-5, kl_coef=0.0, group_size=8, prompts_per_step=8)


def make_parser() -> argparse.ArgumentParser:
    """Options of the run are None unless given, so that --resume knows which were."""
    parser = argparse.ArgumentParser(
        prog=" ".join(_PROGRAM),
        description="Train a pretrained language model with the code in this folder.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--task", metavar="TASK", help=f"{', '.join(TASKS)}, or a Python file (sums)")
    parser.add_argument("--model", metavar="MODEL", help="a folder, a GGUF file or a hub id (SmolLM2-135M-Instruct)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto", help="where to compute")
    parser.add_argument(
        "--dtype",
        choices=("float32", "bfloat16"),
        help="of products of matrices (bfloat16 where the device has instructions for it, else float32)",
    )
    for name, text in _NUMBER_OPTIONS.items():
        value = getattr(SETTINGS, name)
        default = "the task's" if name == "max_new_tokens" else f"{value:g}"
        option = f"--{name.replace('_', '-')}"
        kind = run_folder.count if isinstance(value, int) else run_folder.amount
        parser.add_argument(option, dest=name, type=kind, metavar="X", help=f"{text} ({default})")
    for name, option in _LEVEL_OPTIONS.items():
        parser.add_argument(option, dest=name, choices=("token", "sequence"), help=f"({getattr(SETTINGS, name)})")
    parser.add_argument(
        "--micro-batch-size",
        type=run_folder.count,
        metavar="N",
        help="different completions whose activations are kept at a time: less memory, more time, the same loss (all)",
    )
    parser.add_argument("--last-layers", type=run_folder.count, metavar="N", help="train the last N layers only (all)")
    parser.add_argument(
        "--only-missed", action="store_true", default=None, help="train only on prompts that it gets wrong at the start"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="of the samples, from 0 (0)")
    run_folder.add_options(parser, folder="llm-run", checkpoint_every=50)
    return parser


def _refuse_what_cannot_work(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Say so before anything is loaded."""
    available = {"auto": True, "cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available[arguments.device]:
        parser.error(f"--device {arguments.device}: torch finds no such device here; leave it out")
    if arguments.task is not None and arguments.task not in TASKS and not arguments.task.endswith(".py"):
        parser.error(f"--task must be one of {', '.join(TASKS)}, or a Python file, got {arguments.task!r}")
    if arguments.model == "":
        parser.error("--model is empty: name a folder, a GGUF file or a hub id, or leave it out")
    run_folder.refuse_what_cannot_work(parser, arguments, files=FILES, to_resume=(CHECKPOINT, RUN))


def _what_is_missing() -> str:
    """What `train` says that is not written yet; asked of a model so small that it takes no time."""
    config = CharLMConfig(alphabet=".ab", steps=2, prompts_per_step=1, group_size=2, max_new_tokens=2)
    policy, ref_policy = (BigramLM(torch.zeros(3, 3)) for _ in range(2))
    try:
        history = train(policy, ref_policy, "a", LetterReward("b"), config, generator=make_generator(0))
    except NotImplementedError as error:
        return str(error)
    except Exception as error:
        error.add_note(f"This command needs {_NEEDED}")
        raise
    return "" if len(history) == config.steps else f"`train` recorded {len(history)} steps of {config.steps}"


def prepare(arguments: argparse.Namespace, *, command: str) -> tuple[Run, torch.nn.Module]:
    """A new run or the one in the folder, and its reference policy: the policy itself if no KL is asked for."""
    began = _began(arguments.out) if arguments.resume else {}
    device = _device(arguments.device)
    chosen = _chosen(arguments, began, device)
    task = _task(chosen["task"])
    prompts = hashlib.sha256("\0".join([*task.prompts, *task.held_out]).encode()).hexdigest()
    if began:
        _refuse_another_run(arguments, began, chosen, prompts_sha256=prompts)
        config = CharLMConfig(**began["config"])
    else:
        config = replace(SETTINGS, **{"max_new_tokens": task.max_new_tokens, **_given(arguments)})
    command = began.get("command") or command
    model, tokenizer = load(chosen["model"])
    if chosen["last_layers"]:
        _freeze_all_but(model, chosen["last_layers"])
    micro_batch_size = arguments.micro_batch_size
    policy = LanguageModel(model, tokenizer, dtype=getattr(torch, chosen["dtype"]), micro_batch_size=micro_batch_size)
    keep_freed_memory()
    _say_what_it_takes(policy, task, config, micro_batch_size=micro_batch_size)
    ref_policy = policy if config.kl_coef == 0 else policy.frozen_copy()
    policy.to(device), ref_policy.to(device)
    if chosen["only_missed"]:
        task = replace(task, prompts=_missed(policy, task, config.max_new_tokens))
    generator = make_generator(chosen["seed"])
    if began:
        state = load_checkpoint(arguments.out / CHECKPOINT, policy, generator)
    else:
        for name in FILES:
            (arguments.out / name).unlink(missing_ok=True)
        state = TrainingState(make_optimizer(policy, config), config)
    points = [Point(**point) for point in began.get("points", ()) if point["step"] <= len(state.history)]
    run = Run(
        folder=arguments.out,
        task=task,
        settings={**chosen, "prompts_sha256": prompts, "config": asdict(config), "command": command},
        policy=policy,
        generator=generator,
        state=state,
        seconds=began.get("seconds", 0.0),
        earlier=Cost(**began.get("cost", {})),
        points=points,
    )
    return run, ref_policy


def _chosen(arguments: argparse.Namespace, began: dict[str, Any], device: str) -> dict[str, Any]:
    """What is trained on what: as the options say, as the run began, or as it is by default."""
    return {
        "task": arguments.task or began.get("task") or "sums",
        "model": arguments.model or began.get("model"),
        "seed": arguments.seed if arguments.seed is not None else began.get("seed", 0),
        "last_layers": arguments.last_layers or began.get("last_layers"),
        "only_missed": arguments.only_missed or began.get("only_missed"),
        "dtype": arguments.dtype or began.get("dtype") or _fast_dtype(device),
    }


def _refuse_another_run(
    arguments: argparse.Namespace, began: dict[str, Any], chosen: dict[str, Any], *, prompts_sha256: str
) -> None:
    """A run goes on with what it began with, and with the prompts that it began with.

    Raises:
        ValueError: it would not.
    """
    asked = {name: getattr(arguments, name) for name in chosen if name != "dtype"} | _given(arguments)
    run_folder.refuse_other_settings(arguments.out, asked, dict.fromkeys(asked) | began | began["config"])
    if began.get("prompts_sha256", prompts_sha256) != prompts_sha256:
        raise ValueError(
            f"--resume: the prompts of {chosen['task']} are not those that the run in {arguments.out} began with; "
            "put them back, or start a new run with --overwrite or another --out"
        )


def _began(folder: Path) -> dict[str, Any]:
    """What `Run.save` wrote down.

    Raises:
        ValueError: it is something else.
    """
    try:
        document: dict[str, Any] = json.loads((folder / RUN).read_text("utf-8"))
        CharLMConfig(**document["config"]), Cost(**document.get("cost", {}))
        int(document["seed"]), float(document["seconds"])
        [Point(**point) for point in document["points"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{folder / RUN} is not what this command wrote: start again with --overwrite") from error
    return document


def _device(name: str) -> str:
    if name != "auto":
        return name
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def _fast_dtype(device: str) -> str:
    """bfloat16 where the device has instructions for products of it; elsewhere it would be slower than float32."""
    if device == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        known = torch.cpu.get_capabilities() if device == "cpu" and hasattr(torch.cpu, "get_capabilities") else {}
        fast = known.get("avx512_bf16") or known.get("amx_bf16")
    return "bfloat16" if fast else "float32"


def _missed(policy: LanguageModel, task: Task, max_new_tokens: int) -> list[str]:
    """The prompts to train on whose most probable completion is not right."""
    rewards = task.rewards(task.prompts, _most_probable(policy, task.prompts, max_new_tokens=max_new_tokens))
    missed = [prompt for prompt, reward in zip(task.prompts, rewards, strict=True) if reward < 1]
    print(f"{len(missed):,} of {len(task.prompts):,} prompts to train on are missed at the start", flush=True)
    if not missed:
        raise ValueError("--only-missed: no prompt is missed; leave it out")
    return missed


def _task(name: str) -> Task:
    return TASKS[name]() if name in TASKS else own_task(Path(name), max_new_tokens=SETTINGS.max_new_tokens)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given as options."""
    settings = {name: getattr(arguments, name) for name in (*_LEVEL_OPTIONS, *_NUMBER_OPTIONS)}
    return {name: value for name, value in settings.items() if value is not None}


def _freeze_all_but(model: Any, last: int) -> None:
    """Train the last layers only: gradients and Adam's means of the others are neither computed nor kept."""
    layers = getattr(model.get_decoder(), "layers", None)
    if layers is None:
        raise ValueError(f"--last-layers: it is not known where {type(model).__name__} has its layers; leave it out")
    if last > len(layers):
        raise ValueError(f"--last-layers: this model has {len(layers)} layers, got {last}")
    model.requires_grad_(False)
    for layer in layers[-last:]:
        layer.requires_grad_(True)


def _say_what_it_takes(
    policy: LanguageModel, task: Task, config: CharLMConfig, *, micro_batch_size: int | None
) -> None:
    """Memory that is needed, and that is there, before it starts.

    Raises:
        ValueError: no machine like this one has as much, so the system would end it without a word.
    """
    import psutil

    sizes = [(each.numel(), each.requires_grad) for each in policy.parameters()]
    total, trained = sum(size for size, _ in sizes), sum(size for size, is_trained in sizes if is_trained)
    rows = config.prompts_per_step * config.group_size
    kept = min(rows, micro_batch_size or rows)
    needed = memory_needed(
        policy.model.config,
        parameters=2 * total if config.kl_coef else total,
        trained=trained,
        rows=rows,
        completion=config.max_new_tokens,
        activations=kept * config.max_new_tokens
        + min(kept, config.prompts_per_step) * _longest_prompt(policy, task, config.max_new_tokens),
    )
    memory = psutil.virtual_memory()
    print(f"{total / 1e6:.0f} million parameters, {rows} completions a step: about {needed / 2**30:.1f} GB of memory")
    less = "add --micro-batch-size 4 or --last-layers 4, or lower --prompts-per-step or --group-size"
    if needed > _HOPELESS * memory.total:
        raise ValueError(f"this machine has {memory.total / 2**30:.1f} GB of memory: {less}")
    if needed > memory.available:
        print(f"Only {memory.available / 2**30:.1f} GB are free: {less}.", file=sys.stderr)


def _longest_prompt(policy: LanguageModel, task: Task, max_new_tokens: int) -> int:
    """Tokens of the longest prompt.

    Raises:
        ValueError: the model cannot read it and a completion.
    """
    lengths = [policy.prompt_length(prompt) for prompt in (*task.prompts, *task.held_out)]
    most = getattr(policy.model.config, "max_position_embeddings", None)
    if min(lengths) == 0:
        raise ValueError(f"--task {task.name}: this model's tokenizer makes no token of one of the prompts")
    if most is not None and max(lengths) + max_new_tokens > most:
        raise ValueError(
            f"the model reads {most} tokens at most, but the longest prompt has {max(lengths)}, "
            f"and --max-new-tokens is {max_new_tokens}: shorten the prompts or the completions"
        )
    return max(lengths)


def run_to_the_end(run: Run, ref_policy: torch.nn.Module, *, checkpoint_every: int) -> None:
    """Call the student's `train`, with a progress bar if somebody is looking.

    Raises:
        WentWrong: the weights are no numbers any more, or steps are missing.
    """
    config = run.state.config
    how_far = TextColumn("{task.completed}/{task.total} {task.description}")  # in a narrow terminal its end is cut off
    columns = (TextColumn("training"), BarColumn(), how_far)
    quiet, began = not sys.stderr.isatty(), time.process_time()
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), disable=quiet) as progress:
        bar = progress.add_task("", total=config.steps, completed=len(run.state.history))

        def after_step() -> None:
            nonlocal began
            run.seconds += time.process_time() - began
            row, done = run.state.history[-1], len(run.state.history)
            row["sampling_gap"] = run.policy.sampling_gap
            said = (
                f"mean reward {row['rolling_mean_reward']:.2f}, groups without signal {row['zero_signal_fraction']:.0%}"
            )
            progress.update(bar, completed=done, description=said)
            if done % _GIVE_BACK_EVERY == 0:
                give_back_freed_memory()
            run.look()
            if done % checkpoint_every == 0 or done == config.steps:
                run.save()
            began = time.process_time()

        run.state.after_step = after_step
        if not run.points:
            run.look()
            began = time.process_time()
        task = run.task
        train(run.policy, ref_policy, task.prompts, task.rewards, config, generator=run.generator, state=run.state)
    if run.state.steps_left:
        done = len(run.state.history)
        raise WentWrong(f"`train` recorded {done} of {config.steps} steps; it must record each: `grade charlm` says.")


def _tell(run: Run) -> None:
    """Print what came out, draw it, and write the page."""
    story, history = run.story(), run.state.history
    draw(story, run.folder / PICTURE)
    run_folder.write(run.folder / PAGE, page(story, run.folder / PICTURE))
    print(story.title)
    for prompt, before, after, _, _ in story.rows():
        print(f"  {prompt[:48]:50}{before[:16]:18}{after[:16]}")
    print(story.summary())
    rewards = [sum(row["mean_reward"] for row in part) / len(part) for part in (history[:10], history[-10:])]
    print(f"mean reward of ten batches: {rewards[0]:.2f} first, {rewards[1]:.2f} last")
    if rewards[1] < rewards[0] or story.points[-1].score < story.points[0].score:
        print("The policy got worse. A wrong sign in `grpo_loss`? `grade charlm` says. If that passes: a smaller --lr.")
    silent = sum(row["zero_signal_fraction"] for row in history) / len(history)
    print(f"groups without signal (all answers right, or all wrong): {silent:.0%}")
    if silent == 1:
        print("Nothing was learned: it takes two completions of a group with different rewards. A larger --group-size?")
    gap = max(row["sampling_gap"] for row in history)
    print(f"log-probabilities when a token was drawn, against those of training: at most {gap:.1e} nats apart")
    print(f"files in {run.folder}: {', '.join(FILES)}")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)
