"""What `grade worksheet` says of a worksheet, and the page on which `course worksheet` sets several side by side."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from class_maker import zip_bytes
from command import call
from hypothesis import given, settings
from hypothesis import strategies as st
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

import grader
from grader.classroom.worksheet_page import HandedIn, page
from grader.commands import course as course_command
from grader.commands import grade as cli
from grader.core import course
from grader.core.text import visible
from grader.worksheet import grade as worksheet
from grader.worksheet import questions as worksheet_questions
from grader.worksheet import replay as replaying
from grader.worksheet.model_answers import model_answers
from grader.worksheet.questions import QUESTIONS
from grader.worksheet.reader import WorksheetFile, parse

SCHEMA = json.loads((Path(grader.__file__).parent / "core" / "result.schema.json").read_text("utf-8"))


@pytest.fixture
def right() -> Document:
    return right_worksheet()


@pytest.fixture(autouse=True)
def _simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "simulate", simulate)


def run(*arguments: str | Path, cwd: Path, main: Callable[..., int] = cli.main) -> subprocess.CompletedProcess[str]:
    return call(main, *arguments, cwd=cwd, COLUMNS="200")


# `grade worksheet`


def result_of(path: Path) -> Document:
    document: Document = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_a_right_worksheet_exits_with_0_and_a_valid_result(tmp_path: Path, right: Document) -> None:
    me = handed_in(tmp_path / "me", right)
    done = run("worksheet", "--path", me, "--json", "r.json", "--require-level", "1", cwd=tmp_path)
    assert done.returncode == cli.OK, done.stdout + done.stderr
    assert "30 of 30 points" in done.stdout and "nothing of yours was run" in done.stdout
    assert "self-check" not in done.stdout and "worksheet.py" not in done.stdout
    document = result_of(tmp_path / "r.json")
    assert (document["earned"], document["points"], document["complete"]) == (30, 30, True)
    assert (document["isolation_level"], document["walls"]) == (0, [])
    assert [(each["name"], each["page"]) for each in document["exercises"]] == [("worksheet", "docs/worksheet.md")]
    assert document["submission"] == "me"


def test_the_digest_is_that_of_the_file(tmp_path: Path, right: Document) -> None:
    digests = []
    for folder, version in (("a", right), ("b", right), ("c", {**right, "runs": []})):
        run("worksheet", "--path", handed_in(tmp_path / folder, version), "--json", "r.json", cwd=tmp_path)
        digests.append(result_of(tmp_path / "r.json")["sha256"])
    assert digests[0] == digests[1] != digests[2]


def test_a_wrong_number_exits_with_1_and_is_in_the_report(tmp_path: Path, right: Document) -> None:
    run_of(right, "1D.G2.trial2")["values"]["best_probability"] = 0.123
    done = run("worksheet", "--hint", "--path", handed_in(tmp_path / "me", right), cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "27 of 30 points" in done.stdout
    assert re.search(r"1D, G = 2, trial 2, pi\(7\): seed \d+ gives 0\.\d{3}; the worksheet says 0\.123", done.stdout)
    assert "Does the simulation have the settings" in done.stdout and "2 more: give --hint 2 times" in done.stdout


LINES = "First line.\nSecond line.\nThird line.\nFourth line.\nFifth line."


def test_the_report_sets_each_answer_beside_what_the_numbers_show(tmp_path: Path, right: Document) -> None:
    for entry in right["answers"]:
        entry["answer"] = {"1D.2": LINES, "1F.2": "long " * 200, "bonus": "It is slower."}.get(entry["id"], " \n")
    me = handed_in(tmp_path / "me", right)
    done = run("worksheet", "--path", me, "--write", "html=r.html", cwd=tmp_path)
    assert done.returncode == cli.OK and "30 of 30 points" in done.stdout
    terminal, html = (
        " ".join(done.stdout.split()),
        " ".join(Page((tmp_path / "r.html").read_text("utf-8")).text.split()),
    )
    for text in (terminal, html):
        for question in QUESTIONS:
            model = model_answers()[question.id]
            answered = question.id in ("1D.2", "1F.2", "bonus")
            assert (model.answer in text) is (question.text in text) is answered, question.id
            assert not answered or model.experiment in text
        assert "It is slower." in text
        assert "ot answered: 1A.1, 1A.2, 1B.1, 1B.2, 1B.3, 1C.2, 1E.1, 1E.2, 1E.3, 1F.1" in text
    assert "Third line. [cut: 2 more lines]" in terminal and "Fourth" not in terminal
    assert "[cut: 699 more characters]" in terminal
    assert "Fifth line." in html and "long " * 199 in html


def test_a_report_on_a_file_that_cannot_be_read_or_on_code_alone_has_no_answers(tmp_path: Path) -> None:
    (tmp_path / "worksheet.json").write_text("{", "utf-8")
    done = run("worksheet", "--json", "r.json", "--write", "html=r.html", cwd=tmp_path)
    assert result_of(tmp_path / "r.json")["exercises"][0]["answers"] == []
    for text in (done.stdout, (tmp_path / "r.html").read_text("utf-8")):
        assert "what the numbers show" not in text


def test_an_answer_is_only_text_in_the_reports(tmp_path: Path, right: Document) -> None:
    for entry in right["answers"]:
        entry["answer"] = f"[bold]x[/] {BAD} ::error::{INVISIBLE}"
    me = handed_in(tmp_path / "me", right)
    done = run("worksheet", "--path", me, "--json", "r.json", "--write", "html=r.html", cwd=tmp_path)
    assert done.returncode == cli.OK
    assert "[bold]x[/] <script>alert(1)</script>" in done.stdout
    assert not set(done.stdout) & set("\u202e\u202c\x1b\ud800") and "::error::" not in done.stdout
    found = Page((tmp_path / "r.html").read_text("utf-8"))
    assert not found.named("script") and not found.named("img")
    assert "[U+202E]abc[U+202C]" in found.text
    assert result_of(tmp_path / "r.json")["exercises"][0]["answers"][0]["question"] == "1A.1"


def test_without_a_file_the_report_says_where_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "starter").mkdir()
    done = run("worksheet", cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "0 of 30 points" in done.stdout and done.stdout.count('"Download answers (JSON)"') == 1
    assert "not written yet" in done.stdout


def test_a_file_that_cannot_be_read_is_one_sentence_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "worksheet.json").write_text("{", "utf-8")
    done = run("worksheet", "--hint", "--json", "r.json", cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "worksheet.json cannot be read" in done.stdout and "Hint: first hand in a file" in done.stdout
    assert result_of(tmp_path / "r.json")["earned"] == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["worksheet", "--path", "nowhere"], "there is no folder nowhere"),
        (["worksheet", "--path", "worksheet.json"], "worksheet.json is a file; give the folder that holds it"),
        (["worksheet", "--debug"], "the worksheet has no code to debug"),
        (["worksheet", "advantages", "--debug"], "the worksheet has no code to debug"),
        (["worksheet.json"], "did you mean worksheet?"),
        (["worksheets"], "did you mean worksheet?"),
    ],
)
def test_wrong_usage_exits_with_2(tmp_path: Path, right: Document, arguments: list[str], sentence: str) -> None:
    done = run(*arguments, cwd=handed_in(tmp_path, right))
    assert done.returncode == cli.USAGE
    assert sentence in " ".join(done.stderr.split()) and not done.stdout


@pytest.mark.parametrize("name", ["worksheet.json", "advantages.py", "kl.py"])
@pytest.mark.parametrize("exists", [True, False])
def test_the_result_does_not_overwrite_what_is_handed_in(
    tmp_path: Path, right: Document, name: str, exists: bool
) -> None:
    me = handed_in(tmp_path / "me", right)
    shutil.copy(course.STARTER / "advantages.py", me)
    shutil.copy(course.STARTER / "kl.py", me)
    before = (me / name).read_bytes()
    if not exists:
        (me / name).unlink()
    for target in (Path("me") / name, me.parent / "me" / ".." / "me" / name):
        done = run("worksheet", "--path", "me", "--json", target, cwd=tmp_path)
        assert done.returncode == cli.USAGE and not done.stdout
        assert f"--json would overwrite {target}, which is handed in" in " ".join(done.stderr.split())
    done = run("worksheet", "--json", name, cwd=me)  # the folder that is graded without --path
    assert done.returncode == cli.USAGE
    assert (me / name).exists() is exists and (not exists or (me / name).read_bytes() == before)
    done = run("worksheet", "--path", "me", "--json", name, cwd=tmp_path)  # another folder is nobody's business
    assert result_of(tmp_path / name)["points"] == 30


def test_the_command_line_and_the_table_agree_on_the_names() -> None:
    assert course.WORKSHEET == worksheet_questions.EXERCISE
    assert (course.ROOT / worksheet_questions.PAGE).parent.is_dir()


def test_escape_sequences_and_bidi_characters_do_not_reach_the_terminal(tmp_path: Path, right: Document) -> None:
    bad = "\x1b[2J\x1b]0;x\x07\u202e\u2066\x00\u200b\ud800"
    run_of(right, "1C.policy")["settings"]["algorithm"] = bad
    run_of(right, "1C.try1")["settings"][bad] = 1
    run_of(right, "1C.try2")["seed"] = bad
    done = run("worksheet", "--path", handed_in(tmp_path / "me", right), cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert not set(done.stdout) & set(bad) - set("[2J]0;x")
    right["runs"].append({"id": bad})
    done = run("worksheet", "--path", handed_in(tmp_path / "me", right), cwd=tmp_path)
    assert done.returncode == cli.CHECKS_FAILED
    assert "which this worksheet does not have" in done.stdout
    assert not set(done.stdout) & set(bad) - set("[2J]0;x")


# `course worksheet`

VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """The page as a browser reads it: its tags, its text, and whether every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def side_by_side(tmp_path: Path, *submissions: str | Path) -> tuple[subprocess.CompletedProcess[str], Page]:
    done = run("worksheet", *submissions, "--out", "page.html", cwd=tmp_path, main=course_command.main)
    return done, Page((tmp_path / "page.html").read_text("utf-8"))


def test_the_page_shows_what_the_numbers_say_and_all_submissions_side_by_side(tmp_path: Path, right: Document) -> None:
    handed_in(tmp_path / "ada", right)
    run_of(right, "1C.policy")["values"]["policy"][6] = 0.5
    answer_of(right, "1D.2")["answer"] = "A group of 32 varies the least."
    handed_in(tmp_path / "ben", right)
    done, found = side_by_side(tmp_path, "ada", tmp_path / "ben" / "worksheet.json")
    assert done.returncode == 0 and "2 read, 0 could not be read" in done.stdout
    for model in model_answers().values():
        if model.id != "extra":
            assert model.answer in found.text and model.experiment in found.text
    for text in ("Here, in 1D.2, action 7 gains slowly.", "A group of 32 varies the least.", "30 of 30", "25 of 30"):
        assert text in found.text
    truth = run_of(json.loads(with_all_digits()), "1C.policy")["values"]["policy"][6]
    assert all(question.text in found.text for question in QUESTIONS)
    assert found.text.count(f"0.500 (the seed gives {truth:.3f})") == 1
    assert "1 of 10 wrong" in found.text


def test_the_page_is_closed_to_scripts_and_good_for_screen_readers(tmp_path: Path, right: Document) -> None:
    for entry in right["answers"]:
        entry["answer"] = entry["question"] = BAD + entry["id"]
    run_of(right, "1C.policy")["settings"]["algorithm"] = BAD
    handed_in(tmp_path / "<b>&'", right)
    done, found = side_by_side(tmp_path, "<b>&'")
    assert done.returncode == 0
    for tag in ("script", "img", "b", "link", "iframe", "object", "form"):
        assert not found.named(tag)
    assert not any(name.startswith("on") or name == "src" for _, attributes in found.tags for name in attributes)
    assert all((link["href"] or "").startswith("#") for link in found.named("a"))
    (policy,) = (meta["content"] or "" for meta in found.named("meta") if "http-equiv" in meta)
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-[\w+/=]+'", policy)
    assert not any("style" in attributes for _, attributes in found.tags)
    assert "url(" not in (tmp_path / "page.html").read_text("utf-8")
    shown = BAD.replace("\u202e", "[U+202E]").replace("\u202c", "[U+202C]").replace("\x1b", "[U+001B]")
    assert shown.replace("\ud800", "[U+D800]") + "1F.2" in found.text
    assert found.tags[0] == ("html", {"lang": "en"})
    assert len(found.named("h1")) == len(found.named("main")) == len(found.named("title")) == 1
    assert all(head.get("scope") in ("col", "row") for head in found.named("th"))
    assert len(found.named("table")) == len(found.named("caption")) > 5
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link["href"] for link in found.named("a")} <= {f"#{name}" for name in ids}


def test_the_page_writes_out_what_nobody_could_see(tmp_path: Path, right: Document) -> None:
    answer_of(right, "1F.2")["answer"] = f"from{INVISIBLE}here"
    handed_in(tmp_path / "ada", right)
    _, found = side_by_side(tmp_path, "ada")
    assert "from" + "".join(f"[U+{ord(character):04X}]" for character in INVISIBLE) + "here" in found.text


def test_what_cannot_be_read_is_listed_and_does_not_stop_the_rest(tmp_path: Path, right: Document) -> None:
    handed_in(tmp_path / "ada", right)
    (handed_in(tmp_path / "broken", right) / "worksheet.json").write_text("{", "utf-8")
    (tmp_path / "empty").mkdir()
    done, found = side_by_side(tmp_path, "broken", "ada", "empty", "nowhere")
    assert done.returncode == 1 and "1 read, 3 could not be read" in done.stdout
    assert "not graded: worksheet.json: this is not JSON (line 1, column 2" in found.text
    assert found.text.count("not graded: there is no worksheet.json") == 2
    assert "30 of 30" in found.text and "Here, in 1F.2, action 7 gains slowly." in found.text


def test_submissions_of_one_name_are_told_apart(tmp_path: Path, right: Document) -> None:
    handed_in(tmp_path / "a" / "hw", right)
    handed_in(tmp_path / "b" / "hw", right)
    _, found = side_by_side(tmp_path, Path("a") / "hw", Path("b") / "hw")
    assert str(Path("a") / "hw") in found.text and str(Path("b") / "hw") in found.text


def test_a_zip_of_a_class_is_read_as_it_was_downloaded(tmp_path: Path, right: Document) -> None:
    files = {
        "lovelaceada_1_2_worksheet.json": json.dumps(right),
        "noetheremmy_LATE_3_4_worksheet-1.json": json.dumps(right),
    }
    (tmp_path / "canvas.zip").write_bytes(zip_bytes({**files, "turingalan_5_6_kl.py": ""}))
    done, found = side_by_side(tmp_path, "canvas.zip")
    assert "2 read, 1 could not be read" in done.stdout
    assert "lovelaceada_1" in found.text and "noetheremmy_3" in found.text


@pytest.mark.parametrize(
    ("out", "sentence"), [("page.txt", "ends in .html"), ("nowhere/page.html", "there is no folder nowhere")]
)
def test_the_page_is_written_to_an_html_file_in_a_folder_that_is_there(tmp_path: Path, out: str, sentence: str) -> None:
    done = run("worksheet", ".", "--out", out, cwd=tmp_path, main=course_command.main)
    assert done.returncode == 2 and sentence in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_help_has_an_example(tmp_path: Path) -> None:
    done = run("worksheet", "--help", cwd=tmp_path, main=course_command.main)
    assert done.returncode == 0
    assert "course worksheet submissions/* --out worksheets.html" in done.stdout


PIECES = (
    "<b>",
    "</p>",
    "</article>",
    "<script>",
    "<!--",
    "&lt;",
    "&",
    '"',
    "'>",
    "\u202e",
    "\ud800",
    "\x00",
    "]]>",
    "e ",
)
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


@settings(max_examples=50)
@given(st.lists(HOSTILE, min_size=13, max_size=13), HOSTILE)
def test_no_answer_and_no_name_breaks_the_page(texts: list[str], name: str) -> None:
    answers = [{"id": each.id, "answer": text} for each, text in zip(QUESTIONS, texts, strict=True)]
    document = {"worksheet": "grpo-bandit", "version": 1, "answers": answers, "runs": []}
    content = parse(json.dumps(document).encode())
    replays = replaying.replay(content)
    result = worksheet.grade(WorksheetFile("0" * 64, content), replays)
    text = page([HandedIn(name, result, content, replays)])
    text.encode("utf-8")
    found = Page(text)
    for each in texts:
        assert visible(each.strip()) in found.text
    tags = [tag for tag, _ in found.tags]
    assert set(tags) <= {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "h4", "p", "code", "nav", "ul"),
        *("li", "a", "section", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "em"),
        *("article", "span", "br", "mark"),
    }
