# Written by "course dev stubs" from the model answer; replace each TODO.
"""Kullback-Leibler divergence: how far has the policy moved from the reference policy?

A bandit has ten actions, so its KL can be summed exactly. A language model has far too many completions for that, so
its KL is estimated from samples, with one of Schulman's three estimators.

Value and gradient are two questions. k1 and k3 have the right mean *value*. As a *loss* on fixed samples, k1 has an
expected gradient of zero, k2 has the gradient of KL(pi || pi_ref), and k3 has the gradient of KL(pi_ref || pi), the
other direction.

Left out on purpose: clamps on the estimate (several libraries clamp the log-ratio to 20), the importance-weighted k3.

Sources: Schulman 2020, Approximating KL Divergence; Shao et al. 2024, DeepSeekMath, arXiv:2402.03300, equation 4 (k3).

Symbols: K actions.
"""

import torch
from torch import Tensor


def categorical_kl(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """Exact KL(pi || pi_ref) of two categorical distributions over the last axis, in nats.

    Args:
        logits: Unnormalized log-probabilities of the policy, shape (..., K).
        ref_logits: The same for the reference policy, same shape. A constant: it gets no gradient.

    Returns:
        Shape (...), dtype and device of `logits` (if the two dtypes differ, either is right): the sum over actions of
        pi * (log pi - log pi_ref). Up to rounding (1e-9 in float64, 1e-5 in float32) it is 0 for equal distributions,
        positive for different ones, and unchanged when a constant is added to the logits. Its gradient with respect to
        logit a is pi(a) * (log pi(a) - log pi_ref(a) - KL), which is 0 for equal distributions. Value and gradient stay
        finite when a probability is so small that it rounds to 0.

    Raises:
        ValueError: the shapes differ, there is no action axis, or a logit is not finite.

    Examples:
        >>> categorical_kl(torch.tensor([0.5, 0.5]).log(), torch.tensor([0.25, 0.75]).log())
        tensor(0.1438)
    """
    _check_same_shape(logits, ref_logits, "logits", "ref_logits")
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits must have shape (..., K) with K >= 1, got {tuple(logits.shape)}")
    if not bool(torch.isfinite(logits).all() & torch.isfinite(ref_logits).all()):
        raise ValueError("logits and ref_logits must be finite")
    # TODO(kl): sum over the actions of pi * (log pi - log pi_ref) (about 3 lines)
    raise NotImplementedError("kl.categorical_kl is not written yet")


def kl_estimate(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """Estimate KL(pi || pi_ref) from samples of pi, one value per sample.

    With x = ref_logp - logp:  k1 = -x,  k2 = x**2 / 2,  k3 = exp(x) - 1 - x.

    Args:
        logp: Log-probabilities of the samples under the policy, in nats, any shape.
        ref_logp: Log-probabilities of the same samples under the reference policy, same shape. A constant: it gets no
            gradient.
        kind: "k1", "k2" or "k3".

    Returns:
        Shape, dtype and device of `logp` (if the two dtypes differ, either is right), elementwise; their mean estimates
        the KL. k2 and k3 are never negative. This holds for k3 in float32 too, although exp(x) - 1 - x, computed as
        written, loses all its digits near x = 0: for |x| up to 1, the error of k3 is at most 2 * eps * |x| + 1e-5 * k3,
        with eps = torch.finfo(dtype).eps. The gradient with respect to `logp` is 1 for k1, -x for k2 and 1 - exp(x) for
        k3.

    Raises:
        ValueError: the shapes differ or `kind` is unknown.

    Examples:
        >>> kl_estimate(torch.tensor([0.5]).log(), torch.tensor([0.25]).log())
        tensor([0.1931])
    """
    _check_same_shape(logp, ref_logp, "logp", "ref_logp")
    if kind not in ("k1", "k2", "k3"):
        raise ValueError(f'kind must be "k1", "k2" or "k3", got {kind!r}')
    # TODO(kl): the three estimators; expm1(x) is exp(x) - 1 without the rounding error (about 6 lines)
    raise NotImplementedError("kl.kl_estimate is not written yet")


def _check_same_shape(first: Tensor, second: Tensor, first_name: str, second_name: str) -> None:
    """Given code: reject tensors of different shapes instead of broadcasting them."""
    if first.shape != second.shape:
        raise ValueError(
            f"{first_name} and {second_name} must have one shape, got {tuple(first.shape)} and {tuple(second.shape)}"
        )
