"""`course numbers`: writes what was measured or counted into the sentences and tables of the pages that say it.

A *claim* is a piece of a page, with the numbers that it must have now: "it knows **442 of them**", or a row of a table.
Its place is found by its words, so the numbers there may be any; claims that differ in their numbers only, as rows of a
table do, are taken in the order of the page. `page_claims` has them.

Left out: words. A claim whose words are not on its page is an error, because only a person can say what they should be
now ("rises" or "falls", "not reached" or a step).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path

from .core import course
from .generated import write_or_check
from .page_claims import CLAIMS, WordsNoLongerHold

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course numbers`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course numbers`: 0 fine, 1 a page is stale or its words have to be changed by a person."""
    texts: dict[Path, str] = {}
    for name, found in CLAIMS.items():
        path = course.ROOT / name
        try:
            texts[path] = with_numbers(path.read_text("utf-8"), [claim for claims in found for claim in claims()])
        except (NoPlace, WordsNoLongerHold) as problem:
            print(f"{name}: {problem}\nChange the page, or the claim in grader/page_claims.py.")
            return 1
    return write_or_check(texts, command="course numbers", what="the numbers on the pages are", check=arguments.check)
