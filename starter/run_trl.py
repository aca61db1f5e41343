"""Train the model of `run_llm` with TRL's GRPOTrainer: `python -m starter.run_trl --help`.

Given code. Model, tasks and prompts are those of `run_llm`. TRL samples and trains; your `group_advantages` and
`grpo_loss` compute advantages and loss (`trl_trainer`), or with `--formulas trl` its own do. What is called how there,
with defaults: `docs/reference/trl.md`.
"""

import argparse
import sys

if not __package__:
    sys.exit("Go to the folder that contains starter/ and run: python -m starter.run_trl")

import importlib.util
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from .given.charlm_training import LEVELS, CharLMConfig
from .given.llm_model import LanguageModel, ModelNotFound, install_command, load
from .given.llm_tasks import TASKS, Task
from .given.runs import say_where_to_read

INSTALL = install_command("trl")
MEASURED = 64
SETTINGS = CharLMConfig(steps=20, lr=1e-5, kl_coef=0.0, group_size=8, prompts_per_step=8)
_NUMBER_OPTIONS = {
    "steps": "max_steps / num_iterations",
    "lr": "learning_rate",
    "kl_coef": "beta",
    "clip_eps": "epsilon",
    "group_size": "num_generations",
    "prompts_per_step": "per_device_train_batch_size / num_generations",
    "inner_steps": "num_iterations",
}
"""Names of the course, and TRL's."""
DEFAULTS = (
    *("loss_type", "scale_rewards", "beta", "use_bias_correction_kl", "epsilon", "epsilon_high", "num_generations"),
    *("num_iterations", "learning_rate", "max_completion_length", "importance_sampling_level", "max_grad_norm"),
    *("vllm_importance_sampling_correction", "vllm_importance_sampling_mode", "vllm_importance_sampling_clip_max"),
)
"""Settings of TRL that decide what is trained."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit code 0 fine, 1 an exercise is missing, 2 usage or a missing package."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.batch:
        return _tell_batch()
    if importlib.util.find_spec("trl") is None:
        parser.error(f"this command needs more packages: {INSTALL}")
    if arguments.defaults:
        _tell_defaults()
        return 0
    try:
        given = {name: getattr(arguments, name) for name in _NUMBER_OPTIONS}
        task = TASKS[arguments.task]()
        config = replace(SETTINGS, max_new_tokens=task.max_new_tokens, ratio_level=arguments.ratio_level, **given)
        model, tokenizer = load(arguments.model)
        options = {name: getattr(arguments, name) for name in ("loss_type", "formulas", "seed")}
        trainer = make_trainer(model, tokenizer, task, config, **options)
        before = score(model, tokenizer, task)
        trainer.train()
    except (ModelNotFound, ValueError) as error:
        parser.error(str(error))
    except NotImplementedError as error:
        print(
            f"{error}; this command needs exercises 1, 2, 3 and 5: run `grade` to see what is missing.", file=sys.stderr
        )
        return 1
    _tell(trainer, task, before=before, after=score(model, tokenizer, task))
    trainer.state.save_to_json(arguments.log)
    say_where_to_read(arguments.log)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.run_trl",
        description="Train a pretrained language model with TRL's GRPOTrainer and your formulas.",
        epilog="The names in brackets are TRL's. Example: python -m starter.run_trl --formulas both",
    )
    parser.add_argument("--task", choices=[*TASKS], default="sums", help="as for run_llm (sums)")
    parser.add_argument("--model", metavar="MODEL", help="a folder, a GGUF file or a hub id (SmolLM2-135M-Instruct)")
    text = "whose advantages and loss to train with; both: train with yours, and also compute TRL's loss (mine)"
    parser.add_argument("--formulas", choices=("mine", "trl", "both"), default="mine", help=text)
    for name, theirs in _NUMBER_OPTIONS.items():
        value, option = getattr(SETTINGS, name), f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(value), default=value, metavar="X", help=f"[{theirs}] ({value:g})")
    parser.add_argument("--loss-type", choices=("grpo", "bnpo", "dapo"), default="grpo", help="[loss_type] (grpo)")
    text = "[importance_sampling_level] (token)"
    parser.add_argument("--ratio-level", choices=LEVELS, default="token", help=text)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="[seed] (0)")
    text = "the file for TRL's log (trl-run.json)"
    parser.add_argument("--log", type=Path, default=Path("trl-run.json"), metavar="FILE", help=text)
    text = "only run your functions on the batch of the page 'GRPO as shipped', next to ten libraries; needs no TRL"
    parser.add_argument("--batch", action="store_true", help=text)
    parser.add_argument("--defaults", action="store_true", help="only print the defaults of the installed TRL")
    return parser


def _tell_batch() -> int:
    """Print your loss and gradient next to those that libraries recorded."""
    from .given.as_shipped import compare

    try:
        print(compare())
    except NotImplementedError as error:
        print(f"{error}; --batch needs exercises 1, 2, 3 and 5: run `grade` to see what is missing.", file=sys.stderr)
        return 1
    return 0


def _tell_defaults() -> None:
    """Print the defaults of the installed version; a setting that it does not know has none."""
    import trl

    known = {each.name: each.default for each in fields(trl.GRPOConfig)}
    print(f"TRL {trl.__version__}, GRPOConfig")
    for name in DEFAULTS:
        print(f"  {name:<36} {known.get(name, 'not in this version')}")


def make_trainer(
    model: Any,
    tokenizer: Any,
    task: Task,
    config: CharLMConfig,
    *,
    loss_type: str = "grpo",
    formulas: str = "mine",
    seed: int = 0,
) -> Any:
    """A GRPOTrainer that is set up as `run_llm` trains.

    Args:
        model: A causal language model of transformers; it is trained.
        tokenizer: Of this model.
        task: Prompts and reward.
        config: Settings; their levels of averaging come from `loss_type`.
        loss_type: Of TRL.
        formulas: "mine", "trl" or "both", as on the command line.
        seed: Of the run.
    """
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl import GRPOConfig, GRPOTrainer

    from .given.trl_trainer import StudentTrainer

    settings = {
        "per_device_train_batch_size": config.prompts_per_step * config.group_size,
        "num_generations": config.group_size,
        "num_iterations": config.inner_steps,
        "max_completion_length": config.max_new_tokens,
        "max_steps": config.steps * config.inner_steps,  # TRL counts updates, not batches
        "learning_rate": config.lr,
        "beta": config.kl_coef,
        "epsilon": config.clip_eps,
        "importance_sampling_level": config.ratio_level,
        "loss_type": loss_type,
        "seed": seed,
        # What TRL does by default, and the course does not.
        "use_bias_correction_kl": False,
        "max_grad_norm": 0.0,
        "bf16": False,
        "activation_checkpointing": False,
        "dataloader_pin_memory": False,
        "save_strategy": "no",
        "logging_steps": 1,
        "report_to": "none",
        "disable_tqdm": True,
    }
    (end,) = tokenizer.encode("\n", add_special_tokens=False)
    model.generation_config.eos_token_id = end  # a completion is a line, as in `run_llm`
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token

    def reward(prompts: list[str], completions: list[str], **_: Any) -> list[float]:
        return list(task.rewards(prompts, completions).tolist())

    kind: Callable[..., Any] = GRPOTrainer if formulas == "trl" else StudentTrainer
    with tempfile.TemporaryDirectory() as folder:  # nothing is written there later
        if config.kl_coef:  # TRL reads the reference policy from where the policy came from
            model.save_pretrained(folder)
            model.config._name_or_path = folder
        trainer = kind(
            model=model,
            reward_funcs=reward,
            args=GRPOConfig(output_dir=folder, **settings),
            train_dataset=Dataset.from_dict({"prompt": [*task.prompts]}),
            processing_class=tokenizer,
            **({"compare": True} if formulas == "both" else {}),
        )
    trainer.remove_callback(PrinterCallback)  # forty numbers a step; `_tell` says what matters
    return trainer


def score(model: Any, tokenizer: Any, task: Task) -> float:
    """Mean reward of the most probable completions of prompts that are never trained on."""
    policy = LanguageModel(model, tokenizer)
    prompts = task.held_out[:MEASURED]
    texts = policy.sample(prompts, max_new_tokens=task.max_new_tokens, generator=None).texts
    policy.exchange_numbers()  # TRL knows the tokens by the tokenizer's own numbers
    return task.rewards(prompts, texts).mean().item()


def _tell(trainer: Any, task: Task, *, before: float, after: float) -> None:
    print(f"{task.measure}: {before:.2f} -> {after:.2f}, {trainer.state.global_step} steps")
    rewards = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    print(f"mean reward of each batch: {' '.join(f'{reward:.2f}' for reward in rewards)}")
    losses = getattr(trainer, "losses", [])
    if losses:
        apart = max(abs(mine - theirs) for mine, theirs in losses)
        print(f"your loss and TRL's on the same batch, with your advantages: at most {apart:.1e} apart")


if __name__ == "__main__":
    sys.exit(main())
