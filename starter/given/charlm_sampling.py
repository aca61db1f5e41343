"""Given code of the language model exercise: sampling of whole groups, and exact probabilities of completions.

Left out on purpose: temperature, top-k and top-p. The loss uses the policy's own log-probabilities, so the samples must
come from the unchanged policy.

Symbols: P prompts per step, G completions per prompt (the group size), B = P * G rows, T tokens in a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from .charlm_model import Cache, TinyLM
from .charlm_task import ADDITION_PROMPTS, ALPHABET, EOS_ID, CharTokenizer, right_sum


@dataclass(frozen=True, kw_only=True, eq=False)
class Completions:
    """A batch of completions.

    Attributes:
        prompts: B texts; the rows of a group follow one another.
        texts: B completions without their prompts, up to and including the end of the sentence if it was reached.
        tokens: Prompt and completion, padded with EOS_ID after the end, int64, shape (B, T).
        prompt_length: Number of tokens in each prompt.
        entropy: Mean entropy of the policy's predictions for the tokens of the completions, in nats, 0-dim.
    """

    prompts: list[str]
    texts: list[str]
    tokens: Tensor
    prompt_length: int
    entropy: Tensor


def make_generator(seed: int) -> torch.Generator:
    """A random generator on the CPU for `sample`. It leaves the global generator alone."""
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

    All rows are sampled together, token by token. A row that has ended is padded with EOS_ID. The random numbers are
    all drawn on the CPU in one call, so a seed gives the same numbers on every device.

    Args:
        policy: Maps tokens (B, T) to logits (B, T, V).
        prompts: B texts with the same number of tokens.
        max_new_tokens: Length limit of a completion, in tokens; one that is cut off there has no end.
        generator: Source of randomness, on the CPU; each call advances it.
        alphabet: As for `CharTokenizer`.

    Returns:
        The completions, without an autograd graph.

    Raises:
        ValueError: there is no prompt, a prompt is empty, or the prompts differ in length.
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
        entropies = functional.cross_entropy(logp, logp.exp(), reduction="none")  # (B,), of the policy with itself
        entropy += torch.where(running, entropies, 0.0).sum()
        count += running.sum()
        # Inverse transform sampling: draw token k if the number falls into the k-th piece of [0, 1).
        ends = logp.exp().cumsum(dim=-1)  # (B, V)
        ends[:, -1] = 1.0  # rounding could leave 0.9999999
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

    A model with a cache reads each different prompt once, and then each new token once. Any other model reads all rows
    from the start for every new token.
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

    The model predicts each token from the ones before it, which are given and not sampled (teacher forcing). The
    log-probability of a text is the sum over its tokens.

    Args:
        policy: Maps tokens (B, T) to logits (B, T, V).
        prompt: One text, not empty.
        completions: B texts. A text with the end of the sentence, "pizza.", gives the probability of exactly that
            completion; "pizza" gives the probability of all completions that begin with it.
        alphabet: As for `CharTokenizer`.

    Returns:
        Natural logarithms, shape (B,), float64.
    """
    tokenizer = CharTokenizer(alphabet)
    device = next(policy.parameters()).device
    length = max(map(len, completions))
    rows = [tokenizer.encode(prompt + text) + [EOS_ID] * (length - len(text)) for text in completions]
    tokens = torch.tensor(rows, device=device)  # (B, T)
    ends = torch.tensor([len(prompt + text) for text in completions], device=device)  # (B,)
    every_row = torch.arange(len(completions), device=device)  # (B,)
    next_logits = _NextLogits(policy, [prompt] * len(completions))
    total = torch.zeros(len(completions), dtype=torch.float64, device=device)  # (B,)
    for place in range(len(prompt), tokens.shape[-1]):
        logp = torch.log_softmax(next_logits(tokens[:, :place]).double(), dim=-1)  # (B, V)
        total += torch.where(ends > place, logp[every_row, tokens[:, place]], 0.0)
    return total


def addition_accuracy(model: nn.Module) -> float:
    """Exact probability of the right sum, averaged over all prompts."""
    logp = [completion_logp(model, prompt, [right_sum(prompt)]) for prompt in ADDITION_PROMPTS]
    return torch.cat(logp).exp().mean().item()
