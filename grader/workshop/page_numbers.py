"""`course dev numbers`: writes what was measured or counted into the sentences and tables of the pages that say it.

A *claim* is a piece of a page, with the numbers that it must have now: "it knows **442 of them**", or a row of a table.
Its place is found by its words, so the numbers there may be any; claims that differ in their numbers only, as rows of a
table do, are taken in the order of the page. `page_claims` has them.

Left out: words. A claim whose words are not on its page is an error, because only a person can say what they should be
now ("rises" or "falls", "not reached" or a step).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = r"\d+(?:[.,]\d+)*(?:e[-+]?\d+)?"


class NoPlace(Exception):
    """The words of a claim are not on its page, or more or less often than claimed."""


def with_numbers(text: str, claims: Iterable[str]) -> str:
    """A page with the numbers of its claims.

    Args:
        text: The page.
        claims: What must be on it; those with the same words in the order of the page.

    Raises:
        NoPlace: its words are not there, or not as often as they are claimed.
    """
    by_words: dict[str, list[str]] = {}
    for claim in claims:
        by_words.setdefault(_pattern(claim), []).append(claim)
    changes: dict[int, tuple[int, str]] = {}
    for pattern, alike in by_words.items():
        places = list(re.finditer(pattern, text))
        if len(places) != len(alike):
            raise NoPlace(f"{len(places)} places, not {len(alike)}, have the words of: {alike[0]}")
        for place, claim in zip(places, alike, strict=True):
            for number, new in enumerate(re.findall(_NUMBER, claim), 1):
                changes[place.start(number)] = (place.end(number), new)
    for start, (end, new) in sorted(changes.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _pattern(claim: str) -> str:
    """Matches the words of a claim wherever lines end, with a group for each number; a row of a table as a whole."""
    pieces = re.split(f"({_NUMBER})", claim)
    words = [r"\s+".join(map(re.escape, re.split(r"\s+", piece))) for piece in pieces[::2]]
    start = "(?m:^)" if claim.startswith("|") else r"(?<![\d.,])" * (not pieces[0])
    end = "(?m:$)" if claim.startswith("|") else r"(?![.,]?\d)" * (not pieces[-1])
    return start + f"({_NUMBER})".join(words) + end
