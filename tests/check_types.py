"""Run mypy on the grader, the tests, and the model answers together with the code that students are given.

`reference/` finds given code in `starter/` when it is imported, which mypy does not follow; so both are put together in
`build/types/reference` first, where every module lies in the package that it runs in.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPOSED = ROOT / "build" / "types"
FOLDERS = ("grader", ".ci/site_steps", "tests", str(COMPOSED))


def compose() -> None:
    """Put the model answers and the given code into one package; a file that has not changed is left alone."""
    answers = {path.name: path for path in (ROOT / "reference").glob("*.py")}
    given = [path for path in (ROOT / "starter").rglob("*.py") if path.name not in answers]
    files = answers | {path.relative_to(ROOT / "starter").as_posix(): path for path in given}
    for name, path in files.items():
        copy = COMPOSED / "reference" / name
        if not copy.is_file() or copy.read_bytes() != path.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    for copy in COMPOSED.rglob("*.py"):
        if copy.relative_to(COMPOSED / "reference").as_posix() not in files:
            copy.unlink()


if __name__ == "__main__":
    compose()
    command = [sys.executable, "-m", "mypy", "--num-workers", "auto", *FOLDERS, *sys.argv[1:]]
    sys.exit(subprocess.run(command, cwd=ROOT).returncode)
