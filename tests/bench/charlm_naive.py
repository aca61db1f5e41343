"""The loop that the course started from, rebuilt: one completion at a time, for `bench_charlm.py` to compare with.

It is the recipe of the notebook "Group Relative Policy Update": one prompt, a group of four, Adam with lr 1e-4, KL
coefficient 0.1, advantages in standard deviations and clipped to 2, 200 episodes of one update. Each completion is
sampled alone, token by token, and its log-probabilities are computed alone.

The notebook shows what its code prints, not the code. The losses that it prints say what is below: the policy loss is
minus advantage times the log-probability of the whole completion, without a ratio (-4.6 for three rewards of 4 and one
of 0; with a ratio it would be 0), and the KL is the difference of the log-probabilities of whole completions (2.1 when
all of them are "pizza").

Left out on purpose: everything that would make it faster; that is what `reference/` is for.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from reference.charlm_model import TinyLM
from reference.charlm_task import EOS_ID, PIZZA_PROMPT, CharTokenizer, pizza_reward

GROUP_SIZE = 4
MAX_NEW_TOKENS = 20
KL_COEF = 0.1
ADVANTAGE_CLIP = 2.0


def naive_train(
    policy: TinyLM,
    ref_policy: TinyLM,
    *,
    seed: int,
    episodes: int = 200,
    lr: float = 1e-4,
    after_episode: Callable[[], object],
) -> None:
    """Train a policy to say that Ravin likes pizza, as the notebook does."""
    tokenizer, generator = CharTokenizer(), torch.Generator().manual_seed(seed)
    prompt = tokenizer.encode(PIZZA_PROMPT)
    optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
    for _ in range(episodes):
        completions = [sample_one(policy, prompt, generator) for _ in range(GROUP_SIZE)]
        rewards = pizza_reward([PIZZA_PROMPT] * GROUP_SIZE, [tokenizer.decode(each) for each in completions])
        advantages = ((rewards - rewards.mean()) / (rewards.std() + 1e-8)).clamp(-ADVANTAGE_CLIP, ADVANTAGE_CLIP)
        losses = []
        for completion, advantage in zip(completions, advantages, strict=True):
            logp = sequence_logp(policy, prompt, completion)
            with torch.no_grad():
                ref_logp = sequence_logp(ref_policy, prompt, completion)
            losses.append(-advantage * logp + KL_COEF * (logp - ref_logp))
        optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        optimizer.step()
        after_episode()


@torch.no_grad()
def sample_one(policy: TinyLM, prompt: list[int], generator: torch.Generator) -> list[int]:
    """One completion, up to and including its end."""
    tokens = list(prompt)
    for _ in range(MAX_NEW_TOKENS):
        probabilities = torch.softmax(_logits(policy, tokens)[-1], dim=-1)  # (V,)
        tokens.append(int(torch.multinomial(probabilities, 1, generator=generator)))
        if tokens[-1] == EOS_ID:
            break
    return tokens[len(prompt) :]


def sequence_logp(policy: TinyLM, prompt: list[int], completion: list[int]) -> Tensor:
    """Log-probability of one whole completion, 0-dim."""
    logp = torch.log_softmax(_logits(policy, prompt + completion), dim=-1)  # (T, V)
    chosen = logp[len(prompt) - 1 : -1, :].gather(-1, torch.tensor(completion)[:, None])  # (tokens, 1)
    return chosen.sum()


def _logits(policy: TinyLM, tokens: list[int]) -> Tensor:
    """Logits (T, V) of one row. `TinyLM.forward` would look for equal rows first, which is wasted on one row."""
    return policy.logits(torch.tensor([tokens]))[0]
