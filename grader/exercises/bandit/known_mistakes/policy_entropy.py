"""Wrong answers to `policy_entropy`, one per mistake."""


def leaves_out_the_minus_sign():
    """you return the sum of pi * log pi, which is never positive; the entropy of this exercise is minus that sum

    Logarithms of probabilities are negative, so without the sign the curve of a run rises from -2.30 towards 0, and
    looks as if the policy became less and less certain.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return (logp.exp() * logp).sum(dim=-1)
    """


def returns_the_terms():
    """you return -pi * log pi for each action; the entropy is the sum of these terms, one number per policy

    The terms are right, but the shape (..., K) is that of the logits. The sum over the last axis is missing.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * logp)
    """


def treats_logits_as_probabilities():
    """you put the logits into p * log p; this exercise first turns them into probabilities with a softmax

    Logits may be negative, and the logarithm of a negative number is NaN. In the code of this course every name with
    logp or logits is a logarithm.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    + logp = logits.log()
    """


def takes_the_softmax_twice():
    """you take log_softmax of probabilities; it takes the logits as they are

    A softmax of probabilities is nearly uniform, because they are all between 0 and 1. So the entropy stays near ln K
    even when the policy is certain.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    + logp = torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1)
    """


def weights_with_the_logits():
    """you weight the logarithms with the logits; the weights are the probabilities pi

    A constant added to all logits changes no probability, but it changes these weights. softmax, or exp of log_softmax,
    gives the probabilities.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logits * logp).sum(dim=-1)
    """


def returns_the_surprise_at_the_best_action():
    """you return -log of the largest probability; the entropy is the mean of -log pi over all actions

    It is 0 for a certain policy and ln K for a uniform one, like the entropy, and differs in between.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -logp.amax(dim=-1)
    """


def sums_over_the_first_axis():
    """you sum over axis 0; this exercise sums over the last axis, the actions

    Right for shape (K,), where the first axis is the last one. With shape (steps + 1, K) the result has one number for
    each action, which is not the entropy of any policy.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * logp).sum(dim=0)
    """


def averages_the_entropies():
    """you return one mean over all policies; this exercise returns one entropy per policy, shape (...)

    The record of a run asks for all policies at once, shape (steps + 1, K), and gets one number instead of a curve.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * logp).sum(dim=-1).mean()
    """


def divides_by_the_largest_entropy():
    """you divide by ln K, so that the result lies between 0 and 1; this exercise asks for nats

    This is the relative entropy of plots that compare different numbers of actions. In nats exp(H) says between how
    many actions the policy is undecided, and ln K - H is the KL to the uniform policy; both are lost here.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * logp).sum(dim=-1) / torch.tensor(logits.shape[-1]).log()
    """


def returns_the_perplexity():
    """you return exp(H), the perplexity; this exercise asks for the entropy H itself

    The perplexity counts between how many actions the policy is undecided: 10 at the start, 1 at the end. The entropy
    is its logarithm, 2.30 at the start and 0 at the end.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return (-(logp.exp() * logp).sum(dim=-1)).exp()
    """


def returns_float64():
    """you return float64 whatever comes in; this exercise keeps the dtype of logits

    You may compute in float64 if you cast the result back. Otherwise the record of a run has two dtypes, and on devices
    without float64 the code fails.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * logp).sum(dim=-1).double()
    """


def returns_float32():
    """you return float32 whatever comes in; this exercise keeps the dtype of logits

    A fixed `.float()` throws away half of the digits of float64 logits.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * logp).sum(dim=-1).float()
    """


def returns_a_number():
    """you return a Python float; this exercise returns a tensor

    `.item()` works for a single policy only, and it cuts the graph.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * logp).sum(dim=-1).item()
    """


def adds_a_constant_inside_the_log():
    """you take log(softmax + 1e-6); this exercise takes log_softmax, which needs no such constant

    The constant hides the NaN and changes every value by about K * 1e-6; the entropy of a certain policy comes out
    negative. A smaller constant hides the error better and rounds to 0 in float16, where the NaN is back.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * (logp.exp() + 1e-6).log()).sum(dim=-1)
    """


def adds_1e_8_inside_the_log():
    """you take log(softmax + 1e-8); this exercise takes log_softmax, which needs no such constant

    The constant hides the NaN, and the entropy of a certain policy comes out slightly negative. In float16 the constant
    itself rounds to 0, and the NaN is back.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * (logp.exp() + 1e-8).log()).sum(dim=-1)
    """


def adds_a_smaller_constant_inside_the_log():
    """you take log(softmax + 1e-10); this exercise takes log_softmax, which needs no such constant

    Wherever a probability is far above the constant, the values agree. In float16 the constant rounds to 0, and where a
    probability rounds to 0, too, the NaN is back.
    """
    """
    - return -(logp.exp() * logp).sum(dim=-1)
    + return -(logp.exp() * (logp.exp() + 1e-10).log()).sum(dim=-1)
    """
