"""A handout's lookups answer as the oracles did, and nothing in a handout can be pasted into a stub."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from pasteable import answering

from grader.core import course
from grader.grading.calls import Record
from grader.grading.check import checks_of
from grader.oracles import recorded
from grader.oracles.charlm_oracle import Settings
from grader.workshop import handout, oracle_records

RATIO = """
import numpy as np
LIMIT = 20.0
def _bounded(x):
    return x.clip(-LIMIT, LIMIT)
def under_another_name(a, b):
    return np.exp(_bounded(a - b))
"""


@pytest.mark.parametrize(
    "value",
    [
        np.array([[1.5, -0.0], [math.inf, math.nan]]),
        np.array([True, False]),
        (np.arange(3), {"loss": 0.25, "kl": np.float64(1.5)}),
        [None, "a", 3, Record("BanditConfig", {"lr": 0.5, "inner_steps": 2})],
    ],
)
def test_a_record_keeps_values_dtypes_and_shapes(value) -> None:
    again = recorded.decode(recorded.encode(value, exact=True), {"Record": Record})
    np.testing.assert_equal(again, value)


def test_a_call_is_found_by_its_values_whatever_their_last_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([[0.1, 0.2], [0.3, -0.4]])
    key = recorded.key("module.function", (table, Settings(lr=0.5)), {"level": "token"})
    known = recorded.Records({key: recorded.encode(table * 2)}, {})
    monkeypatch.setattr(recorded, "records", lambda: known)
    oracle = recorded.recorded("module.function")
    close = table * (1 + 1e-15)
    assert oracle(close, Settings(lr=0.5), level="token") == pytest.approx(table * 2)
    for arguments in ((table + 1e-3, Settings(lr=0.5)), (table, Settings(lr=0.25)), (table[0], Settings(lr=0.5))):
        with pytest.raises(recorded.NoRecord):
            oracle(*arguments, level="token")


@pytest.mark.parametrize("name", course.names(optional=True))
def test_the_records_of_an_exercise_are_small_and_hold_its_public_invariants_only(name: str) -> None:
    path = oracle_records.path_of(name)
    assert path.stat().st_size < 2_000_000
    public = {check.id for check in checks_of(name, hidden=False)}
    assert {*json.loads(path.read_text("utf-8"))["invariants"]} <= public


def test_a_function_that_answers_an_exercise_is_found_under_any_name() -> None:
    found = answering({"course/grader/oracles/anything.py": RATIO.encode()}, ["clip"])
    assert found == {"clip.importance_ratio": "course/grader/oracles/anything.py under_another_name"}


@pytest.mark.proof  # every function of a handout on every worked example
def test_no_function_of_a_handout_answers_an_exercise() -> None:
    assert answering(handout.make(site="https://example.org/"), course.names()) == {}
