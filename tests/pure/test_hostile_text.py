"""Whatever text a submission or a platform hands us, it stays text on every screen, sheet and build machine.

Independent readers (`helpers/hostile_texts.py`) list what is in an output besides text: elements, formulas, commands,
escape sequences. An output of hostile texts must have the same of all that as one of harmless words.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import pytest
from command import call
from exports_readers import CLASSROOM, READERS
from hostile_texts import (
    BENIGN,
    HOSTILE,
    Tags,
    csv_inventory,
    formulas,
    html_inventory,
    is_text,
    page_text,
    terminal_inventory,
)
from html_reports import BANDIT, OUTCOMES, small_result
from reported_class import secret_class, write_results
from rich.console import Console

from grader.classroom.diff import compare
from grader.classroom.grades_csv import grades_csv
from grader.classroom.page import class_page
from grader.classroom.report import class_report, named
from grader.classroom.results import Entry, Person
from grader.commands import course as course_command
from grader.commands.diff import as_csv
from grader.core import course
from grader.core.html import TEMPLATES, environment, render
from grader.core.note import Note
from grader.core.result import (
    BROKEN,
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
from grader.core.text import one_line, plain, spreadsheet_safe, visible
from grader.reports import FORMATS, export, html_report, terminal

SHORT = {name: text for name, text in HOSTILE.items() if len(text) < 2_000}


@pytest.mark.parametrize("name", HOSTILE)
def test_text_that_was_made_plain_is_text_and_stays_it(name: str) -> None:
    for made in (plain(HOSTILE[name]), one_line(HOSTILE[name])):
        assert not is_text(made) and plain(made, limit=10**6) == made
        assert not formulas(spreadsheet_safe(made))
    assert len(one_line(HOSTILE[name]).splitlines()) <= 1
    assert not is_text(page_text(visible(HOSTILE[name]))) and not formulas(spreadsheet_safe(HOSTILE[name]))


@pytest.mark.parametrize(
    "words", ["Ada Öz", "o'neil; and others", "kl.py is missing; a - b", "日本 花子", "2026-01-01"]
)
def test_ordinary_text_keeps_its_letters(words: str) -> None:
    assert spreadsheet_safe(words) == plain(words) == one_line(words) == visible(words) == words
    stacked = unicodedata.normalize("NFD", "ệ") + "שָּׁ" + "नि" + "ག྄ྷྲ"
    assert plain(stacked) == visible(stacked) == stacked


@pytest.mark.parametrize("piece", ["\n", " ", "::a ", "::", "::a\n", "a" * 7 + "::b c", "; ", "\x1b]", "\x1b[", "##"])
def test_a_long_text_is_made_plain_in_a_time_that_grows_with_its_length(piece: str) -> None:
    text, started = piece * (60_000 // len(piece)) + "x" * 30_000, time.process_time()
    for make in (plain, one_line, visible, spreadsheet_safe):
        make(text)
    assert time.process_time() - started < 2


# Every text in every format


def result_of(text: str) -> Result:
    """A check of each outcome, and the text wherever a submission has a hand in it."""
    frame, checks = Frame(text, 3, text, text), []
    for outcome in OUTCOMES if len(text) < 2_000 else ("failed",):
        check = CheckResult(f"kl.{outcome.replace(' ', '_')}", "kl_estimate", "A rule.", 1, False, False)
        check.outcome, check.hidden, check.message, check.call = Outcome(outcome), outcome == "failed", text, text
        check.rows, check.frames, check.printed = [("yours", text), ("expected", text)], [frame], text
        checks.append(check)
    mistake = NamedMistake(
        "kl.failed", True, "docs/exercises/kl/mistakes.md", "kl_estimate", "no_mean", "the sign is wrong", ""
    )
    broken = CheckResult("clip.a", "importance_ratio", "A rule.", 1, False, True, BROKEN, text)
    broken.frames, broken.printed = [frame], text
    exercises = [
        ExerciseResult("kl", "KL", "docs/exercises/kl.md", checks, [mistake]),
        ExerciseResult("clip", "Clipping", "docs/exercises/clip.md", [broken]),
    ]
    exercises[0].answers = [WrittenAnswer("1D.2", text)]
    problem = text and f"the grader said {text}"
    return Result(text, "ab" * 32, 0, "cpu", exercises, "0.1.0", 1, complete=True, problem=problem)


@pytest.mark.parametrize("format_name", FORMATS)
def test_no_text_is_more_than_text_in_any_format(format_name: str) -> None:
    def inventory(text: str) -> object:
        written = export(result_of(text), format_name, CLASSROOM)
        written.encode("utf-8")
        if format_name == "html":
            return html_inventory(written)
        read = READERS[format_name](written)
        assert [problem for each in read.texts if (problem := is_text(each))] == []
        return read.earned, read.lines

    expected = {short: inventory(BENIGN if short else BENIGN * 500) for short in (True, False)}
    for name, text in HOSTILE.items():
        assert inventory(text) == expected[len(text) < 2_000] or not one_line(text), name  # nothing to show, no row


@pytest.mark.parametrize(("width", "colours"), [(40, True), pytest.param(200, False, marks=pytest.mark.proof)])
def test_no_text_is_more_than_text_in_the_terminal(width: int, colours: bool) -> None:
    def shown(text: str) -> str:
        file = io.StringIO()
        console = Console(file=file, width=width, force_terminal=colours, color_system="standard" if colours else None)
        terminal.show(result_of(text), console)
        return file.getvalue()

    allowed = terminal_inventory(shown(BENIGN))
    assert bool(allowed) == colours
    for name, text in SHORT.items():
        assert terminal_inventory(shown(text)) <= allowed, name


# Every field of an HTML page

BAD = (
    "javascript:x//</style></title></p><script>alert(1)</script><img src=x onerror=alert(2)>"
    ' " onclick="a \'b &lt; \u202e\x1b'
)


def with_texts(part: Any, change: Callable[[str], str]) -> Any:
    """The same data with every text changed, however deep it lies; equal texts stay equal."""
    if isinstance(part, str):
        return change(part)
    if isinstance(part, list | tuple):
        return type(part)(with_texts(each, change) for each in part)
    if isinstance(part, dict):
        return {key: with_texts(each, change) for key, each in part.items()}
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        fields = [field.name for field in dataclasses.fields(part) if field.init]
        changed = {name for name in fields if name not in ("outcome", "question")}
        return replace(part, **{name: with_texts(getattr(part, name), change) for name in changed})
    return part


def full_result(outcome: str) -> Result:
    """A result with a text in every field."""
    result = small_result(problem="a problem", seed=1, notes=[Note("Clip.py is read as clip.py")])
    (check,) = result.checks
    check.outcome, check.id, check.call, check.printed = Outcome(outcome), BANDIT, "ratio(1)", "here I am"
    check.owed_to, check.waits_for, check.may_come_from = ["clip.ratio"], ["a"], ["b"]
    check.error = "ValueError"
    check.rows, check.frames = [("yours", "2"), ("", "3")], [Frame("clip.py", 3, "ratio", "raise ValueError")] * 2
    check.curves = [Curve("Reward", "step", "reward", 0, 1, [1.0, None])]
    (exercise,) = result.exercises
    exercise.checks.append(replace(check, id="clip.b"))
    words = ("docs/exercises/clip/mistakes.md", "ratio", "twice", "you double it", "So it binds.")
    exercise.known_mistakes = [NamedMistake(identity, True, *words) for identity in (BANDIT, "clip.b")]
    exercise.answers = [WrittenAnswer("1E.2", "that of REINFORCE")]
    exercise.not_imported = "ValueError: no (clip.py, line 3)"
    for part in (result, *result.exercises, *result.checks):
        empty = [field.name for field in dataclasses.fields(part) if getattr(part, field.name) in ("", [], ())]
        assert empty == [], "a field without a text is not tried"
    return result


def shape(page: str) -> Counter[Any]:
    """Tags with the names of their attributes; texts in attributes differ."""
    tags: Counter[Any] = Counter()
    for entry, count in Tags(page).found.items():
        tag, attributes = entry if isinstance(entry, tuple) else (entry, ())
        tags[tag, tuple(name for name, _ in attributes)] += count
    return tags


def assert_only_texts_differ(write: Callable[[Callable[[str], str]], str]) -> None:
    hostile, harmless = write(lambda text: BAD + text), write(lambda text: f"harmless{text}")

    assert shape(hostile) == shape(harmless)
    assert "<script" not in hostile and 'onclick="a' not in hostile and not re.search(r"[\u202e\x1b]", hostile)
    assert hostile.count("&lt;script&gt;") >= 10 and "&amp;lt;" in hostile and "[U+202E][U+001B]" in hostile


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_text_in_any_field_of_a_result_is_text_in_its_report(outcome: str) -> None:
    result = full_result(outcome)
    assert_only_texts_differ(lambda change: export(with_texts(result, change), "html", {}))


def test_a_text_in_any_field_of_a_class_is_text_on_its_page() -> None:
    entries = secret_class()

    def write(change: Callable[[str], str]) -> str:
        report, names = with_texts((class_report(entries), named(entries)), change)
        return class_page(report, named=names)

    assert_only_texts_differ(write)


def test_templates_escape_everything_and_refuse_undefined_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in TEMPLATES.rglob("*.jinja"):
        assert not re.search(r"\|\s*safe\b|autoescape|<script|\son\w+=|\bstyle=", path.read_text("utf-8")), path.name
    with pytest.raises(jinja2.TemplateAssertionError, match="safe"):
        environment().from_string("{{ x|safe }}")
    marked = [path.name for path in course.GRADER.rglob("*.py") if "Markup(" in path.read_text("utf-8")]
    assert marked == ["html.py"], "one function puts HTML in"
    values: dict[str, Any] = {}
    monkeypatch.setattr(html_report, "render", lambda name, **given: values.update(given))
    html_report.export(full_result("failed"), {})
    assert "Learning curves" in render("grading", **values)
    for name in values:
        with pytest.raises(jinja2.UndefinedError, match=name):
            render("grading", **{other: value for other, value in values.items() if other != name})


def test_backticks_make_code_and_nothing_else_of_what_is_between_them() -> None:
    made = environment().from_string('{% from "pieces.html.jinja" import prose %}{{ prose(words) }}')
    for words, expected in {
        "a `b` c": "a <code>b</code> c",
        "`<b>` & `c`": "<code>&lt;b&gt;</code> &amp; <code>c</code>",
        "`<i>\nb`": "`&lt;i&gt;\nb`",
        "``": "``",
    }.items():
        assert made.render(words=words) == expected


# A class of such names


def class_of(text: str, *, earned: bool = True) -> list[Entry]:
    """Entries with and without a result, with the text in every place that a platform or a student fills."""
    result = result_of(text)
    result.problem = ""
    for check in result.checks:
        if check.outcome in ("not run", "grader error") or (check.outcome == "passed" and not earned):
            check.outcome = FAILED
    people = (Person(text, text, text, text, "canvas", text), Person(name="Ada", platform="canvas"))
    graded = Entry(text, people, key="1" * 64, notes=(Note(text), Note(text)), result=result)
    equal = replace(graded, name=f"{text} ", people=people[1:], key="1" * 64)
    return [graded, equal, Entry(f"{text}  ", people, key="2" * 64, notes=(Note(text),), problem=f"it died: {text}")]


OUTPUTS: Mapping[str, tuple[Callable[[str], str], Callable[[str], object]]] = {
    "grades": (lambda text: grades_csv(class_of(text), ["kl", "clip"]), csv_inventory),
    "changes": (lambda text: as_csv(compare(class_of(text), class_of(text, earned=False))), csv_inventory),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_no_text_is_more_than_text_in_any_output_of_a_class(output: str) -> None:
    write, inventory = OUTPUTS[output]
    expected = inventory(write(BENIGN))
    for name, text in SHORT.items():
        assert inventory(write(text)) == expected, name


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class with all texts in all places of `submissions.json`."""
    entries = [entry for text in SHORT.values() for entry in class_of(text)]
    entries = [replace(entry, key=f"{number:064x}") for number, entry in enumerate(entries)]
    about = {"course_version": "0.1.0", "settings": {"seed": 0}}
    return write_results(tmp_path_factory.mktemp("class") / "graded", entries, about)


def test_a_terminal_gets_text_and_our_colours_only(graded_class: Path, tmp_path: Path) -> None:
    exported = tmp_path / "export.csv"
    exported.write_bytes(canvas_gradebook(list(HOSTILE.values())))
    gradebook = ("gradebook", "canvas", graded_class, "--gradebook", exported, "--scale", 8)
    feedback = ("feedback", "moodle", graded_class, "--out", tmp_path / "feedback.zip")
    for arguments in (("diff", graded_class, graded_class), gradebook, feedback):
        ended = call(
            course_command.main, *arguments, cwd=tmp_path, is_terminal=True, TERM="xterm-256color", COLUMNS="120"
        )
        shown = ended.stdout + ended.stderr
        assert len(shown) > 50 and terminal_inventory(shown) <= {"\x1b[0m", "\x1b[1m", "\x1b[3m", "\x1b[2m"}


def canvas_gradebook(names: Sequence[str]) -> bytes:
    """Canvas's own export, in which students chose their names."""
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "GRPO (4711)"])
    table.writerow(["    Points Possible", "", "", "", "", "8"])
    for number, name in enumerate(names):
        name = name[:1_000].replace("\0", "").encode("utf-8", "ignore").decode()
        table.writerow([name, f"{number}", f"s{number}", f"login{number}", name, ""])
    return file.getvalue().encode()
