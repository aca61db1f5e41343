"""Recorded experiments: figures and tables show the numbers of the records."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import cut_batch
import pytest
import record_samplers
import record_truncation
from libraries import page

from grader.core import course
from reference import run_trl

FIGURES: dict[str, Callable[[Any], str]] = {
    "as-shipped": page.module,
    "cut-batch": cut_batch.module,
    "samplers": record_samplers.module,
    "truncation": record_truncation.module,
}


def record(name: str) -> Any:
    return json.loads((course.RUNS / f"{name}.json").read_text("utf-8"))


def rows(page: str, columns: int) -> dict[str, list[str]]:
    """The cells of each row of the tables with so many columns on a page, by the first one."""
    lines = (course.ROOT / "docs" / "results" / page).read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    return {first: rest for first, *rest in cells if len(rest) == columns - 1}


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_its_record(name: str) -> None:
    assert (course.RUNS / f"{name}.mjs").read_text("utf-8") == FIGURES[name](record(name))


def test_the_table_of_the_cut_batch_has_exactly_the_reductions_that_change() -> None:
    changed = [run for run in record("cut-batch")["runs"] if run["micro_batches"]["counts"] == cut_batch.BY_PIECE]
    expected = {
        f"{run['library']}: {run['reduction']}": [
            f"{x:.3f}" for x in (*run["micro_batches"]["cosine"][1:], run["micro_batches"]["length"][-1])
        ]
        for run in changed
    }
    shown = {name: cells[:4] for name, cells in rows("cut-the-batch.md", 6).items() if ": " in name}
    assert shown == expected


def test_the_table_of_truncation_has_the_numbers_of_the_record() -> None:
    shown = rows("truncation.md", 7)
    for arm, name in (("zero", "scored 0"), ("masked", "masked"), ("penalized", "penalized"), ("room", "room for all")):
        runs = [run for run in record("truncation")["runs"] if run["arm"] == arm]
        ends = [record_truncation.curve(runs, measure)[0][-1] for measure in record_truncation.MEASURES]
        assert shown[name] == [f"{14 * x:.1f}" if i == 4 else percent(x) for i, x in enumerate(ends)]


def test_the_tables_of_samplers_have_the_numbers_of_the_record() -> None:
    shown, samplers = rows("samplers.md", 7), record("samplers")
    tenth = samplers["shares"].index(0.1)
    for run in samplers["runs"]:
        steps = (run.get("sampler_step"), run.get("trainer_step"))
        name = run.get("engine", "drawn at step {}, trained at {}".format(*steps))
        if name in shown:
            last = run["by_length"][-1]
            shares = [percent(last[what]) for what in ("dropped", "dropped_if_normal")]
            carried, outside = percent(run["carried"][tenth], 0), percent(run["tokens_outside_clip"])
            assert shown[name] == [f"{run['kl']:.2g}", carried, outside, *shares, f"{last['tokens']:.0f}"]


def test_own_functions_stand_next_to_the_libraries(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_trl.main(["--batch"]) == 0
    _, yours, first, *_ = capsys.readouterr().out.splitlines()
    assert float(yours.split()[-3]) == pytest.approx(record("as-shipped")["course"]["loss"], abs=1e-4)
    shipped = record("as-shipped")["libraries"][0]["shipped"]
    assert [float(x) for x in first.split()[-2:]] == pytest.approx([shipped["length"], shipped["cosine"]], abs=1e-3)
