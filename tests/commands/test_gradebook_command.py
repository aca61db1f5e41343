"""`course gradebook` as a process. What it fills in is tested in `pure/test_gradebook.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from course_environment import course_on_a_full_disk
from exports_results import example

from grader.classroom.results import Entry, Person, result_path, write_entries

EXPORT = (
    b'Student,ID,SIS User ID,SIS Login ID,Section,GRPO (4711)\n    Points Possible,,,,,%d\n"Doe, Jane",5,17,jdoe,L1,\n'
)


@pytest.mark.skipif(sys.platform == "win32", reason="sets a limit that Windows does not have")
def test_a_full_disk_leaves_the_older_file_and_no_half_one(tmp_path: Path) -> None:
    graded, export, out = tmp_path / "graded", tmp_path / "export.csv", tmp_path / "filled.csv"
    result = example()
    (graded / "graded").mkdir(parents=True)
    write_entries(graded, [Entry("jane", (Person(number="17"),), key="jane", result=result)], {})
    result.write(result_path(graded, "jane"))
    export.write_bytes(EXPORT % result.points)
    command = ("gradebook", "canvas", graded, "--gradebook", export, "--out", out)
    assert course_on_a_full_disk(*command, free=100_000).returncode == 0
    assert out.read_bytes() == export.read_bytes().replace(b"L1,", b"L1,%d" % result.earned)
    out.write_bytes(b"older")
    done = course_on_a_full_disk(*command, free=100)
    assert done.returncode == 2 and "filled.csv cannot be written: File too large" in done.stderr
    assert out.read_bytes() == b"older"
    assert {path.name for path in tmp_path.iterdir()} == {"graded", "export.csv", "filled.csv"}
