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


def test_the_page_has_exactly_the_reductions_that_change():
    lines = (course.ROOT / "docs/results/cut-the-batch.md").read_text("utf-8").splitlines()
    shown = {cells[1]: cells[2:6] for line in lines if len(cells := [cell.strip() for cell in line.split("|")]) == 8}
    changed = [run for run in RECORD["runs"] if run["micro_batches"]["counts"] == cut_batch.BY_PIECE]
    expected = {
        f"{run['library']}: {run['reduction']}": [
            f"{x:.3f}" for x in (*run["micro_batches"]["cosine"][1:], run["micro_batches"]["length"][-1])
        ]
        for run in changed
    }
    assert {name: cells for name, cells in shown.items() if name in expected} == expected
    assert len(shown) == len(expected) + 2  # and its head


def test_the_figure_shows_the_record():
    assert (course.RUNS / "cut-batch.mjs").read_text("utf-8") == cut_batch.module(RECORD)
