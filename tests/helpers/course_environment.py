"""A fresh virtual environment that sees the installed packages, but not the course: for those who install a copy.

And the files of a commit, and the command `course` on a disk that gets full.
"""

import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

from grader.sandbox.interpreter import library_folders

_ROOT = Path(__file__).resolve().parents[2]


def copy_commit(commit: str, folder: Path) -> None:
    """Write the files of a commit of this checkout into a folder."""
    archive = folder.with_suffix(".tar")
    subprocess.run(["git", "archive", "--output", archive, commit], cwd=_ROOT, check=True)
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="tar")


def make_environment(folder: Path) -> Path:
    """Make it and return its folder of commands. The packages come through a path file, which loads no other one."""
    venv.create(folder, symlinks=os.name != "nt", with_pip=False)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    question = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = subprocess.run([commands / "python", "-c", question], capture_output=True, text=True, check=True).stdout
    # Not only this environment's own folder: where this function made the environment, that folder holds no package.
    folders = [*map(str, library_folders())]
    # In ASCII, because a path file is read in the encoding of the locale.
    Path(own.strip(), "packages.pth").write_text(f"import sys; sys.path.extend({folders!a})\n", "ascii")
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
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)


def install(commands: Path, course: Path) -> None:
    """Install a copy of the course as its README says, without the network."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    where = ["-c", "course/constraints.txt", "-e", "./course"] if (course / "course").is_dir() else ["-e", "."]
    command = [str(commands / "python"), "-m", "pip", "install", *options, *where]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sys.prefix not in done.stdout
