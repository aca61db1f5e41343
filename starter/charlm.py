# Replace each TODO and the `raise` below it, then run `grade`. Running this file tests nothing.
"""A language model trained with GRPO: the functions of the first three exercises, now on tokens.

Only the tokens of a completion enter the loss: not the prompt, and not the padding after the end. A batch has B rows of
T tokens, a vocabulary V tokens, a group G rows. In a tensor of shape (B, T - 1), position t belongs to token t + 1,
counted from 0, because nothing predicts the first token of a row.

Sources: DeepSeekMath, arXiv:2402.03300, equations 3, 4; GSPO, arXiv:2507.18071, equation 7; DAPO, arXiv:2503.14476.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .advantages import group_advantages
from .clip import clip_fraction, clipped_surrogate, importance_ratio
from .given.charlm_sampling import Completions
from .given.charlm_task import EOS_ID, RewardFunction
from .given.charlm_training import CharLMConfig, Rollout, TrainingState, make_optimizer, sample_completions
from .kl import kl_estimate


def token_logp(model: nn.Module, tokens: Tensor) -> Tensor:
    """Log-probability of each token given the tokens before it, shape (B, T - 1). In TRL: `per_token_logps`.

    Args:
        model: Maps tokens (B, T) to logits (B, T, V). The logits at position t predict token t + 1.
        tokens: int64, shape (B, T) with T >= 2, else ValueError.

    Examples:
        >>> from .given.charlm_model import BigramLM
        >>> model = BigramLM(torch.tensor([[0.0, 0.0], [0.0, 1.0]]))
        >>> token_logp(model, torch.tensor([[0, 1, 1, 0]]))
        tensor([[-0.6931, -0.3133, -1.3133]], grad_fn=<SqueezeBackward1>)
    """
    if tokens.ndim != 2 or tokens.shape[-1] < 2:
        raise ValueError(f"tokens must have shape (B, T) with T >= 2, got {tuple(tokens.shape)}")
    # TODO(charlm): the log-probabilities (about 4 lines)
    raise NotImplementedError("charlm.token_logp is not written yet")


def completion_mask(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """Which tokens did the policy write? The completion, up to and including its first end token. Shape (B, T - 1).

    Args:
        tokens: int64, shape (B, T) with T >= 2: prompt, completion and padding, which may repeat the end token.
        prompt_length: Prompt tokens in each row, from 1 to T, else ValueError. An end token among them is ignored.
        eos_id: The end token. A completion without one was cut off at the length limit and is marked to its end.

    Examples:
        >>> completion_mask(torch.tensor([[5, 6, 7, 0, 0, 0]]), prompt_length=2, eos_id=0)
        tensor([[False,  True,  True, False, False]])
    """
    if tokens.ndim != 2 or tokens.shape[-1] < 2:
        raise ValueError(f"tokens must have shape (B, T) with T >= 2, got {tuple(tokens.shape)}")
    if not 1 <= prompt_length <= tokens.shape[-1]:
        raise ValueError(f"prompt_length must be from 1 to {tokens.shape[-1]}, got {prompt_length}")
    # TODO(charlm): the mask (about 5 lines)
    raise NotImplementedError("charlm.completion_mask is not written yet")


def masked_mean(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """Mean of the values where the mask is True. What the other positions hold, even NaN, has no effect.

    Args:
        values: Shape (B, N) with B >= 1.
        mask: bool, shape (B, N), else ValueError. An empty mask gives 0.
        level: "sequence": the mean of each row (0 if it is empty), then of these B means. "token": the mean of
            all positions together. In TRL, `loss_type` is "grpo" or "dapo"; in verl, `loss_agg_mode` is
            "seq-mean-token-mean" or "token-mean". Another level raises ValueError.

    Examples:
        >>> values, mask = torch.tensor([[1.0, 0.0, 9.0], [3.0, 3.0, 3.0]]), torch.tensor([[1, 1, 0], [1, 1, 1]]).bool()
        >>> masked_mean(values, mask), masked_mean(values, mask, level="token")
        (tensor(1.7500), tensor(2.))
    """
    if values.ndim != 2 or values.shape != mask.shape:
        raise ValueError(f"values and mask must have one shape (B, N), got {tuple(values.shape)}, {tuple(mask.shape)}")
    if level not in ("sequence", "token"):
        raise ValueError(f"level must be 'sequence' or 'token', got {level!r}")
    # TODO(charlm): the mean at either level (about 6 lines)
    raise NotImplementedError("charlm.masked_mean is not written yet")


def grpo_loss(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """The GRPO loss, minimized: policy_loss + config.kl_coef * kl. Second result: a dict of detached metrics.

    policy_loss is minus the mean of the clipped surrogate, and kl is the mean of k3, both by `masked_mean` at
    `config.loss_level`. At `config.ratio_level` "token", each token has its own importance ratio. At "sequence", the
    tokens of a completion share one: the ratio of its mean log-probabilities (in TRL: `importance_sampling_level`). The
    metrics are "policy_loss", "kl" and "clip_fraction", over the unmasked positions.

    Args:
        logp: Log-probability of each token under the current policy, shape (B, T - 1). Only it gets a gradient.
        old_logp: The same under the policy that drew the completions.
        ref_logp: The same under the reference policy.
        advantages: One per completion, shape (B,). Shapes that do not fit together raise ValueError.
        mask: bool, shape (B, T - 1). Whatever masked positions hold, even NaN, has no effect.
        config: The loss uses `clip_eps`, `kl_coef` (in TRL: `beta`), `ratio_level` and `loss_level`.

    Examples:
        >>> logp, mask = torch.tensor([[-1.0, -1.0], [-2.0, -9.0]]), torch.tensor([[True, True], [True, False]])
        >>> loss, metrics = grpo_loss(logp, logp - 0.5, logp, torch.tensor([1.0, -1.0]), mask, CharLMConfig())
        >>> loss, metrics["clip_fraction"]  # the ratio is 1.65; the clip binds in the first row
        (tensor(0.2244), tensor(0.6667))
    """
    _check_shapes(logp, old_logp, ref_logp, advantages, mask)
    # TODO(charlm): the loss and its metrics (about 15 lines)
    raise NotImplementedError("charlm.grpo_loss is not written yet")


def train_step(
    policy: nn.Module, ref_policy: nn.Module, optimizer: torch.optim.Optimizer, rollout: Rollout, config: CharLMConfig
) -> dict[str, float]:
    """Update `policy` by one step of `optimizer`, with a batch that is already sampled. `ref_policy` stays as it is.

    Returns the metrics of the batch before the update as floats: "loss", and those of `grpo_loss`.
    """
    # TODO(charlm): one update (about 10 lines)
    raise NotImplementedError("charlm.train_step is not written yet")


def train(
    policy: nn.Module,
    ref_policy: nn.Module,
    prompt: str | Sequence[str],
    reward_fn: RewardFunction,
    config: CharLMConfig,
    *,
    generator: torch.Generator,
    state: TrainingState | None = None,
) -> list[dict[str, float]]:
    """Train a policy with GRPO, and return one row of metrics per step. `python -m starter.run_charlm` shows a run.

    Each step samples completions from the current policy, asks for their rewards, computes each group's advantages, and
    makes `config.inner_steps` updates (TRL: `num_iterations`), all with the log-probabilities of the policy that drew
    the completions as `old_logp`. Then `state.record` records the step, with the metrics of its last update.

    `reward_fn` maps the batch's prompts and completions to rewards of shape (B,), on the CPU. Call it once per step.
    All randomness comes from `generator`. `state` is a run to resume and is not graded.
    """
    state = state or TrainingState(make_optimizer(policy, config), config)
    for _ in range(state.steps_left):
        completions: Completions = sample_completions(policy, prompt, config, generator)  # B = P * G rows
        # TODO(charlm): one step, from the rewards to `state.record` (about 10 lines)
        raise NotImplementedError("charlm.train is not written yet")
    return state.history


def _check_shapes(logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor) -> None:
    """Given: an error if the arguments of `grpo_loss` do not fit together."""
    if logp.ndim != 2 or any(other.shape != logp.shape for other in (old_logp, ref_logp, mask)):
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (logp, old_logp, ref_logp, mask))
        raise ValueError(f"logp, old_logp, ref_logp and mask must have one shape (B, T - 1), got {shapes}")
    if advantages.shape != logp.shape[:1]:
        raise ValueError(f"advantages must have shape {tuple(logp.shape[:1])}, got {tuple(advantages.shape)}")
