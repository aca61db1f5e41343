"""Right answers to `train_bandit` in other styles."""

import bisect
import itertools
import random

import numpy as np
import torch
from torch import Tensor


def multinomial_of_torch(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """draws with torch.multinomial, with replacement and a generator of its own"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups = [logits], []
    for _ in range(config.steps):
        actions = torch.multinomial(logits.softmax(0), config.group_size, replacement=True, generator=generator)
        logits = _step(logits, actions, reward_table, groups, ref_logits, config)
        visited.append(logits)
        groups.append(actions)
    return _history(torch.stack(visited), groups, reward_table, config)


def gumbel_max(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """draws by the largest of logits plus Gumbel noise, without any probabilities"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    shape = config.group_size, len(reward_table)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups = [logits], []
    for _ in range(config.steps):
        uniform = torch.rand(shape, dtype=torch.float64, device=logits.device, generator=generator)
        actions = (logits - torch.log(-torch.log(uniform))).argmax(dim=1)
        logits = _step(logits, actions, reward_table, groups, ref_logits, config)
        visited.append(logits)
        groups.append(actions)
    return _history(torch.stack(visited), groups, reward_table, config)


def generator_of_numpy(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """draws with numpy.random.default_rng(seed).choice"""
    reward_table = checked_table(reward_table)
    generator = np.random.default_rng(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups = [logits], []
    for _ in range(config.steps):
        probabilities = torch.softmax(logits.double(), dim=-1).cpu().numpy()
        drawn = generator.choice(len(probabilities), size=config.group_size, p=probabilities)
        actions = torch.as_tensor(drawn, dtype=torch.int64, device=logits.device)
        logits = _step(logits, actions, reward_table, groups, ref_logits, config)
        visited.append(logits)
        groups.append(actions)
    return _history(torch.stack(visited), groups, reward_table, config)


def one_sample_at_a_time(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """draws every sample by a search in a list of python floats, and looks its reward up by itself"""
    reward_table = checked_table(reward_table)
    generator = random.Random(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups, earlier = [logits], [], []
    for _ in range(config.steps):
        ends = list(itertools.accumulate(torch.softmax(logits, dim=0).tolist()))
        drawn = [bisect.bisect_right(ends[:-1], generator.random()) for _ in range(config.group_size)]
        seen = [reward_table[action].item() for action in drawn]
        actions = torch.tensor(drawn, device=logits.device)
        rewards = torch.tensor(seen, dtype=reward_table.dtype, device=logits.device)
        if config.algorithm == "grpo":
            logits = grpo_step(logits, actions, rewards, ref_logits, config)
        elif config.algorithm == "reinforce":
            logits = reinforce_step(logits, actions, rewards, config)
        else:
            baseline = sum(earlier) / len(earlier) if earlier else 0.0
            logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
        earlier += seen
        visited.append(logits)
        groups.append(actions)
    return _history(torch.stack(visited), groups, reward_table, config)


def incremental_mean(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """moves the baseline by a share of 1 / step towards the mean of each group, and chooses the step by match"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups, baseline = [logits], [], 0.0
    for step in range(1, config.steps + 1):
        actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
        rewards = reward_table[actions]
        match config.algorithm:
            case "grpo":
                logits = grpo_step(logits, actions, rewards, ref_logits, config)
            case "reinforce":
                logits = reinforce_step(logits, actions, rewards, config)
            case "reinforce_baseline":
                logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
        baseline += (rewards.mean().item() - baseline) / step
        visited.append(logits)
        groups.append(actions)
    return _history(torch.stack(visited), groups, reward_table, config)


def rows_of_tensors(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """makes the tensors of the whole run beforehand and fills them row by row"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    visited = reward_table.new_zeros(config.steps + 1, len(reward_table))
    actions = torch.zeros(config.steps, config.group_size, dtype=torch.int64, device=reward_table.device)
    for step in range(config.steps):
        actions[step] = sample_actions(visited[step].softmax(dim=-1), config.group_size, generator)
        visited[step + 1] = _step(visited[step], actions[step], reward_table, actions[:step], visited[0], config)
    return _history(visited, list(actions), reward_table, config)


def log_probabilities_between_the_steps(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """keeps log-probabilities: the same policies, with logits that are normalized after every step"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logp = torch.zeros_like(reward_table).log_softmax(-1)
    ref_logp, visited, groups = logp, [logp], []
    for _ in range(config.steps):
        actions = sample_actions(logp.exp(), config.group_size, generator)
        logp = _step(logp, actions, reward_table, groups, ref_logp, config).log_softmax(-1)
        visited.append(logp)
        groups.append(actions)
    return _history(torch.stack(visited), groups, reward_table, config)


def _step(
    logits: Tensor,
    actions: Tensor,
    reward_table: Tensor,
    groups: list[Tensor] | Tensor,
    ref_logits: Tensor,
    config: BanditConfig,
) -> Tensor:
    """The new logits; `groups` are the actions of all earlier steps."""
    rewards = reward_table[actions]
    if config.algorithm == "grpo":
        return grpo_step(logits, actions, rewards, ref_logits, config)
    if config.algorithm == "reinforce" or len(groups) == 0:
        return reinforce_step(logits, actions, rewards, config)
    baseline = torch.stack([reward_table[group].mean() for group in groups]).mean()
    return reinforce_step(logits, actions, rewards, config, baseline=baseline.item())
