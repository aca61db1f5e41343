"""What pages say in numbers: each claim is a piece of a page with the numbers that it must have now.

Counted in the course itself, or read from the recorded runs, the recorded answers to the worksheet and the text of the
model answers; nothing is trained or graded for it. `course dev numbers` writes them into the pages. Left out: pages of
common mistakes, which their command writes as a whole, and numbers of chapters, whose figures compute them before the
reader's eyes.
"""

from __future__ import annotations

import csv
import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

from ..core import course
from ..grading.check import checks_of
from ..oracles.simulation import group_advantages
from ..worksheet.grade import empty_result
from . import ablations
from .answer_key import BEST, MEASURED_PATH
from .catalogue import misconceptions, variants
from .challenge import GOAL
from .course_lists import minutes_of_the_path, points_of
from .llm_runs import (
    GIGABYTES,
    LOWEST,
    SECONDS,
    SEEDS_FILE,
    SETTINGS,
    SETTINGS_FILE,
    moments,
    of_setting,
    outcomes,
)
from .recordings import RUNS, llm_run, metrics_of, samples_of
from .run_pictures import DAPO_PARTS, RELATIVES

ABLATIONS = {ablation.name: ablation for ablation in ablations.ABLATIONS}
Claims = Iterator[str]
CLAIMS: dict[str, list[Callable[[], Claims]]] = {}
"""A page to the functions that know its claims, in the order of the page."""


class WordsNoLongerHold(Exception):
    """A page says in words what the numbers do not show any more; a person has to rewrite it."""


def claims(page: str) -> Callable[[Callable[[], Claims]], Callable[[], Claims]]:
    """Marks a function whose texts must be on a page."""

    def mark(function: Callable[[], Claims]) -> Callable[[], Claims]:
        CLAIMS.setdefault(page, []).append(function)
        return function

    return mark


def _words_hold(hold: bool, words: str) -> None:
    if not hold:
        raise WordsNoLongerHold(f"the words no longer hold: {words}")


def _of_given_code(file: str, pattern: str) -> str:
    """A constant of the given code, from its text."""
    found = re.search(pattern, (course.STARTER / "given" / file).read_text("utf-8"), re.M)
    assert found, f"{file} has no {pattern}"
    return found[1]


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\u2212") if value else "0"


# What the course holds


def _points(*, hidden: bool = True) -> dict[str, int]:
    """Exercise to the points of its checks, or of those that are not hidden."""
    return {each.name: points_of(each, hidden=hidden) for each in course.EXERCISES}


def _mistakes() -> int:
    return sum(len(misconceptions(exercise.name)) for exercise in course.EXERCISES)


@claims("README.md")
def _known_mistakes() -> Claims:
    yield f"it knows **{_mistakes()} of them**, by name"


@claims("CHANGELOG.md")
def _counts() -> Claims:
    if re.search(r"^## \d", (course.ROOT / "CHANGELOG.md").read_text("utf-8"), re.M):
        return  # they are in the section of a release, which is history
    mistakes, points = _mistakes(), sum(_points().values())
    right = sum(len(variants(exercise.name)) for exercise in course.EXERCISES)
    yield f"trained by the same functions. {points} points."
    yield f"all {mistakes} wrong answers that the grader knows"
    yield f"`grade` alone still grades the code, {points} points."
    yield f"{mistakes} known wrong answers, each caught and named, and {right} correct answers in other styles"


@claims("docs/index.md")
def _home_page() -> Claims:
    run = llm_run()
    first, *_, last = run["points"]
    _words_hold(last["score"] > first["score"] and run["model"] == "SmolLM2-135M-Instruct", "learns to add")
    before, after = (f"{100 * point['score']:.0f} %" for point in (first, last))
    yield f"In a recorded run of {last['step']} steps it goes from {before} to {after} right"
    yield f"answers to {run['measured']['ends']} sums"
    yield f"took {run['seconds'] / 60:.0f} CPU minutes"
    yield f"and after {last['step']} steps"
    minutes = sum(exercise.minutes for exercise in course.EXERCISES)
    yield f"| all | | | {sum(_points().values())} | {minutes} minutes |"


@claims("docs/index.md")
def _path() -> Claims:
    yield f"| all | | | {minutes_of_the_path()} minutes |"


def _points_of_an_exercise(name: str) -> Callable[[], Claims]:
    def points_of_an_exercise() -> Claims:
        checks = checks_of(name, hidden=True)
        each = [
            f"`{function}` {sum(check.points for check in checks if check.function == function)}"
            for function in course.exercise(name).function_names
        ]
        yield f"about {course.exercise(name).minutes} minutes and"
        yield f"of code for {points_of(course.exercise(name))} points"
        yield f"({', '.join(each)})"

    return points_of_an_exercise


for _exercise in course.HANDED_OUT:
    claims(_exercise.page)(_points_of_an_exercise(_exercise.name))


@claims("docs/instructors/handout.md")
def _points_of_hidden_checks() -> Claims:
    of_all, of_copy = (sum(_points(hidden=hidden).values()) for hidden in (True, False))
    yield f"Students earn at most {of_copy} of the {of_all} points with a handout"


@claims("docs/instructors/gradebook.md")
def _worth() -> Claims:
    code = sum(_points().values())
    with_worksheet = code + empty_result().points
    yield f"{code} points for the code, {with_worksheet} with the worksheet"
    yield f"some results are worth {code} points and some {with_worksheet} is refused"
    yield f"--scale {code} --out filled.csv"
    yield f"[Total Pts: {code} Score]"


# The simulation


@claims("docs/simulation.md")
def _answers_to_the_worksheet() -> Claims:
    key = json.loads(MEASURED_PATH.read_text("utf-8"))
    measured = key["measured"]
    steps = {name: f"{middle:.0f}" for name, (_, middle, _) in measured["1E.1"].items()}
    noise = {name.removeprefix("noise to signal: "): f"{value:.2f}" for name, value in measured["1E.3"].items()}
    plain, without = "REINFORCE", "GRPO without division by std"
    half, sure = measured["1C.1"]["steps"][2], measured["1C.3"]["policy after 50 steps, median"][BEST]
    yield (
        f"GRPO passes \u03c0(7) = 0.9 after {steps['GRPO']} steps (median), {plain} after {steps[plain]}, "
        f"{plain} with a baseline after {steps[plain + ' + baseline']}."
    )
    yield f"GRPO needs {steps[without]}."
    yield f"is {noise[plain]} for {plain}, {noise[without]} with the mean of the group subtracted, and"
    yield f"and {noise['GRPO']} with the division too"
    yield f"\u03c0(7) passes 0.5 after {half:.0f} steps (median of {key['seeds']:,} seeds)"
    yield f"to about {sure:.2f}, the entropy falls"


# The bandit


@functools.cache
def _curves(ablation: str) -> dict[str, list[dict[str, float]]]:
    """Rows of each setting; place t is step t."""
    found: dict[str, list[dict[str, float]]] = {}
    with (course.RUNS / f"{ablation}.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            setting = line.pop("setting")
            found.setdefault(setting, []).append({name: float(value or "nan") for name, value in line.items()})
    return found


def _best(at: dict[str, float], column: str = "best_probability") -> tuple[str, str]:
    """Probability of the best action: median, and the middle 80 %."""
    low, middle, high = (f"{at[f'{column}_{which}']:.3f}" for which in ("low", "median", "high"))
    return middle, f"{low} to {high}"


def _passes_half(steps: list[dict[str, float]]) -> str:
    return next((str(step) for step, at in enumerate(steps) if at["best_probability_median"] > 0.5), "not reached")


@claims("docs/results/bandit.md")
def _one_group() -> Claims:
    rewards = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    mean, std = rewards.mean(), rewards.std()
    high, low = (1 - mean) / std, (0 - mean) / std
    answer = group_advantages(rewards)
    yield f"the mean is 3 / 8 = {mean:.3f}"
    yield f"the standard deviation is the root of {mean:.3f} · {1 - mean:.3f}, which is {std:.4f}"
    yield f"A 1 gets (1 \u2212 {mean:.3f}) / {std:.4f} = +{high:.4f}"
    yield f"a 0 gets (0 \u2212 {mean:.3f}) / {std:.4f} = \u2212{-low:.4f}"
    yield f"3 · {high:.4f} \u2212 5 · {-low:.4f} = {abs(3 * high + 5 * low):.0f}"
    yield f"prints the root of 8 / 7, {answer.std(ddof=1):.4f}"


@claims("docs/results/bandit.md")
def _mean_reward() -> Claims:
    single = _curves("mean-reward")["single peak at 7"]
    for step in (1, 10, 20, 40, 80):
        at = single[step]
        band = f"{at['mean_reward_low']:.3f} to {at['mean_reward_high']:.3f}"
        lost = _percent(at["zero_signal_mean"])
        yield _row(step, f"{at['mean_reward_median']:.3f}", band, *_best(at), lost)
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
    yield f"The rewards of {_percent(single[sure]['zero_signal_mean'])} of the groups in that step"
    yield f"{_percent(single[80]['zero_signal_mean'])} of all groups teach nothing in step 80"


@claims("docs/results/bandit.md")
def _group_size() -> Claims:
    for size in (2, 4, 8, 16, 32, 64):
        steps = _curves("group-size")[f"G = {size}"]
        lost = [at["zero_signal_mean"] for at in steps[1:]]
        yield _row(size, *_best(steps[50]), _passes_half(steps), _percent(lost[0]), _percent(float(np.mean(lost))))
    halves = {size: int(_passes_half(_curves("group-size")[f"G = {size}"])) for size in (8, 16, 32, 64)}
    _words_hold(halves[8] - min(halves.values()) == 2, "at most two steps earlier")
    ends = {size: _curves("group-size")[f"G = {size}"][50] for size in (2, 4, 32)}
    widths = {size: at["best_probability_high"] - at["best_probability_low"] for size, at in ends.items()}
    yield f"is {widths[2]:.3f} wide with G = 2, {widths[4]:.3f} with G = 4 and {widths[32]:.3f} with G = 32"


@claims("docs/results/bandit.md")
def _reward_sparsity() -> Claims:
    for setting, steps in _curves("reward-sparsity").items():
        yield _row(setting, _percent(steps[1]["zero_signal_mean"]), _passes_half(steps), *_best(steps[50]))
    yield f"misses it with probability 0.99^8 = {_percent(0.99**8)}"
    yield f"One of 32 misses it with {_percent(0.99**32)}"
    # A group of eight hits is too rare to be seen.
    _words_hold(_percent(0.99**8 + 0.01**8) == _percent(0.99**8), "misses it with probability 0.99^8")


@claims("docs/results/bandit.md")
def _temperature() -> Claims:
    for setting, steps in _curves("temperature").items():
        first = steps[1]
        distinct, lost = f"{first['distinct_actions_mean']:.2f}", _percent(first["zero_signal_mean"])
        yield _row(setting.removeprefix("temperature "), distinct, lost, _passes_half(steps), *_best(steps[50]))
    start = math.exp(3) / (math.exp(3) + 9)
    yield f"The policy starts with {start:.3f} on action 3"


@claims("docs/results/bandit.md")
def _clip() -> Claims:
    for setting, steps in _curves("clip").items():
        wrong = [at["sure_of_wrong_action_mean"] for at in steps]
        clipped = f"{steps[1]['clip_fraction_mean']:.3f}"
        name = setting.removeprefix("clip_eps ")
        yield _row(name, clipped, _passes_half(steps), _percent(max(wrong)), _percent(wrong[50]), _best(steps[50])[1])


@claims("docs/results/bandit.md")
def _tables() -> Claims:
    found = _curves("mean-reward")
    for setting, steps in found.items():
        rewards = f"{steps[1]['mean_reward_median']:.3f}", f"{steps[80]['mean_reward_median']:.3f}"
        yield _row(setting, *rewards, _passes_half(steps), *_best(steps[80]))


# The language model


@functools.cache
def _metrics(run: str) -> list[dict[str, float]]:
    """Rows of a run; place t is step t + 1."""
    return [{name: float(value) for name, value in row.items()} for row in metrics_of(run)]


_recorded = functools.cache(samples_of)


def _checkpoints_of(run: str) -> dict[int, dict[str, Any]]:
    return {point["step"]: point for point in _recorded(run)["points"]}


def _texts(run: str, step: int) -> list[str]:
    return [sample["text"] for sample in _checkpoints_of(run)[step]["samples"]]


def _largest(values: list[float]) -> str:
    return f"{max(map(abs, values)):.0e}"


@claims("docs/results/charlm.md")
def _runs() -> Claims:
    for name, options in RUNS.items():
        folder = f"../assets/runs/charlm-{name}"
        files = ", ".join(f"[{kind}]({folder}/{kind})" for kind in ("metrics.csv", "samples.json"))
        for kind in ("metrics.csv", "samples.json"):
            files = files.replace(f"{kind})", f'{kind}){{ download="charlm-{name}-{kind}" }}')
        files += f", [curves](../learn/training.md?recorded-run.run={name}#recorded-run)"
        start, end = (f"{_recorded(name)['points'][place]['exact']:.3f}" for place in (0, -1))
        yield _row(name, f"`{options}`" if options else "none", start, end, files)


@claims("docs/results/charlm.md")
def _before_and_after() -> Claims:
    before, after = (Counter(_texts("pizza", step)) for step in (0, 40))
    for text, count in before.most_common():
        yield _row(f"`{text}`", count, after[text])
    ends = [_checkpoints_of("pizza")[step]["exact"] for step in (0, 40)]
    yield f"The exact probability of `pizza.` is {ends[0]:.3f} before and {ends[1]:.3f} after."


@claims("docs/results/charlm.md")
def _nine_steps() -> Claims:
    steps = _metrics("pizza")
    for number in (1, 2, 3, 4, 8, 12, 20, 34, 40):
        at = steps[number - 1]
        names = ("mean_reward", "rolling_mean_reward", "policy_loss", "kl", "loss", "mean_advantage")
        digits = (3, 3, 4, 4, 4, 4)
        cells = [f"{at[name]:.{places}f}" for name, places in zip(names, digits, strict=True)]
        yield _row(number, *(re.sub(r"^-(0\.0+)$", r"\1", cell) for cell in cells))


@claims("docs/results/charlm.md")
def _rewards() -> Claims:
    steps = _metrics("pizza")
    means = [at["mean_reward"] for at in steps]
    yield f"it falls from {means[2]:.3f} in step 3 to {means[3]:.3f} in step 4"
    yield f"up to {_checkpoints_of('pizza')[4]['exact']:.3f} after step 4"
    _words_hold(_checkpoints_of("pizza")[4]["exact"] > _checkpoints_of("pizza")[0]["exact"], "up to")
    rolling = int(_of_given_code("charlm_training.py", r"^ROLLING = (\d+)$"))
    yield f"The rolling mean looks back {rolling} steps"
    _words_hold(math.isclose(np.mean(means[-rolling:]), steps[-1]["rolling_mean_reward"]), "The rolling mean")
    behind = next(place + 1 for place, at in enumerate(steps) if at["rolling_mean_reward"] > 2)
    first = next(place + 1 for place, mean in enumerate(means) if mean > 2)
    yield f"passes 2 in step {behind}; the batches themselves do in step {first}"
    missed = sum(round((4 - mean) * 8) for mean in means[-rolling:])
    yield f"ends at {steps[-1]['rolling_mean_reward']:.3f} and not at 4: {missed} of the last 320 completions"


@claims("docs/results/charlm.md")
def _policy_loss() -> Claims:
    yield f"never further from 0 than {_largest([at['policy_loss'] for at in _metrics('pizza')])}"
    token = [at["policy_loss"] for at in _metrics("pizza-token")]
    yield f"lies between \u2212{-min(token):.3f} and +{max(token):.3f}"
    yield f"{sum(loss > 1e-6 for loss in token)} of its 40 values are above 0"
    ends = [f"{_checkpoints_of('pizza-token')[step]['exact']:.3f}" for step in (0, 40)]
    yield f"rises from {ends[0]} to {ends[1]}"


@claims("docs/results/charlm.md")
def _kl() -> Claims:
    steps = _metrics("pizza")
    peak = max(steps, key=lambda at: at["kl"])
    yield f"In step {peak['step']:.0f} it jumps to {peak['kl']:.3f}, one step later it is {steps[34]['kl']:.3f} again"
    _words_hold(steps[int(peak["step"])]["step"] == 35, "one step later")
    yield f"{round((4 - peak['mean_reward']) * 8)} of the 32 completions of that batch"
    near = [f"{_checkpoints_of('pizza')[step]['exact']:.3f}" for step in (32, 36)]
    yield f"is {near[0]} after step 32 and {near[1]} after step 36"
    held = _recorded("pizza-kl")
    peak = max(held["points"], key=lambda point: point["exact"])
    yield f"climbs to {peak['exact']:.3f} in {peak['step']} steps and falls back to {held['points'][-1]['exact']:.3f}"
    yield f"its largest KL is {max(at['kl'] for at in _metrics('pizza-kl')):.3f}"


@claims("docs/results/charlm.md")
def _total_loss() -> Claims:
    for name in RUNS:
        coefficient = _recorded(name)["settings"]["kl_coef"]
        for at in _metrics(name):
            expected = at["policy_loss"] + coefficient * at["kl"]
            _words_hold(math.isclose(at["loss"], expected, rel_tol=1e-6, abs_tol=1e-7), "the loss is the sum")
    steps = _metrics("pizza")
    peak = max(steps, key=lambda at: at["kl"])
    _words_hold(peak["step"] == 34, "In step 34")
    yield f"In step 34: 0.04 · {peak['kl']:.4f} = {peak['loss']:.4f}"
    yield f"rises from {steps[0]['loss'] + 0.0:.4f} to {steps[-1]['loss']:.4f}".replace("-", "")
    yield f"\u22124.6220 + 0.1 · 1.0789 = \u2212{4.6220 - 0.1 * 1.0789:.4f}"
    yield f"0 + 0.1 · 2.1230 = {0.1 * 2.1230:.4f}"


@claims("docs/results/charlm.md")
def _mean_advantage() -> Claims:
    yield f"At most {_largest([at['mean_advantage'] for name in RUNS for at in _metrics(name)])} in all five runs"


@claims("docs/results/charlm.md")
def _arithmetic_curves() -> Claims:
    steps = _metrics("arithmetic")
    yield f"The mean reward goes from {steps[0]['mean_reward']:.3f} to {steps[-1]['mean_reward']:.3f}"
    shares = [at["zero_signal_fraction"] for at in steps]
    low = min(shares)
    yield f"falls from {_percent(shares[0])} to {_percent(low)} in step {shares.index(low) + 1}"
    yield f"then rises to {_percent(shares[-1])}"
    yield f"from {steps[0]['entropy']:.3f} to {steps[-1]['entropy']:.3f} nats"


@claims("docs/results/charlm.md")
def _groups_without_signal() -> Claims:
    sampled = [("0, first eight", 0, 0), ("0, last eight", 0, 8), ("8, first eight", 8, 0)]
    for name, step, start in sampled:
        group = _checkpoints_of("pizza")[step]["samples"][start : start + 8]
        rewards = np.array([sample["reward"] for sample in group], dtype=np.float64)
        advantages = {
            text: f"{_signed(advantage)} for {text}"
            for sample, advantage in zip(group, group_advantages(rewards).tolist(), strict=True)
            for text in ["`pizza.`" if sample["reward"] else "the others"]
        }
        equal = len(advantages) == 1
        yield _row(
            name,
            sum(bool(reward) for reward in rewards),
            f"{rewards.std():.3f}",
            "0 for all" if equal else ", ".join(sorted(advantages.values(), key=lambda text: text[0] != "+")),
        )
    steps = _metrics("pizza")
    empty = [at for at in steps if at["zero_signal_fraction"] == 1]
    first = f"{empty[0]['step']:.0f}"
    yield f"In {len(empty)} of the 40 steps all four groups are of this kind, for the first time in step {first}"
    yield f"its loss is {empty[0]['loss']:.4f} = 0.04 · {empty[0]['kl']:.4f}"
    _words_hold(all(at["policy_loss"] == 0 for at in empty), "its loss is the KL alone")
    chance = _checkpoints_of("pizza")[0]["exact"]
    lost = _percent(chance**8 + (1 - chance) ** 8)
    yield f"p = {chance:.3f} a group of eight is without signal with probability {lost}"
    _words_hold(steps[0]["zero_signal_fraction"] == 1 / 4, "one of four")


@claims("docs/results/charlm.md")
def _levels() -> Claims:
    for step in (0, 4, 8, 12, 20, 40):
        found = [f"{_checkpoints_of(name)[step]['exact']:.3f}" for name in ("pizza", "pizza-token", "pizza-sequence")]
        yield _row(step, *found)
    pairs = zip(_metrics("pizza"), _metrics("pizza-sequence"), strict=True)
    apart = [left[name] - right[name] for left, right in pairs for name in left]
    yield f"no metric of any step differs by more than {_largest(apart)}"


@claims("docs/results/charlm.md")
def _checkpoints() -> Claims:
    for step in (0, 4, 8, 40):
        counts = Counter(_texts("pizza", step))
        others = sum(counts.values()) - counts["pizza."]
        yield _row(step, f"{_checkpoints_of('pizza')[step]['exact']:.3f}", counts["pizza."], others)
    chosen = ("4+4=", "1+9=", "9+0=", "6+9=", "9+5=", "8+5=", "5+6=")
    found = {step: _checkpoints_of("arithmetic")[step]["samples"] for step in (0, 15, 30, 150)}
    for place, sample in enumerate(found[0]):
        if sample["prompt"] in chosen:
            marked = [f"{at[place]['text'][:-1]} {'✓' if at[place]['reward'] else '✗'}" for at in found.values()]
            yield _row(f"`{sample['prompt']}`", *marked)
    right = [f"{sum(sample['reward'] for sample in at):.0f}" for at in found.values()]
    yield _row("right, of 16", *right)
    yield _row("exact success", *(f"{_checkpoints_of('arithmetic')[step]['exact']:.3f}" for step in found))


@claims("docs/results/charlm.md")
def _hyperparameters() -> Claims:
    settings = _recorded("pizza")["settings"]
    rows = settings["prompts_per_step"] * settings["group_size"]
    yield _row("Optimizer, learning rate", f"Adam, {settings['lr']:g}, falls to a tenth", "Adam, 0.0001")
    yield _row("Updates", settings["steps"], "200")
    yield _row("Group size G", settings["group_size"], "4")
    yield _row("Prompts in a step", settings["prompts_per_step"], "1")
    yield _row("Completions in all", f"{settings['steps'] * rows:,}", f"{200 * 4}")
    yield _row("KL weight β", settings["kl_coef"], "0.1")
    yield _row("Longest completion, tokens", settings["max_new_tokens"], "20")
    reward = _of_given_code("charlm_task.py", r'^pizza_reward = TextReward\("pizza\.", (\d+)\.0\)$')
    yield _row("Reward", f"{reward} if all of it is `pizza.`, else 0", "4 if it ends in `pizzaE`, else 0")
    yield _row("Limits", f"ratio clipped at 1 ± {settings['clip_eps']}", "advantages clipped at ± 2.0")
    _words_hold(settings["optimizer"] == "adam" and settings["final_lr"] == 0.1, "Adam, falls to a tenth")
    _words_hold(settings["inner_steps"] == 1, "Updates: one for each step")
    group = np.array([4.0, 0.0, 0.0, 0.0])
    sample = (group - group.mean()) / group.std(ddof=1)
    ours = group_advantages(group)
    yield f"is {ours.max():.3f} with our standard deviation and {sample.max():.3f} with that of a sample"
    _words_hold(ours.max() < 2, "the notebook's clip at 2")


# The relatives of GRPO

_CERTAIN = 3
"""Standard errors of a difference that counts."""


def _relative(setting: str) -> list[dict[str, float]]:
    """Rows of a setting; place t is step t + 1. The bandit's name their table: `rloo, single peak`."""
    return _curves("variants-bandit" if "," in setting else "variants-charlm")[setting]


def _over_half(steps: list[dict[str, float]]) -> int:
    return next(place + 1 for place, at in enumerate(steps) if at["best_median"] > 0.5)


def _apart(at: dict[str, float], name: str = "best", digits: int = 4) -> str:
    """The mean difference to GRPO with the same seed, and its standard error."""
    mean, error = at[f"{name}_apart_mean"], at[f"{name}_apart_error"]
    return f"{mean:+.{digits}f} ± {error:.{digits}f}".replace("-", "\u2212") if error else "0"


def _differs(at: dict[str, float], name: str = "best") -> int:
    """Which way a difference to GRPO that counts goes: 1, -1, or 0 for none."""
    mean, error = at[f"{name}_apart_mean"], at[f"{name}_apart_error"]
    return int(math.copysign(1, mean)) if abs(mean) > _CERTAIN * error else 0


def _mean_of(steps: list[dict[str, float]], name: str) -> float:
    return float(np.mean([at[f"{name}_mean"] for at in steps]))


@claims("docs/results/variants.md")
def _what_to_see() -> Claims:
    seeds = [{f"{at['seeds']:.0f}" for at in _relative(name)} for name in ("grpo, single peak", "grpo")]
    yield f"{' '.join(seeds[0])} seeds for each bandit and {' '.join(seeds[1])} for the language model"
    for table in (", single peak", ", double peak"):
        grpo, rloo, dr_grpo, cispo = (_relative(name + table) for name in ("grpo", "rloo", "dr-grpo", "cispo"))
        _words_hold(_relative(f"gspo{table}") == grpo, "In the bandit GSPO is GRPO")
        speed = [_over_half(_relative(name + table)) for name in RELATIVES]
        _words_hold(_over_half(cispo) == min(speed) < _over_half(grpo), "CISPO is the fastest everywhere")
        _words_hold(max(speed) == _over_half(dr_grpo) and _over_half(rloo) > _over_half(grpo), "late in the bandits")
        for name in ("float8", "tis"):
            _words_hold(not _differs(_relative(name + table)[-1]), "Samples from a policy in float8 train as well")
    for name in ("rloo", "dr-grpo"):
        _words_hold(_differs(_relative(name)[-1]) == 1, "and not in the language model")
    for name in ("cispo", "gspo"):
        _words_hold(_differs(_relative(name)[0]) == 1, "GSPO with it in the language model")
    for name in ("float8", "tis"):
        _words_hold(not _differs(_relative(name)[-1]), "Samples from a policy in float8 train as well")
    yield f"so it is at most {np.std([0, 1]):.3f}, and without"
    deviations = [4 * math.sqrt(right * (8 - right)) / 8 for right in range(1, 8)]
    yield f"has a standard deviation of {min(deviations):.3f} to {max(deviations):.3f}"


@claims("docs/results/variants.md")
def _claims_of_dr_grpo_and_rloo() -> Claims:
    grpo, dr_grpo = _relative("grpo"), _relative("dr-grpo")
    _words_hold(_differs(dr_grpo[-1], "wrong_length") == -1, "dividing by the length lets wrong answers grow")
    first = grpo[0]["wrong_length_median"]
    long, short = (steps[-1]["wrong_length_median"] for steps in (grpo, dr_grpo))
    _words_hold(short < first < long, "lets wrong answers grow")
    yield (
        f"The first wrong completions of the language model have {first:.1f} tokens, those of the last 20 steps "
        f"{long:.1f} with GRPO and {short:.1f} with Dr. GRPO (seed by seed {_apart(dr_grpo[-1], 'wrong_length', 2)})"
    )
    undivided = _relative("rloo")[-1]
    _words_hold(not _differs(undivided, "wrong_length"), "is no different from GRPO")
    yield f"is no different from GRPO ({_apart(undivided, 'wrong_length', 2)})"
    _words_hold(_differs(dr_grpo[-1]) >= 0, "Supported in the language model")
    yield f"it ends at {dr_grpo[-1]['best_median']:.3f} and GRPO at {grpo[-1]['best_median']:.3f}"
    slow, grpo, rloo = (_relative(f"{name}, single peak") for name in ("dr-grpo", "grpo", "rloo"))
    _words_hold(_differs(slow[-1]) == -1, "Contradicted in the bandit")
    yield f"it passes 0.5 after {_over_half(slow)} steps and GRPO after {_over_half(grpo)}"
    size = int(_of_given_code("bandit_task.py", r"^    group_size: int = (\d+)$"))
    yield f"Its advantages are {size} / {size - 1} of those of Dr. GRPO"
    yield f"a little faster in the bandit: {_over_half(rloo)} steps to 0.5 and not {_over_half(slow)}"


@claims("docs/results/variants.md")
def _claims_of_dapo() -> Claims:
    clip, sampling, grpo = (_relative(f"{name}, single peak") for name in ("dapo-clip", "dapo-sampling", "grpo"))
    for table in (", single peak", ", double peak"):
        _words_hold(_differs(_relative(f"dapo-clip{table}")[9], "entropy") == -1, "entropy falls faster")
        _words_hold(_differs(_relative(f"dapo-sampling{table}")[-1]) == 1, "Supported for steps")
    _words_hold(not _differs(clip[-1]), "ends as GRPO does")
    yield (
        f"after 10 steps of the bandit it is {clip[9]['entropy_median']:.3f} and not {grpo[9]['entropy_median']:.3f} "
        f"({_apart(clip[9], 'entropy', 3)})"
    )
    yield f"it ends the bandit at {sampling[-1]['best_median']:.4f}, GRPO at {grpo[-1]['best_median']:.4f}"
    drawn, all_of_grpo = sampling[-1]["samples_mean"], grpo[-1]["samples_mean"]
    yield f"it draws {drawn:,.0f} in place of {all_of_grpo:.0f}"
    step, at = next((place + 1, at) for place, at in enumerate(sampling) if at["samples_mean"] >= all_of_grpo)
    yield f"When it has drawn {at['samples_mean']:.0f}, after {step} steps, it is at {at['best_median']:.3f} too"
    _words_hold(abs(at["best_median"] - grpo[-1]["best_median"]) < 0.005, "it is at ... too")
    alone, dapo = (_relative(name)[-1] for name in ("dapo-sampling", "dapo"))
    apart = alone["wrong_length_apart_mean"] - dapo["wrong_length_apart_mean"]
    error = math.hypot(alone["wrong_length_apart_error"], dapo["wrong_length_apart_error"])
    _words_hold(apart > _CERTAIN * error, "a mean over tokens keeps bad answers from growing long")
    _words_hold(not _differs(_relative("dapo-clip")[-1], "wrong_length"), "and not the upper clip")
    yield (
        f"a wrong completion has {alone['wrong_length_median']:.1f} tokens in the last 20 steps, with all of DAPO "
        f"{dapo['wrong_length_median']:.1f}"
    )


@claims("docs/results/variants.md")
def _claims_of_gspo_and_cispo() -> Claims:
    gspo, grpo, bandit = _relative("gspo"), _relative("grpo"), _relative("grpo, single peak")
    _words_hold(_differs(gspo[0]) == 1 and _differs(gspo[-1]) == -1, "Faster: supported. Better: contradicted.")
    yield f"After one step `pizza.` has {gspo[0]['best_median']:.3f}, with GRPO {grpo[0]['best_median']:.3f}"
    yield f"At the end it has {gspo[-1]['best_median']:.3f} and {grpo[-1]['best_median']:.3f} ({_apart(gspo[-1])})"
    yield f"It drops {_percent(_mean_of(gspo, 'dropped'))} of the tokens and GRPO {_percent(_mean_of(grpo, 'dropped'))}"
    cispo, dapo = (_relative(f"{name}, single peak") for name in ("cispo", "dapo"))
    _words_hold(_over_half(bandit) == _over_half(dapo), "GRPO and DAPO after")
    yield f"after {_over_half(cispo)} steps of the bandit, GRPO and DAPO after {_over_half(dapo)}"
    wrong, theirs = ([at["sure_of_wrong_mean"] for at in steps] for steps in (cispo, bandit))
    yield (
        f"in step {wrong.index(max(wrong)) + 1} it is sure of a wrong action in {100 * max(wrong):.0f} % of the runs; "
        f"with GRPO that is {100 * max(theirs):.0f} % at most"
    )
    yield f"At the end it is in {100 * wrong[-1]:.0f} %, and GRPO in {100 * theirs[-1]:.0f} %"
    dropped = [_percent(_mean_of(steps, "dropped")) for steps in (cispo, bandit)]
    yield f"it drops {dropped[0]} of the samples of the bandit, GRPO {dropped[1]}"


@claims("docs/results/variants.md")
def _claims_of_truncated_importance_sampling() -> Claims:
    ends = [_relative(setting)[-1] for setting in ("float8, single peak", "float8")]
    yield f"does no harm here, {_apart(ends[0])} in the bandit and {_apart(ends[1])} in the language model"


@claims("docs/results/variants.md")
def _dapo_taken_apart() -> Claims:
    of = {name: _relative(f"{name}, single peak") for name in DAPO_PARTS}
    for name, steps in of.items():
        early, late = steps[9], steps[-1]
        best = f"{early['best_median']:.3f}", f"{late['best_median']:.4f}"
        entropy = f"{early['entropy_median']:.3f}", f"{late['entropy_median']:.3f}"
        yield _row(DAPO_PARTS[name], *best, *entropy, f"{late['samples_mean']:,.0f}")
    yield f"After 10 steps that is worth {_apart(of['dapo-clip'][9], digits=3)}"
    _words_hold(_differs(of["dapo-clip"][9]) == 1 and not _differs(of["dapo-sampling"][9]), "works late")
    yield f"After 10 steps it has changed {_apart(of['dapo-sampling'][9], digits=3)}"
    yield f"({_percent(_mean_of(of['grpo'], 'zero_signal'))} of all its groups have no signal)"
    drawn = [of[name][-1]["samples_mean"] - of[name][29]["samples_mean"] for name in ("dapo-sampling", "grpo")]
    yield f"From step 31 to step 50 it draws {drawn[0]:,.0f} samples, GRPO {drawn[1]:.0f}"


@claims("docs/results/variants.md")
def _relatives_in_numbers() -> Claims:
    for name, label in RELATIVES.items():
        steps = _relative(f"{name}, single peak")
        last = steps[-1]
        yield _row(label, _over_half(steps), *_best(last, "best"), _apart(last), f"{last['samples_mean']:,.0f}")
    for name, label in (DAPO_PARTS | RELATIVES).items():
        steps = _relative(name)
        last = steps[-1]
        length = f"{last['wrong_length_median']:.1f}"
        yield _row(label, f"{steps[0]['best_median']:.3f}", *_best(last, "best"), _apart(last), length)
    cispo, grpo = (_relative(f"{name}, single peak")[-1] for name in ("cispo", "grpo"))
    _words_hold(cispo["sure_of_wrong_mean"] == 0.01, "CISPO has one")
    _words_hold(cispo["best_low"] > grpo["best_high"], "its band is above GRPO's")
    _words_hold(not _differs(cispo), "lost in the error")
    alone, grpo = (_relative(name)[-1] for name in ("dapo-sampling", "grpo"))
    drawn = f"{alone['samples_mean']:,.0f} completions in place of {grpo['samples_mean']:,.0f}"
    yield f"alone it draws {drawn} for {_apart(alone)}"
    bandit = _relative("dapo-sampling, single peak")[-1]
    _words_hold(alone["best_apart_mean"] < bandit["best_apart_mean"], "dynamic sampling brings less")


# The pretrained language model


@claims("docs/results/llm.md")
def _pretrained() -> Claims:
    run = llm_run()
    measured = run["measured"]
    _words_hold(run["model"] == "SmolLM2-135M-Instruct" and run["task"] == "sums", "learns to add")
    _words_hold(run["command"] == "python -m starter.run_llm", "the one that run_llm makes by default")
    yield f"a run of {run['config']['steps']} steps"
    yield f"The training took {run['seconds'] / 60:.0f} CPU minutes"
    yield f"row count {measured['ends']} sums"
    yield f"the first {measured['between']} of these"


@claims("docs/results/llm.md")
def _other_settings() -> Claims:
    runs = outcomes(SETTINGS_FILE)
    found = {each.name: of_setting(each, runs) for each in SETTINGS}
    _words_hold(len(found) == 8, "seven other settings")
    scores = {name: [100 * run.accuracy for run in pair] for name, pair in found.items()}
    recipe, large, few_layers = (scores.pop(name) for name in ("Recipe", "Learning rate 3e-5", "Last 10 layers"))
    yield f"with either of them: {large[0]:.0f} % and {large[1]:.0f} %"
    yield f"learn less in 60 steps, {few_layers[0]:.0f} % and {few_layers[1]:.0f} %"
    _words_hold(max(*large, *few_layers) < min(*recipe, *(min(each) for each in scores.values())), "is worse")
    _words_hold(
        all(min(each) <= max(recipe) and min(recipe) <= max(each) for each in scores.values()), "cannot be told"
    )
    by_memory = sorted(found, key=lambda name: max(run.peak_gigabytes for run in found[name]))
    _words_hold((by_memory[0], by_memory[-1]) == ("Last 10 layers", "KL penalty"), "memory")
    by_time = sorted(found, key=lambda name: sum(run.cpu_seconds for run in found[name]))
    _words_hold({*by_time[-2:]} == {"Only missed prompts", "KL penalty"}, "The last two cost more time")
    yield f"The two seeds of the recipe alone are {max(recipe) - min(recipe):.0f} points apart"


@claims("docs/results/llm.md")
def _ten_seeds() -> Claims:
    runs = outcomes(SEEDS_FILE)
    _words_hold([each.seed for each in runs] == [*range(10)], "ten seeds")
    _words_hold({each.options for each in runs} == {"--steps 400 --dtype bfloat16"}, "and nothing else changed")
    after = [each.accuracy for each in runs]
    before, middle = (100 * median(found) for found in ([each.before for each in runs], after))
    yield f"the median goes from {before:.0f} % to {middle:.0f} %"
    yield f"The median is {middle:.1f} %, and the worst run has {100 * min(after):.1f} %."
    first = next(step for step, scores in moments(runs) if median(scores) > 0.8)
    yield f"the median passes 80 % after {first} steps"
    _words_hold(max(each.accuracy for each in runs) < 1, "None is always right")
    _words_hold(middle >= 100 * GOAL and sum(each >= LOWEST for each in after) >= 9, "the goal")
    longest, largest = max(each.cpu_seconds for each in runs), max(each.peak_gigabytes for each in runs)
    _words_hold(longest <= SECONDS and largest <= GIGABYTES, "the goal")
    yield f"The longest run took {longest:,.0f} CPU seconds, and the largest held {largest:.2f} GB."
    yield f"the same accuracy at every step and held {runs[3].peak_gigabytes:.2f} GB"
