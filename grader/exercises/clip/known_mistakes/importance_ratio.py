"""Wrong answers to `importance_ratio`, one per mistake, each as a change on the model answer."""

import math

import torch

USUAL = (
    "no_clamp", "leaves_a_constant_in_the_graph", "returns_log_ratio", "inverts_the_ratio", "product_over_last_axis",
    "exponentiates_the_quotient", "returns_the_mean_ratio", "returns_float32",
)  # fmt: skip

# What is computed.


def divides_log_probabilities():
    """you divide one log-probability by the other; the ratio is exp(logp - old_logp)

    A quotient of probabilities is a difference of logarithms. The quotient of two negative logarithms falls when the
    sample becomes more likely, so the gradient points the wrong way, and a certain old sample (log 1 = 0) gives an
    infinity.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    - return log_ratio.exp()
    + ratio = logp / old_logp.detach()
    + return ratio
    """


def exponentiates_the_quotient():
    """you take exp of logp divided by old_logp; the ratio is exp of their difference, logp - old_logp

    A quotient of probabilities is a difference of logarithms. Equal policies then give exp(1) = 2.7 instead of 1, and
    the number falls when the sample becomes more likely.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp / old_logp.detach()).clamp(-20.0, 20.0)
    """


def returns_log_ratio():
    """you stop at the log-ratio logp - old_logp; the ratio is its exponential

    Equal policies then give 0 instead of 1. With a band around 1, every sample looks as if the policy had moved
    away by 100 %, so the clip binds for every bad sample before the first update.
    """
    """
    - return log_ratio.exp()
    + return log_ratio
    """


def returns_ratio_minus_one():
    """you return the ratio minus 1, as expm1 does; equal policies have a ratio of 1, not 0

    The clip has a band around 1, so it takes every sample for one that became far less likely. Good samples still get a
    gradient, and bad ones are clipped before the first update.
    """
    """
    - return log_ratio.exp()
    + return log_ratio.expm1()
    """


def divides_probabilities():
    """you turn both log-probabilities into probabilities and divide; here you subtract first, then clamp and take exp

    On paper this is the same. In float32 a probability below e**-104 rounds to 0, which a whole sentence reaches
    easily, and 0 / 0 is NaN although the ratio itself may be close to 1.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    - return log_ratio.exp()
    + ratio = logp.exp() / old_logp.detach().exp()
    + return ratio
    """


def current_policy_as_old():
    """you divide by a detached copy of logp; divide by the probability under the policy that drew the samples

    The ratio is then always 1, so the clip never binds. This is a correct shortcut for the first update after sampling,
    when the two policies are equal; from the second update on it forgets how far the policy has moved.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp - logp.detach()).clamp(-20.0, 20.0)
    """


def product_over_last_axis():
    """you add up the log-ratios along the last axis; this function returns one ratio per element

    This is the ratio of whole sequences, which has one value per row. With hundreds of tokens the sum is far from 0, so
    nearly every sequence is outside the band. To get the sequence level, change the log-probabilities that you pass in,
    not this function.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp - old_logp.detach()).sum(dim=-1).clamp(-20.0, 20.0)
    """


def geometric_mean_over_last_axis():
    """you average the log-ratios along the last axis; every element has its own ratio

    This is the length-normalized sequence ratio of GSPO, spread over the tokens. Single tokens that moved far hide
    behind the average of their row, and the clip no longer sees them.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp - old_logp.detach()).mean(dim=-1, keepdim=True).expand_as(logp).clamp(-20.0, 20.0)
    """


def returns_the_mean_ratio():
    """you return the mean of all ratios; this function returns one ratio per element

    Every element needs its own ratio, because the clip decides for each of them. One average near 1 hides the elements
    that moved far.
    """
    """
    - return log_ratio.exp()
    + return log_ratio.exp().mean()
    """


# The clamp. A clamp from minus to plus infinity stands for none: as a smaller edit it fits together with more others.


def no_clamp():
    """you never clamp the log-ratio; here it is clamped to [-20, 20] before the exponential

    exp overflows float32 at 88.7. One token far from the old policy makes the ratio infinite; a mask hides the value,
    but the backward pass multiplies 0 by infinity and every weight of the model becomes NaN. Several libraries had
    this as a bug report before they added the clamp.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp - old_logp.detach()).clamp(-torch.inf, torch.inf)
    """


def clamps_from_above_only():
    """you clamp the log-ratio at 20 only; here it is clamped to [-20, 20], at both ends

    A token that became far less likely keeps a gradient that the clamp should have stopped, and its ratio falls to
    exactly 0, whose logarithm is minus infinity.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp - old_logp.detach()).clamp(max=20.0)
    """


def clamps_from_below_only():
    """you clamp the log-ratio at -20 only; here it is clamped to [-20, 20], at both ends

    The upper end prevents overflow: beyond 88.7, exp is infinite in float32, and 0 times infinity in the
    backward pass is NaN.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp - old_logp.detach()).clamp(min=-20.0)
    """


def clamps_after_exp():
    """you clamp the ratio after the exponential; here the log-ratio is clamped before it

    The value is right but the gradient is not: where exp has overflowed, the chain rule multiplies the 0 of the clamp
    by the infinity of exp, which is NaN. A loss that looks fine then destroys the model in one step.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    - return log_ratio.exp()
    + log_ratio = (logp - old_logp.detach()).clamp(-torch.inf, torch.inf)
    + return log_ratio.exp().clamp(math.exp(-20.0), math.exp(20.0))
    """


def clamps_the_ratio_at_twenty():
    """you clamp the ratio to [-20, 20], after the exponential; here the log-ratio is clamped, before it

    A ratio of 20 is a log-ratio of 3: everything beyond it has no gradient, and no ratio is negative. The limits of
    the log-ratio only prevent an overflow.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    - return log_ratio.exp()
    + log_ratio = (logp - old_logp.detach()).clamp(-torch.inf, torch.inf)
    + return log_ratio.exp().clamp(-20.0, 20.0)
    """


def clamps_each_log_probability():
    """you clamp logp and old_logp separately to -20 and above; here their difference is clamped

    Two samples below the limit then always have the ratio 1 and no gradient, however different the policies are. The
    log-probability of a whole answer is the sum over its tokens and often below -20.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp.clamp(min=-20.0) - old_logp.detach().clamp(min=-20.0)).clamp(-20.0, 20.0)
    """


def clamp_that_bites():
    """you clamp the log-ratio to [-5, 5]; this exercise clamps it to [-20, 20]

    The clamp should prevent an overflow, not limit the update, which is the task of the clipped surrogate. A bad
    sample that became e**8 times as likely must be punished in full, but beyond this clamp its gradient is 0.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp - old_logp.detach()).clamp(-5.0, 5.0)
    """


def clamps_at_ten():
    """you clamp the log-ratio to [-10, 10]; this exercise clamps it to [-20, 20]

    Several libraries clamp at 10. The clamp should prevent an overflow, not limit the update, which is the task of the
    clipped surrogate: beyond the clamp, even a bad sample that became far too likely has no gradient.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp - old_logp.detach()).clamp(-10.0, 10.0)
    """


def clips_the_ratio_already():
    """you clip the ratio to [0.8, 1.2]; this function returns the ratio itself, and clipped_surrogate clips it

    The surrogate needs the plain ratio as well as the clipped one. Without it, a bad sample that became likely has no
    gradient, and the clip fraction is always 0.
    """
    """
    - return log_ratio.exp()
    + return log_ratio.exp().clamp(0.8, 1.2)
    """


# The gradient and the dtype.


def detaches_the_wrong_policy():
    """you detach logp instead of old_logp; the current policy is trained, and the old one is a constant

    All values are right, but the gradient with respect to logp is 0, so the policy never learns. If old_logp comes from
    the same model, it is pushed in the opposite direction.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = (logp.detach() - old_logp).clamp(-20.0, 20.0)
    """


def half_precision_becomes_float32():
    """you widen float16 and bfloat16 to float32 and do not convert back; the ratio keeps the dtype of logp

    Widening is a good idea, because bfloat16 has less than three digits. Without converting back, everything computed
    from the ratio is float32, and mixing it with the bfloat16 tensors of the model costs memory or raises an error.
    """
    """
      log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + if log_ratio.dtype in (torch.float16, torch.bfloat16):
    +     log_ratio = log_ratio.float()
    """


def returns_float32():
    """you return float32 whatever comes in; the ratio keeps the dtype of logp

    A fixed `.float()` throws away the digits of float64 input and changes the dtype of everything computed from the
    ratio. Computing in a wider dtype is fine, as long as the result is converted back.
    """
    """
    - return log_ratio.exp()
    + return log_ratio.exp().float()
    """


def subtracts_in_place():
    """you write the log-ratio into logp with -=; inputs are never changed in place

    The caller's log-probabilities then hold log-ratios, so the KL term and the second inner step compute with
    wrong numbers. On a parameter PyTorch refuses the assignment.
    """
    """
    - log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    + log_ratio = logp.sub_(old_logp.detach()).clamp(-20.0, 20.0)
    """
