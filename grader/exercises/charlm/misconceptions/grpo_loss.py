"""Wrong answers to `grpo_loss`, one per mistake."""


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
    """you write k3 with logp - ref_logp in the exponent; the exponent is ref_logp - logp

    It looks similar and is never negative either, but its mean over samples of the policy is not the KL. Five public
    solutions do this.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + x = logp - ref_logp
    + kl = masked_mean(torch.expm1(x) - x, mask, level=config.loss_level)
    """


def adds_the_kl_as_a_number():
    """you add the KL as a plain number, or detached; the loss also needs its gradient

    The loss shows the penalty, but it does not affect the policy. Detach the KL for the metrics, not in the loss.
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss + config.kl_coef * kl.item(), metrics
    """


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
    + ratio = (logp - old_logp).exp()
    """
    """
    - ratio = importance_ratio(*means).expand_as(logp)
    + ratio = (means[0] - means[1]).exp().expand_as(logp)
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
    + x = ref_logp - logp
    + kl = masked_mean(torch.expm1(x) - x, mask, level=config.loss_level)
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
    + constants = (logp.detach(), old_logp.detach(), ref_logp.detach())
    + logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in constants)
    """


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


def spreads_the_advantages_along_the_tokens():
    """you multiply by advantages of shape (B,); they belong to rows, so they need the shape (B, 1)

    Torch aligns the last axes, so the second advantage multiplies the second token of every completion. This works only
    if there are as many completions as tokens; otherwise the shapes do not fit. 52 of 72 public solutions then go wrong
    without an error.
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


def masks_after_exp():
    """you mask only the results; mask the log-probabilities before exp, or junk reaches the gradient

    After the end of a completion, a log-ratio of 200 becomes infinite, and infinity * 0 is NaN: not in the value, which
    is masked, but in the gradient. One such token makes all weights NaN.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + old_logp, ref_logp = old_logp.detach(), ref_logp.detach()
    """
    """
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [torch.where(mask, x, 0.0).sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    """


def averages_over_masked_positions():
    """you take plain means, which include prompt and padding; only unmasked positions count

    At masked positions the ratio is 1 and the surrogate is A, so the loss depends on the amount of padding, and
    every gradient is too small.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -surrogate.mean()
    + kl = kl_estimate(logp, ref_logp, kind="k3").mean()
    """


def ignores_the_ratio_level():
    """you use the ratio of each token even at ratio level "sequence"; there a completion has one ratio

    The setting has no effect: what you call GSPO is plain GRPO.
    """
    """
    - if config.ratio_level == "token":
    -     ratio = importance_ratio(logp, old_logp)
    - else:
    -     length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    -     means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    -     ratio = importance_ratio(*means).expand_as(logp)
    + ratio = importance_ratio(logp, old_logp)
    """


def always_uses_the_ratio_of_the_sequence():
    """you use one ratio per completion at both levels; at "token" each token has its own ratio

    The setting has no effect: what you call GRPO is GSPO, in which all tokens of a completion are clipped together.
    """
    """
    - if config.ratio_level == "token":
    -     ratio = importance_ratio(logp, old_logp)
    - else:
    -     length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    -     means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    -     ratio = importance_ratio(*means).expand_as(logp)
    + length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    + means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + ratio = importance_ratio(*means).expand_as(logp)
    """


def multiplies_the_ratios_of_a_sequence():
    """you use exp of the sum of the log-ratios, the product of all ratios; take their mean before exp

    The product is the true ratio of the whole text, but nearly always outside the band: twenty tokens with a ratio of
    1.05 give 2.65. The mean makes it independent of the length.
    """
    """
    - length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    - ratio = importance_ratio(*means).expand_as(logp)
    + sums = [x.sum(dim=-1, keepdim=True) for x in (logp, old_logp)]
    + ratio = importance_ratio(*sums).expand_as(logp)
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
    """you divide the log-ratio of a completion by the length of the row; only unmasked tokens count

    This moves the ratio of a short completion towards 1, and more so the longer the other completions of its batch are.
    """
    """
    - length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [x.mean(dim=-1, keepdim=True) for x in (logp, old_logp)]
    """


def ignores_the_loss_level():
    """you do not pass on the loss level, so both means are by sequence; config.loss_level may be "token"

    The setting has no effect: long completions never weigh more than short ones, whatever the config says.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, mask)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask)
    """


def passes_the_loss_level_for_the_policy_loss_only():
    """you do not pass on the loss level for the KL, which is then by sequence; it applies to both means

    The two parts of the loss then weight the same token differently, and kl_coef means something different for each
    length.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask)
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


def counts_outside_the_band():
    """you count every ratio outside the band in clip_fraction; the clip binds only where it removes the gradient

    A bad completion above the band keeps its full gradient, and so does a good one below it. With advantages of both
    signs the count is about twice too high.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + outside = ((ratio.detach() - 1).abs() > config.clip_eps) & mask
    + binding = outside.sum().to(logp.dtype) / mask.sum().clamp(min=1)
    """


def counts_masked_positions_in_clip_fraction():
    """you do not pass the mask to clip_fraction; it is the share of unmasked positions

    The more padding a batch has, the smaller the share looks, and it changes with the longest completion.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps)
    """


def averages_clip_fraction_by_sequence():
    """you take clip_fraction as the mean of the shares of the rows; all unmasked positions have the same weight

    The levels of the config apply to the ratio and the loss. A share of positions counts all of them.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binds = torch.where(weights > 0, ratio > 1 + config.clip_eps, (ratio < 1 - config.clip_eps) & (weights < 0))
    + binding = masked_mean(binds.to(logp.dtype), mask)
    """


def shows_the_loss_as_policy_loss():
    """you return the whole loss as policy_loss; the KL is not part of it

    You then cannot distinguish the two parts, and a growing penalty looks like a policy that gets worse.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    - return policy_loss + config.kl_coef * kl, metrics
    + loss = policy_loss + config.kl_coef * kl
    + metrics = {"policy_loss": loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + return loss, metrics
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
