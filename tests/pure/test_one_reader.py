"""Every entrance takes the same files from an upload: `grade`, `grade-all`, Gradescope's autograder, the workflow.

Nothing is graded here: the tests follow the entrances up to the text that goes to a worker.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from class_maker import model_files, zip_bytes
from submissions import write_files

from grader.classroom.grading_job import request_for
from grader.classroom.request import ClassSettings
from grader.classroom.submissions import find_submissions
from grader.commands import autograder
from grader.commands import grade as cli
from grader.commands.grade_options import parse
from grader.core import course
from grader.core.contents import MAX_HELPERS
from grader.core.notebook import SETUP

WORKFLOW = course.ROOT / "grader" / "workshop" / "handout_files" / "grade.yml"
KL, CLIP = "def kl_estimate(): ...\n", "def clip_fraction(): ...\n"
WITH_HELPERS = "from . import helpers\nfrom .more import (\n    thing,\n)\n"


def notebook(*cells: Sequence[str]) -> str:
    listed: list[dict[str, Any]] = [{"cell_type": "markdown", "source": "# My work"}]
    listed += [{"cell_type": "code", "source": cell, "outputs": [], "metadata": {}} for cell in cells]
    return json.dumps({"nbformat": 4, "cells": listed})


CELLS = ("%matplotlib inline\nimport torch\n", ["!pip install torch\n", CLIP], "%%bash\nls\n", "if 1:\n    %time x\n")
CODE = (
    "# code cell 1 of clip.ipynb\npass\nimport torch\n\n\n"
    "# code cell 2 of clip.ipynb\npass\ndef clip_fraction(): ...\n\n\n"
    "# code cell 3 of clip.ipynb\n\n\n"
    "# code cell 4 of clip.ipynb\nif 1:\n    pass\n\n"
)
WRITTEN = ["# code cell 2 of homework.ipynb\n\n" + CLIP + "\n", "# code cell 3 of homework.ipynb\n\n" + KL + "\n"]
NAMED = "# code cell 1 of homework.ipynb\n" + CLIP + "\n"
COLAB = "import torch\nfrom google.colab import drive\ndrive.mount(\n    '/content/drive',\n)\n"
COLAB_LEFT = "import torch\npass\npass\n\n\n"
KAGGLE = (
    "import pandas as pd # data processing, CSV file I/O (e.g. pd.read_csv)\nimport os\n"
    "for d, _, names in os.walk('/kaggle/input'):\n    for name in names:\n        print(name)\n"
)
KAGGLE_LEFT = "pass\n" + KAGGLE.partition("\n")[2]
OURS = (
    "# code cell 1 of clip.ipynb\nimport sys\npass\n\n"
    f"# code cell 2 of clip.ipynb\n{CLIP}\n\n"
    "# code cell 3 of clip.ipynb\npass\n\n\n# code cell 4 of clip.ipynb\npass\n"
)
GUARDED = "try:\n    import wandb\nexcept ImportError:\n    wandb = None\nif TYPE_CHECKING:\n    import einops\n"
IN_LATIN_1 = "# -*- coding: latin-1 -*-\n# Müller\n"
MANY = "".join(f"import h{number:02}\n" for number in range(MAX_HELPERS + 1))

STUBS = {each.file_name: (course.STARTER / each.file_name).read_text("utf-8") for each in course.EXERCISES}

# An upload, what is graded, and words of a note.
UPLOADS: dict[str, tuple[dict[str, str | bytes], dict[str, str], str]] = {
    "plain": ({"kl.py": KL, "clip.py": CLIP}, {"kl.py": KL, "clip.py": CLIP}, ""),
    "a capital": ({"Clip.py": CLIP}, {"clip.py": CLIP}, "Clip.py as clip.py"),
    "a second download": ({"bandit (1).py": KL}, {"bandit.py": KL}, "bandit (1).py as bandit.py"),
    "an editor's ending": ({"charlm.py.txt": KL}, {"charlm.py": KL}, "charlm.py.txt as charlm.py"),
    "a copy": ({"clip.py": CLIP, "clip (1).py": "# old"}, {"clip.py": CLIP}, "not clip (1).py"),
    "a folder": ({"my work/kl.py": KL}, {"kl.py": KL}, ""),
    "starter": ({"kl.py": "# old", "clip.py": CLIP, "starter/kl.py": KL}, {"kl.py": KL}, "the grader took starter"),
    "an untouched starter folder": (
        {**{f"starter/{name}": text for name, text in STUBS.items()}, "mine/clip.py": CLIP},
        {"clip.py": CLIP}, "as they were handed out; the grader took mine",
    ),
    "an untouched module next to its notebook": (
        {"kl.py": KL, "clip.py": STUBS["clip.py"], "clip.ipynb": notebook(CLIP)},
        {"kl.py": KL, "clip.py": NAMED.replace("homework", "clip")}, "as clip.py, because clip.py is as it was",
    ),
    "an untouched notebook next to its module": (
        {"clip.py": CLIP, "clip.ipynb": notebook(STUBS["clip.py"])}, {"clip.py": CLIP}, "",
    ),
    "our notebook": (
        {"clip.ipynb": notebook(f"{SETUP}\nif x:\n    %pip y", CLIP, "check(\n  clip_fraction)", "check()")},
        {"clip.py": OURS}, "used clip.ipynb as clip.py",
    ),
    "an untouched starter folder and two answers": (
        {"starter/clip.py": STUBS["clip.py"], "mine/clip.py": CLIP, "other/clip.py": CLIP + CLIP},
        {"clip.py": STUBS["clip.py"]}, "the grader took starter",
    ),
    "a starter folder with one answer": (
        {"starter/clip.py": STUBS["clip.py"], "starter/kl.py": KL, "mine/clip.py": CLIP},
        {"clip.py": STUBS["clip.py"], "kl.py": KL}, "the grader took starter",
    ),
    "a zip": ({"work.zip": zip_bytes({"kl.py": KL, "helpers.py": "x = 1\n"})}, {"kl.py": KL}, ""),
    "a zip next to a module": (
        {"kl.py": KL, "rest.zip": zip_bytes({"clip.py": CLIP})}, {"kl.py": KL}, "did not open rest.zip",
    ),
    "latin-1": ({"kl.py": IN_LATIN_1.encode("latin-1")}, {"kl.py": IN_LATIN_1}, ""),
    "latin-1 without a coding line": (
        {"kl.py": KL.encode() + b"# M\xfcller\n"}, {"kl.py": KL + "# M\u00fcller\n"}, "read it as Latin-1",
    ),
    "no UTF-8": ({"kl.py": b"\x81\xff" * 9, "clip.py": CLIP}, {"clip.py": CLIP}, "kl.py is not UTF-8 text (line 1)"),
    "helpers": (
        {"s/kl.py": WITH_HELPERS, "s/helpers.py": "import deep\n",
         "s/more.py": "", "s/deep.py": "x = 1\n", "deep.py": "2"},
        {"kl.py": WITH_HELPERS, "helpers.py": "import deep\n", "more.py": "", "deep.py": "x = 1\n"},
        "also took helpers.py",
    ),
    "what nobody imports": ({"kl.py": KL, "test_kl.py": "", "conftest.py": "x", "kl_old.py": ""}, {"kl.py": KL}, ""),
    "a library's name": (
        {"kl.py": "import random, numpy\n", "random.py": "", "numpy.py": ""},
        {"kl.py": "import random, numpy\n"}, "left out numpy.py",
    ),
    "too many helpers": (
        {"kl.py": MANY, **{f"h{number:02}.py": "" for number in range(MAX_HELPERS + 1)}},
        {"kl.py": MANY, **{f"h{number:02}.py": "" for number in range(MAX_HELPERS)}}, "3 more",
    ),
    "large helpers": (
        {"kl.py": "import a, b\n", "a.py": "#" * 60_000, "b.py": "#" * 60_000},
        {"kl.py": "import a, b\n", "a.py": "#" * 60_000}, "left out b.py",
    ),
    "given files of an older handout": (
        {"kl.py": "from .bandit_task import x\n", "bandit_task.py": "x"},
        {"kl.py": "from .bandit_task import x\n"}, "own version of bandit_task.py",
    ),
    "given files with a change": (
        {"kl.py": "from .given import bandit_task\n", "given/bandit_task.py": "x"},
        {"kl.py": "from .given import bandit_task\n"}, "own version of given/bandit_task.py",
    ),
    "a notebook": ({"clip.ipynb": notebook(*CELLS)}, {"clip.py": CODE}, "%matplotlib inline"),
    "a notebook called .py": (
        {"clip.py": notebook(*CELLS)}, {"clip.py": CODE}, "rename it to clip.ipynb",
    ),
    "a file of another name next to the untouched module": (
        {"clip.py": STUBS["clip.py"], "old.py": STUBS["clip.py"], "my_clip.py": CLIP}, {"clip.py": CLIP},
        "used my_clip.py as clip.py, because clip.py is as it was handed out",
    ),
    "a file of another name next to a module": ({"clip.py": CLIP, "my_clip.py": CLIP}, {"clip.py": CLIP}, ""),
    "a notebook beside its module": (
        {"clip.ipynb": notebook("x"), "clip.py": CLIP}, {"clip.py": CLIP}, "took clip.py, not clip.ipynb"
    ),
    "a notebook of another name": (
        {"kl.py": KL, "homework.ipynb": notebook(CLIP)}, {"kl.py": KL, "clip.py": NAMED},
        "used homework.ipynb as clip.py",
    ),
    "a notebook that writes two modules": (
        {"homework.ipynb": notebook("x = 1", "%%writefile starter/clip.py\n" + CLIP, "%%writefile kl.py\n" + KL)},
        {"clip.py": WRITTEN[0], "kl.py": WRITTEN[1]}, "used clip.py (written by a cell of homework.ipynb)",
    ),
    "two files of other names": (
        {"clip1.py": CLIP, "clip2.py": CLIP, "kl.py": KL}, {"kl.py": KL}, "left out clip1.py and clip2.py"
    ),
    "two modules in one file": (
        {"homework.py": CLIP + KL, "bandit.py": KL}, {"bandit.py": KL}, "defines functions of clip.py and kl.py"
    ),
    "set up for Colab": ({"kl.py": COLAB + KL}, {"kl.py": COLAB_LEFT + KL}, "drive.mount("),
    "set up for Kaggle": ({"kl.py": KAGGLE + KL}, {"kl.py": KAGGLE_LEFT + KL}, "import pandas as pd"),
    "a function twice": ({"kl.py": KL + KL}, {"kl.py": KL + KL}, "defines `kl_estimate` twice (line 1 and line 2)"),
    "a foreign package": ({"kl.py": "import torch, einops\n"}, {"kl.py": "import torch, einops\n"}, "einops (line 1)"),
    "a helper left at home": ({"kl.py": "from .my import x\n"}, {"kl.py": "from .my import x\n"}, "my (line 1)"),
    "guarded imports": ({"kl.py": GUARDED}, {"kl.py": GUARDED}, ""),
    "a merge conflict in a notebook": (
        {"kl.py": KL, "clip.ipynb": "{\n<<<<<<< HEAD\n=======\n>>>>>>> a\n"}, {"kl.py": KL}, "merge conflict (line 2)"
    ),
    "no notebook": ({"kl.py": KL, "clip.ipynb": "[" * 100_000}, {"kl.py": KL}, "clip.ipynb cannot be read"),
}  # fmt: skip


def by_grade(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """What a command line of `grade` takes."""
    parsed = parse(arguments)
    submission = cli._read(parsed, parsed.path).submission
    return submission.files, [*map(str, submission.notes)]


def by_grade_all(classroom: Path) -> tuple[dict[str, str], list[str]]:
    (found,) = find_submissions(classroom)
    contents = found.read()
    request = request_for(contents, ClassSettings(tuple(course.names())))
    return request.files, [*map(str, contents.notes)]


def by_gradescope(container: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, str], list[str]]:
    """What the command takes that the autograder starts."""
    files = autograder.make(seed=1, secret="5" * 64, exercises=course.names())
    (container / "source").mkdir()
    (container / "source" / "autograder.json").write_bytes(files["autograder.json"])
    monkeypatch.setenv("AUTOGRADER_ROOT", str(container))
    program = types.ModuleType("run_autograder")
    exec(compile(files["run_autograder"], "run_autograder", "exec"), vars(program))
    commands: list[list[str]] = []

    def refuse(command: list[str], **_: object) -> None:
        commands.append(command)
        raise OSError

    monkeypatch.setattr(program.subprocess, "Popen", refuse)
    program.main()
    ((_, _, module, *arguments),) = commands
    assert module == "grader.commands.grade"
    taken, (_, *notes) = by_grade(arguments)  # the first note says what is graded
    return taken, notes


def by_workflow(repository: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, str], list[str]]:
    steps = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["grade"]["steps"]
    (line,) = (step["run"] for step in steps if step.get("run", "").startswith("grade "))
    monkeypatch.chdir(repository)
    return by_grade(line.partition(" ||")[0].split()[1:])


@pytest.mark.parametrize("name", UPLOADS)
def test_every_entrance_takes_the_same_files_with_the_same_notes(name, tmp_path, monkeypatch):
    upload, wanted, note = UPLOADS[name]
    folder = write_files(tmp_path / "class" / "ada", upload)
    write_files(tmp_path / "container" / "submission", upload)
    found = [
        by_grade(["--path", str(folder)]),
        by_grade_all(tmp_path / "class"),
        by_gradescope(tmp_path / "container", monkeypatch),
        by_workflow(folder, monkeypatch),
    ]
    files, notes = found[0]
    assert files == wanted
    assert note in "; ".join(notes) and bool(note) == bool(notes)
    assert found == [found[0]] * 4


def test_an_archive_alone_is_graded_like_its_folder(tmp_path: Path) -> None:
    archive = tmp_path / "ada.zip"
    archive.write_bytes(zip_bytes({f"starter/{name}": text for name, text in model_files().items()}))
    assert by_grade(["--path", str(archive)]) == (model_files(), [])


@pytest.mark.parametrize("coding", ["rot13", "zlib", "hex"])
def test_a_coding_line_that_python_refuses_is_a_note(coding: str, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"kl.py": f"# coding: {coding}\n\xe9".encode("latin-1"), "clip.py": CLIP}
    _, notes = by_grade(["--path", str(write_files(tmp_path, files))])
    assert re.search(r"kl\.py has a coding line", notes[0])
