"""The class report: its numbers next to numpy's, what it must not tell, its page, its tables, and the command."""

from __future__ import annotations

import csv
import io
import math
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from urllib.parse import unquote

import lxml.html
import numpy as np
import pytest
from command import call
from hypothesis import given
from hypothesis import strategies as st
from reported_class import CHECKS, LAYOUT, POINTS, SECRET, class_of, entry, mistake, result, secret_class, write_results

from grader.classroom.outcomes_csv import outcomes_csv
from grader.classroom.page import class_page
from grader.classroom.report import BINS, class_report, named
from grader.classroom.results import Person, file_name
from grader.commands import course as course_command
from grader.core import course
from grader.core.by_hand import ByHand
from grader.core.result import BROKEN, FAILED, NOT_RUN, NOT_WRITTEN, PASSED, WAITING, CheckResult, ExerciseResult

OUTCOMES = st.lists(
    st.sampled_from((PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING, NOT_RUN)), min_size=CHECKS, max_size=CHECKS
)
CLASSES = st.lists(OUTCOMES, min_size=1, max_size=12)

# The numbers


@given(CLASSES)
def test_every_number_is_numpys(outcomes: list[list[str]]) -> None:
    entries = class_of(*outcomes)
    report = class_report(entries)
    points = [worth for functions in LAYOUT.values() for each in functions.values() for worth in each]
    passed = np.array([[outcome == PASSED for outcome in each] for each in outcomes])
    earned = (passed * points).sum(1)
    rest = earned[:, None] - passed * points
    assert len(report.checks) == CHECKS
    for place, check in enumerate(report.checks):
        column = [each[place] for each in outcomes]
        counts = (check.passed, check.failed, check.broken, check.not_written, check.waiting, check.other)
        assert counts == tuple(map(column.count, (PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING, NOT_RUN)))
        assert check.difficulty == np.mean(passed[:, place])
        if len({*passed[:, place]}) == 2 and np.ptp(rest[:, place]):
            expected = np.corrcoef(passed[:, place], rest[:, place])[0, 1]  # without the check's own points
            assert check.discrimination == pytest.approx(expected, abs=1e-9)
        else:
            assert check.discrimination is None
    totals = report.totals
    assert (totals.points, totals.count, totals.full) == (POINTS, len(outcomes), list(earned).count(POINTS))
    assert totals.mean == pytest.approx(np.mean(earned))
    assert totals.quartiles == pytest.approx(np.quantile(earned, [0, 0.25, 0.5, 0.75, 1]))
    tenths = [min(BINS - 1, math.floor(Fraction(int(each), POINTS) * BINS)) for each in earned]
    assert totals.bins == tuple(map(tenths.count, range(BINS)))
    assert totals.untouched == sum({*each} == {NOT_WRITTEN} for each in outcomes)
    assert [each.distribution.points for each in report.exercises] == [6, 4]


@given(CLASSES)
def test_each_submission_stops_at_the_first_function_that_did_not_pass(outcomes: list[list[str]]) -> None:
    report = class_report(class_of(*outcomes))
    parts = {"f": slice(0, 2), "g": slice(2, 3), "h": slice(3, 5)}
    kinds = [{name: {*each[part]} for name, part in parts.items()} for each in outcomes]
    stops = [next((name for name in parts if each[name] != {PASSED}), "") for each in kinds]
    assert report.finished == stops.count("")
    for each in report.functions:
        name = each.function
        unwritten = [kind for kind, stop in zip(kinds, stops, strict=True) if stop == name]
        assert each.stopped == stops.count(name)
        assert each.stopped_unwritten == sum(kind[name] == {NOT_WRITTEN} for kind in unwritten)
        assert each.started == sum(kind[name] != {NOT_WRITTEN} for kind in kinds)
        assert each.passed == sum(kind[name] == {PASSED} for kind in kinds)


def test_a_known_mistake_counts_once_for_each_submission_and_the_most_frequent_comes_first() -> None:
    entries = class_of(*[[FAILED] * CHECKS] * 3)
    shown = [["rare", "often"], ["often", "often"], ["often"]]
    for each, names in zip(entries, shown, strict=True):
        assert each.result
        each.result.exercises[0].known_mistakes = [mistake(name) for name in names]
    found = class_report(entries).known_mistakes
    assert [(each.name, each.count) for each in found] == [("often", 3), ("rare", 1)]
    assert (found[0].exercise, found[0].function, found[0].sentence) == ("one", "f", "you do often")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("AssertionError: Torch not compiled with CUDA enabled (kl.py, line 98)", "AssertionError"),
        ("ModuleNotFoundError: No module named 'einops' (kl.py, line 2)", "ModuleNotFoundError"),
        ("Jane Doe, 0042: hello", "something else"),
    ],
)
def test_a_module_that_cannot_be_imported_shows_no_known_mistake(text: str, kind: str) -> None:
    entries = class_of(*[[FAILED] * CHECKS] * 3)
    for each in entries[1:]:
        assert each.result
        each.result.exercises[0].known_mistakes = [mistake("exception")]
        each.result.exercises[0].not_imported = text
        each.result.exercises[0].checks[0].error = kind if kind in text else ""
    report = class_report(entries)
    assert not report.known_mistakes
    assert [(each.exercise, each.kind, each.count) for each in report.imports] == [("one", kind, 2)]
    page = class_page(report)
    assert "What could not be imported?" in page and f"one.py</code>, {kind}: 2 submissions" in page
    assert "Jane" not in page and "What could not be imported?" not in class_page(class_report(entries[:1]))


def test_only_complete_results_count_and_the_others_are_told_apart() -> None:
    all_passed = [PASSED] * CHECKS
    entries = [
        entry(0, result(all_passed)),
        entry(1, result(all_passed, level=0)),
        entry(2, None),
        entry(3, None, problem="no worker"),
        entry(4, result(all_passed, complete=False)),
        entry(5, result(all_passed, problem="the sandbox is gone")),
    ]
    report = class_report(entries)
    assert (report.handed_in, report.graded, report.waiting, report.failed, report.without_walls) == (6, 2, 1, 3, 1)
    assert class_report(entries[2:4]).finished == 0, "nothing was graded"
    assert report.checks[0].count == 2
    remarks = {each.name: " ".join(each.remarks) for each in named(entries).submissions}
    for number, words in {1: "isolation level 0", 2: "not graded yet", 3: "no worker", 5: "sandbox is gone"}.items():
        assert words in remarks[f"{SECRET}-folder-{number}"]


def test_a_module_that_is_missing_or_cannot_be_read_was_not_written() -> None:
    broken, all_passed = [BROKEN] * 3, [PASSED] * CHECKS
    outcomes = [*broken, PASSED, PASSED]
    missing = entry(0, result([BROKEN, WAITING, BROKEN, PASSED, PASSED], seconds=9.0), unread=("one", "three"))
    entries = [missing, entry(1, result(outcomes)), entry(2, result(all_passed))]
    report = class_report(entries)
    assert [(each.function, each.started) for each in report.functions] == [("f", 2), ("g", 2), ("h", 3)]
    assert (report.functions[0].stopped, report.functions[0].stopped_unwritten) == (2, 1)
    assert [each.distribution.untouched for each in report.exercises] == [1, 0]
    first = report.checks[0]
    assert (first.passed, first.broken, first.not_written) == (1, 1, 1)
    assert missing.result and missing.result.checks[0].outcome == BROKEN, "what was read stays as it was"
    nothing = [entry(n, result([BROKEN] * CHECKS), unread=("one", "two"), key="same") for n in (3, 4)]
    assert [each.missing for each in report.exercises] == [1, 0]
    assert "Exercise one: 1 submission without a file that can be read" in class_page(report)
    assert named(nothing).equal == ()
    report = class_report([*entries, *nothing])
    assert (report.graded, report.without_code, report.failed, report.waiting) == (3, 2, 0, 0)
    assert report.totals == class_report(entries).totals, "what nobody could read is not 0 points"
    assert [each.earned for each in named(nothing).submissions] == [None, None]
    assert all("none of its code is readable" in each.remarks[-1] for each in named(nothing).submissions)


def test_results_of_the_worksheet_are_an_exercise_but_no_step_of_the_course() -> None:
    graded = result([PASSED] * CHECKS, level=0)
    check = CheckResult("worksheet.1A", "step_1a", "An answer", 30, False, False, outcome=NOT_WRITTEN)
    graded.exercises.append(ExerciseResult("worksheet", "The bandit worksheet", "docs/worksheet.md", [check]))
    report = class_report([entry(0, graded)])
    assert report.exercises[-1].name == "worksheet" and report.totals.points == POINTS + 30
    assert [each.function for each in report.functions] == ["f", "g", "h"] and report.finished == 1
    graded.exercises = graded.exercises[-1:]
    assert class_report([entry(0, graded)]).without_walls == 0  # nothing of a student was run


def test_equal_contents_of_different_people_are_listed_but_not_those_of_one_or_of_nobody() -> None:
    done, stub = result([PASSED] * CHECKS), result([NOT_WRITTEN] * CHECKS)
    same = (Person(name="A"),)
    other = replace(done, sha256="b" * 64)
    entries = [entry(0, done), entry(1, done, key="with another worksheet"), entry(2, other, people=same)]
    entries += [entry(3, other, people=same), entry(4, stub), entry(5, stub)]
    assert named(entries).equal == ((f"{SECRET}-folder-0", f"{SECRET}-folder-1"),)


# What it tells


def test_only_the_page_with_names_holds_names_and_no_page_texts_of_students() -> None:
    entries = secret_class()
    report = class_report(entries)
    for text in (class_page(report), repr(report)):
        assert len(text) > 100 and SECRET.casefold() not in text.casefold() and "Müller" not in text
    text = class_page(report, named=named(entries))
    assert "Do not share it" in text and f"{SECRET} Müller 2" in text and f"{SECRET}-folder-7" in text
    assert f"{SECRET} of a student" not in text


def test_the_page_says_what_makes_its_numbers_doubtful() -> None:
    entries = secret_class()
    assert entries[0].result
    entries[0].result.isolation_level, entries[0].result.course_version = 0, "0.9"
    text = class_page(class_report(entries))
    for words in ("fewer than 20", "isolation level 0", "different versions", "Could not be graded", "Not graded yet"):
        assert words in text
        assert words not in class_page(class_report(class_of(*[[PASSED] * CHECKS] * 20)))


def tables(page: str) -> dict[str, list[list[str]]]:
    """All tables of a page: caption to rows of cells."""
    return {
        table.findtext("caption"): [[cell.text_content() for cell in row.iter("td", "th")] for row in table.iter("tr")]
        for table in lxml.html.document_fromstring(page).iter("table")
    }


def test_the_page_shows_the_numbers_of_the_report() -> None:
    report = class_report(secret_class())
    shown = tables(class_page(report))
    outcomes = {row[0].split(" f")[0]: row[1:] for row in shown["Outcomes of all checks"]}
    assert outcomes["f 0"] == ["1", "1", "0", "1", "0", "0"]
    grades = {row[0]: row for row in shown["Points by exercise"]}
    assert grades["All"][1:4] == ["10", "3", "3.3"] and grades["Exercise one"][-2:] == ["1", "1"]
    checks = {row[0].split(" f")[0]: row for row in shown["All checks"]}
    assert checks["f 0"][1:3] == ["3", "1 of 3"] and checks["f 0"][4:6] == ["0.33", "1.00"]
    assert shown["Mistakes found"][1][:4] == ["you do wrong", "f", "1", "33.3%"]
    assert [row[5] for row in shown["How far submissions got"][1:]] == ["2", "0", "0"]
    bins = shown["All points: submissions by points"]
    assert [row[1] for row in bins[1:]] == list(map(str, report.totals.bins))


def test_a_mistake_leads_to_its_page_where_the_pages_are_published(monkeypatch):
    report = class_report(secret_class())
    assert tables(class_page(report))["Mistakes found"][1][-1] == "docs/exercises/one/mistakes.md"
    link = '<a href="https://example.org/grpo/exercises/one/mistakes/#wrong">exercises/one/mistakes</a>'
    assert link in class_page(report, site="https://example.org/grpo/")
    monkeypatch.setattr(course, "WRITTEN", replace(course.WRITTEN, site="https://example.org/grpo/"))
    assert link in class_page(report)


def test_a_check_that_the_better_ones_fail_is_pointed_out_and_one_of_a_small_class_is_not() -> None:
    good = [FAILED, PASSED, PASSED, PASSED, PASSED]
    weak = [PASSED, FAILED, FAILED, FAILED, FAILED]
    rows = tables(class_page(class_report(class_of(*[good] * 10, *[weak] * 10))))["All checks"]
    assert "earn less elsewhere" in rows[1][6] and rows[2][6] == ""
    rows = tables(class_page(class_report(class_of(good, weak))))["All checks"]
    assert rows[1][6] == ""


def test_a_line_for_each_check_of_each_submission_has_the_sums_of_the_report_and_names_nobody() -> None:
    missing = entry(5, result([BROKEN, WAITING, BROKEN, PASSED, PASSED]), unread=("one",))
    unreadable = entry(6, result([BROKEN] * CHECKS), unread=("one", "two"))
    entries = [*secret_class(), missing, unreadable]
    report = class_report(entries)
    text = outcomes_csv(entries, names=False)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == report.graded * CHECKS and SECRET not in text
    for each in report.checks:
        of_check = [row for row in rows if row["check"] == each.id]
        count = Counter(row["outcome"] for row in of_check)
        assert (count["passed"], count["failed"], count["not written"]) == (
            each.passed, each.failed, each.not_written,
        )  # fmt: skip
        assert {row["of"] for row in of_check} == {str(each.points)}
    earned = Counter[str]()
    for row in rows:
        earned[row["submission"]] += int(row["points"])
    assert sorted(earned.values()) == sorted([POINTS, 0, 0, 4])
    (mistaken,) = (row for row in rows if row["mistakes"])
    assert (mistaken["check"], mistaken["mistakes"]) == ("one.f0", "f.wrong")


def test_marks_by_hand_are_counted_without_names_and_told_with_them() -> None:
    entries = secret_class()
    before = class_page(class_report(entries))
    entries[1] = replace(entries[1], by_hand=(ByHand(Decimal("2.5"), f"{SECRET} asked"),))
    report = class_report(entries)
    page = class_page(report)
    assert "Points by hand" in page and SECRET not in page and "Points by hand" not in before
    assert report.totals == class_report(secret_class()).totals, "the numbers are about what the code earned"
    rows = tables(class_page(report, named=named(entries)))["All submissions"]
    assert rows[0][2:5] == ["Points", "By hand", "Counts"]
    assert [row[2:5] for row in rows[1:4]] == [
        ["10", "", "10"], ["0", f"+2.5: {SECRET} asked", "2.5"], ["0", "", "0"],
    ]  # fmt: skip


def test_lines_of_each_check_are_by_name_only_if_asked_and_never_in_the_order_of_names() -> None:
    first, second, third = class_of(*[[PASSED] * CHECKS] * 3)
    entries = [replace(first, key="b" * 64), replace(second, key="a" * 64), replace(third, key="b" * 64)]
    for names, order in ((True, [each.name for each in entries]), (False, ["a" * 12, "b" * 12, "b" * 12 + "-2"])):
        rows = csv.DictReader(io.StringIO(outcomes_csv(entries, names=names)))
        assert list(dict.fromkeys(row["submission"] for row in rows)) == order


# The command


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return call(course_command.main, "report", *arguments, cwd=cwd)


def test_the_command_writes_the_page_and_a_line_for_each_check(tmp_path: Path) -> None:
    entries = secret_class()
    write_results(tmp_path / "results", entries)
    for more, who in ((), entries[0].key[:12]), (("--names",), entries[0].name):
        done = run("results", "--out", "r.html", "--outcomes", "o.csv", *more, cwd=tmp_path)
        assert done.returncode == 1 and "3 graded, 2 without a grade" in done.stdout
        rows = list(csv.DictReader((tmp_path / "o.csv").read_text("utf-8").splitlines()))
        assert len(rows) == 3 * CHECKS and who in {row["submission"] for row in rows}
        assert (tmp_path / "r.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("results", "--out", "r.txt"), "end in .html"),
        (("results", "--out", "nowhere/r.html"), "there is no folder nowhere"),
        (("results", "--out", "r.html", "--outcomes", "o.txt"), "end in .csv"),
        (("results", "--out", "r.html", "--outcomes", "results/o.csv"), "own CSV files"),
        (("results", "--out", "r.html", "--site", "javascript:alert(1)"), "must be an address"),
        ((".", "--out", "r.html"), "contains no submissions.json"),
    ],
)
def test_wrong_usage_is_told_and_writes_nothing(tmp_path: Path, arguments: Sequence[str], sentence: str) -> None:
    write_results(tmp_path / "results", class_of([PASSED] * CHECKS))
    before = sorted(tmp_path.rglob("*"))
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and sentence in " ".join(done.stderr.split())
    assert sorted(tmp_path.rglob("*")) == before


def test_names_lead_to_the_reports_that_were_written(tmp_path: Path) -> None:
    one, other, third = class_of([PASSED] * CHECKS, [PASSED] * CHECKS, [PASSED] * CHECKS)
    one = replace(one, name="Zoë: 50% #1 <b>")
    write_results(tmp_path / "results", [one, other, third])
    (tmp_path / "results" / "html").mkdir()
    for each in (one, third):
        (tmp_path / "results" / "html" / f"{file_name(each.name)}.html").write_text(f"report of {each.key}", "utf-8")
    (tmp_path / "pages").mkdir()
    assert run("results", "--out", "pages/n.html", "--names", cwd=tmp_path).returncode == 0
    page = lxml.html.fromstring((tmp_path / "pages" / "n.html").read_text("utf-8"))
    links = {link.text_content().strip(): unquote(link.get("href")) for link in page.iter("a")}
    reports = {name: (tmp_path / "pages" / address).read_text("utf-8") for name, address in links.items()}
    assert reports == {each.name: f"report of {each.key}" for each in (one, third)}
    run("results", "--out", "pages/r.html", cwd=tmp_path)
    assert "results/html" not in (tmp_path / "pages" / "r.html").read_text("utf-8")
