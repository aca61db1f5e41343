"""Wrong answers to `kl_estimate`, one per mistake, nearly all as changes on the model answer."""

import math

import torch
from torch import Tensor


def reverses_the_ratio_in_k3():
    """you build k3 from logp - ref_logp; in this exercise x = ref_logp - logp, the log of pi_ref over pi

    It is still never negative and 0 for equal policies, so a plot does not reveal it. But its mean over samples of the
    policy is chi-squared minus KL: in one small example 76 where the KL is 3.8, hence reports of KL spikes. A
    well-known book prints it.
    """
    """
    - return torch.expm1(x) - x
    + x = -x
    + return torch.expm1(x) - x
    """


def subtracts_the_reference_from_the_policy():
    """you take x = logp - ref_logp for every kind; in this exercise x = ref_logp - logp, the log of pi_ref over pi

    k1 then has the wrong sign, and k3 is a different estimator: its mean over samples of the policy is chi-squared
    minus KL. k2 is a square and does not change.
    """
    """
    - x = ref_logp.detach() - logp
    + x = logp - ref_logp.detach()
    """


def forgets_the_minus_of_k1():
    """you return x for k1; in this exercise k1 is -x, that is logp - ref_logp

    The mean is then minus the KL. As a penalty in the reward, it rewards the policy for leaving the reference.
    """
    """
    - return -x
    + return x
    """


def takes_the_magnitude_for_k1():
    """you return the absolute value of x for k1; in this exercise k1 is -x and may be negative

    A KL is never negative, but a single sample of k1 is, wherever the reference likes the action more than the policy
    does. Those samples make the mean right; without their sign it is too large. One library offers this as an estimator
    of its own, under the name `abs`.
    """
    """
    - return -x
    + return x.abs()
    """


def forgets_the_half_of_k2():
    """you return x**2 for k2; in this exercise k2 is x**2 / 2

    Close to the reference the KL is half the mean of x**2. Without the half, value and gradient are doubled, as if
    kl_coef were twice as large.
    """
    """
    - return x.square() / 2
    + return x.square()
    """


def halves_before_squaring():
    """you square x / 2, which gives a quarter of x**2; in this exercise k2 is x**2 / 2, half of it

    Value and gradient are half of what they should be, as if kl_coef were half as large.
    """
    """
    - return x.square() / 2
    + return (x / 2).square()
    """


def leaves_out_the_minus_one():
    """you return exp(x) - x for k3; in this exercise k3 is exp(x) - 1 - x, which is 0 for equal policies

    Every value is too large by exactly 1, and the gradient is right. Training works, and the curve of the KL starts at
    1 instead of 0.
    """
    """
    - return torch.expm1(x) - x
    + return x.exp() - x
    """


def leaves_out_the_log_ratio():
    """you return exp(x) - 1 for k3; in this exercise k3 is exp(x) - 1 - x

    Over samples of the policy the mean of exp(x) - 1 is 0 whatever the two policies are, so the estimate says nothing.
    Single values turn negative.
    """
    """
    - return torch.expm1(x) - x
    + return torch.expm1(x)
    """


def negates_k3():
    """you return x + 1 - exp(x) for k3, with the sign turned round; in this exercise k3 is exp(x) - 1 - x

    k3 is never negative, and yours is never positive. Subtracted from the objective as a penalty, it rewards the policy
    for leaving the reference.
    """
    """
    - return torch.expm1(x) - x
    + return x - torch.expm1(x)
    """


def adds_the_log_ratio():
    """you return exp(x) - 1 + x for k3; in this exercise the log-ratio is subtracted: exp(x) - 1 - x

    exp(x) - 1 has mean 0 over samples of the policy, so the sign of x decides: with a plus the mean is minus the KL,
    and single values turn negative.
    """
    """
    - return torch.expm1(x) - x
    + return torch.expm1(x) + x
    """


def writes_exp_minus_one():
    """you write exp(x) - 1 - x, which rounds to a negative k3 near x = 0; this exercise needs expm1(x) - x

    exp(x) of a small x is 1 plus a remainder of which float32 keeps few digits, and subtracting 1 leaves only the
    rounding error. For tokens that policy and reference are nearly sure of, k3 is then noise and often negative: as low
    as -6e-8 in float32, and -4e-3 in bfloat16, a hundred times the size of the true value.
    """
    """
    - return torch.expm1(x) - x
    + return x.exp() - 1 - x
    """


def ignores_kind():
    """you return k3 whatever kind says; this exercise has three estimators to choose from

    The default hides it. A comparison of the estimators then shows three equal curves, although k1 as a loss does not
    move the policy at all.
    """
    """
    - if kind == "k1":
    -     return -x
    - if kind == "k2":
    -     return x.square() / 2
      return torch.expm1(x) - x
    """


def mixes_up_k2_and_k3():
    """you return k2 for "k3" and k3 for "k2"; in this exercise k2 is x**2 / 2 and k3 is exp(x) - 1 - x

    The two agree near x = 0, because x**2 / 2 is the first term of the series of exp(x) - 1 - x. Far from the reference
    they part: at x = 3 k2 is 4.5 and k3 is 16.1, and only k3 has the right mean.
    """
    """
    -     return x.square() / 2
    - return torch.expm1(x) - x
    +     return torch.expm1(x) - x
    + return x.square() / 2
    """


def clamps_the_log_ratio():
    """you clamp the log-ratio to [-5, 5]; this exercise has no clamp in kl_estimate

    Beyond the limit the value stands still and the gradient is 0, so the penalty lets go of exactly those samples that
    moved furthest. Libraries clamp only against overflow, at 20 or 40.
    """
    """
    - x = ref_logp.detach() - logp
    + x = (ref_logp.detach() - logp).clamp(-5.0, 5.0)
    """


def clamps_the_log_ratio_at_ten():
    """you clamp the log-ratio to [-10, 10]; this exercise has no clamp in kl_estimate

    Beyond the limit the value stands still and the gradient is 0, so the penalty lets go of exactly those samples that
    moved furthest.
    """
    """
    - x = ref_logp.detach() - logp
    + x = (ref_logp.detach() - logp).clamp(-10.0, 10.0)
    """


def clamps_the_log_ratio_at_twenty():
    """you clamp the log-ratio to [-20, 20]; this exercise has no clamp in kl_estimate

    Several libraries do it against overflow, and `importance_ratio` of this course does. Here an estimate that
    overflows must stay infinite: a finite number hides how far the policy is from the reference.
    """
    """
    - x = ref_logp.detach() - logp
    + x = (ref_logp.detach() - logp).clamp(-20.0, 20.0)
    """


def clamps_the_estimate():
    """you clamp the result to [-10, 10]; this exercise has no clamp in kl_estimate

    Two large libraries clamp like this, and in one of them the missing gradient beyond the limit was reported as a bug:
    a clamped value has gradient 0, so the samples with the largest KL stop being pulled back.
    """
    """
    - return -x
    + return (-x).clamp(-10.0, 10.0)
    """
    """
    - return x.square() / 2
    + return (x.square() / 2).clamp(-10.0, 10.0)
    """
    """
    - return torch.expm1(x) - x
    + return (torch.expm1(x) - x).clamp(-10.0, 10.0)
    """


def clamps_k3_from_above():
    """you clamp k3 at 10 from above; this exercise has no clamp in kl_estimate

    The estimate is then too small on average, because k3 gets its mean from few large values, and beyond the limit its
    gradient is 0: the samples that the reference likes far more than the policy stop being pulled back.
    """
    """
    - return torch.expm1(x) - x
    + return (torch.expm1(x) - x).clamp(max=10.0)
    """


def replaces_infinity():
    """you replace an infinite estimate by 0; an estimate that overflows must stay infinite

    `nan_to_num` and `where(isfinite)` hide the sample on which the two policies differ most, as if they agreed on it.
    An infinite KL says that something is wrong before the weights do.
    """
    """
    - return torch.expm1(x) - x
    + return torch.nan_to_num(torch.expm1(x) - x, posinf=0.0)
    """


def weights_by_probability_again():
    """you multiply by exp(logp); in this exercise the samples come from pi, so a plain mean already weights them

    The probability belongs in the exact sum over all actions. A sample of the policy already appears in proportion
    to its probability; multiplied again, rare samples hardly count, and for whole completions the result is almost 0.
    """
    """
    - return -x
    + return logp.exp() * -x
    """
    """
    - return x.square() / 2
    + return logp.exp() * x.square() / 2
    """
    """
    - return torch.expm1(x) - x
    + return logp.exp() * (torch.expm1(x) - x)
    """


def divides_log_probabilities():
    """you divide the log-probabilities; in this exercise the log of a ratio is a difference: ref_logp - logp

    ref_logp / logp is not pi_ref / pi: the less likely the policy makes a sample, the smaller the quotient, the wrong
    way round. It is NaN or infinite where a log-probability is 0, that is for a certain token.
    """
    """
    - x = ref_logp.detach() - logp
    + x = (ref_logp.detach() / logp).log()
    """


def takes_the_quotient_for_the_difference():
    """you divide ref_logp by logp to get x; in this exercise x is their difference, ref_logp - logp

    x is the logarithm of a ratio of probabilities, and the logarithm of a quotient is a difference. For equal policies
    your x is 1, so the estimate is not 0.
    """
    """
    - x = ref_logp.detach() - logp
    + x = ref_logp.detach() / logp
    """


def divides_probabilities():
    """you divide probabilities, which round to 0 / 0 for long samples; this exercise subtracts log-probabilities

    The log-probability of a whole completion is easily -200, and exp(-200) is 0 in float32. The ratio of two such
    numbers can be ordinary; only the difference of the logarithms can still see it.
    """
    """
    - x = ref_logp.detach() - logp
    + x = (ref_logp.detach().exp() / logp.exp()).log()
    """


def sums_over_the_last_axis():
    """you sum over the last axis; this exercise works element by element and keeps the shape of logp

    A sum over the tokens penalizes long completions more, and padding counts as if it were text. There is a sum over
    the last axis in `categorical_kl`, where that axis holds the actions; here it holds samples.
    """
    """
    - return -x
    + return (-x).sum(dim=-1)
    """
    """
    - return x.square() / 2
    + return (x.square() / 2).sum(dim=-1)
    """
    """
    - return torch.expm1(x) - x
    + return (torch.expm1(x) - x).sum(dim=-1)
    """


def averages_over_the_last_axis():
    """you average over the last axis; this exercise works element by element and keeps the shape of logp

    The loss has to leave out the padding first. After a mean over the last axis that is no longer possible.
    """
    """
    - return -x
    + return (-x).mean(dim=-1)
    """
    """
    - return x.square() / 2
    + return (x.square() / 2).mean(dim=-1)
    """
    """
    - return torch.expm1(x) - x
    + return (torch.expm1(x) - x).mean(dim=-1)
    """


def detaches_the_ratio_in_k3():
    """you detach exp(x) in k3, which leaves the gradient of k1; in this exercise the gradient of k3 is 1 - exp(x)

    The ratio is not a constant weight: it depends on logp. Without its part every sample has gradient 1, which averages
    to 0 over the policy: the value is right, but the penalty does nothing.
    """
    """
    - return torch.expm1(x) - x
    + return torch.expm1(x.detach()) - x
    """


def detaches_the_wrong_policy():
    """you detach logp instead of ref_logp; the policy is trained, and the reference is a constant

    The values are right, but the penalty pulls the reference toward the policy and never the policy toward the
    reference.
    """
    """
    - x = ref_logp.detach() - logp
    + x = ref_logp - logp.detach()
    """


def gives_k3_the_gradient_of_k2():
    """you give k3 the gradient of k2 (straight-through, or an importance weight); here k3 is differentiated as it is

    The trick is sound: it trades the gradient of KL(pi_ref || pi) for that of KL(pi || pi_ref), and one large library
    offers it under its own name. But it is a different estimator, and somebody who chooses k3 here wants to see what k3
    does as a loss.
    """
    """
    - return torch.expm1(x) - x
    + k2 = x.square() / 2
    + return k2 + (torch.expm1(x) - x - k2).detach()
    """


def computes_with_python_floats(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """you compute with python floats, which have no gradient; in this exercise gradient and dtype of logp are kept

    `item`, `tolist` and `float` leave autograd, and `torch.tensor` starts again in float32. Every number is right to
    seven digits and the penalty has no gradient.
    """
    values = []
    for own, ref in zip(logp.flatten().tolist(), ref_logp.flatten().tolist(), strict=True):
        x = ref - own
        values.append(-x if kind == "k1" else x * x / 2 if kind == "k2" else math.expm1(x) - x)
    return torch.tensor(values).reshape(logp.shape)


def overwrites_ref_logp():
    """you write into ref_logp, because detach() shares its memory; in this exercise inputs are never changed in place

    `detach` cuts the graph and copies nothing, so `x -= logp` changes the caller's tensor. The first update is right;
    when the same rollout is used again (inner_steps above 1), the reference is already the difference of the last call.
    """
    """
    - x = ref_logp.detach() - logp
    + x = ref_logp.detach()
    + x -= logp
    """
