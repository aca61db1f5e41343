"""Reports in the terminal for tests: what is shown of a result, and text that must do no harm in it."""

import io
import unicodedata

from rich.console import Console

from grader.core import course
from grader.core.result import CheckResult, ExerciseResult, Outcome, Result
from grader.reports import terminal

BIDI = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u061c\u200e\u200f"
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\U000e0041"
CONTROLS = "\x00\x07\x08\x0b\x1b\x7f\x85\x9b\x9d\r"
HOSTILE = (
    "[bold]markup[/bold] [/] [link=x]y[/link] \x1b[2J\x1b[H\x1b[31mred\x1b[0m"
    " \x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\ \x1b]52;c;ZXZpbA==\x07"
    f" \x1b]0;title\x07 \x9b31m {CONTROLS} {BIDI} {INVISIBLE} \ud800 \udfff"
)


ASCII_HOSTILE = HOSTILE.replace("\0", "").encode("ascii", "ignore").decode()
MARKUP = "[bold]markup[/bold]"


def assert_harmless(report: str) -> None:
    """Only characters that show themselves."""
    dangerous = {c for c in report if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co")}
    assert not dangerous, sorted(map(ascii, dangerous))


def report_of(result: Result, *, width: int = 4000, whole_calls: bool = False, finish: bool = True) -> str:
    """What a terminal shows that is so wide that no line is folded."""
    text = io.StringIO()
    terminal.show(result, Console(file=text, width=width, force_terminal=False), whole_calls=whole_calls, finish=finish)
    return text.getvalue()


def result_of(outcomes: dict[str, Outcome]) -> Result:
    """A result of all functions of some exercises, each with one check of 5 points; by what came of their checks."""
    exercises = [
        ExerciseResult(
            each.name,
            each.title,
            each.page,
            [
                CheckResult(f"{each.name}.{f}", f, "A title.", "", 5, False, True, outcomes[each.name])
                for f in each.function_names
            ],
        )
        for each in course.EXERCISES
        if each.name in outcomes
    ]
    return Result("me", "0" * 64, 0, "cpu", exercises, "0.1.0", 1, complete=True)
