"""The loss on one page: current, complete, and true to the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.commands import cheat_sheet as command
from grader.commands import course as course_command
from grader.core import course
from grader.workshop import cheat_sheet

pytest.importorskip("py_mini_racer")
HTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture
def sheet() -> ElementTree.Element:
    return ElementTree.fromstring(cheat_sheet.SVG.read_text("utf-8"))


def test_the_sheet_and_its_pdf_are_current(capsys):
    assert course_command.main(["dev", "cheat-sheet", "--check"]) == 0, capsys.readouterr().out


def test_a_pdf_of_another_sheet_is_noticed(monkeypatch, tmp_path: Path, capsys):
    pdf = tmp_path / "cheat-sheet.pdf"
    pdf.write_bytes(cheat_sheet.PDF.read_bytes() + b"\n")
    monkeypatch.setattr(command, "PDF", pdf)
    assert course_command.main(["dev", "cheat-sheet", "--check"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "cheat-sheet.pdf is stale: run `course dev cheat-sheet`"


def test_the_pdf_has_one_page_that_fits_on_a4_and_on_letter():
    pdf = cheat_sheet.PDF.read_bytes()
    assert re.findall(rb"/Count (\d+)", pdf) == [b"1"]
    ((width, height),) = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert float(width) <= 210 / 25.4 * 72 and float(height) <= 11 * 72


def test_the_sheet_is_whole_and_loads_nothing(sheet):
    text = cheat_sheet.SVG.read_text("utf-8")
    assert not re.search(r"@\w+@", text)
    assert set(re.findall(r"url\([\"']?([^)\"']{5})", text)) == {"data:", "#hatc"}
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", text)


def test_every_call_on_the_sheet_is_one_that_a_student_can_make(sheet):
    calls = [cell.text for cell in sheet.find(f".//{HTML}tbody").iter(f"{HTML}code") if "(" in cell.text]
    assert len(calls) == 5
    functions = {
        node.name: node.args
        for each in course.EXERCISES
        for node in ast.parse((course.STARTER / f"{each.name}.py").read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    for call in (ast.parse(text, mode="eval").body for text in calls):
        given = functions[call.func.id]
        assert [name.id for name in call.args] == [argument.arg for argument in given.args]
        options = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        defaults = {option.arg: ast.unparse(default) for option, default in options if default}
        assert all(defaults[str(option.arg)] == ast.unparse(option.value) for option in call.keywords)
