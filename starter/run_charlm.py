"""Train the language model with your code and look at it: `python -m starter.run_charlm --help`.

Given code. It calls your `train`, prints samples before and after, and fills a folder: metrics, a picture of them,
samples from the whole run, a checkpoint to resume from, and the trained weights. `runs` is shared with `run_llm`.
"""

import argparse
import hashlib
import sys

if not __package__:
    sys.exit("Go to the folder that contains starter/ and run: python -m starter.run_charlm")

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .charlm import train
from .given import runs
from .given.charlm_model import WEIGHTS, TinyLM, load_model, save_weights
from .given.charlm_sampling import addition_accuracy, completion_logp, make_generator
from .given.charlm_task import ADDITION_PROMPTS, PIZZA_PROMPT, RewardFunction, addition_reward, pizza_reward
from .given.charlm_training import CharLMConfig, TrainingState, load_checkpoint, make_optimizer, sample_completions
from .given.runs import CHECKPOINT, METRICS

PICTURE, SAMPLES, POLICY = "diagnostics.png", "samples.json", "policy.safetensors"
FILES = (METRICS, PICTURE, SAMPLES, CHECKPOINT, POLICY)
FOLDER = "charlm-run"

_EXAMPLES = """examples (in the folder that contains starter/):
  python -m starter.run_charlm                                  teach it to say "pizza.", a few seconds
  python -m starter.run_charlm --kl-coef 1 --out charlm-kl      another setting and another folder
  python -m starter.run_charlm --task arithmetic --out charlm-sums    teach it to add
  python -m starter.run_charlm --out charlm-sums --resume             continue after an interruption
"""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What the model is trained for.

    Attributes:
        prompt: As for `train`.
        reward: As for `train`.
        measure: Name of the quantity that `exact` computes.
        exact: How good a policy is, computed from its probabilities instead of sampled, so without noise.
        config: Settings unless options say otherwise.
    """

    prompt: str | Sequence[str]
    reward: RewardFunction
    measure: str
    exact: Callable[[nn.Module], float]
    config: CharLMConfig


TASKS = {
    "pizza": Task(
        prompt=PIZZA_PROMPT,
        reward=pizza_reward,
        measure='probability of "pizza."',
        exact=lambda policy: completion_logp(policy, PIZZA_PROMPT, ["pizza."]).exp().item(),
        config=CharLMConfig(),
    ),
    "arithmetic": Task(
        prompt=ADDITION_PROMPTS,
        reward=addition_reward,
        measure="probability of the right sum, mean over all prompts",
        exact=addition_accuracy,
        config=CharLMConfig(prompts_per_step=32, lr=2e-3, steps=150, max_new_tokens=4),
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit codes: 0 done, 1 `train` is missing or wrong, 2 usage or disk, 130 interrupted."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.variant:
        refused = {
            "--level": arguments.loss_level,
            "--ratio-level": arguments.ratio_level,
            "--resume": arguments.resume,
        }
        if found := [option for option, value in refused.items() if value]:
            parser.error(f"omit {found[0]}: --variant sets the method for the whole run")
        if arguments.out == Path(FOLDER):
            arguments.out = Path(f"charlm-{arguments.variant}")
    runs.refuse_what_cannot_work(parser, arguments, files=FILES, to_resume=(CHECKPOINT, SAMPLES))
    # A model this small gains nothing from a second thread, and the last bits depend on the number of threads.
    torch.set_num_threads(1)
    return runs.exit_code(parser, arguments.out, lambda: _run(parser, arguments))


def _run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    try:
        work = _variant(arguments.variant) if arguments.variant else None
        run = _prepare(arguments)
    except ValueError as error:
        parser.error(str(error))
    if work:
        print(f"{arguments.variant}: {work.variant.summary}")
    task = TASKS[run.task]
    run.train(work.train if work else train, task.prompt, task.reward)
    _tell(run)
    if work:
        print(f"samples drawn: {work.samples}")


@dataclass(kw_only=True)
class Run(runs.Run):
    """A run of one task.

    Attributes:
        task: Its name.
        seed: Seed of the training samples.
        variant: Name of the relative of GRPO that trains; None is GRPO.
    """

    document_name = SAMPLES
    policy: TinyLM
    ref_policy: TinyLM
    task: str
    seed: int
    variant: str | None = None

    @property
    def title(self) -> str:
        """What was run, in two lines."""
        config = self.state.config
        name = f"{self.variant}: {self.task}" if self.variant else self.task
        levels = f"loss level {config.loss_level}, ratio level {config.ratio_level}, "
        return (
            f"{name}, G = {config.group_size}, P = {config.prompts_per_step}, lr = {config.lr:g}, "
            f"kl_coef = {config.kl_coef:g}, clip_eps = {config.clip_eps:g}, inner_steps = {config.inner_steps},\n"
            f"{'' if self.variant else levels}seed {self.seed}"  # a variant sets the levels itself
        )

    def measure(self) -> dict[str, Any]:
        """Sample from the policy, with the same random numbers at every point, so that only the policy differs."""
        task = TASKS[self.task]
        config = replace(self.state.config, prompts_per_step=16, group_size=1)
        found = sample_completions(self.policy, task.prompt, config, make_generator(self.seed))
        rewards = task.reward(found.prompts, found.texts).tolist()
        rows = zip(found.prompts, found.texts, rewards, strict=True)
        samples = [{"prompt": prompt, "text": text, "reward": reward} for prompt, text, reward in rows]
        return {"exact": task.exact(self.policy), "samples": samples}

    def document(self) -> dict[str, Any]:
        """The content of samples.json."""
        return {
            "task": self.task,
            "seed": self.seed,
            **({"variant": self.variant} if self.variant else {}),
            "weights_sha256": hashlib.sha256(WEIGHTS.read_bytes()).hexdigest(),
            "torch": torch.__version__,
            "settings": asdict(self.state.config),
            "measure": TASKS[self.task].measure,
            "points": self.points,
        }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.run_charlm",
        description="Train the language model with the code in this folder, and record the run.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--task", choices=TASKS, help="task to train for (pizza)")
    text = "train with a variant of GRPO (exercise variants), such as rloo, in charlm-NAME; a wrong name lists them all"
    parser.add_argument("--variant", metavar="NAME", help=text)
    first, second = (asdict(task.config) for task in TASKS.values())
    both = {name: f"{first[name]:g}; arithmetic {second[name]:g}" for name in first if first[name] != second[name]}
    runs.add_options(parser, TASKS["pizza"].config, shown=both, folder=FOLDER)
    return parser


def _prepare(arguments: argparse.Namespace) -> Run:
    """A new run, or the one in the folder as far as its checkpoint.

    Raises:
        ValueError: the options contradict the model or the run in the folder.
    """
    began = runs.read_document(arguments.out / SAMPLES, settings="settings") if arguments.resume else {}
    asked = {"task": arguments.task, "seed": arguments.seed, **runs.given(arguments)}
    task, seed = began.get("task") or asked["task"] or "pizza", began.get("seed") or asked["seed"] or 0
    policy, ref_policy, generator = load_model(), load_model(), make_generator(seed)
    if began:
        if "variant" in began:
            raise ValueError(f"--resume: the run in {arguments.out} used --variant; start it again with --overwrite")
        runs.refuse_other_settings(arguments.out, asked, began | began["settings"])
        state = load_checkpoint(arguments.out / CHECKPOINT, policy, generator)
    else:
        config = replace(TASKS[task].config, **runs.given(arguments))
        longest = policy.config.context - len(PIZZA_PROMPT)
        if config.max_new_tokens > longest:
            raise ValueError(f"--max-new-tokens must be at most {longest}, got {config.max_new_tokens}")
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
        task=task,
        seed=seed,
        variant=arguments.variant,
    )


def _variant(name: str) -> Any:
    """A relative of GRPO at work in your `train`.

    Raises:
        ValueError: there is none of this name.
    """
    if importlib.util.find_spec(".given.variants_training", __package__) is None:
        raise ValueError("--variant: this course does not have the exercise variants")
    module = importlib.import_module(".given.variants_training", __package__)
    return module.CharLMWork(module.variant(name))


def _tell(run: Run) -> None:
    """Draw and print what came out, and write the trained weights."""
    from .given.plots import plot_diagnostics

    task, first, last = TASKS[run.task], run.points[0], run.points[-1]
    plot_diagnostics(run.state.history, title=run.title, path=run.folder / PICTURE)
    made_by = f"run_charlm, {run.title}, torch {torch.__version__}".replace("\n", " ")
    save_weights(run.policy, run.folder / POLICY, made_by=made_by)
    print(run.title)
    print(f"{'samples':16}{'before':16}after")
    for before, after in list(zip(first["samples"], last["samples"], strict=True))[:5]:
        print(f"  {before['prompt']:14}{before['text']:16}{after['text']}")
    print(f"exact {task.measure}: {first['exact']:.3f} before, {last['exact']:.3f} after")
    for name, text in (("mean_reward", "mean reward"), ("well_formed", "share of well-formed completions")):
        print(f"{text} of a batch: {run.state.history[0][name]:.2f} first, {run.state.history[-1][name]:.2f} last")
    print(f"files in {run.folder}: {', '.join(FILES)}")
    runs.say_where_to_read(run.folder / METRICS)


if __name__ == "__main__":
    sys.exit(main())
