# Replace each TODO and the `raise` below it, then run `grade`. Running this file tests nothing.
"""KL divergence: how far has the policy moved from the reference policy?

The KL of ten actions is a short sum. A language model's KL is estimated from samples instead. k1, k2 and k3 estimate
the same value, but as a loss they have different gradients: the exercise's page compares them.

Sources: Schulman 2020, Approximating KL Divergence; DeepSeekMath, arXiv:2402.03300, equation 4 (k3).
"""

import torch
from torch import Tensor


def categorical_kl(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """Exact KL(pi || pi_ref) over the last axis, in nats: the sum over actions of pi * (log pi - log pi_ref).

    Args:
        logits: Unnormalized log-probabilities of the policy, shape (..., K), finite; the result has shape (...).
        ref_logits: The same for the reference policy. A constant. Other shapes or infinities raise ValueError.

    Examples:
        >>> categorical_kl(torch.tensor([0.5, 0.5]).log(), torch.tensor([0.25, 0.75]).log())
        tensor(0.1438)
    """
    _check_same_shape(logits, ref_logits, "logits", "ref_logits")
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits must have shape (..., K) with K >= 1, got {tuple(logits.shape)}")
    if not bool(torch.isfinite(logits).all() & torch.isfinite(ref_logits).all()):
        raise ValueError("logits and ref_logits must be finite")
    # TODO(kl): the exact KL (about 3 lines)
    raise NotImplementedError("kl.categorical_kl is not written yet")


def kl_estimate(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """Estimate KL(pi || pi_ref) from samples of pi, in nats: one value per sample, whose mean is the estimate.

    Args:
        logp: Log-probabilities of the samples under the policy, any shape.
        ref_logp: The same under the reference policy. A constant; another shape raises ValueError.
        kind: With x = ref_logp - logp, "k1" is -x, "k2" is x**2 / 2, and "k3", which GRPO uses, is exp(x) - 1 - x. Keep
            the digits of k3 near x = 0, where it is tiny. Any other kind raises ValueError.

    Examples:
        >>> kl_estimate(torch.tensor([0.5]).log(), torch.tensor([0.25]).log())
        tensor([0.1931])
    """
    _check_same_shape(logp, ref_logp, "logp", "ref_logp")
    if kind not in ("k1", "k2", "k3"):
        raise ValueError(f'kind must be "k1", "k2" or "k3", got {kind!r}')
    # TODO(kl): the three estimators (about 6 lines)
    raise NotImplementedError("kl.kl_estimate is not written yet")


def _check_same_shape(first: Tensor, second: Tensor, first_name: str, second_name: str) -> None:
    """Given: an error if two tensors have different shapes, instead of broadcasting them."""
    if first.shape != second.shape:
        raise ValueError(
            f"{first_name} and {second_name} must have one shape, got {tuple(first.shape)} and {tuple(second.shape)}"
        )
