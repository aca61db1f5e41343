"""Wrong masks that no known mistake gives: the grader describes them by row parts, a comparison, or a shift."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from grader.grading import headings, masks
from grader.grading.likeness import STRONG, WEAK, case, likeness
from grader.grading.student import Example

TOKENS = np.array([[5, 6, 7, 8, 0, 4, 1], [5, 6, 0, 3, 3, 0, 2], [5, 6, 7, 8, 9, 4, 2]])
RIGHT = ["FTTTFF", "FTFFFF", "FTTTTT"]
"""The completions of `TOKENS`, after a prompt of two and up to the first 0, without an entry for the first token."""


def observed(rows):
    array = np.array([[letter == "T" for letter in row] for row in rows])
    seen = {"dtype": "bool", "shape": list(array.shape), "values": array.reshape(-1).tolist()}
    return seen | {"gradients": {}, "changed": []}


def said(yours, expected=tuple(RIGHT), tokens=TOKENS):
    arguments = {"tokens": tokens, "prompt_length": 2, "eos_id": 0}
    wrong = case(arguments, Example(*arguments.values()), observed(yours), observed(expected))
    found = likeness([wrong], (*STRONG, *WEAK))
    assert found is None or found.name in headings.HEADINGS
    return found.sentence if found else None


@pytest.mark.parametrize(
    ("yours", "sentence"),
    [
        (["TTTTTT"] * 3, "True everywhere"),
        (["FFFFFF"] * 3, "False everywhere"),
        (["TFFFTT", "TFTTTT", "TFFFFF"], "True where False is asked for, and False where True is"),
        (["FTTTFF"] * 3, "the same in every row, where the rows that are asked for differ"),
        (["FFTTTF", "FFTFFF", "FFTTTT"], "the expected ones, one place too late"),
        (["TTTFFT", "TFFFFF", "TTTTTF"], "the expected ones, one place too early"),
        (["TTTFTT", "TFTTFT", "TTTTTT"], "True where tokens[:, 1:] is not eos_id, and nowhere else"),
        (["FFFFTT", "FFTFTF", "FFFFFF"], "True only where False is asked for after the last True of a row"),
        (["FTTTTF", "FTTFFF", "FTTTTT"], "right except where the first False after the last True of a row is asked "
                                         "for"),
        (["FTTFFF", "FTFFFF", "FTTTTF"], None),  # two ends of three: that may be chance
        (["FTTFFF", "FFFFFF", "FTTTTF"], "right except where the last True of a row is asked for"),
        (["FFTTFF", "FFFFFF", "FFTTTT"], "right except where the first True of a row is asked for"),
        (["FTTTFT", "FTTFTT", "FTTTTT"], "right except at some of the places where False is asked for after the last "
                                         "True of a row"),
    ],
)  # fmt: skip
def test_what_a_wrong_mask_has_in_common_with_the_right_one(yours, sentence):
    assert said(yours) == sentence


def test_a_comparison_that_is_true_everywhere_is_no_comparison():
    assert said(["TTT", "TTT"], ["FTT", "FTF"], np.array([[5, 6, 7, 8], [5, 6, 7, 8]])) == "True everywhere"


def test_rows_that_must_be_true_to_the_end_are_recognized():
    """Here a row without an end has no True at all; one row would be chance."""
    right = ["FTTTFF", "FTFFFF", "FTTTTT", "FTTTTT", "FTTFFF", "FTTFFF", "FTFFFF"]
    yours = [("FFFFFF" if row.endswith("T") else row) for row in right]
    wrong = case({}, Example(), observed(yours), observed(right))
    sentences = {like.sentence for look in WEAK for like in look(wrong)}
    assert "right except in rows that must be True to the end" in sentences


def test_a_row_without_true_is_no_evidence():
    """Where a row has no completion, all of it is before the first True."""
    arguments = {"tokens": TOKENS, "prompt_length": 2, "eos_id": 0}
    pairs = [(["TTTTTT", "TTFFFF", "TTTTTT"], ["FFTTTT", "FTFFFF", "FFTTTT"]), (["TTT"], ["FFF"])]
    cases = [case(arguments, Example(), observed(yours), observed(right)) for yours, right in pairs]
    found = likeness(cases, (*STRONG, *WEAK))
    assert found and found.sentence == "right except where False is asked for before the first True of a row"


def test_a_thousand_wrong_places_are_so_improbable_that_no_float_holds_it():
    told = "right except where False is asked for after the last True of a row"
    assert said(["T" * 700] * 2, ["T" * 350 + "F" * 350] * 2, np.zeros((2, 701))) == "True everywhere"
    assert said(["F" + "T" * 699] * 2, ["F" + "T" * 349 + "F" * 350] * 2, np.zeros((2, 701))) == told


@given(right=arrays.arrays(bool, st.tuples(st.integers(1, 4), st.integers(1, 6))))
def test_every_place_of_a_row_is_before_in_or_after_its_true(right):
    places = masks.places(right)
    assert places.keys() == masks.IMPLIED.keys()
    for name, weaker in masks.IMPLIED.items():
        for less in weaker:
            assert (places[name] <= {"True is asked for": right, "False is asked for": ~right, **places}[less]).all()
    for row, before, after in zip(
        right,
        places["False is asked for before the first True of a row"],
        places["False is asked for after the last True of a row"],
        strict=True,
    ):
        true = np.flatnonzero(row)
        begin, end = (true[0], true[-1]) if true.size else (row.size, row.size)
        assert np.flatnonzero(before).tolist() == [*range(begin)]
        assert np.flatnonzero(after).tolist() == [*range(end + 1, row.size)]
