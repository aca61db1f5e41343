"""Times as learning platforms write them, in the language and order of a site. Nothing ambiguous is guessed."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from .table import GradebookError

_NAMES = """
january february march april may june july august september october november december
januar februar märz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november desember
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
ledna února března dubna května června července srpna září října listopadu prosince
ocak şubat mart nisan mayis haziran temmuz ağustos eylül ekim kasim aralik
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta
 joulukuuta
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
"""
_WORD = r"([^\W\d_]{3,})\.?"
_DAY_NAME_YEAR = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:\.|º|er|st|nd|rd|th)?\s*(?:de |of )?\s*{_WORD},?\s+(?:de )?(\d{{4}})"
)
_NAME_DAY_YEAR = re.compile(rf"{_WORD}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.年]\s?(\d{1,2})[-/.月]\s?(\d{1,2})日?")
_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")
_TIME = re.compile(r"(?<!\d)(\d{1,2})[:.h]\s?(\d{2})(?:[:.](\d{2}))?(?!\d)")
_AFTERNOON = re.compile(r"(?<![^\W\d_])p\.?\s?m\b|下午|午後|오후", re.IGNORECASE)
_MORNING = re.compile(r"(?<![^\W\d_])a\.?\s?m\b|上午|午前|오전", re.IGNORECASE)
_ZONE = re.compile(r"[+-]\d\d:?\d\d\b|\b(?!AM\b|PM\b)[A-Z]{3,5}\b")


def _plain(text: str) -> str:
    """In small letters without accents, which some sites drop."""
    letters = unicodedata.normalize("NFKD", text.casefold()).replace("\N{LATIN SMALL LETTER DOTLESS I}", "i")
    return "".join(c for c in letters if not unicodedata.combining(c))


_MONTHS: dict[str, int] = {}
for _line in _NAMES.strip().replace("\n ", " ").splitlines():
    _MONTHS |= {_plain(name): number for number, name in enumerate(_line.split(), 1)}


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
    date = _date(text, day_first=day_first)
    if not date:
        return None
    (year, month, day), rest = date
    clock = _TIME.search(rest)
    zone = _ZONE.search(rest)
    if not clock or (zone and zone[0] not in ("UTC", "GMT")):
        return None
    hour, minute, second = (int(part or 0) for part in clock.groups())
    if _AFTERNOON.search(rest) or _MORNING.search(rest):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * bool(_AFTERNOON.search(rest))
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC if zone else None)
    except ValueError:
        return None


def _date(text: str, *, day_first: bool | None) -> tuple[tuple[int, int, int], str] | None:
    """Year, month and day, and the text without them."""
    for form, name, day in ((_DAY_NAME_YEAR, 2, 1), (_NAME_DAY_YEAR, 1, 2)):
        found = form.search(text)
        month = _month(found[name]) if found else None
        if found and month:
            return (int(found[3]), month, int(found[day])), _without(text, found)
    if found := _YEAR_FIRST.search(text):
        return (int(found[1]), int(found[2]), int(found[3])), _without(text, found)
    found = _NUMBERS.search(text)
    if not found:
        return None
    first, second = int(found[1]), int(found[3])
    if found[2] == "." or first == second:
        day_first = True
    if day_first is None:
        return None
    day_number, month_number = (first, second) if day_first else (second, first)
    return (int(found[4]), month_number, day_number), _without(text, found)


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"


def _month(word: str) -> int | None:
    """The number of a month, from its name or the beginning of it that only one month has."""
    plain = _plain(word)
    numbers = {_MONTHS[plain]} if plain in _MONTHS else {n for name, n in _MONTHS.items() if name.startswith(plain)}
    return numbers.pop() if len(numbers) == 1 else None
