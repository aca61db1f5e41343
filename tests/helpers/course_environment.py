"""A fresh virtual environment that sees the installed packages, but not the course: for tests that install a copy.

And the command `course` on a disk that gets full.
"""

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


def course_on_a_full_disk(*arguments: object, free: int) -> subprocess.CompletedProcess[str]:
    """`course`, where no file gets longer than so many bytes; a system that is asked for more says that it cannot."""
    script = (
        "import resource, sys\n"
        "from grader.commands import course\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))\n"
        "sys.exit(course.main(sys.argv[2:]))\n"
    )
    command = [sys.executable, "-B", "-c", script, str(free), *map(str, arguments)]
    return subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)


def install(commands: Path, course: Path) -> None:
    """Install a copy of the course as its README says, without the network."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    command = [str(commands / "python"), "-m", "pip", "install", *options, "-c", "constraints.txt", "-e", "."]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sys.prefix not in done.stdout
