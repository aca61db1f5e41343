"""A language model of SmolLM2's architecture, random and small, in the format of transformers."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import torch

ALPHABET = "\x00" + string.ascii_letters + string.digits + " +=?.\n:"


def tiny_llm(seed: int = 0) -> tuple[Any, Any]:
    """A model with two layers, and a tokenizer with one token for each character; the line break is not token 0."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = {character: number for number, character in enumerate(ALPHABET)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="\x00"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(ALPHABET),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        initializer_range=0.3,
    )
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="\x00", eos_token="\x00")
    return LlamaForCausalLM(config).eval(), made


def save_tiny_llm(folder: Path) -> Path:
    """Write it as transformers does."""
    model, tokenizer = tiny_llm()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
