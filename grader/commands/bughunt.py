"""`course bughunt`: write everybody's own set of the bug hunt, and say who handed in whose."""

from __future__ import annotations

import argparse
import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..classroom.results import ClassError, file_name
from ..classroom.submissions import find_submissions
from ..core import course
from ..core.arguments import path_argument
from ..core.refusal import FileRefused
from ..core.secret import FILE_NAME as SECRET
from ..core.secret import PUBLIC, secret_in
from ..core.text import counted, one_line, spreadsheet_safe
from ..gradebook.table import GradebookError, read_table
from ..grading.check import own_module
from ..workshop.generated import write_or_check
from ..workshop.stubs import make_data_stub
from .personal_data import warn_if_git_takes

NAME = "bughunt"
PIECES, ANSWERS, LIST = "bughunt_pieces.py", "bughunt.toml", "sets.csv"
EXAMPLES = f"""examples:
  course bughunt --roster names.csv --out sets
                             a folder for each name, with {PIECES} and {ANSWERS} for starter/
  course grade-all submissions.zip --out graded --secret sets/{SECRET}
                             grade them with the same secret
  course bughunt --roster names.csv --out sets --handed-in submissions.zip
                             did anybody answer the set of somebody else?
  course bughunt --practice  write the practice set, after a change of the pieces

The same name and secret give the same set. Say `personal_sets = true` in course.toml, so that the practice set, whose
answers are public, earns nothing.

exit code: 0 fine, 1 with --handed-in: somebody did, with --check: the practice set is stale, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course bughunt`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--roster", type=path_argument, metavar="FILE.csv", help="who gets a set: a table with the column name"
    )
    parser.add_argument("--out", type=path_argument, metavar="FOLDER", help="where the folders go")
    parser.add_argument(
        "--secret", type=path_argument, metavar="FILE",
        help=f"secret of the class, made if missing (default: {SECRET} in --out)",
    )  # fmt: skip
    parser.add_argument(
        "--handed-in", type=path_argument, metavar="PATH", help="write nothing; say whose sets these submissions answer"
    )
    parser.add_argument("--practice", action="store_true", help="write the practice set into reference/")
    parser.add_argument(
        "--check", action="store_true", help="with --practice: write nothing, exit with 1 if it is stale"
    )
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course bughunt`: 0 fine, 1 somebody answered another's set or the practice set is stale, 2 wrong usage."""
    if arguments.practice:
        return _practice(check=arguments.check)
    if not arguments.roster or not arguments.out:
        arguments.usage_error("give --roster FILE.csv and --out FOLDER, or --practice")
    try:
        names = _names(arguments.roster)
        arguments.out.mkdir(parents=True, exist_ok=True)
        kept = arguments.secret or arguments.out / SECRET
        secret = secret_in(kept)
        if arguments.handed_in:
            return _say_whose(names, secret, arguments.handed_in)
        _write(names, secret, arguments.out)
    except (FileRefused, GradebookError, ClassError) as error:
        arguments.usage_error(str(error))
    except OSError as error:
        arguments.usage_error(f"{error.filename or arguments.out}: {error.strerror or error}")
    for each in (arguments.out, kept):
        warn_if_git_takes(each, "names and the secret of the class")
    print(
        f"{arguments.out} written: {counted(len(names), 'set')}. Grade with --secret {kept}, and give it to no student"
    )
    return 0


def _practice(*, check: bool) -> int:
    sets, known = _modules()
    pieces = sets.pieces_of(sets.PRACTICE, PUBLIC)
    texts = {
        course.MODEL_ANSWERS / PIECES: sets.text_of(sets.PRACTICE, PUBLIC),
        course.MODEL_ANSWERS / ANSWERS: known.toml_of(known.key_of(pieces), sets.PRACTICE),
    }
    return write_or_check(texts, command="course bughunt --practice", what="the practice set is", check=check)


def _modules() -> tuple[Any, Any]:
    return own_module(NAME, "sets"), own_module(NAME, "known")


def _names(roster: Path) -> list[str]:
    """The names in a roster.

    Raises:
        GradebookError: there is no column of names, or a name is there twice.
    """
    advice = "give it a first line with the title name"
    table = read_table(roster.read_bytes(), lambda header: "name" in map(str.lower, header), advice)
    column = [title.lower() for title in table.header].index("name")
    names = [name for row in range(1, len(table.rows)) if (name := table.text(row, column))]
    sets, _ = _modules()
    keys = Counter(sets.name_of_set(name, PUBLIC) for name in names)
    if twice := [name for name in names if keys[sets.name_of_set(name, PUBLIC)] > 1]:
        raise GradebookError(
            f"{one_line(twice[0])} is there twice; add something to the names that tells the two apart"
        )
    if not names:
        raise GradebookError(f"{roster} has no names")
    return names


def _write(names: Sequence[str], secret: str, out: Path) -> None:
    """Write the folders, and the list of who has which set."""
    sets, known = _modules()
    listed = io.StringIO()
    table = csv.writer(listed, lineterminator="\n")
    table.writerow(["name", "set"])
    for name in names:
        code = sets.name_of_set(name, secret)
        table.writerow([spreadsheet_safe(name), code])
        folder = out / file_name(name) / "starter"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PIECES).write_text(sets.text_of(code, secret), "utf-8", newline="\n")
        empty = known.toml_of(dict.fromkeys(sets.PIECES), code)
        (folder / ANSWERS).write_text(make_data_stub(empty), "utf-8", newline="\n")
    (out / LIST).write_text(listed.getvalue(), "utf-8", newline="\n")


def _say_whose(names: Sequence[str], secret: str, path: Path) -> int:
    """Say of each submission whose set it answers. 1 if one set is answered twice."""
    sets, _ = _modules()
    owners = {sets.name_of_set(name, secret): name for name in names} | {sets.PRACTICE: "nobody: the practice set"}
    answered = {each.name: _set_in(each.read().submission.files.get(ANSWERS, "")) for each in find_submissions(path)}
    times = Counter(answered.values())
    for submission, code in answered.items():
        owner = owners.get(code, "nobody: it is no set of this class") if code else "nobody: there is no set in it"
        twice = "  <- answered more than once" if code in owners and times[code] > 1 and code != sets.PRACTICE else ""
        print(f"{one_line(submission)}: {one_line(owner)}{twice}")
    return int(any(times[code] > 1 for code in owners.keys() - {sets.PRACTICE}))


def _set_in(text: str) -> str:
    """The set that a hand-in says it answers; "" if it says none that can be read."""
    checks = own_module(NAME, "checks")
    try:
        found = checks.entries(ANSWERS, text).get("set", "")
    except Exception:  # whatever a student wrote
        return ""
    return found if isinstance(found, str) else ""
