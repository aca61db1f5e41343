"""What an attack did, and the parts of it that must not happen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from attack import HONEST_EXERCISE, Attack, Harm

from grader.core.result import GRADER_ERROR, NOT_RUN, PASSED, CheckResult, Result


@dataclass(frozen=True)
class Finding:
    """What an attack did at one isolation level.

    Attributes:
        attack: The attack.
        level: Isolation level that the grading reports.
        harms: What it did.
        verdict: Outcome of the attacked function's gate; "" if there is none.
        sentence: What the report says of it.
        printed: What the report shows as printed by the submission.
        reached: Whether the attack got to the place where it attacks: behind the gate, or in a second pass.
    """

    attack: Attack
    level: int
    harms: frozenset[Harm]
    verdict: str
    sentence: str
    printed: str
    reached: bool

    def problems(self) -> list[str]:
        """Everything that must not be. Level 0 must let through what it does not claim to stop: otherwise a wall
        might be praised for stopping an attack that never worked."""
        allowed = self.attack.allowed(self.level)
        problems = [f"level {self.level} did not stop it: {harm}" for harm in sorted(self.harms - allowed)]
        if not self.attack.varies:
            problems += [f"it does no harm where no wall stands: {harm}" for harm in sorted(allowed - self.harms)]
        # An attack that found what it looked for says so instead of answering.
        told = {Harm.GRADE_RAISED, Harm.GRADER_FAILED, Harm.SECRET_READ} & self.harms & allowed
        if not told and self.verdict != self.attack.verdict:
            wanted = self.attack.verdict
            problems.append(f"the verdict is {self.verdict or 'missing'}, not {wanted}: {self.sentence[:300]}")
        if not told and not self.reached:
            problems.append("it was not called where it attacks, so it proves nothing")
        return problems


def finding_of(attack: Attack, result: Result, harms: Iterable[Harm]) -> Finding:
    """What a grading says of an attack, with the harms found around it."""
    checks = [
        check
        for check in result.checks
        if check.function == attack.function and check.id.startswith(f"{attack.exercise}.")
    ]
    gate = next((check for check in checks if check.gate), None)
    return Finding(
        attack,
        result.isolation_level,
        frozenset({*harms, *_harms_to_grade(attack, result, checks)}),
        gate.outcome if gate else "",
        result.problem or (_sentence(gate) if gate else ""),
        gate.printed if gate else "",
        _is_reached(attack, result, checks),
    )


def _is_reached(attack: Attack, result: Result, checks: list[CheckResult]) -> bool:
    if attack.called_by:
        return any(check.owed_to for check in result.checks if check.id.startswith(f"{attack.called_by}."))
    return not attack.behind_gate or any(check.outcome != PASSED for check in checks)


def _harms_to_grade(attack: Attack, result: Result, checks: list[CheckResult]) -> Iterator[Harm]:
    earned = [bool(check.earned) for check in checks]
    if (attack.behind_gate and earned and all(earned)) or (attack.verdict != PASSED and any(earned)):
        yield Harm.GRADE_RAISED
    honest = [check for check in result.checks if check.id.startswith(f"{HONEST_EXERCISE}.")]
    failed = [check for check in result.checks if check.outcome in (GRADER_ERROR, NOT_RUN)]
    if result.problem or not result.complete or failed or any(check.outcome != PASSED for check in honest):
        yield Harm.GRADER_FAILED


def _sentence(gate: CheckResult) -> str:
    """What a check says; where it has nothing to say, the numbers side by side."""
    return gate.message or "; ".join(f"{label}: {text}" for label, text in gate.rows if label in ("yours", "expected"))
