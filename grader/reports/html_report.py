"""The report of one submission as one HTML file: everything that the terminal says, and how the training runs went.

The file loads nothing and runs nothing; see `core.html`. It is for the student and for people who help, so it shows
hidden checks in full: do not publish it before the due date. The template `grading` has the layout; this module decides
which details to show, and which of them only once. It leaves out hints, which students ask for one by one, and times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal

from ..core import course
from ..core.by_hand import ByHand, shown, signed, with_by_hand
from ..core.html import render
from ..core.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_RUN,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
    NamedMistake,
    Result,
)
from ..core.text import as_sentence, pluralize
from ..grading import curves
from .comparison import FURTHER, TITLE, Comparison, comparisons, not_answered
from .outcomes import (
    SIGNS,
    afterwards,
    at_home,
    corner_cases,
    file_name,
    owed,
    problem_of_the_file,
    unseen_at_home,
    word,
)
from .shared_texts import all_passed, causes, notes, rows, runs_no_code, total
from .svg_chart import Figure, Series, line_chart, number, numbers_of, small_bar

_DETAILED = (FAILED, BROKEN, GRADER_ERROR)


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The whole file.

    Args:
        result: What the grading found, complete or not.
        environment: Not used.
    """
    return page(result)


def page(
    result: Result,
    *,
    by_hand: Sequence[ByHand] = (),
    no_grade: str = "",
    late_rule: str = "",
    changed: str = "",
    in_notebook: bool = False,
) -> str:
    """The whole file, of a submission of a class.

    Args:
        result: What the grading found, complete or not.
        by_hand: Points that the instructor added or deducted.
        no_grade: Why there is no grade, not even 0; empty if there is one.
        late_rule: The rule for late work, if the numbers do not include the deduction.
        changed: How and why the points changed since the last report; empty if they did not.
        in_notebook: Whether a notebook shows it below a cell.
    """
    return render(
        "grading",
        title=f"Report: {result.submission}",
        result=result,
        total=total(result),
        adjusted=_adjusted(result, by_hand, no_grade) if by_hand else None,
        no_grade=no_grade,
        late_rule=late_rule,
        changed=changed,
        in_notebook=in_notebook,
        notices=_notices(result),
        facts=_facts(result),
        exercises=[_section(exercise) for exercise in result.exercises],
        runs=_runs(result),
        sign=SIGNS.__getitem__,
        word=word,
        bar=small_bar,
        answers_title=TITLE,
        further=FURTHER.capitalize(),
    )


@dataclass(frozen=True)
class _Adjusted:
    """Points by hand.

    Attributes:
        lines: Points with their sign, and the reasons.
        counts: The points that count in the end; empty without a grade.
    """

    lines: tuple[tuple[str, str], ...]
    counts: str


def _adjusted(result: Result, by_hand: Sequence[ByHand], no_grade: str) -> _Adjusted:
    lines = tuple(
        (signed(each.points), f"{each.reason} (for {each.student} only)" if each.student else each.reason)
        for each in by_hand
    )
    return _Adjusted(lines, "" if no_grade else shown(with_by_hand(Decimal(result.earned), by_hand)))


def _notices(result: Result) -> list[str]:
    """Notes to read before the total."""
    lines = notes(result)
    if not result.grade:
        lines = ["Debug mode gives no grade. Run `grade` to get one.", *lines[:-1]]  # it is not a self-check either
    if result.grade and result.exit_code == 0:
        lines.insert(0, all_passed(result))
    return lines + _why_not_at_home(result)


def _why_not_at_home(result: Result) -> list[str]:
    """Hidden checks that failed alone, so that a student's own `grade` gave more points. Empty if none did."""
    unseen = [check for exercise in result.exercises for check in unseen_at_home(exercise)]
    if not unseen or not result.grade:
        return []
    had = [check for check in result.checks if not check.hidden]
    earned = sum(check.earned for check in had)
    points = result.points - sum(
        check.points for each in result.exercises if not each.bonus for check in each.checks if check.hidden
    )
    named = "; ".join(
        f"{each.function}, {pluralize(each.points, 'point')}: {each.title.removesuffix('.')}" for each in unseen
    )
    return [
        f"Your copy of the course does not have the hidden checks. Without them, you have {earned} of {points} "
        f"points. These hidden checks failed although all others of the function passed: {named}. Each of them says "
        "below what to try at home."
    ]


def _facts(result: Result) -> list[tuple[str, str]]:
    level = f"{result.isolation_level} ({', '.join(result.walls) or 'a separate process'})"
    if runs_no_code(result):
        level = "the grading ran no code of the submission"
    elif not result.grade:
        level = "none: in the grader's own process"
    return [
        ("Submission", result.submission),
        ("Isolation level", level),
        ("Seed of the generated inputs", str(result.seed)),
        ("Device", result.device),
        ("Course", f"{course.TITLE}, version {result.course_version}"),
        ("Digest of the graded files", result.sha256[:16]),
    ]


# One exercise


@dataclass(frozen=True)
class _Mistake:
    """A known mistake that the numbers show, and the page that explains it."""

    sentence: str
    explanation: str
    address: str


@dataclass(frozen=True)
class _Details:
    """Details of a check below its line.

    Attributes:
        rows: Place, call and answer.
        message: What is wrong.
        mistakes: Mistakes that appear here first.
        is_named_above: Whether a mistake of this check appeared above.
        remark: Further remarks.
    """

    rows: tuple[tuple[str, str], ...] = ()
    message: str = ""
    mistakes: tuple[_Mistake, ...] = ()
    is_named_above: bool = False
    remark: str = ""


@dataclass(frozen=True)
class _ShownCheck:
    """A check on the page."""

    check: CheckResult
    kind: str
    details: _Details


@dataclass(frozen=True)
class _Section:
    """An exercise on the page.

    Attributes:
        exercise: Its points and names.
        file_name: The file in which students write it.
        problem: A problem with the whole file; the page then shows its details once instead of for each check.
        functions: Name of each function with its checks.
        corner_cases: Name of each function with the page of its corner cases, if that helps with its failures.
        address: The page to read.
        afterwards: The page to read after full points; empty before.
        owed: Points lost only because of mistakes in other functions.
        comparisons: Worksheet answers next to what the numbers show.
        not_answered: Unanswered questions of the worksheet.
    """

    exercise: ExerciseResult
    file_name: str
    problem: str
    details: _Details
    functions: tuple[tuple[str, tuple[_ShownCheck, ...]], ...]
    corner_cases: dict[str, str]
    address: str
    afterwards: str
    owed: str
    comparisons: list[Comparison]
    not_answered: list[str]


def _section(exercise: ExerciseResult) -> _Section:
    problem = problem_of_the_file(exercise)
    return _Section(
        exercise,
        file_name(exercise),
        problem,
        _failure(exercise.checks[0]) if problem and problem != exercise.checks[0].message else _Details(),
        tuple(
            (function, tuple(_checks(exercise, function, detailed=not problem)))
            for function in dict.fromkeys(check.function for check in exercise.checks)
        ),
        {check.function: corner_cases(exercise, check.function) for check in exercise.checks},
        course.page_address(exercise.page),
        afterwards(exercise),
        owed(exercise),
        comparisons(exercise),
        not_answered(exercise),
    )


def _checks(exercise: ExerciseResult, function: str, *, detailed: bool) -> Iterator[_ShownCheck]:
    """All checks of one function; a known mistake or a reason to wait appears once, at the first check that has it."""
    explained: set[str] = set()
    before = _Details()
    checks = [check for check in exercise.checks if check.function == function]
    for check in checks:
        named = [found for found in exercise.known_mistakes if found.check == check.id]
        in_full = check.outcome in _DETAILED
        way = at_home(exercise, check)
        details = _failure(check, named, explained, way=way) if in_full else _Details(remark=_remark(check))
        explained |= {found.sentence for found in named}
        yield _ShownCheck(check, _kind(check.outcome), _Details() if details == before or not detailed else details)
        before = details


def _remark(check: CheckResult) -> str:
    """The remark on a check that did not go wrong."""
    if check.outcome == WAITING and check.waits_for:
        return f"It waits for: {'; '.join(check.waits_for)}"
    if check.outcome == NOT_WRITTEN and check.frames:
        return f"The `raise` is on line {check.frames[-1].line} of {check.frames[-1].file}."
    return check.message


def _failure(
    check: CheckResult, named: Sequence[NamedMistake] = (), explained: Set[str] = frozenset(), *, way: str = ""
) -> _Details:
    """What a student needs to find the mistake: line, call, answer, and the name of the mistake."""
    come_from = f"Possible cause: {'; '.join(check.may_come_from)}" if check.may_come_from else ""
    return _Details(
        rows=tuple(rows(check)),
        message=as_sentence(check.message),
        mistakes=tuple(
            _Mistake(cause.sentence, cause.explanation, course.page_address(cause.page) if cause.page else "")
            for cause in causes(check, [found for found in named if found.sentence not in explained])
        ),
        is_named_above=any(found.sentence in explained for found in named),
        remark=" ".join(filter(None, (way, come_from))),
    )


def _kind(outcome: str) -> str:
    return "right" if outcome == PASSED else "wrong" if outcome in _DETAILED else "open"


# Training runs


@dataclass(frozen=True)
class _Run:
    """The training run of a check: its charts, or the reason why there are none."""

    check: CheckResult
    figures: tuple[Figure, ...]
    why_there_is_none: str


def _runs(result: Result) -> list[_Run]:
    """The curves of the submission and the model answer, for checks with a training run."""
    checks = [check for check in result.checks if check.curves or check.id in curves.of_model_answers()]
    return [_Run(check, tuple(_figures(check)), _why_no_run(check.outcome)) for check in checks]


def _why_no_run(outcome: str) -> str:
    if outcome in (NOT_WRITTEN, WAITING, NOT_RUN):
        return "There is no run to draw yet: this check has not run."
    return "There is no run to draw: the check ended before your code returned a usable history."


def _figures(check: CheckResult) -> Iterator[Figure]:
    for index, curve in enumerate(check.curves, 1):
        model = [each for each in curves.of_model_answers().get(check.id, ()) if each.title == curve.title]
        series = [Series("yours", curves.steps(curve), curve.values)]
        series += [Series("model answer", curves.steps(each), each.values) for each in model]
        name, title, x_label = f"{check.id.replace('.', '-')}-{index}", str(curve.title), str(curve.x)
        words = " ".join(map(_course_of, series))
        chart = line_chart(series, name=name, title=title, x_label=x_label, y_label=str(curve.y), description=words)
        header = [x_label, *(each.label for each in series)]
        yield Figure(name, title, title, chart, header, numbers_of(series), words)


def _course_of(series: Series) -> str:
    """A curve in a sentence: where it begins and where it ends."""
    points = [(x, value) for x, value in zip(series.x, series.values, strict=True) if value is not None]
    (first, begins), (last, ends) = points[0], points[-1]
    lost = len(series.values) - len(points)
    gap = f" {lost} values are not finite numbers." if lost else ""
    label = series.label[0].upper() + series.label[1:]
    return f"{label}: {number(begins)} at step {number(first)}, {number(ends)} at step {number(last)}.{gap}"
