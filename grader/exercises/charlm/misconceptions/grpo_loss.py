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

    The policy is then rewarded for running away from the reference, and does so without end. The minus belongs to the
    formula of the objective, which is maximized.
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

    With 1 instead of 0.04 the policy hardly moves away from the reference, and changing the setting has no effect.
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss + kl, metrics
    """


def weights_the_kl_with_the_advantages():
    """you multiply the KL by the advantages; only the ratio is multiplied by them

    A completion with a negative advantage is then drawn away from the reference, and one with an advantage of 0 is not
    held at all. The KL is the same penalty for all.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3") * weights, mask, level=config.loss_level)
    """


def puts_the_kl_into_the_advantages():
    """you subtract the KL from the advantages, as PPO does from rewards; here it is a term of the loss

    Inside the surrogate the KL is multiplied by the ratio, clipped, and a constant for the gradient. GRPO took it out
    of there, and so leaves the advantages as the rewards made them.
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

    Its mean is the KL, but as a term of a loss it pushes every token of a batch down alike: on average over samples its
    gradient is 0, so nothing holds the policy near the reference.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k1"), mask, level=config.loss_level)
    """


def uses_k2():
    """you use k2, half the square of the difference; this loss uses k3

    Near the reference the two agree. Far from it k3 grows exponentially for tokens that the reference finds likelier,
    and k2 only with the square. DeepSeekMath has k3.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k2"), mask, level=config.loss_level)
    """


def swaps_policy_and_reference_in_the_kl():
    """you call kl_estimate with the reference first; the policy comes first, its second argument is a constant

    k3 is not symmetric, so this is the value of the other direction. And the argument for the reference is a constant,
    so no gradient of the KL reaches the policy.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(ref_logp, logp, kind="k3"), mask, level=config.loss_level)
    """


def turns_k3_round():
    """you write k3 with logp - ref_logp in the exponent; the exponent is ref_logp - logp

    It looks alike and is never negative either, but its mean over samples of the policy is not the KL. Five public
    solutions have it.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + x = logp - ref_logp
    + kl = masked_mean(torch.expm1(x) - x, mask, level=config.loss_level)
    """


def adds_the_kl_as_a_number():
    """you add the KL as a plain number, or detached; the loss needs its gradient too

    The loss shows the penalty and the policy does not feel it. Detach the KL for the metrics, and not in the loss.
    """
    """
    - return policy_loss + config.kl_coef * kl, metrics
    + return policy_loss + config.kl_coef * kl.item(), metrics
    """


def keeps_the_graph_of_the_old_policy():
    """you let a gradient through old_logp; the old policy is a constant

    If both log-probabilities come from one forward pass, the two gradients cancel exactly, and nothing is ever learned.
    The value of the loss shows nothing of it.
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
    pulls at both of its ends.
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

    Advantages come from rewards, which nobody differentiates. If a model made them, this loss would train that model to
    find every completion of the batch good.
    """
    """
    - weights = advantages.detach()[:, None].expand_as(logp)
    + weights = advantages[:, None].expand_as(logp)
    """


def detaches_the_policy():
    """you detach logp as well; the gradient of the loss must reach it, and only it

    All numbers are right and the policy is never changed. Only the old policy, the reference and the advantages are
    constants.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + constants = (logp.detach(), old_logp.detach(), ref_logp.detach())
    + logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in constants)
    """


def takes_the_current_policy_for_the_old_one():
    """you take logp itself, detached, as the old policy; old_logp is an argument

    The ratio is always 1 and the clip never binds. With one update per batch that happens to be right; with several,
    nothing limits how far the policy moves.
    """
    """
    - logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach()))
    + logp, old_logp, ref_logp = (torch.where(mask, x, 0.0) for x in (logp, logp.detach(), ref_logp.detach()))
    """


def takes_the_reference_for_the_old_policy():
    """you measure the ratio against the reference; it is measured against old_logp

    The reference did not draw the completions. As the policy leaves it behind, the ratios leave the band, and the clip
    stops the training. The reference belongs to the KL only.
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
    """you multiply by advantages of shape (B,); each row has one, so they need the shape (B, 1)

    Torch lines up the last axes, so the second advantage meets the second token of every completion. It shows only when
    there are as many completions as tokens; otherwise the shapes do not fit. 52 of 72 public solutions go wrong there
    without a word.
    """
    """
    - weights = advantages.detach()[:, None].expand_as(logp)
    + weights = advantages.detach()
    """


def normalises_the_advantages_again():
    """you normalize the advantages over the batch; they come in ready to use

    `group_advantages` has compared each completion with its own group. A second time, over all groups, the scale of
    every batch depends on what else is in it, and groups without signal get one.
    """
    """
    + advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
      weights = advantages.detach()[:, None].expand_as(logp)
    """


def masks_after_exp():
    """you mask the results only; mask the log-probabilities before exp, or junk gets into the gradient

    After the end of a completion a log-ratio of 200 becomes an infinity, and infinity * 0 is NaN: not in the value,
    which is masked, but in the gradient. One such token makes all weights NaN.
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
    """you take plain means; prompt and filling are in them, and only unmasked positions count

    At masked positions the ratio is 1 and the surrogate is A, so the loss depends on how far rows were filled up, and
    every gradient is too small.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -surrogate.mean()
    + kl = kl_estimate(logp, ref_logp, kind="k3").mean()
    """


def ignores_the_ratio_level():
    """you use the ratio of each token at ratio level "sequence" too; there a completion has one ratio

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
    """you use one ratio for each completion at both levels; at "token" each token has its own

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

    The product is the true ratio of the whole text, and nearly always outside the band: ratios of 1.05 make 2.65 in
    twenty tokens. The mean keeps it independent of the length.
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

    The arithmetic mean is never smaller than the geometric one, and a single likely token carries it away. Take the
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

    The ratio of a short completion is drawn towards 1, the more so the longer the others of its batch are.
    """
    """
    - length = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    - means = [x.sum(dim=-1, keepdim=True) / length for x in (logp, old_logp)]
    + means = [x.mean(dim=-1, keepdim=True) for x in (logp, old_logp)]
    """


def ignores_the_loss_level():
    """you do not pass the loss level on, so both means are by sequence; config.loss_level may be "token"

    The setting has no effect: long completions never weigh more than short ones, whatever the config says.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, mask)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask)
    """


def passes_the_loss_level_for_the_policy_loss_only():
    """you do not pass the loss level on for the KL, which is then by sequence; it holds for both means

    The two parts of the loss then weigh the same token differently, and kl_coef means something else for each length.
    """
    """
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask)
    """


def uses_the_ratio_level_for_the_means():
    """you take the means at config.ratio_level; that is for the ratio, config.loss_level for the means

    The two settings are independent: GSPO, for example, has one ratio for each completion and a mean by sequence.
    """
    """
    - policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    - kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.loss_level)
    + policy_loss = -masked_mean(surrogate, mask, level=config.ratio_level)
    + kl = masked_mean(kl_estimate(logp, ref_logp, kind="k3"), mask, level=config.ratio_level)
    """


def counts_outside_the_band():
    """you count every ratio outside the band in clip_fraction; the clip binds only where it takes the gradient

    A bad completion above the band keeps its full gradient, and so does a good one below it. With advantages of both
    signs the count is about twice too high.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + outside = ((ratio.detach() - 1).abs() > config.clip_eps) & mask
    + binding = outside.sum().to(logp.dtype) / mask.sum().clamp(min=1)
    """


def counts_masked_positions_in_clip_fraction():
    """you do not pass the mask on to clip_fraction; it is the share of unmasked positions

    The more a batch is filled up, the smaller the share looks, and it changes with the longest completion.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps)
    """


def averages_clip_fraction_by_sequence():
    """you take clip_fraction as the mean of the shares of the rows; all unmasked positions weigh alike

    The levels of the config are for the ratio and for the loss. A share of positions is counted over all of them.
    """
    """
    - binding = clip_fraction(ratio.detach(), weights, clip_eps=config.clip_eps, mask=mask)
    + binds = torch.where(weights > 0, ratio > 1 + config.clip_eps, (ratio < 1 - config.clip_eps) & (weights < 0))
    + binding = masked_mean(binds.to(logp.dtype), mask)
    """


def shows_the_loss_as_policy_loss():
    """you return the whole loss as policy_loss; the KL is not part of it

    The two parts can then not be told apart, and a growing penalty looks like a policy that gets worse.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    - return policy_loss + config.kl_coef * kl, metrics
    + loss = policy_loss + config.kl_coef * kl
    + metrics = {"policy_loss": loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + return loss, metrics
    """


def shows_the_kl_with_its_coefficient():
    """you return kl_coef * kl as the metric kl; it is the KL itself

    Runs with different coefficients cannot be compared, and with kl_coef = 0 the policy seems never to move.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + metrics = {"policy_loss": policy_loss.detach(), "kl": config.kl_coef * kl.detach(), "clip_fraction": binding}
    """


def keeps_the_graph_of_the_metrics():
    """you return metrics that still have a graph; detach them

    Whoever keeps the metrics of a run keeps every batch of it in memory, until the memory is full.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + metrics = {"policy_loss": policy_loss, "kl": kl, "clip_fraction": binding}
    """


def returns_metrics_as_floats():
    """you return the metrics as plain floats; here they are 0-dim tensors without a graph

    `.item()` waits for the device, in the middle of the update. Detached tensors cost nothing; `train_step` makes
    floats of them after its update.
    """
    """
    - metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}
    + metrics = {"policy_loss": policy_loss.item(), "kl": kl.item(), "clip_fraction": binding.item()}
    """
