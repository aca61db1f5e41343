"""The relatives of GRPO: one small function for the piece that each one changes.

Between 2024 and 2026 many methods changed one piece of GRPO and got a name for it. This module has six pieces: the
baseline (RLOO), the choice of groups (DAPO), the weight of a token in the loss (GRPO, DAPO, Dr. GRPO), and three uses
of a probability ratio (GSPO, CISPO, truncated importance sampling).

Left out on purpose: everything you have written already. DAPO's upper clip is `clipped_surrogate` with
`clip_eps_high=0.28`, Dr. GRPO's advantage is `group_advantages` with `divide_by_std=False`. Also left out: the penalty
for overlong completions (DAPO), per-token ratios with the value of the sequence's ratio (GSPO-token), and methods that
mask tokens instead of truncating their weights.

Symbols: P prompts, G samples per prompt (the group size), B rows (completions), N token positions of a row.

Sources: Ahmadian et al. 2024, Back to Basics, arXiv:2402.14740 (RLOO); Yu et al. 2025, DAPO, arXiv:2503.14476,
equation 8; Liu et al. 2025, Understanding R1-Zero-Like Training (Dr. GRPO), arXiv:2503.20783; Zheng et al. 2025, GSPO,
arXiv:2507.18071, equation 7; MiniMax 2025, MiniMax-M1 (CISPO), arXiv:2506.13585; Yao et al. 2025, Your Efficient RL
Framework Secretly Brings You Off-Policy RL Training (truncated importance sampling).
"""

import torch
from torch import Tensor

from .clip import importance_ratio


def leave_one_out_advantages(rewards: Tensor) -> Tensor:
    """RLOO: the reward of each sample minus the mean reward of the *other* samples of its group.

    Args:
        rewards: Shape (..., G) with G >= 1, in the task's own unit. The last axis is the group; all earlier axes are
            prompts. Integer and boolean rewards become the default float dtype.

    Returns:
        Shape (..., G), dtype and device of `rewards`, in the unit of the rewards. Up to rounding, each group has mean
        0. A group of one has no others to compare with: its advantage is 0. The result is undefined if a group's sum of
        rewards overflows the dtype.

    Raises:
        ValueError: `rewards` has no axis, is empty, or holds a NaN or an infinity.

    Source: Ahmadian et al. 2024, arXiv:2402.14740, the RLOO estimator.

    Examples:
        >>> leave_one_out_advantages(torch.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([ 1.0000, -0.3333, -0.3333, -0.3333])
    """
    rewards = _checked_rewards(rewards)
    ### BEGIN SOLUTION: the sum without the own reward, divided by how many others there are (about 3 lines)
    others = max(rewards.shape[-1] - 1, 1)
    baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others  # (..., G)
    return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    ### END SOLUTION


def groups_with_signal(rewards: Tensor) -> Tensor:
    """DAPO's dynamic sampling: keep the groups whose rewards are not all equal.

    DAPO samples more prompts until the batch is full of such groups.

    Args:
        rewards: Shape (..., G) with G >= 1, as for `leave_one_out_advantages`.

    Returns:
        bool, shape (...), device of `rewards`: True if at least two rewards of the group differ, by however little. A
        group of one is never kept.

    Raises:
        ValueError: `rewards` has no axis, is empty, or holds a NaN or an infinity.

    Source: Yu et al. 2025, arXiv:2503.14476, the constraint below equation 8. The paper has right and wrong answers
    only; "not all equal" means the same for them and also works for other rewards.

    Examples:
        >>> groups_with_signal(torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
        tensor([ True, False, False])
    """
    rewards = _checked_rewards(rewards)
    ### BEGIN SOLUTION: does any reward differ from the first one of its group? (about 1 line)
    return (rewards != rewards[..., :1]).any(dim=-1)
    ### END SOLUTION


def token_weights(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Weight of each token in the loss, which is minus the sum of weight * surrogate.

    Args:
        mask: bool, shape (B, N) with B >= 1. Only positions where it is True get a weight.
        level: "sequence" (GRPO): each completion has weight 1 / B, shared equally by its tokens. "token" (DAPO): all
            tokens of the batch have equal weight, 1 in total. "constant" (Dr. GRPO): each token has weight 1 / (B *
            max_tokens), however long the completions are.
        max_tokens: Required for "constant", ignored otherwise: the largest number of tokens a completion may have, at
            least 1. It is the same throughout a run, not the longest completion of the batch. 0 means not given.

    Returns:
        Shape (B, N), float32 or the default float dtype, on the device of `mask`. 0 where `mask` is False. A completion
        without tokens has weights of 0 and is still one of the B; an empty mask gives 0 everywhere, never NaN.

    Raises:
        ValueError: `mask` is not of shape (B, N), `level` is unknown, or `level` is "constant" and `max_tokens` is
            below 1.

    Sources: "sequence": DeepSeekMath, arXiv:2402.03300, equation 3; "token": DAPO, equation 8; "constant": Liu et al.
    2025, arXiv:2503.20783, whose code divides the sum of each row by a constant.

    Examples:
        >>> mask = torch.tensor([[True, False, False], [True, True, True]])
        >>> token_weights(mask, level="sequence")
        tensor([[0.5000, 0.0000, 0.0000],
                [0.1667, 0.1667, 0.1667]])
    """
    _check_weighing(mask, level, max_tokens)
    ### BEGIN SOLUTION: the mask as floats, over what the level says; counts are at least 1 (about 6 lines)
    kept = mask.to(torch.get_default_dtype())  # (B, N)
    if level == "sequence":
        return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    if level == "token":
        return kept / kept.sum().clamp(min=1)
    return kept / (len(kept) * max_tokens)
    ### END SOLUTION


def sequence_ratio(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """GSPO: one importance ratio per completion, the geometric mean of its tokens' ratios.

    Args:
        logp: Log-probability of each token under the current policy, in nats, shape (B, N) with B >= 1.
        old_logp: The same under the policy that drew the completions, same shape. A constant: it gets no gradient.
        mask: bool, shape (B, N); True at the tokens of the completion.

    Returns:
        Shape (B,), dtype and device of `logp` (if the two dtypes differ, either is right): `importance_ratio` of the
        mean log-probabilities over the unmasked tokens of each row. So the mean log-ratio is clamped to [-20, 20], not
        each token's log-ratio. The gradient with respect to `logp` of each of the n tokens of a row is ratio / n, and 0
        where the mean is clamped. Values at masked positions, even NaN, change neither value nor gradient. A completion
        without tokens has ratio 1 and no gradient.

    Raises:
        ValueError: the arguments do not have one shape (B, N).

    Source: Zheng et al. 2025, arXiv:2507.18071, equation 7.

    Examples:
        >>> logp = torch.tensor([[-1.0, -2.0], [-1.0, -2.0]])
        >>> sequence_ratio(logp, logp - torch.tensor([0.6, 0.2]), torch.tensor([[True, True], [True, False]]))
        tensor([1.4918, 1.8221])
    """
    if logp.ndim != 2 or not logp.shape == old_logp.shape == mask.shape:
        shapes = ", ".join(str(tuple(each.shape)) for each in (logp, old_logp, mask))
        raise ValueError(f"logp, old_logp and mask must have one shape (B, N), got {shapes}")
    ### BEGIN SOLUTION: zeros where masked, means over the tokens of each row, then the ratio of these (about 3 lines)
    length = mask.sum(dim=-1).clamp(min=1)  # (B,)
    means = [torch.where(mask, each, 0.0).sum(dim=-1) / length for each in (logp, old_logp)]  # (B,), (B,)
    return importance_ratio(*means)
    ### END SOLUTION


def cispo_objective(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """CISPO, elementwise: clip(ratio, 1 - clip_eps, 1 + clip_eps_high) * A * logp. An objective: it is maximized.

    The clipped ratio is a constant weight. The gradient flows through `logp` only: it is the REINFORCE gradient times
    the weight. So every token keeps its gradient, while PPO's clip removes it for some tokens.

    Args:
        logp: Log-probability of each token under the current policy, in nats, any shape.
        old_logp: The same under the policy that drew the tokens, same shape. A constant: it gets no gradient.
        advantages: Advantages A; must broadcast to the shape of `logp`.
        clip_eps: How far below 1 the weight may go. 1 or more means no lower bound, as in the paper.
        clip_eps_high: How far above 1 the weight may go.

    Returns:
        Shape, dtype and device of `logp` (if the dtypes differ, any of them is right). The ratio comes from
        `importance_ratio`. The gradient with respect to `logp` is the clipped ratio times A, whether or not the clip
        binds. A gradient may or may not reach `advantages`.

    Raises:
        ValueError: the shapes of `logp` and `old_logp` differ, `advantages` does not broadcast to them, or `clip_eps`
            or `clip_eps_high` is negative.

    Source: MiniMax 2025, arXiv:2506.13585, section 3.1, the objective of CISPO.

    Examples:
        >>> logp = torch.tensor([0.5, 0.5]).log()
        >>> cispo_objective(logp, torch.tensor([0.25, 0.05]).log(), torch.tensor(1.0))  # weights 2 and 5, not 10
        tensor([-1.3863, -3.4657])
    """
    _check_band(logp, old_logp, advantages, clip_eps, clip_eps_high)
    ### BEGIN SOLUTION: the clipped ratio as a constant, times the advantage, times logp (about 2 lines)
    weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    return weight * advantages * logp
    ### END SOLUTION


def sampler_correction(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """Truncated importance sampling: the weight of a token that was sampled by a different program than the trainer.

    Sampler and trainer have the same parameters but give a token slightly different probabilities, because they compute
    differently. The weight multiplies the token's surrogate. It is a second factor next to the importance ratio: the
    weight compares two programs, the importance ratio compares two policies.

    Args:
        old_logp: Log-probability of each token under the policy that drew it, as the trainer computes it, in nats, any
            shape.
        sampler_logp: The same, as the sampler computed it, same shape.
        cap: The largest weight, above 0.

    Returns:
        min(exp(old_logp - sampler_logp), cap), shape, dtype and device of `old_logp` (if the two dtypes differ, either
        is right). The difference is clamped to [-20, 20] before exp, as in `importance_ratio`. A constant, detached
        from the autograd graph: neither argument gets a gradient.

    Raises:
        ValueError: the two shapes differ, or `cap` is not above 0.

    Source: Yao et al. 2025, Your Efficient RL Framework Secretly Brings You Off-Policy RL Training.

    Examples:
        >>> sampler_correction(torch.tensor([0.5, 0.3, 0.9]).log(), torch.tensor([0.4, 0.6, 0.1]).log())
        tensor([1.2500, 0.5000, 2.0000])
    """
    if old_logp.shape != sampler_logp.shape:
        shapes = f"{tuple(old_logp.shape)} and {tuple(sampler_logp.shape)}"
        raise ValueError(f"old_logp and sampler_logp must have one shape, got {shapes}")
    if not cap > 0:
        raise ValueError(f"cap must be above 0, got {cap}")
    ### BEGIN SOLUTION: trainer over sampler, cut at the cap, as a constant (about 1 line)
    return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    ### END SOLUTION


def _checked_rewards(rewards: Tensor) -> Tensor:
    """Given code: reject invalid rewards and convert whole numbers to floats."""
    if rewards.ndim == 0 or rewards.numel() == 0:
        raise ValueError(f"rewards must have shape (..., G), G >= 1, with a group in it, got {tuple(rewards.shape)}")
    if not rewards.is_floating_point():
        rewards = rewards.to(torch.get_default_dtype())
    if not bool(torch.isfinite(rewards).all()):
        raise ValueError(f"rewards must be finite, got {rewards}")
    return rewards


def _check_weighing(mask: Tensor, level: str, max_tokens: int) -> None:
    """Given code."""
    if mask.ndim != 2 or len(mask) == 0:
        raise ValueError(f"mask must have shape (B, N) with B >= 1, got {tuple(mask.shape)}")
    if level not in ("sequence", "token", "constant"):
        raise ValueError(f"level must be 'sequence', 'token' or 'constant', got {level!r}")
    if level == "constant" and max_tokens < 1:
        raise ValueError(f"level 'constant' needs max_tokens of at least 1, got {max_tokens}")


def _check_band(logp: Tensor, old_logp: Tensor, advantages: Tensor, clip_eps: float, clip_eps_high: float) -> None:
    """Given code."""
    if logp.shape != old_logp.shape:
        raise ValueError(f"logp and old_logp must have one shape, got {tuple(logp.shape)} and {tuple(old_logp.shape)}")
    if clip_eps < 0 or clip_eps_high < 0:
        raise ValueError(f"clip_eps and clip_eps_high must not be negative, got {clip_eps} and {clip_eps_high}")
    try:
        advantages.expand(logp.shape)
    except RuntimeError:
        shapes = f"{tuple(advantages.shape)} do not broadcast to logp of shape {tuple(logp.shape)}"
        raise ValueError(f"advantages of shape {shapes}") from None
