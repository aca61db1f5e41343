"""Points of late submissions: laws for every policy, cases worked out by hand, and each wrong entry of the file."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.results import Person
from grader.gradebook.late import Extension, LateError, Policy, counted, identity, names, periods_late, read_policy

pytestmark = pytest.mark.machine

ROOT = Path(__file__).resolve().parents[2]
DUE = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
JANE = Person("Jane Doe", "jane@example.edu", "0042", "jdoe", "moodle", "7")

Worth = tuple[Decimal, Decimal]
points = st.integers(1, 300).flatmap(lambda full: st.tuples(st.integers(0, full).map(Decimal), st.just(Decimal(full))))
lateness = st.timedeltas(min_value=timedelta(days=-3), max_value=timedelta(days=40))
percents = st.decimals(0, 100, places=1)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Every policy that a file can hold, without extensions."""
    grace = draw(st.timedeltas(timedelta(), DAY))
    last = draw(st.none() | st.timedeltas(grace, timedelta(days=30)).map(lambda after: DUE + after))
    period = draw(st.sampled_from([HOUR, DAY]))
    return Policy(DUE, grace, draw(percents), period, draw(percents), last)


@given(points, lateness, lateness, policies())
def test_never_rises_with_a_later_time(worth: Worth, one: timedelta, other: timedelta, policy: Policy) -> None:
    early, late = sorted((one, other))
    assert counted(*worth, DUE + early, policy) >= counted(*worth, DUE + late, policy)


@given(points, lateness, policies(), st.timedeltas(timedelta(), timedelta(days=20)), st.none() | st.just(DAY))
def test_an_extension_costs_nothing(worth: Worth, late: timedelta, policy: Policy, more: timedelta, extra) -> None:
    last = policy.last + more + extra if policy.last and extra else None
    extended = Policy(**{**vars(policy), "extensions": (Extension("jdoe", DUE + more, last),)})
    own = extended.for_person(JANE)
    assert counted(*worth, DUE + late, own) >= counted(*worth, DUE + late, policy)
    assert extended.for_person(Person("Max Muster", username="max")) is extended


@given(points, lateness, policies(), st.integers(-12, 14))
def test_the_time_zone_of_the_submission_does_not_matter(worth: Worth, late, policy, hours):
    there = (DUE + late).astimezone(timezone(hours * HOUR))
    assert counted(*worth, there, policy) == counted(*worth, DUE + late, policy)


BY_DAY = Policy(DUE, 15 * timedelta(minutes=1), Decimal(10), DAY, Decimal(50), DUE + 7 * DAY)
BY_HOUR = Policy(DUE, deduction=Decimal("0.5"), period=HOUR)


@pytest.mark.parametrize(
    ("policy", "late", "expected"),
    [
        (BY_DAY, timedelta(minutes=15), "180"),
        (BY_DAY, timedelta(minutes=15, seconds=1), "159.5"),  # one begun day: 10 percent of 205
        (BY_DAY, DAY, "159.5"),
        (BY_DAY, DAY + timedelta(microseconds=1), "139"),
        (BY_DAY, 6 * DAY, "77.5"),  # no more than 50 percent
        (BY_DAY, 7 * DAY, "77.5"),
        (BY_DAY, 7 * DAY + timedelta(seconds=1), "0"),
        (BY_HOUR, timedelta(seconds=1), "178.975"),  # exact: nothing is rounded here
        (BY_HOUR, 3 * HOUR, "176.925"),
        (BY_HOUR, 400 * HOUR, "0"),
    ],
)
def test_cases_worked_out_by_hand(policy: Policy, late: timedelta, expected: str) -> None:
    assert counted(Decimal(180), Decimal(205), DUE + late, policy) == Decimal(expected)


def test_lateness_is_counted_in_hours_that_pass_also_when_the_clocks_change() -> None:
    text = 'time_zone = "Europe/Berlin"\ndue = 2031-10-25T23:59:00\ndeduction_percent = 1\n'
    sunday = datetime.fromisoformat("2031-10-26T23:59:00+01:00")  # 25 hours later
    assert periods_late(sunday, read_policy(text)) == 2
    assert periods_late(sunday - HOUR, read_policy(text)) == 1
    assert periods_late(sunday, read_policy(text + "grace_minutes = 1500")) == 0
    berlin = read_policy('time_zone = "Europe/Berlin"\ndue = 2031-10-25T23:30:00\ndeduction_percent = 1\nper = "hour"')
    # In the night the clocks go back by an hour, so 03:30 is five hours later and not four.
    assert periods_late(datetime.fromisoformat("2031-10-26T03:30:00+01:00"), berlin) == 5
    own = datetime.fromisoformat("2031-10-26T03:30:00").replace(tzinfo=timezone(HOUR))
    assert periods_late(own, berlin) == 5


def test_a_time_in_the_repeated_hour_must_say_which_one() -> None:
    text = 'time_zone = "Europe/Berlin"\ndue = 2031-10-26T02:30:00\ndeduction_percent = 1'
    with pytest.raises(LateError, match="skips or repeats"):
        read_policy(text)
    assert read_policy(text.replace("02:30:00", "02:30:00+02:00")).due.hour == 0


def test_the_last_moment_moves_with_an_extension() -> None:
    policy = read_policy(
        """
        due = 2031-11-20T23:59:00Z
        last = 2031-11-22T23:59:00Z
        [[extension]]
        student = "JDOE"
        due = 2031-11-30T23:59:00Z
        [[extension]]
        student = "Müller, Zoë"
        due = 2031-11-21T23:59:00Z
        last = 2031-12-24T12:00:00Z
        """
    )
    jane, zoe = policy.for_person(JANE), policy.for_person(Person("Zoe\u0308 Mu\u0308ller"))
    assert (jane.due, jane.last) == (DUE + 10 * DAY, DUE + 12 * DAY)
    assert zoe.last == datetime(2031, 12, 24, 12, tzinfo=UTC)
    assert policy.for_person(Person(), Person(username="nobody")) is policy


def test_two_extensions_of_one_student_are_refused() -> None:
    one = Policy(DUE, extensions=(Extension("jdoe", DUE + DAY), Extension("0042", DUE + 2 * DAY)))
    with pytest.raises(LateError, match=r"'jdoe' and '0042' are for the same student"):
        one.for_person(JANE)


def test_a_person_is_named_by_each_id_and_not_by_nothing() -> None:
    for text in ("jane DOE", "Doe, Jane", "jane@EXAMPLE.edu", "0042", "jdoe", "7"):
        assert names(text, JANE), text
    for text in ("", " ", "42", "Jane", "doe", "moodle"):
        assert not names(text, JANE), text
    assert not names("", Person())
    assert identity("  Doe,  Jane ") == identity("JANE doe")


EXTENSION = '[[extension]]\nstudent = "a"\ndue = 2031-11-21T00:00:00Z\n'
MINIMUM = "due = 2031-11-20T23:59:00Z\ndeduction_percent = 10\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("due = ", "this is no TOML"),
        ("deduction_percent = 10", "due is missing"),
        ("per = 'day'\ndue = 2031-13-20T23:59:00Z", "line 2: due .*2031-13-20T23:59:00Z"),
        ("due = 2031-02-30T23:59:00Z", "line 1: due "),
        ("due = 20.11.2031 # German", "line 1: due .*20.11.2031; "),
        (MINIMUM + "last = 2031-11-20T24:00:00Z", "line 3: last "),
        (MINIMUM + "[[extension]]\nstudent = 'a'\ndue = 2031-11-31T23:59:00Z", "line 5: due "),
        ("due = 2031-11-20\ndeduction_percent = 10", "due must be"),
        ('due = "2031-11-20T23:59:00Z"\ndeduction_percent = 10', "due .*quotes"),
        ("due = 2031-11-20T23:59:00\ndeduction_percent = 10", "due has no time zone"),
        ("due = 0231-11-20T23:59:00Z\ndeduction_percent = 10", "due is in the year 231"),
        (MINIMUM + 'time_zone = "Europe/Berlim"', "time_zone 'Europe/Berlim' is not known"),
        (MINIMUM + 'time_zone = "../secret"', "time_zone '../secret' is not known"),
        (MINIMUM + "grace = 5", "grace is not known.*grace_minutes"),
        (MINIMUM + "grace_minutes = -5", "grace_minutes must be a number from 0 to 10080"),
        (MINIMUM + "maximum_percent = 101", "maximum_percent must be a number from 0 to 100"),
        (MINIMUM + "maximum_percent = 0", "maximum_percent is 0"),
        ("due = " + "[" * 5000, "this is no TOML"),
        (MINIMUM + "grace_minutes = " + "1" * 5000, "this is no TOML"),
        (MINIMUM + "maximum_percent = 1e9999999999999999999", "exponent"),
        (MINIMUM + "maximum_percent = nan", "maximum_percent must be a number"),
        (MINIMUM + "maximum_percent = true", "maximum_percent must be a number"),
        (MINIMUM + 'per = "week"', 'per must be "day" or "hour"'),
        (MINIMUM + "per = 1", 'per must be text, such as "day"'),
        (MINIMUM + "last = 2031-11-19T00:00:00Z", "last is before the end of the grace"),
        ("due = 2031-11-20T23:59:00Z", "deduction_percent nor last"),
        (MINIMUM + "extension = 3", r"extension must be written as \[\[extension\]\]"),
        (MINIMUM + '[[extension]]\nstudent = "a"', "extension 1: due is missing"),
        (MINIMUM + "[[extension]]\ndue = 2031-11-21T00:00:00Z", "extension 1: student is missing"),
        (MINIMUM + '[[extension]]\nstudent = ""\ndue = 2031-11-21T00:00:00Z', "extension 1: student must be text"),
        (MINIMUM + '[[extension]]\nstudent = "a"\ndue = 2031-11-19T00:00:00Z', "'a': due is before"),
        (MINIMUM + EXTENSION + "last = 2031-11-22T00:00:00Z", "'a': .*last"),
        (MINIMUM + 2 * EXTENSION, "'a': there are two"),
    ],
)
def test_a_wrong_entry_is_named(text: str, sentence: str) -> None:
    with pytest.raises(LateError, match=sentence) as caught:
        read_policy(text)
    assert len(str(caught.value).splitlines()) == 1, "one mistake, one line"


def test_all_wrong_entries_are_named_at_once() -> None:
    with pytest.raises(LateError) as caught:
        read_policy('due = 2031-11-20T23:59:00\nper = "week"\nlost = 1\n[[extension]]\nstudent = "a"\ndeu = 1')
    assert [line.split()[0] for line in str(caught.value).splitlines()] == [
        "lost", "due", "per", "extension", "extension",
    ]  # fmt: skip


def test_the_example_of_the_page_does_what_the_page_says() -> None:
    page = (ROOT / "docs" / "instructors" / "gradebook.md").read_text("utf-8")
    policy = read_policy(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    table = re.findall(r"^\| `(20\d\d-[^`]+)`(?: by (\w+))? \| ([\d.]+) \|", page, re.MULTILINE)
    assert len(table) >= 5
    for moment, student, expected in table:
        own = policy.for_person(Person(username=student))
        assert counted(Decimal(180), Decimal(205), datetime.fromisoformat(moment), own) == Decimal(expected), moment
