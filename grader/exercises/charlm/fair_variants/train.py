"""Right answers to `train` in other styles."""

import copy
from collections.abc import Sequence

import torch
from torch import nn


def group_by_group(
    policy: nn.Module,
    ref_policy: nn.Module,
    prompt: str | Sequence[str],
    reward_fn: RewardFunction,
    config: CharLMConfig,
    *,
    generator: torch.Generator,
    state: TrainingState | None = None,
) -> list[dict[str, float]]:
    """a while loop, a python loop over the groups, and old log-probabilities that are detached afterwards"""
    state = state or TrainingState(make_optimizer(policy, config), config)
    while state.steps_left > 0:
        completions = sample_completions(policy, prompt, config, generator)
        rewards = reward_fn(completions.prompts, completions.texts).to(completions.tokens.device)
        advantages = torch.cat([group_advantages(group) for group in rewards.split(config.group_size)])
        old_logp = token_logp(policy, completions.tokens).detach().clone()
        rollout = Rollout(
            tokens=completions.tokens,
            prompt_length=completions.prompt_length,
            old_logp=old_logp,
            advantages=advantages,
        )
        rows = [train_step(policy, ref_policy, state.optimizer, rollout, config) for _ in range(config.inner_steps)]
        state.record(completions, rewards, advantages, rows[-1])
    return list(state.history)


def old_policy_as_a_copy(
    policy: nn.Module,
    ref_policy: nn.Module,
    prompt: str | Sequence[str],
    reward_fn: RewardFunction,
    config: CharLMConfig,
    *,
    generator: torch.Generator,
    state: TrainingState | None = None,
) -> list[dict[str, float]]:
    """keeps a second model as the old policy, loads the weights into it before each batch, and lets it sample"""
    state = state or TrainingState(make_optimizer(policy, config), config)
    old_policy = copy.deepcopy(policy).requires_grad_(False)
    for _ in range(state.steps_left):
        old_policy.load_state_dict(policy.state_dict())
        completions = sample_completions(old_policy, prompt, config, generator)
        old_logp = token_logp(old_policy, completions.tokens)
        rewards = reward_fn(completions.prompts, completions.texts).to(old_logp)
        advantages = group_advantages(rewards.unflatten(0, (-1, config.group_size))).flatten()
        rollout = Rollout(
            tokens=completions.tokens,
            prompt_length=completions.prompt_length,
            old_logp=old_logp,
            advantages=advantages,
        )
        for _ in range(config.inner_steps):
            metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
        state.record(completions, rewards, advantages, metrics)
    return state.history


def updates_without_train_step(
    policy: nn.Module,
    ref_policy: nn.Module,
    prompt: str | Sequence[str],
    reward_fn: RewardFunction,
    config: CharLMConfig,
    *,
    generator: torch.Generator,
    state: TrainingState | None = None,
) -> list[dict[str, float]]:
    """makes the updates itself: reference and mask once for each batch, the old log-probabilities from the first one"""
    state = state or TrainingState(make_optimizer(policy, config), config)
    for _ in range(state.steps_left):
        completions = sample_completions(policy, prompt, config, generator)
        tokens = completions.tokens
        rewards = reward_fn(completions.prompts, completions.texts).to(tokens.device)
        groups = rewards.view(config.prompts_per_step, config.group_size)
        advantages = group_advantages(groups).view(-1)
        mask = completion_mask(tokens, completions.prompt_length, EOS_ID)
        ref_logp = token_logp(ref_policy, tokens).detach()
        old_logp = None
        for _ in range(config.inner_steps):
            logp = token_logp(policy, tokens)
            old_logp = logp.detach() if old_logp is None else old_logp
            loss, metrics = grpo_loss(logp, old_logp, ref_logp, advantages, mask, config)
            state.optimizer.zero_grad()
            loss.backward()
            state.optimizer.step()
        row = {name: value.item() for name, value in metrics.items()}
        state.record(completions, rewards, advantages, {"loss": loss.item(), **row})
    return state.history
