"""Train a pretrained language model with your code: `python -m starter.run_llm --help`.

Given code. Your `train`, `train_step`, `grpo_loss`, `token_logp`, `completion_mask`, `group_advantages` and
`importance_ratio` compute every number of the loss. This command finds the model and adapts it to them (`llm_model`),
brings the task (`llm_tasks`), trains (`runs`), and shows what came out (`llm_report`).
"""

import argparse
import hashlib
import shlex
import sys

if not __package__:
    sys.exit("Go to the folder that contains starter/ and run: python -m starter.run_llm")

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from .charlm import train
from .given import runs
from .given.charlm_model import BigramLM
from .given.charlm_sampling import make_generator
from .given.charlm_task import LetterReward
from .given.charlm_training import CharLMConfig, TrainingState, load_checkpoint, make_optimizer
from .given.llm_model import (
    DEFAULT_MODEL,
    INSTALL,
    LanguageModel,
    ModelNotFound,
    fast_dtype,
    freeze_all_but,
    load,
    say_memory,
)
from .given.llm_report import Story, draw, page
from .given.llm_tasks import TASKS, Task, TaskFailed, own_task
from .given.runs import CHECKPOINT, METRICS, WentWrong

RUN, PICTURE, PAGE = "run.json", "run.png", "run.html"
FILES = (METRICS, RUN, CHECKPOINT, PICTURE, PAGE)
SETTINGS = CharLMConfig(steps=400, lr=1e-5, kl_coef=0.0, group_size=8, prompts_per_step=8)
SHOWN = 8
MEASURED = 64
"""Prompts that the accuracy is measured with on the way; at the start and at the end it is all of them."""
_AT_ONCE = 64
_PROGRAM = ("python", "-m", f"{__package__}.run_llm")

_EXAMPLES = f"""examples (in the folder that contains starter/, after {INSTALL}):
  python -m starter.run_llm                             teach SmolLM2 to add
  python -m starter.run_llm --task word-problems --out stories
  python -m starter.run_llm --task my_task.py           use your own prompts() and reward(prompt, completion)
  python -m starter.run_llm --resume                    continue after an interruption
  python -m starter.run_llm --model Qwen/Qwen3-0.6B --device cuda --dtype bfloat16
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit code 0 fine, 1 an exercise is missing or wrong, 2 usage, task or disk, 130 stopped."""
    parser = make_parser()
    words = sys.argv[1:] if argv is None else [*argv]
    arguments = parser.parse_args(words)
    if arguments.task is not None and arguments.task not in TASKS and not arguments.task.endswith(".py"):
        parser.error(f"--task must be one of {', '.join(TASKS)}, or a Python file, got {arguments.task!r}")
    runs.refuse_what_cannot_work(parser, arguments, files=FILES, to_resume=(CHECKPOINT, RUN))
    command = shlex.join([*_PROGRAM, *words])

    def work() -> None:
        _try_train()
        try:
            run = prepare(arguments, command=command)
        except (ModelNotFound, ValueError) as error:
            parser.error(str(error))
        run.train(train, run.task.prompts, run.task.rewards)
        _tell(run)

    return runs.exit_code(parser, arguments.out, work, failures=(OSError, TaskFailed))


@dataclass(kw_only=True)
class Run(runs.Run):
    """A run of one task with one model.

    Attributes:
        task: What is trained.
        settings: Model, task, seed and settings of the training that the run began with, for `--resume`.
    """

    document_name = RUN
    policy: LanguageModel
    task: Task
    settings: dict[str, Any]

    def measure(self) -> dict[str, Any]:
        """Mean reward of the most probable completions, and some of them."""
        is_end = len(self.state.history) in (0, self.state.config.steps)
        prompts = self.task.held_out if is_end else self.task.held_out[:MEASURED]
        texts = most_probable(self.policy, prompts, max_new_tokens=self.state.config.max_new_tokens)
        return {"score": self.task.rewards(prompts, texts).mean().item(), "texts": texts[:SHOWN]}

    def document(self) -> dict[str, Any]:
        """The content of run.json."""
        return {**self.settings, "seconds": self.seconds, "points": self.points}

    def story(self) -> Story:
        """The content of picture and page."""
        prompts = self.task.held_out[:SHOWN]
        before, after = (self.task.rewards(prompts, self.points[place]["texts"]).tolist() for place in (0, -1))
        return Story(
            title=f"{Path(self.settings['model'] or DEFAULT_MODEL).absolute().name} learns {self.task.name} by GRPO",
            command=self.settings["command"],
            measure=self.task.measure,
            prompts=prompts,
            rewards=(before, after),
            points=self.points,
            seconds=self.seconds,
        )


def make_parser() -> argparse.ArgumentParser:
    """Options of the run are None unless given, so that --resume knows which ones were."""
    parser = argparse.ArgumentParser(
        prog=" ".join(_PROGRAM),
        description="Train a pretrained language model with the code in this folder.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--task", metavar="TASK", help=f"{', '.join(TASKS)}, or a Python file (sums)")
    parser.add_argument("--model", metavar="MODEL", help="a folder, a GGUF file or a hub id (SmolLM2-135M-Instruct)")
    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    devices = [device for device, is_here in here.items() if is_here]
    text = f"device ({devices[0]}, the fastest here)"
    parser.add_argument("--device", choices=devices, default=devices[0], help=text)
    text = "dtype of matrix products (bfloat16 if the device has instructions for it, else float32)"
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), help=text)
    text = "completions per forward pass: fewer take less memory and more time, and give the same loss (all)"
    parser.add_argument("--micro-batch-size", type=runs.count, metavar="N", help=text)
    parser.add_argument("--last-layers", type=runs.count, metavar="N", help="train only the last N layers (all)")
    text = "train only on prompts that the model answers wrong at the start"
    parser.add_argument("--only-missed", action="store_true", default=None, help=text)
    shown = {"kl_coef": "0, which needs no reference policy and saves half the memory", "max_new_tokens": "the task's"}
    runs.add_options(parser, SETTINGS, shown=shown, folder="llm-run")
    return parser


def _try_train() -> None:
    """Call `train` with a tiny model, so that missing functions show before the real model is loaded."""
    config = CharLMConfig(alphabet=".ab", steps=2, prompts_per_step=1, group_size=2, max_new_tokens=2)
    policy, ref_policy = (BigramLM(torch.zeros(3, 3)) for _ in range(2))
    try:
        train(policy, ref_policy, "a", LetterReward("b"), config, generator=make_generator(0))
    except NotImplementedError as error:
        message = f"{error}; this command needs exercises 1, 2, 3 and 5: run `grade` to see what is missing."
        raise WentWrong(message) from error


def prepare(arguments: argparse.Namespace, *, command: str) -> Run:
    """A new run, or the one in the folder as far as its checkpoint.

    Args:
        arguments: Of the command line.
        command: Repeats the run.

    Raises:
        ModelNotFound: the model cannot be loaded.
        ValueError: the options contradict the model, the machine, the task or the run in the folder.
    """
    began = runs.read_document(arguments.out / RUN, settings="config") if arguments.resume else {}
    chosen = {
        "task": arguments.task or began.get("task") or "sums",
        "model": arguments.model or began.get("model"),
        "seed": arguments.seed if arguments.seed is not None else began.get("seed", 0),
        "last_layers": arguments.last_layers or began.get("last_layers"),
        "only_missed": arguments.only_missed or began.get("only_missed"),
        "dtype": arguments.dtype or began.get("dtype") or fast_dtype(arguments.device),
    }
    name = chosen["task"]
    task = TASKS[name]() if name in TASKS else own_task(Path(name), max_new_tokens=SETTINGS.max_new_tokens)
    prompts = hashlib.sha256("\0".join([*task.prompts, *task.held_out]).encode()).hexdigest()
    if began:
        asked = {name: getattr(arguments, name) for name in chosen if name != "dtype"} | runs.given(arguments)
        runs.refuse_other_settings(arguments.out, asked, dict.fromkeys(asked) | began | began["config"])
        if began["prompts_sha256"] != prompts:
            raise ValueError(f"--resume: the run in {arguments.out} started with other prompts")
        config, command = CharLMConfig(**began["config"]), began["command"]
    else:
        config = replace(SETTINGS, **{"max_new_tokens": task.max_new_tokens, **runs.given(arguments)})
    model, tokenizer = load(chosen["model"])
    if chosen["last_layers"]:
        freeze_all_but(model, chosen["last_layers"])
    dtype, size = getattr(torch, chosen["dtype"]), arguments.micro_batch_size
    policy = LanguageModel(model, tokenizer, dtype=dtype, micro_batch_size=size)
    say_memory(policy, [*task.prompts, *task.held_out], config)
    ref_policy = policy if config.kl_coef == 0 else policy.frozen_copy()
    policy.to(arguments.device), ref_policy.to(arguments.device)
    if chosen["only_missed"]:
        task = replace(task, prompts=_missed(policy, task, config.max_new_tokens))
    generator = make_generator(chosen["seed"])
    if began:
        state = load_checkpoint(arguments.out / CHECKPOINT, policy, generator)
    else:
        for name in FILES:
            (arguments.out / name).unlink(missing_ok=True)
        state = TrainingState(make_optimizer(policy, config), config)
    return Run(
        folder=arguments.out,
        policy=policy,
        ref_policy=ref_policy,
        generator=generator,
        state=state,
        points=began.get("points", []),
        seconds=began.get("seconds", 0.0),
        task=task,
        settings={**chosen, "prompts_sha256": prompts, "config": asdict(config), "command": command},
    )


def _missed(policy: LanguageModel, task: Task, max_new_tokens: int) -> list[str]:
    """The prompts to train on whose most probable completion is not right."""
    rewards = task.rewards(task.prompts, most_probable(policy, task.prompts, max_new_tokens=max_new_tokens))
    missed = [prompt for prompt, reward in zip(task.prompts, rewards, strict=True) if reward < 1]
    print(f"the model misses {len(missed):,} of {len(task.prompts):,} training prompts at the start", flush=True)
    if not missed:
        raise ValueError("--only-missed: the model misses no prompt; omit this option")
    return missed


def most_probable(policy: LanguageModel, prompts: Sequence[str], *, max_new_tokens: int) -> list[str]:
    """The most probable completion of each prompt."""
    parts = [prompts[place : place + _AT_ONCE] for place in range(0, len(prompts), _AT_ONCE)]
    found = [policy.sample(part, max_new_tokens=max_new_tokens, generator=None).texts for part in parts]
    return [text for texts in found for text in texts]


def _tell(run: Run) -> None:
    """Print what came out, draw it, and write the page."""
    story, history = run.story(), run.state.history
    draw(story, run.folder / PICTURE)
    runs.write(run.folder / PAGE, page(story, run.folder / PICTURE))
    print(story.title)
    for prompt, before, after, _, _ in story.rows():
        print(f"  {prompt[:48]:50}{before[:16]:18}{after[:16]}")
    print(story.summary())
    rewards = [sum(row["mean_reward"] for row in part) / len(part) for part in (history[:10], history[-10:])]
    print(f"mean reward of ten batches: {rewards[0]:.2f} first, {rewards[1]:.2f} last")
    if rewards[1] < rewards[0] or story.points[-1]["score"] < story.points[0]["score"]:
        print("The policy got worse. Is a sign in `grpo_loss` wrong? Run `grade charlm`. If it passes: a smaller --lr.")
    silent = sum(row["zero_signal_fraction"] for row in history) / len(history)
    print(f"groups without signal (all answers right, or all wrong): {silent:.0%}")
    if silent == 1:
        print("Nothing was learned, because every group had equal rewards. Try a larger --group-size.")
    print(f"files in {run.folder}: {', '.join(FILES)}")
    runs.say_where_to_read(run.folder / METRICS)


if __name__ == "__main__":
    sys.exit(main())
