"""Correct answers to `train_step` in other styles than the model answer's.

Each public function takes the place of the model answer's `train_step` in a copy of its module. Line one of its
docstring says what is different about the style. A check that takes points from one of them asks for more than the
docstring of `train_step` promises.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import copy
import math

import torch
from torch import Tensor, nn


def closure_for_the_optimizer(
    policy: nn.Module, ref_policy: nn.Module, optimizer: torch.optim.Optimizer, rollout: Rollout, config: CharLMConfig
) -> dict[str, float]:
    """gives the optimizer a function that clears the gradients, computes the loss and goes backward"""
    row: dict[str, float] = {}

    def closure() -> Tensor:
        optimizer.zero_grad(set_to_none=False)
        mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
        logp, ref_logp = (token_logp(model, rollout.tokens) for model in (policy, ref_policy))
        loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp.detach(), rollout.advantages, mask, config)
        loss.backward()
        row.update(loss=float(loss.detach()), **{name: float(value) for name, value in metrics.items()})
        return loss

    optimizer.step(closure)
    return row


def gradients_asked_for_and_put_in_place(
    policy: nn.Module, ref_policy: nn.Module, optimizer: torch.optim.Optimizer, rollout: Rollout, config: CharLMConfig
) -> dict[str, float]:
    """no backward: autograd.grad, then each gradient is put where the optimizer looks for it"""
    mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    with torch.inference_mode():
        ref_logp = token_logp(ref_policy, rollout.tokens)
    logp = token_logp(policy, rollout.tokens)
    loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp.clone(), rollout.advantages, mask, config)
    parameters = list(policy.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
        parameter.grad = gradient
    optimizer.step()
    return {"loss": loss.item()} | {name: metrics[name].tolist() for name in metrics}


def completion_by_completion(
    policy: nn.Module, ref_policy: nn.Module, optimizer: torch.optim.Optimizer, rollout: Rollout, config: CharLMConfig
) -> dict[str, float]:
    """gradient accumulation: a backward for each completion, each with its share of the batch, and one step"""
    mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    tokens_in_all = max(int(mask.sum()), 1)
    total = dict.fromkeys(("loss", "policy_loss", "kl", "clip_fraction"), 0.0)
    policy.zero_grad()
    for row in range(len(rollout.tokens)):
        one = slice(row, row + 1)
        by_token = mask[one].sum().item() / tokens_in_all
        share = by_token if config.loss_level == "token" else 1 / len(mask)
        logp = token_logp(policy, rollout.tokens[one])
        with torch.no_grad():
            ref_logp = token_logp(ref_policy, rollout.tokens[one])
        loss, metrics = grpo_loss(logp, rollout.old_logp[one], ref_logp, rollout.advantages[one], mask[one], config)
        (share * loss).backward()
        values = {"loss": loss, **metrics}
        for name in total:
            total[name] += values[name].item() * (by_token if name == "clip_fraction" else share)
    optimizer.step()
    return total


def everything_written_out(
    policy: nn.Module, ref_policy: nn.Module, optimizer: torch.optim.Optimizer, rollout: Rollout, config: CharLMConfig
) -> dict[str, float]:
    """calls none of the functions before it: a loop over the rows with log_softmax, clip, KL and means of its own"""
    frozen = copy.deepcopy(ref_policy).requires_grad_(False)
    logits, ref_logits = policy(rollout.tokens[:, :-1]), frozen(rollout.tokens[:, :-1])
    losses, kls, lengths, binding = [], [], [], 0
    for row, ids in enumerate(rollout.tokens.tolist()):
        first = rollout.prompt_length
        end = ids.index(EOS_ID, first) + 1 if EOS_ID in ids[first:] else len(ids)
        places = torch.arange(first - 1, end - 1, device=rollout.tokens.device)
        chosen = places, rollout.tokens[row, first:end]
        logp, ref_logp = (each[row].log_softmax(-1)[chosen] for each in (logits, ref_logits))
        difference = logp - rollout.old_logp[row, places]
        if config.ratio_level == "sequence":
            difference = difference.sum().div(max(len(places), 1)).expand_as(difference)
        ratio, advantage = difference.exp(), rollout.advantages[row].item()
        limit = 1 + math.copysign(config.clip_eps, advantage)
        losses.append(torch.where((ratio - limit) * advantage > 0, -limit * advantage, -ratio * advantage))
        binding += int(((ratio - limit) * advantage > 0).sum())
        kls.append((ref_logp - logp).exp() - 1 + logp - ref_logp)
        lengths.append(max(len(places), 1))
    if config.loss_level == "token":
        policy_loss, kl = (torch.cat(parts).sum() / max(sum(map(len, parts)), 1) for parts in (losses, kls))
    else:
        sizes = torch.tensor(lengths, device=rollout.tokens.device)
        policy_loss, kl = (torch.stack([part.sum() for part in parts]).div(sizes).mean() for parts in (losses, kls))
    loss = policy_loss + config.kl_coef * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    share = binding / max(sum(map(len, losses)), 1)
    return {"loss": loss.item(), "policy_loss": policy_loss.item(), "kl": kl.item(), "clip_fraction": share}


def cut_to_what_completions_use(
    policy: nn.Module, ref_policy: nn.Module, optimizer: torch.optim.Optimizer, rollout: Rollout, config: CharLMConfig
) -> dict[str, float]:
    """cuts off what no completion uses, fills masked places with zeros beforehand, and returns more than was asked"""
    mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    longest = int(mask.any(dim=0).nonzero().max()) + 1 if mask.any() else mask.shape[1]
    tokens, mask = rollout.tokens[:, : longest + 1], mask[:, :longest]
    with torch.no_grad():
        ref_logp = token_logp(ref_policy, tokens).masked_fill(~mask, 0.0)
    logp = token_logp(policy, tokens).masked_fill(~mask, 0.0)
    old_logp = rollout.old_logp[:, :longest].masked_fill(~mask, 0.0)
    loss, metrics = grpo_loss(logp, old_logp, ref_logp, rollout.advantages, mask, config)
    for parameter in policy.parameters():
        parameter.grad = None
    loss.backward()
    norms = [parameter.grad.norm() for parameter in policy.parameters() if parameter.grad is not None]
    optimizer.step()
    row = {name: value.item() for name, value in metrics.items()}
    return row | {"loss": loss.item(), "gradient_norm": float(torch.stack(norms).norm()), "tokens": float(mask.sum())}
