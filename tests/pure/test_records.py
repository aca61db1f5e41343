"""Recorded experiments: figures show the numbers of the records."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import cut_batch
import pytest
import record_samplers
import record_stale
import record_truncation
from libraries import page

from grader.core import course
from reference import run_trl

FIGURES: dict[str, Callable[[Any], str]] = {
    "as-shipped": page.module,
    "cut-batch": cut_batch.module,
    "samplers": record_samplers.module,
    "stale": record_stale.module,
    "stale-no-kl": record_stale.module,
    "truncation": record_truncation.module,
}


def record(name: str) -> Any:
    return json.loads((course.RUNS / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_its_record(name: str) -> None:
    assert (course.RUNS / f"{name}.mjs").read_text("utf-8") == FIGURES[name](record(name))


def test_own_functions_stand_next_to_the_libraries(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_trl.main(["--batch"]) == 0
    _, yours, first, *_ = capsys.readouterr().out.splitlines()
    assert float(yours.split()[-3]) == pytest.approx(record("as-shipped")["course"]["loss"], abs=1e-4)
    shipped = record("as-shipped")["libraries"][0]["shipped"]
    assert [float(x) for x in first.split()[-2:]] == pytest.approx([shipped["length"], shipped["cosine"]], abs=1e-3)
