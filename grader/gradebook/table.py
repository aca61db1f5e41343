"""A delimited text file whose cells can change one by one, while every other byte stays the same.

Every cell keeps its text from the file, with its quotes, so unchanged cells are written as they were.
Python's `csv` reads such files too, but forgets how a cell was quoted and how a line ended.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SEPARATORS = (",", ";", "\t")


class GradebookError(Exception):
    """The export is unusable. The text says why, and what to do."""


@dataclass(frozen=True)
class Row:
    """One record.

    Attributes:
        cells: The cells as in the file, with their quotes.
        end: Its end: some kind of newline, or nothing in the last record.
        line: The line where it starts, from 1.
    """

    cells: tuple[str, ...]
    end: str
    line: int


@dataclass(frozen=True)
class Table:
    """The whole file.

    Attributes:
        encoding: Encoding, without a byte-order mark.
        bom: The byte order mark, if there is one.
        separator: Between cells.
        rows: The header first.
    """

    encoding: str
    bom: bytes
    separator: str
    rows: tuple[Row, ...]

    @property
    def header(self) -> list[str]:
        """The titles of the columns, without surrounding blanks."""
        return self.texts(0)

    def texts(self, row: int) -> list[str]:
        """The texts of a record, without quotes and surrounding blanks."""
        return [_unquoted(cell).strip() for cell in self.rows[row].cells]

    def text(self, row: int, column: int) -> str:
        """The text of a cell; empty where the record is too short."""
        cells = self.rows[row].cells
        return _unquoted(cells[column]).strip() if column < len(cells) else ""

    def changed(self, cells: Mapping[tuple[int, int], str]) -> Table:
        """The same table with new texts in some cells, by record and column. A quoted cell stays quoted.

        Raises:
            GradebookError: a record is too short for its cell.
        """
        rows = list(self.rows)
        for (row, column), text in cells.items():
            old = list(rows[row].cells)
            if column >= len(old):
                raise GradebookError(
                    f"line {rows[row].line} has {len(old)} cells, the header has {len(rows[0].cells)}; export it again"
                )
            needs_quotes = old[column].startswith('"') or any(c in text for c in ('"', "\r", "\n", self.separator))
            old[column] = '"' + text.replace('"', '""') + '"' if needs_quotes else text
            rows[row] = replace(rows[row], cells=tuple(old))
        return replace(self, rows=tuple(rows))

    def as_bytes(self) -> bytes:
        """The file."""
        text = "".join(self.separator.join(row.cells) + row.end for row in self.rows)
        return self.bom + text.encode(self.encoding)


def read_table(data: bytes, is_header: Callable[[Sequence[str]], bool], advice: str = "") -> Table:
    """The table in a file, separated by commas, semicolons or tabs.

    Args:
        data: The file.
        is_header: Whether these are the titles of the columns; it decides which separator is the right one.
        advice: What to do if no line has them.

    Raises:
        GradebookError: it is no such file.
    """
    encoding, bom, text = _decoded(data)
    for separator in _SEPARATORS:
        rows = _rows(text, separator)
        table = Table(encoding, bom, separator, tuple(itertools.islice(rows, 1)))
        if table.rows and is_header(table.header):
            return replace(table, rows=(*table.rows, *rows))
    first = " ".join(text[:200].split("\n")[0].split())
    raise GradebookError(
        f"the first line does not have the titles of such a file; it is: {first}{advice and '; '}{advice}"
    )


def _decoded(data: bytes) -> tuple[str, bytes, str]:
    bom, encoding = next((each for each in _BOMS if data.startswith(each[0])), (b"", "utf-8"))
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        raise GradebookError(
            "it is neither UTF-8 nor UTF-16; a spreadsheet program has probably saved it, so export it again, "
            "or save it as CSV UTF-8"
        ) from None
    if "\0" in text:
        raise GradebookError("it has NUL characters, so it is no CSV file; export it again as CSV")
    return encoding, bom, text


def _rows(text: str, separator: str) -> Iterator[Row]:
    other = f"[^{separator}\r\n]*+"
    # A quoted cell may hold everything, with quotes doubled; some writers put blanks around the quotes.
    cell_and_end = re.compile(f'( *+"(?:[^"]|"")*+"{other}|{other})({separator}|\r\n|\r|\n|\\Z)')
    cells: list[str] = []
    line, start, at = 1, 1, 0
    while at < len(text) or cells:
        found = cell_and_end.match(text, at)
        if found is None or (found[1].lstrip(" ").startswith('"') and not _QUOTED.match(found[1])):
            raise GradebookError(f"line {line} opens a quote that is never closed; export it again")
        cells.append(found[1])
        line += len(re.findall("\r\n|\r|\n", found[0]))
        at = found.end()
        if found[2] != separator:
            yield Row(tuple(cells), found[2], start)
            cells, start = [], line


_QUOTED = re.compile(r' *+"(?:[^"]|"")*+"')


def _unquoted(cell: str) -> str:
    found = re.fullmatch(r' *+"((?:[^"]|"")*+)" *+', cell)
    return found[1].replace('""', '"') if found else cell
