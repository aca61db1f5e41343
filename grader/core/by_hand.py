"""Points that an instructor gives or takes by hand, beside a result and never in it.

A result says what the code earned, and stays as it is. What was given by hand comes last: after lateness, before a
gradebook scales. Where such points are kept, `classroom.adjustments` knows.

Left out on purpose: a mark that takes the place of another. A difference with a reason can still be followed after the
class was graded again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class ByHand:
    """One decision of the instructor on one submission.

    Attributes:
        points: Added to what counts; may be negative, or 0 for an answer that changes nothing.
        reason: One sentence, which the student reads.
    """

    points: Decimal
    reason: str

    def __str__(self) -> str:
        return f"{signed(self.points)}: {self.reason}"


def with_by_hand(counts: Decimal, given: Sequence[ByHand]) -> Decimal:
    """What counts in the end: never below 0, and above the maximum if so much was given.

    Args:
        counts: What the code earned, after lateness where that costs something.
        given: The decisions.
    """
    return max(Decimal(0), counts + total(given)) if given else counts


def total(given: Sequence[ByHand]) -> Decimal:
    """All decisions together."""
    return sum((each.points for each in given), Decimal(0))


def signed(points: Decimal) -> str:
    """Points with their sign: "+5", "-2.5", "0"."""
    return f"+{shown(points)}" if points > 0 else shown(points)


def shown(points: Decimal) -> str:
    """Points as a person writes them: 5 and not 5.00."""
    return str(int(points)) if points == int(points) else str(points.normalize())
