"""`course doctor`: each thing that can be different about a machine is named, with what to do; else it is silent."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from handouts import POINTER, untouched_handout

from grader.commands import doctor
from grader.core import course


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return untouched_handout(tmp_path / "course")


def told(root: Path) -> set[str]:
    """What is said of the files of a handout."""
    return {f"{each.subject}: {each.what}" for each in (*doctor.starter_files(root), *doctor.changed_files(root))}


def test_nothing_is_said_of_a_handout_that_nobody_touched(root: Path) -> None:
    assert told(root) == set()
    (root / "starter" / "clip.py").write_text("# my own work\n", "utf-8")
    (root / "starter" / "notes.txt").write_text("mine")
    assert told(root) == set()


@pytest.mark.parametrize("text", ["[]", "null", '"starter/kl.py"'])
def test_a_manifest_that_names_no_files_is_damaged(text: str, root: Path) -> None:
    (root / "grader" / "core" / "manifest.json").write_text(text, "utf-8")
    assert told(root) == {"grader/core/manifest.json: damaged"}


@pytest.mark.skipif(sys.platform != "linux", reason="takes a file of Linux that nobody can read")
def test_files_that_cannot_be_read_are_named_once_and_not_overwritten(root: Path) -> None:
    (root / ".git").mkdir()
    for name in ("starter/kl.py", "starter/bandit_task.py", "grader/grading/compare.py"):
        (root / name).unlink()
        (root / name).symlink_to("/proc/self/mem")
    found = [*doctor.starter_files(root), *doctor.changed_files(root)]
    assert sorted(each.subject for each in found) == [
        "grader/grading/compare.py",
        "starter/bandit_task.py",
        "starter/kl.py",
    ]
    assert {each.what for each in found} == {"cannot be read: Input/output error"}
    assert not [each for each in found if each.command] and all(each.serious for each in found)
    (root / "grader" / "core" / "manifest.json").unlink()
    (root / "grader" / "core" / "manifest.json").symlink_to("/proc/self/mem")
    (found_first,) = doctor.changed_files(root)
    assert found_first.subject == "grader/core/manifest.json" and "cannot be read" in found_first.what


def test_changed_and_missing_files_of_the_course_are_named(root: Path) -> None:
    with (root / "grader" / "grading" / "compare.py").open("a", encoding="utf-8") as file:
        file.write("TOLERANCE = 1\n")
    (root / "grader" / "exercises" / "kl" / "vectors.json").unlink()
    (root / "starter" / "bandit_task.py").write_text("# by accident\n", "utf-8")
    (root / "starter" / "kl.py").unlink()
    (root / "starter" / "charlm_task.py").unlink()
    (root / "README.md").write_text("my notes", "utf-8")
    assert told(root) == {
        "grader/grading/compare.py: not as it was handed out",
        "grader/exercises/kl/vectors.json: missing",
        "starter/bandit_task.py: not as it was handed out",
        "starter/kl.py: missing",
        "starter/charlm_task.py: missing",
        "README.md: not as it was handed out",
    }
    by_name = {each.subject: each for each in doctor.changed_files(root)}
    assert by_name["grader/grading/compare.py"].serious and not by_name["README.md"].serious


@pytest.mark.parametrize(
    ("there", "is_it"),
    [
        ("clip (1).py", True),
        ("clip-1.py", True),
        ("Clip.PY", True),
        ("clip - Copy.py", True),
        ("Copy of clip.py", True),
        ("clip.py.txt", True),
        ("clipboard.py", False),
        ("my_clip_notes.py", False),
    ],
)
def test_a_file_that_was_renamed_on_the_way_is_named_beside_the_missing_one(
    there: str, is_it: bool, root: Path
) -> None:
    text = (root / "starter" / "clip.py").read_text("utf-8")
    (root / "starter" / "clip.py").unlink()
    (root / "starter" / there).write_text(text, "utf-8")
    if (root / "starter" / "clip.py").exists():
        pytest.skip("this file system takes both names for one")
    (found,) = doctor.starter_files(root)
    assert found.subject == "starter/clip.py" and found.serious
    assert (there in found.what) == ("rename it to clip.py" in found.todo) == is_it


def test_given_files_are_not_taken_for_a_missing_exercise(root: Path) -> None:
    for name in ("bandit.py", "charlm.py"):
        (root / "starter" / name).unlink()
    assert {each.what for each in doctor.starter_files(root)} == {"missing"}


def test_the_line_ends_of_windows_are_no_change_but_are_named_in_starter(root: Path) -> None:
    for name in ("grader/grading/compare.py", "starter/kl.py", "starter/bandit_task.py"):
        path = root / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = [*doctor.starter_files(root), *doctor.changed_files(root)]
    assert [each.subject for each in found] == ["starter/kl.py", "starter/bandit_task.py"]
    assert all("Windows" in each.what and not each.serious for each in found)


def test_a_pointer_of_git_lfs_is_named_once(root: Path) -> None:
    (root / "starter" / "charlm.safetensors").write_text(POINTER)
    (found,) = [*doctor.starter_files(root), *doctor.changed_files(root)]
    assert found.subject == "starter/charlm.safetensors" and "pointer" in found.what


def test_packages_are_named_in_one_finding_for_each_thing_to_do(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["numpy>=2.0", "rich>=999.1", "pytest>=999", "not-a-package>=1.0", "nor-this>=1", '
        "\"only-elsewhere>=1.0; sys_platform == 'amiga'\"]\n",
        "utf-8",
    )
    (tmp_path / "constraints.txt").write_text("# tested\nnumpy==2.0.1\nrich==999.2\n", "utf-8")
    missing, old, other = doctor.packages(tmp_path)
    assert missing.what.startswith("not installed here: not-a-package, nor-this") and missing.serious
    assert re.fullmatch(r"too old: rich .*needed: 999.1 or later.*, pytest .*needed: 999 or later.*", old.what)
    assert re.fullmatch(r"not the tested version: numpy [\d.]+ \(tested: 2\.0\.1\)", other.what)
    assert old.serious and not other.serious
    assert "only-elsewhere" not in missing.what + old.what + other.what
    assert old.command == other.command == "python -m pip install -c constraints.txt -e ."


def test_every_dependency_of_the_course_is_looked_at(tmp_path: Path) -> None:
    text = (course.ROOT / "pyproject.toml").read_text("utf-8")
    shutil.copy(course.ROOT / "constraints.txt", tmp_path)
    (tmp_path / "pyproject.toml").write_text(re.sub(r">=[\d.]+", ">=999", text.partition("[project.opt")[0]), "utf-8")
    said = " ".join(each.what for each in doctor.packages(tmp_path))
    for name in ("numpy", "torch", "pytest", "hypothesis", "rich", "matplotlib", "watchfiles", "safetensors"):
        assert f" {name} " in said
    assert (" pyseccomp " in said) == (sys.platform == "linux")


@pytest.mark.parametrize(("version", "count"), [((3, 9), 1), ((3, 10), 1), ((3, 11), 0), ((3, 14), 0)])
def test_an_old_python_is_named(version: tuple[int, int], count: int) -> None:
    assert len([*doctor.python_version(version)]) == count


@pytest.mark.parametrize(
    ("entries", "count"), [(["/opt/lib", "/x"], 0), (["/opt/lib", ""], 1), (["lib"], 1), ([""], 0)]
)
def test_a_search_path_that_names_the_current_folder_is_to_mend(entries: list[str], count: int) -> None:
    whole = [os.path.abspath(entry) if entry.startswith("/") else entry for entry in entries]
    assert len([*doctor.search_path(os.pathsep.join(whole))]) == count


def test_the_grade_of_another_environment_or_none_is_named(tmp_path: Path) -> None:
    own, other = tmp_path / "own" / "bin", tmp_path / "other" / "bin"
    for folder in (own, other):
        folder.mkdir(parents=True)
        program = folder / ("grade.exe" if os.name == "nt" else "grade")
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    both = f"{own}{os.pathsep}{other}"
    assert [*doctor.command_on_path(both, own, tmp_path)] == []
    (found,) = doctor.command_on_path(both, other, tmp_path)
    assert str(own) in found.what and str(tmp_path / "other") in found.what
    (found,) = doctor.command_on_path(str(tmp_path), own, tmp_path)
    assert (
        "not on the path" in found.what and found.command == "python -P -m grader.commands.grade"
    )  # nothing there to activate
    (tmp_path / ".venv").mkdir()
    (found,) = doctor.command_on_path(str(tmp_path), own, tmp_path)
    assert "not on the path" in found.what and "activate" in found.command
    assert [*doctor.command_on_path(str(tmp_path), tmp_path, tmp_path)] == []  # not installed: packages says that


@pytest.mark.parametrize(
    ("root", "windows", "serious"),
    [
        ("C:\\Users\\me\\course", True, []),
        ("C:\\Users\\me\\OneDrive - University\\course", True, [False]),
        ("/Users/me/Library/Mobile Documents/course", False, [False]),
        ("C:\\Users\\J\u00fcrgen\\course", True, [False]),
        ("/home/j\u00fcrgen/course", False, []),
        ("C:\\" + "a" * 200, True, [True]),
        ("/home/" + "a" * 200, False, []),
    ],
)
def test_places_that_make_trouble_are_named(root: str, windows: bool, serious: list[bool]) -> None:
    assert [each.serious for each in doctor.place(root, windows=windows)] == serious


def test_a_full_disk_is_named() -> None:
    assert [*doctor.disk_space(10_000_000_000)] == []
    (found,) = doctor.disk_space(12_000_000)
    assert found.what == "12 MB are free" and found.serious


def test_a_second_copy_of_the_course_below_the_standard_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "site-packages" / "numpy").mkdir(parents=True)
    assert list(doctor.second_copies([str(tmp_path), str(tmp_path / "missing")])) == []
    (tmp_path / "site-packages" / "grader" / "exercises").mkdir(parents=True)
    (found,) = doctor.second_copies([str(tmp_path)])
    assert str(tmp_path.resolve() / "site-packages") in found.what and not found.serious
