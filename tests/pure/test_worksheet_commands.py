"""What `grade worksheet` says of a worksheet, and the page on which `course worksheet` sets several side by side."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from class_maker import zip_bytes
from command import call, valid_result
from html_reports import Page
from worksheets import (
    BAD,
    INVISIBLE,
    Document,
    answer_of,
    handed_in,
    right_worksheet,
    run_of,
    simulate,
    with_all_digits,
)

from grader.commands import course as course_command
from grader.commands import grade as cli
from grader.core.text import visible
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


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["worksheet", "--path", "nowhere"], "no folder nowhere"),
        (["worksheet", "--path", "worksheet.json"], "worksheet.json is a file"), (["worksheet", "--debug"], "debug"),
        (["worksheet", "advantages", "--debug"], "debug"), (["worksheet.json"], "mean worksheet?"),
        (["worksheets"], "mean worksheet?"),
    ],
)  # fmt: skip
def test_wrong_usage_exits_with_2(tmp_path: Path, right: Document, arguments: list[str], phrase: str) -> None:
    done = run(*arguments, cwd=handed_in(tmp_path, right))
    assert done.returncode == cli.USAGE
    assert phrase in " ".join(done.stderr.split()) and not done.stdout


@pytest.mark.parametrize("name", ["worksheet.json", "advantages.py"])
@pytest.mark.parametrize("exists", [True, False])
def test_the_result_does_not_overwrite_a_submission(tmp_path: Path, right: Document, name: str, exists: bool) -> None:
    me = handed_in(tmp_path / "me", right)
    (me / "advantages.py").write_text("x = 1\n", "utf-8")
    before = (me / name).read_bytes()
    if not exists:
        (me / name).unlink()
    for folder, arguments in (
        (tmp_path, ("--path", "me", "--json", Path("me") / name)),
        (tmp_path, ("--path", "me", "--json", tmp_path / "me" / ".." / "me" / name)),
        (me, ("--json", name)),
    ):
        done = run("worksheet", *arguments, cwd=folder)
        assert done.returncode == cli.USAGE and not done.stdout and "overwrite" in done.stderr
    assert (me / name).exists() is exists and (not exists or (me / name).read_bytes() == before)
    run("worksheet", "--path", "me", "--json", name, cwd=tmp_path)
    assert valid_result(tmp_path / name)["points"] == 30


# `course worksheet`


def side_by_side(tmp_path: Path, *submissions: str | Path) -> tuple[subprocess.CompletedProcess[str], Page]:
    done = run("worksheet", *submissions, "--out", "page.html", cwd=tmp_path, main=course_command.main)
    return done, Page((tmp_path / "page.html").read_text("utf-8"))


def test_the_page_shows_what_the_numbers_say_and_all_submissions_side_by_side(tmp_path: Path, right: Document) -> None:
    handed_in(tmp_path / "ada", right)
    run_of(right, "1C.policy")["values"]["policy"][6] = 0.5
    answer_of(right, "1D.2")["answer"] = f"A group of 32 varies{INVISIBLE}the least."
    handed_in(tmp_path / "ben", right)
    done, found = side_by_side(tmp_path, "ada", tmp_path / "ben" / "worksheet.json")
    assert done.returncode == 0 and "2 read, 0 " in done.stdout
    for model in model_answers().values():
        if model.id != "extra":
            assert model.answer in found.text and model.experiment in found.text
    for text in ("Here, in 1D.2, action 7 gains slowly.", "A group of 32 varies", "30 of 30", "25 of 30", "1 of 10"):
        assert text in found.text
    assert "varies" + "".join(f"[U+{ord(character):04X}]" for character in INVISIBLE) + "the least" in found.text
    truth = run_of(json.loads(with_all_digits()), "1C.policy")["values"]["policy"][6]
    assert all(question.text in found.text for question in QUESTIONS)
    assert len(re.findall(rf"0\.500 \(.*{truth:.3f}\)", found.text)) == 1


def test_the_page_runs_no_script_whatever_an_answer_says(tmp_path: Path, right: Document) -> None:
    for entry in right["answers"]:
        entry["answer"] = entry["question"] = BAD + entry["id"]
    run_of(right, "1C.policy")["settings"]["algorithm"] = BAD
    handed_in(tmp_path / "<b>&'", right)
    done, found = side_by_side(tmp_path, "<b>&'")
    assert done.returncode == 0
    assert not {tag for tag, _ in found.tags} & {"script", "img", "b", "link", "iframe", "object", "form"}
    names = {name for _, attributes in found.tags for name in attributes}
    assert not any(name.startswith("on") or name in ("src", "style") for name in names)
    (policy,) = (meta["content"] or "" for meta in found.named("meta") if "http-equiv" in meta)
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-[\w+/=]+'", policy)
    assert "url(" not in (tmp_path / "page.html").read_text("utf-8")
    assert visible(BAD) + "1F.2" in found.text


def test_unreadable_submissions_are_listed_and_do_not_stop_the_rest(tmp_path: Path, right: Document) -> None:
    for folder in ("a/hw", "b/hw"):
        handed_in(tmp_path / folder, right)
    (handed_in(tmp_path / "broken", right) / "worksheet.json").write_text("{", "utf-8")
    (tmp_path / "empty").mkdir()
    done, found = side_by_side(tmp_path, "broken", Path("a") / "hw", "empty", "nowhere", Path("b") / "hw")
    assert done.returncode == 1 and "2 read, 3 " in done.stdout
    assert "JSON (line 1, column 2" in found.text and found.text.count("there is no worksheet.json") == 2
    assert "30 of 30" in found.text and "Here, in 1F.2, action 7 gains slowly." in found.text
    assert str(Path("a") / "hw") in found.text and str(Path("b") / "hw") in found.text


def test_a_zip_of_a_class_is_read_as_it_was_downloaded(tmp_path: Path, right: Document) -> None:
    text = json.dumps(right)
    files = {"lovelaceada_1_2_worksheet.json": text, "noetheremmy_LATE_3_4_worksheet-1.json": text}
    (tmp_path / "canvas.zip").write_bytes(zip_bytes({**files, "turingalan_5_6_kl.py": ""}))
    done, found = side_by_side(tmp_path, "canvas.zip")
    assert "2 read, 1 " in done.stdout
    assert "lovelaceada_1" in found.text and "noetheremmy_3" in found.text


@pytest.mark.parametrize(("out", "phrase"), [("page.txt", ".html"), ("nowhere/page.html", "no folder nowhere")])
def test_the_page_is_written_to_an_html_file_in_an_existing_folder(tmp_path: Path, out: str, phrase: str) -> None:
    done = run("worksheet", ".", "--out", out, cwd=tmp_path, main=course_command.main)
    assert done.returncode == 2 and phrase in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []
