"""Wrong answers to `reinforce_step`, one per mistake."""

import torch
from torch import Tensor


def normalises_by_the_group():
    """you use the group's advantages, as GRPO does; REINFORCE takes the rewards as they are, minus the baseline

    Then there is nothing left to compare with GRPO: equal rewards move nothing, and neither the size of the rewards nor
    the baseline matters. Both are what this function must show.
    """
    """
    - (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    + (gradient,) = torch.autograd.grad(((group_advantages(rewards - baseline)) * logp).mean(), logits)
    """


def subtracts_the_mean_of_the_group():
    """you subtract the mean of the group; here only the baseline that is passed in is subtracted

    The mean of the group includes the sample's own reward, so on average the step is too short by the factor (G - 1) /
    G, and a group of one moves nothing. The baseline cancels out.
    """
    """
    - (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    + (gradient,) = torch.autograd.grad(((rewards - baseline - (rewards - baseline).mean()) * logp).mean(), logits)
    """


def divides_by_the_spread():
    """you divide by the standard deviation of the group; REINFORCE uses the rewards in their own unit

    This is half of GRPO's normalization. Equal rewards have no spread and are divided by the 1e-8 that was meant as a
    safety: one such group moves the logits by millions.
    """
    """
    - (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    + weights = (rewards - baseline) / (rewards.std(correction=0) + 1e-8)
    + (gradient,) = torch.autograd.grad((weights * logp).mean(), logits)
    """


def adds_the_baseline():
    """you add the baseline to the rewards; this exercise subtracts it

    On average a baseline changes nothing, whatever its sign, so training still works. But the wrong sign adds noise,
    and the right one removes it.
    """
    """
    - (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    + (gradient,) = torch.autograd.grad(((rewards + baseline) * logp).mean(), logits)
    """


def ignores_the_baseline():
    """you never use baseline; this exercise subtracts it from every reward

    Either it is not used, or it is subtracted after the product: in rewards * log pi - baseline it is a constant, whose
    gradient is 0. It belongs in the factor in front of log pi.
    """
    """
    - (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    + (gradient,) = torch.autograd.grad((rewards * logp - baseline).mean(), logits)
    """


def takes_the_probability():
    """you weight the probability with the reward; this exercise weights the log-probability

    The gradient of pi(a) is pi(a) times that of log pi(a). The samples are drawn from pi already, so rare actions count
    too little twice, and a good action that has become rare hardly ever comes back.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)[actions]
    + logp = torch.softmax(logits, dim=-1)[actions]
    """


def drops_the_minus_pi():
    """you move only the logits of the drawn actions; the gradient of log pi(a) is 1 at a, minus pi everywhere

    With advantages that sum to 0, as in one update of GRPO, the minus pi cancel and nobody notices. With rewards they
    do not: while no reward is negative, logits only ever rise, and an action loses only by rising less than the others.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)[actions]
    + logp = (logits - logits.detach().logsumexp(dim=-1))[actions]
    """


def forgets_repeated_actions(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """you count an action once that was drawn several times; in this exercise every sample of the group is used

    `gradient[actions] += weights` writes to every place once, so only one of several samples of an action counts.
    `index_add`, `index_put` with accumulate, a loop over the samples, or autograd add them all up.
    """
    weights = (rewards - baseline).to(logits.dtype) / actions.numel()
    gradient = -weights.sum() * torch.softmax(logits, dim=-1)
    gradient[actions] += weights
    return logits + config.lr * gradient


def divides_by_the_number_of_actions():
    """you divide by K, the number of actions; this exercise takes the mean over the G samples of the group

    The two agree when the group has as many samples as there are actions. It happens when the samples are summed up by
    action first and the mean is taken over the result.
    """
    """
    - (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    + (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).sum() / len(logits), logits)
    """


def multiplies_the_means():
    """you multiply the mean reward by the mean log-probability; here each reward goes with its own action

    All actions of the group move together, the best as far as the worst, because the products no longer say which
    action earned which reward. The mean must be the last step.
    """
    """
    - (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)
    + (gradient,) = torch.autograd.grad((rewards - baseline).to(logits.dtype).mean() * logp.mean(), logits)
    """


def uses_the_group_several_times():
    """you make config.inner_steps updates; REINFORCE makes a single one with each group

    After the first update the samples are no longer drawn from the policy whose gradient they estimate. GRPO corrects
    that with the importance ratio and the clip; REINFORCE has neither.
    """
    """
      logits = logits.detach().clone().requires_grad_()
    + if config.inner_steps > 1:
    +     one_less = BanditConfig(**{**vars(config), "inner_steps": config.inner_steps - 1})
    +     logits = reinforce_step(logits, actions, rewards, one_less, baseline=baseline).detach().requires_grad_()
      logp = torch.log_softmax(logits, dim=-1)[actions]
    """


def changes_the_logits_in_place():
    """you change the argument logits in place; this exercise returns new logits and leaves every argument alone

    The result is right. But the record of a run holds the logits of every step: if the step changes them, all rows are
    the last policy, and the curves are flat.
    """
    """
    - logits = logits.detach().clone().requires_grad_()
    + logits.requires_grad_()
    """
    """
    - return logits.detach() + config.lr * gradient
    + return logits.detach().add_(config.lr * gradient)
    """
