"""The process that grades exercises for `parallel.run`: what to do comes through its input, what it found goes out.

    python -m grader.grading.helper_process

It ends with everything that it started as soon as its input closes, also in the middle of an exercise: whoever asked is
gone. Messages are pickles, because only the process that started it holds the other end.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import sys
import threading
from typing import Any, BinaryIO

from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import SandboxError


def main() -> int:
    """Grade until the input ends. Exit code 3: there are no workers to be had."""
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with os.fdopen(os.dup(1), "wb") as answers, contextlib.suppress(BrokenPipeError):
        os.dup2(2, 1)  # whatever a library prints must not come between the answers
        options = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_read, args=(messages,), daemon=True).start()
        try:
            with Sandbox.start(**options) as sandbox:  # imports torch while this process imports what follows
                _serve(sandbox, messages, answers)
        except SandboxError:
            return 3
    return 0


def _read(messages: queue.SimpleQueue[Any]) -> None:
    while True:
        try:
            messages.put(pickle.load(sys.stdin.buffer))
        except (EOFError, pickle.UnpicklingError):
            break
    from . import plugin

    plugin.forget_examples()
    os._exit(0)  # the fork server notices and takes its workers along


def _serve(sandbox: Sandbox, messages: queue.SimpleQueue[Any], answers: BinaryIO) -> None:
    from . import parallel, run  # noqa: F401  while torch is imported next door

    def say(message: object) -> None:
        pickle.dump(message, answers)
        answers.flush()

    say((*sandbox.walls(),))
    while True:
        job = messages.get()
        grading = _plugin(job, sandbox, say)
        while (name := messages.get()) is not None:
            say(_graded(grading, name))


def _plugin(job: Any, sandbox: Sandbox, say: Any) -> Any:
    """The plugin that a job describes."""
    from dataclasses import replace

    from . import plugin
    from .settings import declared_checks

    plugin.use_profile(job.examples)
    settings = job.settings
    declared = declared_checks(settings.exercises, hidden=settings.with_hidden_checks)
    grading = plugin.GradingPlugin(
        settings=replace(settings, start=sandbox.worker, checks={name: declared[name] for name in job.checks}),
        result=job.result,
        on_update=lambda _, entry: say(entry),
        wrong=job.wrong,
        found=job.found,
    )
    grading.wall_clock.seconds = job.wall_seconds
    return grading


def _graded(grading: Any, name: str) -> Any:
    """Run the checks of one exercise."""
    from . import parallel, plugin, run

    grading.found = plugin.Findings(odd_dtypes=grading.found.odd_dtypes, silent=grading.found.silent)
    status = run.run_checks_of(grading, [name])
    (exercise,) = (each for each in grading.result.exercises if each.name == name)
    return parallel.Graded(int(status), grading.found, exercise.not_imported, grading.wall_clock.seconds)


if __name__ == "__main__":
    sys.exit(main())
