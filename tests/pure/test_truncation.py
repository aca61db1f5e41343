"""The runs with a limit that is too short: the rules of the arms, and what page and figure show of the record."""

import json

import pytest
import record_truncation as truncation
import torch

from grader.core import course

PATH = course.RUNS / "truncation.json"
PROMPTS = ["3+4+5+2="] * 3
COMPLETIONS = ["7+5+2=12+2=14.", "14.", "7+5+2=12+2=141"]  # right and long, right and short, cut


def test_arms_differ_in_what_a_truncated_completion_gets():
    plain, soft = truncation.Reward(soft=False), truncation.Reward(soft=True)
    assert plain(PROMPTS, COMPLETIONS).tolist() == [1.0, 1.0, 0.0]
    assert soft(PROMPTS, COMPLETIONS).tolist() == [0.0, 1.0, -1.0]
    assert plain.truncated == soft.truncated == [pytest.approx(1 / 3)]
    tokens = torch.tensor([[5, 6, 7, 0, 0], [5, 6, 7, 8, 9]])
    assert truncation.mask_of_finished(tokens, 2, 0).tolist() == [[False, True, True, False], [False] * 4]


def test_the_record_has_every_arm_with_the_same_seeds_and_the_figure_shows_it():
    record = json.loads(PATH.read_text("utf-8"))
    assert {(run["arm"], run["seed"]) for run in record["runs"]} == {
        (arm, seed) for arm in truncation.ARMS for seed in truncation.SEEDS
    }
    starts = [run["points"][0] for run in record["runs"]]
    assert all(start == starts[0] for start in starts)  # all begin with the same weights
    assert PATH.with_suffix(".mjs").read_text("utf-8") == truncation.module(record)
