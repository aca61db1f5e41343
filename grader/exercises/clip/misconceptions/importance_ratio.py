"""Wrong answers to `importance_ratio`, one per mistake."""

import math

import torch
from torch import Tensor


def divides_log_probabilities(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you divide one log-probability by the other; the ratio is exp(logp - old_logp)

    A quotient of probabilities is a difference of logarithms. The quotient of two negative logarithms falls when the
    sample becomes more likely, so the gradient points the wrong way, and a certain old sample (log 1 = 0) gives an
    infinity. Three of 85 public solutions of one course did this, and so did the code of a lecture.
    """
    return logp / old_logp.detach()


def returns_log_ratio(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you stop at the log-ratio logp - old_logp; the ratio is its exponential

    Equal policies then give 0 instead of 1. With a band around 1, every sample looks as if the policy had moved
    away by 100 %, so the clip binds for every bad sample before the first update.
    """
    return (logp - old_logp.detach()).clamp(-20.0, 20.0)


def no_clamp(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you take exp(logp - old_logp) as it stands; here the log-ratio is clamped to [-20, 20] first

    exp overflows float32 at 88.7. One token far from the old policy makes the ratio infinite; a mask hides the value,
    but the backward pass multiplies 0 by infinity and every weight of the model becomes NaN. Several libraries had
    this as a bug report before they added the clamp.
    """
    return (logp - old_logp.detach()).exp()


def clamps_from_above_only(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you clamp the log-ratio at 20 only; here it is clamped to [-20, 20], at both ends

    A token that became far less likely keeps a gradient that the clamp should have stopped, and its ratio falls to
    exactly 0, whose logarithm is minus infinity.
    """
    return (logp - old_logp.detach()).clamp(max=20.0).exp()


def clamps_from_below_only(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you clamp the log-ratio at -20 only; here it is clamped to [-20, 20], at both ends

    The upper end prevents overflow: beyond 88.7, exp is infinite in float32, and 0 times infinity in the
    backward pass is NaN.
    """
    return (logp - old_logp.detach()).clamp(min=-20.0).exp()


def clamps_after_exp(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you clamp the ratio after the exponential; here the log-ratio is clamped before it

    The value is right but the gradient is not: where exp has overflowed, the chain rule multiplies the 0 of the clamp
    by the infinity of exp, which is NaN. A loss that looks fine then destroys the model in one step.
    """
    return (logp - old_logp.detach()).exp().clamp(math.exp(-20.0), math.exp(20.0))


def divides_probabilities(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you turn both log-probabilities into probabilities and divide; here you subtract first, then take exp

    On paper this is the same. In float32 a probability below e**-104 rounds to 0, which a whole sentence reaches
    easily, and 0 / 0 is NaN although the ratio itself may be close to 1.
    """
    return (logp.exp() / old_logp.detach().exp()).clamp(math.exp(-20.0), math.exp(20.0))


def clamps_each_log_probability(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you clamp logp and old_logp separately to -20 and above; here their difference is clamped

    Two samples below the limit then always have the ratio 1 and no gradient, however different the policies are. The
    log-probability of a whole answer is the sum over its tokens and often below -20.
    """
    return (logp.clamp(min=-20.0) - old_logp.detach().clamp(min=-20.0)).clamp(-20.0, 20.0).exp()


def clamp_that_bites(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you clamp the log-ratio to [-5, 5]; this exercise clamps it to [-20, 20]

    The clamp should prevent an overflow, not limit the update, which is the task of the clipped surrogate. A bad
    sample that became e**8 times as likely must be punished in full, but beyond this clamp its gradient is 0. Limits of
    5 and 10 are both found in public solutions.
    """
    return (logp - old_logp.detach()).clamp(-5.0, 5.0).exp()


def current_policy_as_old(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you divide by a detached copy of logp; divide by the probability under the policy that drew the samples

    The ratio is then always 1, so the clip never binds. This is a correct shortcut for the first update after sampling,
    when the two policies are equal; from the second update on it forgets how far the policy has moved.
    """
    return (logp - logp.detach()).clamp(-20.0, 20.0).exp()


def product_over_last_axis(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you add up the log-ratios along the last axis; this function returns one ratio per element

    This is the ratio of whole sequences, which has one value per row. With hundreds of tokens the sum is far from 0, so
    nearly every sequence is outside the band. To get the sequence level, change the log-probabilities that you pass in,
    not this function.
    """
    return (logp - old_logp.detach()).sum(dim=-1).clamp(-20.0, 20.0).exp()


def geometric_mean_over_last_axis(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you average the log-ratios along the last axis; every element has its own ratio

    This is the length-normalized sequence ratio of GSPO, spread over the tokens. Single tokens that moved far hide
    behind the average of their row, and the clip no longer sees them.
    """
    mean_log_ratio = (logp - old_logp.detach()).mean(dim=-1, keepdim=True)
    return mean_log_ratio.expand_as(logp).clamp(-20.0, 20.0).exp()


def half_precision_becomes_float32(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you widen float16 and bfloat16 to float32 and do not convert back; the ratio keeps the dtype of logp

    Widening is a good idea, because bfloat16 has less than three digits. Without converting back, everything computed
    from the ratio is float32, and mixing it with the bfloat16 tensors of the model costs memory or raises an error.
    """
    log_ratio = logp - old_logp.detach()
    if log_ratio.dtype in (torch.float16, torch.bfloat16):
        log_ratio = logp.float() - old_logp.detach().float()
    return log_ratio.clamp(-20.0, 20.0).exp()


def subtracts_in_place(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you write the log-ratio into logp with -=; inputs are never changed in place

    The caller's log-probabilities then hold log-ratios, so the KL term and the second inner step compute with
    wrong numbers. On a parameter PyTorch refuses the assignment. Four public solutions changed an input this way.
    """
    logp -= old_logp.detach()
    return logp.clamp(-20.0, 20.0).exp()


def returns_float32(logp: Tensor, old_logp: Tensor) -> Tensor:
    """you convert to float32 and return float32; the ratio keeps the dtype of logp

    A fixed `.float()` throws away the digits of float64 input and changes the dtype of everything computed from the
    ratio. Computing in a wider dtype is fine, as long as the result is converted back.
    """
    return (logp.float() - old_logp.detach().float()).clamp(-20.0, 20.0).exp()
