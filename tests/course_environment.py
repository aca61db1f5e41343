"""A fresh virtual environment that sees the installed packages, but not the course: for tests that install a copy."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


def make_environment(folder: Path) -> Path:
    """Make it and return its folder of commands. The packages come through a path file, which loads no other one."""
    venv.create(folder, symlinks=os.name != "nt", with_pip=False)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    question = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = subprocess.run([commands / "python", "-c", question], capture_output=True, text=True, check=True).stdout
    Path(own.strip(), "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return commands


def install(commands: Path, course: Path) -> None:
    """Install a copy of the course as its README says, without the network."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    command = [commands / "python", "-m", "pip", "install", *options, "-c", "constraints.txt", "-e", "."]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sys.prefix not in done.stdout
