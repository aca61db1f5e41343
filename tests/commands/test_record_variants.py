"""Recorded runs of the relatives of GRPO: what the bands are, and that the files are whole and keep a law."""

import csv
from functools import partial

import numpy as np
import pytest
import record_variants

from grader.core import course
from reference.bandit_task import BanditConfig
from reference.charlm_training import CharLMConfig
from reference.variants_training import MOST_DRAWS, VARIANTS


def runs_of(shift: float = 0.0) -> list[record_variants.Curves]:
    return [
        {"best": np.array([seed / 10 + shift, 1.0]), "entropy": np.zeros(2), "samples": np.array([8.0, 16.0 + seed])}
        for seed in range(11)
    ]


def test_a_row_has_the_middle_of_the_seeds_and_the_middle_80_percent():
    first, second = record_variants.rows_of("rloo", runs_of(), runs_of())
    assert (first["setting"], first["seeds"], first["step"]) == ("rloo", 11, 1)
    assert [first[f"best_{end}"] for end in ("low", "median", "high")] == [0.1, 0.5, 0.9]
    assert (first["samples_mean"], second["samples_mean"]) == (8.0, 21.0)


def test_a_row_has_the_difference_to_grpo_with_the_same_seed_and_its_standard_error():
    first, second = record_variants.rows_of("rloo", runs_of(0.25), runs_of())
    assert (first["best_apart_mean"], first["best_apart_error"]) == (0.25, pytest.approx(0, abs=1e-12))
    assert (second["best_apart_mean"], second["best_apart_error"]) == (0, 0)
    backwards = runs_of()[::-1]
    apart = np.array([(2 * seed - 10) / 10 for seed in range(11)])
    (first, _) = record_variants.rows_of("rloo", runs_of(), backwards)
    assert first["best_apart_error"] == pytest.approx(apart.std(ddof=1) / 11**0.5, rel=1e-3)
    assert [record_variants.grpo_beside(each) for each in ("tis", "tis, double peak")] == ["grpo", "grpo, double peak"]


def test_a_recording_goes_on_where_it_stopped_and_comes_out_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(record_variants, "BANDIT", BanditConfig(steps=3))
    monkeypatch.setitem(record_variants.SETTINGS, "bandit", ["grpo, single peak", "rloo, single peak"])

    def record(seeds: int, keep: str) -> str:
        options = ["--seeds", str(seeds), "--out", str(tmp_path), "--keep", str(tmp_path / keep)]
        monkeypatch.setattr("sys.argv", ["record_variants.py", "bandit", *options])
        record_variants.main()
        return (tmp_path / "variants-bandit.csv").read_text("utf-8")

    at_once = record(3, "one")
    assert record(2, "two") != at_once
    monkeypatch.setitem(record_variants.RUN, "bandit", only_seed_2)
    assert record(3, "two") == at_once
    assert "3 seeds" in capsys.readouterr().out


def only_seed_2(setting: str, seed: int) -> record_variants.Curves:
    assert seed == 2, "the other two were made before"
    return record_variants.bandit_run(setting, seed)


def test_the_tokens_of_wrong_completions_and_six_for_each_pizza_are_the_length_of_the_batch(monkeypatch):
    monkeypatch.setattr(record_variants, "CHARLM", CharLMConfig(steps=2, inner_steps=2))
    run = record_variants.charlm_run("dapo-sampling", seed=0)
    right = 1 - run["wrong"]
    assert right.any() and run["wrong"].any()
    assert run["wrong_tokens"] + 6 * right == pytest.approx(run["length"])


def test_the_length_of_wrong_completions_is_that_of_the_last_20_steps_and_unknown_before_the_first_one():
    wrong, tokens = np.zeros(30), np.zeros(30)
    wrong[[2, 25]], tokens[[2, 25]] = [2 / 32, 1 / 32], [13 / 32, 9 / 32]
    run = record_variants.with_wrong_length({"wrong": wrong, "wrong_tokens": tokens})
    assert np.isnan(run["wrong_length"][:2]).all()
    assert [run["wrong_length"][place] for place in (2, 21, 25)] == [6.5, 6.5, 9]
    assert np.isnan(run["wrong_length"][22:25]).all()
    assert record_variants.with_wrong_length({"best": wrong}).keys() == {"best"}


def test_the_samples_of_a_recorded_run_are_counted_step_by_step(monkeypatch):
    monkeypatch.setattr(record_variants, "BANDIT", BanditConfig(steps=30, inner_steps=2, group_size=4, lr=1.0))
    plain = record_variants.bandit_run("grpo, single peak", seed=0)
    assert [*plain["samples"]] == [4 * step for step in range(1, 31)]
    redrawn = record_variants.bandit_run("dapo, single peak", seed=0)
    per_step = np.diff(redrawn["samples"], prepend=0)
    gave_up = redrawn["zero_signal"].astype(bool)
    assert (per_step[gave_up] == 4 * MOST_DRAWS).all() and gave_up.any() and not gave_up.all()


@pytest.mark.parametrize(("loop", "steps"), [("bandit", 50), ("charlm", 40)])
def test_a_recorded_file_has_every_step_of_every_relative_with_equally_many_seeds(loop, steps):
    with (course.RUNS / f"variants-{loop}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    places = [(row["setting"], int(row["step"])) for row in rows]
    wanted = record_variants.SETTINGS[loop]
    assert places == [(setting, step) for setting in wanted for step in range(1, steps + 1)]
    assert len({row["seeds"] for row in rows}) == 1
    for row in rows:
        assert float(row["best_low"]) <= float(row["best_median"]) <= float(row["best_high"]) <= 1


def test_the_page_says_with_which_settings_the_runs_were_recorded():
    page = " ".join((course.ROOT / "docs/results/variants.md").read_text("utf-8").split())
    bandit, charlm = record_variants.BANDIT, record_variants.CHARLM
    assert (bandit.group_size, bandit.clip_eps) == (charlm.group_size, charlm.clip_eps)
    assert bandit.inner_steps == charlm.inner_steps == charlm.prompts_per_step == 4 and bandit.kl_coef == 0
    assert (
        f"G = {bandit.group_size}, four updates with each batch, ε = {bandit.clip_eps}, lr = {bandit.lr} in the" in page
    )
    assert f"four groups and β = {charlm.kl_coef} in the language model" in page
    assert f"at most {charlm.max_new_tokens} tokens" in page and f"at most {MOST_DRAWS} times" in page
    assert f"over the last {record_variants.LAST} steps of a run" in page
    surrogate = VARIANTS["dapo-clip"].surrogate
    assert isinstance(surrogate, partial)
    assert (
        f"grow by {100 * surrogate.keywords['high']:.0f} % with a group and not by {100 * bandit.clip_eps:.0f} %"
        in page
    )


def test_in_the_recorded_bandit_gspo_is_grpo():
    """A completion of one token has the ratio of its token."""
    with (course.RUNS / "variants-bandit.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    of = {
        name: [{**row, "setting": ""} for row in rows if row["setting"] == f"{name}, single peak"]
        for name in ("grpo", "gspo", "cispo")
    }
    assert of["gspo"] == of["grpo"] != of["cispo"]
