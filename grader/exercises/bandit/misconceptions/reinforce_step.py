"""Wrong answers to `reinforce_step`, one per mistake.

The tool appends this file to the text of `reference/bandit.py`, binds `reinforce_step` to one of the functions below
and runs the result like a submission. That shows that the checks catch the mistake, it tells a student which mistake
their numbers show, and the docstrings become the page of common mistakes.
"""

# ruff: noqa: F821
# The names of the given code come from the module of the model answer, which stands before this text.

import torch
from torch import Tensor


def sums_over_the_group(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you sum over the group; this exercise takes the mean, so a larger group does not make a larger step

    With G samples the step is G times as long. The learning rate then means something else for every group size, and a
    comparison of group sizes compares learning rates.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((rewards - baseline) * logp).sum()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def goes_down_instead_of_up(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you move against the gradient (descent); the objective is maximized, so this exercise adds lr * gradient

    The policy learns to avoid what is rewarded. An optimizer minimizes a loss, which is the objective with a minus
    sign; by hand there is no minus sign anywhere.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((rewards - baseline) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() - config.lr * gradient


def normalises_by_the_group(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you use the group's advantages, as GRPO does; REINFORCE takes the rewards as they are, minus the baseline

    Then there is nothing left to compare with GRPO: equal rewards move nothing, and neither the size of the rewards nor
    the baseline matters. Both are what this function must show.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((group_advantages(rewards - baseline)) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def subtracts_the_mean_of_the_group(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you subtract the mean of the group; here only the baseline that is passed in is subtracted

    The mean of the group holds the sample's own reward, so on average the step is too short by the factor (G - 1) / G,
    and a group of one moves nothing. The baseline cancels out.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((rewards - baseline - (rewards - baseline).mean()) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def divides_by_the_spread(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you divide by the standard deviation of the group; REINFORCE takes the rewards in their own unit

    Half of GRPO's normalization. Equal rewards have no spread at all and are divided by the 1e-8 that was meant as a
    safety: one such group moves the logits by millions.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = (((rewards - baseline) / (rewards.std(correction=0) + 1e-8)) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def adds_the_baseline(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you add the baseline to the rewards; this exercise subtracts it

    On average a baseline changes nothing, whatever its sign, so training still works. But one with the wrong sign adds
    noise where the right one takes noise away.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((rewards + baseline) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def ignores_the_baseline(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you never use baseline; this exercise subtracts it from every reward

    Either it is not used, or it is subtracted after the product: in rewards * log pi - baseline it is a constant, whose
    gradient is 0. It belongs in the factor in front of log pi.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = (rewards * logp - baseline).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def takes_the_probability(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you weight the probability with the reward; this exercise takes the log-probability

    The gradient of pi(a) is pi(a) times that of log pi(a). The samples are drawn from pi already, so rare actions count
    too little twice over, and a good action that has become rare hardly ever comes back.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    probs = torch.softmax(logits, dim=-1)[actions]
    objective = ((rewards - baseline) * probs).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def drops_the_minus_pi(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you move only the logits of the drawn actions; the gradient of log pi(a) is 1 at a, minus pi everywhere

    With advantages that sum to 0, as in one update of GRPO, the minus pi cancel and nobody notices. With rewards they
    do not: while no reward is negative, logits only ever rise, and an action loses only by rising less than the others.
    """
    checked_group(logits, actions, rewards)
    weights = (rewards - baseline).to(logits.dtype) / actions.numel()
    gradient = torch.zeros_like(logits).index_add(0, actions, weights)
    return logits + config.lr * gradient


def forgets_repeated_actions(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you count an action once that was drawn several times; in this exercise every sample of the group counts

    `gradient[actions] += weights` writes to every place once, so of several samples of one action only one is left.
    `index_add`, `index_put` with accumulate, a loop over the samples, or autograd add them all up.
    """
    checked_group(logits, actions, rewards)
    weights = (rewards - baseline).to(logits.dtype) / actions.numel()
    gradient = -weights.sum() * torch.softmax(logits, dim=-1)
    gradient[actions] += weights
    return logits + config.lr * gradient


def divides_by_the_number_of_actions(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you divide by K, the number of actions; this exercise takes the mean over the G samples of the group

    The two agree when the group has as many samples as there are actions. It happens when the samples are summed up by
    action first and the mean is taken over the result.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((rewards - baseline) * logp).sum() / len(logits)
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def multiplies_the_means(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you multiply the mean reward by the mean log-probability; here each reward goes with its own action

    All actions of the group move together, the best as far as the worst: which action earned what is lost. The mean
    must be the last step.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = (rewards - baseline).to(logits.dtype).mean() * logp.mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def uses_the_group_several_times(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you make config.inner_steps updates; REINFORCE makes a single one with each group

    After the first update the samples are no longer drawn from the policy whose gradient they estimate. GRPO corrects
    that with the importance ratio and the clip; REINFORCE has neither.
    """
    checked_group(logits, actions, rewards)
    for _ in range(config.inner_steps):
        logits = logits.detach().clone().requires_grad_()
        logp = torch.log_softmax(logits, dim=-1)[actions]
        (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
        logits = logits.detach() + config.lr * gradient
    return logits


def counts_actions_from_one(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you take actions - 1 as the index; in code the actions are counted from 0 already

    Every reward goes to the neighbour on the left, and the reward of the first action to the last one, because -1 is
    the last place in Python. The bandit then settles on the wrong action, with the confidence of a right one.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions - 1]
    objective = ((rewards - baseline) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def hard_codes_the_learning_rate(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you always move with a learning rate of 0.5; this exercise reads config.lr

    0.5 is the default, so the default settings hide it. Every comparison of learning rates shows one curve several
    times.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((rewards - baseline) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + 0.5 * gradient


def renormalises_the_logits(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you return log-probabilities (log_softmax of the result); this exercise returns the logits as the step left them

    The policy is the same, but the sum of the logits is not kept, and actions that nobody drew seem to have moved.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((rewards - baseline) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return torch.log_softmax(logits.detach() + config.lr * gradient, dim=-1)


def changes_the_logits_in_place(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you change the argument logits in place; this exercise returns new logits and leaves every argument alone

    The result is right. But the record of a run holds the logits of every step: if the step changes them, all rows are
    the last policy, and the curves are flat.
    """
    checked_group(logits, actions, rewards)
    logits.requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    with torch.no_grad():
        logits += config.lr * gradient
    return logits.detach()


def returns_float64(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you return float64 whatever comes in; this exercise keeps the dtype of logits

    Computing in float64 inside does no harm, if the result is cast back. Otherwise the logits of a run change their
    dtype after the first step.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().double().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    objective = ((rewards - baseline) * logp).mean()
    (gradient,) = torch.autograd.grad(objective, logits)
    return logits.detach() + config.lr * gradient


def keeps_the_graph(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you return logits that still require a gradient; this exercise asks for plain numbers, detached from the update

    The numbers are right, but they hold on to everything that they were computed from. In a run each step hangs on to
    the one before, so memory grows with every step.
    """
    checked_group(logits, actions, rewards)
    logits = logits.clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]
    (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    return logits + config.lr * gradient


def takes_the_log_of_the_softmax(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you take the logarithm of the softmax; a probability that rounds to 0 has none, and log_softmax stays finite

    A trained policy is nearly certain, so probabilities round to 0 sooner or later. One sample of such an action, and
    all logits are NaN.
    """
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.softmax(logits, dim=-1).log()[actions]
    (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    return logits.detach() + config.lr * gradient
