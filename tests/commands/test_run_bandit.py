"""The command that draws the bandit, as a student starts it; the rest of it is in `pure/test_bandit.py`."""

import shutil
import subprocess
import sys

import pytest

from grader.core import course


@pytest.mark.proof
def test_before_the_variants_are_written_the_command_says_which_function_it_needs(tmp_path):
    for folder in (course.STARTER, course.MODEL_ANSWERS):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, tmp_path / "mine", ignore=skipped, dirs_exist_ok=True)
    shutil.copy(course.STARTER / "variants.py", tmp_path / "mine")
    command = [sys.executable, "-m", "mine.run_bandit", "--variant", "rloo", "--steps", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "variants.leave_one_out_advantages is not written yet" in done.stderr
