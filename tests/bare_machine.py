"""Runs a command as on a bare machine: no Node.js, no browser, no bubblewrap, no Docker, and an unusual environment.

    python tests/bare_machine.py python -m pytest -q -m machine

The command finds every other program, but its locale is C, its time zone Asia/Kolkata, its terminal 60 columns wide,
its home read-only, and its temporary folder has a space and an umlaut in its name. Started by root on Linux, it runs as
an ordinary user without a network.
"""

from __future__ import annotations

import fnmatch
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("helpers")))
from ordinary_user import as_ordinary_user

HIDDEN = (
    "bwrap",
    "chrom*",
    "docker*",
    "firefox*",
    "google-chrome*",
    "MiniBrowser",
    "node*",
    "np[mx]",
    "WebKitWebDriver",
)
"""Programs that a fresh machine may lack, as patterns of their names."""


def visible_programs(folder: Path) -> str:
    """Link every program of PATH but the hidden ones into a folder, and return the new PATH."""
    own = Path(sys.executable).parent  # links would hide from an interpreter which environment it belongs to
    for path in map(Path, os.get_exec_path()):
        if path == own or not path.is_dir():
            continue
        for program in path.iterdir():
            link = folder / program.name
            if not link.is_symlink() and not any(fnmatch.fnmatchcase(program.name, pattern) for pattern in HIDDEN):
                link.symlink_to(program)
    return f"{own}{os.pathsep}{folder}"


def environment(folder: Path) -> dict[str, str]:
    """The environment variables of a bare machine, whose folders are made in the given one."""
    programs, home, temporary, aside = (folder / name for name in ("bin", "home", "Übung 1", "aside"))
    for made in (programs, home, temporary, aside):
        made.mkdir()
    temporary.chmod(stat.S_ISVTX | 0o777)
    home.chmod(0o555)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "XDG_"))}
    unusual = {"LANG": "C", "LC_ALL": "C", "TZ": "Asia/Kolkata", "COLUMNS": "60"}
    unusual["PYTEST_ADDOPTS"] = f"-o 'cache_dir={temporary}/cache'"  # the course's own folder may be read-only
    return {**kept, **unusual, "HOME": str(home), "TMPDIR": str(temporary), "PATH": visible_programs(programs)}


def main(command: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    if not command:
        print(__doc__, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # not without removing the folder
    with tempfile.TemporaryDirectory(prefix="bare-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        variables = environment(folder)
        # In CI a missing program is an error; here it is missing on purpose.
        variables.pop("CI", None)
        become = as_ordinary_user(folder / "aside", network=False)
        return subprocess.run([*become, *command], env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
