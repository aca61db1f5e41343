"""TRL's GRPOTrainer on the language model of the course, for `bench_charlm.py` to compare with.

TRL is no dependency of the course: `pip install trl` to make this module importable. The model is the same `TinyLM`
inside the class that transformers wants, with the same weights; its settings are those of `CharLMConfig`, and what TRL
does by default and the course does not (gradient checkpointing, bfloat16, clipping of the gradient's norm, logs, files)
is off, so that the two do the same work.

Left out on purpose: a cache of keys and values in `generate`, which computes the prompt again for each token (the cache
of `TinyLM` has another shape; transformers' GPT-2 of the same size took as long with its own cache), anything on a GPU.
"""

import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing here is to be downloaded
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch
import transformers
import trl
from datasets import Dataset
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput

from reference.charlm_model import TinyLM, TinyLMConfig
from reference.charlm_task import ALPHABET, EOS_ID, PIZZA_PROMPT, CharTokenizer, pizza_reward
from reference.charlm_training import CharLMConfig

transformers.utils.logging.disable_progress_bar()
warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")  # its own calls of its old names

VERSIONS = f"trl {trl.__version__}, transformers {transformers.__version__}"


class WrappedConfig(transformers.PretrainedConfig):
    """Size of the model, as transformers wants it."""

    model_type = "course_tiny_lm"

    def __init__(self, size: dict[str, int] | None = None, **others: Any) -> None:
        self.size = size or asdict(TinyLMConfig())
        self.hidden_size, self.vocab_size = self.size["width"], self.size["vocabulary"]
        self.num_hidden_layers = self.size["layers"]
        self.auto_map: dict[str, str] = {}  # TRL asks for it; empty: the class is registered below
        ends = {"bos_token_id": None, "eos_token_id": EOS_ID, "pad_token_id": EOS_ID}
        super().__init__(**{**others, **ends, "tie_word_embeddings": False})


class Backbone(nn.Module):
    """Everything of a `TinyLM` but its head, because TRL applies the head itself.

    Attributes:
        equal_rows_once: Compute equal rows only once, as `TinyLM` does on a CPU; models for TRL do not.
    """

    def __init__(self, size: TinyLMConfig) -> None:
        super().__init__()
        self.lm = TinyLM(size)
        self.lm.add_module("head", nn.Identity())
        self.equal_rows_once = False

    def forward(self, input_ids: Tensor, **_: Any) -> BaseModelOutput:
        # Prompts are equally long and the rest is filled up on the right, so a causal model needs no attention mask.
        forward = self.lm if self.equal_rows_once else self.lm.logits
        return BaseModelOutput(last_hidden_state=forward(input_ids))


class WrappedLM(transformers.PreTrainedModel, transformers.GenerationMixin):
    """A `TinyLM` that transformers can load and generate with."""

    config_class = WrappedConfig
    base_model_prefix = "backbone"

    def __init__(self, config: WrappedConfig) -> None:
        super().__init__(config)
        size = TinyLMConfig(**config.size)
        self.backbone = Backbone(size)
        self.lm_head = nn.Linear(size.width, size.vocabulary)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: the weights are always those of a model that exists."""

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def prepare_inputs_for_generation(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, **_: Any
    ) -> dict[str, Tensor]:
        return {"input_ids": input_ids}

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **_: Any) -> CausalLMOutput:
        return CausalLMOutput(logits=self.lm_head(self.backbone(input_ids).last_hidden_state))


transformers.AutoConfig.register(WrappedConfig.model_type, WrappedConfig)
transformers.AutoModelForCausalLM.register(WrappedConfig, WrappedLM)


def wrap(model: TinyLM) -> WrappedLM:
    """The same weights in the other class (a copy)."""
    wrapped = WrappedLM(WrappedConfig(asdict(model.config)))
    weights = model.state_dict()
    wrapped.lm_head.load_state_dict({name: weights.pop(f"head.{name}") for name in ("weight", "bias")})
    wrapped.backbone.lm.load_state_dict(weights)
    return wrapped


def character_tokenizer() -> transformers.PreTrainedTokenizerFast:
    """`CharTokenizer` for transformers."""
    tokenizer = Tokenizer(
        models.WordLevel({character: number for number, character in enumerate(ALPHABET)}, ALPHABET[0])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.decoder = decoders.Fuse()
    end = ALPHABET[EOS_ID]
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=end, pad_token=end)


def reward(prompts: list[str], completion_ids: list[list[int]], **_: Any) -> list[float]:
    """`pizza_reward`; of the tokens, because the texts that TRL hands over have lost their end."""
    return pizza_reward(prompts, [CharTokenizer().decode(row) for row in completion_ids]).tolist()


def trl_train(
    model: TinyLM,
    config: CharLMConfig,
    *,
    seed: int,
    equal_rows_once: bool,
    before: Callable[[], object],
    after_step: Callable[[nn.Module], object],
) -> None:
    """Train a copy of the model with TRL.

    Args:
        model: Policy at the start, and reference policy.
        config: Settings.
        seed: Of the run.
        equal_rows_once: As for `Backbone`, of both policies.
        before: Called when everything is set up, before the first step.
        after_step: Called after each step with the policy, a module that maps tokens (B, T) to logits (B, T, V).
    """
    with tempfile.TemporaryDirectory() as folder:
        wrapped = wrap(model)
        wrapped.save_pretrained(folder)  # TRL reads the reference policy from there
        policy = WrappedLM.from_pretrained(folder)
        optimizer = torch.optim.Adam(policy.parameters(), lr=config.lr, fused=True)
        slope = (1 - config.final_lr) / max(1, config.steps - 1)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: max(config.final_lr, 1 - slope * done))
        trainer = trl.GRPOTrainer(
            policy,
            reward,
            args=_arguments(config, seed, Path(folder)),
            train_dataset=Dataset.from_dict({"prompt": [PIZZA_PROMPT] * (config.prompts_per_step * config.steps)}),
            processing_class=character_tokenizer(),
            optimizers=(optimizer, schedule),
            callbacks=[_Callbacks(before, lambda: after_step(Logits(policy)))],
        )
        for each in (policy, trainer.ref_model):
            each.backbone.equal_rows_once = equal_rows_once
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()


def _arguments(config: CharLMConfig, seed: int, folder: Path) -> trl.GRPOConfig:
    return trl.GRPOConfig(
        output_dir=str(folder),
        per_device_train_batch_size=config.prompts_per_step * config.group_size,
        num_generations=config.group_size,
        max_completion_length=config.max_new_tokens,
        max_steps=config.steps,
        beta=config.kl_coef,
        epsilon=config.clip_eps,
        loss_type="grpo",
        max_grad_norm=0.0,
        activation_checkpointing=False,
        bf16=False,
        use_cpu=True,
        seed=seed,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        generation_kwargs={"use_cache": False},
    )


class Logits(nn.Module):
    """A wrapped model as a language model of the course."""

    def __init__(self, wrapped: WrappedLM) -> None:
        super().__init__()
        self.wrapped = wrapped

    def forward(self, tokens: Tensor) -> Tensor:
        return self.wrapped(tokens).logits


class _Callbacks(transformers.TrainerCallback):
    def __init__(self, before: Callable[[], object], after_step: Callable[[], object]) -> None:
        self.before, self.after_step = before, after_step

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self.before()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.after_step()
