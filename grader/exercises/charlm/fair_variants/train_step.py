"""Right answers to `train_step` in other styles."""

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
