"""The notebook of `run_llm`: current, and every cell runs, with the model answers and a small random model."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from tiny_llm import save_tiny_llm

from grader.commands import course as course_command
from grader.core import course
from grader.workshop import llm_notebook


def test_notebook_and_page_are_what_the_command_writes():
    assert course_command.main(["dev", "notebook", "--check"]) == 0


@pytest.mark.proof
def test_every_cell_runs(tmp_path):
    for folder in (course.STARTER, course.MODEL_ANSWERS):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, tmp_path / "starter", ignore=skipped, dirs_exist_ok=True)
    model = save_tiny_llm(tmp_path / "model")
    script = []
    for cell in json.loads(llm_notebook.NOTEBOOK.read_text("utf-8"))["cells"]:
        tags = cell["metadata"].get("tags", ())
        if cell["cell_type"] == "code" and llm_notebook.INSTALL not in tags:
            script.append("".join(cell["source"]))
        if llm_notebook.PARAMETERS in tags:
            script.append(f"COURSE, MODEL, STEPS = {str(tmp_path)!r}, {str(model)!r}, 2")
    environment = {**os.environ, "MPLBACKEND": "Agg", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", "\n".join(script)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("advantage") == 8
    assert "step 2: mean reward" in done.stdout
    assert "share of right sums: 0.00 -> 0.00" in done.stdout
