"""Hostile texts, and independent readers that say what is in an output besides text.

A reader fails where something in it is more than text. What it returns is the same for an output with hostile texts as
for one with harmless words: elements and attributes, cells, commands, keys, colours.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import lxml.etree
import lxml.html

from grader.core.text import MARKS

BENIGN = "harmless words"

HOSTILE = {
    # terminals
    "link of a terminal": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "one-byte controls": "\x9b31m \x9d0;owned\x9c \x90q\x9c \x85 \x84",
    "all C0": "".join(map(chr, range(1, 32))) + "\x7f",
    "carriage return": "FAILED 0 of 25\rPASSED 25 of 25",
    "rich markup": "[bold red]x[/] [/nothing] [link=https://evil.example]y[/link] \\[a]",
    # Unicode
    "lone surrogates": "\ud800 a \udfff \udcff",
    "bidi overrides": "\u202etxt.exe\u202c \u202d\u202a\u202b\u200e\u200f\u061c",
    "blank letters": "\u3164\u115f\u1160\u2800\u034f\ufe0f\uffa0\U000e0100",
    "noncharacters": "\ufffe\uffff\U0001ffff\ufdd0",
    "line separators": "one\u2028two\u2029three\x0bfour\x0cfive\x1csix\x85seven",
    "zalgo": "Z" + "\u0336\u0489\u0301" * 300 + "a" + "\u20dd" * 300,
    # size
    "long line": "x" * 30_000,
    "many lines": "y\n" * 8_000,
    "long in four bytes": "\U0001f600" * 5_000,
    # HTML, XML
    "script": "</pre></td></table></title></style><script>alert(1)</script><img src=x onerror=alert(2)>",
    "attribute": "\" onmouseover=\"alert(1)\" ' onfocus='alert(2)' autofocus x=`a`",
    "references": "&lt;b&gt; &#60;script&#62; &#x0; &nosuch; &amp",
    "comment": "<!-- a --> --> <!-- <![CDATA[ ]]> <?php ?> <!DOCTYPE x [<!ENTITY e 'f'>]>",
    "end of data": "]]> ]]&gt; <![CDATA[x]]>",
    # Markdown
    "image and link": "![x](https://evil.example/x.png) [y](javascript:alert(1)) <https://evil.example> [z]: //evil",
    "table": "| a | b |\n|---|---|\n| c | d |",
    "fences": "```\ncode\n~~~~\n    code\n````html\n<b>",
    "blank lines and headings": "\n\n# heading\n\n- item\n\n1. item\n\n> quote\n\n---\n\n<div>\n",
    "mentions and math": "@everyone #1 $\\href{javascript:1}{x}$ $$x$$ **b** __c__ ~~d~~ https://evil.example",
    # YAML, spreadsheets
    "yaml": "!!python/object/apply:os.system ['id'] &a *a\n- : {} # \t%YAML",
    "formula =": '=HYPERLINK("https://evil.example","x")',
    "formula @": "@SUM(1+1)*cmd|' /C calc'!A0",
    "formula after a tab": "\t=1+1",
    "formula in full width": "\uff1d1\uff0b1",
    "minus sign": "\u22121+1",
    "formula after a semicolon": "Ada;=1+1;+2; @x",
    "cell breakout": 'a","=1+1","b\n=2+2,"',
    # build machines
    "error of GitHub": "::error file=grader/commands/grade.py,line=1::injected",
    "group of GitHub": "##[group]x\na ##[error]y ##[add-mask]z",
    "logging of Azure": "##vso[task.setvariable variable=PATH]/tmp ##vso[task.complete result=Succeeded;]",
    "escapes of GitHub": "%0A::error::x %0D%0A %25 a,title=b:c",
    # data
    "json": '", "score": 100, "x": "\\u0000 NaN Infinity \\',
    "formats": "%(asctime)s %s {0} {x.__class__} ${PATH} $(id) `id` {{7*7}} {% raw %} <%= 1 %> #{1}",
    # names of files
    "path": "../../../etc/passwd",
    "path of Windows": "..\\..\\C:\\Windows\\x.py",
    "device of Windows": "con",
    "dots": "..",
    "option": "--help -rf *",
    "name that grows": "\u0958" * 90,
    "nothing": "",
}

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


# ---------------------------------------------------------------- independent readers


class Tags(HTMLParser):
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
    return tree, Tags(text).found


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


def terminal_inventory(text: str) -> set[str]:
    """The colours and styles that were used; nothing else than these may begin with an escape."""
    assert not is_text(SGR.sub("", text)), is_text(SGR.sub("", text))
    return set(SGR.findall(text))
