"""Sampling whole groups at once, and the exact probability of a completion; all of it given code.

Left out on purpose: temperature, top-k and top-p. The loss takes log-probabilities of the policy itself, so the samples
must come from the policy itself.

Symbols: P prompts in a step, G completions of each (the group size), B = P * G rows, T tokens in a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .charlm_model import Cache, TinyLM
from .charlm_task import ADDITION_PROMPTS, ALPHABET, EOS_ID, CharTokenizer, right_sum


@dataclass(frozen=True, kw_only=True, eq=False)
class Completions:
    """What a policy wrote.

    Attributes:
        prompts: B texts; the rows of a group stand one after the other.
        texts: B completions without their prompts, up to and including the end of the sentence if it was reached.
        tokens: Prompt and completion, filled up with EOS_ID after the end, int64, shape (B, T).
        prompt_length: Tokens of each prompt.
        entropy: Mean entropy of the policy's predictions for the tokens of the completions, in nats, 0-dim.
    """

    prompts: list[str]
    texts: list[str]
    tokens: Tensor
    prompt_length: int
    entropy: Tensor


def make_generator(seed: int) -> torch.Generator:
    """A source of random numbers of your own, so that nobody else's are disturbed; on the CPU, as `sample` wants it."""
    return torch.Generator().manual_seed(seed)


@torch.no_grad()
def sample(
    policy: nn.Module,
    prompts: Sequence[str],
    *,
    max_new_tokens: int,
    generator: torch.Generator,
    alphabet: str = ALPHABET,
) -> Completions:
    """Continue each prompt until its sentence ends.

    All rows are sampled together, token by token; a row that has ended is filled up with EOS_ID. The random numbers are
    drawn on the CPU, all at once, so a seed gives the same numbers on every device.

    Args:
        policy: Maps tokens (B, T) to logits (B, T, V).
        prompts: B texts with equally many tokens.
        max_new_tokens: Tokens of a completion at most; one that reaches them has no end.
        generator: Source of randomness, on the CPU; each call moves it on.
        alphabet: As for `CharTokenizer`.

    Returns:
        The completions; no graph.

    Raises:
        ValueError: no prompts, an empty one, or prompts of different lengths.
    """
    tokenizer = CharTokenizer(alphabet)
    encoded = [tokenizer.encode(prompt) for prompt in prompts]
    prompt_length = len(encoded[0]) if encoded else 0
    if not prompt_length or any(len(row) != prompt_length for row in encoded):
        raise ValueError(f"prompts must not be empty and must have equally many tokens, got {list(prompts)}")
    device = next(policy.parameters()).device
    uniform = torch.rand(max_new_tokens, len(encoded), dtype=torch.float64, generator=generator).to(device)
    tokens = torch.tensor(encoded, device=device)  # (B, prompt_length), one column longer with every new token
    next_logits = _NextLogits(policy, prompts)
    running = torch.ones(len(encoded), dtype=torch.bool, device=device)  # (B,)
    entropy, count = torch.zeros((), dtype=torch.float64, device=device), torch.zeros((), device=device)
    for numbers in uniform:
        logp = torch.log_softmax(next_logits(tokens).double(), dim=-1)  # (B, V)
        entropy -= torch.where(running, (logp.exp() * logp).sum(dim=-1), 0.0).sum()
        count += running.sum()
        # Inverse transform sampling: token k is drawn when the number falls into the k-th piece of [0, 1).
        ends = logp.exp().cumsum(dim=-1)  # (B, V)
        ends[:, -1] = 1.0  # and not 0.9999999 by rounding
        new = torch.searchsorted(ends, numbers[:, None], right=True).squeeze(-1)  # (B,)
        tokens = torch.cat([tokens, torch.where(running, new, EOS_ID)[:, None]], dim=-1)
        running = running & (new != EOS_ID)
        if not running.any():
            break
    texts = []
    for row in tokens[:, prompt_length:].tolist():
        end = row.index(EOS_ID) + 1 if EOS_ID in row else len(row)
        texts.append(tokenizer.decode(row[:end]))
    return Completions(
        prompts=list(prompts),
        texts=texts,
        tokens=tokens,
        prompt_length=prompt_length,
        entropy=entropy / count.clamp(min=1),
    )


class _NextLogits:
    """The logits of the next token of each row, shape (B, V).

    A model that has a cache reads each different prompt once, and then each new token once. Any other model reads the
    rows from their start for every new token.
    """

    def __init__(self, policy: nn.Module, prompts: Sequence[str]) -> None:
        self._policy = policy
        self._cache = Cache() if isinstance(policy, TinyLM) else None
        different = list(dict.fromkeys(prompts))
        self._first_rows = [prompts.index(prompt) for prompt in different]
        self._places = [different.index(prompt) for prompt in prompts]

    def __call__(self, tokens: Tensor) -> Tensor:
        if self._cache is None:
            logits: Tensor = self._policy(tokens)[:, -1]
        elif self._cache.length == 0:
            places = torch.tensor(self._places, device=tokens.device)
            logits = self._policy(tokens[self._first_rows], self._cache)[places, -1]
            self._cache.take_rows(places)
        else:
            logits = self._policy(tokens[:, -1:], self._cache)[:, -1]
        return logits


@torch.no_grad()
def completion_logp(policy: nn.Module, prompt: str, completions: Sequence[str], *, alphabet: str = ALPHABET) -> Tensor:
    """Exact log-probability of whole completions: no sampling, so no noise.

    The model reads prompt and completion at once and gives its prediction for every token (teacher forcing); the
    log-probability of the text is the sum of those of its tokens.

    Args:
        policy: Maps tokens (B, T) to logits (B, T, V).
        prompt: One text, not empty.
        completions: B texts. With the end of the sentence, "pizza.", it is the probability of exactly that completion;
            without, "pizza", that of all completions that begin so.
        alphabet: As for `CharTokenizer`.

    Returns:
        Natural logarithms, shape (B,), float64.
    """
    tokenizer = CharTokenizer(alphabet)
    device = next(policy.parameters()).device
    length = max(map(len, completions))
    rows = [tokenizer.encode(prompt + text) + [EOS_ID] * (length - len(text)) for text in completions]
    tokens = torch.tensor(rows, device=device)  # (B, T)
    logp = torch.log_softmax(policy(tokens).double(), dim=-1)[:, :-1]  # (B, T - 1, V)
    chosen = logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)[:, len(prompt) - 1 :]  # (B, length)
    ends = torch.tensor([len(text) for text in completions], device=device)
    real = torch.arange(length, device=device) < ends[:, None]  # (B, length)
    return torch.where(real, chosen, 0.0).sum(dim=-1)


def addition_accuracy(model: nn.Module) -> float:
    """Exact probability of the right sum, mean over all prompts."""
    logp = [completion_logp(model, prompt, [right_sum(prompt)]) for prompt in ADDITION_PROMPTS]
    return torch.cat(logp).exp().mean().item()
