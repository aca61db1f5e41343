"""Lists the files of a student's folder or archive, and writes nothing.

Nothing is ever unpacked to a disk, so a path that leads outside, a link, a device or a strange name can do no harm: all
files are listed, and only the wanted ones are read, each up to a limit. The formats are zip, tar and tar.gz. The grader
refuses others with a sentence, because their readers may need gigabytes for a small file.

The readers of archives are imported only for an archive, so grading a folder does not wait for them.
"""

from __future__ import annotations

import errno
import functools
import io
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from .text import one_line

if TYPE_CHECKING:
    import zipfile

MAX_ARCHIVE_BYTES = 20_000_000
"""Limit for one student's archive. A submission has about ten kilobytes; a virtual environment is too large."""

MAX_MEMBERS = 50_000
MAX_CLASS_MEMBERS = 10_000_000
MAX_UNPACKED_BYTES = 60_000_000
"""Limit for a tar.gz, which is unpacked in memory."""

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
OTHER_ARCHIVES = (".7z", ".rar", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".gz", ".bz2", ".xz")
# Folders of tools and others without a student's answers. The reader skips them, because some are huge.
_IGNORED = {
    "__MACOSX", "__pycache__", "venv", "env", "node_modules", "site-packages", "reference", "grader", "docs", "tests",
}  # fmt: skip
_TOO_MANY = f"it contains more than {MAX_MEMBERS} files; hand in only the modules"
_ENTRY_OF_ZIP = b"PK\x01\x02"
_OPEN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


def _nothing(_: int) -> bytes:
    return b""


class UnreadableError(Exception):
    """A file or an archive cannot be read. The text is a sentence for its student."""


@dataclass(frozen=True)
class Member:
    """One file of a folder or an archive."""

    path: PurePosixPath  # from the top; never leads outside. Several members may have the same path.
    read: Callable[[int], bytes] = _nothing  # returns its first bytes, at most as many as asked for
    problem: str = ""  # why it must not be read, for example because it is a link
    upload: int = 0  # number that a platform gave to its upload; a later one has a higher number
    notebook: str = ""  # the notebook with the `%%writefile` cell that writes it

    @functools.cached_property
    def name(self) -> str:
        return self.path.name

    def first_bytes(self, limit: int, name: str = "") -> bytes:
        """Its first bytes.

        Args:
            limit: How many at most.
            name: What the sentence of an error calls it, if that is not its own name.

        Raises:
            UnreadableError: it has a problem, or reading it fails.
        """
        name = name or one_line(self.name)
        if self.problem:
            raise UnreadableError(f"{name} {self.problem}")
        try:
            return self.read(limit)
        except OSError as error:
            raise UnreadableError(f"{name} cannot be read: {error.strerror}") from None
        except Exception as error:  # unpacking may reveal damage in an archive
            raise UnreadableError(f"{name} cannot be unpacked ({type(error).__name__}); pack it again") from None


def in_memory(data: bytes | memoryview) -> Callable[[int], bytes]:
    """How a member is read whose bytes are at hand."""
    return lambda limit: bytes(data[:limit])


def members_of_folder(folder: Path, *, max_members: int = MAX_MEMBERS) -> list[Member]:
    """Every file below a folder, sorted; folders that are links are not entered.

    Raises:
        UnreadableError: it holds too many files.
        OSError: the folder itself cannot be read.
    """
    members: list[Member] = []
    waiting = [(folder, PurePosixPath())]
    while waiting:  # os.walk recurses in Python 3.11, and folders may be nested deeper than that goes
        path, below = waiting.pop()
        folders: list[str] = []
        try:
            with os.scandir(path) as entries:
                listed = sorted(itertools.islice(entries, max_members + 1), key=lambda entry: entry.name)
        except OSError:
            if path == folder:
                raise
            continue
        for entry in listed:
            if entry.is_dir(follow_symlinks=False) and not entry.name.endswith(".py"):
                folders += [] if is_ignored(entry.name) else [entry.name]
            elif not os.path.isdir(entry) or entry.name.endswith(".py"):
                members.append(member_of_folder(path / entry.name, below / entry.name))
        if len(members) + len(folders) > max_members:
            raise UnreadableError(f"it contains more than {max_members} files; hand in only the modules")
        waiting += [(path / name, below / name) for name in reversed(folders)]
    return members


def member_of_folder(file: Path, path: PurePosixPath) -> Member:
    """One file of a disk; a link or a pipe is not followed and not opened.

    Args:
        file: Where it is.
        path: What it is called in the listing.
    """
    try:
        mode = os.lstat(file).st_mode
    except OSError as error:
        return Member(path, problem=f"cannot be read: {error.strerror}")
    if stat.S_ISLNK(mode):
        return Member(path, problem="is a symbolic link; hand in the file itself")
    if not stat.S_ISREG(mode):  # opening a pipe would wait for ever
        return Member(path, problem="is not a file")

    def read(limit: int) -> bytes:
        # It may have become a pipe or a link since it was listed: a pipe would be waited for, a link followed.
        with open(os.open(file, _OPEN), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is no longer a file")
            return opened.read(limit)

    return Member(path, read)


def members_of_archive(name: str, data: bytes) -> list[Member]:
    """Every file of an archive, in its order.

    Args:
        name: Of the archive; its ending says which kind it is.
        data: Its bytes.

    Raises:
        UnreadableError: it is not what its name says, or too large.
    """
    if len(data) > MAX_ARCHIVE_BYTES:
        raise UnreadableError(f"{name} is larger than {MAX_ARCHIVE_BYTES // 10**6} MB; hand in only the modules")
    try:
        return list(_of_zip(data) if name.lower().endswith(".zip") else _of_tar(data))
    except UnreadableError:
        raise
    except Exception as error:  # a hostile archive may make its reader raise anything
        reason = f"{type(error).__name__}: {error}"
        raise UnreadableError(f"{name} cannot be read ({reason}); pack it again as a zip") from None


def members_of_zip(path: Path) -> list[Member]:
    """Every file of the zip of a whole class, which may be large; a file is read from the disk when it is wanted.

    Folders of the first two levels are listed whatever they are called, because one level has the names of students.

    Raises:
        UnreadableError: it is not a zip.
    """
    try:
        return list(_of_zip(path, max_members=MAX_CLASS_MEMBERS, levels=2))
    except Exception as error:  # as in `members_of_archive`
        raise UnreadableError(f"{path} cannot be read ({error}); unpack it and give the folder") from None


def is_ignored(name: str) -> bool:
    """Whether folders of this name never contain a student's answer."""
    return name in _IGNORED or name.startswith(".")


def _of_zip(source: bytes | Path, *, max_members: int = MAX_MEMBERS, levels: int = 0) -> Iterator[Member]:
    import zipfile

    if isinstance(source, bytes) and source.count(_ENTRY_OF_ZIP) > MAX_MEMBERS:
        raise UnreadableError(_TOO_MANY)  # before they are listed, which takes a kilobyte per file
    archive = zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source)
    infos = archive.infolist()
    if len(infos) > max_members:
        raise UnreadableError(_TOO_MANY)
    # In the zip of a class, one student's name must not lead into the folder of another.
    backslash = not levels or all("\\" in info.filename and "/" not in info.filename for info in infos)
    for info in infos:
        path = _safe(info.filename, levels, backslash=backslash)
        if info.is_dir() or path is None:
            continue
        problem = ""
        if stat.S_IFMT(info.external_attr >> 16) == stat.S_IFLNK:
            problem = "is a symbolic link; hand in the file itself"
        elif info.flag_bits & 0x1:
            problem = "is encrypted; pack it without a password"
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            problem = "uses a compression method that few programs read; pack it again as a plain zip"
        yield Member(path, _nothing if problem else partial(_read_from_zip, archive, info), problem)


def _of_tar(data: bytes) -> Iterator[Member]:
    import gzip
    import tarfile

    if data[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            data = packed.read(MAX_UNPACKED_BYTES + 1)
    if len(data) > MAX_UNPACKED_BYTES:
        raise UnreadableError(f"it unpacks to more than {MAX_UNPACKED_BYTES // 10**6} MB; hand in only the modules")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for number, info in enumerate(archive):  # a header may send its reader back, so they are counted
            if number >= MAX_MEMBERS:
                raise UnreadableError(_TOO_MANY)
            path = _safe(info.name)
            if path is None or info.isdir():
                continue
            if not info.isreg() or info.issparse():
                yield Member(path, problem="is a link or not a plain file; hand in the file itself")
            else:
                yield Member(path, in_memory(memoryview(data)[info.offset_data : info.offset_data + info.size]))


def _safe(name: str, levels: int = 0, *, backslash: bool = True) -> PurePosixPath | None:
    """A member's path, or None if it leads into a folder that is ignored.

    Folders of the first `levels` may have the names of students, and a student may be called Docs.
    A backslash separates folders too, unless it is a letter of a name. A path that leads outside does not: ".." becomes
    the name of a folder, and nothing is written there.
    """
    parts = [part for part in (name.replace("\\", "/") if backslash else name).split("/") if part not in ("", ".")]
    parts = ["(..)" if part == ".." else part for part in parts]
    if not parts or any(map(is_ignored, parts[levels:-1])) or "\0" in name or "__MACOSX" in parts:
        return None
    return PurePosixPath(*parts)


def _read_from_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    with archive.open(info) as opened:
        return opened.read(limit)
