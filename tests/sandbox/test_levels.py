"""The isolation level is the best that the machine offers; a missing wall lowers it or stops the grading."""

import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from probing import run_script

from grader.sandbox import bubblewrap
from grader.sandbox.sandbox import Sandbox, missing_walls
from grader.sandbox.worker import forkserver
from grader.sandbox.worker_process import SandboxError

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")
needs_level_1 = pytest.mark.skipif(bool(missing_walls(1)), reason=f"no isolation level 1: {missing_walls(1)}")


@pytest.mark.machine
def test_the_best_level_is_the_highest_that_lacks_nothing(sandbox: Sandbox) -> None:
    assert sandbox.level == max(level for level in (0, 1, 2) if not missing_walls(level))
    assert ("namespaces" in sandbox.walls()) == (sandbox.level == 2)


def test_a_level_that_is_required_and_not_there_is_refused() -> None:
    with Sandbox.start(cold=True, require_level=1) as weak:
        for ask in (lambda: weak.level, weak.worker, weak.walls):
            with pytest.raises(SandboxError, match="isolation level 1 is required"):
                ask()


BROKEN_WALL = """
import errno, json, sys
import pyseccomp
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker_process import SandboxError

broken = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for name in json.loads(sys.argv[1]):
    broken.add_rule(pyseccomp.ERRNO(errno.ENOSYS), name)
broken.load()
found = {"worker": False, "level": None, "walls": [], "error": ""}
with Sandbox.start(**json.loads(sys.argv[2])) as sandbox:
    try:
        found["level"] = sandbox.level
        found["walls"] = sandbox.walls()
        found["worker"] = True
    except SandboxError as error:
        found["error"] = str(error)
print(json.dumps(found))
"""


def sandbox_without(calls: list[str], *, path: Path | None = None, **options: int) -> SimpleNamespace:
    """The sandbox of a kernel that lacks some system calls, or of a machine with programs in one folder only."""
    environment = {"PATH": str(path)} if path else {}
    return SimpleNamespace(**run_script(BROKEN_WALL, json.dumps(calls), json.dumps(options), **environment))


@needs_level_1
def test_a_kernel_without_landlock_offers_level_0_with_the_other_walls() -> None:
    found = sandbox_without(["landlock_create_ruleset"])
    assert (found.worker, found.level, found.error) == (True, 0, "")
    assert "seccomp" in found.walls and "Landlock" not in found.walls


@needs_level_1
def test_a_container_that_allows_no_namespace_has_level_1() -> None:
    found = sandbox_without(["mount", "unshare"])
    assert (found.worker, found.level, found.error) == (True, 1, "")


def stand_in(folder: Path, script: str) -> None:
    """A program that takes the name of bubblewrap."""
    (folder / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bwrap").chmod(0o755)


@pytest.mark.proof
@needs_level_1
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("", ""),
        (  # it runs the probe only, as if torch needed a folder that is missing inside
            'case "$*" in *"-c import"*) exit 0;; *) echo "no libtorch here" >&2; exit 1;; esac',
            "no libtorch here",
        ),
    ],
    ids=["missing", "no torch inside"],
)
def test_without_a_working_bubblewrap_there_is_level_1(tmp_path: Path, script: str, why: str) -> None:
    if script:
        stand_in(tmp_path, script)
    found = sandbox_without([], path=tmp_path)
    assert (found.worker, found.level, found.error) == (True, 1, "")
    if why:
        found = sandbox_without([], path=tmp_path, require_level=2)
        assert not found.worker
        assert why in found.error


@pytest.mark.skipif(bool(missing_walls(2)), reason=f"no isolation level 2: {missing_walls(2)}")
def test_an_older_bubblewrap_works_too(tmp_path: Path) -> None:
    real = shutil.which(bubblewrap.PROGRAM)
    stand_in(tmp_path, f'case "$*" in *--size*) echo "unknown option" >&2; exit 1;; *) exec {real} "$@";; esac')
    found = sandbox_without([], path=tmp_path, require_level=2)
    assert (found.worker, found.level, found.error) == (True, 2, "")


@pytest.mark.machine
@linux_only
@pytest.mark.parametrize(
    ("script", "why"), [("", "is not installed"), ("echo 'no permission' >&2; exit 1", "(no permission)")]
)
def test_missing_walls_include_the_problem_of_bubblewrap(tmp_path, monkeypatch, script, why):
    if script:
        stand_in(tmp_path, script)
    monkeypatch.setenv("PATH", str(tmp_path))
    bubblewrap._tried_options.cache_clear()
    assert [reason for reason in missing_walls(2) if why in reason]
    bubblewrap._tried_options.cache_clear()


def test_a_course_that_is_installed_among_the_libraries_cannot_be_read(tmp_path, monkeypatch):
    # Without a virtual environment: the folder of the packages lies in that of the standard library.
    packages = tmp_path / "lib" / "site-packages"
    for name in ("grader", "reference", "torch", "grpo_course-0.1.0.dist-info"):
        (packages / name).mkdir(parents=True)
    (packages.parent / "json.py").touch()
    (packages.parent / "dangling").symlink_to("nowhere")
    monkeypatch.setattr(sys, "path", [str(packages.parent), str(packages)])
    below = {path for path in forkserver.readable_paths() if path.startswith(str(tmp_path))}
    assert below == {str(packages.parent / "json.py"), str(packages / "torch")}


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root has spare users")
def test_fork_servers_in_namespaces_of_their_own_do_not_share_a_user() -> None:
    # In a namespace each of them has the same process id.
    assert len({forkserver.spare_user([]) for _ in range(20)}) > 1
