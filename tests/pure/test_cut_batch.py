"""The record of the cut batch: its numbers follow from the uncut gradients, and page and figure show them."""

import json

import cut_batch
import numpy as np
import pytest

from grader.core import course

RECORD = json.loads((course.RUNS / "cut-batch.json").read_text("utf-8"))
SHIPPED = json.loads((course.RUNS / "as-shipped.json").read_text("utf-8"))


def test_cut_gradients_follow_from_the_uncut_one_and_its_weights():
    (trl,) = [each for each in SHIPPED["libraries"] if each["name"] == "TRL"]
    rows = trl["shipped"]["gradient"]
    whole = np.concatenate(rows)
    for run in RECORD["runs"]:
        if run["library"] != "TRL" or run["reduction"] not in ("dapo", "bnpo"):  # uncut, both average over all tokens
            continue
        for way in ("micro_batches", "ranks"):
            for place, weights in enumerate(run[way]["weights"]):
                cut = np.concatenate([weight * np.array(row) for weight, row in zip(weights, rows, strict=True)])
                length = np.linalg.norm(cut) / np.linalg.norm(whole)
                cosine = (cut * whole).sum() / np.linalg.norm(cut) / np.linalg.norm(whole)
                assert (length, cosine) == pytest.approx(
                    (run[way]["length"][place], run[way]["cosine"][place]), abs=2e-4
                )


def test_the_figure_shows_the_record():
    assert (course.RUNS / "cut-batch.mjs").read_text("utf-8") == cut_batch.module(RECORD)
