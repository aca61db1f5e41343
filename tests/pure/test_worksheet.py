"""The worksheet: every way to get its runs and answers wrong, and hostile files.

Runs that the browser's simulation played are in `commands/test_worksheet_twin.py`.
"""

from __future__ import annotations

import copy
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from worksheets import (
    INVISIBLE,
    Document,
    answer_of,
    check_of,
    graded,
    handed_in,
    right_worksheet,
    run_of,
    said,
    simulate,
    simulated,
    with_all_digits,
)

from grader.core import course
from grader.core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, CheckResult, ExerciseResult
from grader.oracles import simulation as oracles
from grader.worksheet import grade as worksheet
from grader.worksheet import questions as worksheet_questions
from grader.worksheet import replay as replaying
from grader.worksheet.model_answers import model_answers
from grader.worksheet.questions import QUANTITIES, QUESTIONS, RUN_TABLES, RUNS, Run
from grader.worksheet.reader import read_worksheet


@pytest.fixture
def right() -> Document:
    return right_worksheet()


@pytest.fixture(autouse=True)
def _simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "simulate", simulate)


@pytest.mark.parametrize("run", {(run.settings, run.steps): run for run in RUNS}.values(), ids=lambda run: run.id)
def test_the_runs_are_those_of_the_whole_simulation(run: Run) -> None:
    ours, whole = simulated(run.settings, 11, run.steps), oracles.simulate(run.settings, seeds=[11], steps=run.steps)
    assert (ours.actions == whole.actions[0]).all()
    assert ours.probabilities == pytest.approx(whole.probabilities[0], abs=1e-9)
    if run.settings.algorithm == "grpo":
        rewards = np.array(run.settings.reward_table)[ours.actions]
        assert ours.advantages == pytest.approx(oracles.group_advantages(rewards), abs=1e-12)


def play_again(document: Document, name: str, *, seed: int) -> None:
    """Record a run with another seed; by the grader's own simulation, where the seeds are what is tested."""
    (run,) = (run for run in RUNS if run.id == name)
    truth = replaying._quantities(run, simulated(run.settings, seed, run.steps))
    run_of(document, name).update(seed=seed, values={quantity: truth[quantity] for quantity in run.values})


def failed(result: ExerciseResult) -> CheckResult:
    """The one check that did not pass."""
    (found,) = (check for check in result.checks if check.outcome != PASSED)
    return found


def test_the_points_are_30_all_of_them_for_numbers_and_the_bonus_has_none() -> None:
    checks = worksheet.checks().values()
    assert sum(check.points for check in checks) == 30
    points = {table.id: table.points for table in RUN_TABLES}
    assert points.pop("runs_1b") == points.pop("runs_1c") == points.pop("policy_1c") == 5
    assert points == {"runs_1d_g2": 3, "runs_1d_g8": 3, "runs_1d_g32": 3, "runs_1e": 6}
    assert worksheet.checks()["worksheet.bonus"].points == 0
    assert all(check.hints and check.explanation for check in checks)


# Runs


def test_three_decimals_are_enough(right: Document) -> None:
    for document in (right, json.loads(with_all_digits())):
        result = graded(document)
        assert [said(check) for check in result.checks if check.outcome != PASSED] == []
        assert (result.earned, result.points) == (30, 30)


def changed_digits(number: float | int | None) -> Iterator[float | int | None]:
    """A number with each of its digits changed in turn; "never" becomes a number, and the other way round."""
    if number is None or isinstance(number, int):
        yield from (5, 12) if number is None else (number + 1 if number < 10 else number - 1,)
        return
    text = f"{number:.3f}"
    for place, digit in enumerate(text):
        if digit.isdigit():
            yield float(text[:place] + str((int(digit) + 5) % 10) + text[place + 1 :])


def test_every_wrong_digit_is_named_with_the_right_number_and_costs_the_points_of_its_check(right: Document) -> None:
    names = {run.id: run.name for run in RUNS}
    tried = 0
    for entry in right["runs"]:
        for quantity, values in entry["values"].items():
            for place in range(len(values)) if isinstance(values, list) else (None,):
                number = values if place is None else values[place]
                wrong = [*changed_digits(number)][tried % 3 :][:1] or [*changed_digits(number)][:1]
                document = copy.deepcopy(right)
                changed = run_of(document, entry["id"])["values"]
                if place is None:
                    changed[quantity] = wrong[0]
                else:
                    changed[quantity][place] = wrong[0]
                result = graded(document)
                is_bonus = entry["id"] == "bonus.run"
                check = check_of(result, "bonus") if is_bonus else failed(result)
                shown = ["never" if each is None else f"{each:.3f}".removesuffix(".000") for each in (number, *wrong)]
                message = check.message.replace(".000", "")
                words = QUANTITIES[quantity].words + ("" if place is None else f" {place + 1}")
                assert f"{names[entry['id']]}, {words}" in message
                assert re.search(rf"{entry['seed']}\b.*{re.escape(shown[0])}\b.*{re.escape(shown[1])}$", message)
                assert check.earned == 0 and check.outcome == (PASSED if is_bonus else FAILED)
                tried += 1
    assert tried > 40


@pytest.mark.parametrize(("off", "passes"), [(0.0005, True), (-0.0005, True), (0.000501, False), (-0.000501, False)])
def test_a_value_is_right_within_half_of_the_last_decimal(off: float, passes: bool) -> None:
    document = json.loads(with_all_digits())
    run_of(document, "1D.G8.trial2")["values"]["best_probability"] += off
    assert (graded(document).earned == 30) is passes


@pytest.mark.parametrize("name", [*asdict(worksheet_questions.DEFAULTS), "steps"])
def test_every_setting_must_be_the_requested_one(right: Document, name: str) -> None:
    entry = run_of(right, "1C.policy")
    holder = entry if name == "steps" else entry["settings"]
    asked = holder[name]
    values: tuple[Any, ...] = (10**15, 0.125, True, "all", None, [], {"a": 1})
    for value in values:
        if value == asked and type(value) is type(asked):
            continue  # start_action is null, divide_by_std is true
        holder[name] = value
        check = failed(graded(right))
        assert check.id == "worksheet.policy_1c" and name in check.message and len(check.message) < 150
    del holder[name]
    assert name in failed(graded(right)).message
    holder[name] = asked
    entry["settings"]["momentum"] = 0.9
    assert "momentum" in failed(graded(right)).message


def test_a_file_cannot_choose_what_the_grader_simulates(right: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = []

    def watched(settings: Any, *, seed: int, steps: int) -> Any:
        simulated.append((settings, steps))
        return simulate(settings, seed=seed, steps=steps)

    monkeypatch.setattr(replaying, "simulate", watched)
    for entry in right["runs"]:
        entry["steps"] = 10**9
        entry["settings"] |= {"group_size": 10**9, "inner_steps": 10**9, "reward_table": [1.0] * 1000}
    run_of(right, "1C.try1").update(steps=50, settings=run_of(json.loads(with_all_digits()), "1C.try1")["settings"])
    result = graded(right)
    assert result.earned == 0
    assert simulated == [(worksheet_questions.DEFAULTS, 50)]


@pytest.mark.parametrize(
    ("name", "other", "check"), [("1C.try3", "1C.try1", "runs_1c"), ("1D.G2.trial2", "1D.G2.trial1", "runs_1d_g2")]
)
def test_the_same_seed_twice_is_named_where_seeds_must_differ(right, name, other, check):
    run_of(right, name).update(seed=run_of(right, other)["seed"], values=run_of(right, other)["values"])
    found = failed(graded(right))
    names = {run.id: run.name for run in RUNS}
    assert found.id == f"worksheet.{check}"
    assert found.message.startswith(names[name]) and names[other] in found.message


def test_one_seed_may_serve_several_group_sizes_and_both_runs_of_1b(right: Document) -> None:
    play_again(right, "1B.second", seed=run_of(right, "1B.first")["seed"])
    for size in (2, 8, 32):
        for number in (1, 2, 3):
            play_again(right, f"1D.G{size}.trial{number}", seed=number)
            play_again(right, f"1C.try{number}", seed=number)
    assert graded(right).earned == 30


def test_another_seed_among_the_algorithms_is_named(right: Document) -> None:
    play_again(right, "1E.reinforce", seed=8)
    assert re.search(r"REINFORCE.* 8.*GRPO.* 7", failed(graded(right)).message)


@pytest.mark.parametrize("table", RUN_TABLES, ids=lambda table: table.id)
def test_missing_runs_are_named_and_a_table_without_runs_is_not_written(right: Document, table: Any) -> None:
    for number, run in enumerate(table.runs, 1):
        right["runs"].remove(run_of(right, run.id))
        check = failed(graded(right))
        assert check.id == f"worksheet.{table.id}"
        if number < len(table.runs):
            assert check.outcome == FAILED and run.name in said(check)
        else:
            assert check.outcome == NOT_WRITTEN and table.name in check.message


def test_values_without_a_seed_and_a_seed_without_values_earn_nothing(right: Document) -> None:
    bare = copy.deepcopy(right)
    for entry, other in zip(right["runs"], bare["runs"], strict=True):
        entry["seed"], other["values"] = None, {}
    for document in (right, bare):
        result = graded(document)
        assert result.earned == 0
        assert {check.outcome for check in result.checks if check.points} == {FAILED}


def test_an_empty_export_earns_nothing_and_is_not_written(right: Document) -> None:
    for entry in right["answers"]:
        entry["answer"] = " \n"
    for entry in right["runs"]:
        entry["seed"] = None
        entry["values"] = {
            name: [None] * len(value) if isinstance(value, list) else None for name, value in entry["values"].items()
        }
    for document in (right, {**right, "answers": [], "runs": []}):
        result = graded(document)
        assert result.earned == 0
        assert {check.outcome for check in result.checks if check.points} == {NOT_WRITTEN}


def test_a_wrong_bonus_costs_nothing(right: Document) -> None:
    run_of(right, "bonus.run")["values"]["best_probability"] = 0.5
    result = graded(right)
    assert all(check.outcome == PASSED for check in result.checks) and result.earned == 30
    assert "0.5" in check_of(result, "bonus").message
    right["runs"].remove(run_of(right, "bonus.run"))
    answer_of(right, "bonus")["answer"] = ""
    result = graded(right)
    assert check_of(result, "bonus").message and result.earned == 30


# Written answers


def test_a_written_answer_earns_nothing_and_costs_nothing_whatever_it_says(right: Document) -> None:
    for text in ("", " \t\n ", "no", "x" * 20_000, "word " * 4_000, QUESTIONS[0].text, "所有奖励相同", INVISIBLE):
        for points, runs in ((30, right["runs"]), (0, [])):
            document = {**copy.deepcopy(right), "runs": runs}
            answer_of(document, "1A.1")["answer"] = answer_of(document, "bonus")["answer"] = text
            result = graded(document)
            assert result.earned == points
            assert points == 0 or all(check.outcome == PASSED for check in result.checks)


def test_the_grader_and_the_page_ask_the_same_questions() -> None:
    text = (course.ROOT / worksheet_questions.PAGE).read_text("utf-8")
    blocks = re.findall(r"^/// html \| grpo-question\n +attrs: \{name: \"(.+?)\"\}\n(.+?)\n///$", text, re.M | re.S)
    on_the_page = {name: " ".join(block.split()) for name, block in blocks}
    in_the_grader = {
        each.id: f"**{each.id.replace('bonus', 'Bonus')}**{{ .grpo-number }} {each.text}" for each in QUESTIONS
    }
    assert list(on_the_page) == list(in_the_grader)
    assert on_the_page == in_the_grader, f"change {worksheet_questions.PAGE} or grader/worksheet/questions.py"


def test_every_question_has_a_model_answer() -> None:
    answers = model_answers()
    assert {question.id for question in QUESTIONS} <= {*answers}
    assert all(answer.question and answer.answer for answer in answers.values())


# Files


def test_without_a_file_nothing_is_written_and_another_name_is_pointed_at(tmp_path: Path) -> None:
    file = read_worksheet(tmp_path / "worksheet.json")
    result = worksheet.grade(file)
    assert file.missing and result.earned == 0
    assert {check.outcome for check in result.checks} == {NOT_WRITTEN}
    (message,) = {check.message for check in result.checks}
    assert "Download answers (JSON)" in message
    (tmp_path / "worksheet (1).json").write_text("{}", "utf-8")
    file = read_worksheet(tmp_path / "worksheet.json")
    assert file.missing and "worksheet (1).json" in file.problem


@pytest.mark.parametrize(("wrong", "named"), [(2, True), (1, True), (None, False)])
def test_too_few_decimals_are_named(right: Document, wrong: int | None, named: bool) -> None:
    values = run_of(right, "1D.G2.trial1")["values"]
    exact = values["best_probability"]
    values["best_probability"] = exact + 0.0123 if wrong is None else round(exact, wrong)
    check = failed(graded(right))
    assert check.id == "worksheet.runs_1d_g2" and ("decimals" in check.message) is named


def refused(path: Path) -> str:
    """Why a file is not read."""
    file = read_worksheet(path)
    result = worksheet.grade(file)
    assert not file.missing and file.problem and result.earned == 0
    assert {check.outcome for check in result.checks} == {BROKEN}
    assert len(file.problem) < 450 and file.problem.isprintable()
    return file.problem


@pytest.mark.skipif(sys.platform == "win32", reason="makes links and a pipe")
def test_links_folders_and_devices_are_refused(tmp_path: Path, right: Document) -> None:
    path = tmp_path / "worksheet.json"
    real = handed_in(tmp_path / "else", right) / "worksheet.json"
    path.symlink_to(real)
    assert "symbolic link" in refused(path)
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    assert "symbolic link" in refused(path)
    path.unlink()
    path.mkdir()
    assert "not a file" in refused(path)
    path.rmdir()
    os.mkfifo(path)  # reading it would wait for ever
    assert "not a file" in refused(path)


@pytest.mark.parametrize("sign", ["策", "\u0001", "\ud800", '"'])
def test_every_answer_may_be_as_long_as_a_field_allows(tmp_path: Path, right: Document, sign: str) -> None:
    right["cells"] = {"1C.policy": {"seed": "-5", "policy.1": "?"}}  # what else the page keeps in the file
    for entry in right["answers"]:
        entry["answer"] = (f"{entry['id']} Action 7 gains. " + sign * 20_000)[:20_000]
    text = json.dumps(right, ensure_ascii=sign == "\ud800", indent=1)  # a browser writes lone surrogates escaped
    path = tmp_path / "worksheet.json"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert worksheet.grade(read_worksheet(path)).earned == 30


WELL_FORMED = '{"worksheet": "grpo-bandit", "version": 1, "answers": [], "runs": %s}'


@pytest.mark.parametrize(
    ("data", "phrase"),
    [
        (b"", "line 1"), (b"{", "JSON"), (b"\xff\xfe{\x00}\x00", "UTF-8"), (b'{"a":\n\xff}', "line 2"),
        (b"[" * 100_000, "8 levels deep"), (b"null", "null"), (b"[]", "list"), (b"{}", "worksheet"),
        (b"NaN", "NaN"), (b"[-Infinity]", "-Infinity"), (b"1e999", "1e999"),
        (b"[" + b"9" * 100_000 + b"]", "number"),
        (b'{"a": 1, "a": 2}', '"a"'),
        (b'{"worksheet": "other", "version": 1, "answers": [], "runs": []}', '"other"'),
        (b'{"worksheet": "grpo-bandit", "version": 2, "answers": [], "runs": []}', "version 2"),
        (b'{"worksheet": "grpo-bandit", "version": 1, "answers": {}, "runs": []}', "answers"),
        (WELL_FORMED % '[{"id": "1C.try1", "id": "1C.try2"}]', '"id"'),
    ],
)  # fmt: skip
def test_other_files_are_refused(tmp_path: Path, data: str | bytes, phrase: str) -> None:
    path = tmp_path / "worksheet.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    started = time.thread_time()  # other tests that run at the same time do not count
    assert phrase in refused(path)
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    ("change", "phrases"),
    [
        *(({"seed": seed}, ("seed", shown)) for seed, shown in (
            (True, "true"), (-1, "4294967295, not -1"), (2**32, "4294967296"), (7.5, "7.5"), (1e300, "1e+300"),
            ("7", '"7"'), ([7], "list"),
        )),
        ({"settings": []}, ("settings", "list")),
        ({"values": 3}, ("values", "number")),
        *(({"values": {"steps_to_half": value}}, ("values.steps_to_half", shown)) for value, shown in (
            ("20", '"20"'), (True, "true"), (20.5, "20.5"), ([20], "list"),
        )),
    ],
)  # fmt: skip
def test_one_malformed_run_is_named_with_its_place_and_the_rest_counts(right, change, phrases):
    assert right["runs"][3]["id"] == "1C.try2"
    right["runs"][3].update(change)
    result = graded(right)
    message = failed(result).message
    assert message.startswith("1C, try 2: runs[3]") and all(phrase in message for phrase in phrases)
    assert result.earned == 25


def test_of_two_entries_with_one_id_neither_counts_and_the_rest_does(right: Document) -> None:
    right["runs"].append(copy.deepcopy(run_of(right, "1D.G8.trial2")))
    check = failed(graded(right))
    assert check.id == "worksheet.runs_1d_g8"
    assert check.message.startswith('1D, G = 8, trial 2: runs[19].id repeats "1D.G8.trial2"')
    right["answers"] += [{"id": "1A.2", "answer": 7}, {"id": "1A.2", "answer": "and another one, the third"}]
    result = graded(right)
    assert result.earned == 27
    assert check_of(result, "file").message.startswith('1A.2: answers[14].id repeats "1A.2"')


def test_a_malformed_answer_is_named_with_its_place_and_costs_no_point(right: Document) -> None:
    right["answers"][1]["answer"] = 7
    right["answers"][3]["answer"] = "word " * 5_000
    result = graded(right)
    assert result.earned == 30
    one, other = failed(result).rows
    assert one[0] == "1A.2" and "answers[1].answer" in one[1]
    assert other[0] == "1B.2" and "answers[3].answer" in other[1] and "20,000" in other[1]
