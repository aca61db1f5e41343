"""Samplers that differ from the trainer: the measures on weights with a known answer, and page and figure."""

import json
import math

import numpy as np
import pytest
import record_samplers as samplers
import torch

from grader.core import course

PATH = course.RUNS / "samplers.json"
RECORD = json.loads(PATH.read_text("utf-8"))


def test_measures_of_known_weights():
    found = samplers.measured([np.array([math.log(4), 0.0]), np.array([0.0, -math.log(4)])], [1, 0])
    k3 = [4 - 1 - math.log(4), 1 / 4 - 1 + math.log(4)]
    assert found["kl"] == pytest.approx(sum(k3) / 4) and found["tokens_above_2"] == 1 / 4
    token, completion = found["by_length"]
    assert (token["dropped"], completion["dropped"], completion["median"]) == (1 / 4, 1 / 2, (4 + 1 / 4) / 2)
    assert completion["effective"] == pytest.approx(4.25**2 / (16 + 1 / 16) / 2)
    assert samplers.carried(np.array([*k3, 0.0, 0.0]))[-1] == 1.0
    normal = samplers.carried_if_normal(1e-6)[samplers.SHARES.index(0.1)]
    assert normal == pytest.approx(0.1 + 2 * 1.64485 * math.exp(-(1.64485**2) / 2) / math.sqrt(2 * math.pi), abs=1e-3)


def test_int8_has_255_numbers_and_keeps_the_largest():
    x = torch.linspace(-3, 5, 1001)
    rounded = samplers.in_int8(x)
    assert rounded.unique().numel() <= 255 and rounded.max() == x.max() and (rounded - x).abs().max() <= 5 / 254 + 1e-6


def test_the_stale_numbers_are_of_the_recorded_run_and_the_figure_shows_the_record():
    runs = {(run["sampler_step"], run["trainer_step"]): run for run in RECORD["runs"] if "engine" not in run}
    rows = samplers.stale()
    assert runs.keys() == rows.keys()
    for steps in samplers.SHOWN:
        assert samplers.measured(rows[steps], [0])["kl"] == pytest.approx(runs[steps]["kl"], rel=1e-4)
    assert PATH.with_suffix(".mjs").read_text("utf-8") == samplers.module(RECORD)


def test_the_page_has_the_numbers_of_the_record():
    lines = (course.ROOT / "docs/results/samplers.md").read_text("utf-8").splitlines()
    rows = {cells[1]: cells[2:-1] for line in lines if len(cells := [cell.strip() for cell in line.split("|")]) == 9}
    percent = lambda x, digits=1: f"{100 * x:.{digits}f} %"  # noqa: E731
    tenth = RECORD["shares"].index(0.1)
    for run in RECORD["runs"]:
        steps = (run.get("sampler_step"), run.get("trainer_step"))
        name = run.get("engine", "drawn at step {}, trained at {}".format(*steps))
        if name in rows:
            last = run["by_length"][-1]
            shares = [percent(last[what]) for what in ("dropped", "dropped_if_normal")]
            carried = percent(run["carried"][tenth], 0)
            outside = percent(run["tokens_outside_clip"])
            assert rows[name] == [f"{run['kl']:.2g}", carried, outside, *shares, f"{last['tokens']:.0f}"]
    bfloat16, int8 = ({f"{each['tokens']:g}": each for each in run["by_length"]} for run in RECORD["runs"][:2])
    for length in ("1", "4", "8", "16", "64"):
        shares = [
            percent(engine[length][what]) for engine in (bfloat16, int8) for what in ("dropped", "dropped_if_normal")
        ]
        shares += [percent(int8[length][what], 0) for what in ("effective", "effective_if_normal")]
        assert rows[length] == shares
