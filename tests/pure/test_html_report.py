"""The HTML report as text: it says what the terminal says, draws the recorded numbers and cannot be deceived."""

import copy
import re
from dataclasses import replace

import pytest
from html_reports import OUTCOMES, Page, page_of, small_result
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core import course
from grader.core.contents import read_submission
from grader.core.note import Note, NoteKind
from grader.core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, WAITING, CheckResult, Frame, NamedMistake
from grader.grading import curves
from grader.grading.run import empty_result
from grader.grading.settings import GradingSettings
from grader.reports import export, html_report

# What it says


@settings(max_examples=10)
@given(data=st.data())
def test_every_declared_check_is_told_once_with_sign_word_points_and_sentence(data):
    names = [exercise.name for exercise in course.EXERCISES]
    result = empty_result(GradingSettings(read_submission(course.STARTER), names, pytest.fail, hidden=True))
    for check in result.checks:
        check.outcome = data.draw(st.sampled_from([*OUTCOMES]))
        check.message = "a message" if check.outcome in ("failed", "broken", "grader error") else ""
    text = page_of(result).text
    assert f"{result.earned} of {result.points} points" in text
    for exercise in result.exercises:
        assert f"{exercise.earned} of {exercise.points} points for {exercise.name}.py" in text
    for check in result.checks:
        line = f"{OUTCOMES[check.outcome]} {check.earned} of {check.points} {check.title.replace('`', '')}"
        assert text.count(" ".join(line.split())) == 1, line


def test_a_failure_is_told_in_full_with_its_mistake_named_once():
    result = small_result()
    (exercise,) = result.exercises
    (first,) = exercise.checks
    first.call, first.rows, first.printed = "ratio(1)", [("yours", "2.0"), ("expected", "1.0")], "here I am"
    first.frames = [Frame("ada/clip.py", 7, "ratio", "return 2")]
    first.may_come_from = ["another check"]
    second = copy.deepcopy(first)
    second.id, second.title = "clip.another_check", "A ratio of 3"
    exercise.checks.append(second)
    said = ("docs/exercises/clip/mistakes.md#ratio-twice", "ratio", "twice", "you double it", "Then `clip` binds.")
    exercise.known_mistakes = [NamedMistake(check.id, True, *said) for check in (first, second)]
    text = page_of(result).text
    for words in ("ada/clip.py, line 7", "return 2", "yours 2.0 expected 1.0", "call ratio(1)", "printed here I am"):
        assert text.count(words) == 2
    for words in (
        "you double it",
        "Then clip binds.",
        "docs/exercises/clip/mistakes.md#ratio-twice",
        "same mistake as above",
    ):
        assert text.count(words) == 1
    assert text.count("another check") == 2 and "To read: docs/exercises/clip.md" in text


def test_waiting_checks_name_their_cause_and_unwritten_ones_their_line():
    result = small_result()
    (exercise,) = result.exercises
    waiting = CheckResult("clip.b", "ratio", "B", 1, False, False, WAITING, waits_for=["A ratio of 1"])
    frame = Frame("clip.py", 44, "f", "raise NotImplementedError")
    open_ = CheckResult("clip.c", "loss", "C", 1, False, True, NOT_WRITTEN, frames=[frame])
    exercise.checks += [waiting, copy.deepcopy(waiting), open_, copy.deepcopy(open_)]
    text = page_of(result).text
    assert text.count("It waits for: A ratio of 1") == 1
    assert text.count("The raise is on line 44 of clip.py.") == 1


def test_a_problem_of_the_file_is_told_once_and_a_missing_file_is_no_broken_code():
    for message, broken in (("SyntaxError: no", True), ("clip.py is missing", False)):
        result = small_result()
        check = CheckResult("clip.b", "ratio", "B", 1, False, True, BROKEN, message)
        result.exercises[0].checks = [check, copy.deepcopy(check)]
        result.exercises[0].not_imported = message if broken else ""
        text = page_of(result).text
        assert text.count(message) == 1 and ("cannot be imported" in text) is broken


def test_a_function_that_was_left_out_is_explained_once_by_its_own_check():
    result = small_result()
    (check,) = result.checks
    check.outcome, check.message = BROKEN, "SyntaxError: expected ':'"
    check.frames = [Frame("clip.py", 7, "<module>", "if kind == 'k1'")]
    result.notes = [
        Note("clip.py, line 7: the grader left out `ratio`", NoteKind.LEFT_OUT, ("clip.py", "ratio")),
        Note("clip.py, line 9: the grader left out `loss`", NoteKind.LEFT_OUT, ("clip.py", "loss")),
    ]
    text = page_of(result).text
    assert "ratio cannot be called" in text and "left out `ratio`" not in text and "left out `loss`" in text


def with_hidden_check(outcome=FAILED, public=PASSED, **more):
    result = small_result()
    (check,) = result.checks
    check.outcome = public
    hidden = CheckResult("clip.hidden", "ratio", "It agrees on fresh input.", 3, True, False, outcome, **more)
    result.exercises[0].checks.append(hidden)
    return result


def test_a_hidden_check_that_fails_alone_is_named_with_the_points_at_home_and_what_to_try_there():
    message = "the check does not hold for an input that is not shown (logp: float64 of shape (9,)); none found"
    text = page_of(with_hidden_check(message=message, withheld=True)).text
    notice = text[: text.index("2 of 5 points")]
    assert "2 of 2 points" in notice and "ratio, 3 points: It agrees on fresh input." in notice
    assert "does not have this check" in text and "grade clip.ratio --seed 1" in text
    shown = page_of(with_hidden_check(message=message, withheld=True, call="ratio(2)")).text
    assert "paste the call" in shown and "--seed 1" not in shown


@pytest.mark.parametrize(
    ("outcome", "public", "owed_to"),
    [(PASSED, PASSED, []), (WAITING, FAILED, []), (FAILED, FAILED, []), (FAILED, PASSED, ["kl.other"])],
)
def test_nothing_is_said_of_hidden_checks_where_grade_or_another_function_says_it(outcome, public, owed_to):
    text = page_of(with_hidden_check(outcome, public, owed_to=owed_to)).text
    assert "does not have" not in text and "--seed" not in text


def test_no_mark_is_not_told_as_0_points():
    text = Page(html_report.page(small_result(), no_grade="none of its code is readable")).text
    assert "no grade" in text and "none of its code is readable" in text
    assert "Points by exercise" not in text and not re.search(r"[0-9] of [0-9]+ points", text)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"problem": "the disk is full", "complete": False}, "The grader could not finish: the disk is full"),
        ({"complete": False}, "Incomplete: the grading was stopped"),
        ({"grade": False, "isolation_level": -1, "walls": []}, "Debug mode gives no grade."),
        ({"isolation_level": 0, "walls": []}, "This is a self-check"),
    ],
)
def test_warnings_come_before_the_total(changes, said):
    text = page_of(small_result(**changes)).text
    assert 0 < text.index(said) < text.index("0 of 2 points")
    assert said not in page_of(small_result()).text


# Learning curves


def test_a_gap_is_drawn_as_a_gap_and_said():
    result = small_result()
    check = result.checks[0]
    check.curves = [curves.curve("Reward", [1.0, 2.0, float("nan"), 4.0, None, 6.0, 7.0], y="reward")]
    html = export(result, "html", {})
    (path,) = re.findall(r'<path class="series-1" d="([^"]+)"/>', html)
    assert path.count("M") == 3
    assert "Yours: 1 at step 0, 7 at step 6. 2 values are not finite numbers." in Page(html).text


# As a file


def test_a_link_leads_to_the_site_of_the_course_where_there_is_one(monkeypatch):
    monkeypatch.setattr(course, "WRITTEN", replace(course.WRITTEN, site="https://example.org/grpo/"))
    links = [link["href"] for link in page_of(small_result()).named("a")]
    assert "https://example.org/grpo/exercises/clip/" in links
