"""The report in the terminal, made from a result alone: no text in it can deceive, flood or be lost."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from terminal_reports import HOSTILE, MARKUP, assert_harmless, report_of

from grader.core.result import FAILED, CheckResult, ExerciseResult, Frame, Result
from grader.core.text import plain


def made(check: CheckResult) -> Result:
    exercise = ExerciseResult("kl", "KL", "docs/exercises/kl.md", [check])
    return Result("me", "0" * 64, 0, "cpu", [exercise], "0.1.0", 1, complete=True)


def test_every_text_of_a_result_is_made_harmless_wherever_it_stands() -> None:
    """The report is made from the result alone, so nothing may rely on an earlier place having cleaned a text."""
    frame = Frame(HOSTILE, 3, HOSTILE, HOSTILE)
    check = CheckResult("kl.a", "kl_estimate", "A title.", "", 1, False, True, FAILED, HOSTILE, HOSTILE)
    check.rows, check.frames, check.printed = [("yours", HOSTILE)], [frame], HOSTILE
    result = made(check)
    result.submission = HOSTILE
    report = report_of(result)
    assert_harmless(report)
    assert report.count(MARKUP) == 8, "in each of them"
    result.problem = HOSTILE
    assert_harmless(report_of(result))


@given(st.text(st.characters(codec=None), max_size=60), st.integers(20, 200))
def test_any_text_can_be_shown_at_any_width(text: str, width: int) -> None:
    check = CheckResult("kl.a", "kl_estimate", "A title.", "", 1, False, True, FAILED, text, text)
    check.rows, check.printed = [("yours", text)], text
    report = report_of(made(check), width=width)
    assert not [c for c in report if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn")]
    report.encode("utf-8")


@given(st.text(), st.integers(1, 50))
def test_plain_text_keeps_ordinary_characters_in_order_and_says_how_much_it_cut(text: str, limit: int) -> None:
    whole = plain(text, limit=10**6)
    assert plain(whole, limit=10**6) == whole
    ordinary = [c for c in text if c.isprintable() and not c.isspace() and unicodedata.category(c)[0] != "C"]
    rest = iter(whole)
    assert all(c in rest for c in ordinary)
    cut = plain(text, limit=limit)
    assert cut == whole or cut == f"{whole[:limit]} [cut: {len(whole) - limit} more characters]"
