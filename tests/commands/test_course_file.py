"""A wrong `course.toml` ends every command with a sentence, not with a traceback."""

import shutil
import subprocess
import sys
from pathlib import Path

from grader.core import course


def test_a_wrong_course_file_ends_every_command_with_a_sentence(tmp_path: Path) -> None:
    copied = shutil.ignore_patterns("__pycache__", "*.json", "misconceptions", "variants")
    shutil.copytree(course.GRADER, tmp_path / "grader", ignore=copied)
    (tmp_path / "course.toml").write_text('title = "Mine"\nexercises = ["kl", "ppo"]\n', "utf-8")
    command = [sys.executable, "-m", "grader.commands.grade", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    what = "there is no exercise 'ppo'; there are advantages, bandit, charlm, clip, kl"
    assert done.stderr == f"{tmp_path / 'course.toml'}, line 2: {what}\n"
