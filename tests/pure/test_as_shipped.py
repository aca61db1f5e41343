"""The record of GRPO in libraries: every number in it is what the documented formula gives, computed in numpy."""

import json

import as_shipped
import numpy as np
import pytest
from libraries import formula, page

from grader.core import course
from reference import run_trl

RECORD = json.loads((course.ROOT / "docs/assets/runs/as-shipped.json").read_text("utf-8"))
BATCH = formula.read_batch(RECORD["batch"])
RUNS = {
    f"{library['name']}, {setting}": library[setting]
    for library in RECORD["libraries"]
    for setting in as_shipped.SETTINGS
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_library_computes_its_documented_formula(run):
    as_shipped.check(BATCH, run["formula"], run)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_another_formula_is_noticed(run):
    formulas: list[dict] = [{"std": {"G": "G-1", "G-1": "none", "none": "G"}[run["formula"]["std"]]}]
    if run["formula"].get("unit"):  # the one group with signal is rescaled: its divisor cannot be seen
        formulas.clear()
    if "loss" in run:
        average = "token" if run["formula"].get("average") != "token" else "completion"
        formulas += [
            {"average": average},
            {"high": 0.3},
            {"kl": "k1" if "k3" in run["formula"].get("kl", "k3") else "k3"},
        ]
    for change in formulas:
        with pytest.raises(ArithmeticError):
            as_shipped.check(BATCH, run["formula"] | change, run)


def test_the_course_computes_equation_3_and_the_record_is_of_today():
    record = as_shipped.course_record()
    as_shipped.check(BATCH, {}, record)
    assert record == RECORD["course"]
    assert json.loads(formula.BATCH.read_text("utf-8")) == RECORD["batch"]
    for documented, library in zip(as_shipped.DOCUMENTED.values(), RECORD["libraries"], strict=True):
        assert library["name"] == documented["name"]
        assert {each: library[each]["formula"] for each in as_shipped.SETTINGS} == documented["formula"]
        assert {each: library[each] for each in as_shipped.WORDS} == {
            each: documented.get(each, "") for each in as_shipped.WORDS
        }
    assert RECORD["read"] == as_shipped.READ


def test_micro_batches_change_the_loss_that_averages_each_alone():
    scores = formula.group_scores(BATCH, std="G-1", eps=1e-4)
    ratio = np.exp(BATCH.logp - BATCH.old)
    losses = np.maximum(-ratio * scores[:, None], -np.clip(ratio, 0.8, 1.2) * scores[:, None])
    for i, pieces in enumerate(as_shipped.MICRO_BATCHES):
        rows = np.array_split(np.arange(len(losses)), pieces)
        alone = [losses[part][BATCH.mask[part]].mean() for part in rows]
        expected = {
            "bnpo": np.mean(alone),
            "dapo": losses[BATCH.mask].mean(),
            "dr_grpo": losses[BATCH.mask].sum() / (len(losses) * 512),
            "grpo": np.mean([row[kept].mean() for row, kept in zip(losses, BATCH.mask, strict=True)]),
        }
        for loss_type, right in expected.items():
            assert RECORD["micro_batches"][loss_type]["loss"][i] == pytest.approx(right, abs=1e-7), loss_type


def test_the_figure_shows_the_record():
    assert (course.RUNS / "as-shipped.mjs").read_text("utf-8") == page.module(RECORD)


def test_own_functions_stand_next_to_the_libraries(capsys):
    assert run_trl.main(["--batch"]) == 0
    _, yours, first, *_ = capsys.readouterr().out.splitlines()
    assert float(yours.split()[-3]) == pytest.approx(RECORD["course"]["loss"], abs=1e-4)
    shipped = RECORD["libraries"][0]["shipped"]
    assert [float(x) for x in first.split()[-2:]] == pytest.approx([shipped["length"], shipped["cosine"]], abs=1e-3)
