"""Correct answers to `train` in other styles than the model answer's.

Each public function takes the place of the model answer's `train` in a copy of its module. Line one of its docstring
says what is different about the style. A check that takes points from one of them asks for more than the docstring of
`train` promises. Which completions a seed draws is promised by nothing but the seed itself.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import copy
import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn


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


def rewards_in_float32(
    policy: nn.Module,
    ref_policy: nn.Module,
    prompt: str | Sequence[str],
    reward_fn: RewardFunction,
    config: CharLMConfig,
    *,
    generator: torch.Generator,
    state: TrainingState | None = None,
) -> list[dict[str, float]]:
    """casts the rewards to float32, and writes the advantages out, with equal rewards asked for beforehand"""
    state = state or TrainingState(make_optimizer(policy, config), config)
    for _ in range(state.steps_left):
        completions = sample_completions(policy, prompt, config, generator)
        tokens = completions.tokens
        rewards = reward_fn(completions.prompts, completions.texts).float().to(tokens.device)
        groups = rewards.reshape(-1, config.group_size)
        centred = groups - groups.mean(dim=1, keepdim=True)
        spread = groups.var(dim=1, keepdim=True, correction=0).sqrt()
        silent = groups.amax(dim=1, keepdim=True) == groups.amin(dim=1, keepdim=True)
        advantages = torch.where(silent, 0.0, centred / (spread + 1e-8)).reshape(-1)
        with torch.no_grad():
            old_logp = token_logp(policy, tokens)
        rollout = Rollout(
            tokens=tokens, prompt_length=completions.prompt_length, old_logp=old_logp, advantages=advantages
        )
        for metrics in (
            train_step(policy, ref_policy, state.optimizer, rollout, config) for _ in range(config.inner_steps)
        ):
            last = metrics
        state.record(completions, rewards, advantages, last)
    return state.history


def sampling_of_its_own(
    policy: nn.Module,
    ref_policy: nn.Module,
    prompt: str | Sequence[str],
    reward_fn: RewardFunction,
    config: CharLMConfig,
    *,
    generator: torch.Generator,
    state: TrainingState | None = None,
) -> list[dict[str, float]]:
    """draws with torch.multinomial and keeps the log-probabilities of the tokens as they are drawn"""
    state = state or TrainingState(make_optimizer(policy, config), config)
    for _ in range(state.steps_left):
        completions, old_logp = _draw(policy, prompt, config, generator)
        rewards = reward_fn(completions.prompts, completions.texts).to(old_logp.device)
        advantages = group_advantages(rewards.reshape(-1, config.group_size)).reshape(-1)
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


@torch.no_grad()
def _draw(
    policy: nn.Module, prompt: str | Sequence[str], config: CharLMConfig, generator: torch.Generator
) -> tuple[Completions, Tensor]:
    """A batch and the log-probabilities of its tokens; those of the prompts and after the ends are zeros."""
    prompts = [prompt] if isinstance(prompt, str) else list(prompt)
    first = int(torch.randint(len(prompts), (), generator=generator))
    chosen = itertools.islice(itertools.cycle(prompts[first:] + prompts[:first]), config.prompts_per_step)
    texts = [text for text in chosen for _ in range(config.group_size)]
    length, device = len(texts[0]), next(policy.parameters()).device
    tokens = torch.tensor([[config.alphabet.index(letter) for letter in text] for text in texts], device=device)
    ended = torch.zeros(len(texts), dtype=torch.bool, device=device)
    columns, entropy, count = [torch.zeros(len(texts), length - 1, device=device)], 0.0, 0
    for _ in range(config.max_new_tokens):
        logp = policy(tokens)[:, -1].log_softmax(dim=-1)
        new = torch.multinomial(logp.exp().cpu(), 1, generator=generator).to(device)
        entropy += float(torch.special.entr(logp.exp()).sum(dim=-1)[~ended].sum())
        count += int((~ended).sum())
        columns.append(logp.gather(-1, new).masked_fill(ended[:, None], 0.0))
        tokens = torch.cat([tokens, new.masked_fill(ended[:, None], EOS_ID)], dim=-1)
        ended = ended | (new.squeeze(-1) == EOS_ID)
        if ended.all():
            break
    written = ["".join(config.alphabet[token] for token in row) for row in tokens[:, length:].tolist()]
    end = config.alphabet[EOS_ID]
    return Completions(
        prompts=texts,
        texts=[text[: text.index(end) + 1] if end in text else text for text in written],
        tokens=tokens,
        prompt_length=length,
        entropy=torch.tensor(entropy / max(count, 1)),
    ), torch.cat(columns, dim=-1)
