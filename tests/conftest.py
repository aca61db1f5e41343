"""What several test files share: one sandbox for the whole run, and folders in the shape of a submission.

The folder of a test is the share of the budget that pays for it. In `pure/` nothing starts a process.
"""

import os
import random
import signal
import sys
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

# Before anything of the course is imported; processes that tests start inherit it. `course.toml` is the instructor's.
os.environ["COURSE_FILE_OF_TESTS"] = "tests/course.toml"

import pytest
from hypothesis import settings
from site_fixtures import browser, open_page, site, site_folder
from submissions import SubmissionMaker, model_answer

from grader.core import course, secret
from grader.grading import hypothesis_profile
from grader.grading.check import checks_of
from grader.sandbox.sandbox import Sandbox, missing_walls

__all__ = ["browser", "open_page", "site", "site_folder"]  # fixtures of tests in a real browser

# As many tests run at a time as there are cores; threads of torch beside them would only wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"

# Whoever was started in the background by a shell ignores Ctrl-C, and so does all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Looking for libseccomp and trying bubblewrap start programs, once for each process: here, and not in a pure test.
missing_walls(2)

# A check takes the profile of the moment in which it is imported, so all of them are imported here, with few inputs.
# Our own properties use the same inputs in every run.
_usual = settings.get_profile("default")
hypothesis_profile.use_profile(hypothesis_profile.WATCH_INPUTS)
for _exercise in course.EXERCISES:
    checks_of(_exercise.name, hidden=True)
for _name, _examples in (("landing", 25), ("nightly", 100)):
    settings.register_profile(_name, _usual, max_examples=_examples, derandomize=True, database=None, deadline=None)
_profile = "landing"


def pytest_configure(config: pytest.Config) -> None:
    """`--hypothesis-profile nightly` tries more inputs."""
    global _profile
    _profile = config.getoption("--hypothesis-profile") or _profile
    settings.load_profile(_profile)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts no process is part of `make check`."""
    for item in items:
        if item.path.parent.name == "pure":
            item.add_marker(pytest.mark.check)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Workers of the best isolation level that this machine offers."""
    with Sandbox.start() as best:
        yield best


_STARTS_A_PROCESS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")
_must_not_start = ""


def _on_event(event: str, _: object) -> None:
    if _must_not_start and event in _STARTS_A_PROCESS:
        raise AssertionError(f"{_must_not_start} starts a process ({event}); it belongs in another folder than pure/")


sys.addaudithook(_on_event)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """In `pure/` nothing starts a process, and each test begins with our profile, whatever the one before graded.

    A class secret that is made in this process is the same in every run.
    """
    global _must_not_start
    settings.load_profile(_profile)
    _must_not_start = item.nodeid if item.path.parent.name == "pure" else ""
    drawn = random.Random(item.nodeid)
    same_each_time = SimpleNamespace(token_hex=lambda size: drawn.randbytes(size).hex())
    try:
        with mock.patch.object(secret, "secrets", same_each_time):
            return (yield)
    finally:
        _must_not_start = ""


@pytest.fixture(scope="session", params=["best level", pytest.param("level 1", marks=pytest.mark.proof)])
def walled_sandbox(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Sandbox]:
    """Workers of the best level of this machine; in the proof once more those of level 1, where that is another one."""
    if missing := missing_walls(1):
        pytest.skip(f"no isolation level 1: {'; '.join(missing)}")
    if request.param == "best level":
        yield sandbox
        return
    if sandbox.level == 1:
        pytest.skip("level 1 is the best level here")
    with Sandbox.start(level=1) as walled:
        yield walled


@pytest.fixture
def make_submission(tmp_path: Path) -> SubmissionMaker:
    """Makes a folder of files from their texts.

    Graded modules that are not given are the model answers; None leaves a module out.
    """

    def make(files: Mapping[str, str | bytes | None]) -> Path:
        folder = tmp_path / "homework"
        folder.mkdir(exist_ok=True)
        answers = {exercise.file_name: model_answer(exercise.name) for exercise in course.EXERCISES}
        for name, text in {**answers, **files}.items():
            if text is not None:
                (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return folder

    return make
