"""The command that trains the language model: its files, its picture, interruptions, and the recorded runs."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from full_disk import fill_up
from safetensors.torch import load_file

from grader.core import course
from reference import charlm, run_charlm
from reference.given import plots
from reference.given.charlm_model import TinyLM, TinyLMConfig, load_model
from reference.given.charlm_sampling import make_generator
from reference.given.charlm_task import PIZZA_PROMPT, pizza_reward
from reference.given.charlm_training import CharLMConfig, TrainingState, make_optimizer, save_checkpoint
from starter import run_charlm as of_a_student

CONFIG = CharLMConfig(steps=12, prompts_per_step=2, group_size=4, inner_steps=2, lr=1e-3)
OPTIONS = ("--steps", 12, "--prompts-per-step", 2, "--group-size", 4, "--inner-steps", 2, "--lr", 1e-3, "--seed", 3)


def main(*arguments: object) -> int:
    """The command in this process, where starting it costs nothing."""
    return run_charlm.main([*map(str, arguments)])


def metrics_in(folder: Path) -> list[dict[str, float]]:
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def samples_in(folder: Path) -> dict:
    return json.loads((folder / "samples.json").read_text("utf-8"))


def same_results(left: Path, right: Path) -> bool:
    """Metrics and samples to the last byte, and weights to the last bit."""
    ours, theirs = (load_file(folder / "policy.safetensors") for folder in (left, right))
    return (
        all((left / name).read_bytes() == (right / name).read_bytes() for name in ("metrics.csv", "samples.json"))
        and ours.keys() == theirs.keys()
        and all(torch.equal(ours[name], theirs[name]) for name in ours)
    )


def probability(model: TinyLM, prompt: str, completion: str) -> float:
    """Of a completion, one character after the other; knows nothing of batches and padding."""
    alphabet, product = CharLMConfig().alphabet, 1.0
    for place, character in enumerate(completion):
        tokens = torch.tensor([[alphabet.index(each) for each in prompt + completion[:place]]])
        with torch.no_grad():
            forecast = model(tokens)[0, -1].double().softmax(dim=-1)
        product *= forecast[alphabet.index(character)].item()
    return product


def exact(model: TinyLM, task: str) -> float:
    if task == "pizza":
        return probability(model, "ravin likes ", "pizza.")
    return sum(probability(model, f"{a}+{b}=", f"{a + b}.") for a in range(10) for b in range(10)) / 100


def without_picture(history, *, title: str, path: Path) -> None:
    path.write_bytes(b"")


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """As the command itself: the last bits depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A run that nobody interrupted."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    with mock.patch.object(plots, "plot_diagnostics", without_picture):
        assert main(*OPTIONS, "--out", folder) == 0
    return folder


@pytest.fixture
def copy(finished, tmp_path) -> Path:
    """The same run in a folder that a test may spoil."""
    return shutil.copytree(finished, tmp_path / "copy")


@pytest.fixture
def no_picture(monkeypatch):
    """A second less, where the question is another one."""
    monkeypatch.setattr(plots, "plot_diagnostics", without_picture)


# A whole run


def test_a_run_fills_its_folder_and_says_what_came_out(tmp_path, capsys):
    assert main("--steps", 2, "--out", tmp_path / "run") == 0
    assert {path.name for path in (tmp_path / "run").iterdir()} == {*run_charlm.FILES}
    before, after = (exact(model, "pizza") for model in (load_model(), load_model(tmp_path / "run/policy.safetensors")))
    printed = capsys.readouterr()
    assert f"{before:.3f} before, {after:.3f} after" in printed.out
    assert printed.err == "", "no progress bar where no terminal is"
    assert (tmp_path / "run" / "diagnostics.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("no_picture")
def test_a_run_with_a_variant_fills_a_folder_of_its_name_and_is_not_resumed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ("--steps", 2, "--prompts-per-step", 1, "--group-size", 4)
    assert main("--variant", "dr-grpo", *options) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("dr-grpo: ") and printed.endswith("samples drawn: 8\n")
    assert "dr-grpo: pizza, G = 4" in printed and "loss level" not in printed
    assert {path.name for path in (tmp_path / "charlm-dr-grpo").iterdir()} == {*run_charlm.FILES}
    assert "used --variant" in refused(capsys, "--resume", "--out", "charlm-dr-grpo")


def test_the_metrics_and_the_weights_are_those_of_train(finished):
    policy = load_model()
    history = charlm.train(policy, load_model(), PIZZA_PROMPT, pizza_reward, CONFIG, generator=make_generator(3))
    assert metrics_in(finished) == history
    assert (finished / "metrics.csv").read_text("utf-8").splitlines()[0].split(",") == list(history[0])
    weights = load_file(finished / "policy.safetensors")
    assert all(torch.equal(value, weights[name]) for name, value in policy.state_dict().items())


def test_the_samples_cover_the_whole_run_and_have_the_right_rewards(finished):
    document = samples_in(finished)
    assert (document["task"], document["seed"], document["torch"]) == ("pizza", 3, torch.__version__)
    assert document["settings"] == asdict(CONFIG)
    assert [point["step"] for point in document["points"]] == [0, 1, 2, 4, 5, 6, 7, 8, 10, 11, 12]
    for point in document["points"]:
        assert [sample["prompt"] for sample in point["samples"]] == ["ravin likes "] * 16
        assert all(sample["reward"] == 4.0 * (sample["text"] == "pizza.") for sample in point["samples"])
    first, last = (document["points"][place]["exact"] for place in (0, -1))
    assert first == pytest.approx(exact(load_model(), "pizza"), abs=1e-6)
    assert last == pytest.approx(exact(load_model(finished / "policy.safetensors"), "pizza"), abs=1e-6)
    assert last > 2 * first


# The picture


def test_the_picture_draws_the_numbers_of_the_metrics_file(finished, tmp_path):
    rows = metrics_in(finished)
    figure = plots.diagnostics(rows, title="12 steps")
    drawn = []
    for panel in plots.PANELS:
        (axes,) = (axes for axes in figure.axes if axes.get_title(loc="left") == panel.title)
        lines = {line.get_label(): line for line in axes.lines}
        for metric, label in panel.series.items():
            x, y = map(np.asarray, lines[label].get_data())
            assert list(x) == list(range(1, 13))
            assert list(y) == [row[metric] for row in rows]
            assert axes.get_ylim()[0] <= min(y) and max(y) <= axes.get_ylim()[1]
            drawn.append(metric)
        assert axes.get_ylabel() == panel.unit
    plt.close(figure)
    assert sorted([*drawn, "step"]) == sorted(rows[0]), "every metric has its panel"


# Interruptions


@pytest.mark.usefixtures("no_picture")
def test_an_interruption_by_hand_says_how_to_go_on_and_the_rest_is_the_same(tmp_path, monkeypatch, capsys, finished):
    original = TrainingState.record
    for last, words in ((0, "no checkpoint yet"), (9, "add --resume")):  # step 9 is not saved

        def record(state, *arguments, last=last):
            if len(state.history) == last:
                raise KeyboardInterrupt
            original(state, *arguments)

        monkeypatch.setattr(TrainingState, "record", record)
        assert main(*OPTIONS, "--out", tmp_path / "run") == 130
        assert words in capsys.readouterr().err
    monkeypatch.setattr(TrainingState, "record", original)
    for _ in range(2):  # the second time there is nothing left to do
        assert main("--resume", "--out", tmp_path / "run") == 0
        assert same_results(tmp_path / "run", finished)


@pytest.mark.proof
@pytest.mark.usefixtures("no_picture")
def test_overwriting_leaves_nothing_of_the_old_run(copy):
    assert main("--overwrite", "--steps", 1, "--out", copy) == 0
    assert (copy / "diagnostics.png").read_bytes() == b"", "a new one, and there is no picture here"
    assert [row["step"] for row in metrics_in(copy)] == [1]
    assert [point["step"] for point in samples_in(copy)["points"]] == [0, 1]
    assert torch.load(copy / "checkpoint.pt", weights_only=True)["config"]["steps"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of a file")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # torch leaves the file open
@pytest.mark.parametrize(
    ("name", "step", "words"),
    [
        ("run", 10, "add --resume"),
        # torch writes in another way where a path is not ASCII
        pytest.param("Übung", 1, "no checkpoint yet", marks=pytest.mark.proof),
    ],
)
def test_a_full_disk_is_said_with_how_to_go_on(name, step, words, tmp_path, monkeypatch, capsys):
    fill_up(monkeypatch, run_charlm.Run, lambda run: len(run.state.history) == step)
    assert main(*OPTIONS, "--out", tmp_path / name) == 2
    errors = capsys.readouterr().err
    assert re.search(rf"cannot (read or )?write .*{name}.*{words}", errors, re.DOTALL)


# What the student has not written, or not right


def test_a_missing_or_wrong_train_is_said(tmp_path, monkeypatch, capsys):
    assert of_a_student.main(["--out", str(tmp_path / "run")]) == 1
    assert "charlm.train is not written yet" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(run_charlm, "train", lambda *arguments, state, **options: state.history)
    assert main(*OPTIONS, "--out", tmp_path / "run") == 1
    assert "0 of 12 steps" in capsys.readouterr().err


# Usage


def refused(capsys, *arguments: object) -> str:
    with pytest.raises(SystemExit) as stop:
        main(*arguments)
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--steps 0", "--steps: must be at least 1"),
        ("--group-size 0", "--group-size: must be at least 1"),
        ("--lr -1", "not negative"),
        ("--kl-coef nan", "finite number"),
        ("--task sums", "'sums'"),
        ("--max-new-tokens 29", "at most 28"),
        ("--out README.md", "must be a folder"),
        ("--out no/such/folder", "folder that exists"),
        ("--resume", "no checkpoint"),
        ("--resume --overwrite", "one of them"),
        ("--variant gspo --level token", "omit --level"),
        ("--variant gspo --resume", "omit --resume"),
        ("--variant ppo", "there is no 'ppo'"),
    ],
)
def test_what_cannot_work_is_refused_before_the_run(options, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("no weights\n", "utf-8")
    assert words in refused(capsys, *options.split())
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "--resume or --overwrite"),
        ("--resume --steps 13", "steps 12, not 13"),
        ("--resume --task arithmetic", "task pizza, not arithmetic"),
        ("--resume --seed 0", "seed 3, not 0"),
    ],
)
def test_a_run_is_neither_overwritten_nor_changed_by_accident(options, words, copy, capsys):
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    assert words in refused(capsys, *options.split(), "--out", copy)
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before


def test_damaged_files_of_a_run_are_refused(copy, capsys):
    whole = (copy / "samples.json").read_text("utf-8")
    for damaged in ("", whole[:1000], "[]", "{}"):
        (copy / "samples.json").write_text(damaged, "utf-8")
        assert "samples.json" in refused(capsys, "--resume", "--out", copy)
    (copy / "samples.json").write_text(whole, "utf-8")
    large = TinyLM(TinyLMConfig(width=64))
    save_checkpoint(
        copy / "checkpoint.pt", large, TrainingState(make_optimizer(large, CONFIG), CONFIG), make_generator(0)
    )
    assert "checkpoint.pt is not a checkpoint of this policy" in refused(capsys, "--resume", "--out", copy)
    (copy / "checkpoint.pt").write_bytes(b"half a file")
    assert "checkpoint.pt is not a checkpoint of this policy" in refused(capsys, "--resume", "--out", copy)


# The recorded runs of the pages

RECORDED: dict[str, dict] = {
    "charlm-pizza": {},
    "charlm-pizza-token": {"loss_level": "token"},
    "charlm-pizza-sequence": {"ratio_level": "sequence"},
    "charlm-pizza-kl": {"kl_coef": 1.0},
    "charlm-arithmetic": {},
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.proof] * (name != "charlm-pizza")) for name in RECORDED]
)
def test_a_recorded_run_is_what_the_model_answers_still_do(name):
    """Its first steps; later ones differ between processors, because rounding decides what is sampled."""
    document, recorded = samples_in(course.RUNS / name), metrics_in(course.RUNS / name)
    task = run_charlm.TASKS[document["task"]]
    config = replace(task.config, **RECORDED[name])
    assert document["settings"] == asdict(config), "run `make recordings`"
    assert [row["step"] for row in recorded] == list(range(1, config.steps + 1))
    assert [point["step"] for point in document["points"]] == [config.steps * tenth // 10 for tenth in range(11)]
    assert document["points"][0]["exact"] == pytest.approx(exact(load_model(), document["task"]), abs=1e-5)
    last = document["points"][-1]["exact"]
    assert 0.3 < last < 0.7 if name == "charlm-pizza-kl" else last > 0.95, "what the page is about"
    policy = load_model()
    state = TrainingState(make_optimizer(policy, config), config)

    class Enough(Exception):
        pass

    def after_step() -> None:
        if len(state.history) == 4:
            raise Enough

    state.after_step = after_step
    with pytest.raises(Enough):
        charlm.train(policy, load_model(), task.prompt, task.reward, config, generator=make_generator(0), state=state)
    for row, wanted in zip(state.history, recorded, strict=False):
        assert row == pytest.approx(wanted, rel=1e-3, abs=1e-5), "run `make recordings`"
