"""Whatever text a submission or a platform hands us, it stays text on every screen, sheet and build machine.

A table of hostile texts, a table of ways in, a table of ways out. For each way out an independent reader says what is
in it besides text: elements and attributes, cells that are formulas, commands, escape sequences. The same output made
with harmless words must have the same of all that, so nothing was added, closed or commanded by a text.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import lxml.etree
import lxml.html
import markdown_it
import pytest
import yaml
from conftest import grading_profile, model_answer
from exports_readers import CLASSROOM
from rich.console import Console

from grader import cli, course, course_command
from grader.class_diff import compare
from grader.class_report import class_report, named
from grader.class_results import Entry, Person, each_entry, file_name, result_path, write_entries
from grader.class_submissions import METADATA, find_submissions
from grader.diff_command import as_csv
from grader.exporters import FORMATS, export, terminal
from grader.exporters.class_csv import checks_csv, misconceptions_csv
from grader.exporters.class_page import class_page
from grader.exporters.grades_csv import grades_csv
from grader.exporters.plain_text import MARKS, one_line, plain, spreadsheet_safe, visible
from grader.grade_all import _ENDINGS
from grader.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_RUN,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
    Result,
)
from grader.run import grade
from grader.sandbox import Sandbox
from grader.similarity import Pair, Similarity
from grader.submission import read_submission
from grader.worksheet_questions import FILE_NAME as WORKSHEET_FILE
from grader.worksheet_questions import NAME as WORKSHEET_NAME
from grader.worksheet_questions import QUESTIONS, VERSION

BENIGN = "harmless words"

HOSTILE = {
    # terminals
    "colour": "\x1b[38;5;201mpurple\x1b[0m",
    "cleared screen": "\x1b[2J\x1b[H\x1b[?1049h",
    "title": "\x1b]0;owned\x07\x1b]2;owned\x1b\\",
    "link of a terminal": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "one-byte controls": "\x9b31m \x9d0;owned\x9c \x90q\x9c \x85 \x84",
    "all C0": "".join(map(chr, range(1, 32))) + "\x7f",
    "nul": "a\0b",
    "carriage return": "FAILED 0 of 25\rPASSED 25 of 25",
    "backspaces": "FAILED\b\b\b\b\b\bPASSED",
    "rich markup": "[bold red]x[/] [/nothing] [link=https://evil.example]y[/link] \\[a]",
    "emoji of rich": "a :skull: b :warning:",
    # Unicode
    "lone surrogates": "\ud800 a \udfff \udcff",
    "bidi overrides": "\u202etxt.exe\u202c \u202d\u202a\u202b\u200e\u200f\u061c",
    "bidi isolates": "\u2066a\u2067b\u2068c\u2069",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00ad",
    "blank letters": "\u3164\u115f\u1160\u2800\u034f\ufe0f\uffa0\U000e0100",
    "tags": "\U000e0001\U000e0041\U000e007f",
    "noncharacters": "\ufffe\uffff\U0001ffff\ufdd0",
    "private": "\ue000\U000f0000",
    "line separators": "one\u2028two\u2029three\x0bfour\x0cfive\x1csix\x85seven",
    "zalgo": "Z" + "\u0336\u0489\u0301" * 300 + "a" + "\u20dd" * 300,
    "joined emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f3f3\ufe0f\u200d\U0001f308",
    "right to left": "\u05d3\u05d5\u05d3 \u0645\u062d\u0645\u062f 123",
    # size
    "long line": "x" * 100_000,
    "many lines": "y\n" * 20_000,
    "long in four bytes": "\U0001f600" * 5_000,
    # HTML, XML
    "script": "</pre></td></table></title></style><script>alert(1)</script><img src=x onerror=alert(2)>",
    "attribute": "\" onmouseover=\"alert(1)\" ' onfocus='alert(2)' autofocus x=`a`",
    "references": "&lt;b&gt; &#60;script&#62; &#x0; &nosuch; &amp",
    "comment": "<!-- a --> --> <!-- <![CDATA[ ]]> <?php ?> <!DOCTYPE x [<!ENTITY e 'f'>]>",
    "end of data": "]]> ]]&gt; <![CDATA[x]]>",
    "svg and style": "<svg onload=alert(1)><style>*{display:none}</style><base href=//evil.example><meta refresh>",
    "backticks in HTML": "`<img src=x>` ``<b>`` `",
    # Markdown
    "image and link": "![x](https://evil.example/x.png) [y](javascript:alert(1)) <https://evil.example> [z]: //evil",
    "table": "| a | b |\n|---|---|\n| c | d |",
    "fences": "```\ncode\n~~~~\n    code\n````html\n<b>",
    "blank lines and headings": "\n\n# heading\n\n- item\n\n1. item\n\n> quote\n\n---\n\n<div>\n",
    "mentions and math": "@everyone #1 $\\href{javascript:1}{x}$ $$x$$ **b** __c__ ~~d~~ https://evil.example",
    "html comment": "<!--\n-->\n\n<!-- hidden",
    # YAML, spreadsheets
    "yaml": "!!python/object/apply:os.system ['id'] &a *a\n- : {} # \t%YAML",
    "formula =": '=HYPERLINK("https://evil.example","x")',
    "formula +": "+1+cmd|' /C calc'!A0",
    "formula -": "-1+1",
    "formula @": "@SUM(1+1)*cmd|' /C calc'!A0",
    "formula after a tab": "\t=1+1",
    "formula after a return": "\r=1+1",
    "formula after a newline": "\n=1+1",
    "formula after spaces": " \u00a0\u3000=1+1",
    "formula after nothing that shows": "\u200b\ufeff=1+1",
    "formula in full width": "\uff1d1\uff0b1",
    "formula in small letters": "\ufe661 \u207a",
    "formula at full width": "\uff20SUM(1)",
    "minus sign": "\u22121+1",
    "formula after a semicolon": "Ada;=1+1;+2; @x",
    "cell breakout": 'a","=1+1","b\n=2+2,"',
    # build machines
    "error of GitHub": "::error file=grader/cli.py,line=1::injected",
    "error on a line": "a\n  ::error::injected\r\n::warning::injected",
    "output of GitHub": "::set-output name=grade::100\n::add-mask::e\n::stop-commands::token",
    "group of GitHub": "##[group]x\na ##[error]y ##[add-mask]z",
    "logging of Azure": "##vso[task.setvariable variable=PATH]/tmp ##vso[task.complete result=Succeeded;]",
    "message of TeamCity": "##teamcity[buildStatus status='SUCCESS' text='x']",
    "section of GitLab": "section_start:1560896352:my\r\x1b[0Kheader section_end:1560896352:my\r\x1b[0K",
    "escapes of GitHub": "%0A::error::x %0D%0A %25 a,title=b:c",
    "environment of GitHub": "GRPO_RUNNERS<<EOF\nPATH=/tmp\nEOF",
    # data
    "json": '", "score": 100, "x": "\\u0000 NaN Infinity \\',
    "formats": "%(asctime)s %s {0} {x.__class__} ${PATH} $(id) `id` {{7*7}} {% raw %} <%= 1 %> #{1}",
    # names of files
    "path": "../../../etc/passwd",
    "path of Windows": "..\\..\\C:\\Windows\\x.py",
    "device of Windows": "con",
    "device with an ending": "NUL.tar.gz",
    "device with a sign": "COM\u00b9",
    "device with a space": "aux .x",
    "dots": "..",
    "dot": ".",
    "option": "--help -rf *",
    "name that grows": "\u0958" * 90,
    "nothing": "",
    "spaces": "   ",
}

OUTCOMES = (FAILED, PASSED, BROKEN, NOT_WRITTEN, WAITING, NOT_RUN, GRADER_ERROR)
_NO_PICTURE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# What GitHub's, Azure's and TeamCity's runners obey: the first at the beginning of a line, the others anywhere.
_COMMAND = re.compile(r"^\s*::[\w-]+( .*)?::|##\w*\[", re.MULTILINE)


# ---------------------------------------------------------------- what text must be


def is_text(shown: str, *, newlines: bool = True) -> str:
    """What is wrong with a text that people and build machines read; empty if nothing is."""
    odd = {c for c in shown if unicodedata.category(c) in _NO_PICTURE} - ({"\n"} if newlines else set())
    if odd:
        return f"characters that do something: {sorted(map(ascii, odd))}"
    if found := _COMMAND.search(shown):
        return f"a command to a build machine: {shown[found.start() : found.start() + 40]!r}"
    marks = max((len(run) for run in re.findall(r"m+", "".join("m" if _is_mark(c) else " " for c in shown))), default=0)
    return f"{marks} marks on one letter" if marks > MARKS else ""


def page_text(shown: str) -> str:
    """A text of a page without what is harmless there: a tab, and commands to build machines, which read no pages."""
    return shown.replace("\t", " ").replace("::", "").replace("##", "")


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me")


@pytest.mark.parametrize("name", HOSTILE)
def test_text_that_was_made_plain_is_text_and_stays_it(name: str) -> None:
    for made in (plain(HOSTILE[name]), one_line(HOSTILE[name])):
        assert not is_text(made)
        assert plain(made, limit=10**6) == made
    assert len(one_line(HOSTILE[name]).splitlines()) <= 1
    assert not is_text(page_text(visible(HOSTILE[name])))


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.startswith(("formula", "minus"))])
def test_a_spreadsheet_takes_no_text_for_a_formula(name: str) -> None:
    assert not formulas(spreadsheet_safe(HOSTILE[name]))
    assert not formulas(spreadsheet_safe(one_line(HOSTILE[name])))


@pytest.mark.parametrize(
    "words", ["Ada Öz", "o'neil; and others", "kl.py is missing; a - b", "日本 花子", "2026-01-01"]
)
def test_ordinary_text_keeps_its_letters(words: str) -> None:
    assert spreadsheet_safe(words) == plain(words) == one_line(words) == visible(words) == words
    stacked = unicodedata.normalize("NFD", "ệ") + "שָּׁ" + "नि" + "ག྄ྷྲ"
    assert plain(stacked) == visible(stacked) == stacked


# ---------------------------------------------------------------- independent readers


class _Tags(HTMLParser):
    """Elements with attributes, as the standard library's tokenizer sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[Any] = Counter()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "code" or attrs:  # text between backticks is shown as code, in a student's sentence too
            self.found[tag, tuple(attrs)] += 1

    def handle_comment(self, data: str) -> None:
        self.found["comment"] += 1

    def handle_decl(self, decl: str) -> None:
        self.found["declaration"] += 1

    def unknown_decl(self, data: str) -> None:
        self.found["declaration"] += 1

    def handle_pi(self, data: str) -> None:
        self.found["instruction"] += 1


def html_inventory(text: str) -> tuple[Counter[Any], Counter[Any]]:
    """Every element with its attributes, by two parsers; the text must be text."""
    root = lxml.html.document_fromstring(text)
    tree = Counter(
        (each.tag if isinstance(each.tag, str) else "comment", tuple(each.attrib.items()))
        for each in root.iter()
        if each.tag != "code" or each.attrib
    )
    body = "".join(root.find("body").itertext()) if root.find("body") is not None else ""
    assert not is_text(page_text(body)), is_text(page_text(body))
    return tree, _Tags(text).found


def markdown_inventory(text: str) -> object:
    """What a Markdown reader makes of it, and what the HTML in that is."""
    assert not is_text(text), is_text(text)
    tokens = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    kinds = Counter(each.type for token in tokens for each in (token, *(token.children or ())))
    return kinds, html_inventory("".join(token.content for token in tokens))


def annotations_inventory(text: str) -> object:
    """What GitHub's runner does with a step's output: its own lines are commands, all others are a log."""
    commands, stopped = [], ""
    for line in text.splitlines():
        assert not is_text(line.lstrip().removeprefix("::"), newlines=False), line
        command = re.fullmatch(r"\s*::([\w-]+)(?: (.*?))?::(.*)", line) or re.fullmatch(r"\s*::(\w+)::()()", line)
        assert command or not line.lstrip().startswith("::"), line
        if stopped:
            if line.strip() == f"::{stopped}::":
                stopped = ""
            else:
                assert not command, line
        elif command and command[1] == "stop-commands":
            stopped = command[3]
        elif command:
            properties = [one.partition("=")[0] for one in (command[2] or "").split(",") if one]
            commands.append((command[1], properties))
            assert not re.search("[\r\n]", command[3])
        else:
            raise AssertionError(f"a line outside of a command: {line!r}")
    assert not stopped
    return commands


def strict_json(text: str) -> Any:
    """JSON as the standard has it: no NaN, no key twice, and ASCII only, so that nobody can misread it."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    document = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    assert json.loads(json.dumps(document)) == document
    return document


def json_inventory(text: str) -> object:
    """Keys, numbers and verdicts; every other text must be text."""
    assert text.isascii()
    return _shape(strict_json(text))


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return ["text"] if value and all(isinstance(each, str) for each in value) else list(map(_shape, value))
    if isinstance(value, str):
        assert not is_text(value), (is_text(value), value[:200])
        return "text"
    return value


def xml_inventory(text: str) -> object:
    root = lxml.etree.fromstring(text.encode(), lxml.etree.XMLParser(resolve_entities=False, no_network=True))
    for each in root.iter():
        for words in (each.text or "", *map(str, each.attrib.values())):
            assert not is_text(words), is_text(words)
    return Counter((each.tag, tuple(each.attrib)) for each in root.iter())


def environment_inventory(text: str) -> object:
    """Lines of GITHUB_ENV, with what the reporter decodes from them."""
    lines = dict(line.split("=", 1) for line in text.removesuffix("\n").split("\n"))
    assert text.isascii() and all(re.fullmatch(r"[A-Z0-9_]+", name) for name in lines)
    decoded = {}
    for name, value in lines.items():
        if name != "GRPO_RUNNERS":
            document = strict_json(base64.b64decode(value, validate=True).decode())
            decoded[name] = _shape(document)
            for test in document["tests"]:
                for words in (test["name"], test["message"] or "", test["output"]):
                    assert "::" not in words and "##[" not in words
    return list(lines), decoded


INVENTORIES: Mapping[str, Callable[[str], object]] = {
    "html": html_inventory,
    "github-summary": markdown_inventory,
    "github-annotations": annotations_inventory,
    "github-classroom": environment_inventory,
    "junit": xml_inventory,
    **dict.fromkeys(("gradescope", "classroom50", "prairielearn", "exercism", "check50", "sarif"), json_inventory),
}


def formulas(cell: str) -> list[str]:
    """The parts of a cell that a spreadsheet would compute, also where it splits cells at semicolons."""
    parts = [part.lstrip() for part in cell.split(";")]
    first = [unicodedata.normalize("NFKC", part[:1]).replace("\u2212", "-") for part in parts]
    odd = [part for part, sign in zip(parts, first, strict=True) if sign in ("=", "+", "-", "@")]
    return odd + [cell] * (cell[:1] in ("\t", "\r", "\n"))


def csv_inventory(text: str) -> object:
    """Cells of every record: text that is text and no formula, or a number, which may begin with a minus."""
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    for row in rows:
        for cell in row:
            assert not is_text(cell, newlines=False), (is_text(cell), cell[:100])
            assert not formulas(cell) or re.fullmatch(r"-?\d+(\.\d+)?", cell), cell
    return [len(row) for row in rows]


SGR = re.compile(r"\x1b\[[\d;]*m")


def terminal_inventory(text: str) -> object:
    """The colours and styles that were used; nothing else than these may begin with an escape."""
    assert not is_text(SGR.sub("", text)), is_text(SGR.sub("", text))
    return set(SGR.findall(text))


# ---------------------------------------------------------------- every text x every format


def result_of(text: str, outcomes: Sequence[str] = OUTCOMES) -> Result:
    """Checks with these outcomes, and the text wherever a submission has a hand in it."""
    checks = []
    for outcome in outcomes:
        for hidden in (False, True):
            frame = {"file": text, "line": 3, "function": text, "source": text}
            identity = f"kl.{outcome.replace(' ', '_')}_{hidden}"
            check = CheckResult(identity, "kl_estimate", "A rule.", "Because.", 1, hidden, False, outcome, text, text)
            check.rows, check.frames, check.printed = [("yours", text), ("expected", text)], [frame], text
            checks.append(check)
    found = {"check": checks[0].id, "everywhere": True, "function": "kl_estimate", "name": "no_mean"}
    found |= {"sentence": "the sign is wrong", "explanation": "So it drifts.", "page": "docs/mistakes/kl.md"}
    exercises = [ExerciseResult("kl", "KL", "docs/exercises/kl.md", checks, [found])]
    bad_file = CheckResult("clip.a", "importance_ratio", "A rule.", "", 1, False, True, BROKEN, text)
    bad_file.frames, bad_file.printed = [frame], text
    exercises.append(ExerciseResult("clip", "Clipping", "docs/exercises/clip.md", [bad_file]))
    result = Result(text, "ab" * 32, 0, "cpu", exercises, "0.1.0", isolation_level=1, complete=True)
    return replace(result, problem=text and f"the grader said {text}")


def test_every_format_has_a_reader_here() -> None:
    assert set(INVENTORIES) == set(FORMATS)


@pytest.mark.parametrize("format_name", FORMATS)
def test_no_text_is_more_than_text_in_any_format(format_name: str) -> None:
    inventory = INVENTORIES[format_name]
    few = OUTCOMES[:1]  # for the texts of megabytes
    expected = {size: inventory(export(result_of(BENIGN, size), format_name, CLASSROOM)) for size in (OUTCOMES, few)}
    for name, text in HOSTILE.items():
        size = OUTCOMES if len(text) < 2_000 else few
        written = export(result_of(text, size), format_name, CLASSROOM)
        written.encode("utf-8")
        found = inventory(written)
        assert found == expected[size] or not one_line(text), name  # nothing to show has no row of its own


@pytest.mark.parametrize("colours", [True, False], ids=["colours", "no colours"])
@pytest.mark.parametrize("width", [40, 200])
def test_no_text_is_more_than_text_in_the_terminal(colours: bool, width: int) -> None:
    def shown(text: str) -> str:
        file = io.StringIO()
        system = "standard" if colours else None
        terminal.show(result_of(text), Console(file=file, width=width, force_terminal=colours, color_system=system))
        return file.getvalue()

    allowed = terminal_inventory(shown(BENIGN))
    assert bool(allowed) == colours
    for name, text in HOSTILE.items():
        if len(text) < 10_000:
            assert terminal_inventory(shown(text)) <= allowed, name


def test_a_label_is_no_markup() -> None:
    """Labels are the grader's own words; were one not, it must neither style nor stop a report."""
    result = result_of(BENIGN)
    for check in result.checks:
        check.rows = [("[/] [red]x :skull:", "[/]")]
    file = io.StringIO()
    terminal.show(result, Console(file=file, width=200, color_system=None))
    assert "[/] [red]x :skull:" in file.getvalue()


# ---------------------------------------------------------------- a class of such names


def class_of(text: str, *, earned: bool = True) -> list[Entry]:
    """One entry with a result and one without, with the text in every place that a platform or a student fills."""
    result = result_of(text)
    result.problem = ""
    for check in result.checks:
        if check.outcome in (NOT_RUN, GRADER_ERROR) or (check.outcome == PASSED and not earned):
            check.outcome = FAILED
    people = (Person(text, text, text, text, "canvas", text), Person(name="Ada", platform="canvas"))
    graded = Entry(text, people, key="1" * 64, notes=(text, text), result=result)
    equal = replace(graded, name=f"{text} ", people=people[1:], key="1" * 64)
    return [graded, equal, Entry(f"{text}  ", people, key="2" * 64, notes=(text,), problem=f"it died: {text}")]


_TABLES: Mapping[str, Callable[[str], str]] = {
    "grades": lambda text: grades_csv(class_of(text), ["kl", "clip"]),
    "checks": lambda text: checks_csv(class_report(class_of(text))),
    "misconceptions": lambda text: misconceptions_csv(class_report(class_of(text))),
    "changes": lambda text: as_csv(compare(class_of(text), class_of(text, earned=False))),
}


@pytest.mark.parametrize("table", _TABLES)
def test_no_text_is_a_formula_or_a_cell_more_in_any_table(table: str) -> None:
    expected = csv_inventory(_TABLES[table](BENIGN))
    for name, text in HOSTILE.items():
        assert csv_inventory(_TABLES[table](text)) == expected, name


def test_no_text_is_more_than_text_in_the_class_page() -> None:
    def written(text: str) -> str:
        entries = class_of(text)
        pair = Pair(first=text, second=text, share=1.0, files={"kl.py": 1.0})
        similar = Similarity(threshold=0.5, compared=2, too_small=(text,), pairs=(pair,), found=1)
        return class_page(class_report(entries), named=named(entries), similarity=similar)

    expected = html_inventory(written(BENIGN))
    for name, text in HOSTILE.items():
        assert html_inventory(written(text)) == expected or not one_line(text), name


def write_class(folder: Path, entries: list[Entry]) -> Path:
    for entry in entries:
        if entry.result:
            path = result_path(folder, entry.key)
            path.parent.mkdir(parents=True, exist_ok=True)
            entry.result.write(path)
    write_entries(folder, entries, {"course_version": "0.1.0", "settings": {"seed": 0}})
    return folder


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class with all texts in all places of `submissions.json`."""
    texts = {name: text for name, text in HOSTILE.items() if len(text) < 10_000}
    entries = [
        replace(entry, key=f"{number:064x}")
        for number, entry in enumerate(entry for text in texts.values() for entry in class_of(text))
    ]
    return write_class(tmp_path_factory.mktemp("class") / "graded", entries)


Command = Callable[..., "Ended"]


class Ended:
    """How a command ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `course` in this process; what it prints must be text."""

    def run(*arguments: object, main: Callable[..., int] = course_command.main) -> Ended:
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        for shown in captured:
            assert not is_text(shown), (is_text(shown), shown[-500:])
        return Ended(code, captured.out, captured.err)

    return run


def test_the_commands_on_a_class_print_and_write_text_only(
    graded_class: Path, tmp_path: Path, command: Command
) -> None:
    page, table = tmp_path / "class.html", tmp_path / "checks.csv"
    assert command("report", graded_class, "--out", page, "--csv", table, "--names").code == 1
    html_inventory(page.read_text("utf-8"))
    csv_inventory(table.read_text("utf-8"))
    entries = list(each_entry(graded_class))
    for check in (check for entry in entries if entry.result for check in entry.result.checks):
        check.outcome = FAILED
    regraded = write_class(tmp_path / "regraded", entries)
    differs = command("diff", graded_class, regraded, "--csv", tmp_path / "changes.csv")
    assert differs.code == 1
    assert ":skull:" in differs.out and "[/nothing]" in differs.out
    csv_inventory((tmp_path / "changes.csv").read_text("utf-8"))


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo terminals")
@pytest.mark.parametrize("no_color", [False, True], ids=["colours", "NO_COLOR"])
def test_a_real_terminal_gets_text_and_our_colours_only(graded_class: Path, tmp_path: Path, no_color: bool) -> None:
    export_file = tmp_path / "export.csv"
    export_file.write_bytes(canvas_export(list(HOSTILE.values())))
    gradebook = ("gradebook", "canvas", graded_class, "--gradebook", export_file, "--dry-run", "--maximum", 15)
    for arguments in (("diff", graded_class, graded_class), gradebook):
        shown = in_a_terminal("-m", "grader.course_command", *map(str, arguments), no_color=no_color)
        styles = terminal_inventory(shown.replace("\r\n", "\n"))
        assert styles <= {"\x1b[0m", "\x1b[1m", "\x1b[3m", "\x1b[2m"}
        assert "canvas" in arguments or "submissions the same" in shown


def in_a_terminal(*arguments: str, no_color: bool) -> str:
    """What a Python program writes to a terminal."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"} | ({"NO_COLOR": "1"} if no_color else {})
    if not no_color:
        environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=course.ROOT, env=environment
    )
    os.close(theirs)
    pieces = []
    with contextlib.suppress(OSError):  # Linux ends the reading of a closed terminal with an error
        while piece := os.read(ours, 65_536):
            pieces.append(piece)
    os.close(ours)
    process.wait()
    return b"".join(pieces).decode("utf-8", "replace")


# ---------------------------------------------------------------- gradebooks


def canvas_export(names: list[str]) -> bytes:
    """Canvas's own export, in which students chose their names."""
    names = [name.replace("\0", "").encode("utf-8", "ignore").decode() for name in names if len(name) < 1_000]
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "GRPO (4711)"])
    table.writerow(["    Points Possible", "", "", "", "", "15"])
    for number, name in enumerate(names):
        table.writerow([name, f"{number}", f"s{number}", f"login{number}", name, ""])
    return file.getvalue().encode()


def moodle_export(names: list[str]) -> bytes:
    rows = csv.reader(io.StringIO(canvas_export(names).decode(), newline=""))
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(["Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Feedback comments"])
    for name, number, *_ in list(rows)[2:]:
        table.writerow([f"Participant {number}", name, f"{number}@example.org", "", "15", ""])
    return file.getvalue().encode()


def blackboard_export(names: list[str]) -> bytes:
    rows = csv.reader(io.StringIO(canvas_export(names).decode(), newline=""))
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(["Last Name", "First Name", "Username", "GRPO [Total Pts: 15 Score] |4711"])
    for name, number, *_ in list(rows)[2:]:
        table.writerow([name, "x", f"login{number}", ""])
    return file.getvalue().encode()


GRADEBOOKS = {"canvas": (canvas_export, 5), "moodle": (moodle_export, 3), "blackboard": (blackboard_export, 3)}


@pytest.mark.parametrize("platform", GRADEBOOKS)
def test_a_gradebook_gets_numbers_and_our_own_feedback_and_nothing_else(
    platform: str, tmp_path: Path, command: Command
) -> None:
    make, column = GRADEBOOKS[platform]
    names = list(HOSTILE.values())
    exported = tmp_path / "export.csv"
    exported.write_bytes(make(names))
    count = len(list(csv.reader(io.StringIO(exported.read_text("utf-8"), newline="")))) - 1 - (platform == "canvas")
    people = [
        Person(number=f"s{i}", username=f"login{i}", email=f"{i}@example.org", platform=platform, platform_id=str(i))
        for i in range(count)
    ]
    # Names of submissions, notes and results are hostile; who they are is said by ids.
    texts = [text if len(text) < 1_000 else text[:1_000] for text in names]
    entries = []
    for number, person in enumerate(people):
        entry = class_of(texts[number % len(texts)])[0]
        entries.append(replace(entry, name=f"{entry.name}{number}", people=(person,), key=f"{number:064x}"))
    graded = write_class(tmp_path / "graded", entries)
    feedback = ["--feedback"] if platform == "moodle" else []
    ended = command(
        *("gradebook", platform, graded, "--gradebook", exported, "--out", tmp_path / "filled.csv", *feedback)
    )
    assert ended.code == 0, ended.err
    before, after = (
        list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
        for path in (exported, tmp_path / "filled.csv")
    )
    changed = set()
    for old, new in zip(before, after, strict=True):
        for place, (was, now) in enumerate(zip(old, new, strict=True)):
            if was != now:
                assert was == "" and (re.fullmatch(r"\d+", now) if place == column else now.startswith("GRPO course: "))
                assert not formulas(now) and not is_text(now)
                changed.add(place)
    assert changed == ({column, 5} if platform == "moodle" else {column})


@pytest.mark.parametrize("place", ["submission", "submitted_at", "id", "name"])
def test_a_roster_of_any_text_ends_in_sentences(
    place: str, graded_class: Path, tmp_path: Path, command: Command
) -> None:
    names = [text for text in HOSTILE.values() if text.strip() and "\0" not in text and len(text) < 1_000]
    names = [text.encode("utf-8", "ignore").decode() for text in names]
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, ["submission", "submitted_at", "id", "name"])
    table.writeheader()
    known = next(entry.name for entry in each_entry(graded_class) if entry.name.startswith("a :skull:"))
    table.writerows({"submission": known, "submitted_at": "", "id": "1", "name": "", place: name} for name in names)
    (tmp_path / "roster.csv").write_text(file.getvalue(), "utf-8", newline="")
    (tmp_path / "export.csv").write_bytes(canvas_export(names))
    ended = command(
        *("gradebook", "canvas", graded_class, "--gradebook", tmp_path / "export.csv", "--dry-run"),
        *("--roster", tmp_path / "roster.csv"),
    )
    assert ended.code in (1, 2) and (ended.out or ended.err)


# ---------------------------------------------------------------- names of folders, archives and students


def on_disk(text: str) -> str:
    """The text as this system takes it for a name of a file, of 200 bytes at most."""
    forbidden = '/\0<>:"\\|?*' + "".join(map(chr, range(32))) if os.name == "nt" else "/\0"
    kept = "".join(c for c in text if c not in forbidden).encode("utf-8", "ignore")[:200].decode("utf-8", "ignore")
    return "x" if kept.strip(" .") == "" or kept.startswith(".") else kept


KL = "def kl_estimate(logp, ref_logp, *, kind='k3'):\n    return logp\n"


def _folders(place: Path) -> None:
    for number, text in enumerate(HOSTILE.values()):
        folder = place / on_disk(text)
        folder = place / f"{number}{on_disk(text)}" if folder.exists() else folder
        folder.mkdir()
        (folder / "kl.py").write_text(KL, "utf-8")
    for number, text in enumerate(HOSTILE.values()):  # beside it, and no submission
        (place / f"{on_disk(text)}{number}.txt").write_text("x", "utf-8")


def _archives(place: Path) -> None:
    """A zip for each text, with the text as the name of its only member; half of them hold no module."""
    for number, text in enumerate(HOSTILE.values()):
        with zipfile.ZipFile(place / f"student-{number}.zip", "w") as archive:
            clean = text[:1_000].encode("utf-8", "ignore").decode()
            archive.writestr(f"{clean}/kl.py" if number % 2 else f"{clean}.txt", KL)
            archive.writestr(f"2{clean}/kl.py" if number % 2 else f"2{clean}.doc", KL)
    (place / "\x1b[31m\u202e.zip").write_bytes(b"no zip")


def _gradescope(place: Path) -> None:
    metadata = {}
    for number, text in enumerate(HOSTILE.values()):
        (place / f"submission_{number}").mkdir()
        (place / f"submission_{number}" / "kl.py").write_text(KL, "utf-8")
        text = text.encode("utf-8", "ignore").decode()
        person = {":name": text, ":email": text, ":sid": text}
        metadata[f"submission_{number}"] = {":submitters": [person], ":created_at": text}
    (place / METADATA).write_text(yaml.safe_dump(metadata), "utf-8")


def _canvas(place: Path) -> None:
    for number, text in enumerate(HOSTILE.values()):
        who = on_disk(text.replace("_", "")[:50])
        (place / f"{who}_LATE_{number}_{number}_kl.py").write_text(KL, "utf-8")


def _moodle(place: Path) -> None:
    for number, text in enumerate(HOSTILE.values()):
        folder = place / f"{on_disk(text[:50])}_{number}_assignsubmission_file"
        folder.mkdir()
        (folder / "kl.py").write_text(KL, "utf-8")


CLASSES = {each.__name__[1:]: each for each in (_folders, _archives, _gradescope, _canvas, _moodle)}


@pytest.mark.parametrize("layout", CLASSES)
def test_every_submission_of_a_class_gets_a_name_that_is_text_and_a_file_of_its_own(
    layout: str, tmp_path: Path
) -> None:
    CLASSES[layout](tmp_path)
    left_out: list[str] = []
    found = find_submissions(tmp_path, left_out=left_out)
    assert len(found) == len(HOSTILE) + (layout == "archives")
    files = set()
    for each in found:
        assert not is_text(each.name, newlines=False), ascii(each.name)
        contents = each.read()
        for note in contents.notes:
            assert not is_text(note, newlines=False), ascii(note)
            assert len(note) < 1_000
        written = tmp_path.parent / f"{file_name(each.name)}.html"
        assert written.parent == tmp_path.parent and len(written.name.encode()) + len(".xxxxxxxx.") <= 255
        assert not re.fullmatch(r"(con|prn|aux|nul|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?", written.name.casefold())
        assert re.fullmatch(r"[\w ._()-]+", written.name) and not written.name.startswith((".", " "))
        files.add(written.name.casefold())
    assert len(files) == len(found)


def test_a_class_is_graded_and_reported_whatever_its_names_are(tmp_path: Path, command: Command) -> None:
    """The whole way: names of folders, archives and their members into every file and line that the commands write."""
    submissions, out = tmp_path / "class", tmp_path / "graded"
    submissions.mkdir()
    _folders(submissions)
    _archives(submissions)
    formats = [word for name in FORMATS if name != "classroom50" for word in ("--write", name)]
    ended = command(
        *("grade-all", submissions, "--out", out, "--exercises", "kl", "--examples", 1, "--jobs", 1, *formats),
        *("--require-level", 0),
    )
    assert ended.code == 1, (ended.out, ended.err)
    csv_inventory((out / "grades.csv").read_text("utf-8"))
    entries = list(each_entry(out))
    assert len(entries) == 2 * len(HOSTILE) + 1
    for name in set(FORMATS) - {"classroom50"}:
        written = sorted(path for path in (out / name).iterdir())
        assert len(written) == len(entries)
        assert all(path.suffix == _ENDINGS.get(name, ".json") for path in written)
        shapes = [INVENTORIES[name](path.read_text("utf-8")) for path in written[:: len(written) // 20]]
        assert shapes
    html_pages = [path.read_text("utf-8") for path in (out / "html").iterdir()]
    assert len({str(_Tags(page).found["script", ()]) for page in html_pages}) == 1
    for arguments in (
        ("report", out, "--out", tmp_path / "class.html", "--names", "--similarity", submissions),
        ("diff", out, out),
    ):
        assert command(*arguments).code == 0
    html_inventory((tmp_path / "class.html").read_text("utf-8"))


# ---------------------------------------------------------------- worksheets


def worksheet(texts: list[str]) -> str:
    answers = [{"id": question.id, "answer": text} for question, text in zip(QUESTIONS, texts, strict=False)]
    answers += [{"id": text, "answer": text} for text in texts]
    document = {"worksheet": WORKSHEET_NAME, "version": VERSION, "answers": answers, "runs": []}
    return json.dumps(document)


def test_no_answer_and_no_name_is_more_than_text_in_the_worksheet_page(tmp_path: Path, command: Command) -> None:
    def made(kind: str, texts: Sequence[str]) -> tuple[set[object], set[object]]:
        folders = []
        for number in range(0, len(texts), len(QUESTIONS)):
            folder = tmp_path / kind / f"{number}{on_disk(texts[number])}"
            folder.mkdir(parents=True)
            (folder / WORKSHEET_FILE).write_text(worksheet(texts[number : number + len(QUESTIONS)]), "utf-8")
            folders.append(folder)
            assert command("worksheet", "--path", folder, main=cli.main).code == 1
        assert command("worksheet", *folders, "--out", tmp_path / "page.html").code == 0
        tree, tags = html_inventory((tmp_path / "page.html").read_text("utf-8"))
        return set(tree), set(tags)

    harmless = made("harmless", [BENIGN, "x", BENIGN * 5, "", "x" * 100_000] * 10)
    hostile = made("hostile", list(HOSTILE.values()))
    # How many there are depends on which answers are attempts; of another kind there is none.
    assert hostile[0] <= harmless[0] and hostile[1] <= harmless[1]


# ---------------------------------------------------------------- a real grading


def module(text: str) -> dict[str, str]:
    """A submission that says a text in every way that a program can."""
    name = "".join(c for c in text if c not in "\0" and not 0xD800 <= ord(c) < 0xE000) or "x"  # what Python takes
    line = "".join(c for c in name if c not in "\n\r\x0b\x0c\x1a\x1c\x1d\x1e\x85\u2028\u2029").strip()
    prints = f"print({text!a}, flush=True); import sys; print({text!a}, file=sys.stderr)"
    return {
        "kl.py": f"{model_answer('kl')}\n\n"
        f"def categorical_kl(logits, ref_logits):\n    {prints}\n"
        f"    raise type({name!a}, (Exception,), {{}})({text!a})\n\n"
        f"def kl_estimate(logp, ref_logp, *, kind='k3'):\n    {prints}\n    return {{{text!a}: [{text!a}]}}\n",
        "advantages.py": f"{model_answer('advantages')}\n\n"
        f"def group_advantages(rewards, *, std_eps={text!a}, divide=None):\n    return rewards\n\n"
        f"def zero_signal_fraction(rewards):\n    {prints}\n    return type({name!a}, (), {{}})()\n",
        "clip.py": f"x = 1\ny = = # {line}\n",
        "bandit.py": f"exec(compile('def f():\\n    1 / 0\\nf()', {name!a}, 'exec'))\n",
        "charlm.py": f"{model_answer('charlm')}\n\n"
        "def token_logp(model, tokens):\n    def f(): raise ValueError  # " + line + "\n"
        f"    f.__code__ = f.__code__.replace(co_name={name!a}, co_qualname={name!a})\n    f()\n",
    }


EXERCISES = ["kl", "advantages", "clip", "bandit"]


def graded_for_real(folder: Path, text: str, sandbox: Sandbox) -> Result:
    folder.mkdir()
    for file, source in module(text).items():
        (folder / file).write_text(source, "utf-8", newline="")
    with grading_profile():
        result = grade(read_submission(folder), EXERCISES, sandbox.worker, hidden=False)
    result.isolation_level = 1
    return result


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> tuple[Result, Result]:
    """The same submission graded twice: with all texts at once, and with harmless words."""
    place = tmp_path_factory.mktemp("real")
    everything = " ".join(text for text in HOSTILE.values() if len(text) < 300 and "mark" not in text)
    return (
        graded_for_real(place / on_disk("\x1b[31m\u202e[bold]"), everything, sandbox),
        graded_for_real(place / "harmless", BENIGN, sandbox),
    )


@pytest.mark.parametrize("format_name", FORMATS)
def test_what_a_real_submission_says_is_text_in_every_format(format_name: str, real: tuple[Result, Result]) -> None:
    hostile, harmless = real
    assert [(each.id, each.outcome) for each in hostile.checks] == [(each.id, each.outcome) for each in harmless.checks]
    inventory = INVENTORIES[format_name]
    for result in real:  # times differ from run to run
        for check in result.checks:
            check.seconds = 0.0
    one, other = (inventory(export(result, format_name, CLASSROOM)) for result in real)
    assert one == other


def test_a_real_submission_said_it_in_every_way(real: tuple[Result, Result]) -> None:
    """The texts did arrive, so the tests of the formats looked at something."""
    hostile = real[0]
    said = {
        name: [each for each in hostile.checks if each.function == name]
        for name in {c.function for c in hostile.checks}
    }
    assert "HYPERLINK" in said["categorical_kl"][0].story and said["categorical_kl"][0].printed
    assert "HYPERLINK" in json.dumps(vars(said["kl_estimate"][0]))
    assert "evil.example" in json.dumps(vars(said["zero_signal_fraction"][0]))
    assert "evil.example" in json.dumps(vars(said["importance_ratio"][0]))
    file = io.StringIO()
    terminal.show(hostile, Console(file=file, width=120, color_system=None))
    assert terminal_inventory(file.getvalue()) == set()
