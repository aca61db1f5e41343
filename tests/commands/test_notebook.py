"""The notebook of `run_llm`: current, and every cell runs, with the model answers and a small random model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_llm import save_tiny_llm

from grader.commands import course as course_command
from grader.core import course
from grader.workshop import llm_notebook


def cells() -> list[dict[str, Any]]:
    return list(json.loads(llm_notebook.NOTEBOOK.read_text("utf-8"))["cells"])


def test_notebook_and_page_are_what_the_command_writes(capsys: pytest.CaptureFixture[str]) -> None:
    assert course_command.main(["dev", "notebook", "--check"]) == 0
    (install,) = (cell for cell in cells() if llm_notebook.INSTALL in cell["metadata"].get("tags", ()))
    assert "transformers>=5" in "".join(install["source"]), "the packages are those of the extra"


def test_links_lead_into_the_repository_that_pyproject_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = (course.ROOT / "pyproject.toml").read_text("utf-8")
    (tmp_path / "pyproject.toml").write_text(f'{project}\n[project.urls]\nRepository = "https://github.com/a/b"\n')
    monkeypatch.setattr(course, "ROOT", tmp_path)
    page = llm_notebook.make()[llm_notebook.PAGE]
    assert "](https://colab.research.google.com/github/a/b/blob/main/docs/notebooks/run_llm.ipynb)" in page
    assert "OWNER" not in page


@pytest.mark.proof
def test_every_cell_runs(tmp_path: Path) -> None:
    shutil.copytree(course.MODEL_ANSWERS, tmp_path / "starter", ignore=shutil.ignore_patterns("__pycache__"))
    model = save_tiny_llm(tmp_path / "model")
    script = []
    for cell in cells():
        tags = cell["metadata"].get("tags", ())
        if cell["cell_type"] == "code" and llm_notebook.INSTALL not in tags:
            script.append("".join(cell["source"]))
        if llm_notebook.PARAMETERS in tags:
            script.append(f"COURSE, MODEL, STEPS = {str(tmp_path)!r}, {str(model)!r}, 2")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(script)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("advantage") == 8
    assert "step 2: mean reward" in done.stdout
    assert "share of right sums: 0.00 -> 0.00" in done.stdout
