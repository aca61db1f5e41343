"""Correct answers to `train_bandit` in other styles than the model answer's.

Each public function takes the place of the model answer's `train_bandit` in a copy of its module. Line one of its
docstring says what is different about the style. A check that takes points from one of them asks for more than the
docstring of `train_bandit` promises. Which actions a seed draws is promised by nothing but the seed itself.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import bisect
import itertools
import random
from collections.abc import Iterator

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


def all_random_numbers_at_once(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """draws the uniform numbers of the whole run before it starts and counts the ends that each of them passes"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator().manual_seed(2 * seed + 1)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups = [logits], []
    for uniform in torch.rand(config.steps, config.group_size, 1, generator=generator).to(logits.device):
        ends = torch.cumsum(torch.softmax(logits, dim=-1), dim=-1)
        actions = (uniform >= ends[:-1]).sum(dim=-1)
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


def generator_of_the_standard_library(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """draws with random.Random(seed).choices, whose weights need not be normalized"""
    reward_table = checked_table(reward_table)
    generator = random.Random(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups = [logits], []
    for _ in range(config.steps):
        weights = (logits - logits.max()).exp().tolist()
        drawn = generator.choices(range(len(weights)), weights=weights, k=config.group_size)
        actions = torch.tensor(drawn, device=logits.device)
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


def running_sum_and_count(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """keeps the sum and the number of the rewards seen, and takes the baseline from these two"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups, total, count = [logits], [], 0.0, 0
    for _ in range(config.steps):
        actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
        rewards = reward_table[actions]
        if config.algorithm == "grpo":
            logits = grpo_step(logits, actions, rewards, ref_logits, config)
        else:
            baseline = total / max(count, 1) if config.algorithm == "reinforce_baseline" else 0.0
            logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
        total, count = total + float(rewards.sum()), count + len(rewards)
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


def table_of_functions(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """looks the step up in a table of functions, and keeps rewards where the model answer keeps actions"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups, earlier = [logits], [], reward_table.new_zeros(0)
    step = {
        "grpo": lambda: grpo_step(logits, actions, rewards, ref_logits, config),
        "reinforce": lambda: reinforce_step(logits, actions, rewards, config),
        "reinforce_baseline": lambda: reinforce_step(
            logits, actions, rewards, config, baseline=float(earlier.mean()) if len(earlier) else 0.0
        ),
    }[config.algorithm]
    for _ in range(config.steps):
        actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
        rewards = reward_table.gather(0, actions)
        logits = step()
        earlier = torch.cat([earlier, rewards])
        visited.append(logits)
        groups.append(actions)
    return _history(torch.stack(visited), groups, reward_table, config)


def generator_function(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """a python generator that yields a group and the logits after it, taken step by step"""
    reward_table = checked_table(reward_table)
    run = list(itertools.islice(_endless_run(reward_table, config, seed), config.steps))
    visited = [torch.zeros_like(reward_table), *(logits for _, logits in run)]
    return _history(torch.stack(visited), [actions for actions, _ in run], reward_table, config)


def _endless_run(reward_table: Tensor, config: BanditConfig, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits, groups = logits, []
    while True:
        actions = sample_actions(logits.softmax(-1), config.group_size, generator)
        logits = _step(logits, actions, reward_table, groups, ref_logits, config)
        groups.append(actions)
        yield actions, logits


def history_by_hand(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """makes the history without `_history`, every field in another way"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logp = torch.log_softmax(torch.zeros_like(reward_table), dim=-1)
    ref_logits = logp.clone()
    rows, groups, clip_fractions = [logp], [], []
    while len(groups) < config.steps:
        actions = sample_actions(logp.exp(), config.group_size, generator)
        rewards = reward_table[actions]
        clip_fractions.append(0.0)
        if config.algorithm == "grpo" and config.inner_steps > 1:
            before = replace(config, inner_steps=config.inner_steps - 1)
            last = grpo_step(logp, actions, rewards, ref_logits, before).log_softmax(-1)
            ratio, sign = (last - logp).exp()[actions], rewards - rewards.mean()
            high, low = ratio > 1.0 + config.clip_eps, ratio < 1.0 - config.clip_eps
            if rewards.max() > rewards.min():
                clip_fractions[-1] = ((high & (sign > 0)) | (low & (sign < 0))).double().mean().item()
        logp = _step(logp, actions, reward_table, groups, ref_logits, config).log_softmax(-1)
        rows.append(logp)
        groups.append(actions)
    table = torch.stack(rows)  # (steps + 1, K), log-probabilities
    actions = torch.stack(groups) if groups else torch.zeros(0, config.group_size, dtype=torch.int64)
    actions = actions.to(reward_table.device)
    rewards = torch.take(reward_table, actions)
    entropy = torch.special.entr(table.exp()).sum(-1)
    return BanditHistory(
        probabilities=table.exp(),
        entropy=entropy,
        kl=table[0].logsumexp(-1) - table[0, 0] - entropy,  # from the uniform policy: ln K - entropy
        max_probability=table.max(dim=-1).values.exp(),
        actions=actions,
        mean_reward=rewards.sum(-1) / config.group_size,
        zero_signal=rewards.amax(-1) == rewards.amin(-1),
        clip_fraction=torch.tensor(clip_fractions, dtype=reward_table.dtype, device=reward_table.device),
    )


def float64_inside(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """runs in float64 and makes the history in the dtype of the table"""
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    precise = reward_table.double()
    logits = torch.zeros_like(precise)
    ref_logits = logits.clone()
    visited, groups = [logits], []
    for _ in range(config.steps):
        actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
        logits = _step(logits, actions, precise, groups, ref_logits, config)
        visited.append(logits)
        groups.append(actions)
    return _history(torch.stack(visited).to(reward_table.dtype), groups, reward_table, config)


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


def without_a_graph_outside_the_step(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """samples and looks up under no_grad, switches gradients on for the step, and clones what it keeps"""
    reward_table = checked_table(reward_table).clone()
    generator = torch.Generator(reward_table.device)
    generator.manual_seed(seed)
    with torch.no_grad():
        logits = torch.zeros_like(reward_table)
        start = logits.clone()
        visited, groups = [start], []
        for _ in range(config.steps):
            actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
            with torch.enable_grad():
                new_logits = _step(logits, actions, reward_table, groups, start, config)
            logits.copy_(new_logits)
            visited.append(logits.clone())
            groups.append(actions.clone())
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
