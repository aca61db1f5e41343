"""The command that trains a pretrained language model, tried with a small random one of the same architecture."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import bench_llm
import matplotlib.pyplot as plt
import numpy as np
import pytest
import record_llm
import torch
from full_disk import fill_up
from tiny_llm import ALPHABET, save_tiny_llm, tiny_llm

from grader.core import course
from reference import charlm, llm_files, llm_report, llm_tasks, run_llm, run_trl
from reference.charlm_sampling import make_generator
from reference.charlm_training import CharLMConfig, TrainingState, make_optimizer
from reference.llm_model import LanguageModel
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


class Kept:
    """Bytes that graphs keep now besides the weights, and the most that they kept."""

    def __init__(self, policy: LanguageModel) -> None:
        self.weights = {each.untyped_storage().data_ptr() for each in policy.parameters()}
        self.now = self.most = 0

    def hooks(self) -> torch.autograd.graph.saved_tensors_hooks:
        return torch.autograd.graph.saved_tensors_hooks(lambda each: (each, Held(self, each)), lambda pair: pair[0])


class Held:
    def __init__(self, kept: Kept, tensor: torch.Tensor) -> None:
        self.kept = kept
        self.size = 0 if tensor.untyped_storage().data_ptr() in kept.weights else tensor.nbytes
        kept.now += self.size
        kept.most = max(kept.most, kept.now)

    def __del__(self) -> None:
        self.kept.now -= self.size


def gradient_of_the_loss(
    *, micro_batch_size: int | None = None, share_with_signal: float = 1.0
) -> tuple[list[torch.Tensor], int, int]:
    """Gradients of the course's loss in float64, the most bytes that graphs kept, and rows that were read for it."""
    model, tokenizer = tiny_llm()
    policy = Counting(model.double(), tokenizer, micro_batch_size=micro_batch_size)
    found = sampled(policy)
    logp = charlm.token_logp(policy, found.tokens)
    mask = charlm.completion_mask(found.tokens, found.prompt_length, 0)
    advantages = torch.linspace(-1, 1, len(mask), dtype=torch.float64)
    advantages[round(share_with_signal * len(mask)) :] = 0.0
    config = CharLMConfig(loss_level="token", kl_coef=0.1 if share_with_signal == 1 else 0.0)
    loss, _ = charlm.grpo_loss(logp, logp.detach() - 0.1, logp.detach() - 0.2, advantages, mask, config)
    kept = Kept(policy)
    with kept.hooks():
        loss.backward()
    gradients = [each.grad for each in policy.parameters() if each.grad is not None]
    return gradients, kept.most, policy.rows_read


def test_micro_batches_have_the_gradient_of_the_whole_batch_and_keep_less_for_it() -> None:
    whole, kept_whole, _ = gradient_of_the_loss()
    for size in (1, 5):
        parts, kept, _ = gradient_of_the_loss(micro_batch_size=size)
        for one, other in zip(parts, whole, strict=True):
            # transformers computes the norm of a layer in float32 whatever comes in: 6e-8 of the largest.
            assert (one - other).abs().max() < 1e-6 * other.abs().max()
        assert kept < kept_whole * 2 / 3


def test_rows_without_signal_are_not_read_for_the_gradient() -> None:
    _, _, all_rows = gradient_of_the_loss()
    _, _, third = gradient_of_the_loss(share_with_signal=1 / 3)
    nothing, _, none = gradient_of_the_loss(share_with_signal=0.0)
    assert 0 < third <= all_rows / 2 and none == 0
    assert all(each.eq(0).all() for each in nothing)


def test_a_token_is_drawn_where_the_random_number_falls() -> None:
    policy = LanguageModel(*tiny_llm())
    (text,) = policy.sample([PROMPTS[0]], max_new_tokens=3, generator=make_generator(5)).texts
    random, so_far = make_generator(5), PROMPTS[0]
    for character in text:
        _, logp = of_the_library(so_far)
        probabilities = logp[-1].double().exp().detach().numpy()
        probabilities[[0, END]] = probabilities[[END, 0]]
        drawn = torch.rand(1, 1, dtype=torch.float64, generator=random).item()
        token = int(np.searchsorted(probabilities.cumsum(), drawn, side="right"))
        assert character == ALPHABET[{0: END, END: 0}.get(token, token)]
        so_far += character


@torch.no_grad()
def test_the_gap_between_sampling_and_training_is_told() -> None:
    policy = LanguageModel(*tiny_llm())
    found = sampled(policy)
    policy(found.tokens)
    assert policy.sampling_gap < 1e-4
    policy.model.model.norm.weight *= 1.5  # now another policy trains than the one that drew
    other = LanguageModel(*tiny_llm())
    other.encode(found.prompts)
    before = charlm.token_logp(other, found.tokens)
    mask = charlm.completion_mask(found.tokens, found.prompt_length, 0)
    after = charlm.token_logp(policy, found.tokens)
    assert policy.sampling_gap == pytest.approx((after - before)[mask].abs().max().item(), abs=1e-4)


def test_an_end_that_is_no_single_token_is_refused() -> None:
    with pytest.raises(ValueError, match="must be one token"):
        LanguageModel(*tiny_llm(), end="ab")


def digits(prompts: Sequence[str], completions: Sequence[str]) -> torch.Tensor:
    return torch.tensor([float(text[:1].isdigit()) for text in completions])


@pytest.mark.parametrize("kl_coef", [0.0, 0.01])
def test_the_five_files_teach_it_what_is_paid_for(kl_coef: float) -> None:
    policy = LanguageModel(*tiny_llm())
    reference = policy.frozen_copy()
    config = CharLMConfig(steps=50, lr=3e-3, kl_coef=kl_coef, prompts_per_step=3, max_new_tokens=2, inner_steps=2)
    state = TrainingState(make_optimizer(policy, config), config)
    other = reference if kl_coef else policy
    history = charlm.train(policy, other, PROMPTS, digits, config, generator=make_generator(0), state=state)
    assert history[0]["mean_reward"] < 0.5
    assert np.mean([row["mean_reward"] for row in history[-5:]]) > 0.9


def command(folder: Path, out: Path, *options: object) -> int:
    few = ("--prompts-per-step", 2, "--group-size", 2, "--lr", 1e-3)
    line = ["--model", folder, "--out", out, *few, *PRECISE, *options]
    return run_llm.main([*map(str, line)])


def metrics(out: Path) -> list[dict[str, str]]:
    with (out / run_llm.METRICS).open(newline="") as file:
        return list(csv.DictReader(file))


def weights(out: Path) -> dict[str, torch.Tensor]:
    return torch.load(out / run_llm.CHECKPOINT, weights_only=True)["policy"]


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = tmp_path / "digits.py"
    task.write_text("def prompts():\n    return ['1 + 2 =', '3 =', '45 =', '7 =']\n\n"
                    "def reward(prompt, completion):\n    return float(completion[:2].isdigit())\n")  # fmt: skip
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    options = ("--task", task, "--steps", 4, "--checkpoint-every", 2, "--last-layers", 1)
    assert command(folder, whole, *options) == 0
    told = capsys.readouterr()
    assert "mean reward: " in told.out
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
    # Both sittings are this very process, so the second counts what the first took once more.
    costs = [document["cost"] for document in documents]
    assert costs[1]["cpu_seconds"] > costs[0]["cpu_seconds"] + costs[0]["cpu_seconds"] / 2 > 0
    assert costs[1]["peak_memory"] >= costs[0]["peak_memory"] > 2**20
    outcome = bench_llm.outcome(documents[0], ["--steps", "4"])
    assert (outcome.steps, outcome.completions, outcome.seed, outcome.options) == (4, 4 * 2 * 2, 0, "--steps 4")
    assert outcome.curve[-1] == [4, outcome.accuracy] and outcome.cpu_seconds > 0
    lines = tmp_path / "lines.jsonl"  # a seed that has its line is not run again: here nothing is left to run
    lines.write_text("".join(json.dumps({**asdict(outcome), "seed": seed}) + "\n" for seed in range(3)))
    assert bench_llm.main(["--out", str(lines), "--seeds", "0", "1", "2", "--steps", "4"]) == 0
    assert f"median {outcome.accuracy:.3f} (asked for: 0.85)" in capsys.readouterr().out
    page = (whole / run_llm.PAGE).read_text("utf-8")
    assert "<script" not in page and "data:image/png;base64," in page

    with pytest.raises(SystemExit):
        run_llm.main(["--resume", "--out", str(stopped), "--lr", "0.5"])
    assert "began with lr 0.001, not 0.5" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command(folder, stopped, *options)
    assert "there is a run in" in capsys.readouterr().err


def test_the_task_on_the_page_of_results_is_a_task(tmp_path: Path) -> None:
    page = (course.ROOT / "docs/results/llm.md").read_text("utf-8")
    task = tmp_path / "animals.py"
    task.write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0])
    found = llm_tasks.own_task(task, max_new_tokens=4)
    prompt = "An animal that begins with C is the"
    assert prompt in (*found.prompts, *found.held_out)
    assert found.rewards([prompt] * 3, [" cat\n", " dog", ""]).tolist() == [1, 0, 0]


def test_a_run_on_what_is_missed_trains_on_nothing_else(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = own(tmp_path / "below_five.py", "return float(prompt < '5')", prompts="[f'{n} =' for n in range(10)]")
    options = ("--task", task, "--steps", 4, "--only-missed")
    assert command(folder, tmp_path / "run", *options) == 0
    train = llm_tasks.own_task(task, max_new_tokens=4).prompts
    missed = sum(prompt >= "5" for prompt in train)
    assert f"{missed} of {len(train)} prompts to train on are missed" in capsys.readouterr().out
    assert [float(row["mean_reward"]) for row in metrics(tmp_path / "run")] == [0, 0, 0, 0]

    own(task, "return 1.0")
    assert "--only-missed: no prompt is missed" in refused(capsys, folder, tmp_path / "all-right", *options)


def test_a_recorded_run_is_the_same_run_and_keeps_what_each_policy_thinks(folder: Path, tmp_path: Path) -> None:
    task, out = tmp_path / "digits.py", tmp_path / "run"
    task.write_text("def prompts():\n    return [f'{n} + {m} =' for n in range(5) for m in range(5)]\n\n"
                    "def reward(prompt, completion):\n    return float(completion[:1].isdigit())\n")  # fmt: skip
    line = ["--model", folder, "--task", task, "--prompts-per-step", 2, "--lr", 1e-3, "--steps", 7, "--out", out]
    options = [*map(str, (*line, *PRECISE))]
    recorded = record_llm.record(options).document(day="2026-11-24")
    assert not out.exists()
    moments = recorded["moments"]
    assert [moment["step"] for moment in moments] == record_llm.moments_of(7) == [0, 1, 2, 3, 4, 5, 7]
    assert run_llm.main(options) == 0
    assert recorded["mean_reward"] == [float(row["mean_reward"]) for row in metrics(out)]
    policy = LanguageModel(*tiny_llm())
    for place, state in ((0, policy.state_dict()), (-1, weights(out))):  # before the first step, after the last one
        policy.load_state_dict(state)
        for prompt, group in zip(recorded["prompts"], moments[0]["groups"], strict=False):
            for row in group:
                own = [policy._renumber(ALPHABET.index(text)) for text in row["tokens"]]
                tokens = torch.cat([policy.encode([prompt]), torch.tensor([own])], dim=-1)
                logp = charlm.token_logp(policy, tokens)[0].tolist()
                assert row["logp"][place] == pytest.approx(logp, abs=1e-5)
    assert moments[0]["groups"][0][0]["logp"][0] != moments[0]["groups"][0][0]["logp"][-1]


def test_a_wrong_sign_shows_and_the_command_says_where_to_look(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = charlm.grpo_loss

    def other_sign(*arguments: Any) -> Any:
        loss, metrics = right(*arguments)
        return -loss, metrics

    monkeypatch.setattr(charlm, "grpo_loss", other_sign)
    task = tmp_path / "letters.py"
    task.write_text("def prompts():\n    return [f'{n} =' for n in range(20)]\n\n"
                    "def reward(prompt, completion):\n    return float(completion[:1].isalpha())\n")  # fmt: skip
    assert command(folder, tmp_path / "out", "--task", task, "--steps", 12, "--group-size", 8) == 0
    assert "A wrong sign in `grpo_loss`?" in capsys.readouterr().out


def test_an_empty_starter_says_which_exercise_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert of_a_student.main([]) == 1
    assert "exercises 1, 2, 3 and 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prompts = 3", "does not work"),
        ("def prompts(): return []\ndef reward(prompt, completion): return 1.0", "at least two"),
        ("def prompts(): return ['a', '']\ndef reward(prompt, completion): return 1.0", "none of them empty"),
        ("def prompts(): return ['a', 'b']\ndef reward(prompt, completion): return float('nan')", "finite number"),
        ("def prompts(): return ['a', 'b']\ndef reward(prompt, completion): raise KeyError(1)", "KeyError"),
        ("import nothing_of_this_name", "nothing_of_this_name"),
        ("def prompts(:", r"SyntaxError\('invalid syntax'\) in line 1"),
        ("import sys\nsys.exit()", "SystemExit.* in line 2"),
        ("def prompts(): return '1 + 2 ='\ndef reward(prompt, completion): return 1.0", "a list of at least two"),
        ("def prompts(): return ['a', 'a']\ndef reward(prompt, completion): return 1.0", "two different texts"),
        ("def prompts(): return ['a', '\\ud800']\ndef reward(prompt, completion): return 1.0", "texts"),
        ("from itertools import repeat\ndef prompts(): return repeat('a')\ndef reward(*_): return 1.0", "at most"),
        ("def prompts(): return ['a', 'b']\ndef reward(prompt, completion): return 1e39", "finite number, got 1e"),
        ("def prompts(): return ['a', 'b']\ndef reward(prompt, completion):\n    raise SystemExit", "in line 3"),
    ],
)
def test_a_task_of_ones_own_that_cannot_work_is_refused_before_the_first_step(
    tmp_path: Path, text: str, said: str
) -> None:
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
        (["--model", "no-such-model.gguf"], "there is no such file"),
        (["--task", "nothing"], "must be one of sums, word-problems, short-answers"),
        (["--steps", "0"], "must be at least 1"),
        (["--steps", "9" * 5000], "below a billion"),
        (["--group-size", "2.5"], "a whole number, got '2.5'"),
        (["--lr", "nan"], "a finite number and not negative, got 'nan'"),
        (["--kl-coef", "-1"], "a finite number and not negative, got '-1'"),
        (["--task", ""], "must be one of sums"),
        (["--model", ""], "--model is empty"),
        (["--model", "x" * 5000 + ".gguf"], "there is no such file"),
        (["--resume"], "no checkpoint"),
    ],
)
def test_what_cannot_work_is_said_in_a_sentence(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run_llm.main([*options, "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "said"), [("", "the path is empty"), ("x" * 5000, "File name too long"), ("/proc/run", "can be written")]
)
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux'")
def test_a_folder_that_cannot_be_filled_is_refused(place: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run_llm.main(["--out", place])
    assert stopped.value.code == 2 and said in capsys.readouterr().err


def own(path: Path, reward: str, *, prompts: str = "[f'{n} =' for n in range(12)]") -> Path:
    path.write_text(f"def prompts():\n    return {prompts}\n\ndef reward(prompt, completion):\n    {reward}\n")
    return path


IS_DIGIT = "return float(completion[:1].isdigit())"


def refused(capsys: pytest.CaptureFixture[str], folder: Path, out: Path, *options: object) -> str:
    """What the command says instead of running."""
    with pytest.raises(SystemExit) as stopped:
        command(folder, out, *options)
    assert stopped.value.code == 2
    return capsys.readouterr().err


def test_completions_are_as_long_as_the_option_says_and_only_missed_counts_those(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, lengths = own(tmp_path / "long.py", "return float(len(completion) > 30)"), set()
    sample = LanguageModel.sample

    def noting(policy: LanguageModel, prompts: Sequence[str], **settings: Any) -> Any:
        lengths.add(settings["max_new_tokens"])
        return sample(policy, prompts, **settings)

    monkeypatch.setattr(LanguageModel, "sample", noting)
    options = ("--task", task, "--max-new-tokens", 3, "--steps", 2, "--only-missed")
    assert command(folder, tmp_path / "out", *options) == 0
    assert command(folder, tmp_path / "out", "--resume") == 0
    assert lengths == {3}


@pytest.mark.parametrize("prompts", ["[f'{n % 9} =' for n in range(40)]", "{f'{n} =' for n in range(40)}"])
def test_no_prompt_is_trained_on_and_measured_with_and_their_order_is_that_of_no_set(
    prompts: str, tmp_path: Path
) -> None:
    task = llm_tasks.own_task(own(tmp_path / "task.py", "return 1.0", prompts=prompts), max_new_tokens=4)
    assert not {*task.prompts} & {*task.held_out}
    listed = own(tmp_path / "sorted.py", "return 1.0", prompts=f"sorted({{*{prompts}}})[::-1]")
    assert llm_tasks.own_task(listed, max_new_tokens=4).held_out == task.held_out


def test_of_a_task_that_was_saved_twice_in_a_second_the_last_text_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for count in (12, 13):
        task = own(tmp_path / "task.py", IS_DIGIT, prompts=f"[f'{{n}} =' for n in range({count})]")
        os.utime(task, (1_000_000_000, 1_000_000_000))
        found = llm_tasks.own_task(task, max_new_tokens=4)
        assert len(found.prompts) + len(found.held_out) == count


def test_a_reward_that_fails_late_is_named_and_costs_nothing_that_was_saved(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = "global asked; asked += 1\n    if asked > 22: raise KeyError('late')\n    return 1.0\n\nasked = 0"
    task, out = own(tmp_path / "task.py", late), tmp_path / "out"
    assert command(folder, out, "--task", task, "--steps", 6, "--checkpoint-every", 2) == 2
    said = capsys.readouterr().err
    assert re.search(r"reward\('\d+ =', '.*'\) does not work: KeyError\('late'\) in line 6; add --resume", said)
    own(task, IS_DIGIT)
    assert command(folder, out, "--resume") == 0

    own(task, IS_DIGIT, prompts="[f'{n} =' for n in range(13)]")
    assert "are not those that the run in" in refused(capsys, folder, out, "--resume")


@pytest.mark.parametrize("name", ["prepare", "_what_is_missing", "_tell"])
def test_ctrl_c_ends_with_a_sentence_at_any_time(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_llm, name, stopped)
    assert command(folder, tmp_path / "out", "--task", own(tmp_path / "task.py", IS_DIGIT), "--steps", 1) == 130
    assert "Interrupted; " in capsys.readouterr().err


@pytest.mark.parametrize("name", [run_llm.RUN, run_llm.CHECKPOINT])
def test_a_damaged_run_is_not_gone_on_with_and_not_touched(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert command(folder, out, "--task", own(tmp_path / "task.py", IS_DIGIT), "--steps", 1) == 0
    whole = (out / name).read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"[]", b'{"config": {}, "points": 3}', b"\xff"):
        (out / name).write_bytes(damaged)
        said = refused(capsys, folder, out, "--resume")
        assert name in said and "start again with --overwrite" in said
        assert (out / name).read_bytes() == damaged
    (out / name).write_bytes(whole)
    (out / run_llm.METRICS).write_bytes(b"\xff")  # written anew from the checkpoint
    assert command(folder, out, "--resume") == 0


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of a file")
def test_a_full_disk_is_said_and_leaves_the_checkpoint_before(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_up(monkeypatch, run_llm.Run, lambda run: len(run.state.history) == 4)
    task, out = own(tmp_path / "task.py", IS_DIGIT), tmp_path / "out"
    assert command(folder, out, "--task", task, "--steps", 4, "--checkpoint-every", 2) == 2
    assert "is the disk full?; add --resume to go on" in capsys.readouterr().err
    assert {path.name for path in out.iterdir()} == {run_llm.METRICS, run_llm.RUN, run_llm.CHECKPOINT}
    monkeypatch.undo()
    assert command(folder, out, "--resume") == 0


def test_weights_that_are_no_numbers_are_not_saved(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = charlm.token_logp
    monkeypatch.setattr(charlm, "token_logp", lambda *arguments: right(*arguments) * float("nan"))
    task = own(tmp_path / "task.py", "return float(len(completion))")
    assert command(folder, tmp_path / "out", "--task", task, "--steps", 3) == 1
    assert "`grade charlm`" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_train_that_leaves_steps_out_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none_of_a_long_run(*arguments: Any, state: TrainingState | None = None, **settings: Any) -> Any:
        return charlm.train(*arguments, **settings) if state is None else state.history

    monkeypatch.setattr(run_llm, "train", none_of_a_long_run)
    assert command(folder, tmp_path / "out", "--task", own(tmp_path / "task.py", IS_DIGIT), "--steps", 3) == 1
    assert "`train` recorded 0 of 3 steps" in capsys.readouterr().err


def test_a_picture_shows_rewards_below_zero_and_signs_of_any_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [
        llm_report.Point(step=step, score=score, texts=["$x^2$ \U0001f600"]) for step, score in ((0, -8.0), (1, -2.0))
    ]
    story = llm_report.Story(
        title="a$b$.py", command="", measure="", prompts=["1 ="], rewards=([0.0], [0.0]), points=points, seconds=0.0
    )  # fmt: skip
    monkeypatch.setattr(plt, "close", lambda _: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        llm_report.draw(story, tmp_path / "run.png")
    assert plt.gcf().axes[1].get_ylim()[0] < -8
    monkeypatch.undo()
    plt.close("all")
    assert [path.name for path in tmp_path.iterdir()] == ["run.png"]


def test_what_a_student_raises_shows_their_line_and_what_to_do(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_for_each_group(rewards: torch.Tensor) -> torch.Tensor:
        return rewards[:, 0]

    monkeypatch.setattr(charlm, "group_advantages", one_for_each_group)
    with pytest.raises(ValueError, match="advantages must have shape") as raised:
        command(folder, tmp_path / "out", "--task", own(tmp_path / "task.py", IS_DIGIT), "--steps", 2)
    assert "exercises 1, 2, 3 and 5" in raised.value.__notes__[0]


def test_metrics_that_are_not_the_same_in_each_step_are_all_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, calls = charlm.train_step, []

    def with_one_more(*arguments: Any) -> dict[str, float]:
        calls.append(1)
        return right(*arguments) | ({"mine": 1.0} if len(calls) % 2 else {})

    monkeypatch.setattr(charlm, "train_step", with_one_more)
    task, out = own(tmp_path / "task.py", IS_DIGIT), tmp_path / "out"
    assert command(folder, out, "--task", task, "--steps", 2) == 0
    assert [row["mine"] for row in metrics(out)] == ["1.0", ""]


def test_an_output_that_cannot_take_it_all_does_not_end_the_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = own(tmp_path / "zählen.py", "return 0.0")
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", ascii_only)
    assert command(folder, tmp_path / "ascii", "--task", task, "--steps", 1) == 0
    ascii_only.seek(0)
    said = ascii_only.read()
    assert "z?hlen.py by GRPO" in said and "Nothing was learned" in said
    nobody, end = os.pipe()
    os.close(nobody)
    with os.fdopen(end, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert command(folder, tmp_path / "closed", "--task", task, "--steps", 1) == 2
    assert {path.name for path in (tmp_path / "closed").iterdir()} == {*run_llm.FILES}


def gpt2(folder: Path) -> Path:
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(ALPHABET), n_positions=32, n_embd=8, n_layer=1, n_head=1))
    model.save_pretrained(folder)
    tiny_llm()[1].save_pretrained(folder)
    return folder


def test_what_the_model_cannot_do_is_said_before_the_first_step(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task, other = ("--task", own(tmp_path / "task.py", IS_DIGIT)), gpt2(tmp_path / "gpt2")
    cases: list[tuple[Path, tuple[object, ...], str]] = [
        (folder, ("--last-layers", 3), "this model has 2 layers, got 3"),
        (other, ("--last-layers", 1), "it is not known where GPT2LMHeadModel has its layers"),
        (other, ("--max-new-tokens", 30), "reads 32 tokens at most, but the longest prompt has 4"),
        (folder, ("--group-size", 10**8), "of memory: add --micro-batch-size"),
    ]
    for model, options, said in cases:
        assert said in refused(capsys, model, tmp_path / "out", *task, *options)
    assert command(other, tmp_path / "out", *task, "--steps", 1, "--max-new-tokens", 28) == 0


def test_a_model_that_keeps_nothing_of_what_it_read_is_refused() -> None:
    from transformers import MambaConfig, MambaForCausalLM

    model = MambaForCausalLM(MambaConfig(vocab_size=len(ALPHABET), hidden_size=8, num_hidden_layers=1, state_size=2))
    with pytest.raises(ValueError, match="MambaForCausalLM keeps no keys and values"):
        LanguageModel(model, tiny_llm()[1])


def without_its_tokenizer(folder: Path) -> None:
    for path in folder.glob("token*"):
        path.unlink()


def cut_off(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])


@pytest.mark.parametrize("damage", [without_its_tokenizer, cut_off])
def test_a_folder_of_a_model_that_lacks_something_says_what_must_be_in_it(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    damage(save_tiny_llm(tmp_path))
    with pytest.raises(llm_files.ModelNotFound, match="what save_pretrained writes of a model and of its tokenizer"):
        llm_files.load(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"GGUF\3\0\0\0", b"hello " * 100])
def test_a_file_that_is_no_whole_gguf_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.GGUF").write_bytes(content)
    with pytest.raises(llm_files.ModelNotFound, match="that transformers can read"):
        llm_files.load(str(tmp_path / "model.GGUF"))


def test_who_waits_for_the_hub_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import transformers

    def without_network(*_: Any, **__: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", without_network)
    with pytest.raises(llm_files.ModelNotFound, match="no network"):
        llm_files.load("somebody/something")
    assert "Looking for somebody/something" in capsys.readouterr().err


def test_damaged_weights_in_the_cache_are_not_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPO_COURSE_CACHE", str(tmp_path))
    (tmp_path / llm_files.FILE).write_bytes(b"half a download")
    with pytest.raises(llm_files.ModelNotFound, match="is damaged"):
        llm_files.load(None)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(llm_files.ModelNotFound, match="pip install"):
        llm_files.load("anything")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemExit):
        run_trl.main([])
    assert run_trl.INSTALL in capsys.readouterr().err
