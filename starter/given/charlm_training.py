"""The frame of the training loop of the charlm exercise, all of it given code: settings, rollout, optimizer, state.

`TrainingState` is everything that a run has besides its policy: the optimizer, and one row of metrics per step. With
policy and random generator it can be written to a checkpoint and read back, and the run goes on as if it had never
stopped, to the last bit.

Left out on purpose: gradient accumulation, clipping of the gradient's norm, mixed precision.

Symbols: P prompts in a step, G completions of each (the group size), B = P * G rows, T tokens in a row.
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
"""Steps that the rolling mean of the reward looks back."""


@dataclass(frozen=True, kw_only=True)
class CharLMConfig:
    """Settings of a run.

    Attributes:
        group_size: Completions G of each prompt.
        prompts_per_step: Prompts P of a step; each is the prompt of one group.
        steps: Batches of P * G completions that are sampled, one after the other.
        inner_steps: Updates that are made with one batch.
        optimizer: "adam", or "sgd" without momentum.
        lr: Learning rate of the first step.
        final_lr: Learning rate of the last step as a share of the first one's; it falls evenly in between.
        clip_eps: Clip range of the importance ratio, as for `clipped_surrogate`.
        kl_coef: Weight of the KL penalty in the loss.
        ratio_level: "token" for one importance ratio for each token, "sequence" for one for each completion.
        loss_level: "sequence" or "token", as `level` for `masked_mean`.
        max_new_tokens: Tokens of a completion at most.
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
    """One batch to learn from. Everything in it is a constant.

    Attributes:
        tokens: Prompt and completion, filled up with EOS_ID after the end, int64, shape (B, T).
        prompt_length: Tokens of each prompt.
        old_logp: Log-probability of each token from the second on, under the policy that drew it, shape (B, T - 1).
        advantages: One for each completion, shape (B,).
    """

    tokens: Tensor
    prompt_length: int
    old_logp: Tensor
    advantages: Tensor


def make_optimizer(policy: nn.Module, config: CharLMConfig) -> torch.optim.Optimizer:
    """The optimizer that the settings ask for, over the parameters of a policy."""
    if config.optimizer == "sgd":
        return torch.optim.SGD(policy.parameters(), lr=config.lr)
    return torch.optim.Adam(policy.parameters(), lr=config.lr, fused=True)


@dataclass
class TrainingState:
    """How far a run has come.

    Attributes:
        optimizer: Of the policy; its learning rate is set here.
        config: Settings of the run.
        history: One row of metrics for each step that was made.
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
        """Write down a step, with what only the samples can tell.

        Args:
            completions: The batch of the step.
            rewards: One for each of its rows, shape (B,).
            advantages: One for each of its rows, shape (B,).
            metrics: What `train_step` returned for the last update with this batch.
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
                "zero_signal_fraction": (groups == groups[:, :1]).all(dim=-1).double().mean().item(),
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
        policy: Maps tokens (B, T) to logits (B, T, V). One that has a method `sample` is asked for its completions.
        prompt: The prompt of all groups; or several, of which P are drawn, each at most once while there are enough.
        config: Settings.
        generator: Source of randomness; each call moves it on.

    Returns:
        B = P * G rows; the G rows of a prompt stand one after the other.
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
    """A path to write to instead, so that a kill at any moment leaves the old file or the new one, never half."""
    temporary = path.with_name(f".{path.name}.tmp")  # always the same: what a kill leaves is written over next time
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def save_checkpoint(path: Path, policy: nn.Module, state: TrainingState, generator: torch.Generator) -> None:
    """Write down all that a run is.

    Raises:
        OSError: it cannot be written; the old file is there still.
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
    except RuntimeError as error:  # what torch makes of a full disk
        raise OSError(f"cannot write {path}: is the disk full?") from error


def load_checkpoint(path: Path, policy: nn.Module, generator: torch.Generator) -> TrainingState:
    """Put policy and generator back to where they were, and return the state of the run.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        ValueError: it is not a checkpoint of such a policy.
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
