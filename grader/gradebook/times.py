"""Times as learning platforms write them, in the language and order of a site. Nothing ambiguous is guessed."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .table import GradebookError

if TYPE_CHECKING:
    from dateparser.date import DateDataParser

_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)\d{4}[-/.年]")
_ZONE = re.compile(r"\b(?!AM\b|PM\b)[A-Z]{3,5}\b")
_LONGEST = 100


@dataclass(frozen=True)
class Times:
    """What the cells of a column say.

    Attributes:
        read: By record, the time; without a zone where the cell has none.
        unread: By record, the text of a cell that is not read.
        question: What to ask where nobody can tell day and month apart; empty otherwise.
    """

    read: Mapping[int, datetime]
    unread: Mapping[int, str]
    question: str = ""


def read_times(cells: Mapping[int, str], date_format: str = "") -> Times:
    """The times in a column. All of its cells together decide whether the day or the month comes first.

    Args:
        cells: By record, the text.
        date_format: As for `datetime.strptime`; empty to go by the looks.

    Raises:
        GradebookError: the format is none.
    """
    if date_format:
        read = {row: _in_format(text, date_format) for row, text in cells.items()}
    else:
        day_first = _day_first(cells.values())
        read = {row: _read(text, day_first=day_first) for row, text in cells.items()}
    unread = {row: text for row, text in cells.items() if read[row] is None}
    found = {row: when for row, when in read.items() if when}
    unclear = next((text for text in unread.values() if not date_format and _order(text)), "")
    question = (
        f"the times look like {unclear!r}, where day and month cannot be told apart; say which comes first with "
        '--match "date_format=%d/%m/%Y %H:%M" or --match "date_format=%m/%d/%Y %H:%M"'
    )
    return Times(found, unread, question if unclear else "")


def _in_format(text: str, date_format: str) -> datetime | None:
    try:
        return datetime.strptime(text, date_format)
    except re.error:
        raise GradebookError(f"{date_format!r} is no date format; one is %d.%m.%Y %H:%M") from None
    except ValueError as error:
        if "bad directive" in str(error) or "stray" in str(error):
            raise GradebookError(f"{date_format!r} is no date format ({error}); one is %d.%m.%Y %H:%M") from None
        return None


def _order(text: str) -> tuple[int, int] | None:
    """The two numbers before the year whose order is not clear."""
    found = _NUMBERS.search(text)
    if not found or found[2] == "." or found[1] == found[3]:
        return None
    return int(found[1]), int(found[3])


def _day_first(texts: Iterable[str]) -> bool | None:
    """Whether the day comes first; None if the column does not show it, or shows both."""
    orders = [order for order in map(_order, texts) if order]
    day, month = any(first > 12 for first, _ in orders), any(second > 12 for _, second in orders)
    return None if day == month else day


def _read(text: str, *, day_first: bool | None) -> datetime | None:
    """The time in a cell; None if it is none that can be read for certain."""
    if ":" in text:
        with contextlib.suppress(ValueError):
            return datetime.fromisoformat(re.sub(r" (?=[+-]\d\d:?\d\d$|Z$)", "", text))
    zone = _ZONE.search(text)
    # A time without a year may be relative to today, and an abbreviation may mean several time zones.
    if len(text) > _LONGEST or not _YEAR.search(text) or (zone and zone[0] not in ("UTC", "GMT")):
        return None
    if _order(text) and day_first is None:
        return None
    parser = _parser("YMD" if _YEAR_FIRST.search(text) else "MDY" if day_first is False else "DMY")
    try:
        found = parser.get_date_data(text)
    except (ValueError, OverflowError):
        return None
    moment: datetime | None = found.date_obj if found.period == "time" else None
    return moment


@functools.cache
def _parser(order: str) -> DateDataParser:
    """Reads dates in all languages that Unicode's locale data describe."""
    from dateparser.date import DateDataParser  # imported late: most exports have no times to read

    return DateDataParser(
        settings={
            "DATE_ORDER": order,
            "PREFER_LOCALE_DATE_ORDER": False,
            "PARSERS": ["absolute-time"],
            "REQUIRE_PARTS": ["day", "month", "year"],
            "RETURN_TIME_AS_PERIOD": True,
            "STRICT_PARSING": True,
        }
    )
