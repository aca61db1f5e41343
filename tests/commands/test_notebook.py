"""The notebook of `run_llm`: it installs what it needs, and every cell runs with a small random model."""

import json
import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from tiny_llm import save_tiny_llm

from grader.core import course

NOTEBOOK = course.ROOT / "docs/notebooks/run_llm.ipynb"


def cells():
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]:
        yield cell["cell_type"], cell["metadata"].get("tags", ()), "".join(cell["source"])


def test_it_installs_the_packages_of_the_extra():
    project = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (install,) = (text for _, tags, text in cells() if "install" in tags)
    assert all(f'"{package}"' in install for package in project["optional-dependencies"]["llm"])


@pytest.mark.proof
def test_every_cell_runs(tmp_path):
    for folder in (course.STARTER, course.MODEL_ANSWERS):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, tmp_path / "starter", ignore=skipped, dirs_exist_ok=True)
    model = save_tiny_llm(tmp_path / "model")
    script = []
    for kind, tags, text in cells():
        if kind == "code" and "install" not in tags:
            script.append(text)
        if "parameters" in tags:
            script.append(f"COURSE, MODEL, STEPS = {str(tmp_path)!r}, {str(model)!r}, 2")
    environment = {**os.environ, "MPLBACKEND": "Agg", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", "\n".join(script)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("advantage") == 8
    assert "step 2: mean reward" in done.stdout
    assert "share of right sums: 0.00 -> 0.00" in done.stdout
