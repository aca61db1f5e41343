"""HTML reports for tests: results to make them of, and what a reader finds in them."""

import re
from html.parser import HTMLParser

from grader.core.result import (
    FAILED,
    CheckResult,
    Curve,
    ExerciseResult,
    Frame,
    NamedMistake,
    Outcome,
    Result,
    WrittenAnswer,
)
from grader.reports import export

BANDIT = "bandit.it_finds_the_peak"
HOSTILE = (
    "</dd></style></title><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    "<a href='javascript:alert(4)'>x</a> \u202egnp.exe\u202c\x1b[31m\x00\ud800 [x](http://127.0.0.1:9/) @import url(x) "
    "`<b>code</b>` &lt; ]]> --> \" ' " + "unbroken" * 60
)
OUTCOMES = {
    "passed": "✓ passed", "failed": "✗ failed", "broken": "✗ broken", "not written": "○ not written yet",
    "waiting": "… waiting", "not run": "- not run", "grader error": "! grader error",
}  # fmt: skip


class Page(HTMLParser):
    """Tags with their attributes, and the text without the style sheet."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._in_style = False
        self.feed(html)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in_style = tag == "style"
        self.text += " " if tag in ("p", "li", "dt", "dd", "td", "th", "h1", "h2", "h3") else ""

    def handle_endtag(self, tag):
        self._in_style = False

    def handle_data(self, data):
        self.text += "" if self._in_style else data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(result):
    return Page(export(result, "html", {}))


def small_result(**changes):
    """One exercise with one failed check."""
    check = CheckResult("clip.a_check", "ratio", "A ratio of 1", 2, False, False, FAILED, "it is 2")
    exercise = ExerciseResult("clip", "Clipping", "docs/exercises/clip.md", [check])
    return Result(**{
        "submission": "ada", "sha256": "a" * 64, "seed": 0, "device": "cpu", "exercises": [exercise],
        "course_version": "0.1.0", "isolation_level": 1, "walls": ["rlimits"], "complete": True, **changes,
    })  # fmt: skip


def hostile_result():
    """Every text that a submission has a hand in is hostile, in every outcome."""
    result = small_result(submission=HOSTILE, problem=HOSTILE)
    frame = Frame(HOSTILE, 3, HOSTILE, HOSTILE)
    for outcome in OUTCOMES:
        check = CheckResult(f"clip.{outcome.replace(' ', '_')}", "ratio", HOSTILE, 1, False, False, Outcome(outcome))
        check.message, check.call, check.printed, check.frames = HOSTILE, HOSTILE, HOSTILE, [frame]
        check.rows, check.waits_for, check.may_come_from = [(HOSTILE, HOSTILE)], [HOSTILE], [HOSTILE]
        check.curves = [Curve(HOSTILE, HOSTILE, HOSTILE, 0, 1, [1.0, None])]
        result.exercises[0].checks.append(check)
        page = f"javascript:alert(5)//{HOSTILE}"
        found = NamedMistake(check.id, True, page, "ratio", outcome, HOSTILE, HOSTILE)
        result.exercises[0].known_mistakes.append(found)
    result.exercises[0].answers = [WrittenAnswer("1D.2", HOSTILE), WrittenAnswer("9Z", HOSTILE)]
    return result


def charts_of(html):
    """Of every chart its title, and of every series the points, read from the drawing with the numbers of its axes."""
    found = []
    for svg in re.findall(r'<svg class="chart".*?</svg>', html, re.DOTALL):
        scales = []
        for kind, axis in (("x-tick", "x"), ("y-tick", "y")):
            ticks = re.findall(rf'<text class="{kind}" [^>]*?\b{axis}="([\d.]+)"[^>]*>([^<]+)</text>', svg)
            (low, low_value), *_, (high, high_value) = [(float(place), float(value)) for place, value in ticks]
            scales.append((low, low_value, (high_value - low_value) / (high - low)))
        (x, x_value, x_scale), (y, y_value, y_scale) = scales
        y -= 4  # a number stands four units lower than its line
        series = []
        for path in re.findall(r'<path class="series-\d" d="([^"]+)"/>', svg):
            points = [(float(a), float(b)) for a, b in re.findall(r"([\d.]+),([\d.]+)", path)]
            series.append([(x_value + (a - x) * x_scale, y_value + (b - y) * y_scale) for a, b in points])
        title = re.search(r"<title[^>]*>([^<]*)", svg)
        assert title is not None
        found.append((title[1], series))
    return found
