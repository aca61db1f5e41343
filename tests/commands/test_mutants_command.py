"""One defect from its place to its verdict, as `make mutants` does it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import mutants
import pytest
from command import environment
from mutations import Place

from grader.core import course


@pytest.mark.proof
@pytest.mark.skipif(sys.platform == "win32", reason="not for Windows")
@pytest.mark.skipif(not (course.ROOT / ".git").exists(), reason="lists the files of a checkout")
def test_a_defect_is_noticed_in_a_copy_and_the_working_tree_keeps_every_byte(tmp_path: Path) -> None:
    places = json.loads(mutants.PLACES.read_text("utf-8"))["places"]
    number = next(number for number, each in enumerate(places) if "round_numbers" in each["place"]["file"])
    place = Place(**places[number]["place"])
    (path,) = (course.ROOT / "grader").rglob(Path(place.file).name)
    before = path.read_bytes(), path.stat().st_mtime_ns
    out, temporary = tmp_path / "out.json", tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, mutants.__file__, "--only", str(number), "--out", out],
        env=environment(TMPDIR=str(temporary)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(out.read_text("utf-8"))["results"][str(number)]
    assert result["outcome"] == mutants.KILLED
    assert result["by"].startswith("tests/pure/test_round_numbers.py::") and "Error" in result["because"]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [*temporary.iterdir()] == []
