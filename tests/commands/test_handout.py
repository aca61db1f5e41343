"""`course handout`: it writes and verifies, and what it writes works on its own."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from class_maker import zip_bytes
from course_environment import install, make_environment

from grader.commands import course as course_command
from grader.commands import handout as handout_command
from grader.core import course
from grader.workshop import handout
from grader.workshop.leak_scan import Leak, Secrets

SITE = "https://example.org/grpo/"
LINE = "binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))"
"""Of the model answer `clip.clip_fraction`."""
WITH_TORCH = ("grader.sandbox.worker.serve", "grader.sandbox.worker.forkserver", "grader.sandbox.worker.start")
"""Modules of a worker, which import torch."""


def find_nothing(files: Mapping[str, bytes], secrets: Secrets) -> list[Leak]:
    """In place of the scan, which takes seconds, where its findings are not the question."""
    return []


def test_the_command_writes_verifies_and_finds_what_was_put_in_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "students"
    with monkeypatch.context() as patch:
        patch.setattr(handout_command, "scan", find_nothing)
        assert course_command.main(["handout", "--out", str(out), "--site", SITE]) == 0
    assert f'site = "{SITE}"' in (out / "course.toml").read_text("utf-8").splitlines()
    assert not (out / "docs").exists()
    (out / ".git").mkdir()
    (out / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (out / ".venv").mkdir()
    (out / ".venv" / "python").write_bytes(b"\xff")
    (out / "starter" / "clip.py").write_text(f"# TODO\n{LINE}\n", "utf-8")
    (out / "reference").mkdir()
    shutil.copy(course.MODEL_ANSWERS / "kl.py", out / "reference")
    capsys.readouterr()
    assert course_command.main(["handout", "--verify", str(out)]) == 1
    said = capsys.readouterr().out
    assert "starter/clip.py:2: the solution of clip.clip_fraction\n" in said
    assert "reference/kl.py: not handed out by this course\n" in said
    assert named_files(said) == {"starter/clip.py", "reference/kl.py"}, "all else is what students may have"
    with pytest.raises(SystemExit, match="2"):
        course_command.main(["handout", "--out", str(out)])
    assert "--force" in capsys.readouterr().err
    monkeypatch.setattr(handout_command, "scan", find_nothing)  # it has been seen to look
    assert course_command.main(["handout", "--out", str(out), "--force"]) == 0
    assert (out / ".git" / "HEAD").exists() and not (out / "reference").exists()
    assert "site = " not in (out / "course.toml").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["students"]


def named_files(said: str) -> set[str]:
    """The files of which something was found."""
    return set(re.findall(r"^(\S+?)(?::\d+)?: ", said, re.MULTILINE))


@pytest.mark.parametrize("fails_in", ["students", "handout"])  # as the old one moves away, as the new one moves there
def test_an_older_handout_stays_whole_if_the_new_one_cannot_be_moved_there(
    fails_in: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handout_command, "scan", find_nothing)
    out = tmp_path / "students"
    assert course_command.main(["handout", "--out", str(out), "--site", SITE]) == 0
    (out / ".git").mkdir()
    (out / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (out / "notes.txt").write_text("mine")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    moved = Path.rename

    def rename(path: Path, target: Path) -> Path:
        if path.name == "pyproject.toml" and path.parent.name == fails_in:
            raise OSError(errno.ENOSPC, "No space left on device")
        return moved(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(SystemExit, match="2"):
        course_command.main(["handout", "--out", str(out), "--force"])
    assert "cannot be written: No space left on device" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert [*tmp_path.iterdir()] == [out]


def test_nothing_is_written_where_a_secret_would_get_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handout, "make", lambda **_: {"README.md": f"# Hello\n{LINE}\n".encode()})
    assert course_command.main(["handout", "--out", str(tmp_path / "out.zip")]) == 1
    assert "README.md:2: the solution of clip.clip_fraction" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give --out OUT, --update FOLDER or --verify PATH"),
        (["--out", "out", "--verify", "."], "give --out OUT, --update FOLDER or --verify PATH"),
        (["--out", "missing/out"], "there is no folder missing"),
        (["--out", "out", "--site", "javascript:alert(1)"], "must be an address"),
        (["--verify", "missing"], "there is no missing"),
        (["--out", "mine", "--force"], "mine is no handout"),
        (["--out", "mine/file.txt"], "is a file"),
    ],
)
def test_wrong_usage_is_refused_and_touches_nothing(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file.txt").write_text("mine")
    with pytest.raises(SystemExit) as stopped:
        course_command.main(["handout", *arguments])
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err
    assert (tmp_path / "mine" / "file.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_zip_with_a_password_is_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(zip_bytes({"kl.py": "x = 1\n"}))
    for at in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1
    (tmp_path / "locked.zip").write_bytes(data)
    assert course_command.main(["handout", "--verify", str(tmp_path / "locked.zip")]) == 1
    assert "cannot be read" in capsys.readouterr().out


def test_every_module_of_the_handout_imports_without_what_was_left_out(tmp_path: Path) -> None:
    files = handout.make()
    handout.write_folder(files, tmp_path)
    names = [name.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for name in files]
    modules = [name for name in names if name.startswith("grader") and f"{name.replace('.', '/')}.json" not in files]
    modules = [
        name for name in modules if re.fullmatch(r"[\w.]+", name) and name not in WITH_TORCH and _is_module(name)
    ]
    script = (
        "import importlib, json, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "for name in json.loads(sys.argv[2]): importlib.import_module(name)\n"
        "print(json.dumps([m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'grader' and m.__file__]))"
    )
    command = [sys.executable, "-I", "-c", script, str(tmp_path), json.dumps(modules)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = [Path(each) for each in json.loads(done.stdout)]
    assert len(loaded) >= len(modules) > 40
    assert all(path.is_relative_to(tmp_path) for path in loaded)


def _is_module(name: str) -> bool:
    path = course.ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


# A student with it


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A handout, unpacked from its zip and installed by its README; and the environment's commands."""
    folder = tmp_path_factory.mktemp("student")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handout_command, "scan", find_nothing)
        assert course_command.main(["handout", "--out", str(folder / "grpo.zip"), "--site", SITE]) == 0
    with zipfile.ZipFile(folder / "grpo.zip") as archive:
        archive.extractall(folder)
    commands = make_environment(folder / "environment")
    install(commands, folder / "grpo-course")
    return folder / "grpo-course", commands


def student(installed: tuple[Path, Path], *arguments: str) -> subprocess.CompletedProcess[str]:
    root, commands = installed
    environment = {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
    program = shutil.which(arguments[0], path=str(commands))
    assert program, f"{arguments[0]} is not installed"
    command = [program, *arguments[1:]]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )


def points(path: Path) -> dict[str, tuple[int, int]]:
    document = json.loads(path.read_text("utf-8"))
    return {
        exercise["name"]: (
            sum(check["points"] for check in exercise["checks"] if check["outcome"] == "passed"),
            sum(check["points"] for check in exercise["checks"]),
        )
        for exercise in document["exercises"]
    }


@pytest.fixture(scope="module")
def worked_on(
    installed: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """What `grade` says to a student who has written one exercise right and one wrong; and the file of the result.

    The last two exercises are not there: their stubs need a part of torch that takes seconds to import.
    """
    text = (course.MODEL_ANSWERS / "advantages.py").read_text("utf-8")
    wrong = text.replace("correction=0", "correction=1").replace("unbiased=False", "unbiased=True")
    assert wrong != text
    starter, out = installed[0] / "starter", tmp_path_factory.mktemp("worked_on") / "r.json"
    stubs = {name: (starter / name).read_bytes() for name in ("advantages.py", "kl.py", "bandit.py", "charlm.py")}
    (starter / "advantages.py").write_text(wrong, "utf-8")
    shutil.copy(course.MODEL_ANSWERS / "kl.py", starter)
    for name in ("bandit.py", "charlm.py"):
        (starter / name).unlink()
    done = student(installed, "grade", "--json", str(out))
    for name, content in stubs.items():
        (starter / name).write_bytes(content)
    return done, out


def test_what_is_untouched_in_a_handout_has_no_points_and_names_the_pages_of_the_site(
    worked_on: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, out = worked_on
    assert done.returncode == 1, done.stderr
    earned = points(out)
    assert {name: public for name, (_, public) in earned.items()} == {
        "advantages": 23,
        "clip": 27,
        "kl": 23,
        "bandit": 46,
        "charlm": 71,
    }
    assert earned["clip"][0] == earned["bandit"][0] == earned["charlm"][0] == 0
    assert f"page  {SITE}exercises/clip/" in done.stdout
    pages = {each["page"] for each in json.loads(out.read_text("utf-8"))["exercises"]}
    assert "docs/exercises/clip.md" in pages


def test_a_mistake_is_named_with_the_address_of_its_page_beside_a_right_answer_with_every_public_point(
    worked_on: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, out = worked_on
    assert "divide by G - 1" in done.stdout
    assert f"more  {SITE}mistakes/advantages/#group_advantages-" in done.stdout
    earned = points(out)
    assert earned["kl"] == (23, 23) and 0 < earned["advantages"][0] < earned["advantages"][1]


@pytest.mark.proof
def test_the_model_answers_earn_every_public_point_in_a_handout(installed: tuple[Path, Path], tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    for exercise in course.EXERCISES:
        shutil.copy(course.MODEL_ANSWERS / exercise.file_name, answers)
    done = student(installed, "grade", "--path", str(answers), "--json", str(tmp_path / "r.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(got for got, _ in points(tmp_path / "r.json").values()) == 190


def test_worksheet_doctor_and_export_work_in_a_handout_and_the_other_commands_are_not_offered(
    installed: tuple[Path, Path], tmp_path: Path
) -> None:
    root, _ = installed
    sheet = student(installed, "grade", "worksheet", "--json", str(tmp_path / "r.json"))
    assert sheet.returncode == 1 and f"page  {SITE}worksheet/" in sheet.stdout, sheet.stderr
    doctor = student(installed, "course", "doctor")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    offered = student(installed, "course", "--help").stdout
    assert set(re.findall(r"^    ([\w-]+) {2,}", offered, re.MULTILINE)) == {"doctor", "export"}
    exported = student(installed, "course", "export", "github-summary", str(tmp_path / "r.json"))
    assert exported.returncode == 0, exported.stderr
    assert student(installed, "course", "handout", "--out", "x").returncode == 2
    assert not (root / "x").exists()


def test_an_update_renews_what_is_given_and_leaves_what_students_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older one has another version, a check that changed since, a file that is gone, and one stub less."""
    folder = tmp_path / "students"
    exercises = course.EXERCISES[:2]
    handout.write_folder(handout.make(site=SITE, exercises=exercises), folder)
    whole = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    project = (folder / "pyproject.toml").read_text("utf-8")
    (folder / "pyproject.toml").write_text(re.sub(r'version = "[^"]*"', 'version = "0.0.1"', project, count=1), "utf-8")
    (folder / "grader/exercises/clip/checks.py").write_text("# an older one\n", "utf-8")
    (folder / "grader/older.py").write_text("# no longer handed out\n", "utf-8")
    manifest = json.loads((folder / handout.MANIFEST).read_text("utf-8"))
    (folder / handout.MANIFEST).write_text(json.dumps(manifest | {"grader/older.py": "0"}), "utf-8")
    functions = folder / "grader/exercises/clip/functions.json"
    functions.write_text(functions.read_text("utf-8").replace("importance_ratio(", "importance_ratio(x, "), "utf-8")
    (folder / "starter/clip.py").write_text("# mine\r\n", "utf-8")
    (folder / "starter/advantages.py").unlink()
    (folder / "notes.txt").write_text("mine, too\n", "utf-8")

    assert course_command.main(["handout", "--update", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "version 0.0.1, now " in said and "1 file removed" in said and "left as they are: starter/clip.py\n" in said
    assert "starter/clip.py: the signature is importance_ratio(" in said
    now = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert now == {**whole, "starter/clip.py": b"# mine\r\n", "notes.txt": b"mine, too\n"}

    assert course_command.main(["handout", "--update", str(folder)]) == 0
    assert "0 files renewed, 0 files removed" in capsys.readouterr().out
    (folder / handout.MANIFEST).write_text("{", "utf-8")
    for wrong in (folder, tmp_path):
        with pytest.raises(SystemExit, match="2"):
            course_command.main(["handout", "--update", str(wrong)])
        assert "handout" in capsys.readouterr().err
