"""The open challenge takes runs from anybody, and refuses a line that is no run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grader.workshop import challenge

RUN: dict[str, Any] = {
    "options": "--steps 100", "seed": 0, "version": "v1", "torch": "2.13.0", "before": 0.5, "accuracy": 0.875,
    "steps": 100, "completions": 6400, "cpu_seconds": 240, "peak_gigabytes": 3, "curve": [[0, 0.5], [100, 0.875]],
    "by": "Ada", "code": "",
}  # fmt: skip


def text(*runs: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(run)}\n" for run in runs)


def three(**changes: Any) -> list[dict[str, Any]]:
    return [{**RUN, **changes, "seed": seed} for seed in (0, 1, 2)]


def test_the_fewest_completions_come_first_and_each_seed_has_its_row() -> None:
    linked = three(completions=3200, by="Bo", options="", code="https://example.org/code")
    found = challenge.entries(text(*three(), *linked))
    assert [each.seed for each in found] == [0, 1, 2, 0, 1, 2]
    table = [*challenge.rows(found)]
    assert table[0] == "| 3,200 | 0.875 | 4 | none | 0 | [v1](https://example.org/code) | Bo |"
    assert table[-1] == "| 6,400 | 0.875 | 4 | `--steps 100` | 2 | v1 | Ada |"
    assert len([*challenge.rows([])]) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"accuracy": 0.84375}, "from 0.85"), ({"accuracy": 0.9}, "a share of 256"),
        ({"seed": "0"}, "seed must be int"), ({"steps": True}, "steps must be int"),
        ({"completions": 0}, "must be positive"), ({"by": " "}, "must name somebody"),
        ({"options": "--out a | b"}, r"may hold a \|"), ({"code": "javascript:alert(1)"}, "a link with https"),
        ({"more": 1}, "exactly the fields"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_run_is_refused_with_the_reason(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(challenge.NoRun, match=said):
        challenge.entries(text(*three(), {**RUN, **changes}))


@pytest.mark.parametrize("lines", [text(RUN), text(*three(), RUN), "{"], ids=["one seed", "a seed twice", "no JSON"])
def test_a_lucky_seed_alone_is_refused(lines: str) -> None:
    with pytest.raises(challenge.NoRun, match=r"seeds|JSON"):
        challenge.entries(lines)
