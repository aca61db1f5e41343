"""A small set of known differences from the model answer that reproduces a submission's answers.

It is a beam search, from single differences to larger sets, so nearly always the set is the smallest.

What people write first has two to four mistakes at once. In one part of an answer rarely more than two of them meet, so
how a larger set answers follows from the recorded pairs (`Search._predicted`). Two differences *meet* where both
together make other numbers than either alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .differences import UNKNOWN, AnswerTable, Chosen, parts, same_fingerprint
from .recorded_answers import Observation

_MOST = 10
"""The search ends with sets of this size."""
_WIDTH = 24
"""Sets of each size that the search extends, from pairs on."""

Outcomes = npt.NDArray[np.uint16]
"""Outcome of each part (last axis), as its index in `Part.outcomes`; 0 is the model answer's."""
Mask = npt.NDArray[np.bool_]


class Key(NamedTuple):
    """A worked example: the id of its check, and its index there."""

    check: str
    example: int


@dataclass(frozen=True)
class Explanation:
    """A set of differences, next to a submission's answers.

    Attributes:
        names: The differences.
        exact: Whether it makes every part of every answer.
        shows: Worked example to those of the differences that show there.
        explains: The worked examples that are wrong, and that the set reproduces.
    """

    names: tuple[str, ...]
    exact: bool
    shows: dict[Key, tuple[str, ...]]
    explains: frozenset[Key]


@dataclass(frozen=True)
class Fit:
    """How a set of differences fits a submission, in parts of its answers.

    Attributes:
        explained: Wrong parts that the set reproduces.
        refuted: Right ones that the set would make wrong.
        other: Wrong ones that are wrong in another way with the set.
        untouched: Wrong ones that the set leaves right.
        doubts: Parts in which three differences may meet, so that what they make is not recorded.
        missed: Those of them in which the pairs predict other numbers.
    """

    explained: int
    refuted: int
    other: int
    untouched: int
    doubts: int
    missed: int

    @property
    def score(self) -> float:
        return self.explained - 3 * self.refuted - self.other - self.doubts / 4

    @property
    def makes_all(self) -> bool:
        """Whether the set reproduces all answers, as far as they are recorded."""
        return not (self.refuted or self.other or self.untouched or self.missed) and self.explained > 3 * self.doubts

    @property
    def is_plausible(self) -> bool:
        """Whether the code may well have these differences, although it must have others, too."""
        return not self.refuted and self.explained > self.other + self.doubts / 4


class Search:
    """Looks for the sets of differences that make a submission's answers.

    Args:
        table: What is recorded of the function.
        observed: What the submission makes of the worked examples.
        expected: The model answers to these.

    Attributes:
        matching: For each part of the answers and each of its outcomes, whether that is the submission's.
        asked: The parts of worked examples that the submission was asked for.
        wrong: Those of them that are not the model answer's.
    """

    def __init__(
        self,
        table: AnswerTable,
        observed: dict[Key, Observation],
        expected: dict[Key, Observation],
    ) -> None:
        self.table = table.without_new_errors
        seen = {key: parts(each, expected[key]) for key, each in observed.items()}
        size = max((len(part.outcomes) for part in table.parts), default=1)
        self._keys = [Key(part.check, part.index) for part in table.parts]
        self.matching = np.zeros((len(table.parts), size), dtype=bool)
        for row, (key, part) in enumerate(zip(self._keys, table.parts, strict=True)):
            found = seen.get(key, {})
            yours = found.get(part.name, found.get("", ("missing", 0.0, 0.0, 0.0)))
            for index, outcome in enumerate(part.outcomes):
                self.matching[row, index] = same_fingerprint(yours, outcome, part.tolerance)
        self.asked = np.array([key in seen for key in self._keys], dtype=bool)
        self.wrong = self.asked & ~self.matching[:, 0]
        self._rows_of: dict[Chosen, Outcomes] = {}

    @property
    def wrong_keys(self) -> frozenset[Key]:
        """The worked examples with a wrong answer."""
        return frozenset(self._keys[part] for part in np.flatnonzero(self.wrong))

    def best(self) -> Explanation | None:
        """The smallest set found that reproduces all answers, else the plausible one (`Fit.is_plausible`) with the best
        score, in which each further difference costs half a point. None if there is neither.
        """
        sets: list[Chosen] = [()]
        partial: tuple[float, Chosen] | None = None
        before = -math.inf
        for size in range(1, _MOST + 1):
            fits = self._extended(sets)
            for _, chosen in sorted((fit.doubts, chosen) for chosen, fit in fits.items() if fit.makes_all):
                if self._all_needed(chosen):
                    return self._explanation(chosen, exact=True)
            for chosen, fit in fits.items():
                value = fit.score - size / 2
                if fit.is_plausible and (partial is None or value > partial[0]):
                    partial = value, chosen
            sets = sorted(fits, key=lambda chosen: (-fits[chosen].score, chosen))[: _WIDTH if size > 1 else None]
            score = fits[sets[0]].score if sets else -math.inf
            if size > 2 and score <= before:
                break
            before = score
        return self._explanation(partial[1], exact=False) if partial else None

    def _extended(self, sets: Iterable[Chosen]) -> dict[Chosen, Fit]:
        """How all sets fit that have one more difference than these."""
        extended: dict[Chosen, Fit] = {}
        for chosen in sets:
            fits = self._fits(chosen)
            for more in self._candidates(chosen):
                extended.setdefault(tuple(sorted((*chosen, more))), fits[more])
        return extended

    def _candidates(self, chosen: Chosen) -> Iterator[int]:
        """Differences that fit into a set."""
        for more in range(chosen[-1] + 1 if len(chosen) == 1 else 0, len(self.table.names)):
            if more not in chosen and all(self.table.fits[more, each] for each in chosen):
                yield more

    def _fits(self, chosen: Chosen) -> list[Fit]:
        """How a set fits with each further difference."""
        rows = self._rows(chosen)
        agree = self._agreeing(rows)
        meeting = self._meeting(chosen)
        doubted = self.asked & ((rows == UNKNOWN) | (meeting & ~agree))
        changed = self.asked & (rows != 0) & ~doubted
        counted_parts = {
            "explained": self.wrong & agree,
            "refuted": ~self.wrong & changed & ~agree,
            "other": self.wrong & changed & ~agree,
            "untouched": self.wrong & ~changed & ~doubted & ~agree,
            "doubts": doubted,
            "missed": self.asked & meeting & (rows != UNKNOWN) & ~agree,
        }
        numbers = zip(*(there.sum(axis=-1).tolist() for there in counted_parts.values()), strict=True)
        return [Fit(**dict(zip(counted_parts, each, strict=True))) for each in numbers]

    def _rows(self, chosen: Chosen) -> Outcomes:
        """The outcomes of a set with each further difference, a row for each; `UNKNOWN` where none is recorded."""
        if chosen not in self._rows_of:
            recorded = self.table.pairs[chosen[0]] if chosen else self.table.alone
            self._rows_of[chosen] = self._predicted(chosen) if len(chosen) > 1 else recorded
        return self._rows_of[chosen]

    def _predicted(self, chosen: Chosen) -> Outcomes:
        """`_rows` of two or more differences, from the recorded pairs and larger sets."""
        pairs = self._pairs(chosen)
        active = _active(pairs)
        rows = np.where(active.sum(axis=0) <= 2, _made_by_two(pairs, active), np.uint16(UNKNOWN))
        self._fill_in(rows, chosen, active)
        dominant = _dominant(pairs)
        return np.where(dominant != 0, dominant, rows)

    def _pairs(self, chosen: Chosen) -> Outcomes:
        """The outcomes of any two members of a set whose last member is each further difference in turn.

        Returns:
            The outcomes of the pairs, (members, members, further difference, part).
        """
        members = np.empty((len(chosen) + 1, len(self.table.names)), dtype=np.intp)
        members[:-1], members[-1] = np.array(chosen)[:, None], np.arange(len(self.table.names))
        return np.asarray(self.table.pairs[members[:, None], members[None, :]])

    def _fill_in(self, rows: Outcomes, chosen: Chosen, active: Mask) -> None:
        """Write the outcomes of the larger sets that are recorded, where no other member of the set is active."""
        for recorded, outcomes in self.table.of_larger.items():
            others = [member for member, each in enumerate(chosen) if each not in recorded]
            further = [each for each in recorded if each not in chosen]
            if not further:
                np.copyto(rows, outcomes, where=~active[[*others, len(chosen)]].any(axis=0))
            elif len(further) == 1:
                np.copyto(rows[further[0]], outcomes, where=~active[others, further[0]].any(axis=0))

    def _meeting(self, chosen: Chosen) -> Mask:
        """Where two members of a set meet, for each further difference, so that three may, too."""
        if len(chosen) < 2:
            return np.zeros(self.table.alone.shape, dtype=bool)
        pairs = self._pairs(chosen)
        alone = _alone(pairs)
        meeting = ((pairs != alone[:, None]) & (pairs != alone[None])).any(axis=(0, 1))
        is_recorded = [tuple(sorted((*chosen, more))) in self.table.of_larger for more in range(len(meeting))]
        return np.asarray(meeting & ~np.array(is_recorded)[:, None])

    def _agreeing(self, rows: Outcomes) -> Mask:
        """Where outcomes are known to be the submission's."""
        unknown = rows == UNKNOWN
        return np.asarray(self.matching[np.arange(rows.shape[-1]), np.where(unknown, 0, rows)] & ~unknown)

    def _all_needed(self, chosen: Chosen) -> bool:
        """Whether each difference of a set that makes all answers changes one of them."""
        rows = self.made_by(chosen)
        made = self.wrong & self._agreeing(rows)
        others = (self.made_by(tuple(each for each in chosen if each != left)) for left in chosen)
        return len(chosen) < 2 or all((made & (without != UNKNOWN) & (without != rows)).any() for without in others)

    def made_by(self, chosen: Chosen) -> Outcomes:
        """The outcomes of a set."""
        return np.asarray(self._rows(chosen[:-1])[chosen[-1]] if chosen else self.table.rows[0])

    def _explanation(self, chosen: Chosen, *, exact: bool) -> Explanation:
        shows: dict[Key, list[str]] = {}
        for each in chosen:
            there = np.flatnonzero(self.wrong & self._shows(chosen, each))
            for key in dict.fromkeys(self._keys[part] for part in there):
                shows.setdefault(key, []).append(self.table.names[each])
        missed = {self._keys[part] for part in np.flatnonzero(self.asked & ~self._agreeing(self.made_by(chosen)))}
        names = tuple(self.table.names[each] for each in chosen)
        return Explanation(names, exact, {key: tuple(each) for key, each in shows.items()}, self.wrong_keys - missed)

    def _shows(self, chosen: Chosen, difference: int) -> Mask:
        """Where a set makes something else without one of its differences."""
        rows = self.made_by(chosen)
        without = self.made_by(tuple(each for each in chosen if each != difference))
        return np.asarray(np.where(rows == UNKNOWN, self.table.alone[difference] != 0, without != rows))


# The `pairs` of these functions are what `Search._pairs` returns.


def _alone(pairs: Outcomes) -> Outcomes:
    """The outcomes of each member of a set alone."""
    members = np.arange(len(pairs))
    return np.asarray(pairs[members, members])


def _active(pairs: Outcomes) -> Mask:
    """Where each member of a set changes what another one makes."""
    return np.asarray((pairs != _alone(pairs)[None]).any(axis=1))


def _made_by_two(pairs: Outcomes, active: Mask) -> Outcomes:
    """What the first and the last active member make together; where none is active, all members make the same."""
    first, last = active.argmax(axis=0), len(active) - 1 - active[::-1].argmax(axis=0)
    return np.asarray(pairs[(first, last, *np.indices(first.shape, sparse=True))])


def _dominant(pairs: Outcomes) -> Outcomes:
    """What a member makes whose wrong numbers no other one changes, such as NaN everywhere; 0 if there is none."""
    alone = _alone(pairs)
    unchanged = (pairs == alone[:, None]).all(axis=1)
    return np.asarray(np.where(unchanged, alone, 0).max(axis=0))
