"""Wrong answers to `grpo_loss`, one per mistake."""

# The signs of the two terms

USUAL = (
    "ignores_the_ratio_level", "ignores_the_loss_level", "takes_both_means_by_token", "uses_k1", "uses_k2",
    "multiplies_by_the_mask", "divides_by_0_when_nothing_counts", "does_not_clamp", "forgets_the_minus",
    "averages_over_masked_positions", "counts_masked_tokens_in_the_ratio", "turns_k3_round",
)  # fmt: skip


def forgets_the_minus():
    """you minimize the surrogate; it is an objective, so the policy loss is minus its mean

    Good completions become rarer with every update and bad ones more frequent. The mean reward of a run falls.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    + policy_loss = masked_mean(surrogate, mask, level=config.loss_level)
    """


def subtracts_the_kl():
    """you subtract the KL from the loss; it is a penalty, so it makes the loss larger

    The policy is then rewarded for moving away from the reference, without limit. The minus belongs in the formula of
    the objective, which is maximized.
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss - config.kl_coef * kl, metrics
    """


# The KL


def leaves_the_kl_out():
    """you leave the KL out of the loss; the loss is policy_loss + kl_coef * kl

    Nothing then holds the policy near the reference: it finds the one completion with the highest reward and forgets
    how to write anything else. The metric is right and shows it.
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss, metrics
    """


def leaves_kl_coef_out():
    """you add the KL without its coefficient; the loss is policy_loss + kl_coef * kl

    With 1 instead of 0.04 the policy hardly leaves the reference, and changing the setting changes nothing.
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss + kl, metrics
    """


def hard_codes_the_kl_coefficient():
    """you weight the KL with 0.04 whatever the config says; the coefficient is config.kl_coef

    0.04 is the default, so the default settings hide it. A run with another coefficient changes nothing.
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss + 0.04 * kl, metrics
    """


def weights_the_kl_with_the_advantages():
    """you multiply the KL by the advantages; only the ratio is multiplied by them

    A completion with a negative advantage then moves away from the reference, and nothing holds one with an advantage
    of 0. The KL is the same penalty for all.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3") * weights, mask, level=config.loss_level)
    """


def puts_the_kl_into_the_advantages():
    """you subtract the KL from the advantages, as PPO does from rewards; here it is a term of the loss

    Inside the surrogate, the KL is multiplied by the ratio, clipped, and constant for the gradient. GRPO moves it to
    the loss, so the advantages depend only on the rewards.
    """
    """
      weights = advantages.detach()[:, None].expand_as(logp)
    + weights = weights - config.kl_coef * kl_estimate(logp, ref_logp, kind="k3").detach()
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss, metrics
    """


def uses_k1():
    """you use k1, the plain difference of the log-probabilities; this loss uses k3

    Its mean is the KL, but as a term of a loss it pushes every token of a batch down equally: on average over samples
    its gradient is 0, so nothing holds the policy near the reference.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k1"), mask, level=config.loss_level)
    """


def uses_k2():
    """you use k2, half the square of the difference; this loss uses k3

    Near the reference the two agree. Far from it k3 grows exponentially for tokens that the reference finds likelier,
    and k2 only with the square. DeepSeekMath uses k3.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k2"), mask, level=config.loss_level)
    """


def clamps_the_kl():
    """you clamp k3 to [-10, 10]; this loss uses `kl_estimate` as it is

    verl and OpenRLHF clamp there. Where the clamp binds, the KL has no gradient: a token far from the reference is
    no longer pulled back.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3").clamp(-10.0, 10.0), mask, level=config.loss_level)
    """


def swaps_policy_and_reference_in_the_kl():
    """you call kl_estimate with the reference first; the policy comes first, its second argument is a constant

    k3 is not symmetric, so the value is for the other direction. And because the second argument is a constant, no
    gradient of the KL reaches the policy.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(ref_logp, logp, kind="k3"), mask, level=config.loss_level)
    """


def turns_k3_round():
    """you compute the KL from logp - ref_logp; the difference of k3 is ref_logp - logp

    The formula is exp(x) - x - 1 with x = ref_logp - logp. With the other sign of x it is never negative either, but
    its mean over samples of the policy is not the KL.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(-logp, -ref_logp, kind="k3"), mask, level=config.loss_level)
    """


def measures_the_kl_to_the_old_policy():
    """you measure the KL to the old policy; the KL is measured to the reference policy, ref_logp

    The old policy moves along with every batch, so it holds back a single update and not the run.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, old_logp, kind="k3"), mask, level=config.loss_level)
    """


def adds_the_kl_as_a_number():
    """you add the KL as a plain number, or detached; the loss also needs its gradient

    The loss shows the penalty, but it does not affect the policy. Detach the KL for the metrics, not in the loss.
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss + config.kl_coef * kl.detach(), metrics
    """


def averages_the_kl_over_all_positions():
    """you average the KL over all positions; include only unmasked positions

    The KL then looks smaller the more padding a batch has, and so does its pull to the reference.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), torch.ones_like(mask), level=config.loss_level)
    """


# The constants


def keeps_the_graph_of_the_old_policy():
    """you let a gradient through old_logp; the old policy is a constant

    If both log-probabilities come from the same forward pass, the two gradients cancel exactly, and the policy never
    learns. The value of the loss does not show it.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp, ref_logp.detach()))
    """
    """
    - ratio = importance_ratio(logp, old_logp)
    + ratio = importance_ratio(logp - old_logp, torch.zeros_like(logp))
    """
    """
    - ratio = importance_ratio(*means).expand_as(logp)
    + ratio = importance_ratio(means[0] - means[1], torch.zeros_like(means[0])).expand_as(logp)
    """


def keeps_the_graph_of_the_reference():
    """you let a gradient through ref_logp; the reference is a constant

    Updates then compute a gradient for a model that must stay as it is. If it shares weights with the policy, the KL
    pulls on both.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp))
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp - ref_logp, torch.zeros_like(logp), kind="k3"), mask, level=config.loss_level)
    """


def keeps_the_graph_of_the_advantages():
    """you let a gradient through the advantages; they are constants

    Advantages come from rewards, which nobody differentiates. If a model computed them, this loss would train that
    model to rate every completion of the batch as good.
    """
    """
    - weights = advantages.detach()[:, None].expand_as(logp)
    + weights = advantages[:, None].expand_as(logp)
    """


def detaches_the_policy():
    """you also detach logp; the gradient of the loss must reach logp, and only logp

    All numbers are right, but the policy never changes. Only the old policy, the reference and the advantages are
    constants.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + logp, old_logp, ref_logp = (
    +     torch.where(mask, x, 0.0) for x in (logp.detach(), old_logp.detach(), ref_logp.detach())
    + )
    """


# The ratio


def takes_the_current_policy_for_the_old_one():
    """you use logp itself, detached, as the old policy; old_logp is an argument

    The ratio is always 1 and the clip never binds. With one update per batch this happens to be right; with several,
    nothing limits how far they go.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, logp.detach(), ref_logp.detach()))
    """


def takes_the_reference_for_the_old_policy():
    """you compute the ratio to the reference; it is the ratio to old_logp

    The reference did not draw the completions. As the policy moves away from it, the ratios leave the band, and the
    clip stops the training. The reference belongs only in the KL.
    """
    """
    - ratio = importance_ratio(logp, old_logp)
    + ratio = importance_ratio(logp, ref_logp)
    """
    """
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, ref_logp)]
    """


def inverts_the_ratio():
    """you divide the old probability by the current one; the ratio is current over old

    At the start both are 1, but the slope has the opposite sign: good completions are pushed down and bad ones up.
    """
    """
    - ratio = importance_ratio(logp, old_logp)
    + ratio = importance_ratio(-logp, -old_logp)
    """
    """
    - ratio = importance_ratio(*means).expand_as(logp)
    + ratio = importance_ratio(*(-x for x in means)).expand_as(logp)
    """


def calls_importance_ratio_with_the_old_policy_first():
    """you call importance_ratio with the old policy first; the current one comes first, the second is a constant

    The ratio is then old over current. And because `importance_ratio` detaches its second argument, no gradient of the
    ratio reaches the policy.
    """
    """
    - ratio = importance_ratio(logp, old_logp)
    + ratio = importance_ratio(old_logp, logp)
    """
    """
    - ratio = importance_ratio(*means).expand_as(logp)
    + ratio = importance_ratio(*means[::-1]).expand_as(logp)
    """


def divides_the_logarithms():
    """you divide one log-probability by the other; the ratio is exp of their difference

    exp(log a - log b) is a / b. The quotient of the logarithms is above 1 where the current policy is less likely, so
    its gradient has the wrong sign.
    """
    """
    - ratio = importance_ratio(logp, old_logp)
    + ratio = logp / torch.where(mask, old_logp, 1.0)
    """
    """
    - ratio = importance_ratio(*means).expand_as(logp)
    + ratio = (means[0] / means[1]).expand_as(logp)
    """


def does_not_clamp():
    """you take exp of a log-ratio of any size; clamp it to [-20, 20] first, as `importance_ratio` does

    exp overflows float32 at 88.7. An infinite ratio makes the loss infinite or NaN, and one NaN destroys all weights.
    """
    """
    + def importance_ratio(logp, old_logp):
    +     return (logp - old_logp.detach()).exp()
      if config.ratio_level == "token":
    """


def clamps_at_10():
    """you clamp the log-ratio to [-10, 10]; this course clamps it to [-20, 20]

    Both keep exp finite. `importance_ratio` does it for you, with the limits that the exercise asks for.
    """
    """
    + def importance_ratio(logp, old_logp):
    +     return (logp - old_logp.detach()).clamp(-10.0, 10.0).exp()
      if config.ratio_level == "token":
    """


def ignores_the_ratio_level():
    """you use the ratio of each token even at ratio level "sequence"; there a completion has one ratio

    The setting has no effect: what you call GSPO is plain GRPO.
    """
    """
    - if config.ratio_level == "token":
    + if True:
    """


def always_uses_the_ratio_of_the_sequence():
    """you use one ratio per completion at both levels; at "token" each token has its own ratio

    The setting has no effect: what you call GRPO is GSPO, in which all tokens of a completion are clipped together.
    """
    """
    - if config.ratio_level == "token":
    + if False:
    """


def looks_at_the_loss_level_for_the_ratio():
    """you choose the ratio by config.loss_level; config.ratio_level is for the ratio, loss_level for the means

    The two settings are independent: GSPO, for example, has one ratio per completion and a mean by sequence.
    """
    """
    - if config.ratio_level == "token":
    + if config.loss_level == "token":
    """


def multiplies_the_ratios_of_a_sequence():
    """you use exp of the sum of the log-ratios, the product of all ratios; take their mean before exp

    The product is the true ratio of the whole text, but nearly always outside the band: twenty tokens with a ratio of
    1.05 give 2.65. The mean makes it independent of the length.
    """
    """
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [x.sum(dim=-1, keepdim=True) for x in (logp, old_logp)]
    """


def averages_the_ratios_of_a_sequence():
    """you take the mean of the ratios of a completion; the ratio is exp of the mean log-ratio

    The arithmetic mean is never smaller than the geometric one, and a single likely token dominates it. Take the
    mean of the logarithms first.
    """
    """
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    - ratio = importance_ratio(*means).expand_as(logp)
    + ratios = torch.where(mask, importance_ratio(logp, old_logp), 0.0)
    + ratio = (ratios.sum(dim=-1, keepdim=True) / length).expand_as(logp)
    """


def counts_masked_tokens_in_the_ratio():
    """you divide the log-ratio of a completion by the length of the row; include only unmasked tokens

    This moves the ratio of a short completion towards 1, and more so the longer the other completions of its batch are.
    """
    """
    - length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    + length = mask.shape[-1]
    """


def ignores_the_mask_in_the_sequence_ratio():
    """you average the log-ratio over the whole row, masked positions included; include only unmasked positions

    Prompt and padding then decide how far a completion has moved. Replace both log-probabilities by 0 where the mask
    is False, then divide their sums by the number of unmasked tokens.
    """
    """
    + unmasked_logp, unmasked_old_logp = logp, old_logp.detach()
      logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    """
    """
    - length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [x.mean(dim=-1, keepdim=True) for x in (unmasked_logp, unmasked_old_logp)]
    """


def takes_one_ratio_for_the_batch():
    """you use one ratio for the whole batch at ratio level "sequence"; there each completion has its own ratio

    A completion that became likelier then hides one that became less likely, and the clip binds for all of them or for
    none. Take the mean over the tokens of a row, dim=-1.
    """
    """
    - length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [x.sum() / mask.sum().clamp(min=1) for x in (logp, old_logp)]
    """


def clamps_each_token_of_a_sequence():
    """you clamp the log-ratio of each token at ratio level "sequence"; there the mean of the completion is clamped

    A token far from the old policy then counts as nearer than it is, and loses its gradient. `importance_ratio` clamps
    what it gets, so give it the means.
    """
    """
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + near = old_logp + (logp - old_logp).clamp(-20.0, 20.0)
    + means = [x.sum(dim=-1, keepdim=True) / length for x in (near, old_logp)]
    """


# The advantages


def spreads_the_advantages_along_the_tokens():
    """you multiply by advantages of shape (B,); they belong to rows, so they need the shape (B, 1)

    Torch aligns the last axes, so the second advantage multiplies the second token of every completion. This runs only
    if there are as many completions as tokens, and then without any error; otherwise the shapes do not fit.
    """
    """
    - weights = advantages.detach()[:, None].expand_as(logp)
    + weights = advantages.detach()
    """


def normalises_the_advantages_again():
    """you normalize the advantages over the batch; use them as they are

    `group_advantages` has already compared each completion with its own group. After normalizing again, over all
    groups, the scale depends on the rest of the batch, and groups without signal get a signal.
    """
    """
    + advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
      weights = advantages.detach()[:, None].expand_as(logp)
    """


# The clip; more of it in common_mistakes.toml


def clips_the_product():
    """you clip ratio * A to the band around 1; clip the ratio, then multiply by A

    The band is around 1, where ratios are. A product with a negative advantage is never near 1 and loses its gradient.
    """
    """
    - surrogate = clipped_surrogate(ratio, weights, clip_eps=config.clip_eps)
    + surrogate = torch.minimum(ratio * weights, (ratio * weights).clamp(1 - config.clip_eps, 1 + config.clip_eps))
    """


def clips_only_above():
    """you clip the ratio only from above; clip it from below, too

    A bad completion that has already become rare is then pushed down further and further.
    """
    """
    - surrogate = clipped_surrogate(ratio, weights, clip_eps=config.clip_eps)
    + surrogate = torch.minimum(ratio * weights, ratio.clamp(max=1 + config.clip_eps) * weights)
    """


def bounds_the_penalty_too():
    """you also bound the surrogate of bad tokens at 3 * A (dual clip); this loss has no such bound

    verl does this by default. Here a bad completion that became likely keeps its full penalty and its gradient.
    """
    """
      surrogate = clipped_surrogate(ratio, weights, clip_eps=config.clip_eps)
    + surrogate = torch.where(weights < 0, torch.maximum(surrogate, 3.0 * weights), surrogate)
    """


# The mask and the means


def masks_after_exp():
    """you mask only the results; mask the log-probabilities before exp, or junk reaches the gradient

    After the end of a completion, a log-ratio of 200 becomes infinite, and infinity * 0 is NaN: not in the value, which
    is masked, but in the gradient. One such token makes all weights NaN.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + logp, old_logp, ref_logp = (x for x in (logp, old_logp.detach(), ref_logp.detach()))
    """
    """
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [torch.where(mask, x, 0.0).sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    """


def multiplies_by_the_mask():
    """you multiply surrogate and KL by the mask; infinity * 0 is NaN, so junk at masked positions reaches the loss

    After the end of a completion, a log-ratio of 200 becomes infinite. Choose the log-probability or 0 with torch.where
    before exp; then nothing is infinite later.
    """
    """
    + def masked_mean(values, mask, *, level):
    +     if level == "token":
    +         return (values * mask).sum() / mask.sum().clamp(min=1)
    +     return ((values * mask).sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)).mean()
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + logp, old_logp, ref_logp = (x for x in (logp, old_logp.detach(), ref_logp.detach()))
    """
    """
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [(x * mask).sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    """


def multiplies_the_log_probabilities_by_the_mask():
    """you multiply the log-probabilities by the mask; NaN * 0 and infinity * 0 are NaN, so junk reaches the loss

    The place is right, before exp. torch.where chooses the value or 0, whatever the masked positions hold.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + logp, old_logp, ref_logp = (x * mask for x in (logp, old_logp.detach(), ref_logp.detach()))
    """


def divides_by_0_when_nothing_counts():
    """you divide 0 by 0 where the mask or a row of it is empty, which gives NaN; the loss of no tokens is 0

    It happens when a policy ends an answer at once. One completion without tokens makes the whole loss NaN, and after
    one update all weights. `masked_mean` handles this case.
    """
    """
    + def unguarded_mean(values, mask, *, level):
    +     if level == "token":
    +         return (values * mask).sum() / mask.sum()
    +     return ((values * mask).sum(dim=-1) / mask.sum(dim=-1)).mean()
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -unguarded_mean(surrogate, mask, level=config.loss_level)
    + kl = unguarded_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    """


def averages_over_masked_positions():
    """you take plain means, which include prompt and padding; include only unmasked positions

    At masked positions the ratio is 1 and the surrogate is A, so the loss depends on the amount of padding, and
    every gradient is too small.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, torch.ones_like(mask), level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), torch.ones_like(mask), level=config.loss_level)
    """


def divides_by_all_positions():
    """you sum over unmasked positions and divide by the number of all positions; divide by the unmasked ones

    Zeros at masked positions are right for the sum. With them in the count, loss and gradient shrink when one
    completion of the batch is long, because the others are padded to its length.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -(surrogate * mask).mean()
    + kl = (kl_estimate(logp, ref_logp, kind="k3") * mask).mean()
    """


def sums_over_all_tokens():
    """you sum over all unmasked positions; the loss takes two means

    The loss then grows with the number and the length of the completions, and so does the step.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -(surrogate * mask).sum()
    + kl = (kl_estimate(logp, ref_logp, kind="k3") * mask).sum()
    """


def sums_over_each_completion():
    """you sum over the tokens of each completion before the mean over the rows; both levels divide by numbers of tokens

    A completion of twice the length then has twice the weight. Dr. GRPO does this on purpose, with a constant instead
    of the length.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -(surrogate * mask).sum(dim=-1).mean()
    + kl = (kl_estimate(logp, ref_logp, kind="k3") * mask).sum(dim=-1).mean()
    """


def ignores_the_loss_level():
    """you take both means by sequence whatever config.loss_level says; at "token" all tokens have equal weight

    The setting has no effect: long completions never weigh more than short ones, whatever the config says.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, mask, level="sequence")
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level="sequence")
    """


def takes_both_means_by_token():
    """you average over all tokens whatever config.loss_level says; at "sequence" all completions have equal weight

    The setting has no effect: a long completion always weighs more than a short one. Take the mean of each row first,
    then the mean of the rows.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, mask, level="token")
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level="token")
    """


def passes_the_loss_level_for_the_policy_loss_only():
    """you take the mean of the KL by sequence whatever config.loss_level says; the level applies to both means

    The two parts of the loss then weight the same token differently, and kl_coef means something different for each
    length.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level="sequence")
    """


def takes_the_kl_by_token():
    """you average the KL over all tokens whatever config.loss_level says; the level applies to both means

    The two parts of the loss then weight the same token differently, and kl_coef means something different for each
    length.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level="token")
    """


def passes_the_loss_level_for_the_kl_only():
    """you take the mean of the surrogate by sequence whatever config.loss_level says; the level applies to both means

    The setting then changes only the penalty. At "token", the surrogates of all tokens have equal weight.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, mask, level="sequence")
    """


def takes_the_policy_loss_by_token():
    """you average the surrogate over all tokens whatever config.loss_level says; the level applies to both means

    At "sequence" every completion has equal weight: take the mean of each row first, then the mean of the rows.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, mask, level="token")
    """


def uses_the_ratio_level_for_the_means():
    """you take the means at config.ratio_level; that is for the ratio, config.loss_level for the means

    The two settings are independent: GSPO, for example, has one ratio per completion and a mean by sequence.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, mask, level=config.ratio_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.ratio_level)
    """


# The metrics


def counts_outside_the_band():
    """you count every ratio outside the band in clip_fraction; the clip binds only where it removes the gradient

    A bad completion above the band keeps its full gradient, and so does a good one below it. With advantages of both
    signs the count is about twice too high.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), (ratio - 1).sign(), clip_eps=config.clip_eps, mask=mask)
    """


def counts_advantages_of_0():
    """you count tokens with an advantage of 0 in clip_fraction; they have no gradient that the clip could remove

    The clip binds above the band for A > 0 and below it for A < 0. A group without signal has A = 0 everywhere.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), torch.where(weights > 0, 1.0, -1.0), clip_eps=config.clip_eps, mask=mask)
    """


def counts_where_the_clip_does_not_bind():
    """you count A < 0 above the band and A > 0 below it in clip_fraction; there the clip does not bind

    The clip binds where it removes the reward for moving further: above the band for A > 0, below it for A < 0.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), -weights, clip_eps=config.clip_eps, mask=mask)
    """


def uses_the_default_clip_range_in_clip_fraction():
    """you count with a clip range of 0.2 in clip_fraction; the clip range is config.clip_eps

    0.2 is the default, so the default settings hide it. With another range the metric describes a different clip.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), weights, mask=mask)
    """


def counts_masked_positions_in_clip_fraction():
    """you count masked positions in clip_fraction; it is the share of unmasked positions

    The more padding a batch has, the smaller the share looks, and it changes with the longest completion.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps)
    """


def divides_clip_fraction_by_all_positions():
    """you count unmasked positions in clip_fraction, but divide by all; divide by the number of unmasked ones

    The more padding a batch has, the smaller the share looks. `.float().mean()` divides by masked positions, too.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask) * mask.to(logp.dtype).mean()
    """


def averages_clip_fraction_by_sequence():
    """you take clip_fraction as the mean of the shares of the rows; all unmasked positions have the same weight

    The levels of the config apply to the ratio and the loss. A share of positions counts all of them.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + rows = zip(ratio, weights, mask)
    + shares = [
    +     clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask) for ratio, weights, mask in rows
    + ]
    + binding = torch.stack(shares).mean()
    """


def divides_by_0_in_clip_fraction():
    """you divide 0 by 0 in clip_fraction where the mask is empty, which gives NaN; the fraction of no positions is 0

    It happens when a policy ends every answer at once. The loss is right, but the curve of the metric breaks off.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask) * mask.sum() / mask.sum()
    """


def shows_the_loss_as_policy_loss():
    """you return the whole loss as policy_loss; the KL is not part of it

    You then cannot distinguish the two parts, and a growing penalty looks like a policy that gets worse.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + loss = policy_loss + config.kl_coef * kl
    + metrics = {"policy_loss": loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    """


def shows_the_objective_as_policy_loss():
    """you return the mean of the surrogate as the metric policy_loss; policy_loss is minus that mean

    The loss itself is right. The curve of the metric is upside down.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + metrics = {"policy_loss": -policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    """


def shows_the_kl_with_its_coefficient():
    """you return kl_coef * kl as the metric kl; the metric is the KL itself

    Runs with different coefficients cannot be compared, and with kl_coef = 0 the policy seems never to move.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + metrics = {"policy_loss": policy_loss.detach(), "kl": config.kl_coef * kl.detach(), "clip_fraction": binding}
    """


def keeps_the_graph_of_the_metrics():
    """you return metrics that still have a graph; detach them

    A caller that keeps the metrics of a run then keeps every batch in memory, until the memory is full.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + metrics = {"policy_loss": policy_loss, "kl": kl, "clip_fraction": binding}
    """


def returns_metrics_as_floats():
    """you return the metrics as plain floats; here they are 0-dim tensors without a graph

    `.item()` waits for the device, in the middle of the update. Detached tensors cost nothing; `train_step` converts
    them to floats after its update.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + metrics = {"policy_loss": policy_loss.item(), "kl": kl.item(), "clip_fraction": binding.item()}
    """
