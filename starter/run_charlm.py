"""Train the language model with your code and look at it: `python -m starter.run_charlm --help`.

Given code. It calls `train` of the folder that it lies in, prints what came out, and fills a folder: metrics, a picture
of them, samples from the whole run, a checkpoint to go on from, and the trained weights.

Left out on purpose: a grade, that is what `grade charlm` is for; a dashboard, for a CSV file opens anywhere.
"""

import argparse
import hashlib
import json
import sys

if not __package__:
    sys.exit("Go to the folder that holds starter/ and run: python -m starter.run_charlm")

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch import nn

from .charlm import train
from .given import run_folder
from .given.charlm_model import WEIGHTS, TinyLM, load_model, save_weights
from .given.charlm_sampling import addition_accuracy, completion_logp, make_generator, sample
from .given.charlm_task import (
    ADDITION_PROMPTS,
    PIZZA_PROMPT,
    RewardFunction,
    addition_reward,
    is_well_formed,
    pizza_reward,
)
from .given.charlm_training import (
    LEVELS,
    CharLMConfig,
    TrainingState,
    load_checkpoint,
    make_optimizer,
    sample_completions,
    save_checkpoint,
)

METRICS, PICTURE, SAMPLES = "metrics.csv", "diagnostics.png", "samples.json"
CHECKPOINT, POLICY = "checkpoint.pt", "policy.safetensors"
FILES = (METRICS, PICTURE, SAMPLES, CHECKPOINT, POLICY)

SAMPLES_AT_A_POINT = 16

_EXAMPLES = """examples (in the folder that holds starter/):
  python -m starter.run_charlm                                  teach it to say "pizza.", a few seconds
  python -m starter.run_charlm --kl-coef 1 --out charlm-kl      another setting, into another folder
  python -m starter.run_charlm --task arithmetic --out charlm-sums    teach it to add
  python -m starter.run_charlm --out charlm-sums --resume             go on after an interruption
"""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What the model is trained for.

    Attributes:
        prompt: As for `train`.
        reward: As for `train`.
        measure: What `exact` measures.
        exact: How good a policy is, computed and not sampled, so without noise.
        config: Settings unless options say otherwise.
    """

    prompt: str | Sequence[str]
    reward: RewardFunction
    measure: str
    exact: Callable[[nn.Module], float]
    config: CharLMConfig

    @property
    def prompts(self) -> Sequence[str]:
        return [self.prompt] if isinstance(self.prompt, str) else self.prompt


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


@dataclass(kw_only=True)
class Run:
    """A run and the folder that it fills.

    Attributes:
        folder: Where its files go; made with the first of them.
        task: Name of the task.
        seed: Of the samples that are trained on.
        weights: SHA-256 of the file that the reference policy comes from.
        policy: Is trained.
        ref_policy: The KL is measured against it.
        generator: Where the randomness of the training comes from.
        state: How far the run has come.
        points: What the policy wrote at about eleven moments of the run.
    """

    folder: Path
    task: str
    seed: int
    weights: str
    policy: TinyLM
    ref_policy: TinyLM
    generator: torch.Generator
    state: TrainingState
    points: list[dict[str, Any]] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What was run, in a line or two."""
        config = self.state.config
        return (
            f"{self.task}, G = {config.group_size}, P = {config.prompts_per_step}, lr = {config.lr:g}, "
            f"kl_coef = {config.kl_coef:g}, clip_eps = {config.clip_eps:g}, inner_steps = {config.inner_steps},\n"
            f"loss level {config.loss_level}, ratio level {config.ratio_level}, seed {self.seed}"
        )

    def look(self) -> None:
        """Write down what the policy says now, unless nobody wants to know at this step.

        The random numbers are the same every time and not the run's: between two points only the policy differs, and
        the run is not disturbed.
        """
        step, steps = len(self.state.history), self.state.config.steps
        if step not in {round(steps * tenth / 10) for tenth in range(11)}:
            return
        task = TASKS[self.task]
        config = replace(self.state.config, prompts_per_step=SAMPLES_AT_A_POINT, group_size=1)
        found = sample_completions(self.policy, task.prompt, config, make_generator(self.seed))
        rewards = task.reward(found.prompts, found.texts).tolist()
        rows = zip(found.prompts, found.texts, rewards, strict=True)
        samples = [{"prompt": prompt, "text": text, "reward": reward} for prompt, text, reward in rows]
        self.points.append({"step": step, "exact": task.exact(self.policy), "samples": samples})

    def save(self) -> None:
        """Write all that is needed to go on. The checkpoint comes last: what lies beside it is never behind it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        run_folder.write_table(self.folder / METRICS, self.state.history)
        document = {
            "task": self.task,
            "seed": self.seed,
            "weights_sha256": self.weights,
            "torch": torch.__version__,
            "settings": asdict(self.state.config),
            "measure": TASKS[self.task].measure,
            "points": self.points,
        }
        run_folder.write(self.folder / SAMPLES, json.dumps(document, indent=1) + "\n")
        save_checkpoint(self.folder / CHECKPOINT, self.policy, self.state, self.generator)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit code 0 fine, 1 `train` is not written yet or not right, 2 usage or disk, 130 stopped."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    _refuse_what_cannot_work(parser, arguments)
    # On a model this small a second thread costs more than it saves, and the last bits would depend on how many there
    # are.
    torch.set_num_threads(1)
    try:
        run = _resume(arguments) if arguments.resume else _start(arguments)
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    except (KeyError, TypeError):
        parser.error(f"{arguments.out / SAMPLES} is not what this command wrote: --overwrite starts a new run")
    if arguments.resume and not run.state.steps_left:
        print(f"This run is finished, all {run.state.config.steps} steps: nothing is trained, here is what it gave.")
    try:
        _train(run, checkpoint_every=arguments.checkpoint_every)
        if run.state.steps_left:
            done = len(run.state.history)
            print(f"`train` recorded {done} of {run.state.config.steps} steps; it must record each.", file=sys.stderr)
            return 1
        _tell(run)
    except NotImplementedError as error:
        print(f"{error}; this command needs it.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"Interrupted; {run_folder.how_to_go_on(run.folder / CHECKPOINT)}.", file=sys.stderr)
        return 130
    except OSError as error:  # the disk is full, or the folder is gone
        print(f"{parser.prog}: {error}; {run_folder.how_to_go_on(run.folder / CHECKPOINT)}.", file=sys.stderr)
        return 2
    return 0


_LEVEL_OPTIONS = {
    "loss_level": ("--level", "of the means in the loss: every completion weighs alike, or every token"),
    "ratio_level": ("--ratio-level", "one importance ratio for each token, or for each completion"),
}
_NUMBER_OPTIONS = {
    "steps": "batches, one after the other",
    "lr": "learning rate of the first step; it falls to a tenth",
    "kl_coef": "weight of the KL penalty",
    "clip_eps": "clip range; matters with several inner steps only",
    "group_size": "completions of each prompt",
    "prompts_per_step": "prompts in a batch",
    "inner_steps": "updates with each batch",
    "max_new_tokens": "tokens of a completion at most",
}


def _parser() -> argparse.ArgumentParser:
    """Options of the run are None unless given, so that --resume knows which were."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.run_charlm",
        description="Train the language model with the code in this folder, and write down what happened.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--task", choices=TASKS, help="what to train for (pizza)")
    first, second = (asdict(task.config) for task in TASKS.values())
    for name, (option, text) in _LEVEL_OPTIONS.items():
        parser.add_argument(option, dest=name, choices=LEVELS, help=f"{text} ({first[name]})")
    for name, text in _NUMBER_OPTIONS.items():
        default = f"{first[name]:g}" + (f"; arithmetic {second[name]:g}" if first[name] != second[name] else "")
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(first[name]), metavar="X", help=f"{text} ({default})")
    parser.add_argument("--seed", type=int, metavar="N", help="of the samples, from 0 (0)")
    parser.add_argument(
        "--weights", type=Path, default=WEIGHTS, metavar="FILE", help=f"the pretrained model ({WEIGHTS.name})"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to compute (cpu)")
    run_folder.add_options(parser, folder="charlm-run", checkpoint_every=10)
    return parser


def _refuse_what_cannot_work(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Say so before the run."""
    if arguments.device != "cpu" and not torch.cuda.is_available():
        parser.error(f"--device {arguments.device}: torch finds no such device here; leave it out")
    if arguments.overwrite and arguments.weights.resolve().parent == arguments.out.resolve():
        parser.error("--overwrite would delete the --weights, which are in the same folder: choose another with --out")
    run_folder.refuse_what_cannot_work(parser, arguments, files=FILES, to_resume=(CHECKPOINT, SAMPLES))


def _start(arguments: argparse.Namespace) -> Run:
    """A new run, in an empty place."""
    task, seed = arguments.task or "pizza", arguments.seed or 0
    config = replace(TASKS[task].config, **_given(arguments))
    policy, ref_policy = _models(arguments)
    longest = policy.config.context - max(map(len, TASKS[task].prompts))
    if config.max_new_tokens > longest:
        raise ValueError(f"--max-new-tokens can be {longest} at most with this model, got {config.max_new_tokens}")
    for name in FILES:
        (arguments.out / name).unlink(missing_ok=True)
    return Run(
        folder=arguments.out,
        task=task,
        seed=seed,
        weights=_sha256(arguments.weights),
        policy=policy,
        ref_policy=ref_policy,
        generator=make_generator(seed),
        state=TrainingState(make_optimizer(policy, config), config),
    )


def _resume(arguments: argparse.Namespace) -> Run:
    """The run in the folder, as far as its checkpoint; options that say something else than it are refused."""
    try:
        document = json.loads((arguments.out / SAMPLES).read_text("utf-8"))
        task, seed, weights, points = (document[name] for name in ("task", "seed", "weights_sha256", "points"))
    except (ValueError, KeyError) as error:
        raise ValueError(f"{arguments.out / SAMPLES} is not what a run wrote: {error}") from error
    policy, ref_policy = _models(arguments)
    if weights != _sha256(arguments.weights):
        raise ValueError(f"--resume: the run in {arguments.out} began with other --weights than {arguments.weights}")
    generator = make_generator(seed)
    try:
        state = load_checkpoint(arguments.out / CHECKPOINT, policy, generator)
    except ValueError as error:  # its text is a page long
        raise ValueError(
            f"--resume: {arguments.out / CHECKPOINT} is damaged or of another model; start again with --overwrite"
        ) from error
    began = {"task": task, "seed": seed, **asdict(state.config)}
    asked = {"task": arguments.task, "seed": arguments.seed, **_given(arguments)}
    run_folder.refuse_other_settings(arguments.out, asked, began)
    return Run(
        folder=arguments.out,
        task=task,
        seed=seed,
        weights=weights,
        policy=policy,
        ref_policy=ref_policy,
        generator=generator,
        state=state,
        # Samples may be ahead of the checkpoint, if the run was stopped between writing the two.
        points=[point for point in points if point["step"] <= len(state.history)],
    )


def _train(run: Run, *, checkpoint_every: int) -> None:
    """Call the student's `train`, with a progress bar if somebody is looking."""
    config, task = run.state.config, TASKS[run.task]
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    quiet = not sys.stderr.isatty()
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), disable=quiet) as progress:
        bar = progress.add_task("", total=config.steps, completed=len(run.state.history))

        def after_step() -> None:
            done = len(run.state.history)
            reward = run.state.history[-1]["rolling_mean_reward"]
            progress.update(bar, completed=done, description=f"mean reward {reward:.2f}")
            run.look()
            if done % checkpoint_every == 0 or done == config.steps:
                run.save()

        run.state.after_step = after_step
        if not run.points:
            run.look()
        train(run.policy, run.ref_policy, task.prompt, task.reward, config, generator=run.generator, state=run.state)


def _tell(run: Run) -> None:
    """Draw and print what came out, and write the trained weights."""
    from .given.charlm_plots import plot_diagnostics

    task, first, last = TASKS[run.task], run.points[0], run.points[-1]
    plot_diagnostics(run.state.history, title=run.title, path=run.folder / PICTURE)
    made_by = f"run_charlm, {run.title}, torch {torch.__version__}".replace("\n", " ")
    save_weights(run.policy, run.folder / POLICY, made_by=made_by)
    print(run.title)
    print(f"{'samples':16}{'before':16}after")
    for before, after in list(zip(first["samples"], last["samples"], strict=True))[:5]:
        print(f"  {before['prompt']:14}{before['text']:16}{after['text']}")
    print(f"exact {task.measure}: {first['exact']:.3f} before, {last['exact']:.3f} after")
    before, after = (_well_formed(model, run) for model in (run.ref_policy, run.policy))
    print(f"well-formed completions, of 1000: {before:.3f} before, {after:.3f} after")
    rewards = [run.state.history[place]["mean_reward"] for place in (0, -1)]
    print(f"mean reward of a batch: {rewards[0]:.2f} first, {rewards[1]:.2f} last")
    print(f"files in {run.folder}: {', '.join(FILES)}")


def _well_formed(model: TinyLM, run: Run) -> float:
    prompts = TASKS[run.task].prompts
    rows = [prompt for prompt in prompts for _ in range(1000 // len(prompts))]
    longest = run.state.config.max_new_tokens
    texts = sample(model, rows, max_new_tokens=longest, generator=make_generator(run.seed)).texts
    return sum(map(is_well_formed, texts)) / len(texts)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given as options."""
    settings = {name: getattr(arguments, name) for name in (*_LEVEL_OPTIONS, *_NUMBER_OPTIONS)}
    return {name: value for name, value in settings.items() if value is not None}


def _models(arguments: argparse.Namespace) -> tuple[TinyLM, TinyLM]:
    """The policy, and the reference policy that it starts as."""
    try:
        policy, ref_policy = (load_model(arguments.weights, device=arguments.device) for _ in range(2))
    except FileNotFoundError:
        raise
    except Exception as error:  # what safetensors raises depends on what is wrong with the file
        raise ValueError(f"{arguments.weights} holds no model that `pretrain_charlm` wrote: {error}") from error
    return policy, ref_policy


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
