"""What can be said of a wrong mask beside the right one: its rows are known by where their True begins and ends.

`likeness` compares numbers, and of True and False such a comparison says next to nothing. Left out: masks of one axis,
which have no rows, and why a mask is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]

_TRUE, _FALSE = "True is asked for", "False is asked for"
_FIRST, _LAST, _ONLY = (f"the {which} True of a row is asked for" for which in ("first", "last", "only"))
_BEFORE, _AFTER = f"{_FALSE} before the first True of a row", f"{_FALSE} after the last True of a row"
_NEXT = "the first False after the last True of a row is asked for"
IMPLIED = {
    _ONLY: (_FIRST, _LAST, _TRUE),
    _FIRST: (_TRUE,),
    _LAST: (_TRUE,),
    _NEXT: (_AFTER, _FALSE),
    _BEFORE: (_FALSE,),
    _AFTER: (_FALSE,),
}
"""All that can be said of places in a row, each with what says less and is true there too."""


def places(right: Mask) -> dict[str, Mask]:
    """What can be said of places in the rows of a mask, each with the places; what says most comes first.

    Args:
        right: The mask that is asked for, of two axes. In a row without True every place is before the first one.
    """
    before, first, last, after = _parts_of_rows(right)
    next_one = after & (np.cumsum(after, axis=-1) == 1)
    return {_ONLY: first & last, _FIRST: first, _LAST: last, _NEXT: next_one, _BEFORE: before, _AFTER: after}


def elsewhere(yours: Mask, right: Mask) -> dict[str, Mask]:
    """The parts of rows in which alone a mask is True, each with its places; what says most comes first."""
    before, first, last, after = _parts_of_rows(right)
    parts = {
        f"where {_FIRST}": first,
        f"where {_LAST}": last,
        f"where {_BEFORE}": before,
        f"where {_AFTER}": after,
        f"up to where {_FIRST}": before | first,
        f"from where {_LAST}": last | after,
    }
    return {f"True only {told}": there for told, there in parts.items() if not (yours & ~there).any()}


def moved(yours: Mask, right: Mask) -> str:
    """By which one place all of a mask has moved along its rows; empty if it has not."""
    if (yours[:, 1:] == right[:, :-1]).all():
        return "one place too late"
    return "one place too early" if (yours[:, :-1] == right[:, 1:]).all() else ""


def compared(yours: Mask, arguments: Mapping[str, Any]) -> Iterator[str]:
    """The comparisons of an argument with a number that give a mask; none where it is True everywhere, or nowhere.

    Args:
        yours: The mask.
        arguments: Arrays and numbers by name.
    """
    if yours.all() or not yours.any():
        return
    numbers = {name: value for name, value in arguments.items() if isinstance(value, float)}
    for name, array in arguments.items():
        if not isinstance(array, np.ndarray) or array.dtype == bool or array.ndim != 2:
            continue
        for told, part in ((name, array), (f"{name}[:, 1:]", array[:, 1:]), (f"{name}[:, :-1]", array[:, :-1])):
            for other, number in numbers.items() if part.shape == yours.shape else ():
                if (yours == (part == number)).all():
                    yield f"True where {told} is {other}, and nowhere else"
                if (yours == (part != number)).all():
                    yield f"True where {told} is not {other}, and nowhere else"


def _parts_of_rows(right: Mask) -> tuple[Mask, Mask, Mask, Mask]:
    """The places before the first True of their row, the first ones, the last ones, and those after the last one."""
    so_far = np.cumsum(right, axis=-1)
    to_come = np.cumsum(right[:, ::-1], axis=-1)[:, ::-1]
    return so_far == 0, right & (so_far == 1), right & (to_come == 1), (so_far > 0) & (to_come == 0)
