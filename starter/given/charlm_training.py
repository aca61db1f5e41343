"""Given code of the language model exercise: settings, rollout, optimizer, and the state of a run.

`TrainingState` holds the state of a run except its policy: the optimizer, and one row of metrics per step. A
checkpoint stores it with the policy and the random generator. A run that resumes from a checkpoint continues as if it
had never stopped, bit for bit.

Left out on purpose: gradient accumulation, clipping of the gradient's norm, mixed precision.

Symbols: P prompts per step, G completions per prompt (the group size), B = P * G rows, T tokens in a row.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .charlm_sampling import Completions, sample
from .charlm_task import ALPHABET, is_well_formed

LEVELS = ("token", "sequence")
OPTIMIZERS = ("adam", "sgd")
ROLLING = 10
"""Number of steps in the rolling mean of the reward."""


@dataclass(frozen=True, kw_only=True)
class CharLMConfig:
    """Settings of a run.

    Attributes:
        group_size: Completions G per prompt.
        prompts_per_step: Prompts P per step, one group each.
        steps: Number of batches of P * G completions.
        inner_steps: Updates per batch.
        optimizer: "adam", or "sgd" without momentum.
        lr: Learning rate of the first step.
        final_lr: Learning rate of the last step, as a share of `lr`; it falls linearly in between.
        clip_eps: Clip range of the importance ratio, as for `clipped_surrogate`.
        kl_coef: Weight of the KL penalty in the loss.
        ratio_level: "token" for one importance ratio per token, "sequence" for one per completion.
        loss_level: "sequence" or "token", as `level` for `masked_mean`.
        max_new_tokens: Length limit of a completion, in tokens.
        alphabet: As for `CharTokenizer`.
    """

    group_size: int = 8
    prompts_per_step: int = 4
    steps: int = 40
    inner_steps: int = 1
    optimizer: str = "adam"
    lr: float = 7e-4
    final_lr: float = 0.1
    clip_eps: float = 0.2
    kl_coef: float = 0.04
    ratio_level: str = "token"
    loss_level: str = "sequence"
    max_new_tokens: int = 12
    alphabet: str = ALPHABET

    def __post_init__(self) -> None:
        for name in ("group_size", "prompts_per_step", "max_new_tokens", "inner_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.steps < 0:
            raise ValueError(f"steps must not be negative, got {self.steps}")
        for name in ("lr", "final_lr", "clip_eps", "kl_coef"):
            if not (math.isfinite(value := getattr(self, name)) and value >= 0):
                raise ValueError(f"{name} must be a finite number and not negative, got {value}")
        for name, known in (("ratio_level", LEVELS), ("loss_level", LEVELS), ("optimizer", OPTIMIZERS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Rollout:
    """One batch to train on. Everything in it is a constant.

    Attributes:
        tokens: Prompt and completion, padded with EOS_ID after the end, int64, shape (B, T).
        prompt_length: Number of tokens in each prompt.
        old_logp: Log-probability of each token from the second on, under the policy that drew it, shape (B, T - 1).
        advantages: One per completion, shape (B,).
    """

    tokens: Tensor
    prompt_length: int
    old_logp: Tensor
    advantages: Tensor


def make_optimizer(policy: nn.Module, config: CharLMConfig) -> torch.optim.Optimizer:
    """The optimizer that the settings name, for the parameters of a policy."""
    if config.optimizer == "sgd":
        return torch.optim.SGD(policy.parameters(), lr=config.lr)
    return torch.optim.Adam(policy.parameters(), lr=config.lr, fused=True)


@dataclass
class TrainingState:
    """The progress of a run.

    Attributes:
        optimizer: The policy's optimizer; this class sets its learning rate.
        config: Settings of the run.
        history: One row of metrics per finished step.
        after_step: Called after each step, for a progress bar or a checkpoint.
    """

    optimizer: torch.optim.Optimizer
    config: CharLMConfig
    history: list[dict[str, float]] = field(default_factory=list)
    after_step: Callable[[], object] = lambda: None

    def __post_init__(self) -> None:
        self._set_lr()

    @property
    def steps_left(self) -> int:
        return self.config.steps - len(self.history)

    def record(self, completions: Completions, rewards: Tensor, advantages: Tensor, metrics: dict[str, float]) -> None:
        """Record a step, including the metrics that come from its samples.

        Args:
            completions: The batch of the step.
            rewards: One per row of the batch, shape (B,).
            advantages: One per row of the batch, shape (B,).
            metrics: The result of `train_step` for the last update with this batch.
        """
        groups = rewards.reshape(-1, self.config.group_size)  # (P, G)
        earlier = [row["mean_reward"] for row in self.history[-(ROLLING - 1) :]]
        mean_reward = rewards.double().mean().item()
        self.history.append(
            {
                "step": len(self.history) + 1,
                "mean_reward": mean_reward,
                "rolling_mean_reward": math.fsum([*earlier, mean_reward]) / (len(earlier) + 1),
                "mean_advantage": advantages.double().mean().item(),
                "zero_signal_fraction": sum(len(set(group)) == 1 for group in groups.tolist()) / len(groups),
                "entropy": completions.entropy.item(),
                "completion_length": sum(map(len, completions.texts)) / len(completions.texts),
                "well_formed": sum(map(is_well_formed, completions.texts)) / len(completions.texts),
                **metrics,
            }
        )
        self._set_lr()
        self.after_step()

    def _set_lr(self) -> None:
        done = len(self.history) / max(1, self.config.steps - 1)
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.lr * (1 - (1 - self.config.final_lr) * min(1.0, done))


def sample_completions(
    policy: nn.Module, prompt: str | Sequence[str], config: CharLMConfig, generator: torch.Generator
) -> Completions:
    """Draw the batch of one step: G completions of each of P prompts.

    Args:
        policy: Maps tokens (B, T) to logits (B, T, V). If it has a method `sample`, that method draws the completions.
        prompt: One prompt for all groups, or several, of which P are drawn, without repetition if there are enough.
        config: Settings.
        generator: Source of randomness; each call advances it.

    Returns:
        B = P * G rows; the G rows of a prompt follow one another.
    """
    if not prompt:
        raise ValueError("there must be a prompt, and it must not be empty")
    if isinstance(prompt, str):
        chosen = [prompt] * config.prompts_per_step
    else:
        rounds = math.ceil(config.prompts_per_step / len(prompt))
        order = torch.cat([torch.randperm(len(prompt), generator=generator) for _ in range(rounds)])
        chosen = [prompt[place] for place in order[: config.prompts_per_step].tolist()]
    rows = [text for text in chosen for _ in range(config.group_size)]
    own: Callable[..., Completions] | None = getattr(policy, "sample", None)
    if own is not None:  # a language model of `run_llm` has a tokenizer of its own
        return own(rows, max_new_tokens=config.max_new_tokens, generator=generator)
    return sample(policy, rows, max_new_tokens=config.max_new_tokens, generator=generator, alphabet=config.alphabet)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write to. Only a complete file replaces the old one, so none is ever half written."""
    temporary = path.with_name(f".{path.name}.tmp")  # a fixed name, so that the next run overwrites a leftover
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def save_checkpoint(path: Path, policy: nn.Module, state: TrainingState, generator: torch.Generator) -> None:
    """Write the complete state of a run.

    Raises:
        OSError: the file cannot be written; the old one is kept.
    """
    document = {
        "policy": policy.state_dict(),
        "optimizer": state.optimizer.state_dict(),
        "generator": generator.get_state(),
        "history": state.history,
        "config": asdict(state.config),
    }
    try:
        with replacing(path) as temporary:
            torch.save(document, temporary)
    except RuntimeError as error:  # torch raises this if the disk is full
        raise OSError(f"cannot write {path}: is the disk full?") from error


def load_checkpoint(path: Path, policy: nn.Module, generator: torch.Generator) -> TrainingState:
    """Restore the policy and the generator, and return the state of the run.

    Raises:
        FileNotFoundError: the checkpoint does not exist.
        ValueError: the file is not a checkpoint of this policy.
    """
    device = next(policy.parameters()).device
    try:
        document: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
        policy.load_state_dict(document["policy"])
        config = CharLMConfig(**document["config"])
        optimizer = make_optimizer(policy, config)
        optimizer.load_state_dict(document["optimizer"])
        generator.set_state(document["generator"].cpu())
        return TrainingState(optimizer, config, document["history"])
    except FileNotFoundError:
        raise
    except Exception as error:  # torch raises half a dozen types for a file that it cannot read
        message = f"{path} is not a checkpoint of this policy, or is damaged: start again with --overwrite"
        raise ValueError(message) from error
