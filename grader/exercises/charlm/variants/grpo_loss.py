"""Correct answers to `grpo_loss` in other styles than the model answer's.

The tool appends this file to the text of `reference/charlm.py`, binds `grpo_loss` to one of the functions below and
runs the result like a submission. Every check must accept every one of them.
"""

# ruff: noqa: F821
# The names of the given code come from the module of the model answer, which stands before this text.

import torch
from torch import Tensor


def completion_by_completion(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """a loop over the completions, each cut to its own tokens, so that nothing is masked"""
    _refuse_shapes_that_do_not_fit(logp, old_logp, ref_logp, advantages, mask)
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
    _refuse_shapes_that_do_not_fit(logp, old_logp, ref_logp, advantages, mask)
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
    _refuse_shapes_that_do_not_fit(logp, old_logp, ref_logp, advantages, mask)
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


def where_the_clip_binds(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """no minimum: the edge of the band where the clip binds, the ratio elsewhere, chosen with where"""
    _refuse_shapes_that_do_not_fit(logp, old_logp, ref_logp, advantages, mask)
    zero = torch.zeros_like(logp)
    logp, old_logp, ref_logp = (x.where(mask, zero) for x in (logp, old_logp, ref_logp))
    with torch.no_grad():
        constant_old, constant_ref = old_logp.clone(), ref_logp.clone()
        a = advantages[:, None] * torch.ones_like(zero)
    log_ratio = logp - constant_old
    if config.ratio_level == "sequence":
        log_ratio = torch.stack(
            [row[kept].mean() if kept.any() else row.sum() * 0 for row, kept in zip(log_ratio, mask, strict=True)]
        )
        log_ratio = log_ratio[:, None] + zero
    ratio = log_ratio.clamp(-20, 20).exp()
    above, below = (ratio > 1 + config.clip_eps) & (a > 0), (ratio < 1 - config.clip_eps) & (a < 0)
    ratio = torch.where(above, 1 + config.clip_eps, torch.where(below, 1 - config.clip_eps, ratio))
    policy_loss = masked_mean(-ratio * a, mask, level=config.loss_level)
    kl = masked_mean(kl_estimate(logp, constant_ref), mask, level=config.loss_level)
    binding = masked_mean((above | below).to(logp.dtype), mask, level="token")
    loss = torch.add(policy_loss, kl, alpha=config.kl_coef)
    return loss, {"policy_loss": policy_loss.detach(), "kl": kl.detach(), "clip_fraction": binding}


def ratio_of_the_sequence_with_token_gradients(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """GSPO-token: the ratio of the sequence as a number, times exp(logp - logp detached) for the gradient"""
    _refuse_shapes_that_do_not_fit(logp, old_logp, ref_logp, advantages, mask)
    logp, old_logp, ref_logp = [torch.where(mask, x, torch.zeros_like(x)) for x in (logp, old_logp, ref_logp)]
    if config.ratio_level == "sequence":
        with torch.no_grad():
            log_ratio = (logp - old_logp).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
            sequence_ratio = log_ratio.clamp(-20, 20).exp()[:, None]
        ratio = sequence_ratio * torch.exp(logp - logp.detach())
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


def only_the_tokens_that_count(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """all unmasked tokens in one long row with the numbers of their completions, added up with index_add"""
    _refuse_shapes_that_do_not_fit(logp, old_logp, ref_logp, advantages, mask)
    row = mask.nonzero()[:, 0]  # (N,)
    lengths = mask.sum(dim=1).clamp(min=1)  # (B,)
    new, old, ref = logp[mask], old_logp[mask].detach(), ref_logp[mask].detach()
    log_ratio = new - old
    if config.ratio_level == "sequence":
        log_ratio = (logp.new_zeros(len(logp)).index_add(0, row, log_ratio) / lengths)[row]
    ratio, a = log_ratio.clamp(-20, 20).exp(), advantages.detach()[row]
    share = lengths[row] * len(logp) if config.loss_level == "sequence" else torch.full_like(row, max(len(row), 1))
    weights = share.to(logp.dtype).reciprocal()
    policy_loss = -(clipped_surrogate(ratio, a, clip_eps=config.clip_eps) * weights).sum()
    kl = (kl_estimate(new, ref) * weights).sum()
    metrics = {"clip_fraction": clip_fraction(ratio.detach(), a, clip_eps=config.clip_eps)}
    metrics.update(policy_loss=policy_loss.detach(), kl=kl.detach())
    return policy_loss + config.kl_coef * kl, metrics
