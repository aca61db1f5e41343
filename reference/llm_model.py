"""A pretrained language model as your five files want it: tokens of shape (B, T) in, logits of shape (B, T, V) out.

Given code. `LanguageModel` wraps a causal language model of the library transformers. What it adds:

- **One number for the end.** Your `train_step` asks `completion_mask` for EOS_ID, which is 0. So the token that ends a
  completion here, the line break, changes places with token 0: in the tokenizer and in the rows of the embeddings.
- **Prompts of different lengths.** Shorter ones are filled up in front, and nothing looks at what fills them.
- **Shared beginnings are read once.** The G rows of a group begin with the same prompt. It is read once, with its
  gradient, and each completion goes on from there.
- **The same question is answered once.** `train` and `train_step` ask for the logits of the same rows under the same
  weights up to three times: for old_logp, for logp, and, where there is no other reference policy, for ref_logp.

Left out on purpose: temperature, top-k and top-p, as in `charlm_sampling`; several devices; adapters (LoRA).

Symbols: B rows, T tokens in a row, S tokens of a beginning, V tokens in the vocabulary.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .charlm_sampling import Completions
from .charlm_task import EOS_ID


@dataclass(frozen=True, eq=False)
class _Known:
    """Logits (B, T, V) of some tokens (B, T), and the versions of the weights that they were computed with."""

    tokens: Tensor
    versions: list[int]
    logits: Tensor


class LanguageModel(nn.Module):
    """A causal language model of transformers with its tokenizer.

    Args:
        model: Maps token numbers to logits. It is taken over: two rows of its embeddings change places.
        tokenizer: Of this model.
        end: The text of one token, which ends a completion.
        dtype: What matrices are multiplied in; the weights keep their own dtype, so that small steps are not lost.

    Attributes:
        sampling_gap: The largest difference, in nats, between the log-probability of a sampled token when it was drawn
            and the one that training computed for it; of the last batch.

    Raises:
        ValueError: `end` is not one token of this tokenizer.
    """

    def __init__(self, model: Any, tokenizer: Any, *, end: str = "\n", dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.model, self._tokenizer, self._dtype = model, tokenizer, dtype
        numbers = tokenizer.encode(end, add_special_tokens=False)
        if len(numbers) != 1:
            raise ValueError(
                f"{end!r} must be one token to end a completion; this tokenizer makes {len(numbers)} of it"
            )
        self._end: int = numbers[0]
        filler = (each for each in (tokenizer.pad_token_id, tokenizer.eos_token_id) if each is not None)
        self._filler = self._renumber(next(filler, EOS_ID))
        self.exchange_numbers()
        self.sampling_gap = 0.0
        self._drawn: tuple[Completions, Tensor] | None = None
        self._known: _Known | None = None

    @torch.no_grad()
    def exchange_numbers(self) -> None:
        """Let the token that ends a completion and token 0 change places; a second time puts them back, to save it."""
        layers = (self.model.get_input_embeddings(), self.model.get_output_embeddings())
        for weight in {id(layer.weight): layer.weight for layer in layers if layer is not None}.values():
            weight[[EOS_ID, self._end]] = weight[[self._end, EOS_ID]]

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (B, T) to logits (B, T, V), float32."""
        wants_graph = torch.is_grad_enabled() and any(each.requires_grad for each in self.parameters())
        versions, known = [each._version for each in self.parameters()], self._known
        if known is None or known.versions != versions or not torch.equal(known.tokens, tokens):
            known = None
        if known is None or (wants_graph and not known.logits.requires_grad):
            # With a graph, even if nobody needs it now: the next question about these tokens will.
            with torch.enable_grad():
                known = _Known(tokens, versions, self._logits(tokens))
            self._compare_with_sampling(known)
        # A graph serves one backward pass.
        self._known = _Known(tokens, versions, known.logits.detach()) if wants_graph else known
        return known.logits if wants_graph else known.logits.detach()

    @torch.no_grad()
    def sample(self, prompts: Sequence[str], *, max_new_tokens: int, generator: torch.Generator | None) -> Completions:
        """Continue each prompt until its line ends.

        Args:
            prompts: B texts; equal ones are read once.
            max_new_tokens: Tokens of a completion at most.
            generator: Source of randomness, on the CPU; None takes the most probable token each time.

        Returns:
            The completions, as those of `charlm_sampling.sample`.
        """
        self._known = None  # its graph would take memory for nothing
        different = list(dict.fromkeys(prompts))
        beginnings = self.encode(different)  # (different prompts, S)
        rows = torch.tensor([different.index(prompt) for prompt in prompts], device=beginnings.device)  # (B,)
        out = self._read(beginnings)
        out.past_key_values.batch_select_indices(rows)
        tokens, logits = beginnings[rows], out.logits[rows, -1]  # (B, S), (B, V)
        running = torch.ones(len(rows), dtype=torch.bool, device=tokens.device)  # (B,)
        entropy, count, logp_drawn = 0.0, 0, []
        for place in range(max_new_tokens):
            if place:
                out = self._read(tokens, after=out.past_key_values)
                logits = out.logits[:, -1]
            logp = torch.log_softmax(logits.float(), dim=-1)  # (B, V)
            entropy -= torch.where(running[:, None], logp.exp() * logp, 0.0).sum().item()
            count += int(running.sum())
            new = logp.argmax(dim=-1) if generator is None else _draw(logp, generator)  # (B,)
            new = torch.where(running, new, EOS_ID)
            logp_drawn.append(torch.where(running, logp.gather(-1, new[:, None]).squeeze(-1), torch.nan))
            tokens = torch.cat([tokens, new[:, None]], dim=-1)
            running = running & (new != EOS_ID)
            if not running.any():
                break
        length = beginnings.shape[-1]
        texts = [self._text(row) for row in tokens[:, length:].tolist()]
        completions = Completions(
            prompts=list(prompts),
            texts=texts,
            tokens=tokens,
            prompt_length=length,
            entropy=torch.tensor(entropy / max(count, 1), dtype=torch.float64),
        )
        self._drawn = completions, torch.stack(logp_drawn, dim=-1)
        return completions

    def encode(self, prompts: Sequence[str]) -> Tensor:
        """Tokens of some prompts, filled up in front to one length: int64, shape (B, S)."""
        encoded = (self._tokenizer.encode(prompt, add_special_tokens=False) for prompt in prompts)
        rows = [[self._renumber(number) for number in row] for row in encoded]
        longest = max(map(len, rows))
        filled = [[self._filler] * (longest - len(row)) + row for row in rows]
        return torch.tensor(filled, device=next(self.parameters()).device)

    def _text(self, row: list[int]) -> str:
        end = row.index(EOS_ID) + 1 if EOS_ID in row else len(row)
        return str(self._tokenizer.decode([self._renumber(number) for number in row[:end]]))

    def _renumber(self, number: int) -> int:
        return {EOS_ID: self._end, self._end: EOS_ID}.get(number, number)

    def _logits(self, tokens: Tensor) -> Tensor:
        """Logits of all tokens, shape (B, T, V), float32; what several rows begin with is read once."""
        shared, first, own = _shared_beginnings(tokens.tolist())
        if not shared:
            return torch.as_tensor(self._read(tokens).logits.float())
        rows = torch.tensor(own, device=tokens.device)  # (B,)
        out = self._read(tokens[first, :shared])
        logits = out.logits[rows]  # (B, S, V)
        if shared < tokens.shape[-1]:
            out.past_key_values.batch_select_indices(rows)
            rest = self._read(tokens, after=out.past_key_values)
            logits = torch.cat([logits, rest.logits], dim=1)  # (B, T, V)
        return torch.as_tensor(logits.float())

    def _read(self, tokens: Tensor, after: Any = None) -> Any:
        """Logits of the tokens that are not in a cache yet, (B, new, V), and the cache with all of them."""
        known = after.get_seq_length() if after is not None else 0
        is_text = (tokens != self._filler).cummax(dim=-1).values  # (B, T): False for what fills a row up in front
        positions = (is_text.cumsum(dim=-1) - 1).clamp(min=0)  # (B, T)
        faster = self._dtype != torch.float32
        with torch.autocast(tokens.device.type, dtype=self._dtype) if faster else nullcontext():
            return self.model(
                tokens[:, known:],
                attention_mask=is_text.long(),
                position_ids=positions[:, known:],
                past_key_values=after,
                use_cache=True,
            )

    @torch.no_grad()
    def _compare_with_sampling(self, known: _Known) -> None:
        if self._drawn is None or not torch.equal(self._drawn[0].tokens, known.tokens):
            return
        completions, drawn = self._drawn
        start = completions.prompt_length
        logp = torch.log_softmax(known.logits[:, start - 1 : -1], dim=-1)  # (B, T - S, V)
        again = logp.gather(-1, known.tokens[:, start:, None]).squeeze(-1)  # (B, T - S)
        self.sampling_gap = (again - drawn).abs().nan_to_num(0.0).max().item()


def _draw(logp: Tensor, generator: torch.Generator) -> Tensor:
    """One token of each row, by inverse transform sampling with random numbers from the CPU."""
    numbers = torch.rand(len(logp), 1, dtype=torch.float64, generator=generator).to(logp.device)
    ends = logp.double().exp().cumsum(dim=-1)  # (B, V): token k is drawn when the number falls into the k-th piece
    return torch.searchsorted(ends / ends[:, -1:], numbers, right=True).squeeze(-1).clamp(max=logp.shape[-1] - 1)


def _shared_beginnings(rows: list[list[int]]) -> tuple[int, list[int], list[int]]:
    """How many tokens to read once for all rows that begin alike, so that the fewest tokens are read in all.

    Args:
        rows: B rows of T tokens.

    Returns:
        S, from 0 to T; for each different beginning of S tokens, the first row with it; and for each row, the place of
        its beginning among these.
    """
    length = len(rows[0])

    def beginnings(size: int) -> dict[tuple[int, ...], int]:
        return {tuple(row[:size]): place for place, row in reversed([*enumerate(rows)])}

    shared = min(range(length + 1), key=lambda size: len(beginnings(size)) * size + len(rows) * (length - size))
    first = sorted(beginnings(shared).values())
    places = {tuple(rows[row][:shared]): place for place, row in enumerate(first)}
    return shared, first, [places[tuple(row[:shared])] for row in rows]
