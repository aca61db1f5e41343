"""The folder of a worker: what may be written there, what stays of it, and what a student reads of everything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from probing import death_of, error_of, probe, value_of

from grader.grading.meanings import what_was_raised
from grader.sandbox.sandbox import Sandbox, missing_walls
from grader.sandbox.worker.home import MAX_BYTES, MAX_FILES, VARIABLES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fork server and the walls are those of Linux")

KINDS: dict[str, dict[str, Any]] = {"cold": {"cold": True}, **{f"level {n}": {"level": n} for n in range(3)}}
BEST = f"level {max(level for level in range(3) if not missing_walls(level))}"


@pytest.fixture(
    scope="module", params=[pytest.param(kind, marks=[pytest.mark.proof] * (kind != BEST)) for kind in KINDS]
)
def here(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Sandbox]:
    """Workers of every kind."""
    if request.param == BEST:
        yield sandbox
        return
    asked = KINDS[request.param]
    if missing := missing_walls(asked.get("level", 0)):
        pytest.skip("; ".join(missing))
    with Sandbox.start(**asked) as sandbox:
        yield sandbox


def story_of(sandbox: Sandbox, source: str) -> str:
    error = error_of(sandbox, source)
    return what_was_raised(error.type, error.message)


PLOT = """
import matplotlib.pyplot as plt
import matplotlib, os
def f(x):
    plt.plot([1, 2])
    plt.savefig("curve.png")
    return [matplotlib.get_backend().lower(), open("curve.png", "rb").read(4)[1:].decode(), os.listdir(".")]
"""


def test_a_module_that_imports_pyplot_draws_into_its_own_folder(here: Sandbox) -> None:
    pytest.importorskip("matplotlib")
    backend, signature, files = value_of(here, PLOT)
    assert (backend, signature) == ("agg", "PNG")
    assert "curve.png" in files


def test_libraries_find_the_folder_and_it_is_the_current_one(here: Sandbox) -> None:
    source = f"""
import os, tempfile
def f(x):
    with tempfile.NamedTemporaryFile("w") as file:
        places = {{os.environ[name] for name in {VARIABLES!r}}} | {{os.getcwd(), os.path.dirname(file.name)}}
    with open("note.txt", "w") as file:
        file.write("first")
    with open("note.txt", "a") as file:
        file.write(" and second")
    os.replace("note.txt", "moved.txt")
    text = open("moved.txt").read()
    os.unlink("moved.txt")
    return [len(places), text, os.listdir(".")]
"""
    assert value_of(here, source) == [1, "first and second", []]


WRITES = 'import os\nopen("left.txt", "w").write("x")\ndef f(x): return os.path.abspath("left.txt")'


def test_a_worker_gets_an_empty_folder_and_nothing_stays_of_the_one_before(here: Sandbox) -> None:
    left = value_of(here, WRITES)
    # The next worker has been forked already, and the folder of the first is removed while this one looks.
    look = f"""
import os, time
def f(x):
    for _ in range(300):
        if os.path.exists({left!r}):
            time.sleep(0.01)
    return [os.listdir("."), os.path.exists({left!r}), os.getcwd()]
"""
    files, is_there, folder = value_of(here, look)
    assert (files, is_there) == ([], False)
    assert folder != os.path.dirname(left)


def test_two_workers_at_a_time_do_not_reach_each_others_folder(here: Sandbox) -> None:
    if here.level < 1:
        pytest.skip("nothing confines a worker at level 0")
    with probe(here, WRITES) as first:
        left = first.f(1).value
        for what in (f"open({left!r})", f"open({left!r}, 'w')", f"os.unlink({left!r})", f"os.listdir({left[:-9]!r})"):
            assert "PermissionError" in story_of(here, f"import os\ndef f(x): {what}")


@pytest.mark.parametrize(
    ("does", "sentence"),
    [
        ("open('/tmp/curve.png', 'w')", "outside of its own folder"),
        ("os.mkdir('plots')", "make a folder"),
        ("open('/home/me/curve.png', 'w')", "a file that does not exist"),
        ("urllib.request.urlopen('http://weights.invalid/')", "download"),
        ("os.symlink('/etc/passwd', 'passwd')", "outside of its own folder"),
    ],
)
def test_what_a_worker_may_not_do_is_one_plain_sentence(here: Sandbox, does: str, sentence: str) -> None:
    if here.level < 1:
        pytest.skip("nothing confines a worker at level 0")
    assert sentence in story_of(here, f"import os, urllib.request\ndef f(x): {does}")


def test_a_compiled_program_is_named_in_a_plain_sentence() -> None:
    for kind in ("InductorError", "BackendCompilerFailed"):
        assert "torch.compile starts a compiler" in what_was_raised(kind, "PermissionError: Operation not permitted")


@pytest.mark.proof  # eight seconds until torch finds out
def test_torch_compile_still_raises_one_of_these_errors(here: Sandbox) -> None:
    if here.level < 1:
        pytest.skip("nothing confines a worker at level 0")
    source = "import torch\ndef f(x): return torch.compile(lambda x: x + 1)(torch.ones(1))"
    assert "torch.compile starts a compiler" in story_of(here, source)


@pytest.mark.parametrize(
    ("times", "line"),
    [(24, f"open(str(n), 'wb').write(bytes({MAX_BYTES // 16}))"), (2 * MAX_FILES, "open(str(n), 'w').close()")],
    ids=["bytes", "files"],
)
def test_a_worker_that_fills_its_folder_is_ended_and_the_next_one_is_fine(here: Sandbox, times: int, line: str) -> None:
    if here.cold:
        pytest.skip("a cold worker's folder has no limit")
    source = f"import time\ndef f(x):\n    for n in range({times}): {line}\n    time.sleep(60)"
    assert "more than 64 MB, or 256 files" in death_of(here, source).death.detail
    assert value_of(here, "import os\ndef f(x): return os.listdir('.')") == []
