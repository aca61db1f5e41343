"""Wrong answers to `grpo_step`, one per mistake."""

import torch
from torch import Tensor


def uses_the_rewards_as_they_are():
    """you weight the ratio with the rewards; GRPO weights it with the advantages of the group

    Then nonnegative rewards push nothing down, equal rewards move the policy, and a reward of 100 makes a
    step a hundred times as large as a reward of 1. With one update this is REINFORCE.
    """
    """
    - advantages = group_advantages(rewards)
    + advantages = rewards
    """


def does_not_subtract_the_mean():
    """you divide the rewards by their standard deviation and do not subtract the mean of the group first

    Equal rewards then move the policy, and violently: their spread is 0, so they are divided by the 1e-8 that was meant
    as a safety. And nonnegative rewards push nothing down.
    """
    """
    - advantages = group_advantages(rewards)
    + advantages = rewards / (rewards.std(correction=0) + 1e-8)
    """


def lets_equal_rewards_through():
    """you divide the rounding error of equal rewards by std + 1e-8; a group without signal has advantages of 0

    The mean of several 0.7s is not 0.7 in float32. Divided by 1e-8, the rounding error becomes an advantage of order 1.
    `group_advantages` sets such groups to exactly 0; your own formula must do it too.
    """
    """
    - advantages = group_advantages(rewards)
    + advantages = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-8)
    """


def takes_the_clip_range_as_std_eps():
    """you pass clip_eps to group_advantages as std_eps; the clip range belongs only to the ratio

    Papers write both as epsilon. std_eps only prevents a division by 0; with 0.2 instead, all advantages are too small,
    and the closer together the rewards of the group, the smaller they get.
    """
    """
    - advantages = group_advantages(rewards)
    + advantages = group_advantages(rewards, std_eps=config.clip_eps)
    """


def multiplies_by_the_log_probability():
    """you multiply the surrogate by the log-probability; the gradient of the ratio already contains that factor

    The gradient of the ratio is the ratio times the gradient of log pi. Multiplied again by log pi, a negative number,
    good samples are pushed down in proportion to how rare they are.
    """
    """
    + logp = torch.log_softmax(logits, dim=-1)[actions]
      ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = (surrogate * logp).mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    """


def drops_the_minus_pi():
    """you move only the logits of the drawn actions; the gradient of log pi(a) is 1 at a, minus pi everywhere

    In the first update this makes no difference, because the advantages of a group sum to 0 and the minus pi cancels.
    With ratios as weights, or once the clip binds for some samples, it does not cancel: later updates go wrong and the
    logits drift.
    """
    """
    - ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)
    + ratio = importance_ratio((logits - logits.detach().logsumexp(dim=-1))[actions], old_logp)
    """


def treats_logits_as_log_probabilities():
    """you use the logits as log-probabilities in the ratio; first normalize them with log_softmax

    The gradient then reaches only the logits of the drawn actions, and pushing one action up takes nothing from the
    others. In the first update the two agree, because the advantages of a group sum to 0.
    """
    """
    - old_logp = torch.log_softmax(logits, dim=-1)[actions]
    + old_logp = logits[actions]
    """
    """
    - ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)
    + ratio = importance_ratio(logits[actions], old_logp)
    """


def forgets_repeated_actions(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """you count an action once that was drawn several times; in this exercise every sample of the group is used

    `gradient[actions] += weights` writes to every place once, so only one of several samples of an action counts.
    `index_add`, `index_put` with accumulate, a loop over the samples, or autograd add them all up.
    """
    logits = logits.detach().clone()
    old_logp = torch.log_softmax(logits, dim=-1)[actions]
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        pi = torch.softmax(logits, dim=-1)
        ratio = importance_ratio(pi.log()[actions], old_logp)
        binds = torch.where(advantages > 0, ratio > 1 + config.clip_eps, ratio < 1 - config.clip_eps)
        weights = torch.where(binds, 0.0, ratio * advantages) / actions.numel()
        gradient = -weights.sum() * pi
        gradient[actions] += weights
        logits.requires_grad_()
        (kl_gradient,) = torch.autograd.grad(categorical_kl(logits, ref_logits), logits)
        logits = logits.detach() + config.lr * (gradient - config.kl_coef * kl_gradient)
    return logits


def makes_an_update_for_each_sample(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """you make an update after every sample; in this exercise an update is made with the mean of the whole group

    The second sample then meets a policy that the first one has moved, so the result depends on the order of the
    samples, which has no meaning in a group.
    """
    logits = logits.detach().clone()
    old_logp = torch.log_softmax(logits, dim=-1)
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        for action, advantage in zip(actions, advantages, strict=True):
            logits.requires_grad_()
            ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[action], old_logp[action])
            surrogate = clipped_surrogate(ratio, advantage, clip_eps=config.clip_eps)
            objective = surrogate - config.kl_coef * categorical_kl(logits, ref_logits)
            (gradient,) = torch.autograd.grad(objective / len(actions), logits)
            logits = logits.detach() + config.lr * gradient
    return logits


def refreshes_the_old_policy():
    """you refresh the old policy in every update, or leave the ratio out; the old policy is the one that drew the group

    The clip then never binds and the same samples keep pushing the policy. With one inner step the ratio is 1 anyway,
    and a whole run with several looks almost the same, so only an exact step shows it.
    """
    """
      logits.requires_grad_()
    + old_logp = torch.log_softmax(logits, dim=-1)[actions]
    """


def leaves_the_old_policy_in_the_graph():
    """you also let the gradient through the old log-probabilities, which cancels it; they are constants

    If both log-probabilities in exp(logp - old_logp) depend on the logits that are differentiated, their gradients
    cancel exactly. The objective has the right value and only the KL moves anything. `importance_ratio` with its
    arguments in the wrong order has the same effect, because it detaches the second one.
    """
    """
    - ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)
    + logp = torch.log_softmax(logits, dim=-1)[actions]
    + old_logp = torch.log_softmax(logits, dim=-1)[actions]
    + ratio = (logp - old_logp).exp()
    """


def takes_the_reference_as_the_old_policy():
    """you measure the ratio against the reference policy; the old policy is the one that drew the group: logits

    The ratio is then far from 1 before the first update, and the clip binds for samples that have not moved at all. In
    the first step of a run the two policies are the same.
    """
    """
    - old_logp = torch.log_softmax(logits, dim=-1)[actions]
    + old_logp = torch.log_softmax(ref_logits, dim=-1)[actions]
    """


def inverts_the_ratio():
    """you divide the old probability by the current one; the ratio is current over old

    At the start both are 1, but the slope has the opposite sign: good samples are pushed down and bad ones up. Mind the
    order of the arguments: `importance_ratio(logp, old_logp)`.
    """
    """
    - ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)
    + ratio = importance_ratio(-torch.log_softmax(logits, dim=-1)[actions], -old_logp)
    """


def forgets_the_clamp():
    """you compute the importance ratio without the clamp of the log-ratio to [-20, 20]

    A bad sample of an action that was almost impossible and became likely has a ratio beyond e^20, and one update with
    it ruins the policy. Beyond the clamp its gradient is 0, as in `importance_ratio`.
    """
    """
    - ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)  # (G,)
    + ratio = torch.exp(torch.log_softmax(logits, dim=-1)[actions] - old_logp)
    """


def passes_probabilities_to_the_ratio():
    """you pass probabilities to importance_ratio; it takes log-probabilities, because exp(log a - log b) is a / b

    exp of a difference of probabilities is 1 at the start like the ratio, so nothing looks wrong. Its slope is too
    small by the factor pi(a): rare actions hardly learn.
    """
    """
    - old_logp = torch.log_softmax(logits, dim=-1)[actions]
    + old_probs = torch.softmax(logits, dim=-1)[actions]
    """
    """
    - ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)
    + ratio = importance_ratio(torch.softmax(logits, dim=-1)[actions], old_probs)
    """


def adds_the_kl():
    """you add the KL to the objective; it is a penalty, so this exercise subtracts it from what is maximized

    The policy is then rewarded for moving away from the reference policy, and does so even without any reward. In a
    loss, which is minimized, the KL carries a plus sign.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = surrogate.mean() + config.kl_coef * categorical_kl(logits, ref_logits)
    """


def swaps_the_two_policies_of_the_kl():
    """you use KL(pi_ref || pi), weighted with pi_ref; this exercise asks for KL(pi || pi_ref), weighted with pi

    Its gradient is pi - pi_ref: it holds on to every action that the policy gives up. The direction asked for punishes
    the policy for taking actions that the reference avoids. Near the reference policy the two are nearly the same, so a
    short run does not show it.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + policy_logp, ref_logp = torch.log_softmax(logits, dim=-1), torch.log_softmax(ref_logits, dim=-1)
    + kl = (ref_logp.exp() * (ref_logp - policy_logp)).sum()
    + objective = surrogate.mean() - config.kl_coef * kl
    """


def ignores_the_kl():
    """you leave the KL out of the step, or its gradient; here the step climbs on minus kl_coef * KL(pi || pi_ref) too

    Either the term is missing, or it has no gradient: it is detached, `categorical_kl` got its arguments in the wrong
    order (it detaches the second one), or the reference is taken from the current logits in every update. The reference
    policy is ref_logits.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = surrogate.mean()
    """


def takes_the_old_policy_as_the_reference():
    """you measure the KL to the policy that drew the group; this exercise measures it to ref_logits

    The old policy moves along with every group, so it holds back a single step and not the run. In the first update the
    KL is 0 and has no effect. The reference policy stays where training began.
    """
    """
      logits = logits.detach().clone()
    + old_logits = logits.clone()
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, old_logits)
    """


def estimates_the_kl_with_k1():
    """you average logp - ref_logp over the group (k1); this exercise uses the exact KL over all actions

    The value is right on average, but as part of an objective its gradient averages to 0: the policy is not held back
    at all, but gets noise. With ten actions the exact sum costs nothing.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + log_ratio = torch.log_softmax(logits, dim=-1)[actions] - torch.log_softmax(ref_logits, dim=-1)[actions]
    + objective = surrogate.mean() - config.kl_coef * log_ratio.mean()
    """


def estimates_the_kl_with_k3():
    """you average k3 over the group, as for language models; this exercise uses the exact KL over all actions

    Language models have no choice: their completions cannot be listed. Ten actions can, and the exact KL does not
    depend on which of them were drawn. On average k3 has the gradient of the other direction, KL(pi_ref || pi).
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + log_ratio = torch.log_softmax(ref_logits, dim=-1)[actions] - torch.log_softmax(logits, dim=-1)[actions]
    + kl = (torch.expm1(log_ratio) - log_ratio).mean()
    + objective = surrogate.mean() - config.kl_coef * kl
    """


def puts_the_kl_into_the_rewards():
    """you subtract the KL from the rewards, as PPO for language models does; here it is subtracted from the objective

    A penalty in the rewards goes through the mean and the standard deviation of the group, so its weight depends on how
    far apart the rewards are. A group of equal rewards then learns from the penalty alone, at full strength however
    small kl_coef is.
    """
    """
    - advantages = group_advantages(rewards)
    + log_ratio = old_logp - torch.log_softmax(ref_logits, dim=-1)[actions]
    + advantages = group_advantages(rewards - config.kl_coef * log_ratio)
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = surrogate.mean()
    """


def divides_the_kl_by_the_group_size():
    """you divide the KL by G as well; this exercise divides only the sum of the surrogate

    The KL is one number for the whole policy, not one per sample. With eight samples the pull to the reference
    policy is eight times too weak, and weaker still for larger groups.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = (surrogate.sum() - config.kl_coef * categorical_kl(logits, ref_logits)) / len(actions)
    """


def skips_groups_without_signal():
    """you return early when all rewards are equal; if kl_coef is not 0, the KL still has to pull

    With kl_coef = 0 the shortcut is right. Otherwise the policy stays away from the reference exactly when nothing else
    holds it there, and late in a run most groups have equal rewards.
    """
    """
    + if (rewards == rewards[0]).all():
    +     return logits.detach().clone()
      logits = logits.detach().clone()
    """


def makes_one_update_only():
    """you make one update whatever config.inner_steps says; this exercise makes inner_steps of them with each group

    With one inner step this is right. With more, the ratio never leaves 1, so neither it nor the clip has any effect.
    """
    """
    - for _ in range(config.inner_steps):
    + for _ in range(1):
    """


def returns_the_logits_before_the_last_update():
    """you make inner_steps - 1 updates, or return the logits from before the last one; make all of them

    With one inner step nothing is learned at all.
    """
    """
    - for _ in range(config.inner_steps):
    + for _ in range(config.inner_steps - 1):
    """


def makes_at_least_one_update():
    """you make an update before looking at inner_steps; with inner_steps = 0 this exercise makes none

    It happens when the first update comes before the loop, because the ratio is 1 there. You need no special case: the
    same lines work for all updates.
    """
    """
    - for _ in range(config.inner_steps):
    + for _ in range(max(config.inner_steps, 1)):
    """


def uses_adam():
    """you let Adam make the updates; this exercise asks for plain gradient ascent with config.lr

    Adam divides the gradient by its own size, so the first update moves every logit that has a gradient by lr, however
    small the gradient is. It is a good choice for a language model, but here you should be able to follow the step by
    hand.
    """
    """
      logits = logits.detach().clone()
    + optimizer = torch.optim.Adam([logits], lr=config.lr, maximize=True)
    """
    """
    - (gradient,) = torch.autograd.grad(objective, logits)
    - logits = logits.detach() + config.lr * gradient
    + optimizer.zero_grad()
    + objective.backward()
    + optimizer.step()
    """
    """
    - return logits
    + return logits.detach()
    """


def lets_gradients_pile_up():
    """you never reset logits.grad, so every update adds all gradients before it; each update needs a new gradient

    `backward` adds to the existing gradient. The second update uses the first gradient again, the third uses it a third
    time, and the clip cannot stop it. Call `zero_grad`, or use `torch.autograd.grad`, which keeps nothing.
    """
    """
    + total = torch.zeros_like(logits)
      for _ in range(config.inner_steps):
    """
    """
      (gradient,) = torch.autograd.grad(objective, logits)
    - logits = logits.detach() + config.lr * gradient
    + total = total + gradient
    + logits = logits.detach() + config.lr * total
    """


def returns_logits_that_require_a_gradient():
    """you return logits with requires_grad; this exercise asks for plain numbers, detached from the update

    The numbers are right. The next step, or a record of the run, then builds a graph on them that nobody needs. Return
    `logits.detach()`.
    """
    """
    - return logits
    + return logits.requires_grad_()
    """


def changes_the_logits_in_place():
    """you change the argument logits in place; this exercise returns new logits and leaves every argument alone

    The result is right. But the record of a run holds the logits of every step: if the step changes them, all rows are
    the last policy, and the curves are flat.
    """
    """
    - logits = logits.detach().clone()
    """
    """
    - logits = logits.detach() + config.lr * gradient
    + logits = logits.detach().add_(config.lr * gradient)
    """


def leaves_kl_coef_out():
    """you subtract the KL without its coefficient; the objective subtracts config.kl_coef * KL

    With a coefficient of 1 the policy hardly leaves the reference, even where the config asks for no KL at all.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = surrogate.mean() - categorical_kl(logits, ref_logits)
    """


def averages_the_kl_over_the_actions():
    """you divide the KL by the number of actions; it is a sum over the actions, weighted with pi

    The weights pi already add up to 1. With ten actions the pull to the reference policy is ten times too weak.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits) / len(logits)
    """


def estimates_the_kl_with_k2():
    """you average half the squared log-ratio over the group (k2); this exercise uses the exact KL over all actions

    The estimate depends on which actions were drawn. Language models have no choice, because their completions cannot
    be listed; ten actions can.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + log_ratio = torch.log_softmax(logits, dim=-1)[actions] - torch.log_softmax(ref_logits, dim=-1)[actions]
    + objective = surrogate.mean() - config.kl_coef * log_ratio.square().mean() / 2
    """


def divides_by_the_number_of_actions():
    """you divide the sum of the surrogate by the number of actions K; the mean is over the group, so divide by G

    The shapes fit either way. A larger group then makes a larger step.
    """
    """
    - objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
    + objective = surrogate.sum() / len(logits) - config.kl_coef * categorical_kl(logits, ref_logits)
    """


def divides_the_learning_rate_by_the_updates():
    """you divide the learning rate by inner_steps; every update has the full config.lr

    All inner updates together are then about as long as a single one. The clip is there to limit how far they go.
    """
    """
    - logits = logits.detach() + config.lr * gradient
    + logits = logits.detach() + config.lr / config.inner_steps * gradient
    """


def makes_one_update_too_many():
    """you make inner_steps + 1 updates; this exercise makes inner_steps of them with each group

    It happens when one update comes before the loop or after it. With inner_steps = 0 the logits must not change.
    """
    """
    - for _ in range(config.inner_steps):
    + for _ in range(config.inner_steps + 1):
    """


def clips_the_norm_of_the_gradient():
    """you clip the norm of the gradient to 1; this exercise takes the gradient as it is

    It is a good habit for large models. Here a step is proportional to lr and kl_coef, which the clip of the norm
    prevents.
    """
    """
    - logits = logits.detach() + config.lr * gradient
    + logits = logits.detach() + config.lr * gradient / gradient.norm().clamp(min=1.0)
    """


def clips_only_above():
    """you clip the ratio only from above; clip it from below, too

    A bad sample that has already become rare is then pushed down further and further.
    """
    """
    - surrogate = clipped_surrogate(ratio, advantages, clip_eps=config.clip_eps)
    + surrogate = torch.minimum(ratio * advantages, ratio.clamp(max=1 + config.clip_eps) * advantages)
    """


def clips_the_product():
    """you clip ratio * A to the band around 1; clip the ratio, then multiply by A

    The band is around 1, where ratios are. A product with a negative advantage is never near 1 and loses its gradient.
    """
    """
    - surrogate = clipped_surrogate(ratio, advantages, clip_eps=config.clip_eps)
    + product = ratio * advantages
    + surrogate = torch.minimum(product, product.clamp(1 - config.clip_eps, 1 + config.clip_eps))
    """


def starts_from_the_reference():
    """you start from the reference policy; the step starts from logits, the policy that drew the group

    In the first step of a run the two are the same. Later every step throws away what the run has learned.
    """
    """
    - logits = logits.detach().clone()
    + logits = ref_logits.detach().clone()
    """


def normalises_the_updated_logits():
    """you normalize the logits after every update; this exercise leaves them as the gradient moved them

    The policy is the same, because a constant added to all logits changes no probability, but their sum is not.
    """
    """
    - logits = logits.detach() + config.lr * gradient
    + logits = torch.log_softmax(logits.detach() + config.lr * gradient, dim=-1)
    """
