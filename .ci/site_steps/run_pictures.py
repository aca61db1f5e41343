"""Pictures of recorded runs, drawn from the files in docs/assets/runs when the site is built."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from grader.core import course
from grader.core.round_numbers import round_ends, round_step

from .charts import Chart, Values, picture
from .llm_runs import SEEDS_FILE, SETTINGS, SETTINGS_FILE, LLMRun, of_setting, outcomes
from .recordings import metrics_of

METRICS = (
    ("Mean reward", "reward", ("mean_reward", "rolling_mean_reward"), (0.0, 1.0)),
    ("KL from the reference policy", "nats per token", ("kl",), (0.0, 0.1)),
    ("Policy loss", "loss", ("policy_loss",), (-0.05, 0.05)),
    ("Total loss", "loss", ("loss",), (-0.05, 0.05)),
    ("Mean advantage", "advantage", ("mean_advantage",), (-0.1, 0.1)),
    ("Zero-signal share", "share of the groups", ("zero_signal_fraction",), (0.0, 1.0)),
    ("Clip fraction", "share of the tokens", ("clip_fraction",), (0.0, 1.0)),
    ("Entropy", "nats per token", ("entropy",), (0.0, 1.0)),
    ("Completion length", "tokens", ("completion_length",), (0.0, 4.0)),
    ("Well-formed share", "share of the completions", ("well_formed",), (0.0, 1.0)),
)
"""Title, unit, columns of metrics.csv, and what the axis covers at least: as in the picture that a student's run draws.

They are here once more because nothing in the grader may import the given code; a test compares the two."""
RELATIVES = {
    "grpo": "GRPO",
    "rloo": "RLOO",
    "dr-grpo": "Dr. GRPO",
    "dapo": "DAPO",
    "cispo": "CISPO",
    "gspo": "GSPO",
    "float8": "Sampler in float8",
    "tis": "Sampler in float8, corrected",
}
"""Name in the files of recorded runs to what the pages call it."""
DAPO_PARTS = {
    "grpo": "GRPO",
    "dapo-clip": "DAPO's upper clip alone",
    "dapo-sampling": "DAPO's dynamic sampling alone",
    "dapo": "DAPO",
}
BEST_ACTION = "Best action", "probability", "best_probability"
NO_SIGNAL = "Without signal", "share of groups", "zero_signal"
ABLATIONS = {
    "group-size": ("How many samples does a group need?", (BEST_ACTION, ("Entropy", "nats", "entropy"), NO_SIGNAL)),
    "reward-sparsity": (
        "What if only few actions are rewarded?",
        (BEST_ACTION, ("Entropy", "nats", "entropy"), NO_SIGNAL),
    ),
    "temperature": (
        "What does the sampling temperature do to a group?",
        (BEST_ACTION, ("Distinct actions", "in a group, mean", "distinct_actions"), NO_SIGNAL),
    ),
    "clip": (
        "How tight should the clip be, with 8 updates for each group?",
        (
            BEST_ACTION,
            ("Sure, but wrong", "share of runs", "sure_of_wrong_action"),
            ("Clip fraction", "last inner update", "clip_fraction"),
        ),
    ),
    "mean-reward": (
        "How does the mean reward of the group rise?",
        (("Mean reward", "of the group", "mean_reward"), BEST_ACTION, NO_SIGNAL),
    ),
}
"""File to its question, and to the title, the unit and the begin of the columns of each curve."""
BEST = ("best_low", "best_median", "best_high")
ENTROPY = ("entropy_low", "entropy_median", "entropy_high")
LOW_MEDIAN_HIGH = ("low", "median", "high")
ON_EACH_TASK = (
    (("Single peak", "bandit"), "variants-bandit", ", single peak", BEST, 50),
    (("Double peak", "bandit"), "variants-bandit", ", double peak", BEST, 50),
    (("Language model", "pizza"), "variants-charlm", "", BEST, 12),
)
WITH_ITS_PRICE = (
    (("Best action", "probability"), "variants-bandit", ", single peak", BEST, 50),
    (("Entropy", "nats"), "variants-bandit", ", single peak", ENTROPY, 50),
    (("Samples drawn", "so far, mean"), "variants-bandit", ", single peak", ("samples_mean",), 50),
)
"""Heading, file, end of the settings' names, columns and steps of each column of charts."""
_DIVISIONS = 10  # of an axis, about: only its ends are shown, so they may be close

Rows = Sequence[Mapping[str, object]]


def make() -> dict[Path, str]:
    """Maps the file of each picture to its text."""
    ten_runs = ("Exact success", "mean, lowest and highest"), ("lowest", "mean", "highest")
    ten_seeds = ("Right sums", "median, lowest, highest"), LOW_MEDIAN_HIGH
    name = "charlm-arithmetic-10-seeds"
    pictures = {name: _ablation(name) for name in ABLATIONS} | {
        "charlm-pizza": _run("pizza"),
        "charlm-arithmetic": _run("arithmetic"),
        name: _seeds(_rows(name), *ten_runs, title="Ten runs on additions"),
        "llm-seeds": _seeds(_scores(outcomes(SEEDS_FILE)), *ten_seeds, title="Ten runs of a pretrained language model"),
        "llm-settings": _llm_settings(),
        "variants": _relatives("variants", RELATIVES, ON_EACH_TASK),
        "variants-dapo": _relatives("variants-dapo", DAPO_PARTS, WITH_ITS_PRICE),
    }
    return {course.RUNS / f"{name}.svg": text for name, text in pictures.items()}


def _ablation(name: str) -> str:
    """A row of charts per setting, a column per curve."""
    recorded, (question, curves) = _rows(name), ABLATIONS[name]
    labels = list(dict.fromkeys(row["setting"] for row in recorded))
    rows = [[row for row in recorded if row["setting"] == label] for label in labels]
    columns = []
    for title, unit, start in curves:
        ends = [column for column in recorded[0] if column.startswith(f"{start}_")]
        columns.append(_column(name, rows, (title, unit), ends, reward=start == "mean_reward"))
    return picture(list(zip(labels, zip(*columns, strict=True), strict=True)), title=question)


def _run(name: str) -> str:
    """Every metric of a run of the small language model, two charts in a row."""
    rows = metrics_of(name)
    charts = []
    for title, unit, names, at_least in METRICS:
        *coins, values = (_values(rows, each) for each in names)
        charts.append(
            Chart(
                heading=(title, "coin: batch, line: last 10" if coins else unit),
                steps=[int(row["step"]) for row in rows],
                values=values,
                ends=_ends([values, *coins], at_least),
                coins=coins[0] if coins else (),
            )
        )
    return picture(_in_pairs(charts), title=f"The run {name}")


def _seeds(rows: Rows, heading: tuple[str, str], columns: Sequence[str], *, title: str) -> str:
    """One large chart of several seeds."""
    (chart,) = _column("", [rows], heading, columns)
    return picture([("", [replace(chart, name="")])], title=title, height=144)


def _llm_settings() -> str:
    """The recipe and other settings of `run_llm`, over the pale line of the recipe."""
    runs = outcomes(SETTINGS_FILE)
    rows = [_scores(of_setting(each, runs)) for each in SETTINGS]
    charts = _column("llm-settings", rows, ("", ""), LOW_MEDIAN_HIGH, over_first=True)
    headed = [replace(chart, heading=each) for chart, each in zip(charts, SETTINGS.values(), strict=True)]
    return picture(_in_pairs(headed), title="Other settings for a pretrained language model")


def _scores(runs: Sequence[LLMRun]) -> Rows:
    """Worst, median and best accuracy of some runs, at each step at which all were measured."""
    rows = []
    for moment in zip(*(run.curve for run in runs), strict=True):
        scores = [score for _, score in moment]
        rows.append({"step": int(moment[0][0]), "low": min(scores), "median": median(scores), "high": max(scores)})
    return rows


def _relatives(
    name: str, methods: Mapping[str, str], panels: Sequence[tuple[tuple[str, str], str, str, Sequence[str], int]]
) -> str:
    """A row of charts per method, over the pale line of GRPO, which is the first."""
    columns = []
    for place, (heading, file, task, curve, steps) in enumerate(panels):
        recorded = _rows(file)
        rows = [[row for row in recorded if row["setting"] == method + task][:steps] for method in methods]
        columns.append(_column(f"{name}-{place}", rows, heading, curve, over_first=True))
    grid = list(zip(methods.values(), zip(*columns, strict=True), strict=True))
    return picture(grid, title="GRPO and its relatives", height=60)


def _column(
    name: str,
    recordings: Sequence[Rows],
    heading: tuple[str, str],
    columns: Sequence[str],
    *,
    over_first: bool = False,
    reward: bool = False,
) -> list[Chart]:
    """One curve of several recordings, one chart below the other.

    Args:
        name: Prefix of the names of the lines.
        recordings: The rows of each chart.
        heading: Heading of the first chart.
        columns: Columns of the rows: the line, or low end, line and high end of a band.
        over_first: Show only the first line, pale, in the other charts, instead of all other lines.
        reward: Whether the values are rewards.
    """
    line = columns[len(columns) // 2]
    ends = _ends([_values(rows, columns[-1]) for rows in recordings])
    names = [f"{name}-{line}-{place}" for place in range(len(recordings))]
    pale = names[:1] if over_first else names
    return [
        Chart(
            heading=("", "") if place else heading,
            steps=[int(str(row["step"])) for row in rows],
            values=_values(rows, line),
            ends=ends,
            band=(_values(rows, columns[0]), _values(rows, columns[-1])) if len(columns) > 1 else None,
            name=names[place],
            others=[other for other in pale if other != names[place]],
            reward=reward,
        )
        for place, rows in enumerate(recordings)
    ]


def _in_pairs(charts: Sequence[Chart]) -> list[tuple[str, Sequence[Chart]]]:
    return [("", charts[place : place + 2]) for place in range(0, len(charts), 2)]


def _ends(lines: Sequence[Values], at_least: tuple[float, float] = (0.0, 1.0)) -> tuple[float, float]:
    """Round numbers below and above all values and `at_least`."""
    known = [value for line in lines for value in line if value is not None]
    low, high = min(*known, at_least[0]), max(*known, at_least[1])
    return round_ends(low, high, round_step((high - low) / _DIVISIONS))


def _values(rows: Rows, name: str) -> Values:
    return [float(str(row[name])) if row.get(name) not in ("", None) else None for row in rows]


def _rows(name: str) -> list[dict[str, str]]:
    with (course.RUNS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
