"""TRL's trainer with the course's functions, and the page that compares the two, tried with a small random model."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_llm import save_tiny_llm, tiny_llm

from grader.core import course
from reference import run_trl
from reference.advantages import group_advantages
from reference.charlm_training import CharLMConfig
from reference.llm_tasks import Task

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


@pytest.mark.parametrize("ratio_level", ["token", "sequence"])
@pytest.mark.parametrize("loss_type", ["grpo", "bnpo", "dapo"])
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


def test_where_the_formulas_differ_it_is_by_what_the_page_says(tmp_path: Path) -> None:
    from trl import GRPOTrainer

    trainer = trainer_of(tmp_path)
    batch = batch_of(trainer)
    paid = torch.tensor([[0.0, 1.0, 1.0, 3.0], [0.7, 0.7, 0.7, 0.7], [1.0, 0.0, 0.0, 0.0], [1e-3, 0.0, 0.0, 0.0]])
    trainer._calculate_rewards = lambda *_: paid.reshape(-1, 1)
    inputs = [{"prompt": text} for text in PROMPTS for _ in range(GROUP)]
    theirs = GRPOTrainer._generate_and_score_completions(trainer, inputs)["advantages"].reshape(paid.shape)
    mine = group_advantages(paid)
    spread = paid.std(dim=-1, correction=1, keepdim=True)
    expected = mine * ((GROUP - 1) / GROUP) ** 0.5 * spread / (spread + 1e-4)
    assert torch.allclose(theirs, expected, rtol=1e-4)
    assert (theirs / mine)[3, 0] == pytest.approx(0.866 * 5e-4 / 6e-4, abs=1e-3), "a tenth-of-a-percent reward"

    def loss(loss_type: str) -> float:
        trainer.loss_type = loss_type
        return float(GRPOTrainer._compute_loss(trainer, trainer.model, batch).item())

    share = batch["completion_mask"].sum().item() / batch["completion_mask"].numel()
    longest = trainer.max_completion_length / batch["completion_mask"].shape[-1]
    assert loss("dr_grpo") == pytest.approx(loss("bnpo") * share / longest, rel=1e-4)

    # Where the policy has drawn the batch itself, the correction of the KL changes its gradient and not its value.
    trainer.loss_type = "grpo"
    own = {name: value for name, value in batch.items() if name != "old_per_token_logps"}
    own["advantages"] = torch.zeros_like(batch["advantages"])
    (plain, gradient), (corrected, other) = (
        loss_and_gradient(super(type(trainer), trainer)._compute_loss, trainer, own)
        for trainer.args.use_bias_correction_kl in (False, True)
    )
    assert plain == pytest.approx(corrected, abs=2e-6)
    assert (gradient - other).norm() > 0.05 * gradient.norm()
    trainer.args.use_bias_correction_kl = False

    batch["advantages"] = -torch.ones_like(batch["advantages"])  # no clip where a bad sample becomes likely
    batch["old_per_token_logps"] = batch["old_per_token_logps"] - 25
    trainer.beta = 0.0
    trainer._config = dataclasses.replace(trainer._config, kl_coef=0.0)
    assert trainer._compute_loss(trainer.model, batch).item() == pytest.approx(torch.tensor(20.0).exp().item())
    assert loss("grpo") > 20 * torch.tensor(20.0).exp()


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
    assert "and TRL's of the same batch" in said


def test_the_page_has_the_defaults_of_the_installed_version() -> None:
    import trl

    page = (course.ROOT / "docs/reference/trl.md").read_text("utf-8")
    assert f"TRL {trl.__version__}" in page
    rows = re.findall(r"^\| `(\w+)` \(([^)]+)\) \| `(\w+)` \(([^)]+)\) \|", page, re.MULTILINE)
    assert len(rows) == page.count("| `", page.index("## Names"), page.index("## Where")) // 2 > 10
    ours = {each.name: each.default for each in dataclasses.fields(CharLMConfig)}
    ours |= {"std_eps": 1e-8, "divide_by_std": True, "clip_eps_high": None}
    theirs = {each.name: each.default for each in dataclasses.fields(trl.GRPOConfig)}
    for name, default, their_name, their_default in rows:
        assert str(ours[name]) == default, name
        assert str(theirs[their_name]) == their_default, their_name
    assert theirs["max_grad_norm"] == 1 and theirs["gradient_checkpointing"] and theirs["use_bias_correction_kl"]


def test_the_defaults_are_those_of_the_installed_version_and_the_table_of_libraries_has_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import trl

    assert run_trl.main(["--defaults"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"TRL {trl.__version__}, GRPOConfig"
    told = dict(line.split() for line in lines)
    known = {each.name: str(each.default) for each in dataclasses.fields(trl.GRPOConfig)}
    assert told == {name: known[name] for name in run_trl.DEFAULTS}
    page = (course.ROOT / "docs/2026/debates.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| TRL {trl.__version__}, [\d-]+ \|(.*)\|$", page, re.M)
    assert f"(`{told['loss_type']}`)" in row and f"\u03b2 = {told['beta']}" in row
    assert f"| {told['epsilon']} | {told['num_generations']} |" in row
    assert f"above {float(told['vllm_importance_sampling_clip_max']):g} are dropped" in row
    assert told["vllm_importance_sampling_mode"] == "sequence_mask" and told["use_bias_correction_kl"] == "True"
