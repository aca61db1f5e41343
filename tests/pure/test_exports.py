"""Every export says what the result says, is valid for its consumer, and does nothing that a submission wants it to do.

The readers in `helpers/exports_readers.py` read each format as its consumer does, where possible with its own code.
"""

import json
import unicodedata
from dataclasses import replace

import pytest
from exports_readers import CLASSROOM, READERS, Read, commands
from exports_results import SECRET, check, example, results
from hypothesis import given, note
from hypothesis import strategies as st

from grader.core.result import (
    BROKEN,
    FAILED,
    NOT_RUN,
    NOT_WRITTEN,
    PASSED,
    ExerciseResult,
    Result,
)
from grader.reports import FORMATS, export

NAMES = [name for name in FORMATS if name != "html"]
each_format = pytest.mark.parametrize("name", NAMES)
NO_TEXT = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def read(result: Result, name: str) -> Read:
    return READERS[name](export(result, name, CLASSROOM))


@given(result=results(), data=st.data())
def test_any_result_is_valid_lists_every_check_once_and_falls_with_each_pass(result, data):
    changed = data.draw(st.sampled_from(result.checks))
    changed.outcome = PASSED
    earned = sum(check.points for check in result.checks if check.outcome == PASSED)
    for name in NAMES:
        note(name)
        found = read(result, name)
        expected = {each.id: (each.points * (each.outcome == PASSED), each.points) for each in result.checks}
        assert found.earned == earned and len(found.lines) == len(expected)
        assert {line.identity: (line.earned, line.points) for line in found.lines} == expected
        characters = {character for text in found.texts for character in text} - {"\n"}
        assert not {character for character in characters if unicodedata.category(character) in NO_TEXT}
    changed.outcome = data.draw(st.sampled_from([FAILED, BROKEN, NOT_WRITTEN, NOT_RUN]))
    assert {name: earned - read(result, name).earned for name in NAMES} == dict.fromkeys(NAMES, changed.points)


@each_format
def test_a_provisional_result_says_so_and_counts_passed_checks(name: str) -> None:
    for sentence, result in {
        "self-check": example(isolation_level=0),
        "incomplete": example(complete=False),
        "the grader could not finish: the disk is full": example(problem="the disk is full"),
    }.items():
        found = read(result, name)
        assert sentence in "\n".join(found.texts).lower()
        assert found.earned == 6
    texts = "\n".join(read(example(), name).texts).lower()
    assert "self-check" not in texts and "incomplete" not in texts and "could not finish" not in texts


@each_format
def test_a_result_of_debug_mode_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="debug mode"):
        export(example(grade=False, isolation_level=-1), name, CLASSROOM)


@each_format
def test_a_hidden_check_tells_no_input_before_the_grades_are_published(name: str) -> None:
    text = export(example(), name, CLASSROOM)
    if name == "gradescope":  # knows who may see what
        shown = [test for test in json.loads(text)["tests"] if test["visibility"] == "visible"]
        (hidden,) = (test for test in json.loads(text)["tests"] if test["visibility"] != "visible")
        assert SECRET not in json.dumps(shown) and SECRET in hidden["output"]
        assert hidden["visibility"] == "after_published"
        return
    assert "kl.hidden" in text
    assert not any(SECRET in each for each in READERS[name](text).texts)


@each_format
def test_the_known_mistake_and_the_smallest_failing_call_are_there(name: str) -> None:
    texts = "\n".join(read(example(), name).texts)
    assert "the mean is not subtracted" in texts
    assert "[-1.0, 1.0]" in texts and "std_eps=0.0" in texts


def long_result() -> Result:
    """The whole course with every check failed, and as much to say as a submission can make the grader say."""
    lengths = [9_000] * 10 + [2_500] * 120  # in all, more than any platform takes
    checks = [
        check(f"kl.check_{n}", FAILED, points=n % 4, message="\U0001f600" * length) for n, length in enumerate(lengths)
    ]
    return example(exercises=[ExerciseResult("kl", "KL", "docs/exercises/kl.md", checks)])


@each_format
def test_a_long_result_keeps_to_the_sizes_of_the_platforms(name: str) -> None:
    assert len(read(long_result(), name).lines) == 130  # the readers know the sizes


# Gradescope


def test_gradescope_numbers_its_tests_like_the_course() -> None:
    tests = json.loads(export(example(), "gradescope", {}))["tests"]
    assert [test["number"] for test in tests] == ["1.1", "1.2", "1.3", "1.4", "1.5", "3.1", "3.2"]
    assert [test["status"] for test in tests] == ["failed"] * 4 + ["passed"] * 2 + ["failed"]


def test_gradescopes_text_at_the_top_does_not_tell_how_hidden_checks_ended() -> None:
    lost, won = example(), example()
    won.checks[-1].outcome = PASSED
    texts = [json.loads(export(result, "gradescope", {}))["output"] for result in (lost, won)]
    assert texts[0] == texts[1] and "6 of 15 points" in texts[0] and "isolation level 1" in texts[0]
    shown = replace(lost, exercises=lost.exercises[:1])
    assert "total: 2 of 11 points" in json.loads(export(shown, "gradescope", {}))["output"]


# Classroom 50


@pytest.mark.parametrize("variable", CLASSROOM)
def test_classroom_50_names_the_variable_that_is_missing(variable: str) -> None:
    for value in ({}, {variable: " "}):
        rest = {name: text for name, text in CLASSROOM.items() if name != variable}
        with pytest.raises(ValueError, match=variable):
            export(example(), "classroom50", rest | value)


@pytest.mark.parametrize(
    ("given", "date"),
    [
        ({}, "2026-06-01T14:32:05Z"),
        ({"COMMIT_DATE": "2026-06-01T08:00:00-07:00"}, "2026-06-01T15:00:00Z"),
        ({"SUBMISSION_TAG": "submit/by-hand", "COMMIT_DATE": "2026-06-01T08:00:00Z"}, "2026-06-01T08:00:00Z"),
    ],
)
def test_classroom_50_dates_the_commit_and_not_the_grading(given: dict[str, str], date: str) -> None:
    text = export(example(), "classroom50", CLASSROOM | given)
    assert json.loads(text)["datetime"] == date
    assert text == export(example(), "classroom50", CLASSROOM | given)


@pytest.mark.parametrize(
    "given",
    [
        {"SUBMISSION_TAG": "submit/by-hand"}, {"SUBMISSION_TAG": "submit/2026-13-01T14-32-05Z-a1b2c3d"},
        {"SUBMISSION_TAG": "v1"}, {"COMMIT_DATE": "yesterday"}, {"COMMIT_DATE": "2026-06-01T08:00:00"},
        {"ASSIGNMENT_TYPE": "pair"},
    ],
)  # fmt: skip
def test_classroom_50_refuses_what_its_collector_would_refuse(given: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"COMMIT_DATE|SUBMISSION_TAG|ASSIGNMENT_TYPE"):
        export(example(), "classroom50", CLASSROOM | given)


# GitHub


def test_annotations_stand_at_the_line_and_the_rest_is_counted() -> None:
    found = commands(export(example(), "github-annotations", {}))
    assert [name for name, _, _ in found] == ["error", "error", "error", "warning", "notice"]
    assert found[0][1] == {"file": "starter/advantages.py", "line": "27", "title": "rule advantages.gate"}
    assert found[1][1]["file"] == "starter/advantages.py" and "line" not in found[1][1]
    assert found[2][1]["file"] == "starter/kl.py"
    function = example().checks[1].function
    lines = {("advantages.py", function): 41, ("kl.py", function): 7}
    placed = commands(export(example(), "github-annotations", {}, lines))
    assert [each[1].get("line") for each in placed[:3]] == ["27", "41", "7"]
    assert found[3][2] == "1 not written, 1 waiting"
    errors = [each for each in commands(export(long_result(), "github-annotations", {})) if each[0] == "error"]
    assert len(errors) == 10 and errors[-1][1]["title"].startswith("121 ")


def test_the_summary_shows_the_first_failures_and_not_all() -> None:
    first = next(line for line in export(example(), "github-summary", {}).split("\n") if line.startswith("<pre>"))
    assert "where: advantages.py, line 27" in first and "&#10;" in first
    assert export(long_result(), "github-summary", {}).count("<pre>") == 10


# the other consumers


def test_junit_counts_what_a_failed_grading_never_ran_as_errors() -> None:
    checks = [check("kl.good", PASSED), check("kl.rest", NOT_RUN)]
    result = example(exercises=[ExerciseResult("kl", "KL", "docs/exercises/kl.md", checks)], complete=False)
    assert 'errors="1"' in export(result, "junit", {})
    assert READERS["junit"](export(result, "junit", {})).earned == 2
