"""`course regrade`: one submission is graded again as it is now, and nobody else's result changes."""

from __future__ import annotations

import csv
import re
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from command import call
from grading_here import contents, grade_all, graded_by_hand, write_class

from grader.classroom import grade_class
from grader.classroom.kept import read_kept
from grader.classroom.results import read_class, result_path
from grader.commands import course as course_command
from grader.core.result import from_json


@pytest.fixture
def graded(tmp_path: Path) -> Iterator[Path]:
    """A class of three, graded; then ada's file is another one."""
    write_class(tmp_path / "class", {"ada": "1", "ben": "2", "cyd": "2"})
    with graded_by_hand():
        done = grade_all(tmp_path, "--write", "html")
        assert done.returncode == 0, done.stderr
        (tmp_path / "class" / "ada" / "kl.py").write_text("3", "utf-8")
        yield tmp_path


def regrade(folder: Path, name: str, *more: str, files: str = "class") -> subprocess.CompletedProcess[str]:
    return call(course_command.main, "regrade", "graded", name, *filter(None, [files]), *more, cwd=folder)


def earned(folder: Path) -> dict[str, int | None]:
    return {entry.name: entry.earned for entry in read_class(folder / "graded")}


def test_a_regrade_reports_the_change_and_stores_the_new_result(graded: Path) -> None:
    before = contents(graded / "graded")
    done = regrade(graded, "ada")
    assert done.returncode == 1, done.stderr
    assert "5 of 20 points, now 15 of 20 points" in done.stdout
    assert "kl.check_1" in done.stdout and "kl.check_2" in done.stdout and "check_0" not in done.stdout
    assert earned(graded) == {"ada": 15, "ben": 10, "cyd": 10}
    after = contents(graded / "graded")
    changed = {name for name in after if before.get(name) != after[name]}
    new = {name for name in changed if name.startswith("graded/")}
    assert changed - new == {
        *("submissions.json", "journal.jsonl", "grades.csv", "html/ada.html", "history.json", "kept/ada.json")
    }
    assert len(new) == 1 and not new & before.keys(), "no result is changed, and the old one stays"
    assert "ada,,,,,,,15,20" in after["grades.csv"].decode("utf-8-sig")


def test_a_regrade_lasts_when_a_latecomer_comes_and_the_list_names_it(graded: Path) -> None:
    write_class(graded / "mail", {"": "4"})
    assert regrade(graded, "ben", "--reason", "sent by mail", files="mail/kl.py").returncode == 1
    write_class(graded / "class", {"late": "1"})
    done = grade_all(graded)
    assert earned(graded) == {"ada": 15, "ben": 20, "cyd": 10, "late": 5}
    assert done.returncode == 1 and "regraded: ben: sent by mail" in done.stdout
    rows = {row["submission"]: row for row in table(graded)}
    assert (rows["ben"]["regraded"], rows["ada"]["regraded"]) == ("regraded: sent by mail", "")
    page = (graded / "graded" / "html" / "ben.html").read_text("utf-8")
    assert "10 points before, 20 now: your instructor regraded your submission with other files; sent by mail" in page
    (graded / "class" / "ben" / "kl.py").write_text("0", "utf-8")  # the student uploads once more
    assert "the upload has changed" in grade_all(graded).stdout and earned(graded)["ben"] == 20
    assert regrade(graded, "ben", "--undo", files="").returncode == 1 and earned(graded)["ben"] == 0
    assert "regraded" not in grade_all(graded).stdout and earned(graded)["ben"] == 0


def test_a_mailed_module_replaces_one_and_the_others_stay(graded: Path) -> None:
    (graded / "class" / "ada" / "clip.py").write_text("clip of the class", "utf-8")
    write_class(graded / "mail", {"": "4"})
    (graded / "advantages.py").write_text("mailed", "utf-8")
    done = regrade(graded, "ada", files="advantages.py")
    assert done.returncode == 1 and "mailed: advantages.py; from the upload: clip.py and kl.py" in done.stdout
    assert earned(graded)["ada"] == 15
    done = regrade(graded, "ada", files="mail/kl.py")
    assert "from the last regrade: advantages.py and clip.py" in done.stdout and earned(graded)["ada"] == 20
    kept = read_kept(graded / "graded")["ada"]
    assert kept.files == {"advantages.py": "mailed", "clip.py": "clip of the class", "kl.py": "4"}
    (graded / "mail" / "kl.py").unlink()
    (graded / "mail" / "worksheet.json").write_text("{}", "utf-8")
    done = regrade(graded, "ben", "--reason", "its worksheet", files="mail")
    assert "mailed: worksheet.json; from the upload: kl.py" in done.stdout and earned(graded)["ben"] == 10
    (graded / "class").rename(graded / "moved")
    done = regrade(graded, "cyd", files="advantages.py")
    assert done.returncode == 2 and "give all files" in done.stderr


def test_a_mailed_submission_is_added_and_stays(graded: Path) -> None:
    write_class(graded / "mail", {"": "3"})
    owner = ("--owner", "email=gale@uni.example", "--submitted-at", "2031-11-20T18:30:00+01:00")
    assert regrade(graded, "gale", files="mail/kl.py").returncode == 2, "not without --add"
    assert regrade(graded, "ADA", "--add", files="mail/kl.py").returncode == 2, "ada is there"
    done = regrade(graded, "gale", "--add", *owner, files="mail/kl.py")
    assert done.returncode == 1 and "not graded, now 15 of 20 points" in done.stdout, done.stderr
    for _ in range(2):
        row = next(row for row in table(graded) if row["submission"] == "gale")
        assert (row["earned"], row["emails"], row["regraded"]) == ("15", "gale@uni.example", "added")
        assert row["submitted_at"] == "2031-11-20T18:30:00+01:00"
        assert "added: gale" in grade_all(graded).stdout
    assert regrade(graded, "gale", "--undo", files="").returncode == 1
    assert "gale" not in earned(graded) and "gale" not in grade_all(graded).stdout


def table(folder: Path) -> list[dict[str, str]]:
    return [*csv.DictReader((folder / "graded" / "grades.csv").read_text("utf-8-sig").splitlines())]


@pytest.mark.parametrize("name", ["mailed.zip", "Re_ my homework (2).zip", "deep.zip", "kl.py", "folder"])
def test_files_of_one_student_are_taken_whatever_they_are_called(graded: Path, name: str) -> None:
    path = graded / name
    if name == "folder":
        (path / "starter").mkdir(parents=True)
        (path / "starter" / "kl.py").write_text("3", "utf-8")
    elif name == "kl.py":
        path.write_text("3", "utf-8")
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("hand-in/starter/kl.py" if name == "deep.zip" else "kl.py", "3")
    done = regrade(graded, "ada", files=name)
    assert done.returncode == 1 and "now 15 of 20 points" in done.stdout, done.stderr
    assert earned(graded) == {"ada": 15, "ben": 10, "cyd": 10}


def test_the_class_of_somebody_else_is_never_taken_for_one_submission(graded: Path) -> None:
    write_class(graded / "others", {"eve": "1", "fay": "2"})
    before = contents(graded / "graded")
    for files, words in (
        ("others", "but none named ada"),
        ("graded/html", "no file to grade"),
    ):
        done = regrade(graded, "ada", files=files)
        assert done.returncode == 2 and words in done.stderr
    assert contents(graded / "graded") == before


def test_a_dry_run_writes_nothing(graded: Path) -> None:
    before = contents(graded)
    done = regrade(graded, "ada", "--dry-run")
    assert done.returncode == 1 and "now 15 of 20" in done.stdout
    assert contents(graded) == before


def test_unchanged_files_keep_their_result_and_nothing_is_written(graded: Path) -> None:
    before = contents(graded)
    done = regrade(graded, "ben")
    assert done.returncode == 0 and "10 of 20 points" in done.stdout and contents(graded) == before


def test_an_adjustment_by_hand_is_mentioned(graded: Path) -> None:
    (graded / "graded" / "adjustments.csv").write_text("submission,points,reason\nada,5,the check was wrong\n")
    assert "+5: the check was wrong" in regrade(graded, "ada").stdout


def test_a_result_with_another_maximum_than_the_class_is_not_stored(graded: Path) -> None:
    for entry in read_class(graded / "graded"):
        if entry.name != "ada":  # as an earlier course, in which each check was worth 6, would have graded them
            path = result_path(graded / "graded", entry.key)
            result = from_json(path.read_text("utf-8"))
            (exercise,) = result.exercises
            checks = [replace(check, points=6) for check in exercise.checks]
            path.write_text(replace(result, exercises=[replace(exercise, checks=checks)]).as_json(), "utf-8")
    before = contents(graded)
    done = regrade(graded, "ada")
    assert re.search("out of 20 points.* 24", done.stdout) and contents(graded) == before


def test_a_grader_that_fails_leaves_the_old_result(graded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(graded)
    monkeypatch.setattr(grade_class, "grade_job", lambda data: b'{"result": null, "problem": "it died"}')
    done = regrade(graded, "ada")
    assert done.returncode == 3 and "ada: it died" in done.stdout
    assert contents(graded) == before


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (("adda",), "mean ada?"),
        (("ada", "--secret", "other-secret"), "another secret"),
        (("ada", "--secret", "class/ada/kl.py"), "not the secret"),
    ],
)
def test_wrong_usage_exits_with_2(graded: Path, arguments: tuple[str, ...], phrase: str) -> None:
    (graded / "other-secret").write_text("6" * 64)
    before = contents(graded)
    done = regrade(graded, *arguments)
    assert done.returncode == 2 and phrase in " ".join(done.stderr.split()), done.stderr
    assert contents(graded) == before


def test_a_class_whose_secret_lies_elsewhere_asks_for_it(graded: Path) -> None:
    (graded / "graded" / "class-secret").rename(graded / "our-secret")
    assert "--secret" in regrade(graded, "ada").stderr
    assert regrade(graded, "ada", "--secret", "our-secret").returncode == 1


def test_a_missing_submission_is_refused_with_a_suggestion(graded: Path) -> None:
    (graded / "class" / "ada").rename(graded / "class" / "ada-2")
    done = regrade(graded, "ada")
    assert done.returncode == 2 and "mean ada-2?" in done.stderr
