"""The command that draws the bandit, as a student starts it; the rest of it is in `pure/test_bandit.py`."""

import subprocess
import sys

import pytest

from grader.core import course


@pytest.mark.proof
def test_one_run_is_printed_and_drawn(tmp_path):
    command = [sys.executable, "-m", "reference.run_bandit", "--steps", "5", "--out", str(tmp_path / "run.png")]
    done = subprocess.run(command, cwd=course.ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "entropy 2.303 to" in done.stdout
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
