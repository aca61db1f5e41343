"""`python -m grader.commands.install_torch`: install PyTorch without CUDA, before the rest of the course.

On Linux, PyPI's build of torch includes CUDA, gigabytes that the course does not need. PyTorch's own index has builds
without CUDA. This command installs the version in constraints.txt from there, and says how much it downloads. If it
cannot reach that index, it says so and leaves torch to the next step, which takes PyPI's build.

`make` calls it. It runs before anything is installed, so it uses only the standard library and pip, or uv without pip.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"
_ANSWER_SECONDS = 5

SMALL = "about 250 MB to download, a few minutes"
LARGE = "about 3 GB to download, 10 minutes or more"


def main(arguments: Sequence[str] | None = None) -> int:
    """Install torch or leave it to the next step; the exit code is 0 either way."""
    parser = argparse.ArgumentParser(
        prog="python -m grader.commands.install_torch", description="Install PyTorch without CUDA."
    )
    parser.add_argument("--cuda", action="store_true", help="leave PyTorch to PyPI, whose Linux build includes CUDA")
    parser.add_argument("--index", default=CPU_INDEX, metavar="URL", help="use another index of builds without CUDA")
    chosen = parser.parse_args(arguments)
    if is_installed():
        _say("PyTorch is installed already.")
    elif sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        _say(f"Installing: {SMALL}.")  # PyPI has no build with CUDA for these
    elif chosen.cuda:
        _say(f"Installing the course and PyTorch with CUDA: {LARGE}.")
    elif not answers(chosen.index):
        _say(f"Cannot reach PyTorch's own index. Installing PyPI's build instead, which may include CUDA: {LARGE}.")
    else:
        _say(f"Installing the course and PyTorch without CUDA: {SMALL}.")
        if not installs(chosen.index):
            _say(f"That failed. Installing PyPI's build of PyTorch instead, which may include CUDA: {LARGE}.")
    return 0


def is_installed() -> bool:
    """Whether the version in constraints.txt is installed; a "+cpu" after it only names the build."""
    try:
        version, _, _ = importlib.metadata.version("torch").partition("+")
    except importlib.metadata.PackageNotFoundError:
        return False
    return f"torch=={version}" in CONSTRAINTS.read_text("utf-8").split()


def answers(index: str) -> bool:
    """Whether an index has torch, because pip itself would try for minutes."""
    try:
        with urllib.request.urlopen(f"{index.rstrip('/')}/torch/", timeout=_ANSWER_SECONDS):
            return True
    except (OSError, HTTPException, ValueError):  # no network, no such host, no page, no HTTP, no address
        return False


def installs(index: str) -> bool:
    """Install only torch: its dependencies come from PyPI with the rest, in the versions of constraints.txt."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    if importlib.util.find_spec("pip") is None:
        command = [os.environ.get("UV", "uv"), "pip", "install", "--python", sys.executable]
    command += ["--quiet", "--no-deps", "--constraint", str(CONSTRAINTS), "--index-url", index, "torch"]
    try:
        return subprocess.run(command, check=False).returncode == 0
    except OSError:
        return False


def _say(sentence: str) -> None:
    print(sentence, flush=True)


if __name__ == "__main__":
    sys.exit(main())
