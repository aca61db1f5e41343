# Replace each TODO and the `raise` below it, then run `grade`. Running this file tests nothing.
"""The relatives of GRPO: one small function for the piece that each method changes.

The pieces are the baseline (RLOO), the choice of groups (DAPO), the weight of a token (DAPO, Dr. GRPO), and three uses
of a probability ratio (GSPO, CISPO, truncated importance sampling). The options `clip_eps_high` (DAPO) and
`divide_by_std` (Dr. GRPO) of exercises 1 and 2 are the other two.

Sources: Ahmadian et al. 2024, arXiv:2402.14740 (RLOO); DAPO, arXiv:2503.14476, equation 8; Dr. GRPO, arXiv:2503.20783;
GSPO, arXiv:2507.18071, equation 7; MiniMax-M1, arXiv:2506.13585, section 3.1 (CISPO); Yao et al. 2025 (the sampler).
"""

import torch
from torch import Tensor

from .clip import importance_ratio


def leave_one_out_advantages(rewards: Tensor) -> Tensor:
    """RLOO: the reward of each sample minus the mean reward of the *other* samples of its group.

    Args:
        rewards: Shape (..., G), finite, else ValueError. A group of one has no others: its advantage is 0.

    Examples:
        >>> leave_one_out_advantages(torch.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([ 1.0000, -0.3333, -0.3333, -0.3333])
    """
    rewards = _checked_rewards(rewards)
    # TODO(variants): the advantages (about 3 lines)
    raise NotImplementedError("variants.leave_one_out_advantages is not written yet")


def groups_with_signal(rewards: Tensor) -> Tensor:
    """DAPO's dynamic sampling: which groups have rewards that are not all equal? The others are replaced by new ones.

    Arguments and ValueError are those of `leave_one_out_advantages`. The result is bool, of shape (...).

    Examples:
        >>> groups_with_signal(torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
        tensor([ True, False, False])
    """
    rewards = _checked_rewards(rewards)
    # TODO(variants): which groups to keep (about 1 line)
    raise NotImplementedError("variants.groups_with_signal is not written yet")


def token_weights(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Weight of each token in the loss, which is minus the sum of weight * surrogate.

    Args:
        mask: bool, shape (B, N), else ValueError. Other positions have weight 0; an empty row is one of the B, too.
        level: "sequence" (GRPO): each row has weight 1 / B, shared equally by its tokens. "token" (DAPO): all tokens
            weigh the same, 1 in total. "constant" (Dr. GRPO): each token has weight 1 / (B * max_tokens).
        max_tokens: Length limit of a completion, at least 1; required for "constant", ignored otherwise.

    Examples:
        >>> token_weights(torch.tensor([[True, False], [True, True]]), level="sequence")
        tensor([[0.5000, 0.0000],
                [0.2500, 0.2500]])
    """
    _check_weighing(mask, level, max_tokens)
    # TODO(variants): the weights at each level (about 6 lines)
    raise NotImplementedError("variants.token_weights is not written yet")


def sequence_ratio(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """GSPO: one importance ratio per completion, the `importance_ratio` of its mean log-probabilities, shape (B,).

    Args:
        logp: Log-probability of each token under the current policy, in nats, shape (B, N).
        old_logp: The same under the policy that drew the completions. A constant.
        mask: bool, shape (B, N), else ValueError: True at the tokens of the completion. An empty row has ratio 1.

    Examples:
        >>> logp = torch.tensor([[-1.0, -2.0], [-1.0, -2.0]])
        >>> sequence_ratio(logp, logp - torch.tensor([0.6, 0.2]), torch.tensor([[True, True], [True, False]]))
        tensor([1.4918, 1.8221])
    """
    if logp.ndim != 2 or not logp.shape == old_logp.shape == mask.shape:
        shapes = ", ".join(str(tuple(each.shape)) for each in (logp, old_logp, mask))
        raise ValueError(f"logp, old_logp and mask must have one shape (B, N), got {shapes}")
    # TODO(variants): one ratio per row (about 3 lines)
    raise NotImplementedError("variants.sequence_ratio is not written yet")


def cispo_objective(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """CISPO, maximized, elementwise: clip(ratio, 1 - clip_eps, 1 + clip_eps_high) * A * logp.

    The clipped ratio is a constant weight on the REINFORCE gradient: every token keeps its gradient, clipped or not.

    Args:
        logp: Log-probability of each token under the current policy, in nats, any shape.
        old_logp: The same under the policy that drew the tokens. A constant; another shape raises ValueError.
        advantages: Advantages A, in a shape that broadcasts to that of `logp`, else ValueError.
        clip_eps: How far below 1 the weight may go. 1 means no lower bound, as in the paper. Not negative.
        clip_eps_high: How far above 1 it may go. TRL's `epsilon_high` is the upper bound itself, 1 more. Not negative.

    Examples:
        >>> logp = torch.tensor([0.5, 0.5]).log()
        >>> cispo_objective(logp, torch.tensor([0.25, 0.05]).log(), torch.tensor(1.0))  # weights 2 and 5, not 10
        tensor([-1.3863, -3.4657])
    """
    _check_band(logp, old_logp, advantages, clip_eps, clip_eps_high)
    # TODO(variants): the objective (about 2 lines)
    raise NotImplementedError("variants.cispo_objective is not written yet")


def sampler_correction(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """Truncated importance sampling: min(exp(old_logp - sampler_logp), cap), a constant weight for each token.

    Sampler and trainer are two programs that compute slightly different probabilities for the same policy.

    Args:
        old_logp: Log-probability of each token under the policy that drew it, as the trainer computes it, any shape.
        sampler_logp: The same, as the sampler computed it. Another shape raises ValueError.
        cap: The largest weight, above 0, else ValueError.

    Examples:
        >>> sampler_correction(torch.tensor([0.5, 0.3, 0.9]).log(), torch.tensor([0.4, 0.6, 0.1]).log())
        tensor([1.2500, 0.5000, 2.0000])
    """
    if old_logp.shape != sampler_logp.shape:
        shapes = f"{tuple(old_logp.shape)} and {tuple(sampler_logp.shape)}"
        raise ValueError(f"old_logp and sampler_logp must have one shape, got {shapes}")
    if not cap > 0:
        raise ValueError(f"cap must be above 0, got {cap}")
    # TODO(variants): the weight (about 1 line)
    raise NotImplementedError("variants.sampler_correction is not written yet")


def _checked_rewards(rewards: Tensor) -> Tensor:
    """Given: the rewards as floats, or an error."""
    if rewards.ndim == 0 or rewards.numel() == 0:
        raise ValueError(f"rewards must have shape (..., G), G >= 1, with a group in it, got {tuple(rewards.shape)}")
    if not rewards.is_floating_point():
        rewards = rewards.to(torch.get_default_dtype())
    if not bool(torch.isfinite(rewards).all()):
        raise ValueError(f"rewards must be finite, got {rewards}")
    return rewards


def _check_weighing(mask: Tensor, level: str, max_tokens: int) -> None:
    """Given: an error if the arguments of `token_weights` are invalid."""
    if mask.ndim != 2 or len(mask) == 0:
        raise ValueError(f"mask must have shape (B, N) with B >= 1, got {tuple(mask.shape)}")
    if level not in ("sequence", "token", "constant"):
        raise ValueError(f"level must be 'sequence', 'token' or 'constant', got {level!r}")
    if level == "constant" and max_tokens < 1:
        raise ValueError(f"level 'constant' needs max_tokens of at least 1, got {max_tokens}")


def _check_band(logp: Tensor, old_logp: Tensor, advantages: Tensor, clip_eps: float, clip_eps_high: float) -> None:
    """Given: an error if the arguments of `cispo_objective` are invalid."""
    if logp.shape != old_logp.shape:
        raise ValueError(f"logp and old_logp must have one shape, got {tuple(logp.shape)} and {tuple(old_logp.shape)}")
    if clip_eps < 0 or clip_eps_high < 0:
        raise ValueError(f"clip_eps and clip_eps_high must not be negative, got {clip_eps} and {clip_eps_high}")
    try:
        advantages.expand(logp.shape)
    except RuntimeError:
        shapes = f"{tuple(advantages.shape)} do not broadcast to logp of shape {tuple(logp.shape)}"
        raise ValueError(f"advantages of shape {shapes}") from None
