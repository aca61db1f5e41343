"""Recorded runs of the relatives of GRPO: what the bands are, and that the files are whole and keep a law."""

import csv

import numpy as np
import pytest
import record_variants

from grader.core import course
from reference.bandit_task import BanditConfig
from reference.variants_training import MOST_DRAWS


def test_a_row_has_the_middle_of_the_seeds_and_the_middle_80_percent():
    runs = [
        {"best": np.array([seed / 10, 1.0]), "entropy": np.zeros(2), "samples": np.array([8.0, 16.0 + seed])}
        for seed in range(11)
    ]
    first, second = record_variants.rows_of("rloo", runs)
    assert (first["setting"], first["seeds"], first["step"]) == ("rloo", 11, 1)
    assert [first[f"best_{end}"] for end in ("low", "median", "high")] == [0.1, 0.5, 0.9]
    assert (first["samples_mean"], second["samples_mean"]) == (8.0, 21.0)


def test_the_samples_of_a_recorded_run_are_counted_step_by_step(monkeypatch):
    monkeypatch.setattr(record_variants, "BANDIT", BanditConfig(steps=30, inner_steps=2, group_size=4, lr=1.0))
    plain = record_variants.bandit_run("grpo, single peak", seed=0)
    assert [*plain["samples"]] == [4 * step for step in range(1, 31)]
    redrawn = record_variants.bandit_run("dapo, single peak", seed=0)
    per_step = np.diff(redrawn["samples"], prepend=0)
    gave_up = redrawn["zero_signal"].astype(bool)
    assert (per_step[gave_up] == 4 * MOST_DRAWS).all() and gave_up.any() and not gave_up.all()


@pytest.mark.parametrize(("loop", "steps"), [("bandit", 50), ("charlm", 40)])
def test_a_recorded_file_has_every_step_of_every_relative_with_equally_many_seeds(loop, steps):
    with (course.RUNS / f"variants-{loop}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    places = [(row["setting"], int(row["step"])) for row in rows]
    wanted = record_variants.SETTINGS[loop]
    assert places == [(setting, step) for setting in wanted for step in range(1, steps + 1)]
    assert len({row["seeds"] for row in rows}) == 1
    for row in rows:
        assert float(row["best_low"]) <= float(row["best_median"]) <= float(row["best_high"]) <= 1


def test_in_the_recorded_bandit_gspo_is_grpo():
    """A completion of one token has the ratio of its token."""
    with (course.RUNS / "variants-bandit.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    of = {
        name: [{**row, "setting": ""} for row in rows if row["setting"] == f"{name}, single peak"]
        for name in ("grpo", "gspo", "cispo")
    }
    assert of["gspo"] == of["grpo"] != of["cispo"]
