"""Writes `language_model.json`: what torch computes with the model answers, for the language model in the browser.

    python tests/golden/language_model.py          # or: make golden

Torch works in float64 here, and numbers are rounded to eight digits, because the last bits differ between machines.
Cases of the small model hold every gradient. The case of the real model holds every 29th: all would be 300 kB.
"""

import functools
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from reference import charlm  # noqa: E402
from reference.advantages import group_advantages  # noqa: E402
from reference.clip import clip_fraction, clipped_surrogate  # noqa: E402
from reference.given.charlm_model import TinyLM, TinyLMConfig, load_model, seeded_model  # noqa: E402
from reference.given.charlm_task import EOS_ID, CharTokenizer  # noqa: E402
from reference.given.charlm_training import CharLMConfig, make_optimizer  # noqa: E402

PATH = Path(__file__).with_suffix(".json")
SMALL = TinyLMConfig(context=24, width=4)
EVERY = 29  # gradients of the real model that are recorded
PROMPT = "ravin likes "
GROUP = ["pizza.", "ice cream.", "pizza.", "pizzazzzzz", "soda.", "."]
REWARDS = [4.0, 0.0, 4.0, 1.5, 0.0, -1.0]
CASES: list[dict[str, Any]] = [
    {"name": "defaults", "settings": {}},
    {"name": "by token, wide clip above", "settings": {"loss_level": "token", "clip_eps": 0.1, "clip_eps_high": 0.28}},
    {"name": "one ratio per completion", "settings": {"ratio_level": "sequence", "clip_eps": 0.05, "kl_coef": 0.5}},
    {"name": "hot, mean only", "settings": {"temperature": 1.5, "divide_by_std": False, "kl_coef": 0.0}},
    {"name": "the real model", "settings": {"temperature": 0.8, "clip_eps_high": 0.28, "clip_eps": 0.1}, "real": True},
]


class Tempered(nn.Module):
    """A model whose logits are divided by a temperature."""

    def __init__(self, model: nn.Module, temperature: float) -> None:
        super().__init__()
        self.model, self.temperature = model, temperature

    def forward(self, tokens: Tensor) -> Tensor:
        return self.model(tokens) / self.temperature


def nudged(model: TinyLM, size: float) -> TinyLM:
    """A copy whose weights are a little off, by a rule that JavaScript follows: + size * (n % 101 - 50) at place n."""
    copy, place = TinyLM(model.config).double(), 0
    copy.load_state_dict(model.state_dict())
    with torch.no_grad():
        for parameter in ordered(copy).values():
            places = torch.arange(place, place + parameter.numel(), dtype=torch.float64)
            parameter += (size * (places % 101 - 50)).reshape(parameter.shape)
            place += parameter.numel()
    return copy


def ordered(model: TinyLM) -> dict[str, Tensor]:
    """The parameters by name, in the order of `layout` in weights.mjs."""
    return dict(model.named_parameters())


def rounded(values: Tensor | list[float]) -> list[float]:
    return [float(f"{value:.8g}") for value in torch.as_tensor(values).detach().flatten().tolist()]


def result(case: dict[str, Any]) -> dict[str, Any]:
    """What torch makes of a case: log-probabilities, loss, metrics, gradients, and the weights after a step of Adam."""
    settings = dict(case["settings"])
    temperature, high = settings.pop("temperature", 1.0), settings.pop("clip_eps_high", None)
    divide, every = settings.pop("divide_by_std", True), EVERY if case.get("real") else 1
    config = replace(CharLMConfig(), **settings)
    base = load_model().double() if case.get("real") else seeded_model(SMALL, 0)
    size = 2e-4 if case.get("real") else 4e-3
    old, policy = nudged(base, -size), nudged(base, size)
    encode = CharTokenizer().encode
    width = max(map(len, GROUP))
    tokens = torch.tensor([encode(PROMPT + text) + [EOS_ID] * (width - len(text)) for text in GROUP])
    mask = charlm.completion_mask(tokens, len(PROMPT), EOS_ID)
    advantages = group_advantages(torch.tensor(REWARDS, dtype=torch.float64), divide_by_std=divide)
    logp, old_logp, ref_logp = (
        charlm.token_logp(Tempered(model, temperature), tokens) for model in (policy, old, base)
    )
    logits = policy(tokens[:1])[
        0, len(PROMPT) - 1 : len(PROMPT) - 1 + len(GROUP[0])
    ]  # that predict the first completion
    clip, share = (functools.partial(each, clip_eps_high=high) for each in (clipped_surrogate, clip_fraction))
    with patch.object(charlm, "clipped_surrogate", clip), patch.object(charlm, "clip_fraction", share):
        loss, metrics = charlm.grpo_loss(logp, old_logp, ref_logp, advantages, mask, config)
    loss.backward()
    gradient = torch.cat(
        [
            (parameter.grad if parameter.grad is not None else parameter * 0).flatten()
            for parameter in ordered(policy).values()
        ]
    )
    make_optimizer(policy, config).step()
    after = torch.cat([parameter.flatten() for parameter in ordered(policy).values()])
    return {
        "size": size,
        "every": every,
        "logits": rounded(logits),
        "logp": [rounded(row[kept]) for row, kept in zip(logp, mask, strict=True)],
        "loss": rounded(loss)[0],
        **{name: rounded(value)[0] for name, value in metrics.items()},
        "gradientNorm": rounded(gradient.norm())[0],
        "gradient": rounded(gradient[::every]),
        "after": rounded(after[::every]),
    }


def make() -> str:
    """The text of the file."""
    small = seeded_model(SMALL, 0)
    head = {
        "generated": "`make golden` writes this with torch and the model answers, from tests/golden/language_model.py",
        "prompt": PROMPT,
        "texts": GROUP,
        "rewards": REWARDS,
        "small": {
            "size": {"vocabulary": 40, "context": 24, "width": 4, "layers": 2, "heads": 2},
            "weights": {name: rounded(value) for name, value in ordered(small).items()},
        },
    }
    cases = ",\n".join(json.dumps({**case, **result(case)}) for case in CASES)
    return json.dumps(head)[:-1] + f',\n"cases": [\n{cases}\n]}}\n'


if __name__ == "__main__":
    PATH.write_text(make(), "utf-8")
