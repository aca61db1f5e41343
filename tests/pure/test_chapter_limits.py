"""Chapter 8, limits: the numbers of the text, by the model answers."""

import numpy as np
import pytest
import torch
from page_text import numbers, rows_of, says, written

from grader.core import course
from reference.advantages import group_advantages

TEXT = (course.ROOT / "docs/learn/limits.md").read_text("utf-8")
VALUES = [0.5, 0.55, 0.7, 0.7, 0.8, 0.1]
RATINGS = [[1, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]]
MINUS = "\u2212"


def token_advantages(values, lam):
    """Generalized advantage estimation as a sum over all later tokens; the reward at the end is 0."""
    surprises = np.diff([*values, 0.0])
    return [sum(lam ** (u - t) * surprises[u] for u in range(t, len(values))) for t in range(len(values))]


def process_advantages(ratings):
    normalized = group_advantages(torch.tensor(ratings, dtype=torch.float64).flatten()).reshape(len(ratings), -1)
    return normalized.flip(-1).cumsum(-1).flip(-1).tolist()


def grpo_blame():
    return group_advantages(torch.tensor([1.0] * 4 + [0.0] * 4, dtype=torch.float64)).tolist()[-1]


# W19


def test_w19_the_table_on_the_page_is_that_of_generalized_advantage_estimation():
    columns = [token_advantages(VALUES, lam) for lam in (0, 0.5, 1)]
    rows = rows_of(TEXT, "| Token | Expected before it |")
    for t, (_, value, grpo, *ppo) in enumerate(rows):
        assert [float(value), grpo] == [VALUES[t], written(grpo_blame())]
        assert [numbers(cell)[0] for cell in ppo] == pytest.approx([column[t] for column in columns], abs=5.01e-4)
    notice = TEXT.split("| Token | Expected before it |", 1)[1]
    says(notice, written(columns[0][4]), written(token_advantages([0.5] * 6, 1)[0]), written(grpo_blame()))


# W20


def test_w20_the_table_and_the_notice_on_the_page_are_those_of_the_model_answers():
    process = process_advantages(RATINGS)
    for i, (_, ratings, outcome, *steps) in enumerate(rows_of(TEXT, "| Solution | Ratings |")):
        assert [int(rating) for rating in ratings.split(",")] == RATINGS[i]
        assert outcome == ("+1.000" if RATINGS[i][-1] else f"{MINUS}1.000")
        assert steps == [written(a) for a in process[i]]
    flat = np.array(RATINGS).ravel()
    says(TEXT, f"{flat.mean():.3f}", f"{flat.std():.3f}", written(process[3][0]), written(process[1][0]))
