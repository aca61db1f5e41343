"""Pages from templates: what is put in is text, nothing is left undefined, and one function lets drawings through."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import jinja2
import pytest
from hostile_texts import Tags
from html_reports import BANDIT, OUTCOMES, small_result
from reported_class import secret_class

from grader.classroom.page import class_page
from grader.classroom.report import class_report, named
from grader.classroom.similarity import Pair, Similarity
from grader.core import course
from grader.core.html import TEMPLATES, environment, render
from grader.core.result import Curve, Frame, NamedMistake, Outcome, Result, WrittenAnswer
from grader.reports import export, html_report

BAD = (
    "javascript:x//</style></title></p><script>alert(1)</script><img src=x onerror=alert(2)>"
    ' " onclick="a \'b &lt; \u202e\x1b'
)
HARMLESS = "harmless"


def with_texts(part: Any, change: Callable[[str], str], *, without: tuple[str, ...] = ()) -> Any:
    """The same data with every text changed, however deep it lies; equal texts stay equal."""
    if isinstance(part, str):
        return change(part)
    if isinstance(part, list | tuple):
        return type(part)(with_texts(each, change, without=without) for each in part)
    if isinstance(part, dict):
        return {key: with_texts(each, change, without=without) for key, each in part.items()}
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        texts = {
            field.name: with_texts(getattr(part, field.name), change, without=without)
            for field in dataclasses.fields(part)
            if field.init and field.name not in without
        }
        return dataclasses.replace(part, **texts)
    return part


def full_result(outcome: Outcome) -> Result:
    """A text in every field: a field that is empty here is one that the test below does not try."""
    result = small_result(problem="a problem", seed=1)
    result.notes = ["Clip.py is read as clip.py"]
    (check,) = result.checks
    check.outcome, check.id, check.call, check.printed = outcome, BANDIT, "ratio(1)", "here I am"
    check.owed_to = ["clip.ratio"]
    check.rows, check.waits_for, check.may_come_from = [("yours", "2"), ("", "3")], ["a"], ["b"]
    frame = Frame("clip.py", 3, "ratio", "raise ValueError")
    check.frames = [frame, frame]
    check.curves = [Curve("Reward", "step", "reward", 0, 1, [1.0, None])]
    said = ("docs/mistakes/clip.md", "ratio", "twice", "you double it", "So it binds.")
    second = dataclasses.replace(check, id="clip.b")
    result.exercises[0].checks.append(second)
    result.exercises[0].misconceptions = [NamedMistake(check, True, *said) for check in (BANDIT, "clip.b")]
    result.exercises[0].answers = [WrittenAnswer("1E.2", "that of REINFORCE")]
    result.exercises[0].not_imported = "ValueError: no (clip.py, line 3)"
    return result


def empty_texts(part: Any) -> list[str]:
    """Names of fields that hold no text although they could."""
    assert dataclasses.is_dataclass(part)
    return [field.name for field in dataclasses.fields(part) if getattr(part, field.name) in ("", [], ())]


def shape(page: str) -> Counter[Any]:
    """Tags with the names of their attributes; texts in attributes differ."""
    found: Counter[Any] = Counter()
    for entry, count in Tags(page).found.items():
        tag, attributes = entry if isinstance(entry, tuple) else (entry, ())
        found[tag, tuple(name for name, _ in attributes)] += count
    return found


def assert_is_text(hostile: str, harmless: str) -> None:
    assert shape(hostile) == shape(harmless)
    assert "<script" not in hostile and 'onclick="a' not in hostile
    assert not re.search(r"[\u202e\x1b]", hostile) and "[U+202E][U+001B]" in hostile
    assert "&lt;script&gt;" in hostile and "&amp;lt;" in hostile


@pytest.mark.parametrize("grade", [True, False])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_text_in_any_field_of_a_result_is_text_in_its_report(outcome: Outcome, grade: bool) -> None:
    result = full_result(outcome)
    result.grade = grade
    for part in (result, *result.exercises, *result.checks):
        assert empty_texts(part) == []

    def written(word: str) -> str:
        return export(with_texts(result, lambda text: word + text, without=("outcome", "question")), "html", {})

    assert_is_text(written(BAD), written(HARMLESS))
    assert written(BAD).count("&lt;script&gt;") >= 20


def test_a_text_in_any_field_of_a_class_is_text_on_its_page() -> None:
    def written(word: str) -> str:
        entries = secret_class()
        pair = Pair(first="ada", second="ben", share=0.9, files={"kl.py": 0.5})
        similar = Similarity(threshold=0.5, compared=2, too_small=("cyd", "dan"), pairs=(pair,), found=3)
        parts = (class_report(entries), named(entries), similar)
        report, names, similar = (with_texts(part, lambda text: word + text) for part in parts)
        return class_page(report, named=names, similarity=similar)

    assert_is_text(written(BAD), written(HARMLESS))


def test_a_template_that_uses_a_name_without_a_value_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    values: dict[str, Any] = {}
    monkeypatch.setattr(html_report, "render", lambda name, **given: values.update(given))
    html_report.export(full_result(Outcome("failed")), {})
    assert "Learning curves" in render("grading", **values)
    for name in values:
        with pytest.raises(jinja2.UndefinedError, match=name):
            render("grading", **{other: value for other, value in values.items() if other != name})
    for expression in ("nobody", "result.nobody", "result.exercises[0].checks[0].nobody", "result.checks[9]"):
        with pytest.raises(jinja2.UndefinedError):
            environment().from_string(f"{{{{ {expression} }}}}").render(values)


def test_one_function_puts_html_in_and_no_template_can() -> None:
    for path in [*TEMPLATES.rglob("*.jinja")]:
        text = path.read_text("utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|<script|\son\w+=|\bstyle=|\w\[[\"']", text), path.name
    with pytest.raises(jinja2.TemplateAssertionError, match="safe"):
        environment().from_string("{{ x|safe }}")
    marks = [path.relative_to(course.ROOT).as_posix() for path in (course.ROOT / "grader").rglob("*.py")]
    assert [name for name in marks if "Markup(" in (course.ROOT / name).read_text("utf-8")] == ["grader/core/html.py"]


def test_every_template_and_style_sheet_is_used() -> None:
    texts = [path.read_text("utf-8") for path in TEMPLATES.rglob("*.jinja")]
    texts += [
        path.read_text("utf-8") for room in ("reports", "classroom") for path in (course.GRADER / room).glob("*.py")
    ]
    for path in (path for path in TEMPLATES.rglob("*") if path.is_file()):
        name = path.relative_to(TEMPLATES).as_posix().removesuffix(".html.jinja")
        assert any(re.search(rf'"{re.escape(name)}(\.html\.jinja)?"', text) for text in texts), name


def test_backticks_make_code_and_nothing_else_of_what_is_between_them() -> None:
    made = environment().from_string('{% from "pieces.html.jinja" import prose %}{{ prose(words) }}')
    for words, expected in {
        "a `b` c": "a <code>b</code> c",
        "`<b>` & `c`": "<code>&lt;b&gt;</code> &amp; <code>c</code>",
        "`<i>\nb`": "`&lt;i&gt;\nb`",
        "``": "``",
        "": "",
    }.items():
        assert made.render(words=words) == expected
