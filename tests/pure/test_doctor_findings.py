"""`course doctor` names everything that can be different about a machine or a handout, and else it is silent."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest
from handouts import untouched_handout

from grader.commands import doctor
from grader.core import course

WINDOWS = object()  # the same file with the line ends of Windows
COMPARE = "course/grader/grading/compare.py"
CHANGED = "changed since it was handed out"

CASES: dict[str, tuple[Mapping[str, object], Mapping[str, tuple[str, bool]]]] = {
    "nothing": ({}, {}),
    "own work": ({"starter/clip.py": "# mine\n", "starter/notes.txt": "mine"}, {}),
    "changed files": (
        {COMPARE: "TOLERANCE = 1\n", "starter/given/bandit_task.py": "# by accident\n", "README.md": "my notes"},
        {COMPARE: (CHANGED, True), "starter/given/bandit_task.py": (CHANGED, False), "README.md": (CHANGED, False)},
    ),
    "missing files": (
        dict.fromkeys(("course/grader/exercises/kl/vectors.json", "starter/bandit.py", "starter/given/charlm_task.py")),
        {
            "course/grader/exercises/kl/vectors.json": ("missing", True),
            "starter/bandit.py": ("missing", True),  # bandit_task.py is not it
            "starter/given/charlm_task.py": ("missing", True),
        },
    ),
    "line ends of Windows": ({COMPARE: WINDOWS, "starter/kl.py": WINDOWS}, {}),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return untouched_handout(tmp_path / "course")


@pytest.mark.parametrize("case", CASES)
def test_a_file_of_the_handout_that_is_not_as_it_was_is_named_once(case: str, root: Path) -> None:
    changes, expected = CASES[case]
    for name, content in changes.items():
        path = root / name
        if content is WINDOWS:
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        elif isinstance(content, str):
            path.write_text(content, "utf-8")
        else:
            path.unlink()
    findings = [*doctor.changed_files(root)]
    assert sorted(each.subject for each in findings) == sorted(expected)
    for each in findings:
        words, serious = expected[each.subject]
        assert words in each.what and each.serious is serious


def test_packages_are_named_in_one_finding_for_each_thing_to_do(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["numpy>=2.0", "rich>=999.1", "pytest>=999", "not-a-package>=1.0", "nor-this>=1", '
        "\"only-elsewhere>=1.0; sys_platform == 'amiga'\"]\n",
        "utf-8",
    )
    (tmp_path / "constraints.txt").write_text("# tested\nnumpy==2.0.1\nrich==999.2\n", "utf-8")
    missing, old, other = doctor.packages(tmp_path)
    assert "not-a-package, nor-this" in missing.what and missing.serious
    assert re.search(r"rich .*999.1 .*pytest .*999 ", old.what) and old.serious
    assert re.search(r"numpy [\d.]+ .*2\.0\.1", other.what) and not other.serious
    assert "only-elsewhere" not in missing.what + old.what + other.what
    assert (
        missing.command == old.command == other.command == "python -m pip install -c course/constraints.txt -e ./course"
    )
    shutil.copy(course.ROOT / "constraints.txt", tmp_path)
    text = (course.ROOT / "pyproject.toml").read_text("utf-8")
    (tmp_path / "pyproject.toml").write_text(re.sub(r">=[\d.]+", ">=999", text.partition("[project.opt")[0]), "utf-8")
    words = {word for each in doctor.packages(tmp_path) for word in each.what.split()}
    assert {"numpy", "torch", "pytest", "hypothesis", "rich", "matplotlib", "watchfiles", "safetensors"} <= words
    assert ("pyseccomp" in words) == (sys.platform == "linux")


def test_the_grade_of_another_environment_or_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = tmp_path / "own" / "bin", tmp_path / "other" / "bin"
    for folder in (own, other):
        folder.mkdir(parents=True)
        program = folder / ("grade.exe" if os.name == "nt" else "grade")
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(own))
    for path, named in ((own, []), (other, [str(other)]), (tmp_path, ["no `grade`"])):
        monkeypatch.setenv("PATH", str(path))
        found = [*doctor.shell()]
        assert len(found) == len(named) and all(each in found[0].what for each in named)


@pytest.mark.parametrize(
    ("finding", "serious"),
    [
        (lambda: doctor.location("C:\\Users\\me\\course", windows=True), []),
        (lambda: doctor.location("C:\\Users\\me\\OneDrive - University\\course", windows=True), [False]),
        (lambda: doctor.location("/Users/me/Library/Mobile Documents/course", windows=False), [False]),
        (lambda: doctor.location("C:\\Users\\J\u00fcrgen\\course", windows=True), [True]),
        (lambda: doctor.location("/home/j\u00fcrgen/course", windows=False), []),
        (lambda: doctor.location("C:\\" + "a" * 200, windows=True), [True]),
        (lambda: doctor.location("/home/" + "a" * 200, windows=False), []),
    ],
)
def test_a_machine_that_makes_trouble_is_named(finding, serious: list[bool]) -> None:
    assert [each.serious for each in finding()] == serious


def test_a_second_copy_of_the_course_below_the_standard_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "site-packages" / "numpy").mkdir(parents=True)
    assert list(doctor.second_copies([str(tmp_path), str(tmp_path / "missing")])) == []
    (tmp_path / "site-packages" / "grader" / "exercises").mkdir(parents=True)
    (found,) = doctor.second_copies([str(tmp_path)])
    assert str(tmp_path.resolve() / "site-packages") in found.what and not found.serious
