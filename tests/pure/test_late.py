"""Points of late submissions: laws for every rule, cases worked out by hand, and each wrong entry of the file."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.results import Person, identifies, identity
from grader.core.course_file import read_course_file
from grader.core.refusal import FileRefused
from grader.gradebook.late import (
    Extension,
    LateError,
    LateRule,
    deduction,
    late_rule_of,
    periods_late,
)

ROOT = Path(__file__).resolve().parents[2]
DUE = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
JANE = Person("Jane Doe", "jane@example.edu", "0042", "jdoe", "moodle", "7")

Worth = tuple[Decimal, Decimal]
points = st.integers(1, 300).flatmap(lambda full: st.tuples(st.integers(0, full).map(Decimal), st.just(Decimal(full))))
lateness = st.timedeltas(min_value=timedelta(days=-3), max_value=timedelta(days=40))
percents = st.decimals(0, 100, places=1)


@st.composite
def late_rules(draw: st.DrawFn) -> LateRule:
    """Every rule that a file can hold, without extensions."""
    grace = draw(st.timedeltas(timedelta(), DAY))
    last = draw(st.none() | st.timedeltas(grace, timedelta(days=30)).map(lambda after: DUE + after))
    per = draw(st.sampled_from(["hour", "day", "calendar day"]))
    return LateRule(DUE, grace, draw(percents), per, draw(percents), last, zone=ZoneInfo("Europe/Berlin"))


def pluralize(earned: Decimal, points: Decimal, submitted_at: datetime, late_rule: LateRule) -> Decimal:
    """What is left of the points."""
    late = deduction(earned, points, submitted_at, late_rule)
    return earned + late.points if late else earned


@given(points, lateness, lateness, late_rules())
def test_never_rises_with_a_later_time(worth: Worth, one: timedelta, other: timedelta, late_rule: LateRule) -> None:
    early, late = sorted((one, other))
    assert pluralize(*worth, DUE + early, late_rule) >= pluralize(*worth, DUE + late, late_rule)


@given(points, lateness, late_rules(), st.timedeltas(timedelta(), timedelta(days=20)), st.none() | st.just(DAY))
def test_an_extension_costs_nothing(worth: Worth, late: timedelta, late_rule: LateRule, more: timedelta, extra) -> None:
    last = late_rule.last + more + extra if late_rule.last and extra else None
    extended = LateRule(**{**vars(late_rule), "extensions": (Extension("jdoe", DUE + more, last),)})
    own = extended.for_person(JANE)
    assert pluralize(*worth, DUE + late, own) >= pluralize(*worth, DUE + late, late_rule)
    assert extended.for_person(Person("Max Muster", username="max")) is extended


@given(points, lateness, late_rules(), st.integers(-12, 14))
def test_the_time_zone_of_the_submission_does_not_matter(worth: Worth, late, late_rule, hours):
    there = (DUE + late).astimezone(timezone(hours * HOUR))
    assert pluralize(*worth, there, late_rule) == pluralize(*worth, DUE + late, late_rule)


BY_DAY = LateRule(DUE, 15 * timedelta(minutes=1), Decimal(10), "day", Decimal(50), DUE + 7 * DAY)
BY_HOUR = LateRule(DUE, deduction=Decimal("0.5"), per="hour")


@pytest.mark.parametrize(
    ("late_rule", "late", "expected"),
    [
        (BY_DAY, timedelta(minutes=15), "180"),
        (BY_DAY, timedelta(minutes=16), "159.5"),  # part of a day: 10 percent of 205
        (BY_DAY, DAY, "159.5"),
        (BY_DAY, DAY + timedelta(minutes=1), "139"),
        (BY_DAY, 6 * DAY, "77.5"),  # no more than 50 percent
        (BY_DAY, 7 * DAY, "77.5"),
        (BY_DAY, 7 * DAY + timedelta(minutes=1), "0"),
        (BY_HOUR, timedelta(minutes=1), "178.975"),  # exact: nothing is rounded here
        (BY_HOUR, 3 * HOUR, "176.925"),
        (BY_HOUR, 400 * HOUR, "0"),
    ],
)
def test_cases_worked_out_by_hand(late_rule: LateRule, late: timedelta, expected: str) -> None:
    assert pluralize(Decimal(180), Decimal(205), DUE + late, late_rule) == Decimal(expected)


def read_policy(text: str, extensions: str = "") -> LateRule:
    """The rule of a course; `[late]` comes after the deadline and the time zone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "course.toml")
        path.write_text(f'title = "Mine"\nexercises = ["kl"]\n{text}', "utf-8")
        late_rule = late_rule_of(read_course_file(path), extensions)
    assert late_rule
    return late_rule


BERLIN = 'time_zone = "Europe/Berlin"\n'


@pytest.mark.parametrize("late", [timedelta(), timedelta(minutes=15), DAY, 7 * DAY])
def test_seconds_do_not_count_because_some_platforms_do_not_tell_them(late: timedelta) -> None:
    told, untold = DUE + late + timedelta(seconds=59, microseconds=1), DUE + late
    assert periods_late(told, BY_DAY) == periods_late(untold, BY_DAY)
    assert pluralize(Decimal(180), Decimal(205), told, BY_DAY) == pluralize(Decimal(180), Decimal(205), untold, BY_DAY)
    assert str(deduction(Decimal(180), Decimal(205), told, BY_DAY)) == str(
        deduction(Decimal(180), Decimal(205), untold, BY_DAY)
    )


@pytest.mark.machine  # its time zone is another one
def test_a_day_is_24_hours_or_ends_at_midnight_also_when_the_clocks_change() -> None:
    text = BERLIN + "deadline = 2031-10-25T23:59:00\n[late]\ndeduction_percent = 1\n"
    sunday = datetime.fromisoformat("2031-10-26T23:50:00+01:00")
    day, calendar = read_policy(text), read_policy(text + 'per = "calendar day"')
    assert periods_late(sunday, day) == 2 and periods_late(sunday - HOUR, day) == 1
    assert periods_late(sunday, calendar) == 1 and periods_late(sunday + HOUR, calendar) == 2
    assert periods_late(sunday, read_policy(text + "grace_minutes = 1500")) == 0
    found = deduction(Decimal(60), Decimal(75), sunday, day)
    assert (
        found
        and found.points == Decimal("-1.5")
        and found.reason
        == (
            "2 days late: handed in 24 h 51 min after Sat 25 Oct 2031, 23:59, and part of a day (24 hours) counts as "
            "a day; lateness costs 2 % of 75 points"
        )
    )
    found = deduction(Decimal(60), Decimal(75), sunday, calendar)
    assert found and found.reason.startswith("1 day late: handed in 24 h 51 min after") and "midnight" in found.reason
    berlin = read_policy(BERLIN + 'deadline = 2031-10-25T23:30:00\n[late]\ndeduction_percent = 1\nper = "hour"')
    # In the night the clocks go back by an hour, so 03:30 is five hours later and not four.
    assert periods_late(datetime.fromisoformat("2031-10-26T03:30:00+01:00"), berlin) == 5


@pytest.mark.parametrize(
    ("zone", "deadline", "submitted", "hours", "calendar"),
    [
        ("America/New_York", "2031-03-08T23:59:00", "2031-03-10T00:30:00-04:00", 1, 2),  # the clocks go forward
        ("Australia/Sydney", "2031-04-05T23:59:00", "2031-04-06T23:50:00+10:00", 2, 1),
        ("Europe/London", "2031-06-06T12:00:00", "2031-06-06T18:00:00+01:00", 1, 1),
        ("Europe/London", "2031-06-06T12:00:00", "2031-06-07T18:00:00+01:00", 2, 1),
        ("Europe/London", "2031-06-07T00:00:00", "2031-06-07T10:00:00+01:00", 1, 1),  # the end of Friday
        ("Europe/London", "2031-06-07T00:00:00", "2031-06-08T10:00:00+01:00", 2, 2),
    ],
)
def test_calendar_days_go_by_the_clocks_of_the_course(zone, deadline, submitted, hours, calendar) -> None:
    text = f'time_zone = "{zone}"\ndeadline = {deadline}\n[late]\ndeduction_percent = 1\n'
    moment = datetime.fromisoformat(submitted)
    assert periods_late(moment, read_policy(text)) == hours
    assert periods_late(moment, read_policy(text + 'per = "calendar day"')) == calendar


def test_a_time_in_the_repeated_hour_must_say_which_one() -> None:
    text = BERLIN + "deadline = 2031-10-26T02:30:00\n[late]\ndeduction_percent = 1"
    with pytest.raises(LateError, match="skips or repeats"):
        read_policy(text)
    assert read_policy(text.replace("02:30:00", "02:30:00+02:00")).due.hour == 0


def test_the_last_moment_moves_with_an_extension() -> None:
    late_rule = read_policy(
        "deadline = 2031-11-20T23:59:00Z\n[late]\nlast = 2031-11-22T23:59:00Z\n",
        """
        [[extension]]
        student = "JDOE"
        due = 2031-11-30T23:59:00Z
        [[extension]]
        student = "Müller, Zoë"
        due = 2031-11-21T23:59:00Z
        last = 2031-12-24T12:00:00Z
        """,
    )
    jane, zoe = late_rule.for_person(JANE), late_rule.for_person(Person("Zoe\u0308 Mu\u0308ller"))
    assert (jane.due, jane.last) == (DUE + 10 * DAY, DUE + 12 * DAY)
    assert zoe.last == datetime(2031, 12, 24, 12, tzinfo=UTC)
    assert late_rule.for_person(Person(), Person(username="nobody")) is late_rule


def test_two_extensions_of_one_student_are_refused() -> None:
    one = LateRule(DUE, extensions=(Extension("jdoe", DUE + DAY), Extension("0042", DUE + 2 * DAY)))
    with pytest.raises(LateError, match=r"'jdoe' and '0042' are for the same student"):
        one.for_person(JANE)


def test_a_person_is_named_by_each_id_and_not_by_nothing() -> None:
    for text in ("jane DOE", "Doe, Jane", "jane@EXAMPLE.edu", "0042", "jdoe", "7"):
        assert identifies(text, JANE), text
    for text in ("", " ", "42", "Jane", "doe", "moodle"):
        assert not identifies(text, JANE), text
    assert not identifies("", Person())
    assert identity("  Doe,  Jane ") == identity("JANE doe")


MINIMUM = "deadline = 2031-11-20T23:59:00Z\n[late]\ndeduction_percent = 10\n"
EXTENSION = '[[extension]]\nstudent = "a"\ndue = 2031-11-21T00:00:00Z\n'


@pytest.mark.parametrize(
    ("text", "extensions", "sentence"),
    [
        ("[late]\ndeduction_percent = 10", "", "set deadline too"),
        ('deadline = "Friday"', "", "deadline must be a day and time without quotes"),
        ("deadline = 2031-11-20", "", "deadline must be a day and time"),
        (MINIMUM.replace("Z", ""), "", "deadline has no time zone"),
        ('time_zone = "Europe/Berlim"\n' + MINIMUM, "", "does not know the time_zone 'Europe/Berlim'"),
        ('time_zone = "../secret"\n' + MINIMUM, "", "does not know the time_zone '../secret'"),
        (MINIMUM + "grace = 5", "", "there is no entry late.grace; .*grace_minutes"),
        (MINIMUM + "grace_minutes = -5", "", "late.grace_minutes must be a number from 0 to 10080"),
        (MINIMUM + "maximum_percent = 101", "", "late.maximum_percent must be a number from 0 to 100"),
        (MINIMUM + "maximum_percent = nan", "", "late.maximum_percent must be a number"),
        (MINIMUM + "maximum_percent = true", "", "late.maximum_percent must be a number"),
        (MINIMUM + "maximum_percent = 0", "", "would cost nothing"),
        (MINIMUM + 'per = "week"', "", 'late.per must be "day", "calendar day" or "hour"'),
        (MINIMUM + 'per = "calendar day"', "", "must have a time_zone"),
        (MINIMUM + "last = 2031-11-19T00:00:00Z", "", "last is before the end of the grace"),
        ("deadline = 2031-11-20T23:59:00Z\n[late]\ngrace_minutes = 1", "", "would cost nothing"),
        ("deadline = 2031-11-20T23:59:00Z\n", EXTENSION, r"without \[late\] in course.toml"),
        (MINIMUM, "extension = 3", r"only \[\[extension\]\]"),
        (MINIMUM, "[" * 5000, "extensions.toml is not TOML"),
        (MINIMUM, '[[extension]]\nstudent = "a"', "extension 1: due must be"),
        (MINIMUM, "[[extension]]\ndue = 2031-11-21T00:00:00Z", "extension 1: student must be"),
        (MINIMUM, '[[extension]]\nstudent = ""\ndue = 2031-11-21T00:00:00Z', "extension 1: student must be"),
        (MINIMUM, EXTENSION + "until = 3", "extension 1: there is no entry until; choose from student, due, last"),
        (MINIMUM, '[[extension]]\nstudent = "a"\ndue = 2031-11-19T00:00:00Z', "'a': due is before"),
        (MINIMUM, EXTENSION + "last = 2031-11-22T00:00:00Z", "'a': .*last"),
        (MINIMUM, EXTENSION.replace("2031", "9999"), "due is in the year 9999"),
        (MINIMUM.replace("2031", "0231"), "", "deadline is in the year 231"),
        (MINIMUM, 2 * EXTENSION, "'a': there are two"),
    ],
)
def test_a_wrong_entry_is_named(text: str, extensions: str, sentence: str) -> None:
    with pytest.raises((LateError, FileRefused), match=sentence) as caught:
        read_policy(text, extensions)
    assert len(str(caught.value).splitlines()) == 1, "one mistake, one line"


def test_the_example_of_the_page_does_what_the_page_says() -> None:
    page = (ROOT / "docs" / "instructors" / "gradebook.md").read_text("utf-8")
    late = page.partition("## Late submissions")[2]
    late_rule = read_policy(*re.findall(r"```toml\n(.*?)```", late, re.DOTALL)[:2])
    table = re.findall(r"^\| `(20\d\d-[^`]+)`(?: by (\w+))? \| ([\d.]+) \|", page, re.MULTILINE)
    assert len(table) >= 5
    for moment, student, expected in table:
        own = late_rule.for_person(Person(username=student))
        assert pluralize(Decimal(180), Decimal(205), datetime.fromisoformat(moment), own) == Decimal(expected), moment
