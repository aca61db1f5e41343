"""Runs attacks in real grading processes of one isolation level, and says what each of them did."""

from __future__ import annotations

import os
import secrets
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..classroom.grading_job import GradingProcess, GradingProcessDied, make_job
from ..classroom.request import Settings
from ..core import course
from ..core.contents import Contents
from ..core.result import PASSED, Result
from ..core.submission import Submission
from ..sandbox.worker import confine
from ..sandbox.worker_process import SandboxError
from .attack import Attack, Harm, submission
from .family import descendants, end, settled
from .finding import Finding, finding_of
from .neighbor import GRADED, is_changed, neighbor
from .yard import Yard, settings_of

EXAMPLES = 2
"""Inputs for every law: an attack shows at the first one what it can do."""
_START = """
from grader.classroom import grading_process
from grader.core import course

course.CALL_SECONDS = float({!r})
grading_process.main()
"""

HARMLESS = Attack("answers rightly", "It is no attack.", "return honest(rewards)", verdict=PASSED)


class Trial:
    """One isolation level, with its grading process. A context manager.

    Args:
        level: Run at this level.
        call_seconds: Time limit of a call, where it is not the course's own.
        together: Grade an honest neighbor at the same time, in a second grading process.

    Raises:
        SandboxError: this machine does not offer the level, or grades nothing at all.
    """

    def __init__(self, level: int, *, call_seconds: float | None = None, together: bool = False) -> None:
        if sys.platform != "linux":
            raise SandboxError("the attacks are written for Linux, and look into /proc")
        self._level, self._call_seconds, self._together = level, call_seconds, together
        self._secret = secrets.token_hex(16)
        self._settings = Settings(GRADED, examples=EXAMPLES, level=level, require_level=level)
        confine.adopt_orphans()  # whoever loses its parent becomes a child of this process, and is seen
        self._before = descendants()
        self._start()

    def run(self, attacks: Iterable[Attack]) -> Iterator[Finding]:
        """Make the attacks, one after the other."""
        for attack in attacks:
            finding = self._attacked(attack)
            hurt = {Harm.GRADER_FAILED, Harm.PROCESS_LEFT, Harm.NEIGHBOR_CHANGED} & {*finding.harms}
            if hurt or settings_of(self._grading.pid) != self._grader:
                self.close()
                self._start()
            yield finding

    def close(self) -> None:
        """End the grading processes and whatever attacks have left."""
        self._grading.close()
        if self._beside:
            self._beside.close()
        end(descendants() - self._before)

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        limit = () if self._call_seconds is None else ("-c", _START.format(self._call_seconds))
        environment = {**os.environ, "GRADER_SECRET": self._secret}
        self._grading = GradingProcess(*limit, environment=environment)
        self._beside = GradingProcess(environment=environment) if self._together else None
        self._grader = settings_of(self._grading.pid)
        self._usual = sys.maxsize
        first = self._attacked(HARMLESS)
        if first.level != self._level or first.verdict != PASSED:
            self.close()
            raise SandboxError(first.sentence)
        # The first grading imports; then the number of processes is the one that it always comes back to. Half a second
        # without a change: the worker that waits for the next grading may not have been forked yet.
        self._usual = settled(sys.maxsize, calm=25)
        if found := self._attacked(HARMLESS).harms:
            self.close()
            raise SandboxError(f"a submission without any attack seems to have done harm: {', '.join(found)}")

    def _attacked(self, attack: Attack) -> Finding:
        harms: set[Harm] = set()
        said = ""
        with Yard(self._secret, self._grading.pid) as yard:
            for number in range(1, attack.rounds + 1):
                seconds = self._call_seconds or course.CALL_SECONDS
                addresses = {**yard.addresses(), "limit": seconds, "round": number}
                beside = _Beside(self._beside, self._settings)
                result = self._graded(submission(attack, addresses), attack.exercises)
                if beside.is_changed():
                    harms.add(Harm.NEIGHBOR_CHANGED)
                said += result.as_json()
            harms |= yard.harms(said)
            victims = 1
            if settled(self._usual + victims) > self._usual + victims:
                harms.add(Harm.PROCESS_LEFT)
        return finding_of(attack, result, harms)

    def _graded(self, submission: Submission, exercises: tuple[str, ...]) -> Result:
        settings = replace(self._settings, exercises=exercises)
        try:
            return self._grading.grade(make_job(Contents(submission, b""), settings).data)
        except GradingProcessDied as death:
            return Result("", "", 0, "cpu", [], "", isolation_level=self._level, problem=str(death))


class _Beside:
    """A neighbor that is being graded from now on, if there is a grading process for it."""

    def __init__(self, grading: GradingProcess | None, settings: Settings) -> None:
        self._grading = grading
        self._result: Result | None = None
        self._job = make_job(Contents(neighbor(), b""), settings).data
        self._thread = threading.Thread(target=self._grade)
        self._thread.start()

    def _grade(self) -> None:
        if self._grading:
            try:
                self._result = self._grading.grade(self._job)
            except GradingProcessDied:
                self._result = None

    def is_changed(self) -> bool:
        """Whether it lost points, once its grading has ended."""
        self._thread.join()
        return self._grading is not None and is_changed(self._result)
