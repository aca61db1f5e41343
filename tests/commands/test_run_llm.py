"""The command that trains a pretrained language model, tried with a small random one of the same architecture."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_llm import ALPHABET, save_tiny_llm, tiny_llm

from reference import charlm, run_llm, run_trl
from reference.given import llm_model, llm_tasks, runs
from reference.given.charlm_sampling import make_generator
from reference.given.charlm_training import CharLMConfig, TrainingState, make_optimizer
from reference.given.llm_model import LanguageModel
from starter import run_llm as of_a_student

PROMPTS = ("7 + 41 =", "21 + 7 = 28\n3 + 4 =", "9")
END = ALPHABET.index("\n")
PRECISE = ("--dtype", "float32")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llm(tmp_path_factory.mktemp("model"))


def sampled(policy: LanguageModel, *, seed: int = 0, each: int = 4, longest: int = 6) -> Any:
    rows = [prompt for prompt in PROMPTS for _ in range(each)]
    return policy.sample(rows, max_new_tokens=longest, generator=make_generator(seed))


def of_the_library(text: str) -> tuple[list[int], torch.Tensor]:
    """Token numbers of a text and log-probabilities of what follows each, as transformers gives them for it alone."""
    model, tokenizer = tiny_llm()
    numbers = tokenizer.encode(text, add_special_tokens=False)
    return numbers, torch.log_softmax(model(torch.tensor([numbers])).logits[0], dim=-1)


@pytest.mark.proof
def test_log_probabilities_are_those_of_the_library_for_each_text_alone() -> None:
    policy = LanguageModel(*tiny_llm())
    found = sampled(policy)
    logp = charlm.token_logp(policy, found.tokens)
    mask = charlm.completion_mask(found.tokens, found.prompt_length, 0)
    for row, (prompt, text) in enumerate(zip(found.prompts, found.texts, strict=True)):
        numbers, expected = of_the_library(prompt + text)
        start = len(numbers) - len(text) - 1
        own = expected[torch.arange(start, len(numbers) - 1), torch.tensor(numbers[start + 1 :])]
        assert torch.allclose(logp[row][mask[row]], own, atol=1e-5)
    ended = [text.endswith("\n") for text in found.texts]
    assert any(ended) and not all(ended), "the seed shows both: lines that end and completions that are cut off"


@pytest.mark.proof
def test_what_is_read_once_has_the_gradient_of_all_that_read_it() -> None:
    policy, alone = LanguageModel(*tiny_llm()), tiny_llm()[0]
    found = sampled(policy)
    mask = charlm.completion_mask(found.tokens, found.prompt_length, 0)
    charlm.token_logp(policy, found.tokens)[mask].sum().backward()
    for prompt, text in zip(found.prompts, found.texts, strict=True):
        numbers = [ALPHABET.index(character) for character in prompt + text]
        logp = torch.log_softmax(alone(torch.tensor([numbers])).logits[0], dim=-1)
        places = torch.arange(len(prompt) - 1, len(numbers) - 1)
        logp[places, torch.tensor(numbers[len(prompt) :])].sum().backward()
    policy.exchange_numbers()
    for (name, mine), theirs in zip(policy.model.named_parameters(), alone.parameters(), strict=True):
        gradient = mine.grad.clone()
        if "embed" in name:  # rows of gradients do not change places with the weights
            gradient[[0, END]] = gradient[[END, 0]]
        assert torch.allclose(gradient, theirs.grad, rtol=1e-3, atol=1e-4), name


class Counting(LanguageModel):
    """Counts the rows that are read, besides those of sampling."""

    rows_read = 0

    def _read_rows(self, tokens: torch.Tensor) -> torch.Tensor:
        self.rows_read += len(tokens)
        return super()._read_rows(tokens)


def gradient_of_the_loss(*, micro_batch_size: int | None = None, share_with_signal: float = 1.0) -> tuple[list, int]:
    """Gradients of the course's loss in float64, and rows that were read for them."""
    model, tokenizer = tiny_llm()
    policy = Counting(model.double(), tokenizer, micro_batch_size=micro_batch_size)
    found = sampled(policy)
    logp = charlm.token_logp(policy, found.tokens)
    mask = charlm.completion_mask(found.tokens, found.prompt_length, 0)
    advantages = torch.linspace(-1, 1, len(mask), dtype=torch.float64)
    advantages[round(share_with_signal * len(mask)) :] = 0.0
    config = CharLMConfig(loss_level="token", kl_coef=0.1 if share_with_signal == 1 else 0.0)
    loss, _ = charlm.grpo_loss(logp, logp.detach() - 0.1, logp.detach() - 0.2, advantages, mask, config)
    loss.backward()
    return [each.grad for each in policy.parameters() if each.grad is not None], policy.rows_read


@pytest.mark.proof
def test_micro_batches_have_the_gradient_of_the_whole_batch() -> None:
    whole, _ = gradient_of_the_loss()
    for size in (1, 5):
        parts, _ = gradient_of_the_loss(micro_batch_size=size)
        for one, other in zip(parts, whole, strict=True):
            # transformers computes the norm of a layer in float32 whatever comes in: 6e-8 of the largest.
            assert (one - other).abs().max() < 1e-6 * other.abs().max()


def digits(prompts: Sequence[str], completions: Sequence[str]) -> torch.Tensor:
    return torch.tensor([float(text[:1].isdigit()) for text in completions])


@pytest.mark.proof
def test_the_five_files_teach_it_what_is_rewarded() -> None:
    policy = LanguageModel(*tiny_llm())
    reference = policy.frozen_copy()
    config = CharLMConfig(steps=50, lr=3e-3, kl_coef=0.01, prompts_per_step=3, max_new_tokens=2, inner_steps=2)
    state = TrainingState(make_optimizer(policy, config), config)
    history = charlm.train(policy, reference, PROMPTS, digits, config, generator=make_generator(0), state=state)
    assert history[0]["mean_reward"] < 0.5
    assert np.mean([row["mean_reward"] for row in history[-5:]]) > 0.9


def command(folder: Path, out: Path, *options: object) -> int:
    few = ("--prompts-per-step", 2, "--group-size", 2, "--lr", 1e-3)
    line = ["--model", folder, "--out", out, *few, *PRECISE, *options]
    return run_llm.main([*map(str, line)])


def metrics(out: Path) -> list[dict[str, str]]:
    with (out / runs.METRICS).open(newline="") as file:
        return list(csv.DictReader(file))


def weights(out: Path) -> dict[str, torch.Tensor]:
    return torch.load(out / runs.CHECKPOINT, weights_only=True)["policy"]


@pytest.mark.proof
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(folder, tmp_path, monkeypatch, capsys) -> None:
    task = tmp_path / "digits.py"
    task.write_text("def prompts():\n    return ['1 + 2 =', '3 =', '45 =', '7 =']\n\n"
                    "def reward(prompt, completion):\n    return float(completion[:2].isdigit())\n")  # fmt: skip
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    options = ("--task", task, "--steps", 4, "--last-layers", 1)
    assert command(folder, whole, *options) == 0
    told = capsys.readouterr()
    assert "mean reward" in told.out
    assert {path.name for path in whole.iterdir()} == {*run_llm.FILES}

    look = run_llm.Run.look

    def interrupted(run: run_llm.Run) -> None:
        look(run)
        if len(run.state.history) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(run_llm.Run, "look", interrupted)
        assert command(folder, stopped, *options) == 130
    assert "add --resume" in capsys.readouterr().err
    assert run_llm.main(["--resume", "--out", str(stopped)]) == 0
    first, second = weights(whole), weights(stopped)
    assert all(torch.equal(first[name], second[name]) for name in first)
    frozen = [name for name in first if ".layers.0." in name]
    start = LanguageModel(*tiny_llm()).state_dict()
    assert frozen and all(torch.equal(first[name], start[name]) for name in frozen)
    assert [row["step"] for row in metrics(stopped)] == ["1", "2", "3", "4"]
    documents = [json.loads((out / run_llm.RUN).read_text("utf-8")) for out in (whole, stopped)]
    assert documents[0]["points"] == documents[1]["points"]
    page = (whole / run_llm.PAGE).read_text("utf-8")
    assert "<script" not in page and "data:image/png;base64," in page


@pytest.mark.proof
def test_a_run_on_what_is_missed_trains_on_nothing_else(folder, tmp_path, capsys) -> None:
    task = own(tmp_path / "below_five.py", "return float(prompt < '5')", prompts="[f'{n} =' for n in range(10)]")
    options = ("--task", task, "--steps", 4, "--only-missed")
    assert command(folder, tmp_path / "run", *options) == 0
    train = llm_tasks.own_task(task, max_new_tokens=4).prompts
    missed = sum(prompt >= "5" for prompt in train)
    assert f"the model misses {missed} of {len(train)} training prompts" in capsys.readouterr().out
    assert [float(row["mean_reward"]) for row in metrics(tmp_path / "run")] == [0, 0, 0, 0]

    own(task, "return 1.0")
    assert "--only-missed: the model misses no prompt" in refused(capsys, folder, tmp_path / "all-right", *options)


def test_an_empty_starter_says_which_exercise_comes_first(capsys) -> None:
    assert of_a_student.main([]) == 1
    assert "exercises 1, 2, 3 and 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def prompts(): return []\ndef reward(prompt, completion): return 1.0", "at least two"),
        ("def prompts(): return ['a', '']\ndef reward(prompt, completion): return 1.0", "none of them empty"),
        ("def prompts(): return ['a', 'b']\ndef reward(prompt, completion): return float('nan')", "finite number"),
        ("def prompts(): return ['a', 'b']\ndef reward(prompt, completion): raise KeyError(1)", "KeyError"),
        ("import nothing_of_this_name", "nothing_of_this_name"),
        ("def prompts(:", r"SyntaxError: invalid syntax \(task.py, line 1\)"),
        ("def prompts(): return ['a', 'b']\ndef reward(prompt, completion):\n    return 1 / 0", "in line 3"),
    ],
)
def test_a_task_of_ones_own_that_cannot_work_is_refused_before_the_first_step(tmp_path, text: str, said: str) -> None:
    (tmp_path / "task.py").write_text(text)
    with pytest.raises(ValueError, match=said):
        llm_tasks.own_task(tmp_path / "task.py", max_new_tokens=4)


@pytest.mark.parametrize("name", [*llm_tasks.TASKS])
def test_right_answers_are_paid_in_full_and_prompts_that_are_measured_are_not_trained_on(name: str) -> None:
    task = llm_tasks.TASKS[name]()
    assert not {*task.prompts} & {*task.held_out}
    for prompt in [*task.prompts[:50], *task.held_out]:
        line = prompt.removesuffix("\nAnswer:").rsplit("\n", 1)[-1]
        a, b = map(int, re.findall(r"\d+", line))
        right = a - b if "gives" in line else a + b
        assert task.rewards([prompt] * 3, [f" {right}\n", f" {right + 1}\n", " so\n"]).tolist()[0] == 1
        assert task.reward(prompt, f" {right + 1}\n") < 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "no-such-model.gguf"], "--model no-such-model.gguf is not a folder"),
        (["--task", "nothing"], "sums, word-problems, short-answers"),
    ],
)
def test_what_cannot_work_is_said_in_a_sentence(options, said, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        run_llm.main([*options, "--out", "out"])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def own(path: Path, reward: str, *, prompts: str = "[f'{n} =' for n in range(12)]") -> Path:
    path.write_text(f"def prompts():\n    return {prompts}\n\ndef reward(prompt, completion):\n    {reward}\n")
    return path


IS_DIGIT = "return float(completion[:1].isdigit())"


def refused(capsys, folder: Path, out: Path, *options: object) -> str:
    """What the command says instead of running."""
    with pytest.raises(SystemExit) as stopped:
        command(folder, out, *options)
    assert stopped.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("prompts", ["[f'{n % 9} =' for n in range(40)]", "{f'{n} =' for n in range(40)}"])
def test_no_prompt_is_trained_on_and_measured_with_and_their_order_is_that_of_no_set(prompts: str, tmp_path) -> None:
    task = llm_tasks.own_task(own(tmp_path / "task.py", "return 1.0", prompts=prompts), max_new_tokens=4)
    assert not {*task.prompts} & {*task.held_out}
    listed = own(tmp_path / "sorted.py", "return 1.0", prompts=f"sorted({{*{prompts}}})[::-1]")
    assert llm_tasks.own_task(listed, max_new_tokens=4).held_out == task.held_out


@pytest.mark.proof
def test_a_reward_that_fails_late_is_named_and_costs_nothing_that_was_saved(folder, tmp_path, capsys) -> None:
    late = "global asked; asked += 1\n    if asked > 22: raise KeyError('late')\n    return 1.0\n\nasked = 0"
    task, out = own(tmp_path / "task.py", late), tmp_path / "out"
    assert command(folder, out, "--task", task, "--steps", 6) == 2
    said = capsys.readouterr().err
    assert re.search(r"reward\('\d+ =', '.*'\) does not work: KeyError: 'late' in line 6; add --resume", said)
    own(task, IS_DIGIT)
    assert command(folder, out, "--resume") == 0

    own(task, IS_DIGIT, prompts="[f'{n} =' for n in range(13)]")
    assert "started with other prompts" in refused(capsys, folder, out, "--resume")


@pytest.mark.proof
def test_weights_that_are_no_numbers_are_not_saved(folder, tmp_path, monkeypatch, capsys) -> None:
    right = charlm.token_logp
    monkeypatch.setattr(charlm, "token_logp", lambda *arguments: right(*arguments) * float("nan"))
    task = own(tmp_path / "task.py", "return float(len(completion))")
    assert command(folder, tmp_path / "out", "--task", task, "--steps", 3) == 1
    assert "`grade charlm`" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.proof
def test_what_a_student_raises_shows_their_line_and_what_to_do(folder, tmp_path, monkeypatch) -> None:
    def one_for_each_group(rewards: torch.Tensor) -> torch.Tensor:
        return rewards[:, 0]

    monkeypatch.setattr(charlm, "group_advantages", one_for_each_group)
    with pytest.raises(ValueError, match="advantages must have shape") as raised:
        command(folder, tmp_path / "out", "--task", own(tmp_path / "task.py", IS_DIGIT), "--steps", 2)
    assert "run `grade`" in raised.value.__notes__[0]


def gpt2(folder: Path) -> Path:
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(ALPHABET), n_positions=32, n_embd=8, n_layer=1, n_head=1))
    model.save_pretrained(folder)
    tiny_llm()[1].save_pretrained(folder)
    return folder


@pytest.mark.proof
def test_what_the_model_cannot_do_is_said_before_the_first_step(folder, tmp_path, capsys) -> None:
    task, other = ("--task", own(tmp_path / "task.py", IS_DIGIT)), gpt2(tmp_path / "gpt2")
    cases: list[tuple[Path, tuple[object, ...], str]] = [
        (folder, ("--last-layers", 3), "this model has 2 layers to choose from, got 3"),
        (other, ("--last-layers", 1), "this model has 0 layers to choose from, got 1"),
        (other, ("--max-new-tokens", 30), "reads at most 32 tokens, but the longest prompt has 4"),
    ]
    for model, options, said in cases:
        assert said in refused(capsys, model, tmp_path / "out", *task, *options)
    assert command(other, tmp_path / "out", *task, "--steps", 1, "--max-new-tokens", 28) == 0


@pytest.mark.proof
def test_a_model_that_cannot_be_loaded_is_said(folder, tmp_path, monkeypatch) -> None:
    import transformers

    def refused_model(name: object) -> str:
        with pytest.raises(llm_model.ModelNotFound) as error:
            llm_model.load(None if name is None else str(name))
        return str(error.value)

    for number, damage in enumerate(("token*", "model.safetensors")):
        copy = shutil.copytree(folder, tmp_path / str(number))
        for path in copy.glob(damage):
            path.write_bytes(path.read_bytes()[:5000]) if number else path.unlink()
        assert "save_pretrained" in refused_model(copy)
    for content in (b"", b"GGUF\3\0\0\0", b"hello " * 100):
        (tmp_path / "model.GGUF").write_bytes(content)
        assert "a GGUF file" in refused_model(tmp_path / "model.GGUF")
    monkeypatch.setattr(llm_model, "CACHE", tmp_path)
    (tmp_path / llm_model.FILE).write_bytes(b"half a download")
    assert "is damaged" in refused_model(None)

    def without_network(*_: Any, **__: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", without_network)
    assert "no network" in refused_model("somebody/something")


def test_missing_packages_are_named(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(llm_model.ModelNotFound, match="pip install"):
        llm_model.load("anything")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemExit):
        run_trl.main([])
    assert run_trl.INSTALL in capsys.readouterr().err
