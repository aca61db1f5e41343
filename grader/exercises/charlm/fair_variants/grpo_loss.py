"""Right answers to `grpo_loss` in other styles."""

import torch
from torch import Tensor


def completion_by_completion(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """a loop over the completions, each cut to its own tokens, so that nothing is masked"""
    old_logp, ref_logp, advantages = old_logp.detach(), ref_logp.detach(), advantages.detach()
    policy_loss, kl, binding = logp.new_zeros(()), logp.new_zeros(()), logp.new_zeros(())
    for row, kept in enumerate(mask):
        count = int(kept.sum())
        if count == 0:
            continue
        mine, old, ref, advantage = logp[row, kept], old_logp[row, kept], ref_logp[row, kept], advantages[row]
        if config.ratio_level == "sequence":
            ratio = importance_ratio(mine.mean(), old.mean()).repeat(count)
        else:
            ratio = importance_ratio(mine, old)
        weight = 1 / (count * len(mask)) if config.loss_level == "sequence" else 1 / int(mask.sum())
        policy_loss = policy_loss - weight * clipped_surrogate(ratio, advantage, clip_eps=config.clip_eps).sum()
        kl = kl + weight * kl_estimate(mine, ref).sum()
        share = clip_fraction(ratio.detach(), advantage, clip_eps=config.clip_eps)
        binding = binding + share * count / int(mask.sum())
    loss = policy_loss + config.kl_coef * kl
    return loss, {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}


def everything_by_hand(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """none of the earlier functions: weights of the positions, exp, min and clamp, and one sum"""
    log_ratio = (logp - old_logp.detach()).masked_fill(~mask, 0.0)
    distance = (ref_logp.detach() - logp).masked_fill(~mask, 0.0)
    lengths = mask.sum(1, keepdim=True)
    if config.ratio_level == "sequence":
        log_ratio = (log_ratio.sum(1, keepdim=True) / lengths.clamp(min=1)).expand_as(logp)
    weights = mask / (lengths * len(mask) if config.loss_level == "sequence" else lengths.sum()).clamp(min=1)
    ratio, a = log_ratio.clamp(-20, 20).exp(), advantages.detach().unsqueeze(1)
    low, high = 1 - config.clip_eps, 1 + config.clip_eps
    policy_loss = -(weights * torch.min(ratio * a, ratio.clamp(low, high) * a)).sum()
    kl = (weights * (distance.exp() - 1 - distance)).sum()
    with torch.no_grad():
        binds = torch.where(a > 0, ratio > high, (ratio < low) & (a < 0)) & mask
        clip_share = binds.sum() / mask.sum().clamp(min=1)
    metrics = {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": clip_share}
    return policy_loss + config.kl_coef * kl, metrics


def larger_of_two_losses(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """the larger of two negated products, the KL added token by token, and one mean"""
    kept = [x.masked_fill(~mask, 0.0) for x in (logp, old_logp.detach(), ref_logp.detach())]
    ratio = importance_ratio(kept[0], kept[1])
    if config.ratio_level == "sequence":
        log_ratio = (kept[0] - kept[1]).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True).clamp(min=1)
        ratio = log_ratio.clamp(-20, 20).exp().expand_as(logp)
    negative = -advantages.detach().view(-1, 1)
    losses = torch.maximum(ratio * negative, ratio.clamp(1 - config.clip_eps, 1 + config.clip_eps) * negative)
    kl_tokens = kl_estimate(kept[0], kept[2])
    loss = masked_mean(losses + config.kl_coef * kl_tokens, mask, level=config.loss_level)
    with torch.no_grad():
        metrics = {
            "policy_loss": masked_mean(losses, mask, level=config.loss_level),
            "kl": masked_mean(kl_tokens, mask, level=config.loss_level),
            "clip_fraction": clip_fraction(ratio, -negative, clip_eps=config.clip_eps, mask=mask),
            "ratio": ratio.mean(),
        }
    return loss, metrics


def ratio_of_the_sequence_with_token_gradients(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """GSPO-token: the ratio of the sequence as a number, times exp(logp - logp detached) for the gradient"""
    logp, old_logp, ref_logp = [torch.where(mask, x, torch.zeros_like(x)) for x in (logp, old_logp, ref_logp)]
    if config.ratio_level == "sequence":
        with torch.no_grad():
            log_ratio = (logp - old_logp).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
            sequence_ratio = log_ratio.clamp(-20, 20).exp()[:, None]
            clamped = log_ratio.abs()[:, None] > 20  # a clamped ratio has no gradient
        ratio = sequence_ratio * torch.exp(torch.where(clamped, 0.0, logp - logp.detach()))
    else:
        ratio = importance_ratio(logp, old_logp.detach())
    a = advantages.detach().reshape(-1, 1)
    surrogate = clipped_surrogate(ratio, a, clip_eps=config.clip_eps)
    policy_loss = -masked_mean(surrogate, mask, level=config.loss_level)
    kl = masked_mean(kl_estimate(logp, ref_logp), mask, level=config.loss_level)
    loss = policy_loss + kl * config.kl_coef
    with torch.no_grad():
        share = clip_fraction(ratio, a, clip_eps=config.clip_eps, mask=mask)
    return loss, {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": share}
