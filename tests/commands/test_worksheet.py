"""The worksheet: runs that the browser's simulation played, every way to get them wrong, hostile files, the page."""

from __future__ import annotations

import copy
import functools
import html.parser
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from class_maker import zip_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from site_fixtures import cannot

import grader
from grader import cli, course, course_command, golden, worksheet, worksheet_command, worksheet_questions
from grader import worksheet_replay as replaying
from grader.exporters.plain_text import visible
from grader.exporters.worksheet_page import HandedIn, page
from grader.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, CheckResult, ExerciseResult
from grader.worksheet_questions import QUANTITIES, QUESTIONS, RUN_TABLES, RUNS
from grader.worksheet_reader import WorksheetError, WorksheetFile, parse, read_worksheet

Document = dict[str, Any]
SCHEMA = json.loads((Path(grader.__file__).parent / "result.schema.json").read_text("utf-8"))
CORE = course.ROOT / "docs" / "assets" / "js" / "core"
NODE = shutil.which("node")

# Plays the worksheet's runs with the simulation of the browser, which shares no code with the grader's.
PLAY = """
import { DEFAULTS, Simulation, singlePeak } from "CORE/bandit.mjs";
import { QUESTIONS, RUNS } from "CORE/worksheet_runs.mjs";
const first = (curve, level) => curve.some((p) => p > level) ? curve.findIndex((p) => p > level) : null;
const played = RUNS.map((slot, index) => {
  const seed = slot.id.startsWith("1E") ? 7 : 100 + index;
  const settings = { ...DEFAULTS, ...slot.settings, rewardTable: singlePeak() };
  const simulation = new Simulation(settings, { seed });
  const best = [simulation.policy[6]];
  const steps = [];
  while (simulation.steps < slot.steps) {
    steps.push(simulation.step());
    best.push(simulation.policy[6]);
  }
  const all = {
    actions: steps[0].actions, advantages: steps[0].advantages, policy: simulation.policy,
    bestProbability: best.at(-1), maxProbability: Math.max(...simulation.policy),
    stepsToHalf: first(best, 0.5), stepsTo90: first(best, 0.9),
  };
  const values = Object.fromEntries(slot.values.map((name) => [name, all[name]]));
  return { id: slot.id, seed, steps: slot.steps, settings, values };
});
console.log(JSON.stringify({ questions: QUESTIONS, runs: played }));
"""


# What the page downloads after its cells were filled: its own code, from the seed to the text of the file.
DOWNLOAD = """
import { cellOf, measure } from "CORE/worksheet_filling.mjs";
import { toJson } from "CORE/worksheet_files.mjs";
import { QUESTIONS, RUNS } from "CORE/worksheet_runs.mjs";
const seedOf = (slot, index) => slot.id.startsWith("1E") ? 7 : index;
const cells = RUNS.map((slot, index) => [slot.id, cellOf(seedOf(slot, index), measure(slot, seedOf(slot, index)))]);
const answers = QUESTIONS.map((id) => [id, `In ${id} the mean decides who gains.`]);
const state = { cells: Object.fromEntries(cells), answers: Object.fromEntries(answers) };
const empty = { cells: {}, answers: {} };
const questions = QUESTIONS.map((id) => ({ id, text: `${id} What do you see?` }));
console.log(JSON.stringify([toJson(state, questions), toJson(empty, questions)]));
"""


def snake_case(name: str) -> str:
    return re.sub(r"([A-Z]|(?<=[a-z])(?=[0-9]))", lambda found: f"_{found[0].lower()}", name)


def renamed(values: Document) -> Document:
    return {snake_case(name): value for name, value in values.items()}


def run_in_node(script: str) -> Any:
    """What a module prints, as JSON."""
    if NODE is None:
        cannot("node is missing")
    arguments = [NODE, "--input-type=module", "-e", script.replace("CORE", CORE.as_uri())]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@functools.cache
def played_in_the_browser() -> str:
    """What the page would export, but with all digits of the numbers."""
    found = run_in_node(PLAY)
    runs = [{**run, "settings": renamed(run["settings"]), "values": renamed(run["values"])} for run in found["runs"]]
    answers = [
        {"id": name, "question": f"What do you see in {name}?", "answer": f"Here, in {name}, action 7 gains slowly."}
        for name in found["questions"]
    ]
    return json.dumps({"worksheet": "grpo-bandit", "version": 1, "answers": answers, "runs": runs})


def three_decimals(value: Any) -> Any:
    if isinstance(value, list):
        return [three_decimals(number) for number in value]
    return round(value, 3) if isinstance(value, float) else value


@pytest.fixture
def right() -> Document:
    """A worksheet as the page exports it, with everything right."""
    document: Document = json.loads(played_in_the_browser())
    for entry in document["runs"]:
        entry["values"] = {name: three_decimals(value) for name, value in entry["values"].items()}
    return document


@pytest.fixture(autouse=True)
def _simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of gradings play the same runs; each is simulated once, for real."""
    monkeypatch.setattr(replaying, "simulate", lambda settings, *, seeds, steps: _simulated(settings, *seeds, steps))


_real_simulate = replaying.simulate


@functools.cache
def _simulated(settings: Any, seed: int, steps: int) -> Any:
    return _real_simulate(settings, seeds=[seed], steps=steps)


def run_of(document: Document, name: str) -> Document:
    (found,) = (entry for entry in document["runs"] if entry["id"] == name)
    return found


def play_again(document: Document, name: str, *, seed: int) -> None:
    """Record a run with another seed; by the grader's own simulation, where the seeds are what is tested."""
    (run,) = (run for run in RUNS if run.id == name)
    truth = replaying._quantities(run, _simulated(run.settings, seed, run.steps))
    run_of(document, name).update(seed=seed, values={quantity: truth[quantity] for quantity in run.values})


def answer_of(document: Document, name: str) -> Document:
    (found,) = (entry for entry in document["answers"] if entry["id"] == name)
    return found


def graded(document: Any) -> ExerciseResult:
    """What the grader says of a document."""
    try:
        file = WorksheetFile("0" * 64, parse(json.dumps(document).encode()))
    except WorksheetError as error:
        file = WorksheetFile("0" * 64, problem=str(error))
    return worksheet.grade(file)


def failed(result: ExerciseResult) -> CheckResult:
    """The one check that did not pass."""
    (found,) = (check for check in result.checks if check.outcome != PASSED)
    return found


def said(check: CheckResult) -> str:
    return " | ".join([check.story, *(f"{where}: {what}" for where, what in check.rows)])


def check_of(result: ExerciseResult, name: str) -> CheckResult:
    (found,) = (check for check in result.checks if check.id == f"worksheet.{name}")
    return found


def handed_in(folder: Path, document: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "worksheet.json").write_text(json.dumps(document), "utf-8")
    return folder


# The table, and its twin in the browser


def test_the_points_are_30_and_the_bonus_has_none() -> None:
    checks = worksheet.checks().values()
    assert sum(check.points for check in checks) == 30
    of_answers = [check.points for check in checks if "answer_" in check.id]
    assert of_answers == [1] * 12
    points = {table.id: table.points for table in RUN_TABLES}
    assert points.pop("runs_1b") == points.pop("runs_1c") == points.pop("policy_1c") == points.pop("runs_1e") == 3
    assert points == {"runs_1d_g4": 2, "runs_1d_g16": 2, "runs_1d_g32": 2}
    assert worksheet.checks()["worksheet.bonus"].points == 0
    assert all(check.hints and check.explanation for check in checks)


def test_the_browser_plays_the_settings_and_steps_that_the_grader_replays(right: Document) -> None:
    assert [entry["id"] for entry in right["answers"]] == [question.id for question in QUESTIONS]
    for run, entry in zip(RUNS, right["runs"], strict=True):
        asked = json.loads(json.dumps(asdict(run.settings)))
        assert (entry["id"], entry["steps"], set(entry["values"])) == (run.id, run.steps, set(run.values))
        assert entry["settings"].pop("reward_table") == pytest.approx(asked.pop("reward_table"))
        assert entry["settings"] == asked


def test_the_command_notices_a_stale_table_of_the_browser_and_repairs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = golden.WORKSHEET_PATH.read_text("utf-8")
    assert text.startswith("// Written by `course golden`; do not edit.\n")
    changed = tmp_path / "worksheet_runs.mjs"
    changed.write_text(text.replace('"groupSize": 32', '"groupSize": 31', 1), "utf-8")
    monkeypatch.setattr(golden, "WORKSHEET_PATH", changed)
    monkeypatch.setattr(golden, "make", lambda: golden.PATH.read_text("utf-8"))
    assert course_command.main(["golden", "--check"]) == 1
    assert "worksheet_runs.mjs is stale: run `course golden`" in capsys.readouterr().out
    assert course_command.main(["golden"]) == 0
    assert changed.read_text("utf-8") == text


# Runs


def test_runs_that_the_browser_played_earn_every_point(right: Document) -> None:
    result = graded(right)
    assert [said(check) for check in result.checks if check.outcome != PASSED] == []
    assert (result.earned, result.points) == (30, 30)


def test_what_the_page_downloads_earns_every_point_and_an_untouched_page_none() -> None:
    filled, empty = (worksheet.grade(WorksheetFile("0" * 64, parse(text.encode()))) for text in run_in_node(DOWNLOAD))
    assert [said(check) for check in filled.checks if check.outcome != PASSED] == []
    assert filled.earned == 30
    assert empty.earned == 0
    assert {check.outcome for check in empty.checks if check.points} == {NOT_WRITTEN}


def test_all_digits_are_as_good_as_three() -> None:
    assert graded(json.loads(played_in_the_browser())).earned == 30


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
            check = failed(graded(document))
            shown = ["never" if each is None else f"{each:.3f}".removesuffix(".000") for each in (number, wrong)]
            story = check.story.replace(".000", "")
            words = QUANTITIES[quantity].words + ("" if place is None else f" {place + 1}")
            seed = run_of(right, name)["seed"]
            assert story == f"{names[name]}, {words}: seed {seed} gives {shown[0]}; the worksheet says {shown[1]}"
            assert check.outcome == FAILED and check.earned == 0
            tried += 1
    assert tried > 150


@pytest.mark.parametrize(("off", "passes"), [(0.0005, True), (-0.0005, True), (0.000501, False), (-0.000501, False)])
def test_a_value_is_right_within_half_of_the_last_decimal(off: float, passes: bool) -> None:
    document = json.loads(played_in_the_browser())
    run_of(document, "1D.G16.trial2")["values"]["best_probability"] += off
    assert (graded(document).earned == 30) is passes


# pi(7) of many runs as the browser shows it, with all its digits beside it.
MANY_SEEDS = """
import { DEFAULTS, Simulation, singlePeak } from "CORE/bandit.mjs";
const shown = Array.from({ length: 200 }, (_, seed) => {
  const simulation = new Simulation({ ...DEFAULTS, groupSize: 4, rewardTable: singlePeak() }, { seed });
  while (simulation.steps < 50) simulation.step();
  return [simulation.policy[6].toFixed(3), simulation.policy[6]];
});
console.log(JSON.stringify(shown));
"""


def test_what_the_browser_shows_is_right_for_every_seed_and_a_last_digit_off_by_one_for_none() -> None:
    (run,) = (run for run in RUNS if run.id == "1D.G4.trial1")

    def is_right(seed: int, thousandths: int) -> bool:
        entry = {"id": run.id, "seed": seed, "steps": run.steps, "settings": asdict(run.settings)}
        entry["values"] = {"best_probability": thousandths / 1_000}
        document = {"worksheet": "grpo-bandit", "version": 1, "answers": [], "runs": [entry]}
        (cell,) = replaying.replay(parse(json.dumps(document).encode()))[run.id].cells
        return cell.right

    shown = run_in_node(MANY_SEEDS)
    assert shown[54] == ["0.957", pytest.approx(0.9565061, abs=1e-7)]  # near the middle between two
    for seed, (text, exact) in enumerate(shown):
        assert abs(exact * 1_000 % 1 - 0.5) > 1e-5  # or both would be right
        thousandths = round(float(text) * 1_000)
        assert [is_right(seed, thousandths + off) for off in (-1, 0, 1)] == [False, True, False], seed


def test_a_run_of_other_settings_is_named(right: Document) -> None:
    run_of(right, "1D.G16.trial2")["settings"]["group_size"] = 8
    check = failed(graded(right))
    assert check.id == "worksheet.runs_1d_g16"
    assert check.story == "1D, G = 16, trial 2: the recorded run has group_size 8; this question asks for 16"


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
        return _simulated(settings, *seeds, steps)

    monkeypatch.setattr(replaying, "simulate", watched)
    for entry in right["runs"]:
        entry["steps"] = 10**9
        entry["settings"] |= {"group_size": 10**9, "inner_steps": 10**9, "reward_table": [1.0] * 1000}
    run_of(right, "1C.try1").update(
        steps=50, settings=run_of(json.loads(played_in_the_browser()), "1C.try1")["settings"]
    )
    result = graded(right)
    assert result.earned == 12
    assert simulated == [(worksheet_questions.DEFAULTS, 50)]


@pytest.mark.parametrize(
    ("name", "other", "check"),
    [
        ("1C.try3", "1C.try1", "runs_1c"),
        ("1D.G4.trial2", "1D.G4.trial1", "runs_1d_g4"),
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
    for size in (4, 16, 32):
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
    assert result.earned == 12
    assert "there is no seed beside the numbers" in said(check_of(result, "runs_1d_g4"))
    bare = json.loads(played_in_the_browser())
    for entry in bare["runs"]:
        entry["values"] = {}
    result = graded(bare)
    assert result.earned == 12
    assert "nothing is recorded as pi(7)" in said(check_of(result, "runs_1d_g4"))
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


def test_a_wrong_bonus_is_named_and_costs_no_point(right: Document) -> None:
    run_of(right, "bonus.run")["values"]["best_probability"] = 0.5
    result = graded(right)
    assert failed(result).id == "worksheet.bonus" and result.earned == 30
    right["runs"].remove(run_of(right, "bonus.run"))
    answer_of(right, "bonus")["answer"] = ""
    result = graded(right)
    assert check_of(result, "bonus").story == "not tried" and result.earned == 30


# Written answers

ATTEMPT = "They gain where the reward is above the mean."
ONLY_THE_QUESTION = "has only words of the question"
# Fillers, joiners, selectors, a mark, a tag, a direction: nothing is drawn for any of them.
INVISIBLE = (
    "\u3164\uffa0\u115f\u1160\u034f\u17b4\u17b5\u180e\u2800\ufe00\ufe0f"
    "\u200b\u2060\u00ad\ufeff\U000e0100\U000e0041\u202e"
)


def asked(name: str) -> str:
    """The words of a question."""
    (text,) = (question.text for question in QUESTIONS if question.id == name)
    return text


def wide(text: str) -> str:
    """The same in the wide letters of Chinese and Japanese keyboards."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no answer to 1A.1"),
        (" \t\n ", "no answer to 1A.1"),
        ("uniform", "has 7 characters and 1 different word"),
        ("a b c d", "has 7 characters and 4 different words"),
        ("yes yes yes yes yes yes yes", "1 different word;"),
        ("Yes yes, no no. Maybe maybe!", "3 different words"),
        ("........................", "0 different words"),
        ("x" * 5_000, "1 different word;"),
        (asked("1A.1"), ONLY_THE_QUESTION),
        (f"1A.1 {asked('1A.1')}", ONLY_THE_QUESTION),
        (f"  {asked('1A.1').upper()} ...", ONLY_THE_QUESTION),
        (asked("1A.1") * 2, ONLY_THE_QUESTION),
        (" ".join(reversed(asked("1A.1").split())), ONLY_THE_QUESTION),
        ("\u200b".join(asked("1A.1")), ONLY_THE_QUESTION),
        ("\u3164".join(asked("1A.1")), ONLY_THE_QUESTION),
        (wide(asked("1A.1")), ONLY_THE_QUESTION),
        ("every first step for the policy", ONLY_THE_QUESTION),
        (asked("1D.2"), "repeats question 1D.2"),
        (f"1D.2 {wide(asked('1D.2'))}", "repeats question 1D.2"),
        ("_ __ ___ ____ _____ ______", "0 different words"),
        ("one_two __ ___ ____ _____ ______", "2 different words"),
        ("\u0301 \u0301\u0301 \u0300 \u0302 \u0303 \u0304 \u0305 ...", "0 different words"),
        ("a  b \t c \n\n      d        e     ", "has 9 characters and 5 different words"),
        *[(character * 30, "no answer to 1A.1") for character in INVISIBLE],
        *[(" ".join(character * n for n in range(1, 9)), "no answer to 1A.1") for character in INVISIBLE],
        ("a b c d" + "\u3164" * 30, "has 7 characters and 4 different words"),
        ("所有奖励", "has 12 characters and 4 different words"),
        ("Here, in 1A.2, action 7 gains slowly.", "is the same as that to 1A.2"),
        ("here in 1a.2 ACTION 7 gains slowly", "is the same as that to 1A.2"),
    ],
)
def test_what_is_no_attempt_earns_nothing_and_says_why(right: Document, text: str, reason: str) -> None:
    answer_of(right, "1A.1")["answer"] = text
    result = graded(right)
    check = check_of(result, "answer_1a_1")
    assert check.earned == 0 and reason in said(check)
    if check.outcome == FAILED:
        assert "20 characters with 4 different words" in check.story and "not graded here" in check.story
    assert result.earned == (28 if "1A.2" in reason else 29)  # of two that are the same neither counts


@pytest.mark.parametrize(
    "text",
    [
        ATTEMPT,
        "All probabilities are 0.1: wrong, but an attempt.",
        "Я думаю, что вероятность растёт медленно",
        "策略在开始时是均匀的 每个动作的概率都是百分之十左右",
        "What does the policy look like before the first step? It looks uniform.",
        "所有奖励相同\uff0c优势为零\uff0c没有学习信号。",
        "没有学习信号吗",
        "𠀀𠀁𠀂𠀃𠀄𠀅𠀆",
        "豈更車賈滑串句",
        "勾配がゼロになる",
        "ｺｳﾊﾞｲｶﾞｾﾞﾛﾆﾅﾙ",
        "모두 같으면 이점은 영",
        "ความน่าจะเป็นของการกระทำเพิ่มขึ้น",
        "सभी क्रियाओं की संभावना समान है",
        "é" * 5 + " á b c d e f g h i j",
    ],
)
def test_every_attempt_counts_whatever_it_says(right: Document, text: str) -> None:
    answer_of(right, "1A.1")["answer"] = text
    assert graded(right).earned == 30


def test_what_the_file_says_of_its_questions_does_not_matter(right: Document) -> None:
    for entry in right["answers"]:
        entry["question"] = ""
        entry["answer"] = asked(entry["id"])
    answer_of(right, "1A.1").update(question="They gain where the reward is above the mean.", answer=ATTEMPT)
    del answer_of(right, "1A.2")["question"]
    result = graded(right)
    assert result.earned == 19  # 18 for the runs
    assert ONLY_THE_QUESTION in check_of(result, "answer_1a_2").story


def test_the_grader_knows_the_questions_as_the_page_asks_them() -> None:
    text = (course.ROOT / worksheet_questions.PAGE).read_text("utf-8")
    blocks = re.findall(r"^/// html \| grpo-question\n +attrs: \{name: \"(.+?)\"\}\n(.+?)\n///$", text, re.M | re.S)
    on_the_page = {name: " ".join(block.split()) for name, block in blocks}
    in_the_grader = {each.id: f"**{each.id.replace('bonus', 'Bonus')}** {each.text}" for each in QUESTIONS}
    assert list(on_the_page) == list(in_the_grader)
    other = [name for name, text in in_the_grader.items() if on_the_page[name] != text]
    to_change = f"{', '.join(other)} in {worksheet_questions.PAGE} or in QUESTIONS of grader/worksheet_questions.py"
    assert not other, f"the page and the grader ask different questions: change {to_change}"


def test_answers_as_long_as_they_may_be_are_graded_in_a_blink(right: Document) -> None:
    signs = [chr(0x4E00 + number) for number in range(20_000)]
    for number, entry in enumerate(right["answers"]):
        entry["answer"] = "".join(signs[number:] + signs[:number])
    started = time.monotonic()
    assert graded(right).earned == 30
    assert time.monotonic() - started < 5


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
    entry = next(entry for entry in right["runs"] if entry["id"] == "1D.G4.trial1")
    exact = entry["values"]["best_probability"]
    entry["values"]["best_probability"] = exact + 0.0123 if wrong is None else round(exact, wrong)
    check = next(check for check in graded(right).checks if check.id == "worksheet.runs_1d_g4")
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


def test_the_browser_knows_the_limits_and_the_quantities_of_the_grader() -> None:
    read = 'import { LIMITS, QUANTITIES } from "CORE/worksheet_runs.mjs";'
    limits, quantities = run_in_node(f"{read} console.log(JSON.stringify([LIMITS, QUANTITIES]));")
    longest, largest = worksheet_questions.LONGEST_ANSWER, worksheet_questions.LARGEST_FILE
    assert limits == {"longestAnswer": longest, "largestFile": largest}
    assert largest > len(QUESTIONS) * longest * len("\\ud800") + 100_000
    assert renamed(quantities) == {
        name: {"length": each.length, "whole": each.whole, "never": each.never} for name, each in QUANTITIES.items()
    }


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
    started = time.monotonic()
    assert sentence in refused(path)
    assert time.monotonic() - started < 2


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
    assert result.earned == 27


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
    right["runs"].append(copy.deepcopy(run_of(right, "1D.G16.trial2")))
    check = failed(graded(right))
    assert check.id == "worksheet.runs_1d_g16"
    assert check.story == '1D, G = 16, trial 2: runs[19].id is "1D.G16.trial2" again; there may be one of each'
    right["answers"] += [{"id": "1A.2", "answer": 7}, {"id": "1A.2", "answer": "and another one, the third"}]
    result = graded(right)
    assert result.earned == 27
    assert check_of(result, "answer_1a_2").story == '1A.2: answers[14].id is "1A.2" again; there may be one of each'


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


def test_one_malformed_answer_is_named_with_its_place_and_the_rest_counts(right: Document) -> None:
    right["answers"][1]["answer"] = 7
    right["answers"][3]["answer"] = "word " * 5_000
    result = graded(right)
    assert result.earned == 28
    assert check_of(result, "answer_1a_2").story == "1A.2: answers[1].answer must be text, not a number"
    assert "answers[3].answer has more than 20,000 characters" in check_of(result, "answer_1b_2").story


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


@settings(max_examples=300)
@given(st.data())
def test_a_right_worksheet_with_anything_in_any_place_ends_well(data: st.DataObject) -> None:
    document = json.loads(played_in_the_browser())
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


# `grade worksheet`


def command(*arguments: str | Path, module: str = "grader.cli") -> list[str]:
    return [sys.executable, "-m", module, *map(str, arguments)]


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON", "COLUMNS"))}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"}


def run(*arguments: str | Path, cwd: Path, module: str = "grader.cli") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command(*arguments, module=module),
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


def result_of(path: Path) -> Document:
    document: Document = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_a_right_worksheet_exits_with_0_and_a_valid_result(tmp_path: Path, right: Document) -> None:
    me = handed_in(tmp_path / "me", right)
    done = run("worksheet", "--path", me, "--json", "r.json", "--require-level", "1", cwd=tmp_path)
    assert done.returncode == cli.OK, done.stdout + done.stderr
    assert "30 of 30 points" in done.stdout and "nothing of yours was run" in done.stdout
    assert "self-check" not in done.stdout and "worksheet.py" not in done.stdout
    document = result_of(tmp_path / "r.json")
    assert (document["earned"], document["points"], document["complete"]) == (30, 30, True)
    assert (document["isolation_level"], document["walls"]) == (0, [])
    assert [(each["name"], each["page"]) for each in document["exercises"]] == [("worksheet", "docs/worksheet.md")]
    assert document["submission"] == "me"


def test_the_digest_is_that_of_the_file(tmp_path: Path, right: Document) -> None:
    digests = []
    for folder, version in (("a", right), ("b", right), ("c", {**right, "runs": []})):
        run("worksheet", "--path", handed_in(tmp_path / folder, version), "--json", "r.json", cwd=tmp_path)
        digests.append(result_of(tmp_path / "r.json")["sha256"])
    assert digests[0] == digests[1] != digests[2]


def test_a_wrong_number_exits_with_1_and_is_in_the_report(tmp_path: Path, right: Document) -> None:
    run_of(right, "1D.G4.trial2")["values"]["best_probability"] = 0.123
    done = run("worksheet", "--hint", "--path", handed_in(tmp_path / "me", right), cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "28 of 30 points" in done.stdout
    assert re.search(r"1D, G = 4, trial 2, pi\(7\): seed \d+ gives 0\.\d{3}; the worksheet says 0\.123", done.stdout)
    assert "Does the simulation have the settings" in done.stdout and "2 more: give --hint 2 times" in done.stdout


def test_without_a_file_the_report_says_where_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "starter").mkdir()
    done = run("worksheet", cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "0 of 30 points" in done.stdout and done.stdout.count('"Download answers (JSON)"') == 1
    assert "not written yet" in done.stdout


def test_a_file_that_cannot_be_read_is_one_sentence_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "worksheet.json").write_text("{", "utf-8")
    done = run("worksheet", "--hint", "--json", "r.json", cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "worksheet.json cannot be read" in done.stdout and "Hint: first hand in a file" in done.stdout
    assert result_of(tmp_path / "r.json")["earned"] == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["worksheet", "--path", "nowhere"], "there is no folder nowhere"),
        (["worksheet", "--path", "worksheet.json"], "there is no folder worksheet.json"),
        (["worksheet", "--debug"], "the worksheet has no code to debug"),
        (["worksheet", "advantages", "--debug"], "the worksheet has no code to debug"),
        (["worksheet.json"], "did you mean worksheet?"),
        (["worksheets"], "did you mean worksheet?"),
    ],
)
def test_wrong_usage_exits_with_2(tmp_path: Path, right: Document, arguments: list[str], sentence: str) -> None:
    done = run(*arguments, cwd=handed_in(tmp_path, right))
    assert done.returncode == cli.USAGE
    assert sentence in " ".join(done.stderr.split()) and not done.stdout


@pytest.mark.parametrize("name", ["worksheet.json", "advantages.py", "kl.py"])
@pytest.mark.parametrize("exists", [True, False])
def test_the_result_does_not_overwrite_what_is_handed_in(
    tmp_path: Path, right: Document, name: str, exists: bool
) -> None:
    me = handed_in(tmp_path / "me", right)
    shutil.copy(course.STARTER / "advantages.py", me)
    shutil.copy(course.STARTER / "kl.py", me)
    before = (me / name).read_bytes()
    if not exists:
        (me / name).unlink()
    for target in (Path("me") / name, me.parent / "me" / ".." / "me" / name):
        done = run("worksheet", "--path", "me", "--json", target, cwd=tmp_path)
        assert done.returncode == cli.USAGE and not done.stdout
        assert f"--json would overwrite {target}, which is handed in" in " ".join(done.stderr.split())
    done = run("worksheet", "--json", name, cwd=me)  # the folder that is graded without --path
    assert done.returncode == cli.USAGE
    assert (me / name).exists() is exists and (not exists or (me / name).read_bytes() == before)
    done = run("worksheet", "--path", "me", "--json", name, cwd=tmp_path)  # another folder is nobody's business
    assert result_of(tmp_path / name)["points"] == 30


def test_the_command_line_and_the_table_agree_on_the_names() -> None:
    assert (cli._WORKSHEET, cli._WORKSHEET_FILE) == (worksheet_questions.EXERCISE, worksheet_questions.FILE_NAME)
    assert (course.ROOT / worksheet_questions.PAGE).parent.is_dir()


def test_the_worksheet_alone_needs_neither_torch_nor_pytest_nor_a_worker(tmp_path: Path, right: Document) -> None:
    script = (
        "import sys\nfrom grader import cli, sandbox\n"
        "sandbox.Sandbox.start = None\n"
        "code = cli.main(['worksheet'])\n"
        "print([name for name in ('torch', 'pytest', 'hypothesis') if name in sys.modules], code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=handed_in(tmp_path, right),
        env={**environment(), "PYTHONPATH": str(course.ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.stdout.endswith("[] 0\n"), done.stdout + done.stderr


def test_the_worksheet_and_an_exercise_make_one_result(tmp_path: Path, right: Document) -> None:
    me = handed_in(tmp_path / "me", right)
    shutil.copy(course.MODEL_ANSWERS / "kl.py", me)
    options = ("--examples", "2", "--path", me, "--json", "r.json")
    done = run("worksheet", "kl", *options, cwd=tmp_path)
    assert done.returncode == cli.OK, done.stdout + done.stderr
    both = result_of(tmp_path / "r.json")
    assert [exercise["name"] for exercise in both["exercises"]] == ["kl", "worksheet"]
    alone = run("kl", *options, cwd=tmp_path)
    kl = result_of(tmp_path / "r.json")
    assert both["points"] == kl["points"] + 30 == both["earned"]
    assert both["isolation_level"] == kl["isolation_level"] and both["sha256"] != kl["sha256"]
    assert "worksheet" not in alone.stdout


def test_plain_grade_leaves_the_worksheet_out_and_points_to_it(tmp_path: Path, right: Document) -> None:
    (tmp_path / "me").mkdir()
    for exercise in course.EXERCISES:
        shutil.copy(course.STARTER / exercise.file_name, tmp_path / "me")
    options = ("--examples", "1", "--path", "me", "--json")
    without = run(*options, "r.json", cwd=tmp_path)
    assert "worksheet" not in without.stdout
    handed_in(tmp_path / "me", right)
    with_one = run(*options, "r2.json", cwd=tmp_path)
    assert with_one.stdout.splitlines()[-1] == "There is a worksheet.json too: `grade worksheet` grades it."
    before, after = result_of(tmp_path / "r.json"), result_of(tmp_path / "r2.json")
    assert before["points"] == after["points"] and before["sha256"] == after["sha256"]
    printed = run("worksheet", "--path", "me", "--json", "-", cwd=tmp_path)
    assert json.loads(printed.stdout)["earned"] == 30


def test_escape_sequences_and_bidi_characters_do_not_reach_the_terminal(tmp_path: Path, right: Document) -> None:
    bad = "\x1b[2J\x1b]0;x\x07\u202e\u2066\x00\u200b\ud800"
    run_of(right, "1C.policy")["settings"]["algorithm"] = bad
    run_of(right, "1C.try1")["settings"][bad] = 1
    run_of(right, "1C.try2")["seed"] = bad
    done = run("worksheet", "--path", handed_in(tmp_path / "me", right), cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert not set(done.stdout) & set(bad) - set("[2J]0;x")
    right["runs"].append({"id": bad})
    done = run("worksheet", "--path", handed_in(tmp_path / "me", right), cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "which this worksheet does not have" in done.stdout
    assert not set(done.stdout) & set(bad) - set("[2J]0;x")


@pytest.mark.skipif(sys.platform == "win32", reason="ends the command with a signal")
def test_every_saved_worksheet_brings_a_report(tmp_path: Path, right: Document) -> None:
    me = handed_in(tmp_path / "me", {**right, "runs": []})
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command("worksheet", "--watch", "--path", me), cwd=tmp_path, env=environment(), stdout=output, stderr=output
        )
    try:
        wait_for(lambda: "total  12 of 30 points" in log.read_text("utf-8"), process)
        handed_in(me, right)
        wait_for(lambda: "total  30 of 30 points" in log.read_text("utf-8"), process)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == cli.OK
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text("utf-8")


def wait_for(condition: Any, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)


# `course worksheet`

VOID = {"meta", "br"}
BAD = "<script>alert(1)</script><img src=x onerror=alert(2)> </p></article> \" ' & \u202eabc\u202c \x1b[31m \ud800 two"


class Page(html.parser.HTMLParser):
    """The page as a browser reads it: its tags, its text, and whether every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def side_by_side(tmp_path: Path, *submissions: str | Path) -> tuple[subprocess.CompletedProcess[str], Page]:
    done = run("worksheet", *submissions, "--out", "page.html", cwd=tmp_path, module="grader.course_command")
    return done, Page((tmp_path / "page.html").read_text("utf-8"))


def test_the_page_shows_the_key_and_all_submissions_side_by_side(tmp_path: Path, right: Document) -> None:
    handed_in(tmp_path / "ada", right)
    run_of(right, "1C.policy")["values"]["policy"][6] = 0.5
    answer_of(right, "1D.2")["answer"] = "A group of 32 varies the least."
    handed_in(tmp_path / "ben", right)
    done, found = side_by_side(tmp_path, "ada", tmp_path / "ben" / "worksheet.json")
    assert done.returncode == 0 and "2 read, 0 could not be read" in done.stdout
    key = json.loads((course.MODEL_ANSWERS / "worksheet_key.json").read_text("utf-8"))["answers"]
    for entry in key:
        if entry["id"] != "extra":
            assert entry["answer"] in found.text and entry["instead"] in found.text
    for text in ("Here, in 1D.2, action 7 gains slowly.", "A group of 32 varies the least.", "30 of 30", "27 of 30"):
        assert text in found.text
    truth = run_of(json.loads(played_in_the_browser()), "1C.policy")["values"]["policy"][6]
    assert all(question.text in found.text for question in QUESTIONS)
    assert found.text.count(f"0.500 (the seed gives {truth:.3f})") == 1
    assert "1 of 10 wrong" in found.text


def test_the_page_is_closed_to_scripts_and_good_for_screen_readers(tmp_path: Path, right: Document) -> None:
    for entry in right["answers"]:
        entry["answer"] = entry["question"] = BAD + entry["id"]
    run_of(right, "1C.policy")["settings"]["algorithm"] = BAD
    handed_in(tmp_path / "<b>&'", right)
    done, found = side_by_side(tmp_path, "<b>&'")
    assert done.returncode == 0
    for tag in ("script", "img", "b", "link", "iframe", "object", "form"):
        assert not found.named(tag)
    assert not any(name.startswith("on") or name == "src" for _, attributes in found.tags for name in attributes)
    assert all((link["href"] or "").startswith("#") for link in found.named("a"))
    (policy,) = (meta["content"] or "" for meta in found.named("meta") if "http-equiv" in meta)
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-[\w+/=]+'", policy)
    assert not any("style" in attributes for _, attributes in found.tags)
    assert "url(" not in (tmp_path / "page.html").read_text("utf-8")
    shown = BAD.replace("\u202e", "[U+202E]").replace("\u202c", "[U+202C]").replace("\x1b", "[U+001B]")
    assert shown.replace("\ud800", "[U+D800]") + "1F.2" in found.text
    assert found.tags[0] == ("html", {"lang": "en"})
    assert len(found.named("h1")) == len(found.named("main")) == len(found.named("title")) == 1
    assert all(head.get("scope") in ("col", "row") for head in found.named("th"))
    assert len(found.named("table")) == len(found.named("caption")) > 5
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link["href"] for link in found.named("a")} <= {f"#{name}" for name in ids}


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_the_page_has_no_accessibility_violation_and_no_error(
    tmp_path: Path, right: Document, browser: Any, scheme: str, width: int
) -> None:
    axe = course.ROOT / "tests" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.is_file():
        cannot("axe-core is missing: npm ci --prefix tests/browser")
    handed_in(tmp_path / "ada", right)
    run_of(right, "1C.policy")["values"]["policy"][6] = 0.5
    run_of(right, "1C.try1")["seed"] = "x"
    answer_of(right, "1F.1")["answer"] = BAD + "unbroken" * 100
    handed_in(tmp_path / "ben", right)
    side_by_side(tmp_path, "ada", "ben", "nobody")
    problems: list[str] = []
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        tab = context.new_page()
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("dialog", lambda dialog: problems.append(dialog.message))
        tab.goto((tmp_path / "page.html").as_uri())
        tab.evaluate(axe.read_text("utf-8"))
        found = tab.evaluate("() => axe.run({ preload: false })")
        overflow = tab.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert found["passes"] and [violation["id"] for violation in found["violations"]] == []
    assert problems == [] and overflow <= 0


def test_the_page_writes_out_what_nobody_could_see(tmp_path: Path, right: Document) -> None:
    answer_of(right, "1F.2")["answer"] = f"from{INVISIBLE}here"
    handed_in(tmp_path / "ada", right)
    _, found = side_by_side(tmp_path, "ada")
    assert "from" + "".join(f"[U+{ord(character):04X}]" for character in INVISIBLE) + "here" in found.text


def test_what_cannot_be_read_is_listed_and_does_not_stop_the_rest(tmp_path: Path, right: Document) -> None:
    handed_in(tmp_path / "ada", right)
    (handed_in(tmp_path / "broken", right) / "worksheet.json").write_text("{", "utf-8")
    (tmp_path / "empty").mkdir()
    done, found = side_by_side(tmp_path, "broken", "ada", "empty", "nowhere")
    assert done.returncode == 1 and "1 read, 3 could not be read" in done.stdout
    assert "not graded: worksheet.json: this is not JSON (line 1, column 2" in found.text
    assert found.text.count("not graded: there is no worksheet.json") == 2
    assert "30 of 30" in found.text and "Here, in 1F.2, action 7 gains slowly." in found.text


def test_submissions_of_one_name_are_told_apart(tmp_path: Path, right: Document) -> None:
    handed_in(tmp_path / "a" / "hw", right)
    handed_in(tmp_path / "b" / "hw", right)
    _, found = side_by_side(tmp_path, Path("a") / "hw", Path("b") / "hw")
    assert str(Path("a") / "hw") in found.text and str(Path("b") / "hw") in found.text


def test_a_zip_of_a_class_is_read_as_it_was_downloaded(tmp_path: Path, right: Document) -> None:
    files = {
        "lovelaceada_1_2_worksheet.json": json.dumps(right),
        "noetheremmy_LATE_3_4_worksheet-1.json": json.dumps(right),
    }
    (tmp_path / "canvas.zip").write_bytes(zip_bytes({**files, "turingalan_5_6_kl.py": ""}))
    done, found = side_by_side(tmp_path, "canvas.zip")
    assert "2 read, 1 could not be read" in done.stdout
    assert "lovelaceada_1" in found.text and "noetheremmy_3" in found.text


@pytest.mark.parametrize(
    ("out", "sentence"), [("page.txt", "ends in .html"), ("nowhere/page.html", "there is no folder nowhere")]
)
def test_the_page_is_written_to_an_html_file_in_a_folder_that_is_there(tmp_path: Path, out: str, sentence: str) -> None:
    done = run("worksheet", ".", "--out", out, cwd=tmp_path, module="grader.course_command")
    assert done.returncode == 2 and sentence in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_without_the_answer_key_the_command_says_how_to_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(course, "MODEL_ANSWERS", tmp_path)
    out = tmp_path / "page.html"
    assert course_command.main(["worksheet", str(tmp_path), "--out", str(out)]) == 3
    assert "worksheet_key.json is missing; write it with `course answer-key`" in capsys.readouterr().err
    assert not out.exists()


def test_help_has_an_example(tmp_path: Path) -> None:
    done = run("worksheet", "--help", cwd=tmp_path, module="grader.course_command")
    assert done.returncode == 0
    assert "course worksheet submissions/* --out worksheets.html" in done.stdout


PIECES = (
    "<b>",
    "</p>",
    "</article>",
    "<script>",
    "<!--",
    "&lt;",
    "&",
    '"',
    "'>",
    "\u202e",
    "\ud800",
    "\x00",
    "]]>",
    "e ",
)
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


@settings(max_examples=50)
@given(st.lists(HOSTILE, min_size=13, max_size=13), HOSTILE)
def test_no_answer_and_no_name_breaks_the_page(texts: list[str], name: str) -> None:
    answers = [{"id": each.id, "answer": text} for each, text in zip(QUESTIONS, texts, strict=True)]
    document = {"worksheet": "grpo-bandit", "version": 1, "answers": answers, "runs": []}
    content = parse(json.dumps(document).encode())
    replays = replaying.replay(content)
    result = worksheet.grade(WorksheetFile("0" * 64, content), replays)
    key = worksheet_command.read_key(course.MODEL_ANSWERS / "worksheet_key.json")
    text = page(key, [HandedIn(name, result, content, replays)])
    text.encode("utf-8")
    found = Page(text)
    for each in texts:
        assert visible(each.strip()) in found.text
    tags = [tag for tag, _ in found.tags]
    assert set(tags) <= {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "h4", "p", "code", "nav", "ul"),
        *("li", "a", "section", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "em"),
        *("article", "span", "br", "mark"),
    }
