"""Makes text that came from a submission safe to show: no escape sequences, nothing invisible or reordering."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

_REMOVED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# Letters, marks and a sign that nothing is drawn for: Unicode's Default_Ignorable_Code_Point outside of these
# categories, and the empty Braille pattern.
_BLANK = r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
# A line of a build log that begins like this is a command to the machine that runs the build. Where a report is folded
# to a width, any place of a text may begin a line; there only whole commands count, because x[::2] is Python.
_WORKFLOW_COMMAND = re.compile(r"(?m)^([^\S\n]*)(::)")
_FOLDED_COMMAND = re.compile(r"::(?=[\w-]+(?: [^\n]*?)?::)")
_LOGGING_COMMAND = re.compile(r"##(?=\w*\[)")  # older ones of GitHub, Azure's, TeamCity's: anywhere in a line
# German and French spreadsheets split cells at semicolons, even inside quotes.
_FORMULA = re.compile(
    r"(^|;)(?=\s*[-=+@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20\u207a\u207b\u207c\u208a\u208b\u208c])"
)

# Commands to a terminal, removed with their parameters.
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")

_NOT_PLAIN_ASCII = re.compile(
    r"[^\n\t -~]+"
)  # all else is visible and no mark, and nearly all of a page is of that kind

MARKS = 8
"""Marks that one letter may carry. Scripts need a handful; a pile of hundreds is drawn over the lines around it."""


def is_invisible(character: str) -> bool:
    """Whether a character has no picture of its own: control, format, private and blank ones, but no spaces."""
    return unicodedata.category(character) in _REMOVED or re.match(_BLANK, character) is not None


def plain(text: str, *, limit: int = 4_000) -> str:
    """The text without control, format and private characters, cut to a length with a note.

    Newlines stay and tabs become spaces. What is left cannot move a cursor, change a colour, cover other lines or
    command a build machine.
    """
    return _cut(_no_commands(_shown(text)), limit)


def visible(text: str) -> str:
    """The text with invisible characters written out: U+202E becomes "[U+202E]".

    A reader sees what was hidden in the text, and it has no effect. Newlines and tabs stay.
    """
    return _NOT_PLAIN_ASCII.sub(_written_out, text.replace("\r\n", "\n"))


def _written_out(run: re.Match[str]) -> str:
    return "".join(f"[U+{ord(c):04X}]" if piled or is_invisible(c) else c for c, piled in _marked(run[0]))


def _marked(text: str) -> Iterator[tuple[str, bool]]:
    """Each character, and whether it is one mark too many on its letter."""
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        yield character, marks > MARKS


def without_logging_commands(text: str) -> str:
    """The text in which nothing like ##[error] or ##vso[...] stands, which a build machine obeys anywhere in a line."""
    return _LOGGING_COMMAND.sub("## ", text)


def one_line(text: str, *, limit: int = 200) -> str:
    """The same for text that belongs into a line: a newline in a name must not begin a line of its own."""
    return _cut(_no_commands(" ".join(_shown(text).split())), limit)


def _shown(text: str) -> str:
    """Only characters that show themselves, and newlines."""
    text = _ESCAPE_SEQUENCE.sub("", text).expandtabs(4)
    kept = "".join(c for c in text if c == "\n" or unicodedata.category(c) not in _REMOVED)
    return kept if kept.isascii() else "".join(c for c, piled in _marked(kept) if not piled)


def _no_commands(text: str) -> str:
    return without_logging_commands(_FOLDED_COMMAND.sub(": :", _WORKFLOW_COMMAND.sub(r"\1| \2", text)))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + f" [cut: {len(text) - limit} more characters]"


def as_sentence(text: str) -> str:
    """A message as a sentence: with a capital, unless it begins with a name of code, and with a full stop."""
    first = text.partition(" ")[0]
    is_word = first.isalpha() and first.islower()
    text = text[:1].upper() + text[1:] if is_word else text
    return text if not text or text[-1] in ".?!:)" or "\n" in text else f"{text}."


def pluralize(number: int, what: str) -> str:
    """A number and what is counted, of which `what` is one: "1 check", "2 checks"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: "clip", "clip and kl", "advantages, clip and kl"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def some(lines: Sequence[str]) -> str:
    """The first three of some lines of a submission, and how many more there are."""
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    return "; ".join(one_line(line, limit=60) for line in lines[:3]) + more


_NO_END = r"(?<!\bDr)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)"


def first_sentence(text: str) -> str:
    """The text up to its first full stop; one of an abbreviation ("Dr. GRPO") or of a number is none."""
    return re.split(rf"{_NO_END}\.(?=\s|$)", text, maxsplit=1)[0].rstrip(".") + "."


def spreadsheet_safe(text: str) -> str:
    """The text, with a quotation mark in front if a spreadsheet would treat it as a formula. Never for numbers.

    That is in front of the signs, also those of other widths, and where a spreadsheet would split the cell.

    Source: OWASP, "CSV Injection".
    """
    return _FORMULA.sub(r"\1'", f"'{text}" if text.startswith(("\t", "\r", "\n")) else text)
