"""`course export` on the result of a real grading. What the formats say is tested in `pure/test_exports.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command import call, environment
from exports_readers import CLASSROOM, READERS

from grader.commands import course as course_command
from grader.commands import grade as cli
from grader.core import course
from grader.core.result import from_json
from grader.sandbox.sandbox import Sandbox


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Path:
    """The result of a real grading: one exercise wrong, one not written."""
    folder = tmp_path_factory.mktemp("exports")
    (folder / "clip.py").write_bytes((course.STARTER / "clip.py").read_bytes())
    text = (course.MODEL_ANSWERS / "advantages.py").read_text("utf-8")
    wrong = text.replace("return", 'print("::error::mine ##[error]mine \\x1b[31m</script>")\n    return -1 * ', 1)
    (folder / "advantages.py").write_text(wrong, "utf-8")
    command = ("advantages", "clip", "--path", folder, "--json", folder / "r.json")
    completed = call(cli.main, *command, cwd=folder, sandbox=sandbox)
    assert completed.returncode == 1, completed.stderr
    return folder / "r.json"


def test_the_command_writes_every_format_of_a_real_grading(graded: Path, tmp_path: Path) -> None:
    expected = from_json(graded.read_text("utf-8"))
    assert 0 < expected.earned < expected.points
    for name, reader in READERS.items():
        arguments = ("export", name, graded, "--out", tmp_path / name)
        completed = call(course_command.main, *arguments, cwd=tmp_path, **CLASSROOM)
        assert (completed.returncode, completed.stdout) == (0, ""), completed.stderr
        found = reader((tmp_path / name).read_text("utf-8"))
        assert found.earned == expected.earned and len(found.lines) == len(expected.checks)


def test_the_process_prints_the_same_bytes_that_the_command_writes(graded: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "grader.commands.course", "export", "github-summary", str(graded)]
    printed = subprocess.run(command, capture_output=True, cwd=course.ROOT, env=environment())
    assert printed.returncode == 0, printed.stderr
    written = tmp_path / "s.md"
    assert call(course_command.main, "export", "github-summary", graded, "--out", written, cwd=tmp_path).returncode == 0
    assert printed.stdout == written.read_bytes() and b"\r" not in printed.stdout
