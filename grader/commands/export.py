"""`course export`: convert a result to the format of another program."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from ..core.arguments import path_argument
from ..core.result import Result, from_json, replace_file
from ..reports import FORMATS, export

EXAMPLES = """examples:
  grade --path starter --json result.json
  course export gradescope result.json --out results.json
  course export junit result.json > junit.xml
  course export github-summary result.json >> "$GITHUB_STEP_SUMMARY"

`grade --write FORMAT=FILE` writes a format while it grades. docs/instructors/class.md#formats describes the formats.

exit code: 0 written, 2 wrong usage: no such file, not a result, a result of debug mode, or a missing variable
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course export`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    names = [name for name, module in FORMATS.items() if importlib.util.find_spec(f"grader.reports.{module}")]
    parser.add_argument("format", choices=names, metavar="FORMAT", help=", ".join(names))
    parser.add_argument("result", type=path_argument, metavar="RESULT.json", help="result that `grade --json` wrote")
    parser.add_argument("--out", type=path_argument, metavar="FILE", help="file to write (default: print)")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course export`: 0 written, 2 wrong usage."""
    try:
        text = export(_read(arguments.result), arguments.format, os.environ)
    except ValueError as error:
        arguments.usage_error(f"cannot export {arguments.result}: {error}")
    if arguments.out is None:
        _print(text)
        return 0
    try:
        replace_file(arguments.out.absolute(), text)
    except OSError as error:
        arguments.usage_error(f"cannot write {arguments.out}: {error.strerror}")
    return 0


def _read(path: Path) -> Result:
    """The result in a file.

    Raises:
        ValueError: the file holds no result; the text says why.
    """
    try:
        return from_json(path.read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"it is not readable ({error.strerror}); give a file that `grade --json` wrote") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text; give a file that `grade --json` wrote") from None


def _print(text: str) -> None:
    """Print the same bytes everywhere: Windows uses other line endings, and often not UTF-8."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
