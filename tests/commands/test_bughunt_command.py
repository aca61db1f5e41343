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
from grader.exercises.bughunt import checks, known, sets
from grader.grading import check, settings
from grader.sandbox.sandbox import Sandbox
from reference import bughunt_check, bughunt_pieces, run_bughunt

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
    asked_for = Settings(("bughunt",), secret=(out / "class-secret").read_text("ascii").strip(), require_level=0)
    with graded_here(sandbox):
        grade_class(find_submissions(submissions), graded, asked_for, SerialExecutor(), at_a_time=1)
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


def test_answers_alone_in_a_folder_are_graded_without_a_sandbox_or_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sandbox, "start", lambda **_: pytest.fail("nothing of it is code"))
    shutil.copy(course.MODEL_ANSWERS / "bughunt.toml", tmp_path)
    done = call(grade_command.main, "bughunt", "--path", tmp_path, cwd=tmp_path)
    assert done.returncode == 0 and "60 of 60 points" in done.stdout and "nothing of yours was run" in done.stdout
    assert "no module" not in done.stdout and "/0 " not in done.stdout and "self-check" not in done.stdout


def test_at_home_the_report_says_that_only_the_form_is_checked_and_hints_are_about_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "has_hidden_checks", lambda: False)
    monkeypatch.setattr(settings, "has_hidden_checks", lambda: False)
    shutil.copy(course.MODEL_ANSWERS / "bughunt.toml", tmp_path)
    page = tmp_path / "report.html"
    asked = ("bughunt.piece_03", "--hint", "--hint", "--path", tmp_path, "--write", f"html={page}")
    done = call(grade_command.main, *asked, cwd=tmp_path)
    assert done.returncode == 0 and "Here only the form of bughunt.toml is checked" in done.stdout
    assert "0 of 0 points" not in done.stdout and "run_bughunt hint piece_03" in done.stdout
    assert "only the form" in page.read_text("utf-8") and "0 of 0" not in page.read_text("utf-8")


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


def test_two_calls_are_compared_with_their_values_row_by_row(tmp_path: Path) -> None:
    name, piece = next((name, each) for name, each in run_bughunt.pieces().items() if "stop" in call_names(each))
    texts = call_names(piece)[0]
    done = call(run_bughunt.main, "compare", name, f"{texts} = {[[9, 9, 9, 9]] * 12}", cwd=tmp_path)
    assert done.returncode == 0 and "  [0, 0, 1, 1]\n" in done.stdout and "and 4 more rows" in done.stdout
    assert re.search(r"^  \[\d+\]\[\d\]: \* (nothing|[01]), o [01]$", done.stdout, re.M)
    long = next(name for name, each in run_bughunt.pieces().items() if each.__doc__ and "GRPO update" in each.__doc__)
    printed = call(run_bughunt.main, "run", long, cwd=tmp_path).stdout
    assert "entries)" in printed and max(map(len, printed.splitlines())) < 200


def call_names(piece: Callable[..., object]) -> list[str]:
    """The names of the arguments of a piece."""
    return [*run_bughunt.call_to_try(piece)]


def test_a_hint_speaks_of_the_piece_and_is_the_same_with_the_bug_and_without() -> None:
    for piece in sets.pieces_of(checks.PRACTICE, "").values():
        said = [run_bughunt.hints(sets._function(text, piece.function)) for text in (piece.text, piece.right)]
        assert said[0] == said[1] and all(any(f"- {name} have " in line for line in said[0]) for name in piece.takes)


def test_a_value_that_is_wrong_is_a_sentence(tmp_path: Path) -> None:
    several = "each value as NAME = VALUE in quotes of its own"
    for values, sentence in (
        (["x = 1"], "has no x; it has"),
        (["x : 1"], several),
        (["x = 1 y = 2"], several),
        (["x = 1, y = 2"], several),
    ):
        done = call(run_bughunt.main, "run", "piece_01", *values, cwd=tmp_path)
        assert done.returncode == 2 and sentence in done.stderr
    assert "name a piece" in call(run_bughunt.main, "run", "piece_11", cwd=tmp_path).stderr
    name = next(iter(run_bughunt.call_to_try(run_bughunt.pieces()["piece_01"])))
    done = call(run_bughunt.main, "run", "piece_01", f'{name} = "text"', cwd=tmp_path)
    assert done.returncode == 1 and "raised" in done.stderr
    assert f"the grader takes no such call: {name} must hold whole numbers" in done.stderr


def test_answers_are_looked_through_before_they_are_handed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (course.MODEL_ANSWERS / "bughunt.toml").read_text("utf-8")
    file = tmp_path / "bughunt.toml"
    monkeypatch.setattr(run_bughunt, "FILE", file)
    file.write_text(text, "utf-8")
    done = call(run_bughunt.main, "check", cwd=tmp_path)
    assert (
        done.returncode == 0
        and "look at line" not in done.stdout
        and done.stdout.count("its call returns") == text.count("call =") - 1
    )
    file.write_text(re.sub(r"^line = \d+", "line = 3", text, flags=re.M), "utf-8")
    done = call(run_bughunt.main, "check", cwd=tmp_path)
    assert done.returncode == 1 and "line 3 is not in this piece, which has lines" in done.stdout
    file.write_text("[", "utf-8")
    assert call(run_bughunt.main, "check", cwd=tmp_path).returncode == 1


def test_all_that_is_odd_about_answers_is_said_at_once_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_bughunt, "FILE", tmp_path / "bughunt.toml")
    first, second = (run_bughunt.pieces()[name] for name in ("piece_01", "piece_02"))
    count, size, *_ = call_names(first)
    lines = {
        1: 'set = "another"',
        2: "[piece_01]",
        3: "bug = true",
        4: "line = 1",
        5: 'kind = "wrong"',
        6: f"call = {{ {count} = 0, {size} = 1.5, other = 1 }}",
        7: "[piece_02]",
        8: "bug = maybe",
        9: "[piece_03]",
        10: "bug = false",
        11: 'kind = "sign"',
        12: "[piece_99]",
        13: "[piece_04]",
        14: "bug = true",
    }
    run_bughunt.FILE.write_text("\n".join(lines.values()), "utf-8")
    done = call(run_bughunt.main, "check", cwd=tmp_path)
    said = re.findall(r"look at line (\d+) of bughunt.toml: (.*)", done.stdout)
    assert done.returncode == 1 and f"to look at: {len(said)}" in done.stdout
    for line, words in (
        *(
            (1, "which is the set of your bughunt_pieces.py"),
            (4, "line 1 is not in this piece"),
            (5, "kind must be one"),
        ),
        *((6, f"{count} must be from 1 to 100, not 0"), (6, f"{size} must hold whole numbers, not 1.5")),
        *(
            (6, "has no other"),
            (8, "this cannot be read"),
            (11, "with bug = false"),
            (12, "there is no piece piece_99"),
        ),
        *((13, "in which line the bug is"), (13, "there is no kind"), (13, "there is no call")),
    ):
        assert any(int(place) == line and words in sentence for place, sentence in said), (line, words, said)
    assert second.__name__ in done.stdout


def test_the_check_at_home_takes_the_calls_that_the_grader_takes() -> None:
    wrong: tuple[object, ...] = (
        0,
        -1,
        1.5,
        10**7,
        True,
        "a",
        [],
        [1],
        [[1]],
        [[1], [1, 2]],
        [["a"]],
        ["a"],
        [0.5, -200.0],
        [1] * 101,
    )
    for code in (checks.PRACTICE, *(sets.name_of_set(name, "5" * 64) for name in NAMES)):
        for piece in sets.pieces_of(code, "5" * 64).values():
            function = sets._function(piece.text, piece.function)
            assert [*bughunt_check.takes(function)] == [*piece.takes]
            for good in piece.calls:
                assert bughunt_check.problems_of(function, good) == []
                for name in good:
                    for each in ({**good, name: value} for value in wrong):
                        assert bool(piece.problem_of(each)) == bool(bughunt_check.problems_of(function, each)), each
    assert bughunt_check.KINDS == checks.KINDS and bughunt_check.LONGEST == checks.LONGEST_LIST
