"""Numbers and rows of tables as pages write them. The build turns hyphens before digits into minus signs."""

from __future__ import annotations

from collections.abc import Iterable


def signed(number: float, digits: int = 3) -> str:
    """A number with its sign; 0 has none."""
    text = f"{number:+.{digits}f}"
    return text if float(text) else text[1:]


def plain(number: float, digits: int = 3) -> str:
    """A number without a plus; 0 has no sign."""
    return signed(number, digits).removeprefix("+")


def percent(share: float, digits: int = 1) -> str:
    """A share; small ones are not told from 0."""
    return f"{100 * share:.{digits}f} %" if share >= 5e-4 else "< 0.1 %"


def rows(cells: Iterable[Iterable[object]]) -> str:
    """The rows of a table, without its head."""
    return "\n".join("|" + "".join(f" {cell} |" if cell != "" else " |" for cell in row) for row in cells)
