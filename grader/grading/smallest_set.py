"""The smallest set of known differences from the model answer that makes exactly a submission's answers.

What people write first has two to four mistakes at once. In one part of an answer rarely more than two of them meet, so
what a larger set makes follows from the recorded pairs (`Search._predicted`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .differences import UNKNOWN, AnswerTable, Chosen, parts, same_fingerprint
from .recorded_answers import Observation

_MOST = 10
"""The search ends with sets of this size."""
_WIDTH = 24
"""Sets of each size that the search extends, from pairs on."""

Key = tuple[str, int]
"""A worked example: the id of its check, and its place there."""


@dataclass(frozen=True)
class Explanation:
    """A set of differences, next to a submission's answers.

    Attributes:
        names: The differences.
        exact: Whether it makes every part of every answer.
        shows: Worked example to those of the differences that show there.
        explains: The worked examples that are wrong, and exactly as the set makes them.
    """

    names: tuple[str, ...]
    exact: bool
    shows: dict[Key, tuple[str, ...]]
    explains: frozenset[Key]


@dataclass(frozen=True)
class Fit:
    """How sets that differ in one difference fit a submission, in parts of its answers; one number per set.

    Attributes:
        explained: Wrong parts that the set makes.
        refuted: Right ones that the set would make wrong.
        other: Wrong ones that the set makes wrong in another way.
        untouched: Wrong ones that the set leaves right.
        doubts: Parts in which three differences may meet, so that what they make is not recorded.
        missed: Those of them in which the pairs predict other numbers.
    """

    explained: npt.NDArray[np.int64]
    refuted: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    untouched: npt.NDArray[np.int64]
    doubts: npt.NDArray[np.int64]
    missed: npt.NDArray[np.int64]

    @property
    def score(self) -> npt.NDArray[np.float64]:
        return self.explained - 3.0 * self.refuted - self.other - self.doubts / 4

    @property
    def makes_all(self) -> npt.NDArray[np.bool_]:
        """Whether the set makes all answers, as far as they are recorded."""
        contradicted = self.refuted + self.other + self.untouched + self.missed
        return np.asarray((contradicted == 0) & (self.explained > 3 * self.doubts))

    @property
    def is_plausible(self) -> npt.NDArray[np.bool_]:
        """Whether the code may well have these differences, although it must have others, too."""
        return np.asarray((self.refuted == 0) & (self.explained > self.other + self.doubts / 4))


class Search:
    """Looks for the sets of differences that make a submission's answers.

    Args:
        table: What is recorded of the function.
        observed: What the submission makes of the examples, by check and place.
        expected: The model answers to these.

    Attributes:
        matching: For each part of the answers and each of its outcomes, whether that is the submission's.
        known: The parts of worked examples that the submission was asked for.
        wrong: Those of them that are not the model answer's.
        lines: The places of the parts, to look up outcomes.
    """

    def __init__(
        self,
        table: AnswerTable,
        observed: dict[Key, Observation],
        expected: dict[Key, Observation],
    ) -> None:
        self.table = table
        seen = {key: parts(each, expected[key]) for key, each in observed.items()}
        size = max((len(part.outcomes) for part in table.parts), default=1)
        self.matching = np.zeros((len(table.parts), size), dtype=bool)
        self.known = np.array([(part.check, part.place) in seen for part in table.parts], dtype=bool)
        for row, part in enumerate(table.parts):
            found = seen.get((part.check, part.place), {})
            mine = found.get(part.name, found.get("", ("missing", 0.0, 0.0, 0.0)))
            for place, outcome in enumerate(part.outcomes):
                self.matching[row, place] = same_fingerprint(mine, outcome, part.tolerance)
        self.wrong = self.known & ~self.matching[:, 0]
        self.lines = np.arange(len(table.parts))
        self._keys = [(part.check, part.place) for part in table.parts]
        self._known_rows: dict[Chosen, npt.NDArray[np.uint16]] = {}
        self._fits: dict[Chosen, Fit] = {}

    @property
    def wrong_keys(self) -> frozenset[Key]:
        """The worked examples with a wrong answer."""
        return frozenset(key for key, is_wrong in zip(self._keys, self.wrong, strict=True) if is_wrong)

    def best(self) -> Explanation | None:
        """The set that fits best: the smallest that makes all answers, else the one that explains most of them.

        None if none explains a wrong answer without contradicting a right one.
        """
        level: list[Chosen] = [()]
        best: tuple[float, Chosen] | None = None
        before = -math.inf
        for size in range(1, _MOST + 1):
            scores: dict[Chosen, float] = {}
            exact: list[tuple[int, Chosen]] = []
            for chosen in level:
                fit = self._fit(chosen)
                for more in self._candidates(chosen):
                    larger = tuple(sorted((*chosen, more)))
                    if larger in scores:
                        continue
                    scores[larger] = float(fit.score[more])
                    value = scores[larger] - size / 2
                    if fit.is_plausible[more] and (best is None or value > best[0]):
                        best = value, larger
                    if fit.makes_all[more]:
                        exact.append((int(fit.doubts[more]), larger))
            for _, chosen in sorted(exact):
                if self._all_needed(chosen):
                    return self._explanation(chosen, exact=True)
            level = sorted(scores, key=lambda chosen: (-scores[chosen], chosen))[: _WIDTH if size > 1 else None]
            score = scores[level[0]] if level else -math.inf
            if size > 2 and score <= before:
                break
            before = score
        return self._explanation(best[1], exact=False) if best else None

    def _candidates(self, chosen: Chosen) -> Iterator[int]:
        """Differences that fit into a set."""
        for more in range(chosen[-1] + 1 if len(chosen) == 1 else 0, len(self.table.names)):
            if more not in chosen and all(self.table.fits[more, each] for each in chosen):
                yield more

    def _rows(self, chosen: Chosen) -> npt.NDArray[np.uint16]:
        """The outcomes of a set with each further difference; `UNKNOWN` where more than two meet in a part."""
        if chosen not in self._known_rows:
            alone, pairs = self.table.alone, self.table.pairs
            rows = self._predicted(chosen) if len(chosen) > 1 else pairs[chosen[0]] if chosen else alone
            self._known_rows[chosen] = rows
        return self._known_rows[chosen]

    def _predicted(self, chosen: Chosen) -> npt.NDArray[np.uint16]:
        """`_rows` from the pairs. A difference is active in a part if it changes what another one of the set makes."""
        alone, pairs = self.table.alone, self.table.pairs
        count, size = len(alone), len(chosen)
        active = np.empty((size + 1, *alone.shape), dtype=bool)
        for place, each in enumerate(chosen):
            among = np.any([pairs[each, other] != alone[other] for other in chosen if other != each], axis=0)
            active[place] = among | (pairs[each] != alone)
        active[size] = np.any([pairs[each] != alone[each] for each in chosen], axis=0)
        number = active.sum(axis=0)
        who = np.empty((size + 1, count), dtype=np.intp)
        who[:size], who[size] = np.array(chosen)[:, None], np.arange(count)
        first, last = active.argmax(axis=0), size - active[::-1].argmax(axis=0)
        columns = np.arange(count)[:, None]
        both = pairs[who[first, columns], who[last, columns], self.lines]
        # If none is active, either none changes the model answer, or all make the same of it.
        same = np.max([alone[each] for each in chosen], axis=0)
        rows = np.where(number == 0, same, np.where(number <= 2, both, np.uint16(UNKNOWN)))
        self._fill_in(chosen, active, number, rows)
        for each in chosen:  # one whose numbers no other one changes, such as NaN everywhere
            ruling = np.all([pairs[each, other] == alone[each] for other in chosen], axis=0) & (alone[each] != 0)
            rows = np.where(ruling & (pairs[each] == alone[each]), alone[each], rows)
        ruling = np.all([pairs[each] == alone for each in chosen], axis=0) & (alone != 0)
        return np.where(ruling, alone, rows)

    def _fill_in(
        self,
        chosen: Chosen,
        active: npt.NDArray[np.bool_],
        number: npt.NDArray[np.int64],
        rows: npt.NDArray[np.uint16],
    ) -> None:
        """Take the outcomes from the larger sets that are recorded, where all others of the set change nothing."""
        size = len(chosen)
        usual = [place for place, each in enumerate(chosen) if each in self._usual]
        for members in (each for n in (2, 3, 4) for each in itertools.combinations(usual, n)):
            quiet = number == active[list(members)].sum(axis=0) + active[size]
            names = tuple(chosen[place] for place in members)
            recorded = self.table.of_larger.get(names)
            if recorded is not None:
                np.copyto(rows, recorded, where=~active[size] & quiet)
            for more in self._usual:
                recorded = self.table.of_larger.get(tuple(sorted((*names, more)))) if more not in chosen else None
                if recorded is not None:
                    np.copyto(rows[more], recorded, where=quiet[more])

    @functools.cached_property
    def _usual(self) -> list[int]:
        """The differences in the larger sets that are recorded."""
        return sorted({each for chosen in self.table.larger for each in chosen})

    def _recorded(self, chosen: Chosen) -> Iterator[int]:
        """Further differences with which a whole set is recorded."""
        if len(chosen) > 1:
            for more in self._usual:
                if more not in chosen and tuple(sorted((*chosen, more))) in self.table.of_larger:
                    yield more

    def _meeting(self, chosen: Chosen) -> npt.NDArray[np.bool_]:
        """Where two of a set, with each further difference, make other numbers than either, so that three may too."""
        alone, pairs = self.table.alone, self.table.pairs
        meeting = np.zeros(alone.shape, dtype=bool)
        if len(chosen) < 2:
            return meeting
        for one, other in itertools.combinations(chosen, 2):
            meeting |= (pairs[one, other] != alone[one]) & (pairs[one, other] != alone[other])
        for one in chosen:
            meeting |= (pairs[one] != alone[one]) & (pairs[one] != alone)
        for more in self._recorded(chosen):
            meeting[more] = False
        return meeting

    def _fit(self, chosen: Chosen) -> Fit:
        """How a set fits with each further difference."""
        if chosen not in self._fits:
            rows = self._rows(chosen)
            unknown = rows == UNKNOWN
            agree = self._agreeing(rows)
            meeting = self._meeting(chosen)
            doubted = self.known & (unknown | (meeting & ~agree))
            changed = self.known & (rows != 0) & ~doubted
            self._fits[chosen] = Fit(
                explained=(self.wrong & agree).sum(axis=-1),
                refuted=(~self.wrong & changed & ~agree).sum(axis=-1),
                other=(self.wrong & changed & ~agree).sum(axis=-1),
                untouched=(self.wrong & ~changed & ~doubted & ~agree).sum(axis=-1),
                doubts=doubted.sum(axis=-1),
                missed=(self.known & meeting & ~unknown & ~agree).sum(axis=-1),
            )
        return self._fits[chosen]

    def _agreeing(self, rows: npt.NDArray[np.uint16]) -> npt.NDArray[np.bool_]:
        """Where outcomes are known to be the submission's."""
        unknown = rows == UNKNOWN
        return np.asarray(self.matching[self.lines, np.where(unknown, 0, rows)] & ~unknown)

    def _all_needed(self, chosen: Chosen) -> bool:
        """Whether each difference of a set that makes all answers changes one of them."""
        rows = self.made_by(chosen)
        made = self.wrong & self._agreeing(rows)
        others = (self.made_by(tuple(each for each in chosen if each != left)) for left in chosen)
        return len(chosen) < 2 or all((made & (without != UNKNOWN) & (without != rows)).any() for without in others)

    def made_by(self, chosen: Chosen) -> npt.NDArray[np.uint16]:
        """The outcomes of a set."""
        return np.asarray(self._rows(chosen[:-1])[chosen[-1]] if chosen else self.table.rows[0])

    def _explanation(self, chosen: Chosen, *, exact: bool) -> Explanation:
        names = tuple(self.table.names[each] for each in chosen)
        rows = self.made_by(chosen)
        agree = self._agreeing(rows)
        shows: dict[Key, list[str]] = {}
        for each, name in zip(chosen, names, strict=True):
            rest = tuple(other for other in chosen if other != each)
            without = self.made_by(rest)
            unlike = np.where(rows == UNKNOWN, self.table.alone[each] != 0, without != rows)
            for row in np.flatnonzero(self.known & self.wrong & unlike):
                here = shows.setdefault(self._keys[row], [])
                here += [name] if name not in here else []
        missed = {
            key for key, is_like, known in zip(self._keys, agree, self.known, strict=True) if known and not is_like
        }
        return Explanation(names, exact, {key: tuple(each) for key, each in shows.items()}, self.wrong_keys - missed)
