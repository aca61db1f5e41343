"""`course handout`: make the handout for students, and search it for anything that they must not see."""

from __future__ import annotations

import argparse
import shutil
import sys
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from .. import __version__
from ..core import course
from ..core.arguments import add_exercises, exercises_to_hand_out, path_argument
from ..core.course_file import is_address, read_course_file
from ..core.text import pluralize
from ..workshop import handout
from ..workshop.leak_scan import Leak, scan, secrets
from ..workshop.stubs import StubError

_FOLDER = "grpo-course"  # of the zip
EXAMPLES = """examples:
  course handout --out ../grpo-students --site https://example.org/
                             a folder to publish as a repository; reports link to the pages of your site
  course handout --out grpo.zip
                             a zip that includes the pages of the exercises
  course handout --out grpo.zip --exercises advantages clip kl
                             only the first three exercises
  course handout --update ../grpo-students
                             a fix in week three: replaces everything except the modules that students write
  course handout --verify ../grpo-students
                             searches for anything that students must not see

The same course gives the same bytes.

exit code: 0 fine, 1 it contains something that students must not see, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course handout`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--out", type=path_argument, metavar="OUT", help="new or empty folder, or a name that ends in .zip"
    )
    parser.add_argument(
        "--site", type=site_url, metavar="URL",
        help="address of the course's published pages (default: site in course.toml); without it, the pages of the "
        "exercises and of their mistakes are included",
    )  # fmt: skip
    add_exercises(parser)
    parser.add_argument("--force", action="store_true", help="replace an older handout, but keep its .git")
    parser.add_argument(
        "--update", type=path_argument, metavar="FOLDER",
        help="update the given code, checks and pages of an older handout, but no module that students write",
    )  # fmt: skip
    parser.add_argument(
        "--verify", type=path_argument, metavar="PATH", help="search a folder or zip for leaks; write nothing"
    )
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course handout`: 0 fine, 1 a leak, 2 wrong usage."""
    if [arguments.out, arguments.verify, arguments.update].count(None) != 2:
        arguments.usage_error("give one of --out OUT, --update FOLDER or --verify PATH")
    if arguments.update:
        return _update(arguments)
    if arguments.verify:
        if not arguments.verify.exists():
            arguments.usage_error(f"there is no {arguments.verify} to verify")
        return _report(_leaks(arguments.verify), f"{arguments.verify}: nothing that students must not see")
    out: Path = arguments.out
    _refuse_to_overwrite(arguments, out)
    exercises = exercises_to_hand_out(arguments)
    try:
        files = handout.make(site=arguments.site or course.WRITTEN.site or None, exercises=exercises)
    except (StubError, OSError) as error:
        arguments.usage_error(str(error))
    leaks = scan(files, secrets())
    try:
        if not leaks:
            _write(files, out)
    except OSError as error:
        arguments.usage_error(f"cannot write {out}: {error.strerror}")
    return _report(leaks, f"wrote {out}: {pluralize(len(files), 'file')}, nothing that students must not see")


def _write(files: Mapping[str, bytes], out: Path) -> None:
    """Write a zip, or a folder in place of an older handout."""
    if _is_zip(out):
        handout.write_zip(files, out, folder=_FOLDER)
        return
    for each in out.iterdir() if out.is_dir() else ():
        if each.name == ".git":
            continue
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
    handout.write_folder(files, out)


def _update(arguments: argparse.Namespace) -> int:
    """Update an older handout, with the same exercises and site."""
    folder: Path = arguments.update
    manifest = handout.manifest_of(folder)
    if not manifest:
        arguments.usage_error(f"{folder} is not the folder of a handout ({handout.MANIFEST} is missing)")
    try:
        theirs = read_course_file((folder / manifest).parents[2] / course.FILE.name)
        names = {*theirs.exercises, *theirs.optional}
        exercises = tuple(each for each in course.HANDED_OUT if each.name in names)
        files = handout.make(site=arguments.site or theirs.site or course.WRITTEN.site or None, exercises=exercises)
        if leaks := scan(files, secrets()):
            return _report(leaks, "")
        written, removed, kept = handout.renew(folder, files)
    except OSError as error:
        arguments.usage_error(f"cannot update {error.filename or folder}: {error.strerror or error}")
    except ValueError as error:
        arguments.usage_error(f"{folder} is no longer a complete handout ({error}); make a new one with --out")
    count, gone = pluralize(len(written), "file"), pluralize(len(removed), "file")
    print(f"{folder} (version {__version__}): {count} updated, {gone} removed, nothing that students must not see")
    print(f"kept unchanged: {', '.join(kept) or 'none'}")
    return 0


def site_url(text: str) -> str:
    """An address on the command line, with a slash at the end."""
    if not is_address(text):
        raise argparse.ArgumentTypeError(f"must be an address such as https://example.org/grpo/, not {text!r}")
    return text.rstrip("/") + "/"


def _refuse_to_overwrite(arguments: argparse.Namespace, out: Path) -> None:
    if not out.absolute().parent.is_dir():
        arguments.usage_error(f"cannot write {out.name}: there is no folder {out.parent}")
    if out.is_dir() and _is_zip(out):
        arguments.usage_error(f"{out} is a folder; give the zip another name")
    if out.exists() and not out.is_dir() and not _is_zip(out):
        arguments.usage_error(f"{out} is a file; give a folder, or a name that ends in .zip")
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not arguments.force:
        arguments.usage_error(f"{out} already exists; give another name, or --force to replace it")
    if out.is_dir() and not handout.manifest_of(out):
        arguments.usage_error(f"{out} is not a handout ({handout.MANIFEST} is missing), so --force does not replace it")


def _is_zip(out: Path) -> bool:
    return out.suffix.lower() == ".zip"


def _leaks(path: Path) -> list[Leak]:
    try:
        files = handout.read(path)
    # The last three mean a password, an unknown compression method and damaged data.
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error) as error:
        return [Leak(str(path), 0, f"not readable: {error}")]
    foreign = [Leak(name, 0, "not part of this course's handout") for name in handout.foreign(files)]
    return [*foreign, *scan(files, secrets())]


def _report(leaks: list[Leak], fine: str) -> int:
    for leak in leaks:
        print(leak)
    if leaks:
        print(f"course: {pluralize(len(leaks), 'finding')}; do not publish this", file=sys.stderr)
        return 1
    print(fine)
    return 0
