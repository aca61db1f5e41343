"""Your `group_advantages` and `grpo_loss` on the batch of the page "GRPO as shipped", next to the libraries' numbers.

Given code, for `run_trl --batch`. The libraries' numbers were recorded, so you need not install any of them.
"""

import json
from pathlib import Path

import torch
from torch import Tensor

from ..advantages import group_advantages
from ..charlm import grpo_loss
from .charlm_training import CharLMConfig

_FOLDER = Path(__file__).parents[2]
RECORD = (_FOLDER / "course" if (_FOLDER / "course").is_dir() else _FOLDER) / "docs/assets/runs/as-shipped.json"


def compare() -> str:
    """A table of losses, yours and each library's, with each library's gradient compared with yours."""
    record = json.loads(RECORD.read_text("utf-8"))
    batch = record["batch"]
    logp, old, ref = (_padded(batch[name]) for name in ("logp", "old", "ref"))
    mask = _padded([[1.0] * len(row) for row in batch["logp"]]).bool()
    rewards = torch.tensor(batch["rewards"], dtype=torch.float64)
    advantages = group_advantages(rewards.reshape(-1, batch["group"])).reshape(-1)
    logp.requires_grad_()
    loss, _ = grpo_loss(logp, old, ref, advantages, mask, CharLMConfig())
    loss.backward()
    assert logp.grad is not None
    yours = logp.grad[mask]
    rows = [
        f"{'':<28}{'loss':>9}{'length':>9}{'cosine':>9}",
        f"{'your functions':<28}{loss.item():9.4f}{1:9.3f}{1:9.3f}",
    ]
    for setting, text in (("shipped", ""), ("equation_3", ", closest")):
        for library in record["libraries"]:
            if "loss" not in library[setting]:  # only its advantages can be run
                continue
            theirs = _padded(library[setting]["gradient"])[mask]
            length, cosine = theirs.norm() / yours.norm(), torch.cosine_similarity(theirs, yours, dim=0)
            rows.append(f"{library['name'] + text:<28}{library[setting]['loss']:9.4f}{length:9.3f}{cosine:9.3f}")
    return "\n".join(rows)


def _padded(rows: list[list[float]]) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row, dtype=torch.float64) for row in rows], batch_first=True)
