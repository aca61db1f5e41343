"""`course dev numbers`: write what `course.toml` says into menus and a script of the site."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..core import course
from ..workshop.course_lists import NoPlace, course_lists, with_list
from ..workshop.generated import write_or_check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev numbers`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev numbers`: 0 fine, 1 a file is stale, or has no place for a list."""
    texts: dict[Path, str] = {}
    for wanted in course_lists():
        path = course.ROOT / wanted.path
        try:
            texts[path] = with_list(texts.get(path) or path.read_text("utf-8"), wanted)
        except NoPlace as problem:
            print(f"{wanted.path}: {problem}")
            return 1
    return write_or_check(texts, command="course dev numbers", what="the lists are", check=arguments.check)
