"""`course export` as a process. What the formats say is tested in `pure/test_exports.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from command import call, environment
from exports_results import example

from grader.commands import course as course_command
from grader.core import course


def test_the_process_prints_the_same_bytes_that_the_command_writes(tmp_path: Path) -> None:
    graded, written = tmp_path / "r.json", tmp_path / "s.md"
    example().write(graded)
    command = [sys.executable, "-m", "grader.commands.course", "export", "github-summary", str(graded)]
    printed = subprocess.run(command, capture_output=True, cwd=course.ROOT, env=environment())
    assert printed.returncode == 0, printed.stderr
    assert call(course_command.main, "export", "github-summary", graded, "--out", written, cwd=tmp_path).returncode == 0
    assert printed.stdout == written.read_bytes() and b"\r" not in printed.stdout
