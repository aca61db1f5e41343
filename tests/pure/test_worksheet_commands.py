"""What `grade worksheet` says of a worksheet, and the page on which `course worksheet` sets several side by side."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import call, valid_result
from html_reports import Page
from worksheets import (
    Document,
    handed_in,
    right_worksheet,
    run_of,
    simulate,
)

from grader.commands import grade as cli
from grader.worksheet import replay as replaying
from grader.worksheet.model_answers import model_answers
from grader.worksheet.questions import QUESTIONS


@pytest.fixture
def right() -> Document:
    return right_worksheet()


@pytest.fixture(autouse=True)
def _simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "simulate", simulate)


def run(*arguments: str | Path, cwd: Path, main: Callable[..., int] = cli.main) -> subprocess.CompletedProcess[str]:
    return call(main, *arguments, cwd=cwd, COLUMNS="200")


# `grade worksheet`


def test_a_right_worksheet_exits_with_0_and_a_valid_result(tmp_path: Path, right: Document) -> None:
    digests = []
    for folder, version in (("me", right), ("copy", right), ("other", {**right, "runs": []})):
        me = handed_in(tmp_path / folder, version)
        done = run("worksheet", "--path", me, "--json", "r.json", "--require-level", "1", cwd=tmp_path)
        document = valid_result(tmp_path / "r.json")
        digests.append(document["sha256"])
        if folder == "me":
            assert done.returncode == cli.OK, done.stdout + done.stderr
            assert "30 of 30 points" in done.stdout and "self-check" not in done.stdout
            assert (document["earned"], document["points"], document["complete"]) == (30, 30, True)
            assert (document["isolation_level"], document["walls"], document["submission"]) == (0, [], "me")
            assert [each["name"] for each in document["exercises"]] == ["worksheet"]
    assert digests[0] == digests[1] != digests[2]


def test_a_wrong_number_exits_with_1_and_is_in_the_report(tmp_path: Path, right: Document) -> None:
    run_of(right, "1D.G2.trial2")["values"]["best_probability"] = 0.123
    done = run("worksheet", "--hint", "--path", handed_in(tmp_path / "me", right), cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "27 of 30 points" in done.stdout
    assert re.search(r"1D, G = 2, trial 2, pi\(7\): seed \d+ .*0\.\d{3}.* 0\.123", done.stdout)
    assert "--hint 2 times" in done.stdout


def test_the_report_sets_each_answer_beside_what_the_numbers_show(tmp_path: Path, right: Document) -> None:
    lines = "First line.\nSecond line.\nThird line.\nFourth line.\nFifth line."
    written = {"1D.2": lines, "1F.2": "long " * 200, "bonus": "It is slower."}
    for entry in right["answers"]:
        entry["answer"] = written.get(entry["id"], " \n")
    me = handed_in(tmp_path / "me", right)
    done = run("worksheet", "--path", me, "--write", "html=r.html", cwd=tmp_path)
    assert done.returncode == cli.OK and "30 of 30 points" in done.stdout
    terminal = " ".join(done.stdout.split())
    html = " ".join(Page((tmp_path / "r.html").read_text("utf-8")).text.split())
    for text in (terminal, html):
        for question in QUESTIONS:
            model = model_answers()[question.id]
            assert (model.answer in text) is (question.text in text) is (question.id in written), question.id
            assert question.id not in written or model.experiment in text
        assert "It is slower." in text
        assert "1A.1, 1A.2, 1B.1, 1B.2, 1B.3, 1C.2, 1E.1, 1E.2, 1E.3, 1F.1" in text
    assert "Third line. [cut: 2 more" in terminal and "Fourth" not in terminal and "[cut: 699 more" in terminal
    assert "Fifth line." in html and "long " * 199 in html


def test_a_missing_or_unreadable_file_is_one_sentence_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "starter").mkdir()
    done = run("worksheet", cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "0 of 30 points" in done.stdout and done.stdout.count("Download answers (JSON)") == 1
    (tmp_path / "starter").rmdir()
    (tmp_path / "worksheet.json").write_text("{", "utf-8")
    done = run("worksheet", "--hint", "--json", "r.json", "--write", "html=r.html", cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED and "worksheet.json cannot be read" in done.stdout
    (exercise,) = valid_result(tmp_path / "r.json")["exercises"]
    assert exercise["earned"] == 0 and exercise["answers"] == []
    question = QUESTIONS[0].text
    assert question not in done.stdout and question not in (tmp_path / "r.html").read_text("utf-8")
