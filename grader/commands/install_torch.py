"""`python -m grader.commands.install_torch`: installs PyTorch before the rest of the course, without CUDA.

On Linux, PyPI's build of torch brings CUDA along, gigabytes that nothing here needs. PyTorch's own index has builds
without. This takes the version in constraints.txt from there, and says how much there is to download. If that index
cannot be reached, it says so and leaves torch to the next step, which takes PyPI's build.

`make` calls it. It runs before anything is installed: standard library only, and pip, or uv where there is no pip.
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
    """Install torch or leave it to the next step; both end with 0."""
    parser = argparse.ArgumentParser(
        prog="python -m grader.commands.install_torch", description="Install PyTorch without CUDA."
    )
    parser.add_argument("--cuda", action="store_true", help="leave PyTorch to PyPI, whose build for Linux has CUDA")
    parser.add_argument("--index", default=CPU_INDEX, metavar="URL", help="another index of builds without CUDA")
    chosen = parser.parse_args(arguments)
    if is_installed():
        _say("PyTorch is installed already.")
    elif sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        _say(f"Installing: {SMALL}.")  # PyPI has no build with CUDA for these
    elif chosen.cuda:
        _say(f"Installing, with PyTorch for CUDA: {LARGE}.")
    elif not answers(chosen.index):
        _say(f"PyTorch's own index cannot be reached; taking PyPI's build, which may bring CUDA along: {LARGE}.")
    else:
        _say(f"Installing, with PyTorch without CUDA: {SMALL}.")
        if not installs(chosen.index):
            _say(f"That did not work; taking PyPI's build of PyTorch, which may bring CUDA along: {LARGE}.")
    return 0


def is_installed() -> bool:
    """Whether the version of constraints.txt is here; "+cpu" behind it says which build it is."""
    try:
        version, _, _ = importlib.metadata.version("torch").partition("+")
    except importlib.metadata.PackageNotFoundError:
        return False
    return f"torch=={version}" in CONSTRAINTS.read_text("utf-8").split()


def answers(index: str) -> bool:
    """Whether an index has torch; pip itself would try for minutes."""
    try:
        with urllib.request.urlopen(f"{index.rstrip('/')}/torch/", timeout=_ANSWER_SECONDS):
            return True
    except (OSError, HTTPException, ValueError):  # no network, no such host, no page, no HTTP, no address
        return False


def installs(index: str) -> bool:
    """Install torch alone: what it needs comes from PyPI with the rest, in the versions of constraints.txt."""
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
