"""`course bughunt`, what a class of it looks like, and the program with which students look at their pieces."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import call
from exports_readers import READERS
from grading_here import graded_here

from grader.classroom.class_files import write_files
from grader.classroom.engines import SerialExecutor
from grader.classroom.grade_class import grade_class
from grader.classroom.request import Settings
from grader.classroom.submissions import find_submissions
from grader.commands import course as course_command
from grader.commands import grade as grade_command
from grader.core import course
from grader.core.result import from_json
from grader.exercises.bughunt import known, sets
from grader.sandbox.sandbox import Sandbox
from reference import bughunt_pieces, run_bughunt

NAMES = ("Ada Lovelace", "Bo Li", "Chloé")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    return lambda *arguments: call(course_command.main, "bughunt", *arguments, cwd=tmp_path)


@pytest.fixture
def roster(tmp_path: Path) -> Path:
    path = tmp_path / "names.csv"
    path.write_text("number,Name\n" + "".join(f"{n},{name}\n" for n, name in enumerate(NAMES)), "utf-8")
    return path


def handed_in(folder: Path, out: Path) -> Path:
    """A class in which everybody answers their own set: Ada all of it, Bo without four pieces, Chloé nothing."""
    secret = (out / "class-secret").read_text("ascii").strip()
    for row in csv.DictReader((out / "sets.csv").read_text("utf-8").splitlines()):
        key = known.key_of(sets.pieces_of(row["set"], secret))
        left = {"Ada Lovelace": 0, "Bo Li": 4, "Chloé": 10}[row["name"]]
        answers = {name: None if place < left else claim for place, (name, claim) in enumerate(key.items())}
        place = folder / row["name"] / "bughunt.toml"
        place.parent.mkdir(parents=True)
        place.write_text(known.toml_of(answers, row["set"]), "utf-8")
    return folder


def test_everybody_on_the_roster_gets_a_folder_the_same_one_each_time(
    run: Callable[..., subprocess.CompletedProcess[str]], roster: Path, tmp_path: Path
) -> None:
    done = run("--roster", roster, "--out", tmp_path / "sets")
    assert (done.returncode, done.stderr) == (0, "") and "3 sets" in done.stdout
    again = run("--roster", roster, "--out", tmp_path / "again", "--secret", tmp_path / "sets" / "class-secret")
    assert again.returncode == 0
    texts = {}
    for name in NAMES:
        for file in ("bughunt_pieces.py", "bughunt.toml"):
            path = Path(name, "starter", file)
            text = (tmp_path / "sets" / path).read_text("utf-8")
            assert (tmp_path / "again" / path).read_text("utf-8") == text
            texts[text] = name
    assert len(texts) == 6 and not any(name in text for text, name in texts.items())
    secret = (tmp_path / "sets" / "class-secret").read_text("ascii").strip()
    assert not any(secret in text for text in texts)


def test_a_class_is_graded_reported_and_exported(
    run: Callable[..., subprocess.CompletedProcess[str]],
    roster: Path,
    tmp_path: Path,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exercise = course.exercise("bughunt")
    monkeypatch.setattr(course, "EXERCISES", (*course.EXERCISES, exercise))  # as if course.toml named it
    out, graded = tmp_path / "sets", tmp_path / "graded"
    assert run("--roster", roster, "--out", out).returncode == 0
    submissions = handed_in(tmp_path / "class", out)
    formats = [name for name in READERS if name != "classroom50"]  # which a class cannot have
    settings = Settings(("bughunt",), secret=(out / "class-secret").read_text("ascii").strip(), require_level=0)
    with graded_here(sandbox):
        grade_class(find_submissions(submissions), graded, settings, SerialExecutor(), at_a_time=1)
    write_files(graded, ["bughunt"], formats)
    rows = [*csv.DictReader((graded / "grades.csv").read_text("utf-8-sig").splitlines())]
    assert [(row["submission"], row["bughunt"]) for row in rows] == [
        (NAMES[0], "60"),
        (NAMES[1], "36"),
        (NAMES[2], "0"),
    ]
    for name in formats:
        exports = sorted((graded / name).iterdir())
        assert [READERS[name](export.read_text("utf-8")).earned for export in exports] == [60, 36, 0], name
    page = tmp_path / "class.html"
    asked = ("report", graded, "--out", page, "--names", "--similarity", submissions)
    assert call(course_command.main, *asked, cwd=tmp_path).returncode == 0
    assert "piece_01" in page.read_text("utf-8")
    (result, *_) = (graded / "graded").glob("*.json")
    assert from_json(result.read_text("utf-8")).complete


def test_it_says_whose_set_a_submission_answers(
    run: Callable[..., subprocess.CompletedProcess[str]], roster: Path, tmp_path: Path
) -> None:
    out = tmp_path / "sets"
    assert run("--roster", roster, "--out", out).returncode == 0
    submissions = handed_in(tmp_path / "class", out)
    asked = ("--roster", roster, "--out", out, "--handed-in", submissions)
    assert run(*asked).returncode == 0
    for name, file in {
        "Cat": submissions / NAMES[0] / "bughunt.toml",
        "Dan": course.MODEL_ANSWERS / "bughunt.toml",
    }.items():
        (submissions / name).mkdir()
        shutil.copy(file, submissions / name)
    (submissions / "Eve").mkdir()
    (submissions / "Eve" / "bughunt.toml").write_text("[[[", "utf-8")
    done = run(*asked)
    assert done.returncode == 1
    assert "Cat: Ada Lovelace  <- answered more than once\n" in done.stdout
    assert "Dan: nobody: the practice set\n" in done.stdout and "Eve: nobody: there is no set in it\n" in done.stdout
    assert "Bo Li: Bo Li\n" in done.stdout


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("names\nAda\n", "give it a first line with the title name"),
        ("name\nAda\nada \n", "Ada is there twice; add something to the names that tells the two apart"),
        ("name\n", "names.csv has no names"),
    ],
)
def test_a_roster_that_cannot_be_used_is_a_sentence(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, table: str, sentence: str
) -> None:
    (tmp_path / "names.csv").write_text(table, "utf-8")
    done = run("--roster", "names.csv", "--out", "sets")
    assert done.returncode == 2 and sentence in done.stderr and not (tmp_path / "sets").exists()


def test_without_a_roster_it_says_what_to_give(run: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = run()
    assert done.returncode == 2 and "give --roster FILE.csv and --out FOLDER" in done.stderr


def test_the_practice_set_is_current(run: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = run("--practice", "--check")
    assert (done.returncode, done.stdout) == (0, "the practice set is current\n")


def test_a_report_names_the_file_and_sends_nobody_to_what_it_does_not_have(tmp_path: Path, sandbox: Sandbox) -> None:
    empty = call(grade_command.main, "bughunt", "--path", course.STARTER, cwd=tmp_path, sandbox=sandbox)
    assert empty.returncode == 1 and "(bughunt.toml)" in empty.stdout and "not written yet" in empty.stdout
    (tmp_path / "bughunt.toml").write_text('set = "practice"\n[piece_01', "utf-8")
    broken = call(grade_command.main, "bughunt", "--path", tmp_path, cwd=tmp_path, sandbox=sandbox)
    assert broken.returncode == 1 and "bughunt.toml, line 2: this is no TOML" in broken.stdout
    assert "bughunt.toml cannot be read" in broken.stdout


# What students run


def test_each_piece_can_be_run_drawn_and_compared_as_the_page_says(tmp_path: Path) -> None:
    pieces = run_bughunt.pieces()
    assert [*pieces] == [f"piece_{number:02}" for number in range(1, 11)]
    listed = call(run_bughunt.main, "list", cwd=tmp_path)
    assert listed.returncode == 0 and len(listed.stdout.splitlines()) == 10
    for name, piece in pieces.items():
        assert getattr(bughunt_pieces, piece.__name__) is piece
        for what in ("run", "plot", "compare"):
            done = call(run_bughunt.main, what, name, cwd=tmp_path)
            assert done.returncode == 0 and piece.__name__ in done.stdout, done.stderr
        assert done.stdout.endswith(
            f"0 of {len(run_bughunt.numbers(piece(**run_bughunt.call_to_try(piece))))} numbers differ\n"
        )


def test_a_value_that_is_wrong_is_a_sentence(tmp_path: Path) -> None:
    for values, sentence in ((["x = 1"], "has no x; it has"), (["x : 1"], "write values as name = value")):
        done = call(run_bughunt.main, "run", "piece_01", *values, cwd=tmp_path)
        assert done.returncode == 2 and sentence in done.stderr
    assert "name a piece" in call(run_bughunt.main, "run", "piece_11", cwd=tmp_path).stderr
    name = next(iter(run_bughunt.call_to_try(run_bughunt.pieces()["piece_01"])))
    done = call(run_bughunt.main, "run", "piece_01", f'{name} = "text"', cwd=tmp_path)
    assert done.returncode == 1 and "raised" in done.stderr


def test_answers_are_looked_through_before_they_are_handed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (course.MODEL_ANSWERS / "bughunt.toml").read_text("utf-8")
    file = tmp_path / "bughunt.toml"
    monkeypatch.setattr(run_bughunt, "FILE", file)
    file.write_text(text, "utf-8")
    done = call(run_bughunt.main, "check", cwd=tmp_path)
    assert (
        done.returncode == 0
        and "look at this" not in done.stdout
        and done.stdout.count("its call returns") == text.count("call =") - 1
    )
    file.write_text(re.sub(r"^line = \d+", "line = 3", text, flags=re.M), "utf-8")
    done = call(run_bughunt.main, "check", cwd=tmp_path)
    assert done.returncode == 1 and "line 3 is not in this piece, which has lines" in done.stdout
    file.write_text("[", "utf-8")
    assert call(run_bughunt.main, "check", cwd=tmp_path).returncode == 1
