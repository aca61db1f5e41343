"""The command that trains the language model: its files, its picture, a kill at any moment, and the recorded runs."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from full_disk import fill_up
from safetensors.torch import load_file

from grader.commands import course as course_command
from grader.core import course
from reference import charlm, charlm_plots, run_charlm
from reference.charlm_model import SIZES, TinyLM, load_model, save_weights
from reference.charlm_sampling import make_generator
from reference.charlm_task import PIZZA_PROMPT, pizza_reward
from reference.charlm_training import CharLMConfig, TrainingState, make_optimizer, save_checkpoint
from starter import run_charlm as of_a_student

CONFIG = CharLMConfig(steps=12, prompts_per_step=2, group_size=4, inner_steps=2, lr=1e-3)
OPTIONS = ("--steps", 12, "--prompts-per-step", 2, "--group-size", 4, "--inner-steps", 2, "--lr", 1e-3, "--seed", 3)


def python(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, *map(str, arguments)]
    return subprocess.run(line, cwd=course.ROOT, capture_output=True, text=True, check=False, timeout=120)


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
    alphabet, found = CharLMConfig().alphabet, 1.0
    for place, character in enumerate(completion):
        tokens = torch.tensor([[alphabet.index(each) for each in prompt + completion[:place]]])
        with torch.no_grad():
            forecast = model(tokens)[0, -1].double().softmax(dim=-1)
        found *= forecast[alphabet.index(character)].item()
    return found


def exact(model: TinyLM, task: str) -> float:
    if task == "pizza":
        return probability(model, "ravin likes ", "pizza.")
    return sum(probability(model, f"{a}+{b}=", f"{a + b}.") for a in range(10) for b in range(10)) / 100


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As the command itself: the last bits depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A run that nobody interrupted."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    return folder, python("-m", "reference.run_charlm", *OPTIONS, "--out", folder)


@pytest.fixture
def copy(finished, tmp_path) -> Path:
    """The same run in a folder that a test may spoil."""
    return shutil.copytree(finished[0], tmp_path / "copy")


@pytest.fixture
def no_picture(monkeypatch):
    """A second less, where the question is another one."""
    monkeypatch.setattr(charlm_plots, "plot_diagnostics", lambda history, *, title, path: path.write_bytes(b""))


# A whole run


def test_a_run_fills_its_folder_and_says_what_came_out(finished):
    folder, done = finished
    assert (done.returncode, done.stderr) == (0, "")  # no progress bar where no terminal is
    assert {each.name for each in folder.iterdir()} == set(run_charlm.FILES)
    before, after = (exact(model, "pizza") for model in (load_model(), load_model(folder / "policy.safetensors")))
    assert f'exact probability of "pizza.": {before:.3f} before, {after:.3f} after' in done.stdout
    assert after > 2 * before
    assert (folder / "diagnostics.png").read_bytes().startswith(b"\x89PNG")
    assert len(torch.load(folder / "checkpoint.pt", weights_only=True)["history"]) == 12


def test_the_metrics_are_what_train_returns(finished):
    policy = load_model()
    history = charlm.train(policy, load_model(), PIZZA_PROMPT, pizza_reward, CONFIG, generator=make_generator(3))
    assert metrics_in(finished[0]) == history
    assert (finished[0] / "metrics.csv").read_text("utf-8").splitlines()[0].split(",") == list(history[0])
    weights = load_file(finished[0] / "policy.safetensors")
    assert all(torch.equal(value, weights[name]) for name, value in policy.state_dict().items())


def test_the_samples_are_of_the_whole_run_and_paid_for_as_they_should(finished):
    folder, _ = finished
    document = samples_in(folder)
    assert (document["task"], document["seed"], document["torch"]) == ("pizza", 3, torch.__version__)
    assert document["settings"] == asdict(CONFIG)
    assert [point["step"] for point in document["points"]] == [0, 1, 2, 4, 5, 6, 7, 8, 10, 11, 12]
    for point in document["points"]:
        assert [each["prompt"] for each in point["samples"]] == ["ravin likes "] * 16
        assert all(each["reward"] == 4.0 * (each["text"] == "pizza.") for each in point["samples"])
    first, last = (document["points"][place]["exact"] for place in (0, -1))
    assert first == pytest.approx(exact(load_model(), "pizza"), abs=1e-6)
    assert last == pytest.approx(exact(load_model(folder / "policy.safetensors"), "pizza"), abs=1e-6)


@pytest.mark.usefixtures("no_picture")
def test_the_samples_are_drawn_from_the_policy(tmp_path, monkeypatch):
    monkeypatch.setattr(run_charlm, "SAMPLES_AT_A_POINT", 2000)
    assert main("--steps", 1, "--out", tmp_path / "run") == 0
    texts = [each["text"] for each in samples_in(tmp_path / "run")["points"][0]["samples"]]
    expected = probability(load_model(), "ravin likes ", "apples.")
    assert texts.count("apples.") / 2000 == pytest.approx(expected, abs=4 * math.sqrt(expected / 2000))


@pytest.mark.usefixtures("no_picture")
def test_a_terminal_shows_how_far_the_run_is(tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name, value in (("TERM", "xterm"), ("NO_COLOR", "1"), ("COLUMNS", "100")):
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(*OPTIONS, "--out", tmp_path / "run") == 0
    shown = terminal.getvalue()
    reward = metrics_in(tmp_path / "run")[-1]["rolling_mean_reward"]
    assert "12/12" in shown and f"mean reward {reward:.2f}" in shown
    assert not re.search(r"\x1b\[[\d;]*[349]\dm", shown), "NO_COLOR is set"


# The picture


@pytest.mark.parametrize("panel", charlm_plots.PANELS, ids=lambda panel: panel.name)
def test_a_panel_draws_the_numbers_of_the_metrics_file(panel, finished):
    rows = metrics_in(finished[0])
    figure = charlm_plots.diagnostics(rows, title="12 steps")
    (axes,) = (each for each in figure.axes if each.get_title(loc="left") == panel.title)
    lines = {line.get_label(): line for line in axes.lines}
    for metric, label in panel.series.items():
        x, y = map(np.asarray, lines[label].get_data())
        assert list(x) == list(range(1, 13))
        assert list(y) == [row[metric] for row in rows]
        assert axes.get_ylim()[0] <= min(y) and max(y) <= axes.get_ylim()[1]
    assert axes.get_ylabel() == panel.unit and axes.get_ylim()[0] <= 0 <= axes.get_ylim()[1]
    shown = " ".join(" ".join(text.get_text() for text in axes.texts).split())
    assert shown == panel.reading
    plt.close(figure)


def test_every_metric_has_its_panel(finished):
    drawn = [metric for panel in charlm_plots.PANELS for metric in panel.series]
    assert sorted([*drawn, "step"]) == sorted(metrics_in(finished[0])[0])


def test_nothing_in_the_picture_is_cut_off(finished):
    figure = charlm_plots.diagnostics(metrics_in(finished[0]), title="12 steps")
    figure.canvas.draw()
    frame = figure.bbox
    panels = [axes.get_window_extent() for axes in figure.axes]
    for axes, panel in zip(figure.axes, panels, strict=True):
        for text in axes.texts:
            box = text.get_window_extent()
            assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and box.y1 <= frame.y1
            assert not any(box.overlaps(other) for other in panels), axes.get_title(loc="left")
            assert box.x1 <= panel.x1 + 1, f"{axes.get_title(loc='left')}: the reading is wider than its panel"
    plt.close(figure)


def test_the_ending_decides_the_format(finished, tmp_path):
    assert (finished[0] / "diagnostics.png").read_bytes().startswith(b"\x89PNG")
    charlm_plots.plot_diagnostics(metrics_in(finished[0])[:1], title="one step", path=tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_bytes().startswith(b"<?xml")


# A kill, and on


# Torch is imported once, and each run is a child of who did that.
DYING_IN_EVERY_WAY = """
import multiprocessing, os, signal, sys
from pathlib import Path
from reference.charlm_training import TrainingState
from reference.run_charlm import main

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def between_checkpoints():
    record = TrainingState.record
    def record_and_die(state, *arguments):
        record(state, *arguments)
        if len(state.history) == 7:
            die()
    TrainingState.record = record_and_die

def while_a_checkpoint_is_written():
    replace, seen = Path.replace, []
    def replace_or_die(path, target):
        seen.append(Path(target).name)
        if seen.count("checkpoint.pt") == 2:
            die()
        return replace(path, target)
    Path.replace = replace_or_die

def run(death, folder):
    death()
    main([*sys.argv[2:], "--out", folder])

for death in (between_checkpoints, while_a_checkpoint_is_written):
    child = multiprocessing.get_context("fork").Process(target=run, args=(death, f"{sys.argv[1]}/{death.__name__}"))
    child.start()
    child.join()
    print(death.__name__, child.exitcode)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory) -> Path:
    """A folder of runs that were killed, named after the moment."""
    folder = tmp_path_factory.mktemp("killed")
    done = python("-c", DYING_IN_EVERY_WAY, folder, *OPTIONS, "--checkpoint-every", 5)
    assert done.stdout == "between_checkpoints -9\nwhile_a_checkpoint_is_written -9\n", done.stderr
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process as POSIX does")
@pytest.mark.usefixtures("no_picture")
@pytest.mark.parametrize(
    ("moment", "last_looked_at"), [("between_checkpoints", 5), ("while_a_checkpoint_is_written", 10)]
)
def test_a_killed_run_goes_on_as_if_nothing_had_happened(moment, last_looked_at, killed, finished):
    folder = killed / moment
    assert torch.load(folder / "checkpoint.pt", weights_only=True)["history"][-1]["step"] == 5
    assert samples_in(folder)["points"][-1]["step"] == last_looked_at
    assert main("--resume", "--out", folder) == 0
    assert same_results(folder, finished[0])


@pytest.mark.usefixtures("no_picture")
def test_a_finished_run_has_nothing_to_go_on_with(copy, finished):
    assert main(*OPTIONS, "--resume", "--out", copy) == 0
    assert same_results(copy, finished[0])


@pytest.mark.usefixtures("no_picture")
def test_overwriting_leaves_nothing_of_the_old_run(copy):
    assert main("--overwrite", "--steps", 1, "--out", copy) == 0
    assert (copy / "diagnostics.png").read_bytes() == b"", "a new one, and there is no picture here"
    assert [row["step"] for row in metrics_in(copy)] == [1]
    assert [point["step"] for point in samples_in(copy)["points"]] == [0, 1]
    assert torch.load(copy / "checkpoint.pt", weights_only=True)["config"]["steps"] == 1


def test_an_interruption_by_hand_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupt_after(step: int) -> None:
        def record(state, *arguments):
            original(state, *arguments)
            if len(state.history) == step:
                raise KeyboardInterrupt

        monkeypatch.setattr(TrainingState, "record", record)

    original = TrainingState.record
    for step, words in ((2, "there is no checkpoint yet"), (7, "add --resume")):
        interrupt_after(step)
        assert main(*OPTIONS, "--checkpoint-every", 5, "--out", tmp_path / "run") == 130
        assert words in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of a file")
@pytest.mark.parametrize("step", [5, 10], ids=["before the first checkpoint", "after it"])
def test_a_full_disk_is_said_with_how_to_go_on(step, tmp_path, monkeypatch, capsys):
    fill_up(monkeypatch, run_charlm.Run, lambda run: len(run.state.history) == step)
    assert main(*OPTIONS, "--checkpoint-every", 5, "--out", tmp_path / "run") == 2
    then = "there is no checkpoint yet" if step == 5 else "add --resume to go on from the last checkpoint"
    assert capsys.readouterr().err.endswith(f"is the disk full?; {then}.\n")


# What the student has not written, or not right


def test_before_the_exercise_is_written_the_command_says_so(tmp_path, capsys):
    assert of_a_student.main(["--out", str(tmp_path / "run")]) == 1
    assert capsys.readouterr().err == "charlm.train is not written yet; this command needs it.\n"
    assert not (tmp_path / "run").exists()


def test_a_train_that_forgets_to_record_is_told_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run_charlm, "train", lambda *arguments, state, **options: state.history)
    assert main(*OPTIONS, "--out", tmp_path / "run") == 1
    assert capsys.readouterr().err == "`train` recorded 0 of 12 steps; it must record each.\n"


def test_the_command_says_where_to_stand():
    done = python(course.STARTER / "run_charlm.py")
    assert done.returncode == 1
    assert "python -m starter.run_charlm" in done.stderr


# Usage


def refused(capsys, *arguments: object) -> str:
    with pytest.raises(SystemExit) as stop:
        main(*arguments)
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--steps 0", "--steps must be at least 1"),
        ("--group-size 0", "group_size must be at least 1"),
        ("--lr -1", "lr must be a finite number and not negative"),
        ("--level word", "invalid choice: 'word'"),
        ("--task sums", "invalid choice: 'sums'"),
        ("--checkpoint-every 0", "--checkpoint-every must be at least 1"),
        ("--max-new-tokens 29", "--max-new-tokens can be 28 at most with this model, got 29"),
        ("--weights missing.safetensors", "there are no weights in missing.safetensors"),
        ("--weights README.md", "README.md holds no model"),
        ("--out README.md", "--out must be a folder"),
        ("--out no/such/folder", "in a folder that exists"),
        ("--resume", "there is no checkpoint"),
        ("--resume --overwrite", "choose one of them"),
    ],
)
def test_what_cannot_work_is_refused_before_the_run(options, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("no weights\n", "utf-8")
    assert words in refused(capsys, *options.split())
    assert [each.name for each in tmp_path.iterdir()] == ["README.md"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_device_that_is_not_there_is_refused(tmp_path, capsys):
    assert "finds no such device" in refused(capsys, "--device", "cuda", "--out", tmp_path / "run")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "add --resume or --overwrite"),
        ("--resume --steps 13", "began with steps 12, not 13"),
        ("--resume --level token", "began with loss_level sequence, not token"),
        ("--resume --task arithmetic", "began with task pizza, not arithmetic"),
        ("--resume --seed 0", "began with seed 3, not 0"),
        ("--resume --weights {run}/policy.safetensors", "began with other --weights"),
        ("--overwrite --weights {run}/policy.safetensors", "--overwrite would delete the --weights"),
    ],
)
def test_a_run_is_neither_overwritten_nor_changed_by_accident(options, words, copy, capsys):
    before = {each.name: each.read_bytes() for each in copy.iterdir()}
    assert words in refused(capsys, *options.format(run=copy).split(), "--out", copy)
    assert {each.name: each.read_bytes() for each in copy.iterdir()} == before


def test_a_checkpoint_of_another_size_is_refused(copy, capsys):
    large = TinyLM(replace(SIZES["tiny"], width=64))
    state = TrainingState(make_optimizer(large, CONFIG), CONFIG)
    save_checkpoint(copy / "checkpoint.pt", large, state, make_generator(0))
    assert "checkpoint.pt is damaged or of another model" in refused(capsys, "--resume", "--out", copy)


def test_damaged_files_of_a_run_are_refused(copy, capsys):
    whole = (copy / "samples.json").read_text("utf-8")
    for damaged in (whole[:1000], "{}"):
        (copy / "samples.json").write_text(damaged, "utf-8")
        assert "samples.json is not what a run wrote" in refused(capsys, "--resume", "--out", copy)
    (copy / "samples.json").write_text(whole, "utf-8")
    (copy / "checkpoint.pt").write_bytes(b"half a file")
    assert "checkpoint.pt is damaged or of another model" in refused(capsys, "--resume", "--out", copy)


@pytest.mark.usefixtures("no_picture")
def test_a_model_of_another_size_can_be_trained(tmp_path):
    save_weights(TinyLM(replace(SIZES["tiny"], width=16)), tmp_path / "mine.safetensors", made_by="this test")
    assert main("--weights", tmp_path / "mine.safetensors", "--steps", 2, "--out", tmp_path / "run") == 0
    assert load_model(tmp_path / "run" / "policy.safetensors").config.width == 16


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_learns_as_well(tmp_path):
    assert main("--device", "cuda", "--out", tmp_path / "run") == 0
    assert samples_in(tmp_path / "run")["points"][-1]["exact"] > 0.9
    assert main("--device", "cuda", "--resume", "--out", tmp_path / "run") == 0


# The recorded runs of the pages

RECORDED: dict[str, dict[str, Any]] = {
    "charlm-pizza": {},
    "charlm-pizza-token": {"loss_level": "token"},
    "charlm-pizza-sequence": {"ratio_level": "sequence"},
    "charlm-pizza-kl": {"kl_coef": 1.0},
    "charlm-arithmetic": {},
}
recorded = pytest.mark.parametrize("name", RECORDED)


def test_there_are_these_recorded_runs_and_they_are_small():
    folders = [each for each in course.RUNS.iterdir() if each.is_dir() and each.name.startswith("charlm-")]
    assert {each.name for each in folders} == set(RECORDED)
    files = [file for folder in folders for file in folder.iterdir()]
    assert {file.name for file in files} == {"metrics.csv", "samples.json"}
    assert sum(file.stat().st_size for file in files) <= 600_000


def test_the_recorded_runs_that_figures_replay_are_what_the_command_writes(capsys):
    assert course_command.main(["dev", "recordings", "--check"]) == 0, capsys.readouterr().out


@recorded
def test_a_recorded_run_is_complete(name):
    document, rows = samples_in(course.RUNS / name), metrics_in(course.RUNS / name)
    task = name.split("-")[1]
    steps = document["settings"]["steps"]
    assert (document["task"], document["seed"]) == (task, 0)
    assert [row["step"] for row in rows] == list(range(1, steps + 1))
    assert set(rows[0]) == {"step", *(metric for panel in charlm_plots.PANELS for metric in panel.series)}
    assert [point["step"] for point in document["points"]] == [steps * tenth // 10 for tenth in range(11)]
    assert all(0 <= point["exact"] <= 1 and len(point["samples"]) == 16 for point in document["points"])


@recorded
def test_a_recorded_run_begins_at_the_weights_of_the_course(name):
    document = samples_in(course.RUNS / name)
    assert document["points"][0]["exact"] == pytest.approx(exact(load_model(), document["task"]), abs=1e-5)


@recorded
def test_a_recorded_run_is_what_the_model_answers_still_do(name):
    """Its first steps; later ones differ between processors, because rounding decides what is sampled."""
    task = run_charlm.TASKS[samples_in(course.RUNS / name)["task"]]
    config = replace(task.config, **RECORDED[name])
    assert samples_in(course.RUNS / name)["settings"] == asdict(config), "run `make recordings`"
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
    for row, wanted in zip(state.history, metrics_in(course.RUNS / name), strict=False):
        assert row == pytest.approx(wanted, rel=1e-3, abs=1e-5), "run `make recordings`"


def test_the_recorded_runs_show_what_the_page_is_about():
    ends = {name: samples_in(course.RUNS / name)["points"][-1]["exact"] for name in RECORDED}
    held_back = ends.pop("charlm-pizza-kl")
    assert min(ends.values()) > 0.95
    assert 0.3 < held_back < 0.7
