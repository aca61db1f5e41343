"""The results pages: every number is recomputed from the recorded files or the model answers, every command exists.

Each function marked with `@claims` yields what must stand on its page, made from the data. What is left of a page
without these lines may hold no number, except settings and what `QUOTED` lists from other people's notebooks.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grader import ablations, course
from reference import charlm_task, run_bandit, run_charlm
from reference.advantages import group_advantages
from reference.charlm_training import ROLLING

PAGES = ("bandit", "charlm")
RUNS = {
    "pizza": "",
    "pizza-token": "--level token",
    "pizza-sequence": "--ratio-level sequence",
    "pizza-kl": "--kl-coef 1",
    "arithmetic": "--task arithmetic",
}
"""Recorded runs of the language model, and the options that make them."""
ABLATIONS = {ablation.name: ablation for ablation in ablations.ABLATIONS}
Claims = Iterator[str]
CLAIMS: list[tuple[str, Callable[[], Claims]]] = []


def claims(page: str) -> Callable[[Callable[[], Claims]], Callable[[], Claims]]:
    """Marks a function whose texts must stand on a page."""

    def mark(function: Callable[[], Claims]) -> Callable[[], Claims]:
        CLAIMS.append((page, function))
        return function

    return mark


def path_of(name: str) -> Path:
    return course.ROOT / f"docs/results/{name}.md"


def page(name: str) -> str:
    """A page as one line of text."""
    return " ".join(path_of(name).read_text("utf-8").split())


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\u2212") if value else "0"


# The bandit


def curves(ablation: str) -> dict[str, list[dict[str, float]]]:
    """Rows of each setting; place t is step t."""
    found: dict[str, list[dict[str, float]]] = {}
    with (course.RUNS / f"{ablation}.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            setting = line.pop("setting")
            found.setdefault(setting, []).append({name: float(value or "nan") for name, value in line.items()})
    return found


def best(at: dict[str, float]) -> tuple[str, str]:
    """Probability of the best action: median, and the middle 80 %."""
    low, middle, high = (f"{at[f'best_probability_{which}']:.3f}" for which in ("low", "median", "high"))
    return middle, f"{low} to {high}"


def passes_half(steps: list[dict[str, float]]) -> str:
    return next((str(step) for step, at in enumerate(steps) if at["best_probability_median"] > 0.5), "not reached")


@claims("bandit")
def one_group() -> Claims:
    rewards = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    mean, std = rewards.mean(), rewards.std()
    high, low = (1 - mean) / std, (0 - mean) / std
    answer = group_advantages(torch.tensor(rewards)).numpy()
    assert answer == pytest.approx(np.where(rewards == 1, high, low))
    yield f"the mean is 3 / 8 = {mean:.3f}"
    yield f"the standard deviation is the root of {mean:.3f} · {1 - mean:.3f}, which is {std:.4f}"
    yield f"A 1 gets (1 \u2212 {mean:.3f}) / {std:.4f} = +{high:.4f}"
    yield f"a 0 gets (0 \u2212 {mean:.3f}) / {std:.4f} = \u2212{-low:.4f}"
    yield f"3 · {high:.4f} \u2212 5 · {-low:.4f} = {abs(3 * high + 5 * low):.0f}"
    yield f"prints the root of 8 / 7, {answer.std(ddof=1):.4f}"


@claims("bandit")
def mean_reward() -> Claims:
    single = curves("mean-reward")["single peak at 7"]
    for step in (1, 10, 20, 40, 80):
        at = single[step]
        band = f"{at['mean_reward_low']:.3f} to {at['mean_reward_high']:.3f}"
        lost = percent(at["zero_signal_mean"])
        yield row(step, f"{at['mean_reward_median']:.3f}", band, *best(at), lost)
    table = ABLATIONS["mean-reward"].settings["single peak at 7"].reward_table
    yield f"the uniform policy of the start earns {np.mean(table):.1f} on average"
    at = single[1]
    yield f"anything from {at['mean_reward_low']:.3f} to {at['mean_reward_high']:.3f} is ordinary in step 1"
    gains = [single[to]["best_probability_median"] - single[to - 10]["best_probability_median"] for to in (10, 20, 40)]
    yield f"by {gains[0]:.3f} in the first ten steps, by {gains[1]:.3f} in the next ten"
    yield f"and only by {gains[2]:.3f} from step 30 to step 40"
    sure = next(step for step, at in enumerate(single) if at["mean_reward_median"] == 1)
    yield f"From step {sure} on the median group earns 1"
    yield f"while π(7) is {single[sure]['best_probability_median']:.3f}"
    yield f"The rewards of {percent(single[sure]['zero_signal_mean'])} of the groups in that step"
    yield f"{percent(single[80]['zero_signal_mean'])} of all groups teach nothing in step 80"


@claims("bandit")
def group_size() -> Claims:
    for size in (2, 4, 8, 16, 32, 64):
        steps = curves("group-size")[f"G = {size}"]
        lost = [at["zero_signal_mean"] for at in steps[1:]]
        yield row(size, *best(steps[50]), passes_half(steps), percent(lost[0]), percent(np.mean(lost)))
    halves = {size: int(passes_half(curves("group-size")[f"G = {size}"])) for size in (8, 16, 32, 64)}
    assert halves[8] - min(halves.values()) == 2  # "at most two steps earlier"
    ends = {size: curves("group-size")[f"G = {size}"][50] for size in (2, 4, 32)}
    widths = {size: at["best_probability_high"] - at["best_probability_low"] for size, at in ends.items()}
    yield f"is {widths[2]:.3f} wide with G = 2, {widths[4]:.3f} with G = 4 and {widths[32]:.3f} with G = 32"


@claims("bandit")
def reward_sparsity() -> Claims:
    for setting, steps in curves("reward-sparsity").items():
        yield row(setting, percent(steps[1]["zero_signal_mean"]), passes_half(steps), *best(steps[50]))
    yield f"misses it with probability 0.99^8 = {percent(0.99**8)}"
    yield f"One of 32 misses it with {percent(0.99**32)}"
    assert percent(0.99**8 + 0.01**8) == percent(0.99**8)  # a group of eight hits only: too rare to be seen


@claims("bandit")
def temperature() -> Claims:
    for setting, steps in curves("temperature").items():
        first = steps[1]
        distinct, lost = f"{first['distinct_actions_mean']:.2f}", percent(first["zero_signal_mean"])
        yield row(setting.removeprefix("temperature "), distinct, lost, passes_half(steps), *best(steps[50]))
    start = math.exp(3) / (math.exp(3) + 9)
    yield f"The policy starts with {start:.3f} on action 3"


@claims("bandit")
def clip() -> Claims:
    for setting, steps in curves("clip").items():
        wrong = [at["sure_of_wrong_action_mean"] for at in steps]
        clipped = f"{steps[1]['clip_fraction_mean']:.3f}"
        name = setting.removeprefix("clip_eps ")
        yield row(name, clipped, passes_half(steps), percent(max(wrong)), percent(wrong[50]), best(steps[50])[1])


@claims("bandit")
def tables() -> Claims:
    found = curves("mean-reward")
    for setting, steps in found.items():
        rewards = f"{steps[1]['mean_reward_median']:.3f}", f"{steps[80]['mean_reward_median']:.3f}"
        yield row(setting, *rewards, passes_half(steps), *best(steps[80]))


# The language model


def metrics(run: str) -> list[dict[str, float]]:
    """Rows of a run; place t is step t + 1."""
    with (course.RUNS / f"charlm-{run}/metrics.csv").open(encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in line.items()} for line in csv.DictReader(file)]


def recorded(run: str) -> dict[str, Any]:
    return json.loads((course.RUNS / f"charlm-{run}/samples.json").read_text("utf-8"))


def points(run: str) -> dict[int, dict[str, Any]]:
    return {point["step"]: point for point in recorded(run)["points"]}


def texts(run: str, step: int) -> list[str]:
    return [sample["text"] for sample in points(run)[step]["samples"]]


def largest(values: list[float]) -> str:
    return f"{max(map(abs, values)):.0e}"


@claims("charlm")
def runs() -> Claims:
    for name, options in RUNS.items():
        folder = f"../assets/runs/charlm-{name}"
        files = ", ".join(f"[{kind}]({folder}/{kind})" for kind in ("metrics.csv", "samples.json", "diagnostics.png"))
        for kind in ("metrics.csv", "samples.json"):
            files = files.replace(f"{kind})", f'{kind}){{ download="charlm-{name}-{kind}" }}')
        start, end = (f"{recorded(name)['points'][place]['exact']:.3f}" for place in (0, -1))
        yield row(name, f"`{options}`" if options else "none", start, end, files)


@claims("charlm")
def before_and_after() -> Claims:
    before, after = (Counter(texts("pizza", step)) for step in (0, 40))
    assert set(before) == {f"{food}." for food in charlm_task.FOODS}
    for text, count in before.most_common():
        yield row(f"`{text}`", count, after[text])
    ends = [points("pizza")[step]["exact"] for step in (0, 40)]
    yield f"The exact probability of `pizza.` is {ends[0]:.3f} before and {ends[1]:.3f} after."


@claims("charlm")
def nine_steps() -> Claims:
    steps = metrics("pizza")
    for number in (1, 2, 3, 4, 8, 12, 20, 34, 40):
        at = steps[number - 1]
        names = ("mean_reward", "rolling_mean_reward", "policy_loss", "kl", "loss", "mean_advantage")
        digits = (3, 3, 4, 4, 4, 4)
        cells = [f"{at[name]:.{places}f}" for name, places in zip(names, digits, strict=True)]
        yield row(number, *(re.sub(r"^-(0\.0+)$", r"\1", cell) for cell in cells))


@claims("charlm")
def rewards() -> Claims:
    steps = metrics("pizza")
    means = [at["mean_reward"] for at in steps]
    yield f"it falls from {means[2]:.3f} in step 3 to {means[3]:.3f} in step 4"
    yield f"up to {points('pizza')[4]['exact']:.3f} after step 4"
    assert points("pizza")[4]["exact"] > points("pizza")[0]["exact"]
    yield f"The rolling mean looks back {ROLLING} steps"
    assert np.mean(means[-ROLLING:]) == pytest.approx(steps[-1]["rolling_mean_reward"])
    behind = next(place + 1 for place, at in enumerate(steps) if at["rolling_mean_reward"] > 2)
    first = next(place + 1 for place, mean in enumerate(means) if mean > 2)
    yield f"passes 2 in step {behind}; the batches themselves do in step {first}"
    missed = sum(round((4 - mean) * 8) for mean in means[-ROLLING:])
    yield f"ends at {steps[-1]['rolling_mean_reward']:.3f} and not at 4: {missed} of the last 320 completions"


@claims("charlm")
def policy_loss() -> Claims:
    yield f"never further from 0 than {largest([at['policy_loss'] for at in metrics('pizza')])}"
    token = [at["policy_loss"] for at in metrics("pizza-token")]
    yield f"lies between \u2212{-min(token):.3f} and +{max(token):.3f}"
    yield f"{sum(loss > 1e-6 for loss in token)} of its 40 values are above 0"
    ends = [f"{points('pizza-token')[step]['exact']:.3f}" for step in (0, 40)]
    yield f"rises from {ends[0]} to {ends[1]}"


@claims("charlm")
def kl() -> Claims:
    steps = metrics("pizza")
    peak = max(steps, key=lambda at: at["kl"])
    yield f"In step {peak['step']:.0f} it jumps to {peak['kl']:.3f}, one step later it is {steps[34]['kl']:.3f} again"
    assert steps[int(peak["step"])]["step"] == 35
    yield f"{round((4 - peak['mean_reward']) * 8)} of the 32 completions of that batch"
    near = [f"{points('pizza')[step]['exact']:.3f}" for step in (32, 36)]
    yield f"is {near[0]} after step 32 and {near[1]} after step 36"
    held = recorded("pizza-kl")
    peak = max(held["points"], key=lambda point: point["exact"])
    yield f"climbs to {peak['exact']:.3f} in {peak['step']} steps and falls back to {held['points'][-1]['exact']:.3f}"
    yield f"its largest KL is {max(at['kl'] for at in metrics('pizza-kl')):.3f}"


@claims("charlm")
def total_loss() -> Claims:
    for name in RUNS:
        coefficient = recorded(name)["settings"]["kl_coef"]
        for at in metrics(name):
            assert at["loss"] == pytest.approx(at["policy_loss"] + coefficient * at["kl"], abs=1e-7)
    steps = metrics("pizza")
    peak = max(steps, key=lambda at: at["kl"])
    assert peak["step"] == 34
    yield f"In step 34: 0.04 · {peak['kl']:.4f} = {peak['loss']:.4f}"
    yield f"rises from {steps[0]['loss'] + 0.0:.4f} to {steps[-1]['loss']:.4f}".replace("-", "")
    yield f"\u22124.6220 + 0.1 · 1.0789 = \u2212{4.6220 - 0.1 * 1.0789:.4f}"
    yield f"0 + 0.1 · 2.1230 = {0.1 * 2.1230:.4f}"


@claims("charlm")
def mean_advantage() -> Claims:
    yield f"At most {largest([at['mean_advantage'] for name in RUNS for at in metrics(name)])} in all five runs"


@claims("charlm")
def arithmetic_curves() -> Claims:
    steps = metrics("arithmetic")
    yield f"The mean reward goes from {steps[0]['mean_reward']:.3f} to {steps[-1]['mean_reward']:.3f}"
    shares = [at["zero_signal_fraction"] for at in steps]
    low = min(shares)
    yield f"falls from {percent(shares[0])} to {percent(low)} in step {shares.index(low) + 1}"
    yield f"then rises to {percent(shares[-1])}"
    yield f"from {steps[0]['entropy']:.3f} to {steps[-1]['entropy']:.3f} nats"


@claims("charlm")
def groups_without_signal() -> Claims:
    sampled = [("0, first eight", 0, 0), ("0, last eight", 0, 8), ("8, first eight", 8, 0)]
    for name, step, start in sampled:
        group = points("pizza")[step]["samples"][start : start + 8]
        rewards = torch.tensor([sample["reward"] for sample in group], dtype=torch.float64)
        advantages = {
            text: f"{signed(advantage)} for {text}"
            for sample, advantage in zip(group, group_advantages(rewards).tolist(), strict=True)
            for text in ["`pizza.`" if sample["reward"] else "the others"]
        }
        equal = len(advantages) == 1
        yield row(
            name,
            sum(bool(reward) for reward in rewards),
            f"{rewards.std(correction=0):.3f}",
            "0 for all" if equal else ", ".join(sorted(advantages.values(), key=lambda text: text[0] != "+")),
        )
    steps = metrics("pizza")
    empty = [at for at in steps if at["zero_signal_fraction"] == 1]
    first = f"{empty[0]['step']:.0f}"
    yield f"In {len(empty)} of the 40 steps all four groups are of this kind, for the first time in step {first}"
    yield f"its loss is {empty[0]['loss']:.4f} = 0.04 · {empty[0]['kl']:.4f}"
    assert all(at["policy_loss"] == 0 for at in empty)
    chance = points("pizza")[0]["exact"]
    lost = percent(chance**8 + (1 - chance) ** 8)
    yield f"p = {chance:.3f} a group of eight is without signal with probability {lost}"
    assert steps[0]["zero_signal_fraction"] == 1 / 4  # "one of four" in the text


@claims("charlm")
def levels() -> Claims:
    for step in (0, 4, 8, 12, 20, 40):
        found = [f"{points(name)[step]['exact']:.3f}" for name in ("pizza", "pizza-token", "pizza-sequence")]
        yield row(step, *found)
    pairs = zip(metrics("pizza"), metrics("pizza-sequence"), strict=True)
    apart = [left[name] - right[name] for left, right in pairs for name in left]
    yield f"no metric of any step differs by more than {largest(apart)}"


@claims("charlm")
def checkpoints() -> Claims:
    for step in (0, 4, 8, 40):
        counts = Counter(texts("pizza", step))
        others = sum(counts.values()) - counts["pizza."]
        yield row(step, f"{points('pizza')[step]['exact']:.3f}", counts["pizza."], others)
    chosen = ("4+4=", "1+9=", "9+0=", "6+9=", "9+5=", "8+5=", "5+6=")
    found = {step: points("arithmetic")[step]["samples"] for step in (0, 15, 30, 150)}
    for place, sample in enumerate(found[0]):
        if sample["prompt"] in chosen:
            marked = [f"{at[place]['text'][:-1]} {'✓' if at[place]['reward'] else '✗'}" for at in found.values()]
            yield row(f"`{sample['prompt']}`", *marked)
    right = [f"{sum(sample['reward'] for sample in at):.0f}" for at in found.values()]
    yield row("right, of 16", *right)
    yield row("exact success", *(f"{points('arithmetic')[step]['exact']:.3f}" for step in found))


@claims("charlm")
def hyperparameters() -> Claims:
    settings = recorded("pizza")["settings"]
    rows = settings["prompts_per_step"] * settings["group_size"]
    yield row("Optimizer, learning rate", f"Adam, {settings['lr']:g}, falls to a tenth", "Adam, 0.0001")
    yield row("Updates", settings["steps"], "200")
    yield row("Group size G", settings["group_size"], "4")
    yield row("Prompts in a step", settings["prompts_per_step"], "1")
    yield row("Completions in all", f"{settings['steps'] * rows:,}", f"{200 * 4}")
    yield row("KL weight β", settings["kl_coef"], "0.1")
    yield row("Longest completion, tokens", settings["max_new_tokens"], "20")
    reward = charlm_task.pizza_reward
    yield row(
        "Reward", f"{reward.reward:g} if all of it is `{reward.completion}`, else 0", "4 if it ends in `pizzaE`, else 0"
    )
    yield row("Limits", f"ratio clipped at 1 ± {settings['clip_eps']}", "advantages clipped at ± 2.0")
    assert settings["optimizer"] == "adam" and settings["final_lr"] == 0.1
    assert settings["steps"] * settings["inner_steps"] == settings["steps"]
    group = torch.tensor([4.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    sample = (group - group.mean()) / group.std()
    ours = group_advantages(group)
    yield f"is {ours.max():.3f} with our standard deviation and {sample.max():.3f} with that of a sample"
    assert ours.max() < 2  # where the notebook clips


@pytest.mark.parametrize(("name", "found"), CLAIMS, ids=[function.__name__ for _, function in CLAIMS])
def test_the_numbers_on_a_page_are_those_of_the_files(name, found):
    text = page(name)
    expected = list(found())
    assert expected
    assert [claim for claim in expected if claim not in text] == []


QUOTED = {
    "bandit": [],
    "charlm": [
        "\u22124.6220 at episode 100 and 0 at episode 200",
        "75 of 100 samples after episode 100 and in 88 of 100 after episode 200",
        "in 11 of 100 samples before",
    ],
}
"""Numbers of the notebooks that a page corrects. No file of this course holds them."""
SETTINGS = [
    r"arXiv:[\d.]+",
    r"DeepSeek-R1",
    r"\bk3\b",
    r"π\(7\)",
    r"G \u2212 1",
    r"\b(exercise|equation|chapter) \d\b",
    r"\b(in|of) (2024|2025)\b",
    r"\bepisodes? (100|200)\b",
    r"\bG = (4|8|16|32|64)\b",
    r"\b(lr|ε) = (0\.5|1|0\.1, 0\.2 or 0\.5)(?= |\.)",
    r"\b0\.5 times\b",
    r"\b(weight|limit) of 0\.1\b",
    r"\b1,000 (seeds|runs)\b",
    r"\b(32 completions|100 prompts|1 action of 100|one action of 100|unless it says 32)\b",
    r"\bmiddle 80 %",
    r"\b80 steps\b|\b50 steps\b",
    r"\bstep (1|14|34|40|50|80)\b",
    r"\bseed 0\b",
    r"\bactions? (3|6 to 8|7)\b",
    r"\b0 or 1\b",
    r"\b4 for +, 0 for\b",
    r"\bat 2 changes\b",
    r"\b(A|a|of|to|is|exactly|near|at|above|are|not|earns|variance is|ratio is) (0|1)\b",
]
"""Phrases whose numbers say what was set, or how we count."""


@pytest.mark.parametrize("name", PAGES)
def test_no_number_on_a_page_is_without_a_test(name):
    text = re.sub(r"^---$.*?^---$", "", path_of(name).read_text("utf-8"), count=1, flags=re.M | re.S)
    text = re.sub(r"```.*?```|<figure>.*?</figure>", " ", text, flags=re.S)
    text = re.sub(r"^#+ .*$|^\|.*\n(?=\|[-:|]+\|$)", " ", text, flags=re.M)  # headings, and heads of tables
    text = " ".join(text.split())
    expected = [claim for of, found in CLAIMS if of == name for claim in found()] + QUOTED[name]
    for claim in sorted(expected, key=len, reverse=True):
        assert claim in text
        text = text.replace(claim, " ")
    for pattern in (r"`[^`]*`", r"\]\([^)]*\)", r"\{[^}]*\}", *SETTINGS):
        text = re.sub(pattern, " ", text, flags=re.I)
    assert [text[max(0, found.start() - 40) : found.end() + 20] for found in re.finditer(r"\d+", text)] == []


# What a reader can follow: code, commands, links


def test_the_example_prints_what_the_page_shows():
    code, shown = re.findall(r"```(?:python|text)\n(.*?)```", path_of("bandit").read_text("utf-8"), re.S)[:2]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code.replace("from starter.", "from reference."), {})  # the page's own code, with the model answers
    assert printed.getvalue() == shown


@pytest.mark.parametrize("name", PAGES)
def test_every_command_on_a_page_exists(name):
    found = re.findall(r"`((?:python -m|course|make|grade) [^`]+)`", page(name))
    assert len(found) >= 5
    targets = re.findall(r"^([\w-]+):", (course.ROOT / "Makefile").read_text("utf-8"), re.M)
    parsers = {"starter.run_bandit": run_bandit._parser, "starter.run_charlm": run_charlm._parser}
    for command in found:
        program, *arguments = shlex.split(command)
        if program == "python":
            parsers[arguments[1]]().parse_args(arguments[2:])
        elif program == "course":
            assert arguments[0] == "ablate" and set(arguments[1:]) <= set(ABLATIONS), command
        elif program == "make":
            assert arguments[0] in targets, command
        else:
            assert set(arguments) <= {exercise.name for exercise in course.EXERCISES}, command


@pytest.mark.parametrize(("name", "options"), RUNS.items())
def test_the_options_of_a_run_are_those_it_was_recorded_with(name, options):
    given = run_charlm._given(run_charlm._parser().parse_args(shlex.split(options)))
    document = recorded(name)
    default = asdict(run_charlm.TASKS[document["task"]].config)
    assert document["settings"] == default | given
    assert document["task"] == ("arithmetic" if "arithmetic" in options else "pizza")


@pytest.mark.parametrize("name", PAGES)
def test_files_that_a_page_offers_are_there_and_what_it_says(name):
    links = re.findall(r"\]\((\.\./assets/[^)]+)\)", page(name))
    assert {Path(link).suffix for link in links} >= {".csv", ".png"}
    for link in links:
        path = (path_of(name).parent / link).resolve()
        assert path.is_file(), link
        if path.suffix == ".csv":
            assert len(list(csv.reader(path.read_text("utf-8").splitlines()))) > 40
        elif path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_says_its_size_and_what_it_shows(name):
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)\{([^}]*)\}", page(name))
    assert len(pictures) >= 1
    for alternative, address, attributes in pictures:
        assert len(alternative.split()) >= 12, address
        header = (path_of(name).parent / address).read_bytes()[16:24]
        width, height = (int.from_bytes(part) for part in (header[:4], header[4:]))
        assert f"width={width}" in attributes and f"height={height}" in attributes and "loading=lazy" in attributes


@pytest.mark.parametrize("name", PAGES)
def test_beside_every_table_and_picture_stands_where_it_comes_from(name):
    """One paragraph below each heading that has a table, a picture or a figure; a table of corrections is only text."""
    parts = re.split(r"^#{2,3} ", path_of(name).read_text("utf-8"), flags=re.M)[1:]
    parts = [part for part in parts if "{ #corrections }" not in part]
    shown = [part for part in parts if re.search(r"^\|---|^\|[-:]+\||^!\[|^<figure>", part, re.M)]
    assert len(shown) >= 5
    for part in shown:
        sources = re.findall(r"^(?:Recorded run|Computed|Schematic)[^`]*?(?:`[^`]+`|\n\n|\Z)", part, re.M)
        assert len(sources) == 1, part.splitlines()[0]
        assert "`" in sources[0] or sources[0].startswith("Schematic"), part.splitlines()[0]
