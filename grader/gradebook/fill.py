"""Fills the grades of a class into one column of the gradebook that a learning platform exported.

From a table, its layout and the entries of a class, it makes the table with new cells in that column, and everything
that a person should know about it.

It adds no rows for people who are not in the export, because Moodle refuses a file with an unknown person, and no
columns, because the platforms would make unwanted assignments of them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from decimal import ROUND_HALF_UP, Decimal

from ..classroom.results import Entry, Person, identifies, personal, unmatched_points
from ..core import course
from ..core.by_hand import ByHand, shown, with_by_hand
from ..core.text import pluralize, spreadsheet_safe
from .late import LateRule, deduction, in_zone
from .layout import BLANK, Column, Layout, choose_column, number
from .people import GradebookStudent, Students
from .roster import Roster, roster_to_check
from .table import GradebookError, Table

NEW, SAME, CHANGED, LEFT, ZERO = "new", "unchanged", "changed", "left alone", "zero"
NO_FEEDBACK, ADD_FEEDBACK, RENEW_FEEDBACK = "no", "add", "renew"


@dataclass(frozen=True)
class Options:
    """The instructor's decisions; `course gradebook` has options with the same names.

    Attributes:
        maximum: The highest grade of the column, if the export does not say it.
        grade_of: Points to the grade to write instead of them; None writes points.
        feedback: `NO_FEEDBACK`; `ADD_FEEDBACK`, into empty cells; `RENEW_FEEDBACK`, also over older ones of ours.
    """

    column: str = ""
    scale: bool = False
    maximum: Decimal | None = None
    missing_zero: bool = False
    trust_late_marks: bool = False
    grade_of: Callable[[Decimal], str] | None = None
    feedback: str = NO_FEEDBACK
    roster: Roster = field(default_factory=Roster)
    skipped: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CellChange:
    """The change to the cell of one student.

    Attributes:
        student: Name in the gradebook.
        submission: Name of the entry; empty if there is none.
        old: The old text.
        new: The new text.
        kind: `NEW`; `SAME`; `CHANGED`, another grade was there; `LEFT`, nothing can or may be written; `ZERO`, nothing
            was handed in.
        note: Anything special.
        late: How late it was, and the deduction; empty if it was on time.
    """

    student: str
    submission: str
    old: str
    new: str
    kind: str
    note: str = ""
    late: str = ""


@dataclass(frozen=True)
class Filled:
    """A filled gradebook.

    Attributes:
        table: With the new cells.
        column: The filled column.
        lines: The change to each cell, in the order of the gradebook.
        problems: Decisions for a person. Grades that depend on them are not written.
        notes: Notes for a person.
        without: Names of the students without a submission; none while a submission may be anybody's.
        doubted: Whether one of them may own a submission whose owner was not found.
        ownerless: The lines of a roster for the submissions without an owner, to check or complete.
    """

    table: Table
    column: Column
    lines: tuple[CellChange, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    without: tuple[str, ...]
    doubted: bool = False
    ownerless: tuple[str, ...] = ()

    @property
    def has_grades(self) -> bool:
        """Whether a cell holds a grade that comes from these results."""
        return any(line.kind != LEFT for line in self.lines)


@dataclass(frozen=True)
class Time:
    """The time of a submission, whether it is from the export, and why the export's time is not used."""

    moment: datetime | None = None
    of_export: bool = False
    problem: str = ""


@dataclass(frozen=True)
class _Score:
    """The points that count for one student, with the text next to the grade.

    Points are None if they cannot be determined. `given` are the instructor's decisions that concern this student.
    """

    entry: Entry
    time: Time
    points: Decimal | None
    note: str = ""
    late: str = ""
    given: tuple[ByHand, ...] = ()

    @property
    def words(self) -> str:
        """The text for the student next to the points of the exercises."""
        counts = "" if self.points is None else f"counts {shown(two_decimals(self.points))} points"
        reasons = [*filter(None, (self.late, self.note))]
        return "; ".join([*reasons, counts]) if reasons else ""


def fill(
    table: Table, layout: Layout, entries: Sequence[Entry], late_rule: LateRule | None, options: Options
) -> Filled:
    """The gradebook with the grades of a class.

    A grade is rounded once, to two decimals, a half up.

    Args:
        table: The instructor's export.
        layout: The layout of the export.
        entries: The submissions, with their results.
        late_rule: The rule for late work; None if late work costs nothing.
        options: The instructor's decisions.

    Raises:
        GradebookError: nothing can be filled; the text says what to do.
        LateError: several extensions are for the same student.
    """
    if options.feedback != NO_FEEDBACK and layout.feedback is None:
        raise GradebookError("this export has no column for feedback; omit --feedback, or name it with --match")
    kept = [entry for entry in entries if entry.name not in options.skipped]
    column, full_points = choose_column(layout, options.column), _points(kept)
    maximum = full_points if options.grade_of else _maximum(column, full_points, options)
    students = Students(table, layout, layout.students)
    test_students = Students(table, layout, layout.test_students)
    submitted, ownerless, unmatched, notes = _matched(students, test_students, kept, options)
    skipped_students = _skipped(students, test_students, entries, options)
    if (ownerless or unmatched) and options.missing_zero:
        whose = [*(f"{name}: the owner is unknown" for name in ownerless), *unmatched]
        raise GradebookError("\n  ".join(["cannot write zeros before it is clear whose these are", *whose]))
    unclear = _extension_problems(late_rule, students, submitted)
    both = zip(students.all, submitted, strict=True)
    scores = [_judged(*each, layout, late_rule, options, certain=not unclear) for each in both]
    if not layout.takes_more and not options.grade_of:
        scores = [_at_most(score, full_points) for score in scores]
    comma = _decimal_comma(table, column)
    changes = _Changes(table, layout, column, _Comments(table, layout, options.feedback))
    for student, score in zip(students.all, scores, strict=True):
        if not score and student.number in skipped_students:
            notes.append(
                f"{student.person.name}: nothing written, because you skipped {skipped_students[student.number]}"
            )
        else:
            changes.add(student, score, _cell_text(score, full_points, maximum, options, comma=comma))
    proposed = [students.proposal(name) for name in ownerless]
    without = [each for each in students.all if not submitted[each.number] and each.number not in skipped_students]
    without = [] if None in proposed else [each for each in without if each not in proposed]
    notes += _notes(kept, late_rule, sum(score.time.of_export for score in scores if score), options)
    notes += _notes_on_points(layout, scores, full_points, maximum) + changes.comments.notes()
    asked = [layout.time_question] if late_rule and layout.time_question else []
    unknown = [_about_ownerless(ownerless, kept)] if ownerless else []
    problems = [*unknown, *unmatched, *unclear, *asked, *_for_nobody(kept, students, submitted)]
    problems += _together(changes.undecided)
    lines = tuple(changes.lines)
    return Filled(
        table.changed(changes.cells),
        column,
        lines,
        tuple(problems),
        tuple(notes),
        tuple(each.person.name for each in without),
        doubted=bool(ownerless or unmatched),
        ownerless=roster_to_check(ownerless, students) if ownerless else (),
    )


def _about_ownerless(names: Sequence[str], entries: Sequence[Entry]) -> str:
    on_github = any(entry.name in names and entry.people for entry in entries)
    why = "; a GitHub user name does not say who somebody is" * on_github
    return f"the owner of {pluralize(len(names), 'submission')} is unknown{why}; give a roster"


def _together(undecided: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Each reason once, with all students that it concerns."""
    for why in dict.fromkeys(why for _, why in undecided):
        people = [who for who, reason in undecided if reason == why]
        if len(people) <= _LISTED:
            yield f"{', '.join(people)}: {why}"
        else:
            yield f"{', '.join(people[:_LISTED])} and {len(people) - _LISTED} more: {why}"


def only(entry: Entry, exercise: str) -> Entry:
    """A submission as if this exercise were all of it; a missing module then gives 0 points, as in the total."""
    if entry.result is None:
        return entry
    part = [replace(each, bonus=False) for each in entry.result.exercises if each.name == exercise]
    unread = entry.unread if entry.why_no_grade else ()
    return replace(entry, result=replace(entry.result, exercises=part), unread=unread, by_hand=())


def two_decimals(value: Decimal) -> Decimal:
    """Rounded to two decimals, half up, because the platforms show and compare no more."""
    return value.quantize(Decimal("0.01"), ROUND_HALF_UP)


def written(grade: Decimal, *, comma: bool) -> str:
    """A grade as text. A whole number has no decimals, so that it is the same number in every language."""
    text = str(int(grade)) if grade == int(grade) else str(grade)
    return text.replace(".", ",") if comma else text


def feedback(entry: Entry, note: str) -> str:
    """The comment next to a student's grade: the points of each exercise. Nothing in it comes from the submission.

    Args:
        entry: A submission with a result.
        note: The deduction for late work and points by hand; may be empty.
    """
    result = entry.result
    if result is None:
        raise ValueError(f"{entry.name} has no result")
    why = {each.name: " (cannot be imported)" for each in result.exercises if each.not_imported}
    why |= dict.fromkeys(entry.missing, " (no file)")
    exercises = (
        f"{each.name} {each.earned}/{each.points}{' bonus' * each.bonus}{why.get(each.name, '')}"
        for each in result.exercises
    )
    mistakes = len({found.name for each in result.exercises for found in each.known_mistakes if not each.not_imported})
    named = f" Known mistakes that the report names: {mistakes}." if mistakes else ""
    points = f"{course.TITLE}: {result.earned} of {result.points} points ({', '.join(exercises)})."
    return f"{points}{named}{f' {note[:1].upper()}{note[1:]}.' if note else ''}"


class _Comments:
    """The feedback cells: fill empty ones, and replace our own older comments on request.

    Text that a teacher added after our sentences stays, even in the same line, and so does every other comment.
    """

    def __init__(self, table: Table, layout: Layout, wish: str) -> None:
        self._table, self._column, self._wish = table, layout.feedback, wish
        self._others = self._older = self._renewed = 0
        title = "|".join(re.escape(text) for text in dict.fromkeys((course.TITLE, html.escape(course.TITLE))))
        text = r"[^<\r\n]*?"
        self._ours = re.compile(
            rf"(\s*(?:<p[^>]*>\s*)?)(?:{title}): \d+ of \d+ points \({text}\)\."
            r"(?: Known mistakes that the report names: \d+\.)?"
            rf"(?: (?:\d+ (?:day|hour)s? late|By hand|The last of|[\d.]+ points with bonus){text}"
            r"; counts [\d.]+ points\.)?"
        )

    def changed(self, row: int, score: _Score) -> dict[tuple[int, int], str]:
        """The cell of a row, if its text changes."""
        if self._column is None or self._wish == NO_FEEDBACK:
            return {}
        old, new = self._table.text(row, self._column), feedback(score.entry, score.words)
        ours = self._ours.match(old)
        if old in BLANK:
            return {(row, self._column): spreadsheet_safe(new)}
        if not ours:
            self._others += 1
        elif html.unescape(old[ours.end(1) : ours.end()]).strip() != new:
            self._older += self._wish != RENEW_FEEDBACK
            self._renewed += self._wish == RENEW_FEEDBACK
            if self._wish == RENEW_FEEDBACK:
                escaped = html.escape(new, quote=False) if "<" in ours[1] else new
                return {(row, self._column): spreadsheet_safe(f"{ours[1]}{escaped}{old[ours.end() :]}")}
        return {}

    def notes(self) -> list[str]:
        """How many comments were replaced, and how many stay."""
        counts = (
            (self._renewed, "comments of an earlier grading: renewed"),
            (self._older, "comments of an earlier grading: kept; --feedback renew replaces them"),
            (self._others, "feedback cells with another text: kept"),
        )
        return [f"{words} ({number})" for number, words in counts if number]


@dataclass(frozen=True)
class _Changes:
    """The cells to write, and what to say of them."""

    table: Table
    layout: Layout
    column: Column
    comments: _Comments
    cells: dict[tuple[int, int], str] = field(default_factory=dict)  # by row and column
    lines: list[CellChange] = field(default_factory=list)
    undecided: list[tuple[str, str]] = field(default_factory=list)  # student, and why there are no points

    def add(self, student: GradebookStudent, score: _Score | None, grade: str | None) -> None:
        """Write a student's grade into all rows of the student; None: there is no grade to write."""
        fixed = {row: _fixed(self.table, self.layout, row, self.column) for row in student.rows}
        if score and score.points is None and not all(fixed.values()):
            self.undecided.append((f"{student.person.name} ({score.entry.name})".strip(), score.note))
            return
        if not score and grade is None:
            return
        for row in student.rows:
            cell = row, self.column.index
            old = self.table.text(*cell)
            kind = LEFT if fixed[row] else _kind(old, grade or "", score)
            if grade is not None and kind in (NEW, CHANGED, ZERO):
                self.cells[cell] = spreadsheet_safe(grade)
            if score and kind in (NEW, SAME, CHANGED):
                self.cells.update(self.comments.changed(row, score))
            self.lines.append(_line(student, score, old, self.cells.get(cell, old), kind, fixed[row]))


def _points(entries: Iterable[Entry]) -> Decimal:
    """The maximum points of the graded exercises."""
    totals = sorted({entry.result.points for entry in entries if entry.result})
    if not totals or not totals[0]:
        raise GradebookError("no submission of this class has a result with points; run `course grade-all` first")
    if len(totals) > 1:
        raise GradebookError(
            f"the results are out of {' or '.join(map(str, totals))} points, so they cover different exercises; "
            "grade the class again, with the same exercises for all"
        )
    return Decimal(totals[0])


def _maximum(column: Column, points: Decimal, options: Options) -> Decimal:
    """The highest grade of the column, if it matches the grades or `--scale` allows scaling."""
    if None not in (column.maximum, options.maximum) and column.maximum != options.maximum:
        raise GradebookError(
            f"the highest grade of {column.header!r} is {column.maximum} in the export; give --scale without a number"
        )
    maximum = options.maximum if column.maximum is None else column.maximum
    if maximum is None:
        raise GradebookError(
            f"the export does not give the highest grade of {column.header!r}; look it up in the settings of the "
            f"assignment, and give it with --scale, as in --scale {points}"
        )
    if maximum <= 0:
        raise GradebookError(
            f"the highest grade of {column.header!r} is {maximum}; change that on the platform and export again"
        )
    if maximum != points and not options.scale:
        raise GradebookError(
            f"the results are out of {points} points, but {column.header!r} is out of {maximum}; --scale multiplies "
            f"every grade by {maximum}/{points}, or make the assignment worth {points} points and export again"
        )
    return maximum


def _decimal_comma(table: Table, column: Column) -> bool:
    """Whether numbers have a decimal comma: as in this column, or else as in the whole table."""
    everything = range(len(table.header))
    for columns in ((column.index,), everything):
        numbers = [table.text(row, each) for row in range(1, len(table.rows)) for each in columns]
        fractions = {"," in text for text in numbers if number(text) is not None and not text.lstrip("-").isdigit()}
        if len(fractions) == 1:
            return fractions.pop()
    return False


_LISTED = 8
_ENTER_TIME = "give the time in the column submitted_at of a roster"
Theirs = Sequence[tuple[Entry, Person]]
_Submitted = list[list[tuple[Entry, Person]]]
"""The submissions of each student of the gradebook, with the data from the submission's platform."""


def _matched(
    students: Students, test_students: Students, entries: Iterable[Entry], options: Options
) -> tuple[_Submitted, list[str], list[str], list[str]]:
    """The owners of the submissions, submissions that name none, owners who were not found, and things to check."""
    submitted: _Submitted = [[] for _ in students.all]
    ownerless: list[str] = []
    unmatched: list[str] = []
    notes = [f"left out: the test student {each.person.name} and all of its submissions" for each in test_students.all]
    notes += [
        f"{each} is the id of several students of the gradebook, so it identifies nobody" for each in students.shared
    ]
    for entry in entries:
        people = options.roster.people.get(entry.name, entry.people)
        if not people or all(person.platform == "github" for person in people):  # anybody may choose a user name
            ownerless.append(entry.name)
            continue
        for person in people:
            if test_students.find(person)[0]:
                continue
            student, remark = students.find(person)
            known = (person.name, person.email, person.username, person.number, person.platform_id)
            who = f"{entry.name}: {next(filter(None, known), '')}"
            if student is None:
                unmatched.append(f"{who}: {remark}")
                continue
            notes += [f"{who}: {remark}"] if remark else []
            if all(entry.name != other.name for other, _ in submitted[student.number]):
                submitted[student.number].append((entry, person))
    return submitted, ownerless, unmatched, notes


def _skipped(students: Students, test_students: Students, entries: Iterable[Entry], options: Options) -> dict[int, str]:
    """The submissions that the instructor skips, by student: these students get no zero for a missing submission."""
    skipped_students = [entry for entry in entries if entry.name in options.skipped]
    theirs = _matched(students, test_students, skipped_students, options)[0]
    return {number: ", ".join(entry.name for entry, _ in own) for number, own in enumerate(theirs) if own}


def _judged(
    student: GradebookStudent,
    theirs: Theirs,
    layout: Layout,
    late_rule: LateRule | None,
    options: Options,
    *,
    certain: bool,
) -> _Score | None:
    """The student's score; None without a submission."""
    zone = late_rule.zone if late_rule else None
    timed = zip(theirs, times(student, theirs, layout, zone, options.roster), strict=True)
    scores = [
        replace(
            _score(entry, time, late_rule, options, person, student.person),
            given=personal(entry.by_hand, person, student.person),
        )
        for (entry, person), time in timed
    ]
    if not certain:
        scores = [_undecided_if_lowered(score) for score in scores]
    return _chosen([_by_hand_at_last(score) for score in scores])


def _by_hand_at_last(score: _Score) -> _Score:
    """The score with points by hand: after the deduction for late work, and before scaling to the column."""
    given = score.given
    if not given or score.points is None:
        return score
    words = f"by hand {'; '.join(map(str, given))}"
    return replace(score, points=with_by_hand(score.points, given), note=words)


def _at_most(score: _Score | None, points: Decimal) -> _Score | None:
    """Moodle silently drops a grade above the maximum, or refuses the whole file."""
    if score is None or score.points is None or score.points <= points:
        return score
    if score.entry.result and score.entry.result.bonus:
        bonus = f"{shown(two_decimals(score.points))} points with bonus, of which the platform takes {points}"
        return replace(score, points=points, note="; ".join(filter(None, (score.note, bonus))))
    why = f"{score.words}, and the platform takes no more than all {points}; give fewer in adjustments.csv"
    return replace(score, points=None, note=why)


def _undecided_if_lowered(score: _Score) -> _Score:
    """While an extension names nobody, it may belong to anybody with a deduction for late work."""
    result = score.entry.result
    if score.points is None or result is None or score.points == result.earned:
        return score
    return replace(
        score, points=None, note=f"{score.late}, unless the extension that matches nobody belongs to this student"
    )


def times(student: GradebookStudent, theirs: Theirs, layout: Layout, zone: tzinfo | None, roster: Roster) -> list[Time]:
    """When each submission of a student came.

    The export has one time for each student, so it says nothing of several submissions, and nothing of those that were
    handed in elsewhere.
    """
    moments = [roster.times.get(entry.name, entry.submitted_at) for entry, _ in theirs]
    known = [moment if moment and moment.tzinfo else None for moment in moments]
    elsewhere = {person.platform for entry, _ in theirs for person in entry.people} - {"", layout.platform}
    exported = next((layout.submitted[row] for row in student.rows if row in layout.submitted), None)
    if exported is None or known != [None] or elsewhere:
        return [Time(moment) for moment in known]
    if exported.tzinfo:
        return [Time(exported.astimezone(UTC), of_export=True)]
    if zone is None:
        return [Time(problem="the export gives its time in the platform's time zone; add a time_zone to course.toml")]
    moment = in_zone(exported, zone)
    if moment is None:
        return [Time(problem=f"it came in an hour that a clock change repeats; {_ENTER_TIME}")]
    return [Time(moment, of_export=True)]


def _extension_problems(late_rule: LateRule | None, students: Students, submitted: _Submitted) -> list[str]:
    """Extensions that name nobody; one that names several students is refused."""
    problems = []
    for extension in late_rule.extensions if late_rule else ():
        named = [
            student.person.name
            for student in students.all
            if any(identifies(extension.student, each) for each in (student.person, *_people(submitted, student)))
        ]
        if len(named) > 1:
            raise GradebookError(f"the extension of {extension.student!r} matches several students: {', '.join(named)}")
        if not named:
            problems.append(
                f"the extension of {extension.student!r} matches nobody in the gradebook; correct it in "
                "extensions.toml, or remove it there. Until then, no grade with a deduction for late work is written"
            )
    return problems


def _for_nobody(entries: Iterable[Entry], students: Students, submitted: _Submitted) -> Iterator[str]:
    """Decisions on one member of a group who is not in the group."""
    for entry in entries:
        own = [each for each in students.all if any(theirs is entry for theirs, _ in submitted[each.number])]
        people = [person for each in own for person in (each.person, *_people(submitted, each))]
        yield from unmatched_points(entry, people)


def _people(submitted: _Submitted, student: GradebookStudent) -> Iterator[Person]:
    return (person for _, person in submitted[student.number])


def _score(entry: Entry, time: Time, late_rule: LateRule | None, options: Options, *people: Person) -> _Score:
    """What a submission counts for one student, as each source knows them."""

    def undecided(why: str) -> _Score:
        return _Score(entry, time, None, why)

    result = entry.result
    if result is None or entry.problem:
        return undecided(f"not graded: {entry.problem or 'there is no result'}")
    if not result.grade or result.exit_code == 3:
        return undecided(f"the grader did not finish: {result.problem or 'grade it again'}")
    if entry.no_code:
        why = f" ({entry.notes[0]})" if entry.notes else ""
        return undecided(
            f"none of its code is readable{why}; ask for it again, or enter a grade on the platform yourself"
        )
    earned = Decimal(result.earned)
    if late_rule is None:
        return _Score(entry, time, earned)
    if time.moment is None:
        if time.problem:
            return undecided(time.problem)
        if entry.marked_late:
            return undecided(f"the platform calls it late but gives no time; {_ENTER_TIME}")
        if not entry.uploads:
            return undecided(f"its hand-in time is unknown; {_ENTER_TIME}")
        if not options.trust_late_marks:
            return undecided(
                f"Canvas's download only says what is late, not when it came; {_ENTER_TIME}. Or give "
                "--trust-late-marks, if the assignment's due date in Canvas is the deadline of course.toml"
            )
        return _Score(entry, time, earned)
    rule = late_rule.for_person(*people)
    late = deduction(earned, Decimal(result.points), time.moment, rule)
    return _Score(entry, time, earned + late.points, late=late.reason) if late else _Score(entry, time, earned)


def _chosen(scores: Sequence[_Score]) -> _Score | None:
    """The last submission; None if there is none. If it is unknown which one is last, a person has to decide."""
    if len(scores) < 2:
        return scores[0] if scores else None
    moments = [score.time.moment for score in scores]
    known = [moment for moment in moments if moment]
    names = ", ".join(score.entry.name for score in scores)
    if len(known) < len(scores) or known.count(max(known)) > 1:
        why = f"it is unknown which of several submissions ({names}) came last; leave out the others with --skip"
        return _Score(scores[0].entry, Time(), None, why)
    last = scores[moments.index(max(known))]
    if last.points is None:
        return last
    return replace(last, note="; ".join(filter(None, (last.note, f"the last of several submissions: {names}"))))


def _fixed(table: Table, layout: Layout, row: int, column: Column) -> str:
    """Why a cell must stay as it is; empty if it may change."""
    if table.text(row, column.index).casefold() in layout.untouched:
        return "excused"
    return "the platform has locked it" if row in layout.locked else ""


def _cell_text(score: _Score | None, points: Decimal, maximum: Decimal, options: Options, *, comma: bool) -> str | None:
    """The text of the grade in the column; None if there is nothing to write."""
    if score is None:
        grade = Decimal(0) if options.missing_zero else None
    else:
        grade = None if score.points is None else two_decimals(score.points * maximum / points)
    if grade is None:
        return None
    return options.grade_of(grade) if options.grade_of else written(grade, comma=comma)


def _kind(old: str, new: str, score: _Score | None) -> str:
    """The change to a cell that may change; there is no new text if nothing is to be written."""
    before, after = number(old), number(new)
    if not new:
        return LEFT
    if old in BLANK:
        return NEW if score else ZERO
    if old == new or (before is not None and after is not None and two_decimals(before) == two_decimals(after)):
        return SAME
    if not score:
        return LEFT
    return CHANGED


def _line(student: GradebookStudent, score: _Score | None, old: str, new: str, kind: str, fixed: str) -> CellChange:
    note = score.note if score and score.points is not None else ""
    late = score.late if score and score.points is not None else ""
    lacks = f"no file for {', '.join(score.entry.missing)}" if score and score.entry.missing else ""
    notes = [note if score else "no submission", lacks, fixed]
    before, after = number(old), number(new)
    if kind == CHANGED and before is not None and after is not None and after < before:
        notes.append("lower than before")
    submission = score.entry.name if score else ""
    return CellChange(student.person.name, submission, old, new, kind, "; ".join(filter(None, notes)), late)


def _notes(entries: Iterable[Entry], late_rule: LateRule | None, of_export: int, options: Options) -> Iterator[str]:
    """Notes on the class as a whole."""
    if of_export and late_rule:
        yield f"the times of {of_export} submissions are from the export"
    trusted = [each for each in entries if each.uploads and not each.submitted_at and not each.marked_late]
    if late_rule and options.trust_late_marks and trusted:
        number = pluralize(len(trusted), "submission")
        yield f"on time, because Canvas does not call them late: {number} without a time"
    graded = [entry for entry in entries if entry.result]
    late = sum(entry.marked_late for entry in graded)
    if late and late_rule is None:
        yield f"the platform calls {late} of the submissions late; without [late] in course.toml, this costs nothing"
    unwalled = sum(course.lacks_walls(entry.result) for entry in graded if entry.result)
    if unwalled:
        yield f"{unwalled} of the results are from isolation level 0; a grade needs level 1 or above"


def _notes_on_points(layout: Layout, scores: Iterable[_Score | None], points: Decimal, maximum: Decimal) -> list[str]:
    """Notes on unusually high grades."""
    above = {score.entry.name: None for score in scores if score and score.points is not None and score.points > points}
    notes = []
    if above:
        notes.append(f"bonus or points by hand lift {', '.join(above)} above the maximum of {points} points")
    if layout.refused_above is not None and maximum > layout.refused_above:
        notes.append(
            f"the platform refuses the file if a grade is above {layout.refused_above} and it was not set up to "
            "take more; for Moodle use the grading worksheet of the assignment instead, which has no such limit"
        )
    return notes
