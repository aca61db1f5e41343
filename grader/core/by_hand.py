"""Points that an instructor adds or takes off by hand. No result has them: it says what the code earned.

They apply last: after lateness, before a gradebook scales. `classroom.adjustments` stores them.

Left out on purpose: replacing a grade. A difference with a reason still makes sense after the class is graded again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class ByHand:
    """One decision of the instructor on one submission."""

    points: Decimal  # added to what counts; may be negative, or 0 for an answer that changes nothing
    reason: str  # one sentence, which the student reads
    student: str = ""  # the only member of a group whom it concerns; empty for everybody

    def __str__(self) -> str:
        only = f" for {self.student} only" if self.student else ""
        return f"{signed(self.points)}{only}: {self.reason}"


def with_by_hand(counts: Decimal, given: Sequence[ByHand]) -> Decimal:
    """What counts in the end, after lateness: never below 0, and above the maximum if so much was given."""
    return max(Decimal(0), counts + total(given)) if given else counts


def total(given: Sequence[ByHand]) -> Decimal:
    """The points of all decisions that concern everybody."""
    return sum((decision.points for decision in given if not decision.student), Decimal(0))


def signed(points: Decimal) -> str:
    """Points with their sign: "+5", "-2.5", "0"."""
    return f"+{shown(points)}" if points > 0 else shown(points)


def shown(points: Decimal) -> str:
    """Points as a person writes them: 5 instead of 5.00."""
    return str(int(points)) if points == int(points) else str(points.normalize())
