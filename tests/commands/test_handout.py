"""`course handout`: it writes and verifies, and what it writes works on its own."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from course_environment import install, make_environment
from submissions import model_answer, write_files

from grader.commands import course as course_command
from grader.commands import handout as handout_command
from grader.core import course
from grader.workshop import handout

SITE = "https://example.org/grpo/"
LINE = "binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))"
"""Of the model answer `clip.clip_fraction`."""


def find_nothing(files, secrets) -> list:
    """Replaces the scan, which takes seconds, where its findings are not the question."""
    return []


def refused(capsys, *arguments) -> str:
    with pytest.raises(SystemExit, match="2"):
        course_command.main(["handout", *map(str, arguments)])
    return capsys.readouterr().err


def test_the_command_writes_verifies_and_finds_what_was_put_in_later(tmp_path, capsys, monkeypatch):
    out = tmp_path / "students"
    with monkeypatch.context() as patch:
        patch.setattr(handout_command, "scan", find_nothing)
        assert course_command.main(["handout", "--out", str(out), "--site", SITE]) == 0
    assert f'site = "{SITE}"' in (out / "course" / "course.toml").read_text("utf-8").splitlines()
    assert not [*(out / "course" / "docs").rglob("*.md")]
    write_files(out, {".git/HEAD": "ref: refs/heads/main\n", ".venv/python": b"\xff"})
    write_files(out, {"starter/clip.py": f"# TODO\n{LINE}\n", "reference/kl.py": model_answer("kl")})
    shutil.rmtree(out / "course" / "grader" / "exercises")  # a smaller handout is scanned sooner
    capsys.readouterr()
    assert course_command.main(["handout", "--verify", str(out)]) == 1
    report = capsys.readouterr().out
    assert "starter/clip.py:2: the solution of clip.clip_fraction\n" in report
    files = {*re.findall(r"^(\S+?)(?::\d+)?: ", report, re.MULTILINE)}
    assert files == {"starter/clip.py", "reference/kl.py"}, "students may have all else"
    assert "--force" in refused(capsys, "--out", out)
    monkeypatch.setattr(handout_command, "scan", find_nothing)  # it has been seen to look
    assert course_command.main(["handout", "--out", str(out), "--force"]) == 0
    assert (out / ".git" / "HEAD").exists() and not (out / "reference").exists()
    assert "site = " not in (out / "course" / "course.toml").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["students"]


def test_nothing_is_written_where_a_secret_would_get_out(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(handout, "make", lambda **_: {"README.md": f"# Hello\n{LINE}\n".encode()})
    assert course_command.main(["handout", "--out", str(tmp_path / "out.zip")]) == 1
    assert "README.md:2: the solution of clip.clip_fraction" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["out"], "see `course handout --help`"), ([], "--out OUT"), (["--out", "out", "--verify", "."], "--out OUT"),
        (["--out", "missing/out"], "no folder missing"),
        (["--out", "out", "--site", "javascript:alert(1)"], "address"), (["--verify", "missing"], "no missing"),
        (["--out", "mine", "--force"], "mine is not a handout"), (["--out", "mine/file.txt"], "is a file"),
    ],
)  # fmt: skip
def test_wrong_usage_is_refused_and_touches_nothing(arguments, phrase, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, {"mine/file.txt": "mine"})
    assert phrase in refused(capsys, *arguments)
    assert (tmp_path / "mine" / "file.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


# A student with it


class Student:
    """A handout, unpacked from its zip and installed by its README, and the environment's commands."""

    def __init__(self, folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(handout_command, "scan", find_nothing)
            assert course_command.main(["handout", "--out", str(folder / "grpo.zip"), "--site", SITE]) == 0
        with zipfile.ZipFile(folder / "grpo.zip") as archive:
            archive.extractall(folder)
        self.root = folder / "grpo-course"
        self.commands = make_environment(folder / "environment")
        install(self.commands, self.root)

    def run(self, program: str, *arguments, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A command, with nothing else on the path."""
        return subprocess.run(
            [self.commands / program, *map(str, arguments)],
            cwd=cwd or self.root,
            env={**os.environ, "PATH": str(self.commands), "COLUMNS": "200"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


@pytest.fixture(scope="module")
def student(tmp_path_factory) -> Student:
    return Student(tmp_path_factory.mktemp("student of grpo"))


def points(path: Path) -> dict[str, tuple[int, int]]:
    """Earned and possible points by exercise."""
    exercises = json.loads(path.read_text("utf-8"))["exercises"]
    return {exercise["name"]: (exercise["earned"], exercise["points"]) for exercise in exercises}


def test_a_student_with_one_right_and_one_wrong_answer_gets_their_points_and_the_pages_of_the_site(student, tmp_path):
    """The last two exercises are not there: their stubs need a part of torch that takes seconds to import."""
    text = model_answer("advantages")
    wrong = text.replace("correction=correction", "correction=1")
    assert wrong != text
    me = shutil.copytree(student.root / "starter", tmp_path / "me")
    right = model_answer("kl") + "\nfrom .given import bandit_task\n"
    write_files(me, {"advantages.py": wrong, "kl.py": right})
    for path in (*me.glob("bandit.*"), *me.glob("charlm.*")):
        path.unlink()
    (me / "given" / "bandit_task.py").write_text("raise RuntimeError\n")
    written = ("--json", tmp_path / "r.json", "--write", f"github-summary={tmp_path / 's.md'}")
    done = student.run("grade", "--path", me, "--examples", 2, "--jobs", 1, *written)
    assert done.returncode == 1, done.stderr
    graded = points(tmp_path / "r.json")
    public = {"advantages": 23, "clip": 27, "kl": 23, "bandit": 46, "charlm": 72}
    assert {name: possible for name, (_, possible) in graded.items()} == public
    assert graded["kl"] == (23, 23) and 0 < graded["advantages"][0] < 23
    assert graded["clip"][0] == graded["bandit"][0] == graded["charlm"][0] == 0
    assert "divide by G - 1" in done.stdout
    assert f"{SITE}exercises/advantages/mistakes/#group_advantages-" in done.stdout
    assert f"{SITE}exercises/clip/" in done.stdout
    assert "advantages" in (tmp_path / "s.md").read_text("utf-8")
    said = " ".join(done.stdout.split())
    assert "the course's own version of given/bandit_task.py" in said


@pytest.mark.proof
def test_the_model_answers_earn_every_public_point_in_a_handout(student, tmp_path):
    for exercise in course.EXERCISES:
        write_files(tmp_path / "answers", {exercise.file_name: model_answer(exercise.name)})
    done = student.run("grade", "--path", tmp_path / "answers", "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(earned for earned, _ in points(tmp_path / "r.json").values()) == 191
    assert "also has 12 hidden checks, for 14 more points" in " ".join(done.stdout.split())


def test_a_handout_has_the_worksheet_and_the_commands_of_students(student, tmp_path):
    sheet = student.run("grade", "worksheet", "--json", tmp_path / "r.json")
    assert sheet.returncode == 1 and f"{SITE}worksheet/" in sheet.stdout, sheet.stderr
    commands = student.run("course", "--help").stdout
    assert {*re.findall(r"^  (\w[\w-]*) {2,}", commands, re.MULTILINE)} == {"doctor"}
    assert student.run("course", "handout", "--out", "x").returncode == 2
    assert not (student.root / "x").exists()


def test_the_doctor_finds_nothing_to_fix_in_a_handout_and_refuses_a_second_copy(student, tmp_path):
    done = student.run("course", "doctor")
    assert done.returncode == 0 and done.stdout.endswith("nothing to fix\n")
    second = shutil.copytree(student.root, tmp_path / "second copy")
    done = student.run("course", "doctor", cwd=second)
    assert done.returncode == 2
    assert f"you are in the course {second}, but this command runs the code of {student.root}" in " ".join(
        done.stderr.split()
    )


@pytest.mark.proof
def test_an_update_moves_a_handout_of_the_older_layout(tmp_path, monkeypatch):
    """It had the grader, its settings and its manifest at the top."""
    monkeypatch.setattr(handout_command, "scan", find_nothing)
    folder, files = tmp_path / "students", handout.make(site=SITE, exercises=course.EXERCISES[:1])
    manifest = json.loads(files[handout.MANIFEST])
    moved = {name.removeprefix("course/"): content for name, content in files.items() if name != "course/README.md"}
    moved["grader/core/manifest.json"] = json.dumps({name.removeprefix("course/"): "0" for name in manifest}).encode()
    handout.write_folder({**moved, "starter/advantages.py": b"# mine\n", "README.md": b"older"}, folder)
    assert course_command.main(["handout", "--update", str(folder)]) == 0
    now = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert now == {**files, "starter/advantages.py": b"# mine\n"}


def test_an_update_renews_what_is_given_and_leaves_what_students_wrote(tmp_path, capsys, monkeypatch):
    """The older one has another version, a check that changed since, a file that is gone, and one stub less."""
    monkeypatch.setattr(handout_command, "scan", find_nothing)
    folder = tmp_path / "students"
    exercises = course.EXERCISES[:2]
    handout.write_folder(handout.make(site=SITE, exercises=exercises), folder)

    def contents() -> dict[str, bytes]:
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    whole = contents()
    project = whole["course/pyproject.toml"].decode()
    manifest = json.loads(whole[handout.MANIFEST])
    changes = {
        "course/pyproject.toml": re.sub(r'version = "[^"]*"', 'version = "0.0.1"', project, count=1),
        "course/grader/exercises/clip/checks.py": "# an older one\n",
        "course/grader/older.py": "# no longer handed out\n",
        handout.MANIFEST: json.dumps(manifest | {"course/grader/older.py": "0"}),
        "starter/clip.py": "# mine\r\n",
        "notes.txt": "mine, too\n",
    }
    write_files(folder, changes)
    (folder / "starter/advantages.py").unlink()

    assert course_command.main(["handout", "--update", str(folder)]) == 0
    report = capsys.readouterr().out
    assert "1 file removed" in report and "starter/clip.py\n" in report
    assert contents() == {**whole, "starter/clip.py": b"# mine\r\n", "notes.txt": b"mine, too\n"}

    assert course_command.main(["handout", "--update", str(folder)]) == 0
    assert "0 files updated, 0 files removed" in capsys.readouterr().out
    (folder / handout.MANIFEST).write_text("{", "utf-8")
    for wrong in (folder, tmp_path):
        assert "handout" in refused(capsys, "--update", wrong)
