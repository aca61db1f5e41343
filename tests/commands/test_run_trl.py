"""TRL's trainer with the course's functions, and the page that compares the two, tried with a small random model."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_llm import save_tiny_llm, tiny_llm

from reference import run_trl
from reference.given.charlm_training import CharLMConfig
from reference.given.llm_tasks import Task

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(
        importlib.util.find_spec("trl") is None and "CI" not in os.environ, reason='pip install -e ".[trl]"'
    ),
    pytest.mark.filterwarnings("ignore::FutureWarning:transformers"),  # its own calls of its old names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
PROMPTS = ["7 + 41 =", "3 + 4 =", "21 + 7 = 28\n3 + 4 =", "9"]
GROUP, LONGEST = 4, 5


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def digits() -> Task:
    return Task(
        name="digits",
        prompts=PROMPTS,
        held_out=PROMPTS,
        reward=lambda prompt, completion: float(completion[:1].isdigit()),
        max_new_tokens=LONGEST,
        measure="share of digits",
    )


def trainer_of(folder: Path, *, formulas: str = "mine", loss_type: str = "grpo", **settings: Any) -> Any:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(save_tiny_llm(folder))
    given = {"kl_coef": 0.1, "group_size": GROUP, **settings}
    config = CharLMConfig(prompts_per_step=len(PROMPTS), max_new_tokens=LONGEST, **given)
    trainer = run_trl.make_trainer(model, tiny_llm()[1], digits(), config, loss_type=loss_type, formulas=formulas)
    trainer.current_gradient_accumulation_steps = 1  # what `train` sets
    return trainer


def batch_of(trainer: Any) -> dict[str, Any]:
    """A batch as TRL makes it, with older and other policies, so that clip and KL have something to do."""
    trainer.model.train()
    torch.manual_seed(0)
    batch = trainer._generate_and_score_completions([{"prompt": text} for text in PROMPTS for _ in range(GROUP)])
    batch["advantages"] = torch.linspace(-2, 2, len(batch["advantages"]))
    for name, spread in (("old_per_token_logps", 0.4), ("ref_per_token_logps", 0.3)):
        batch[name] = batch["ref_per_token_logps"] + spread * torch.randn(batch["completion_ids"].shape)
    return dict(batch)


def loss_and_gradient(compute: Any, trainer: Any, batch: dict[str, Any]) -> tuple[float, torch.Tensor]:
    trainer.model.zero_grad()
    loss = compute(trainer.model, batch)
    loss.backward()
    return loss.item(), torch.cat([each.grad.flatten() for each in trainer.model.parameters()])


@pytest.mark.parametrize(("loss_type", "ratio_level"), [("grpo", "token"), ("bnpo", "sequence"), ("dapo", "token")])
def test_loss_and_gradient_are_those_of_trl(loss_type: str, ratio_level: str, tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, loss_type=loss_type, ratio_level=ratio_level)
    batch = batch_of(trainer)
    lengths = batch["completion_mask"].sum(dim=-1)
    assert len({*lengths.tolist()}) > 1, "equally long completions would make all levels of averaging the same"
    mine, gradient = loss_and_gradient(trainer._compute_loss, trainer, batch)
    theirs, expected = loss_and_gradient(super(type(trainer), trainer)._compute_loss, trainer, batch)
    assert 0 < trainer._metrics["train"]["clip_fraction"][-1] < 1, "the clip binds at some tokens and not at others"
    # float32: some 60 terms of at most 5, each rounded to 6e-8 of itself.
    assert mine == pytest.approx(theirs, abs=2e-6)
    assert (gradient - expected).abs().max() < 1e-5 * expected.abs().max()


@pytest.mark.parametrize("formulas", ["mine", "trl"])
def test_it_trains(formulas: str, tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, formulas=formulas, steps=40, lr=5e-3, kl_coef=0.0, group_size=8)
    trainer.train()
    rewards = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    assert sum(rewards[:5]) / 5 < 0.3 < 0.7 < sum(rewards[-5:]) / 5


def test_the_command_says_how_far_the_two_losses_are_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--model", str(save_tiny_llm(tmp_path)), "--steps", "2", "--inner-steps", "2", "--formulas", "both"]
    assert run_trl.main([*line, "--prompts-per-step", "2", "--group-size", "2", "--kl-coef", "0.1"]) == 0
    said = capsys.readouterr().out
    assert "share of right sums: 0.00 -> 0.00, 4 steps" in said
    assert "and TRL's on the same batch" in said
