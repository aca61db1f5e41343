"""Lists the files of a folder or an archive that a student made, and writes nothing.

Nothing is ever unpacked to a disk, so a path that leads outside, a link, a device or a strange name can do no harm:
they are listed, and only the wanted files are read, each up to a limit. Read are zip, tar and tar.gz. Other kinds of
packing are refused with a sentence, because their readers may need gigabytes for a small file.

The readers of archives are imported where there is an archive, so grading a folder does not wait for them.
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
"""Of one student's archive. A submission takes some ten kilobytes; one with a virtual environment is too large."""

MAX_MEMBERS = 50_000
MAX_CLASS_MEMBERS = 10_000_000
MAX_UNPACKED_BYTES = 60_000_000
"""Of a tar.gz, which is unpacked in memory."""

MAX_EXTENSION_BYTES, MAX_EXTENSIONS_BYTES = 4_000, 500_000
"""Of one extended header of a tar and of all: Python before 3.11.10 takes a time that grows with the square of it."""

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
OTHER_ARCHIVES = (".7z", ".rar", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".gz", ".bz2", ".xz")
# What tools leave behind, and folders without a student's answers. They are not entered, because some are huge.
_IGNORED = {
    "__MACOSX", "__pycache__", "venv", "env", "node_modules", "site-packages", "reference", "grader", "docs", "tests",
}  # fmt: skip
_OUTSIDE, _LEADS_OUTSIDE = "(..)", "has a path that leads outside of the archive; pack it again"
_TOO_MANY = f"it holds more than {MAX_MEMBERS} files; hand in the modules only"
_ENTRY_OF_ZIP = b"PK\x01\x02"
_OPEN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


class ArchiveError(Exception):
    """This archive cannot be read. The text is a sentence for its student."""


@dataclass(frozen=True)
class Member:
    """One file of a folder or an archive.

    Attributes:
        path: Its place, with slashes, from the top. Never leads outside. Several members may have the same path.
        read: Returns its first bytes, at most as many as asked for.
        problem: Why it must not be read, for example because it is a link.
        upload: Number that a platform gave to its upload; a later one has a higher number.
        notebook: The notebook with the `%%writefile` cell that writes it, if it is no file of its own.
    """

    path: PurePosixPath
    read: Callable[[int], bytes]
    problem: str = ""
    upload: int = 0
    notebook: str = ""

    @functools.cached_property
    def name(self) -> str:
        return self.path.name


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
        name: Of the archive; its ending says which kind it is.
        data: Its bytes.

    Raises:
        ArchiveError: it is not what its name says, or too large.
    """
    if len(data) > MAX_ARCHIVE_BYTES:
        raise ArchiveError(f"{name} is larger than {MAX_ARCHIVE_BYTES // 10**6} MB; hand in the modules only")
    try:
        return list(_of_zip(data) if name.lower().endswith(".zip") else _of_tar(data))
    except ArchiveError:
        raise
    except Exception as error:  # whatever a hostile archive makes its reader raise
        raise ArchiveError(f"{name} cannot be read ({type(error).__name__}: {error}); pack it again as zip") from None


def members_of_zip(path: Path) -> list[Member]:
    """Every file of the zip of a whole class, which may be large; a file is read from the disk when it is wanted.

    Folders of the first two levels are listed whatever they are called, because one level has the names of students.

    Raises:
        ArchiveError: it is not a zip.
    """
    try:
        return list(_of_zip(path, max_members=MAX_CLASS_MEMBERS, levels=2))
    except Exception as error:  # as in `members_of_archive`
        raise ArchiveError(f"{path} cannot be read ({error}); unpack it and give the folder") from None


def is_ignored(name: str) -> bool:
    """Whether no student's answer lies in a folder of this name."""
    return name in _IGNORED or name.startswith(".")


def _of_zip(source: bytes | Path, *, max_members: int = MAX_MEMBERS, levels: int = 0) -> Iterator[Member]:
    import zipfile

    if isinstance(source, bytes) and source.count(_ENTRY_OF_ZIP) > MAX_MEMBERS:
        raise ArchiveError(_TOO_MANY)  # before they are listed, which takes a kilobyte per file
    archive = zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source)
    infos = archive.infolist()
    if len(infos) > max_members:
        raise ArchiveError(_TOO_MANY)
    # In the zip of a class, one student's name must not lead into the folder of another.
    backslash = not levels or all("\\" in info.filename and "/" not in info.filename for info in infos)
    for info in infos:
        path = _safe(info.filename, levels, backslash=backslash)
        if info.is_dir() or path is None:
            continue
        problem = ""
        if _OUTSIDE in path.parts:
            problem = _LEADS_OUTSIDE
        elif stat.S_IFMT(info.external_attr >> 16) == stat.S_IFLNK:
            problem = "is a symbolic link; hand in the file itself"
        elif info.flag_bits & 0x1:
            problem = "is encrypted; pack it without a password"
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            problem = "is packed in a way that few programs read; pack it again as plain zip"
        yield Member(path, _nothing if problem else partial(_read_from_zip, archive, info), problem)


def _of_tar(data: bytes) -> Iterator[Member]:
    import gzip
    import tarfile

    if data[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            data = packed.read(MAX_UNPACKED_BYTES + 1)
    if len(data) > MAX_UNPACKED_BYTES:
        raise ArchiveError(f"it unpacks to more than {MAX_UNPACKED_BYTES // 10**6} MB; hand in the modules only")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", tarinfo=_headers()) as archive:
        for number, info in enumerate(archive):  # a header may send its reader back, so they are counted
            if number >= MAX_MEMBERS:
                raise ArchiveError(_TOO_MANY)
            path = _safe(info.name)
            if path is None or info.isdir():
                continue
            if _OUTSIDE in path.parts:
                yield Member(path, _nothing, _LEADS_OUTSIDE)
            elif not info.isreg() or info.issparse():
                yield Member(path, _nothing, "is a link or no plain file; hand in the file itself")
            else:
                yield Member(path, partial(_read_from_tar, data, info.offset_data, info.size))


def _headers() -> type[tarfile.TarInfo]:
    """The class of one archive's headers, which refuses long extensions."""
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


def _safe(name: str, levels: int = 0, *, backslash: bool = True) -> PurePosixPath | None:
    """A member's path, or None if it leads into a folder that is ignored. Where it leads outside, `_OUTSIDE` is in it.

    Folders of the first `levels` may have the names of students, and a student may be called Docs.
    A backslash separates folders too, where it is no letter of a name.
    """
    parts = [part for part in (name.replace("\\", "/") if backslash else name).split("/") if part not in ("", ".")]
    parts = [_OUTSIDE if part == ".." else part for part in parts]
    if not parts or any(map(is_ignored, parts[levels:-1])) or "\0" in name:
        return None
    if "__MACOSX" in parts:  # what a Mac adds to every zip
        return None
    return PurePosixPath(*parts)


def _read_from_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    with archive.open(info) as opened:
        return opened.read(limit)


def _read_from_tar(data: bytes, start: int, size: int, limit: int) -> bytes:
    return data[start : start + min(size, limit)]


def _nothing(_: int) -> bytes:
    return b""
