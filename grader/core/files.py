"""Reads the few files that matter out of a folder or an archive that a student made, and writes nothing.

Nothing is ever unpacked to a disk, so a path that leads outside, a link, a device or a strange name can do no harm:
they are listed, and only wanted files are read, each up to a limit. zip, tar and tar.gz; other kinds of packing are
refused with a sentence, because their readers may need gigabytes for a small file.

The readers of archives are imported where there is one: who grades a folder does not wait for them.
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
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import tarfile
    import zipfile

MAX_ARCHIVE_BYTES = 20_000_000
"""Of one student's archive; a submission takes some ten kilobytes, one with a virtual environment too much."""

MAX_MEMBERS = 50_000
MAX_CLASS_MEMBERS = 10_000_000
MAX_UNPACKED_BYTES = 60_000_000
"""Of a tar.gz, which can be read from front to back only."""

MAX_EXTENSION_BYTES, MAX_EXTENSIONS_BYTES = 4_000, 500_000
"""Of one extended header of a tar and of all: older Pythons take a time that grows with the square of its length."""

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
OTHER_ARCHIVES = (".7z", ".rar", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".gz", ".bz2", ".xz")
# What tools leave behind, and folders in which no student's answer lies. Not walked through: some are huge.
_IGNORED = {
    "__MACOSX", "__pycache__", "venv", "env", "node_modules", "site-packages", "reference", "grader", "docs", "tests",
}  # fmt: skip
_OUTSIDE, _LEADS_OUTSIDE = "(..)", "has a path that leads outside of the archive; pack it again"
_ENTRY_OF_ZIP = b"PK\x01\x02"
_OPEN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


class ArchiveError(Exception):
    """This archive cannot be read. The text is a sentence for its student."""


@dataclass(frozen=True)
class Member:
    """One file of a folder or an archive.

    Attributes:
        path: Where, with slashes, from the top; made safe: it never leads outside. Several may have the same.
        read: Gives its first bytes, as many as asked for at most.
        problem: Why it must not be read: a link, for example.
        upload: Number that a platform gave to its upload; a later one has a higher number.
    """

    path: PurePosixPath
    read: Callable[[int], bytes]
    problem: str = ""
    upload: int = 0

    @functools.cached_property
    def name(self) -> str:
        return self.path.name

    @property
    def is_archive(self) -> bool:
        return self.name.lower().endswith(ARCHIVES)


def members_of_folder(folder: Path, *, max_members: int = MAX_MEMBERS) -> list[Member]:
    """Every file below a folder, sorted; folders that are links are not entered.

    Raises:
        ArchiveError: it holds too many files.
        OSError: the folder itself cannot be read.
    """
    found: list[Member] = []
    places = [(folder, PurePosixPath())]
    while places:  # os.walk recurses in Python 3.11, and folders may be nested deeper than that goes
        place, below = places.pop()
        folders: list[str] = []
        try:
            with os.scandir(place) as entries:
                listed = sorted(itertools.islice(entries, max_members + 1), key=lambda entry: entry.name)
        except OSError:
            if place == folder:
                raise
            continue
        for entry in listed:
            if entry.is_dir(follow_symlinks=False) and not entry.name.endswith(".py"):
                folders += [] if is_ignored(entry.name) else [entry.name]
            elif not os.path.isdir(entry) or entry.name.endswith(".py"):
                found.append(member_of_folder(place / entry.name, below / entry.name))
        if len(found) + len(folders) > max_members:
            raise ArchiveError(f"it holds more than {max_members} files; hand in the modules only")
        places += [(place / name, below / name) for name in reversed(folders)]
    return found


def member_of_folder(file: Path, path: PurePosixPath) -> Member:
    """One file of a disk; a link or a pipe is not followed and not opened.

    Args:
        file: Where it is.
        path: What it is called in the listing.
    """
    try:
        mode = os.lstat(file).st_mode
    except OSError as error:
        return Member(path, _nothing, f"cannot be read: {error.strerror}")
    if stat.S_ISLNK(mode):
        return Member(path, _nothing, "is a symbolic link; hand in the file itself")
    if not stat.S_ISREG(mode):  # opening a pipe would wait for ever
        return Member(path, _nothing, "is not a file")

    def read(limit: int) -> bytes:
        # It may have become a pipe or a link since it was listed: a pipe would be waited for, a link followed.
        with open(os.open(file, _OPEN), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is no file any more")
            return opened.read(limit)

    return Member(path, read)


def members_of_archive(name: str, data: bytes) -> list[Member]:
    """Every file of an archive, in its order.

    Args:
        name: Of the archive; its ending says what it is.
        data: Its bytes.

    Raises:
        ArchiveError: it is not what its name says, or too large.
    """
    if len(data) > MAX_ARCHIVE_BYTES:
        raise ArchiveError(f"{name} is larger than {MAX_ARCHIVE_BYTES // 10**6} MB; hand in the modules only")
    import zipfile

    try:
        if name.lower().endswith(".zip"):
            if data.count(_ENTRY_OF_ZIP) > MAX_MEMBERS:  # before they are listed, which takes a kilobyte for each
                raise ArchiveError(f"it holds more than {MAX_MEMBERS} files; hand in the modules only")
            members = _of_zip(zipfile.ZipFile(io.BytesIO(data)), max_members=MAX_MEMBERS)
        else:
            members = _of_tar(data)
        return list(members)
    except ArchiveError:
        raise
    # Whatever a reader of archives stumbles over in a hostile one is a fault of the archive.
    except Exception as error:
        raise ArchiveError(f"{name} cannot be read ({type(error).__name__}: {error}); pack it again as zip") from None


def members_of_zip(path: Path) -> list[Member]:
    """Every file of a whole class's zip, which may be large; read from the disk when it is wanted.

    Folders of the first two levels are listed whatever they are called: one of them has the names of students.

    Raises:
        ArchiveError: it is no zip.
    """
    import zipfile

    try:
        return list(_of_zip(zipfile.ZipFile(path), max_members=MAX_CLASS_MEMBERS, levels=2))
    except ArchiveError:
        raise
    except Exception as error:  # as in `members_of_archive`
        raise ArchiveError(f"{path} cannot be read ({error}); unpack it and give the folder") from None


def is_ignored(name: str) -> bool:
    """Whether no student's answer lies in a folder of this name."""
    return name in _IGNORED or name.startswith(".")


def _of_zip(archive: zipfile.ZipFile, *, max_members: int, levels: int = 0) -> Iterator[Member]:
    import zipfile

    infos = archive.infolist()
    if len(infos) > max_members:
        raise ArchiveError(f"it holds {len(infos)} files; hand in the modules only")
    for info in infos:
        path = _safe(info.filename, levels)
        if info.is_dir() or path is None:
            continue
        kind = stat.S_IFMT(info.external_attr >> 16)
        if _OUTSIDE in path.parts:
            yield Member(path, _nothing, _LEADS_OUTSIDE)
        elif kind == stat.S_IFLNK:
            yield Member(path, _nothing, "is a symbolic link; hand in the file itself")
        elif info.flag_bits & 0x1:
            yield Member(path, _nothing, "is encrypted; pack it without a password")
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            yield Member(path, _nothing, "is packed in a way that few programs read; pack it again as plain zip")
        else:
            yield Member(path, partial(_read_from_zip, archive, info))


def _of_tar(data: bytes) -> Iterator[Member]:
    import gzip
    import tarfile

    packed = io.BytesIO(data)
    stream = _Capped(gzip.GzipFile(fileobj=packed) if data[:2] == b"\x1f\x8b" else packed)
    # A stream: nothing is read twice.
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_headers()) as archive:
        for number, info in enumerate(archive):
            if number >= MAX_MEMBERS:
                raise ArchiveError(f"it holds more than {MAX_MEMBERS} files; hand in the modules only")
            path = _safe(info.name)
            if path is None or info.isdir():
                continue
            if _OUTSIDE in path.parts:
                yield Member(path, _nothing, _LEADS_OUTSIDE)
                continue
            if not info.isreg() or info.issparse():
                yield Member(path, _nothing, "is a link or no plain file; hand in the file itself")
                continue
            opened = archive.extractfile(info) if _is_small(path, info.size) else None
            yield Member(path, partial(_first, opened.read())) if opened else Member(path, _nothing, "is too large")


class _Capped(io.RawIOBase):
    """A stream that ends with an error where a bomb goes on, or where a reader goes on after the end.

    That is what tarfile does where a header announces more than there is: it would skip 2**95 bytes that never come.
    """

    _READS_AFTER_THE_END = 8

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream, self._left, self._after = stream, MAX_UNPACKED_BYTES, 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        self._after += not data
        if self._left < 0:
            raise ArchiveError(f"it unpacks to more than {MAX_UNPACKED_BYTES // 10**6} MB; hand in the modules only")
        if self._after > self._READS_AFTER_THE_END:
            raise ArchiveError("it ends in the middle of a file; pack it again as zip")
        return data


def _headers() -> type[tarfile.TarInfo]:
    """Headers of one archive, whose extensions are short."""
    import tarfile

    left = MAX_EXTENSIONS_BYTES

    class Header(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            nonlocal left
            header = super().frombuf(buf, encoding, errors)
            if header.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE):
                left -= header.size
                if left < 0 or header.size > MAX_EXTENSION_BYTES:
                    raise ArchiveError("its files have more about them than in them; pack it again as zip")
            return header

    return Header


def _is_small(path: PurePosixPath, size: int) -> bool:
    """Whether a file of a tar is kept in memory: a module, a worksheet, or an archive in the archive."""
    return size <= (MAX_ARCHIVE_BYTES if path.name.lower().endswith(ARCHIVES) else 3_000_000)


def _safe(name: str, levels: int = 0) -> PurePosixPath | None:
    """A member's path, or None if it leads into a folder that is ignored. Where it leads outside, `_OUTSIDE` is in it.

    Folders of the first `levels` may have the names of students, and a student may be called Docs.
    """
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    parts = [_OUTSIDE if part == ".." else part for part in parts]
    if not parts or any(map(is_ignored, parts[levels:-1])) or "\0" in name:
        return None
    if "__MACOSX" in parts:  # what a Mac adds to every zip
        return None
    return PurePosixPath(*parts)


def _read_from_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    with archive.open(info) as opened:
        return opened.read(limit)


def _first(content: bytes, limit: int) -> bytes:
    return content[:limit]


def _nothing(_: int) -> bytes:
    return b""
