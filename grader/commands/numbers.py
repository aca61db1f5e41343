"""`course dev numbers`: write what is measured, counted and listed into the pages that say it."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..core import course
from ..workshop import challenge
from ..workshop.generated import write_or_check
from ..workshop.page_claims import CLAIMS, WordsNoLongerHold
from ..workshop.page_lists import api_pages, page_lists, with_list
from ..workshop.page_numbers import NoPlace, with_numbers

_OF_THE_REPOSITORY = ("README.md", "CHANGELOG.md", ".github/")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev numbers`."""
    parser.add_argument(
        "--repository", action="store_true", help="also README, CHANGELOG and .github of the course itself"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev numbers`: 0 fine, 1 a page is stale or its words have to be changed by a person."""
    texts: dict[Path, str] = {course.ROOT / name: text for name, text in api_pages().items()}
    try:
        lists = [*page_lists()]
    except challenge.NoRun as problem:
        print(f"{challenge.FILE.relative_to(course.ROOT)}: {problem}")
        return 1
    for name in dict.fromkeys((*(each.path for each in lists), *CLAIMS)):
        if name.startswith(_OF_THE_REPOSITORY) and not arguments.repository:
            continue  # they describe the original, not what a class sees
        path = course.ROOT / name
        text = path.read_text("utf-8")
        try:
            for wanted in lists:
                text = with_list(text, wanted) if wanted.path == name else text
            texts[path] = with_numbers(text, [claim for claims in CLAIMS.get(name, ()) for claim in claims()])
        except (NoPlace, WordsNoLongerHold) as problem:
            print(f"{name}: {problem}")
            print("Change the page, or what grader/workshop/page_claims.py or page_lists.py says of it.")
            return 1
    return write_or_check(
        texts, command="course dev numbers", what="the numbers on the pages are", check=arguments.check
    )
