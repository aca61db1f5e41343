"""Runs attacks in real grading processes of one isolation level, and says what each of them did."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..classroom.grading_job import GradingProcess, GradingProcessDied, make_job
from ..classroom.request import Settings
from ..core import course
from ..core.contents import Contents
from ..core.result import GRADER_ERROR, NOT_RUN, PASSED, CheckResult, Result
from ..sandbox.worker import confine
from ..sandbox.worker_process import SandboxError
from .attack import BESIDE, EXERCISE, FUNCTION, Attack, Harm, submission
from .yard import Yard, settings_of

EXAMPLES = 2
"""Inputs for every law: an attack shows at the first one what it can do."""
_END_SECONDS = 10.0
"""So long a killed process may take to end on a busy machine; what an attack leaves lives for 30."""
_START = """
from grader.classroom import grading_process
from grader.core import course

course.CALL_SECONDS = float({!r})
grading_process.main()
"""

HARMLESS = Attack("answers rightly", "It is no attack.", "return honest(rewards)", verdict=PASSED)


@dataclass(frozen=True)
class Finding:
    """What an attack did at one isolation level.

    Attributes:
        name: Of the attack.
        level: Isolation level that the grading reports.
        harms: What it did, in the order of `Harm`.
        verdict: Outcome of the gate check; "" if there is none.
        sentence: What the report says, as the student reads it.
        seconds: Until that verdict.
        printed: What the report shows as printed by the submission.
    """

    name: str
    level: int
    harms: tuple[Harm, ...]
    verdict: str
    sentence: str
    seconds: float
    printed: str = ""


def problems(attack: Attack, finding: Finding) -> list[str]:
    """What a finding has that it must not have, each as a sentence. Harms that a level is not said to stop are none."""
    found = [f"level {finding.level}: {harm}" for harm in finding.harms if harm not in attack.allowed(finding.level)]
    excused = {Harm.GRADE_RAISED, Harm.GRADER_FAILED} & {*finding.harms} & attack.allowed(finding.level)
    if finding.verdict != attack.verdict and not excused:
        found.append(f"level {finding.level}: the verdict is {finding.verdict or 'missing'} and not {attack.verdict}")
    return found


class Trial:
    """One isolation level, with its grading process. A context manager.

    Args:
        level: Run at this level.
        call_seconds: Time limit of a call, where it is not the course's own.

    Raises:
        SandboxError: this machine does not offer the level, or grades nothing at all.
    """

    def __init__(self, level: int, *, call_seconds: float | None = None) -> None:
        if sys.platform != "linux":
            raise SandboxError("the attacks are written for Linux, and look into /proc")
        self._level, self._call_seconds = level, call_seconds
        self._secret = secrets.token_hex(16)
        self._settings = Settings((EXERCISE, BESIDE), examples=EXAMPLES, level=level, require_level=level)
        confine.adopt_orphans()  # whoever loses its parent becomes a child of this process, and is seen
        self._before = _descendants()
        self._start()

    def run(self, attacks: Iterable[Attack]) -> Iterator[Finding]:
        """Make the attacks, one after the other."""
        for attack in attacks:
            finding = self._attacked(attack)
            hurt = {Harm.GRADER_FAILED, Harm.PROCESS_LEFT} & {*finding.harms}
            if hurt or settings_of(self._grading.pid) != self._grader:
                self.close()
                self._start()
            yield finding

    def close(self) -> None:
        """End the grading process and whatever attacks have left."""
        self._grading.close()
        for process in _descendants() - self._before:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        limit = () if self._call_seconds is None else ("-c", _START.format(self._call_seconds))
        self._grading = GradingProcess(*limit, environment={**os.environ, "GRADER_SECRET": self._secret})
        self._grader = settings_of(self._grading.pid)
        self._usual = sys.maxsize
        first = self._attacked(HARMLESS)
        if first.level != self._level or first.verdict != PASSED:
            self.close()
            raise SandboxError(first.sentence)
        # The first grading imports; then the number of processes is the one that it always comes back to. Half a second
        # without a change: the worker that waits for the next grading may not have been forked yet.
        self._usual = _settled(sys.maxsize, calm=25)
        if found := self._attacked(HARMLESS).harms:
            self.close()
            raise SandboxError(f"a submission without any attack seems to have done harm: {', '.join(found)}")

    def _attacked(self, attack: Attack) -> Finding:
        with Yard(self._secret, self._grading.pid) as yard:
            addresses = {**yard.addresses(), "limit": self._call_seconds or course.CALL_SECONDS}
            sent = Contents(submission(attack, addresses), b"")
            try:
                result = self._grading.grade(make_job(sent, self._settings).data)
            except GradingProcessDied as death:
                result = Result("", "", 0, "cpu", [], "", isolation_level=self._level, problem=str(death))
            harms = {*_harms_to_grade(attack, result), *yard.harms(result.as_json())}
            victims = 1
            if _settled(self._usual + victims) > self._usual + victims:
                harms.add(Harm.PROCESS_LEFT)
        gate = next((check for check in result.checks if check.gate and check.function == FUNCTION), None)
        return Finding(
            attack.name,
            result.isolation_level,
            tuple(harm for harm in Harm if harm in harms),
            gate.outcome if gate else "",
            result.problem or (_sentence(gate) if gate else ""),
            gate.seconds if gate else 0.0,
            gate.printed if gate else "",
        )


def _harms_to_grade(attack: Attack, result: Result) -> Iterator[Harm]:
    attacked = [check for check in result.checks if check.function == FUNCTION]
    beside = [check for check in result.checks if check.id.startswith(f"{BESIDE}.")]
    if not attack.is_honest and any(check.earned for check in attacked):
        yield Harm.GRADE_RAISED
    failed = [check for check in result.checks if check.outcome in (GRADER_ERROR, NOT_RUN)]
    if result.problem or not result.complete or failed or any(check.outcome != PASSED for check in beside):
        yield Harm.GRADER_FAILED


def _sentence(gate: CheckResult) -> str:
    """The story of a check; numbers that are wrong everywhere speak for themselves, side by side."""
    rows = "; ".join(f"{label}: {text}" for label, text in gate.rows if label in ("yours", "expected"))
    return gate.story or rows


def _settled(usual: int, calm: int = 1) -> int:
    """How many processes of ours there are, once they are no more than usual or have had time to end.

    Args:
        usual: So many may stay.
        calm: So many times in a row the number must not change, every 20 ms: a worker that is just being started or
            ended is no orphan, and hides none.
    """
    deadline = time.monotonic() + _END_SECONDS
    now, same = len(_descendants()), 0
    while (now > usual or same < calm) and time.monotonic() < deadline:
        time.sleep(0.02)
        before, now = now, len(_descendants())
        same = same + 1 if now == before else 0
    return now


def _descendants() -> set[int]:
    """All living processes that descend from this one."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            stat = Path(f"/proc/{name}/stat").read_text("ascii", "replace")
            state, parent, *_ = stat.rsplit(")", 1)[1].split()
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(name))
    found: set[int] = set()
    new = [os.getpid()]
    while new:
        new = [child for process in new for child in children.get(process, [])]
        found |= {*new}
    return found
