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

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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

from grader.commands import course as course_command
from grader.core import course
from grader.core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, CheckResult, ExerciseResult
from grader.worksheet import grade as worksheet
from grader.worksheet import questions as worksheet_questions
from grader.worksheet import replay as replaying
from grader.worksheet.questions import QUANTITIES, QUESTIONS, RUN_TABLES, RUNS
from grader.worksheet.reader import WorksheetError, WorksheetFile, parse, read_worksheet
from grader.workshop import golden


@pytest.fixture
def right() -> Document:
    return right_worksheet()


@pytest.fixture(autouse=True)
def _simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "simulate", simulate)


def play_again(document: Document, name: str, *, seed: int) -> None:
    """Record a run with another seed; by the grader's own simulation, where the seeds are what is tested."""
    (run,) = (run for run in RUNS if run.id == name)
    truth = replaying._quantities(run, simulated(run.settings, seed, run.steps))
    run_of(document, name).update(seed=seed, values={quantity: truth[quantity] for quantity in run.values})


def failed(result: ExerciseResult) -> CheckResult:
    """The one check that did not pass."""
    (found,) = (check for check in result.checks if check.outcome != PASSED)
    return found


# The table, and its twin in the browser


def test_the_points_are_30_all_of_them_for_numbers_and_the_bonus_has_none() -> None:
    checks = worksheet.checks().values()
    assert sum(check.points for check in checks) == 30
    points = {table.id: table.points for table in RUN_TABLES}
    assert points.pop("runs_1b") == points.pop("runs_1c") == points.pop("policy_1c") == 5
    assert points == {"runs_1d_g2": 3, "runs_1d_g8": 3, "runs_1d_g32": 3, "runs_1e": 6}
    assert worksheet.checks()["worksheet.bonus"].points == 0
    assert all(check.hints and check.explanation for check in checks)


def test_the_command_notices_a_stale_table_of_the_browser_and_repairs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = golden.WORKSHEET_PATH.read_text("utf-8")
    assert text.startswith("// Written by `course dev golden`; do not edit.\n")
    changed = tmp_path / "worksheet_runs.mjs"
    changed.write_text(text.replace('"groupSize": 32', '"groupSize": 31', 1), "utf-8")
    monkeypatch.setattr(golden, "WORKSHEET_PATH", changed)
    monkeypatch.setattr(golden, "make", lambda: golden.PATH.read_text("utf-8"))
    assert course_command.main(["dev", "golden", "--check"]) == 1
    assert "worksheet_runs.mjs is stale: run `course dev golden`" in capsys.readouterr().out
    assert course_command.main(["dev", "golden"]) == 0
    assert changed.read_text("utf-8") == text


# Runs


def test_three_digits_are_as_good_as_all(right: Document) -> None:
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


def numbers_of(document: Document) -> list[tuple[str, str, int | None]]:
    """Where every recorded number stands: run, quantity, place in its list."""
    return [
        (entry["id"], name, place)
        for entry in document["runs"]
        for name, value in entry["values"].items()
        for place in (range(len(value)) if isinstance(value, list) else (None,))
    ]


def test_every_wrong_digit_is_named_with_the_right_number_and_costs_the_points_of_its_check(right: Document) -> None:
    tried = 0
    names = {run.id: run.name for run in RUNS}
    for name, quantity, place in numbers_of(right):
        values = run_of(right, name)["values"]
        number = values[quantity] if place is None else values[quantity][place]
        for wrong in changed_digits(number):
            document = copy.deepcopy(right)
            if place is None:
                run_of(document, name)["values"][quantity] = wrong
            else:
                run_of(document, name)["values"][quantity][place] = wrong
            result = graded(document)
            check = check_of(result, "bonus") if name == "bonus.run" else failed(result)
            shown = ["never" if each is None else f"{each:.3f}".removesuffix(".000") for each in (number, wrong)]
            story = check.story.replace(".000", "").removeprefix("not counted: ")
            words = QUANTITIES[quantity].words + ("" if place is None else f" {place + 1}")
            seed = run_of(right, name)["seed"]
            assert story == f"{names[name]}, {words}: seed {seed} gives {shown[0]}; the worksheet says {shown[1]}"
            assert check.earned == 0 and check.outcome == (PASSED if name == "bonus.run" else FAILED)
            tried += 1
    assert tried > 150


@pytest.mark.parametrize(("off", "passes"), [(0.0005, True), (-0.0005, True), (0.000501, False), (-0.000501, False)])
def test_a_value_is_right_within_half_of_the_last_decimal(off: float, passes: bool) -> None:
    document = json.loads(with_all_digits())
    run_of(document, "1D.G8.trial2")["values"]["best_probability"] += off
    assert (graded(document).earned == 30) is passes


def test_a_run_of_other_settings_is_named(right: Document) -> None:
    run_of(right, "1D.G8.trial2")["settings"]["group_size"] = 16
    check = failed(graded(right))
    assert check.id == "worksheet.runs_1d_g8"
    assert check.story == "1D, G = 8, trial 2: the recorded run has group_size 16; this question asks for 8"


@pytest.mark.parametrize("name", [*asdict(worksheet_questions.DEFAULTS), "steps"])
@pytest.mark.parametrize("value", [10**15, 0.125, True, "all", None, [], {"a": 1}, "gone"])
def test_every_setting_must_be_the_one_that_is_asked_for(right: Document, name: str, value: Any) -> None:
    entry = run_of(right, "1C.policy")
    holder = entry if name == "steps" else entry["settings"]
    if value == holder[name] and type(value) is type(holder[name]):
        return  # it is the one: start_action is null, divide_by_std is true
    if value == "gone":
        del holder[name]
    else:
        holder[name] = value
    check = failed(graded(right))
    assert check.id == "worksheet.policy_1c"
    assert name in check.story and len(check.story) < 150


def test_a_setting_that_the_simulation_does_not_have_is_named(right: Document) -> None:
    run_of(right, "1C.policy")["settings"]["momentum"] = 0.9
    assert 'setting "momentum"' in failed(graded(right)).story


def test_a_file_cannot_make_the_grader_simulate_anything_else(right: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = []

    def watched(settings: Any, *, seeds: Any, steps: int) -> Any:
        simulated.append((settings, steps))
        return simulate(settings, seeds=seeds, steps=steps)

    monkeypatch.setattr(replaying, "simulate", watched)
    for entry in right["runs"]:
        entry["steps"] = 10**9
        entry["settings"] |= {"group_size": 10**9, "inner_steps": 10**9, "reward_table": [1.0] * 1000}
    run_of(right, "1C.try1").update(steps=50, settings=run_of(json.loads(with_all_digits()), "1C.try1")["settings"])
    result = graded(right)
    assert result.earned == 0
    assert simulated == [(worksheet_questions.DEFAULTS, 50)]


@pytest.mark.parametrize(
    ("name", "other", "check"),
    [
        ("1C.try3", "1C.try1", "runs_1c"),
        ("1D.G2.trial2", "1D.G2.trial1", "runs_1d_g2"),
        ("1D.G32.trial3", "1D.G32.trial2", "runs_1d_g32"),
    ],
)
def test_the_same_seed_twice_is_named_where_seeds_must_differ(
    right: Document, name: str, other: str, check: str
) -> None:
    run_of(right, name).update(seed=run_of(right, other)["seed"], values=run_of(right, other)["values"])
    found = failed(graded(right))
    names = {run.id: run.name for run in RUNS}
    assert found.id == f"worksheet.{check}"
    seed = run_of(right, other)["seed"]
    assert found.story == f"{names[name]}: its seed {seed} is that of {names[other]}; each run needs its own"


def test_one_seed_may_serve_several_group_sizes_and_both_runs_of_1b(right: Document) -> None:
    play_again(right, "1B.second", seed=run_of(right, "1B.first")["seed"])
    for size in (2, 8, 32):
        for number in (1, 2, 3):
            play_again(right, f"1D.G{size}.trial{number}", seed=number)
            play_again(right, f"1C.try{number}", seed=number)
    assert graded(right).earned == 30


def test_another_seed_among_the_algorithms_is_named(right: Document) -> None:
    play_again(right, "1E.reinforce", seed=8)
    check = failed(graded(right))
    assert check.story == "1E, REINFORCE: its seed is 8, that of 1E, GRPO is 7; take the same one"


@pytest.mark.parametrize("table", RUN_TABLES, ids=lambda table: table.id)
def test_missing_runs_are_named_and_without_any_the_table_is_not_written(right: Document, table: Any) -> None:
    for number, run in enumerate(table.runs, 1):
        right["runs"].remove(run_of(right, run.id))
        check = failed(graded(right))
        assert check.id == f"worksheet.{table.id}"
        if number < len(table.runs):
            assert check.outcome == FAILED and f"{run.name}: not recorded yet" in said(check)
        else:
            assert check.outcome == NOT_WRITTEN and table.name in check.story


def test_values_without_a_seed_and_a_seed_without_values_earn_nothing(right: Document) -> None:
    for entry in right["runs"]:
        entry["seed"] = None
    result = graded(right)
    assert result.earned == 0
    assert "there is no seed beside the numbers" in said(check_of(result, "runs_1d_g2"))
    bare = json.loads(with_all_digits())
    for entry in bare["runs"]:
        entry["values"] = {}
    result = graded(bare)
    assert result.earned == 0
    assert "nothing is recorded as pi(7)" in said(check_of(result, "runs_1d_g2"))
    assert "nothing is recorded as actions and advantages" in said(check_of(result, "runs_1b"))


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


def test_a_wrong_bonus_is_not_counted_and_no_failure(right: Document) -> None:
    run_of(right, "bonus.run")["values"]["best_probability"] = 0.5
    result = graded(right)
    assert all(check.outcome == PASSED for check in result.checks) and result.earned == 30
    assert check_of(result, "bonus").story.startswith("not counted: the bonus run")
    right["runs"].remove(run_of(right, "bonus.run"))
    answer_of(right, "bonus")["answer"] = ""
    result = graded(right)
    assert check_of(result, "bonus").story == "not tried" and result.earned == 30


# Written answers


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n ",
        "no",
        "x" * 20_000,
        "word " * 4_000,
        QUESTIONS[0].text,
        "Here, in 1A.2, action 7 gains slowly.",  # the same as that to 1A.2
        "所有奖励相同\uff0c优势为零\uff0c没有学习信号。",
        INVISIBLE,
    ],
)
def test_a_written_answer_earns_nothing_and_costs_nothing_whatever_it_says(right: Document, text: str) -> None:
    for points, runs in ((30, right["runs"]), (0, [])):
        document = {**copy.deepcopy(right), "runs": runs}
        answer_of(document, "1A.1")["answer"] = answer_of(document, "bonus")["answer"] = text
        result = graded(document)
        assert result.earned == points
        assert points == 0 or all(check.outcome == PASSED for check in result.checks)


def test_the_grader_knows_the_questions_as_the_page_asks_them() -> None:
    text = (course.ROOT / worksheet_questions.PAGE).read_text("utf-8")
    blocks = re.findall(r"^/// html \| grpo-question\n +attrs: \{name: \"(.+?)\"\}\n(.+?)\n///$", text, re.M | re.S)
    on_the_page = {name: " ".join(block.split()) for name, block in blocks}
    in_the_grader = {
        each.id: f"**{each.id.replace('bonus', 'Bonus')}**{{ .grpo-number }} {each.text}" for each in QUESTIONS
    }
    assert list(on_the_page) == list(in_the_grader)
    other = [name for name, text in in_the_grader.items() if on_the_page[name] != text]
    to_change = f"{', '.join(other)} in {worksheet_questions.PAGE} or in QUESTIONS of grader/worksheet/questions.py"
    assert not other, f"the page and the grader ask different questions: change {to_change}"


# Files


def test_no_file_says_where_to_get_it(tmp_path: Path) -> None:
    file = read_worksheet(tmp_path / "worksheet.json")
    result = worksheet.grade(file)
    assert file.missing and result.earned == 0
    assert {check.outcome for check in result.checks} == {NOT_WRITTEN}
    (story,) = {check.story for check in result.checks}
    assert 'press "Download answers (JSON)" on the worksheet page' in story and "beside your modules" in story


def test_a_second_download_under_another_name_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "worksheet (1).json").write_text("{}", "utf-8")
    file = read_worksheet(tmp_path / "worksheet.json")
    assert file.missing
    assert file.problem == "there is no worksheet.json, but worksheet (1).json: rename it to worksheet.json"


@pytest.mark.parametrize(("wrong", "named"), [(2, True), (1, True), (None, False)])
def test_too_few_decimals_are_named(right: Document, wrong: int | None, named: bool) -> None:
    entry = next(entry for entry in right["runs"] if entry["id"] == "1D.G2.trial1")
    exact = entry["values"]["best_probability"]
    entry["values"]["best_probability"] = exact + 0.0123 if wrong is None else round(exact, wrong)
    check = next(check for check in graded(right).checks if check.id == "worksheet.runs_1d_g2")
    assert check.outcome == FAILED
    assert ("with fewer decimals: three are asked for" in check.story) is named


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


def test_files_of_ten_megabytes_are_refused_before_they_are_read_whole(tmp_path: Path, right: Document) -> None:
    path = tmp_path / "worksheet.json"
    path.write_text(json.dumps(right) + " " * 10_000_000, "utf-8")
    assert "larger than 2 MB" in refused(path)


@pytest.mark.parametrize("sign", ["策", "\u0001", "\ud800", '"'])
def test_every_answer_may_be_as_long_as_a_field_allows(tmp_path: Path, right: Document, sign: str) -> None:
    words = "Action 7 gains while the others lose. "
    for entry in right["answers"]:
        entry["answer"] = (f"{entry['id']} {words}" + sign * 20_000)[:20_000]
    path = tmp_path / "worksheet.json"
    written = json.dumps(right, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
    if sign == "\ud800":  # a browser writes halves of characters as \\ud800
        written = json.dumps(right, indent=1).encode()
    path.write_bytes(written)
    assert worksheet.grade(read_worksheet(path)).earned == 30


def test_what_else_the_page_keeps_in_the_file_is_left_alone(right: Document) -> None:
    right["cells"] = {"1C.policy": {"seed": "-5", "policy.1": "?"}}
    assert graded(right).earned == 30


def test_a_byte_order_mark_is_no_problem(tmp_path: Path, right: Document) -> None:
    path = tmp_path / "worksheet.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(right).encode())
    assert worksheet.grade(read_worksheet(path)).earned == 30


WELL_FORMED = '{"worksheet": "grpo-bandit", "version": 1, "answers": [], "runs": %s}'


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not JSON (line 1, column 1"),
        (b"{", "not JSON"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8 text (line 1)"),
        (b'{"a":\n\xff}', "not UTF-8 text (line 2)"),
        (b"[" * 100_000, "nested more than 8 deep"),
        (b'{"a":' * 100_000, "nested more than 8 deep"),
        (b"[" * 100_000 + b"]" * 100_000, "nested more than 8 deep"),
        (b'"' + b"[" * 100_000 + b'"', "must be an object, not text"),
        (b'"\\"' + b'\\"[' * 100_000, "not JSON"),
        (b"null", "must be an object, not null"),
        (b"[]", "must be an object, not a list"),
        (b"{}", "the file has no 'worksheet'"),
        (b"NaN", "NaN is no number"),
        (b"[-Infinity]", "-Infinity is no number"),
        (b"1e999", "1e999 is no number"),
        (b"[" + b"9" * 100_000 + b"]", "is no number that a worksheet can hold"),
        (b"0." + b"9" * 100_000, "is no number that a worksheet can hold"),
        (b'{"a": 1, "a": 2}', 'the key "a" stands twice'),
        (b'{"worksheet": "other", "version": 1, "answers": [], "runs": []}', 'this is worksheet "other", version 1'),
        (b'{"worksheet": "grpo-bandit", "version": 2, "answers": [], "runs": []}', 'reads "grpo-bandit", version 1'),
        (b'{"worksheet": "grpo-bandit", "version": true, "answers": [], "runs": []}', "version true"),
        (b'{"worksheet": ["x"], "version": {}, "answers": [], "runs": []}', "worksheet a list, version an object"),
        (b'{"worksheet": "grpo-bandit", "version": 1, "answers": {}, "runs": []}', "answers must be a list"),
        (WELL_FORMED % "null", "runs must be a list, not null"),
        (WELL_FORMED % '[{"id": "1C.try1", "id": "1C.try2"}]', 'the key "id" stands twice in one object'),
    ],
)
def test_what_is_no_worksheet_is_refused_with_a_sentence(tmp_path: Path, data: str | bytes, sentence: str) -> None:
    path = tmp_path / "worksheet.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    started = time.thread_time()  # other tests that run at the same time do not count
    assert sentence in refused(path)
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"seed": True}, "runs[3].seed must be a whole number from 0 to 4294967295, not true"),
        ({"seed": -1}, "runs[3].seed must be a whole number from 0 to 4294967295, not -1"),
        ({"seed": 2**32}, "runs[3].seed must be a whole number from 0 to 4294967295, not 4294967296"),
        ({"seed": 7.5}, "not 7.5"),
        ({"seed": 1e300}, "not 1e+300"),
        ({"seed": -1.0}, "not -1.0"),
        ({"seed": "7"}, 'not "7"'),
        ({"seed": [7]}, "not a list"),
        ({"settings": []}, "runs[3].settings must be an object, not a list"),
        ({"values": 3}, "runs[3].values must be an object, not a number"),
        ({"values": {"steps_to_half": "20"}}, 'runs[3].values.steps_to_half must be a whole number, not "20"'),
        ({"values": {"steps_to_half": True}}, "must be a whole number, not true"),
        ({"values": {"steps_to_half": 20.5}}, "must be a whole number, not 20.5"),
        ({"values": {"steps_to_half": [20]}}, "must be a whole number, not a list"),
        ({"values": {"steps_to_half": {}}}, "must be a whole number, not an object"),
    ],
)
def test_one_malformed_run_is_named_with_its_place_and_the_rest_counts(
    right: Document, change: Document, sentence: str
) -> None:
    assert right["runs"][3]["id"] == "1C.try2"
    right["runs"][3].update(change)
    result = graded(right)
    check = failed(result)
    assert check.story.startswith("1C, try 2: runs[3]") and sentence in check.story
    assert result.earned == 25


def test_whole_numbers_may_have_a_point(right: Document) -> None:
    right["version"] = 1.0
    for entry in right["runs"]:
        entry["seed"], entry["steps"] = float(entry["seed"]), float(entry["steps"])
        entry["settings"]["group_size"] = float(entry["settings"]["group_size"])
        for name, value in entry["values"].items():
            if QUANTITIES[name].whole and value is not None:
                entry["values"][name] = [float(each) for each in value] if isinstance(value, list) else float(value)
    assert graded(right).earned == 30
    run_of(right, "1C.try1").update(seed=7.0, values={"steps_to_half": 3.0})
    assert re.fullmatch(r"1C, try 1, .+: seed 7 gives \d+; the worksheet says 3", failed(graded(right)).story)


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (7, "must be an object, not a number"),
        ({}, "its id is null, which this worksheet does not have"),
        ({"id": ["1C.try1"]}, "its id is a list, which this worksheet does not have"),
        ({"id": "1D.G5.trial1", "seed": 1}, 'its id is "1D.G5.trial1", which this worksheet does not have'),
        ({"id": "x" * 9_000}, "which this worksheet does not have"),
        ({"id": "\x1b[31m\u202e\ud800<b>"}, 'its id is "<b>", which this worksheet does not have'),
    ],
)
@pytest.mark.parametrize("place", ["answers", "runs"])
def test_what_the_worksheet_does_not_ask_for_is_named_once_and_the_rest_counts(
    right: Document, place: str, entry: Any, what: str
) -> None:
    right[place].insert(1, entry)
    result = graded(right)
    check = failed(result)
    assert check.id == "worksheet.file" and check.story.startswith(f"{place}[1]: ") and what in check.story
    assert len(check.story) < 200 and result.earned == result.points == 30
    right[place] += [entry] * 50
    check = failed(graded(right))
    assert check.story == "51 places are wrong" and check.rows[-1] == ("and", "45 more")


def test_of_two_entries_with_one_id_neither_counts_and_the_rest_does(right: Document) -> None:
    right["runs"].append(copy.deepcopy(run_of(right, "1D.G8.trial2")))
    check = failed(graded(right))
    assert check.id == "worksheet.runs_1d_g8"
    assert check.story == '1D, G = 8, trial 2: runs[19].id is "1D.G8.trial2" again; there may be one of each'
    right["answers"] += [{"id": "1A.2", "answer": 7}, {"id": "1A.2", "answer": "and another one, the third"}]
    result = graded(right)
    assert result.earned == 27
    assert check_of(result, "file").story == '1A.2: answers[14].id is "1A.2" again; there may be one of each'


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1, 2, 3], "runs[0].values.actions must have 8 numbers, not 3"),
        (7, "runs[0].values.actions must be a list of 8 numbers, not a number"),
        ([1, 2, 3, 4, 5, 6, 7, None], "runs[0].values.actions[7] must be a whole number, not null"),
        ([1, 2, 3, 4, 5, 6, 7, [8]], "runs[0].values.actions[7] must be a whole number, not a list"),
    ],
)
def test_lists_must_have_their_length_and_kind(right: Document, values: Any, sentence: str) -> None:
    right["runs"][0]["values"]["actions"] = values
    assert failed(graded(right)).story == f"1B, first run: {sentence}"


@pytest.mark.parametrize(
    ("number", "shown"), [(10**30, "1e+30"), (-1e308, "-1e+308"), (0.96712345, "0.967123"), (-0.0, "0.000"), (3, "3")]
)
def test_a_wrong_number_is_shown_as_it_was_written_and_short(right: Document, number: float, shown: str) -> None:
    run_of(right, "1C.policy")["values"]["policy"][6] = number
    assert failed(graded(right)).story.endswith(f"; the worksheet says {shown}")


def test_a_malformed_answer_is_named_with_its_place_and_costs_no_point(right: Document) -> None:
    right["answers"][1]["answer"] = 7
    right["answers"][3]["answer"] = "word " * 5_000
    result = graded(right)
    assert result.earned == 30
    assert failed(result).rows == [
        ("1A.2", "answers[1].answer must be text, not a number"),
        ("1B.2", "answers[3].answer has more than 20,000 characters"),
    ]


# Whatever the file holds

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


def ends_well(data: bytes) -> None:
    """Either one short sentence, or a result with a short sentence for each check."""
    try:
        content = parse(data)
    except WorksheetError as error:
        refusal = str(error)
        assert 0 < len(refusal) < 400
        return
    result = worksheet.grade(WorksheetFile("0" * 64, content))
    assert 0 <= result.earned <= 30
    for check in result.checks:
        assert check.outcome in (PASSED, FAILED, NOT_WRITTEN)
        assert check.outcome == PASSED or check.story
        assert all(len(line) < 400 for line in (check.story, *(text for _, text in check.rows)))


@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_sentence(data: bytes) -> None:
    ends_well(data)


@given(JSON)
def test_any_json_ends_in_a_sentence(value: Any) -> None:
    ends_well(json.dumps(value).encode())


@settings(max_examples=150)
@given(st.data())
def test_a_right_worksheet_with_anything_in_any_place_ends_well(data: st.DataObject) -> None:
    document = json.loads(with_all_digits())
    for _ in range(data.draw(st.integers(1, 3))):
        node: Any = document
        while True:
            keys = sorted(node) if isinstance(node, dict) else range(len(node))
            if not keys:
                break
            key = data.draw(st.sampled_from(list(keys)))
            if not isinstance(node[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
                if isinstance(node, dict) and data.draw(st.integers(0, 5)) == 0:
                    del node[key]
                else:
                    node[key] = data.draw(JSON)
                break
            node = node[key]
    ends_well(json.dumps(document).encode())


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_answer_and_question_end_well(question: str, text: str) -> None:
    entry = {"id": "1A.1", "question": question, "answer": text}
    ends_well(json.dumps({"worksheet": "grpo-bandit", "version": 1, "answers": [entry], "runs": []}).encode())
