"""Given code of the language model exercise: the language models.

A language model here is any `torch.nn.Module` that maps tokens of shape (B, T) to logits of shape (B, T, V). The logits
at position t predict token t + 1 from the tokens up to and including t.

- `TinyLM` is a small GPT. It has all parts of a large GPT, and 29,352 parameters in its smallest size.
- `BigramLM` looks only at the last token. Its parameters are its logits, so you can compute its output by hand.

Left out on purpose: dropout. With dropout, the ratio of the first update would not be 1.

Symbols: B sequences, T tokens each, V tokens in the vocabulary.

Source: Radford et al. 2019, Language Models are Unsupervised Multitask Learners (the order of the layers).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

WEIGHTS = Path(__file__).with_name("charlm.safetensors")
"""The pretrained weights that come with the course."""


@dataclass(frozen=True, kw_only=True)
class TinyLMConfig:
    """Size of a `TinyLM`.

    Attributes:
        vocabulary: Number of tokens V.
        context: Length of the longest sequence, in tokens.
        width: Size of the vector that represents a token between the layers.
        layers: Number of transformer blocks.
        heads: Attention heads per block; must divide `width`.
    """

    vocabulary: int = 40
    context: int = 40
    width: int = 32
    layers: int = 2
    heads: int = 2

    def __post_init__(self) -> None:
        if min(asdict(self).values()) < 1 or self.width % self.heads:
            raise ValueError(f"all sizes must be at least 1, and heads must divide width, got {self}")


class Cache:
    """The keys and values of the tokens that a `TinyLM` has read, so that each token is computed once.

    Attributes:
        keys_values: Keys and values of each block, each of shape (B, heads, T, width / heads).
    """

    def __init__(self) -> None:
        self.keys_values: list[tuple[Tensor, Tensor]] = []

    @property
    def length(self) -> int:
        """Number of tokens T that the model has read."""
        return self.keys_values[0][0].shape[-2] if self.keys_values else 0

    def extend(self, block: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new tokens to a block, and return all of its keys and values."""
        if block == len(self.keys_values):
            self.keys_values.append((keys, values))
        else:
            old_keys, old_values = self.keys_values[block]
            self.keys_values[block] = torch.cat([old_keys, keys], dim=-2), torch.cat([old_values, values], dim=-2)
        return self.keys_values[block]

    def take_rows(self, rows: Tensor) -> None:
        """Keep the rows with these indices, shape (B,); an index may occur more than once."""
        self.keys_values = [(keys[rows], values[rows]) for keys, values in self.keys_values]


class Block(nn.Module):
    """One transformer block: attention to earlier tokens, then a feed-forward layer; each is added to its input."""

    def __init__(self, config: TinyLMConfig, number: int) -> None:
        super().__init__()
        self.number, self.heads = number, config.heads
        self.attention_norm = nn.LayerNorm(config.width)
        self.queries_keys_values = nn.Linear(config.width, 3 * config.width)
        self.attention_out = nn.Linear(config.width, config.width)
        self.mlp_norm = nn.LayerNorm(config.width)
        self.mlp_in = nn.Linear(config.width, 4 * config.width)
        self.mlp_out = nn.Linear(4 * config.width, config.width)

    def forward(self, x: Tensor, cache: Cache | None = None) -> Tensor:
        """Map (B, T, width) to (B, T, width)."""
        rows, length, width = x.shape
        joint: Tensor = self.queries_keys_values(self.attention_norm(x))  # (B, T, 3 * width)
        q, k, v = joint.view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # (B, heads, T, width / heads)
        if cache is not None:
            k, v = cache.extend(self.number, k, v)
        # A single new token may attend to everything before it.
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=length > 1)  # (B, heads, T, width / heads)
        x = x + self.attention_out(mixed.transpose(1, 2).reshape(rows, length, width))
        out: Tensor = x + self.mlp_out(functional.relu(self.mlp_in(self.mlp_norm(x))))
        return out


class TinyLM(nn.Module):
    """A small GPT.

    Args:
        config: Its size.
        weights: Maps parameter names to tensors, whose dtype and device the model takes over. None draws new weights
            with the global random generator, as every module of torch does.
    """

    def __init__(self, config: TinyLMConfig, weights: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList(Block(config, number) for number in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary)
        if weights is not None:
            self.load_state_dict(dict(weights), assign=True)
            self.requires_grad_()
            return
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=config.width**-0.5 / 2)

    def forward(self, tokens: Tensor, cache: Cache | None = None) -> Tensor:
        """Map tokens (B, T) to logits (B, T, V).

        Args:
            tokens: Whole rows, or one new token per row if the cache is not empty.
            cache: Holds the tokens that were read before; the new ones are added.

        Raises:
            ValueError: there are more tokens than the context holds, or several new tokens per row.
        """
        start = cache.length if cache is not None else 0
        length = start + tokens.shape[-1]
        if length > self.config.context:
            raise ValueError(f"the context holds {self.config.context} tokens, got {length}")
        if start and tokens.shape[-1] != 1:
            raise ValueError(f"with a cache, tokens come one by one, got {tokens.shape[-1]}")
        if cache is not None:
            return self._logits(tokens, start, cache)
        # Many rows of a group are equal. Finding them is cheaper than computing them twice.
        different, which = torch.unique(tokens, dim=0, return_inverse=True)
        return self._logits(different)[which]

    def _logits(self, tokens: Tensor, start: int = 0, cache: Cache | None = None) -> Tensor:
        x = self.tokens(tokens) + self.positions.weight[start : start + tokens.shape[-1]]  # (B, T, width)
        for block in self.blocks:
            x = block(x, cache)
        logits: Tensor = self.head(self.norm(x))  # (B, T, V)
        return logits


class BigramLM(nn.Module):
    """A language model that looks only at the last token: row c of its table has the logits of the token after c.

    Args:
        table: Logits, shape (V, V). The model copies them.
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table.detach().clone())

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (B, T) to logits (B, T, V)."""
        return self.table[tokens]


def seeded_model(config: TinyLMConfig, seed: int) -> TinyLM:
    """A `TinyLM` that is the same on every machine: float64 weights between -1 and 1, with two decimals.

    The checks call your functions with this model where a table of logits is not enough.
    """
    random, model = np.random.default_rng(seed), TinyLM(config)
    weights = {
        name: torch.tensor(random.uniform(-1, 1, each.shape).round(2)) for name, each in model.named_parameters()
    }
    return TinyLM(config, weights)


def save_weights(model: TinyLM, path: Path, *, made_by: str) -> None:
    """Write a model as safetensors: its parameters, its size, and the command that made it."""
    from safetensors.torch import save

    about = json.dumps(
        {"made_by": made_by, "size": asdict(model.config)}
    )  # one entry, because safetensors writes several in any order
    weights = {name: value.cpu().contiguous() for name, value in model.state_dict().items()}
    path.write_bytes(save(weights, {"about": about}))


def load_model(path: Path = WEIGHTS, *, device: str = "cpu") -> TinyLM:
    """Read a model that `save_weights` wrote; without a path, read the course's pretrained model.

    Raises:
        FileNotFoundError: the file does not exist.
    """
    from safetensors import safe_open

    if not path.is_file():
        raise FileNotFoundError(f"there are no weights in {path}; name a file that `save_weights` wrote")
    with safe_open(path, "pt", device=device) as file:
        config = TinyLMConfig(**json.loads(file.metadata()["about"])["size"])
        return TinyLM(config, {name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118 - not a dict
