"""Ablations and the worksheet's model answers: pages and answers say what the recorded runs show."""

from __future__ import annotations

import csv
import json
import re
from argparse import Namespace
from dataclasses import asdict

import numpy as np
import pytest

from grader.commands import answer_key as command
from grader.core import course
from grader.oracles.simulation import Settings, simulate, single_peak
from grader.worksheet.model_answers import model_answers
from grader.worksheet.questions import QUESTIONS
from grader.workshop import ablations, answer_key


def rows_of(name: str) -> list[dict[str, str]]:
    with (course.RUNS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def last(name: str, setting: str, column: str) -> float:
    return next(
        float(row[column]) for row in rows_of(name) if row["setting"] == setting and row["step"] == str(ablations.STEPS)
    )


@pytest.fixture(scope="module")
def key() -> dict:
    """The answers and their measurements, by question."""
    measured = json.loads(answer_key.MEASURED_PATH.read_text("utf-8"))["measured"]
    return {name: {**asdict(answer), "measured": measured.get(name, {})} for name, answer in model_answers().items()}


def test_every_ablation_has_its_files():
    for ablation in ablations.ABLATIONS:
        rows = rows_of(ablation.name)
        assert {row["setting"] for row in rows} == set(ablation.settings)


def test_the_curves_are_quantiles_of_runs_that_anybody_can_make():
    settings = Settings(reward_table=single_peak(), group_size=4)
    ends = simulate(settings, seeds=range(ablations.SEEDS), steps=ablations.STEPS).probabilities[:, -1, 6]
    assert last("group-size", "G = 4", "best_probability_median") == pytest.approx(np.median(ends), rel=1e-3)
    assert last("group-size", "G = 4", "best_probability_low") == pytest.approx(np.quantile(ends, 0.1), rel=1e-3)


def test_the_mean_reward_is_that_of_the_groups_over_80_steps():
    rows = [row for row in rows_of("mean-reward") if row["setting"] == "double peak"]
    assert [int(row["step"]) for row in rows] == list(range(81))
    assert rows[0]["mean_reward_median"] == ""  # there is no group before the first step
    table = np.array([0.7 / 3, 1.4 / 3, 0.7, 1.4 / 3, 0.7 / 3, 1 / 3, 2 / 3, 1, 2 / 3, 1 / 3])
    runs = simulate(Settings(reward_table=tuple(table)), seeds=range(ablations.SEEDS), steps=20)
    earned = table[runs.actions[:, 19]].mean(axis=-1)
    for name, share in (("low", 0.1), ("median", 0.5), ("high", 0.9)):
        assert float(rows[20][f"mean_reward_{name}"]) == pytest.approx(np.quantile(earned, share), rel=1e-3)


def test_what_the_ablations_teach_is_in_the_numbers():
    # A larger group is steadier, a wide clip locks onto wrong actions, a cold start gives groups without signal.
    lows = [last("group-size", f"G = {size}", "best_probability_low") for size in (2, 4, 8, 16, 32, 64)]
    assert lows == sorted(lows)
    wrong = [last("clip", name, "sure_of_wrong_action_mean") for name in ("clip_eps 0.1", "clip_eps 0.5", "no clip")]
    assert wrong == sorted(wrong)
    assert wrong[-1] > 0.1
    first = [row for row in rows_of("temperature") if row["step"] == "1"]
    silent = [float(row["zero_signal_mean"]) for row in first]
    assert silent == sorted(silent, reverse=True)


def test_the_numbers_on_the_bandit_page_are_those_of_the_runs(key):
    page = (course.ROOT / "docs" / "exercises" / "bandit.md").read_text("utf-8")
    found = key["1E.2"]["measured"]
    for name, label in (
        ("GRPO", "GRPO"),
        ("REINFORCE", "REINFORCE"),
        ("REINFORCE + baseline", "REINFORCE with a baseline"),
    ):
        share = found[f"rewards + 5, finds the peak: {name}"]
        assert re.search(rf"\| {label} \| \d+ % \| {share * 100:.0f} % \|", page), (name, share)
    for setting in ("no clip", "clip_eps 0.2"):
        share = last("clip", setting, "sure_of_wrong_action_mean")
        assert f"{share * 100:.0f} %" in page, (setting, share)


def test_the_model_answers_have_the_words_of_the_command_and_their_files_agree(key):
    """Its numbers take longer to make: tests/commands/test_recorded_runs.py has them."""
    few = answer_key.Measurements(30)
    made = [answer for part in answer_key.PARTS for answer in part(few)]
    assert [answer.id for answer in made] == list(key)
    for answer in made:
        recorded = key[answer.id]
        assert list(answer.measured) == list(recorded["measured"])
        for name in ("question", "answer", "experiment"):
            assert without_numbers(getattr(answer, name)) == without_numbers(recorded[name]), (answer.id, name)
    answers = [answer_key.Answer(**each) for each in key.values()]
    for path, text in answer_key.texts(answers, answer_key.SEEDS).items():
        assert path.read_text("utf-8") == text, f"{path} is stale: run `course dev answer-key`"


def without_numbers(text: str) -> str:
    return re.sub(r"-?\d[\d.,]*(e-?\d+)?|never", "#", text)


def test_what_the_browser_loads_are_the_answers_to_the_written_questions_with_the_signs_of_the_page(key):
    text = answer_key.BROWSER_PATH.read_text("utf-8")
    assert text.startswith("// Written by `course dev answer-key`; do not edit.\n")
    entries = dict(re.findall(r'^"(\S+)": (\[.*\]),$', text, re.MULTILINE))
    assert list(entries) == [question.id for question in QUESTIONS]
    for name, entry in entries.items():
        shown = [text.replace("π", "pi").replace("β", "beta") for text in json.loads(entry)]
        assert shown == [key[name]["answer"], key[name]["experiment"]]
    assert "π(7)" in text and "β = 1" in text and "pi(" not in text and "beta" not in text


def test_the_answers_speak_to_a_student(key):
    for answer in key.values():
        for word in ("student", "instructor", "Do not ask", "Show it", "answer key", "kl_coef"):
            assert word not in answer["answer"] + answer["experiment"], (answer["id"], word)


def test_a_changed_model_answer_is_noticed_and_written_again(tmp_path, monkeypatch, capsys):
    for name in ("ANSWERS_PATH", "BROWSER_PATH", "MEASURED_PATH"):
        monkeypatch.setattr(answer_key, name, tmp_path / name)
    monkeypatch.setattr(command, "SEEDS", 30)
    monkeypatch.setattr(command, "PARTS", (answer_key.first_look, answer_key.reflection))
    assert command.run(Namespace(check=True)) == 1
    assert capsys.readouterr().out.count("stale") == 3
    assert command.run(Namespace(check=False)) == 0
    assert command.run(Namespace(check=True)) == 0


def test_there_is_an_answer_to_every_question_of_the_worksheet(key):
    asked = ["1A.1", "1A.2", "1B.1", "1B.2", "1B.3", "1C.1", "1C.2", "1C.3", "1D.1", "1D.2", "1E.1", "1E.2", "1E.3"]
    assert list(key) == [*asked, "1F.1", "1F.2", "bonus", "extra"]
    assert all(answer["question"] and answer["answer"] for answer in key.values())


def test_the_numbers_show_what_the_answers_say_and_three_offer_another_experiment(key):
    assert [name for name, answer in key.items() if answer["experiment"]] == ["1E.2", "bonus", "extra"]
    assert key["1E.2"]["measured"]["smoothest: GRPO"] < 0.05
    assert key["1E.2"]["measured"]["rewards + 5, finds the peak: REINFORCE"] < 0.5
    assert key["bonus"]["measured"]["kl_coef 0.3, 500 steps"][1] > 0.95
    assert key["bonus"]["measured"]["kl_coef 1, 500 steps"][1] < 0.6
    assert key["1D.2"]["measured"]["range of G = 32 below that of G = 2"] > 0.99
    assert key["1D.2"]["measured"]["G = 2, pi(7) below 0.5"] > 0.1
    found = [key["extra"]["measured"][f"G = {size}"] for size in (2, 4, 8, 16, 32, 64)]
    assert found == sorted(found)


def test_without_division_by_std_the_policy_settles_where_theory_says(key):
    measured = key["bonus"]["measured"]["kl_coef 0.3, no division by std, G = 32, 500 steps"][1]
    rewards = np.array(single_peak())
    gibbs = np.exp(rewards * (1 - 1 / 32) / 0.3)
    assert measured == pytest.approx(gibbs[6] / gibbs.sum(), abs=0.01)
