"""Our commands, called as functions: what a test needs that asks what a command says, and not how a process ends.

A process costs 1.4 CPU seconds before it does anything, and 1.8 more where it imports torch. Here the command runs in
the test's own process, and the submission in the workers of the one sandbox that all tests share. What only a process
can show (signals, terminals, the import path, what is left behind) is for a few tests with a real one: each command and
each way of ending has one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
from hypothesis import settings

from grader.commands import grade as grade_command
from grader.core import course
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import replaced

Command = Callable[..., subprocess.CompletedProcess[str]]
"""A command of ours, with its arguments."""

_CHANGING = ("PYTHON", "PYTEST", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM", "CI")


def environment(**more: str) -> dict[str, str]:
    """Ours without what changes an interpreter, a terminal or pytest; then `more`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_CHANGING)}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", **more}


def start(*arguments: object, cwd: Path, **variables: str) -> subprocess.Popen[str]:
    """`grade` in a process and a session of its own, which gets signals as from a terminal."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "grader.commands.grade", *map(str, arguments)],
        cwd=cwd,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def call(
    main: Callable[[Sequence[str]], int],
    *arguments: object,
    cwd: Path,
    sandbox: Sandbox | None = None,
    encoding: str = "utf-8",
    is_terminal: bool = False,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Call the `main` of a command as its process would, and return what a process would.

    Args:
        main: Takes the arguments and returns the exit code, or exits.
        arguments: Of the command line.
        cwd: Where the command believes to be started.
        sandbox: Warm; used instead of each sandbox that would be like it, for one exercise after the other unless
            `--jobs` says something else. Without it every sandbox is a new one.
        encoding: Of the two streams that the command writes to.
        is_terminal: What these streams say when they are asked whether they are one.
        variables: Of the environment, beside the usual ones.
    """
    written = {name: _Stream(encoding, is_terminal=is_terminal) for name in ("stdout", "stderr")}
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, environment(**variables), clear=True))
        stack.enter_context(contextlib.chdir(cwd))
        stack.enter_context(contextlib.redirect_stdout(written["stdout"]))
        stack.enter_context(contextlib.redirect_stderr(written["stderr"]))
        stack.enter_context(mock.patch.object(sys, "stdin", stack.enter_context(open(os.devnull, encoding="utf-8"))))
        stack.callback(settings.load_profile, settings.get_current_profile_name())  # a grading loads its own
        if sandbox is not None:
            stack.enter_context(mock.patch.object(Sandbox, "start", _sharing(sandbox)))
            stack.enter_context(mock.patch.object(grade_command, "cores", return_value=1))
        try:
            code: Any = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
            if isinstance(code, str):
                print(code, file=sys.stderr)
                code = 1
    texts = {name: stream.text() for name, stream in written.items()}
    return subprocess.CompletedProcess([*map(str, arguments)], code or 0, texts["stdout"], texts["stderr"])


def wrong_answer(folder: Path, exercise: str, function: str, text: str) -> Path:
    """Write the model answers to an exercise with one function replaced by the last function of a text."""
    folder.mkdir(parents=True, exist_ok=True)
    name = re.findall(r"^def (\w+)", text, re.M)[-1]
    for file, module in replaced(exercise, function, name, text).files.items():
        (folder / file).write_text(module, "utf-8")
    return folder


def valid_result(path: Path) -> dict[str, Any]:
    """A result that a command wrote, which must fit the schema."""
    result: dict[str, Any] = json.loads(path.read_text("utf-8"))
    schema = json.loads((course.GRADER / "core" / "result.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(result)
    return result


def document(path: Path) -> dict[str, Any]:
    """A result that a command wrote, without what may differ between two gradings: how long each check took."""
    return without_times(path.read_text("utf-8"))


def without_times(result: str) -> dict[str, Any]:
    """A result as JSON, without what may differ between two gradings: how long each check took."""
    found: dict[str, Any] = json.loads(result)
    for exercise in found["exercises"]:
        for check in exercise["checks"]:
            check["seconds"] = 0
    return found


class _Stream(io.TextIOWrapper):
    """A standard stream that remembers what was written to it."""

    def __init__(self, encoding: str, *, is_terminal: bool) -> None:
        self._bytes, self._is_terminal = io.BytesIO(), is_terminal
        super().__init__(self._bytes, encoding=encoding, newline="\n", write_through=True)

    def isatty(self) -> bool:
        return self._is_terminal

    def text(self) -> str:
        self.flush()
        return self._bytes.getvalue().decode(self.encoding, "replace")


def _sharing(shared: Sandbox) -> Callable[..., contextlib.AbstractContextManager[Sandbox]]:
    """Gives the shared sandbox to who asks for one like it, and does not let them close it."""
    real = Sandbox.start

    @contextlib.contextmanager
    def lent() -> Iterator[Sandbox]:
        yield shared

    def start(**options: Any) -> contextlib.AbstractContextManager[Sandbox]:
        usual = {"cold": False, "device": "cpu", "level": None}
        asked = {**usual, "require_level": 0, **options}
        if asked["require_level"] <= shared.level and all(asked[name] == value for name, value in usual.items()):
            return lent()
        return real(**options)

    return start
