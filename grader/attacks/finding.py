"""What an attack did, and what of it must not be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core.result import GRADER_ERROR, NOT_RUN, PASSED, CheckResult, Result
from .attack import BESIDE, Attack, Harm


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
        reached: Whether the attack got to where it wanted to attack: behind the gate, or in a second pass.
    """

    name: str
    level: int
    harms: tuple[Harm, ...]
    verdict: str
    sentence: str
    seconds: float
    printed: str = ""
    reached: bool = True


def problems(attack: Attack, finding: Finding) -> list[str]:
    """What a finding has that it must not have, each as a sentence. Harms that a level is not said to stop are none."""
    found = [f"level {finding.level}: {harm}" for harm in finding.harms if harm not in attack.allowed(finding.level)]
    # Who has found what it looked for says so, in place of an answer.
    excused = (
        {Harm.GRADE_RAISED, Harm.GRADER_FAILED, Harm.SECRET_READ} & {*finding.harms} & attack.allowed(finding.level)
    )
    if finding.verdict != attack.verdict and not excused:
        found.append(f"level {finding.level}: the verdict is {finding.verdict or 'missing'} and not {attack.verdict}")
    if not finding.reached and not excused:
        found.append(f"level {finding.level}: nothing came of the attack, because it was not called where it attacks")
    return found


def finding_of(attack: Attack, result: Result, harms: Iterable[Harm]) -> Finding:
    """What a grading says of an attack, and the harms that were found around it."""
    all_harms = {*harms, *_harms_to_grade(attack, result)}
    gate = next((check for check in _attacked(attack, result) if check.gate), None)
    return Finding(
        attack.name,
        result.isolation_level,
        tuple(harm for harm in Harm if harm in all_harms),
        gate.outcome if gate else "",
        result.problem or (_sentence(gate) if gate else ""),
        gate.seconds if gate else 0.0,
        gate.printed if gate else "",
        _is_reached(attack, result),
    )


def _attacked(attack: Attack, result: Result) -> list[CheckResult]:
    own = f"{attack.exercise}."
    return [check for check in result.checks if check.function == attack.function and check.id.startswith(own)]


def _is_reached(attack: Attack, result: Result) -> bool:
    if attack.called_by:
        return any(check.owed_to for check in result.checks if check.id.startswith(f"{attack.called_by}."))
    return not attack.behind_gate or any(check.outcome != PASSED for check in _attacked(attack, result))


def _harms_to_grade(attack: Attack, result: Result) -> Iterator[Harm]:
    attacked = _attacked(attack, result)
    earned = [bool(check.earned) for check in attacked]
    if (attack.behind_gate and earned and all(earned)) or (not attack.is_honest and any(earned)):
        yield Harm.GRADE_RAISED
    beside = [check for check in result.checks if check.id.startswith(f"{BESIDE}.") and check not in attacked]
    failed = [check for check in result.checks if check.outcome in (GRADER_ERROR, NOT_RUN)]
    if result.problem or not result.complete or failed or any(check.outcome != PASSED for check in beside):
        yield Harm.GRADER_FAILED


def _sentence(gate: CheckResult) -> str:
    """The story of a check; numbers that are wrong everywhere speak for themselves, side by side."""
    rows = "; ".join(f"{label}: {text}" for label, text in gate.rows if label in ("yours", "expected"))
    return gate.story or rows
