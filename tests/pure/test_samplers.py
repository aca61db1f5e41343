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
