"""`course handout`: make what students get, and look through it for what they must not have."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

from ..core import course
from ..core.arguments import add_exercises, exercises_to_hand_out, path_argument
from ..core.course_file import is_address, read_course_file
from ..core.text import counted
from ..workshop import handout
from ..workshop.handout_update import carry_out, plan
from ..workshop.leak_scan import Leak, scan, secrets
from ..workshop.stubs import StubError

_FOLDER = "grpo-course"  # of the zip
EXAMPLES = """examples:
  course handout --out ../grpo-students --site https://example.org/
                             a folder, to publish as a repository; reports name the pages of your site
  course handout --out grpo.zip
                             a zip; the pages of the exercises come along
  course handout --out grpo.zip --exercises advantages clip kl
                             the first three exercises only
  course handout --update ../grpo-students
                             a fix in week three: everything but the modules that students write is renewed
  course handout --verify ../grpo-students
                             is there anything in it that students must not have?

The same course gives the same bytes.

exit code: 0 fine, 1 something is in it that students must not have, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course handout`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=path_argument, metavar="OUT", help="a new or empty folder, or a name with .zip")
    parser.add_argument(
        "--site", type=site_url, metavar="URL",
        help="where the pages of the course are published (default: site in course.toml); without it those of the "
        "exercises and of their mistakes come along",
    )  # fmt: skip
    add_exercises(parser)
    parser.add_argument("--force", action="store_true", help="replace an older handout; its .git stays")
    parser.add_argument(
        "--update", type=path_argument, metavar="FOLDER",
        help="renew an older handout in place: given code, checks and pages, never a module that students write",
    )  # fmt: skip
    parser.add_argument(
        "--verify", type=path_argument, metavar="PATH", help="look through a folder or zip; write nothing"
    )
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course handout`: 0 fine, 1 a leak, 2 wrong usage."""
    if [arguments.out, arguments.verify, arguments.update].count(None) != 2:
        arguments.usage_error("give --out OUT, --update FOLDER or --verify PATH")
    if arguments.update:
        return _update(arguments)
    if arguments.verify:
        if not arguments.verify.exists():
            arguments.usage_error(f"there is no {arguments.verify} to verify")
        return _told(_leaks(arguments.verify), f"{arguments.verify}: nothing that students must not have")
    out: Path = arguments.out
    as_zip = out.suffix.lower() == ".zip"
    _refuse_to_overwrite(arguments, out, as_zip=as_zip)
    exercises = exercises_to_hand_out(arguments)
    try:
        files = handout.make(site=arguments.site or course.WRITTEN.site or None, exercises=exercises)
    except (StubError, OSError) as error:
        arguments.usage_error(str(error))
    try:
        # Looked through where it was written, and moved into its place only then.
        with tempfile.TemporaryDirectory(prefix="handout-", dir=out.absolute().parent) as folder:
            made = Path(folder) / "handout"
            if as_zip:
                handout.write_zip(files, made, folder=_FOLDER)
            else:
                handout.write_folder(files, made)
            leaks = _leaks(made)
            if not leaks:
                _move(made, out)
    except OSError as error:
        arguments.usage_error(f"{out} cannot be written: {error.strerror}")
    return _told(leaks, f"{out} written: {counted(len(files), 'file')}, nothing that students must not have")


def _update(arguments: argparse.Namespace) -> int:
    """Renew an older handout, of the exercises and with the site that it has."""
    folder: Path = arguments.update
    if not (folder / handout.MANIFEST).is_file():
        arguments.usage_error(f"{folder} is no folder with a handout ({handout.MANIFEST} is missing)")
    try:
        theirs = read_course_file(folder / course.FILE.name)
        names = {*theirs.exercises, *theirs.optional}
        exercises = tuple(each for each in course.HANDED_OUT if each.name in names)
        site = arguments.site or theirs.site or course.WRITTEN.site or None
        files = handout.make(site=site, exercises=exercises)
        if leaks := scan(files, secrets()):
            return _told(leaks, "")
        update = plan(folder, files)
        carry_out(update, folder)
    except OSError as error:
        arguments.usage_error(f"{error.filename or folder} cannot be renewed: {error.strerror or error}")
    except (ValueError, KeyError) as error:
        arguments.usage_error(f"{folder} is no whole handout any more ({error}); make a new one with --out")
    version = update.after if update.before == update.after else f"{update.before}, now {update.after}"
    renewed, removed = counted(len(update.written), "file"), counted(len(update.removed), "file")
    print(f"{folder} (version {version}): {renewed} renewed, {removed} removed, nothing that students must not have")
    print(f"left as they are: {', '.join(update.kept) or 'none'}")
    for sentence in update.signatures:
        print(f"  look at  {sentence}")
    return 0


def site_url(text: str) -> str:
    """An address on the command line, with a slash at its end."""
    if not is_address(text):
        raise argparse.ArgumentTypeError(f"must be an address such as https://example.org/grpo/, not {text!r}")
    return text.rstrip("/") + "/"


def _refuse_to_overwrite(arguments: argparse.Namespace, out: Path, *, as_zip: bool) -> None:
    if not out.absolute().parent.is_dir():
        arguments.usage_error(f"there is no folder {out.parent} to write {out.name} to")
    if out.is_dir() and as_zip:
        arguments.usage_error(f"{out} is a folder; give the zip another name")
    if out.exists() and not out.is_dir() and not as_zip:
        arguments.usage_error(f"{out} is a file; give a folder, or a name that ends in .zip")
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not arguments.force:
        arguments.usage_error(f"{out} is there already; give another name, or --force to replace it")
    if out.is_dir() and not (out / handout.MANIFEST).is_file():
        arguments.usage_error(f"{out} is no handout ({handout.MANIFEST} is missing), so --force does not replace it")


def _move(made: Path, out: Path) -> None:
    """Put the handout into its place. An older one lies beside it until it is there, whole; otherwise it comes back."""
    if not out.is_dir():
        made.replace(out)
        return
    # Not in the folder that is removed in any case: what cannot be moved back must stay.
    old = Path(tempfile.mkdtemp(prefix=f"{out.name}-old-", dir=out.absolute().parent))
    moves = [(each, old / each.name) for each in out.iterdir() if each.name != ".git"]
    moves += [(each, out / each.name) for each in made.iterdir()]
    try:
        for source, target in moves:
            source.rename(target)
    except BaseException:
        for source, target in reversed(moves):
            if not os.path.lexists(source):
                target.rename(source)
        old.rmdir()
        raise
    shutil.rmtree(old)


def _leaks(path: Path) -> list[Leak]:
    try:
        files = handout.read(path)
    # The last three: a password, an unknown way of packing, damaged data.
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error) as error:
        return [Leak(str(path), 0, f"cannot be read: {error}")]
    foreign = [Leak(name, 0, "not handed out by this course") for name in handout.foreign(files)]
    return [*foreign, *scan(files, secrets())]


def _told(leaks: list[Leak], fine: str) -> int:
    for leak in leaks:
        print(leak)
    if leaks:
        print(f"course: {counted(len(leaks), 'finding')}; do not publish this", file=sys.stderr)
        return 1
    print(fine)
    return 0
