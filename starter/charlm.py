# Written by "course dev stubs" from the model answer; replace each TODO.
"""A language model trained with GRPO: the functions of the first three exercises, now on tokens.

A completion is a row of tokens, and only its own tokens enter the loss: neither the prompt nor the padding after its
end. You have already written everything else: group-relative advantages, importance ratio, clipped surrogate and KL
penalty. An update computes gradients, so `train_step` and `train` are never called under torch.no_grad.

Left out on purpose: the model, the sampling, the rewards and the optimizer, which are given; a value network, which
GRPO does not need; training on several devices.

Symbols: B rows (completions with their prompts), T tokens in a row, V tokens in the vocabulary, G rows in a group. In a
tensor of shape (B, T - 1), position t belongs to token t + 1, counted from 0: the first token is never predicted.

Sources: Shao et al. 2024, DeepSeekMath, arXiv:2402.03300, equations 3 and 4; ratio of a whole sequence: Zheng et al.
2025, GSPO, arXiv:2507.18071, equation 7; mean over all tokens: Yu et al. 2025, DAPO, arXiv:2503.14476, equation 8.
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
    """Log-probability of each token under a model, from the second token on.

    Args:
        model: Maps tokens (B, T) to logits (B, T, V); the logits at position t predict token t + 1. Its mode, `train()`
            or `eval()`, does not change.
        tokens: int64, shape (B, T) with T >= 2.

    Returns:
        Natural logarithms, shape (B, T - 1), dtype and device of the logits: entry [b, t] is log pi(tokens[b, t + 1] |
        tokens[b, : t + 1]). Finite even for a token whose probability rounds to 0. Gradients reach the model's
        parameters: with respect to the logits that predict it, the gradient of an entry is 1 for its token minus pi.

    Raises:
        ValueError: `tokens` is not of shape (B, T) with T >= 2.

    Examples:
        >>> from .given.charlm_model import BigramLM
        >>> model = BigramLM(torch.tensor([[0.0, 0.0], [0.0, 1.0]]))
        >>> token_logp(model, torch.tensor([[0, 1, 1, 0]]))
        tensor([[-0.6931, -0.3133, -1.3133]], grad_fn=<SqueezeBackward1>)
    """
    if tokens.ndim != 2 or tokens.shape[-1] < 2:
        raise ValueError(f"tokens must have shape (B, T) with T >= 2, got {tuple(tokens.shape)}")
    # TODO(charlm): log-softmax over the vocabulary, predictions and tokens one apart, pick (about 4 lines)
    raise NotImplementedError("charlm.token_logp is not written yet")


def completion_mask(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """Mark the tokens that the policy sampled: the completion, up to and including its first end token.

    The end token is included, because the policy chose to stop there and must learn from that. Everything after it is
    padding, which may repeat the end token.

    Args:
        tokens: int64, shape (B, T) with T >= 2.
        prompt_length: Number of prompt tokens in each row, from 1 to T. An end token inside the prompt is ignored.
        eos_id: The end token. A completion without one was truncated, so all of its tokens are included.

    Returns:
        bool, shape (B, T - 1), device of `tokens`: entry [b, t] says whether tokens[b, t + 1] is included.

    Raises:
        ValueError: `tokens` is not of shape (B, T) with T >= 2, or `prompt_length` is not from 1 to T.

    Examples:
        >>> completion_mask(torch.tensor([[5, 6, 7, 0, 0, 0]]), prompt_length=2, eos_id=0)
        tensor([[False,  True,  True, False, False]])
    """
    if tokens.ndim != 2 or tokens.shape[-1] < 2:
        raise ValueError(f"tokens must have shape (B, T) with T >= 2, got {tuple(tokens.shape)}")
    if not 1 <= prompt_length <= tokens.shape[-1]:
        raise ValueError(f"prompt_length must be from 1 to {tokens.shape[-1]}, got {prompt_length}")
    # TODO(charlm): written by the policy, and no end among the completion's tokens before it (about 5 lines)
    raise NotImplementedError("charlm.completion_mask is not written yet")


def masked_mean(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """Mean of the values at unmasked positions.

    Args:
        values: Shape (B, N) with B >= 1. Values at masked positions, even NaN, change neither the mean nor its
            gradient. A NaN or an infinity at an unmasked position shows in the mean.
        mask: bool, shape (B, N). Only positions where it is True are included.
        level: "sequence": the mean of each row, then the mean of the B rows, so all completions have equal weight. A
            row without unmasked positions has mean 0 and is still one of the B rows. "token": the mean of all unmasked
            positions, so all tokens have equal weight and long completions weigh more.

    Returns:
        0-dim float, dtype of `values`, float32 or float64. 0 if the mask is empty, at either level; that 0 need not be
        attached to the autograd graph.

    Raises:
        ValueError: `values` and `mask` do not have one shape (B, N), or `level` is unknown.

    Sources: "sequence": DeepSeekMath, equation 3; "token": DAPO, equation 8.

    Examples:
        >>> values, mask = torch.tensor([[1.0, 0.0, 9.0], [3.0, 3.0, 3.0]]), torch.tensor([[1, 1, 0], [1, 1, 1]]).bool()
        >>> masked_mean(values, mask), masked_mean(values, mask, level="token")
        (tensor(1.7500), tensor(2.))
    """
    if values.ndim != 2 or values.shape != mask.shape:
        raise ValueError(f"values and mask must have one shape (B, N), got {tuple(values.shape)}, {tuple(mask.shape)}")
    if level not in ("sequence", "token"):
        raise ValueError(f"level must be 'sequence' or 'token', got {level!r}")
    # TODO(charlm): zeros where masked, then sums over counts that are at least 1 (about 6 lines)
    raise NotImplementedError("charlm.masked_mean is not written yet")


def grpo_loss(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """The GRPO loss of a batch. A loss: it is minimized.

    loss = policy_loss + config.kl_coef * kl, where

    - policy_loss is minus the mean of the clipped surrogate; all tokens of a completion have the same advantage;
    - kl is the mean of each token's k3 estimate (`kl_estimate`);
    - both means are `masked_mean` at `config.loss_level`;
    - at `config.ratio_level` "token", each token has its own importance ratio. At "sequence", each completion has one
      ratio, used at all of its positions: exp of the mean of logp - old_logp over its unmasked tokens. Both come from
      `importance_ratio`, which clamps the log-ratio (or its mean) to [-20, 20] before exp.

    Args:
        logp: Log-probability of each token under the current policy, in nats, shape (B, T - 1).
        old_logp: The same under the policy that drew the completions, same shape.
        ref_logp: The same under the reference policy, same shape.
        advantages: One per completion, shape (B,).
        mask: bool, shape (B, T - 1), from `completion_mask`.
        config: The loss uses `clip_eps`, `kl_coef`, `ratio_level` and `loss_level`.

    Returns:
        The loss, 0-dim, and a dict of detached 0-dim tensors: "policy_loss", "kl", and "clip_fraction", the fraction of
        unmasked positions where the clip binds. Gradients of the loss reach `logp` only. Masked positions change
        neither values nor gradients, which stay finite whatever the masked positions hold. A completion with an empty
        mask contributes 0; nothing is ever NaN.

    Raises:
        ValueError: the shapes do not match.

    Sources: DeepSeekMath, equations 3 and 4; ratio level "sequence": GSPO, equation 7.

    Examples:
        >>> logp, mask = torch.tensor([[-1.0, -1.0], [-2.0, -9.0]]), torch.tensor([[True, True], [True, False]])
        >>> loss, metrics = grpo_loss(logp, logp - 0.5, logp, torch.tensor([1.0, -1.0]), mask, CharLMConfig())
        >>> loss, metrics["clip_fraction"]  # the ratio is 1.65; the clip binds in the first row
        (tensor(0.2244), tensor(0.6667))
    """
    _refuse_shapes_that_do_not_fit(logp, old_logp, ref_logp, advantages, mask)
    # TODO(charlm): mask first, then ratio, surrogate, k3, two means, the loss and three metrics (about 15 lines)
    raise NotImplementedError("charlm.grpo_loss is not written yet")


def train_step(
    policy: nn.Module, ref_policy: nn.Module, optimizer: torch.optim.Optimizer, rollout: Rollout, config: CharLMConfig
) -> dict[str, float]:
    """Update the policy once with one batch. Nothing is sampled.

    Args:
        policy: Updated by one step of the optimizer.
        ref_policy: The KL is measured against it. Its parameters do not change and get no gradient. Calling its
            `eval()` or `requires_grad_(False)` is allowed; the mode of `policy` must not change.
        optimizer: Optimizer of the parameters of `policy`. Gradients left over from earlier steps must have no effect.
        rollout: The batch. It is not modified.
        config: As for `grpo_loss`.

    Returns:
        Metrics of the batch before the update, as floats: "loss" and the metrics of `grpo_loss`.
    """
    # TODO(charlm): log-probabilities of both policies, mask, loss; zero_grad, backward, step (about 10 lines)
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
    """Train a policy with GRPO.

    Each step samples a batch of completions from the current policy (`sample_completions`), asks for their rewards,
    computes the advantages of each group, and makes `config.inner_steps` updates with the batch (`train_step` with
    `state.optimizer`). In all of these updates, the old log-probabilities come from the policy that drew the batch.
    Then `state.record` records the step, with the metrics of its last update.

    Args:
        policy: Trained in place. Its mode, `train()` or `eval()`, does not change.
        ref_policy: The KL is measured against it, as in `train_step`.
        prompt: One prompt, or several that are used equally often.
        reward_fn: Called once per step with the prompts and the completions of its batch; returns shape (B,), on the
            CPU.
        config: Settings.
        generator: Source of randomness: the same generator state gives the same run, and a run advances it. Global
            random state is neither used nor changed.
        state: A run to resume, for the command `run_charlm`; None starts a new one. Not graded.

    Returns:
        One row of metrics per step of the run, as recorded by `TrainingState.record`.

    Examples:
        >>> from .given.charlm_model import BigramLM
        >>> from .given.charlm_sampling import make_generator
        >>> from .given.charlm_task import LetterReward
        >>> policy, ref_policy = BigramLM(torch.zeros(3, 3)), BigramLM(torch.zeros(3, 3))
        >>> config = CharLMConfig(alphabet=".ab", steps=20, lr=0.1, max_new_tokens=4)
        >>> history = train(policy, ref_policy, "a", LetterReward("b"), config, generator=make_generator(0))
        >>> history[0]["mean_reward"] < history[-1]["mean_reward"]
        True
    """
    state = state or TrainingState(make_optimizer(policy, config), config)
    for _ in range(state.steps_left):
        completions: Completions = sample_completions(policy, prompt, config, generator)  # B = P * G rows
        # TODO(charlm): rewards, advantages, old log-probabilities; train_step; state.record (about 10 lines)
        raise NotImplementedError("charlm.train is not written yet")
    return state.history


def _refuse_shapes_that_do_not_fit(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor
) -> None:
    """Given code."""
    if logp.ndim != 2 or any(other.shape != logp.shape for other in (old_logp, ref_logp, mask)):
        shapes = ", ".join(str(tuple(each.shape)) for each in (logp, old_logp, ref_logp, mask))
        raise ValueError(f"logp, old_logp, ref_logp and mask must have one shape (B, T - 1), got {shapes}")
    if advantages.shape != logp.shape[:1]:
        raise ValueError(f"advantages must have shape {tuple(logp.shape[:1])}, got {tuple(advantages.shape)}")
