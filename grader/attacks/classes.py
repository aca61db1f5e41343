"""Attacks on the class command: names and archives that lead elsewhere, and results that no reader takes for text.

What a student hands in is a name and a packing before it is code. Only `grade-all` meets these.
"""

from __future__ import annotations

import functools
import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..core.result import BROKEN, FAILED, PASSED
from .attack import Attack, Files, Packing, Topic

_NEVER = "it is aimed at the class command, which gives no marks at level 0"
_WRONG, _RIGHT = "return rewards", "return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)"


def _folder(folder: Path, name: str, files: Files) -> Path:
    own = folder / name
    own.mkdir(parents=True)
    for file, text in files.items():
        (own / file).write_text(text, "utf-8")
    return own


def _named(called: str) -> Packing:
    """A folder with another name: `{0}` becomes the usual one."""

    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        _folder(folder, called.format(name), files)

    return pack


def _with_links(make: Callable[[Path, Mapping[str, Any]], None]) -> Packing:
    """A folder in which the attacked module is something else than a file."""

    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        own = _folder(folder, name, files)
        (own / "advantages.py").unlink()
        make(own / "advantages.py", at)

    return pack


def _folder_with_link(path: Path, _: Mapping[str, Any]) -> None:
    path.mkdir()
    (path / "up").symlink_to("..")


def _zipped(members: Callable[[Files, Mapping[str, Any]], list[tuple[str, bytes]]]) -> Packing:
    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in members(files, at):
                archive.writestr(member, data)

    return pack


def _tarred(change: Callable[[tarfile.TarInfo, Mapping[str, Any]], None]) -> Packing:
    """A tar in which each member is changed on its way."""

    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            for file, text in files.items():
                member, data = tarfile.TarInfo(file), text.encode()
                member.size = len(data)
                change(member, at)
                archive.addfile(member, io.BytesIO(data) if member.isreg() else None)

    return pack


def _plain(files: Files) -> list[tuple[str, bytes]]:
    return [(name, text.encode()) for name, text in files.items()]


def _damaged(cut: Callable[[bytes], bytes]) -> Packing:
    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        _zipped(lambda files, _: _plain(files))(folder, name, files, at)
        path = folder / f"{name}.zip"
        path.write_bytes(cut(path.read_bytes()))

    return pack


def _beside(others: Mapping[str, str]) -> Packing:
    """A folder with more files than those that are graded."""

    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        _folder(folder, name, {**files, **others})

    return pack


def _instead(text: str) -> Packing:
    """A folder whose attacked module is this text."""

    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        _folder(folder, name, {**files, "advantages.py": text})

    return pack


def _linked(member: tarfile.TarInfo, at: Mapping[str, Any], *, kind: bytes, to: str) -> None:
    if member.name == "advantages.py":
        member.type, member.linkname, member.size = kind, to.format(**at), 0


def _at(member: tarfile.TarInfo, at: Mapping[str, Any], *, place: str) -> None:
    member.name = f"{place.format(**at)}/{member.name}"


def _attack(
    name: str, tries: str, packing: Packing, *, body: str = _WRONG, verdict: str = FAILED, **more: Any
) -> Attack:
    return Attack(name, tries, body, verdict=verdict, packing=packing, not_at_level_0=_NEVER, **more)


_named_right = functools.partial(_attack, body=_RIGHT, verdict=PASSED)
_tar_link = functools.partial(functools.partial, _linked)
_MODEL, _SECRET = "{answers}/advantages.py", "{secret}"
_DEEP = "x = " + "(" * 100_000 + ")" * 100_000 + "\n"
_BOMB = b"\0" * (200 << 20)

TOPIC = Topic(
    "Stop a class",
    (
        _named_right(
            "is called like a formula",
            "Its folder has a name that a spreadsheet would compute.",
            _named("=HYPERLINK(0)+{0}"),
        ),
        _named_right(
            "is called like a script",
            "Its folder has a name that a browser would run.",
            _named('{0}"><script>alert(1)<|script>'),
        ),
        _named_right(
            "is called like the end of a document",
            "Its folder has a name that would end a report in XML or JSON.",
            _named('{0}]]><|testcase>"}}]}}'),
        ),
        _named_right(
            "is called by several lines",
            "Its folder has a name with line breaks, with a line for a build machine and with an escape sequence.",
            _named("{0}\n::error::owned\n\x1b[2J\r,,,205"),
        ),
        _named_right(
            "is called in no letters",
            "Its folder has a name of signs that nobody sees or that turn the direction of writing.",
            _named("\u202e\u2066{0}\u200b\u2060"),
        ),
        _named_right(
            "is called by bytes that are no text",
            "Its folder has a name that is no UTF-8.",
            _named("{0}\udcff\udcfe"),
        ),
        _named_right(
            "is called as long as may be",
            "Its folder has a name of 250 letters.",
            _named("{0}" + "x" * 240),
        ),
        _named_right(
            "is called like its neighbor",
            "Its folder has the neighbor's name in capitals, so that on some disks one's page becomes the other's.",
            _named("NEIGHBOR-{0}"),
        ),
        _named_right(
            "is called like the results",
            "Its folder has the name of the file in which the results are kept.",
            _named("submissions.json"),
        ),
        _named_right(
            "is called like a device",
            "Its folder has a name that Windows keeps for a device.",
            _named("con.{0}"),
        ),
        _attack(
            "links to the model answers",
            "In its folder, the module is a link to the model answer.",
            _with_links(lambda path, at: path.symlink_to(_MODEL.format(**at))),
            verdict=BROKEN,
        ),
        _attack(
            "links to a secret file",
            "In its folder, the module is a link to a file of the grader, whose lines a report would show.",
            _with_links(lambda path, at: path.symlink_to(_SECRET.format(**at))),
            verdict=BROKEN,
        ),
        _attack(
            "has a pipe in a module's place",
            "In its folder, the module is a pipe that whoever reads it waits for.",
            _with_links(lambda path, _: os.mkfifo(path)),
            verdict=BROKEN,
        ),
        _attack(
            "has a folder in a module's place",
            "In its folder, the module is a folder, with a link to the folder above in it.",
            _with_links(_folder_with_link),
            verdict=BROKEN,
        ),
        _attack(
            "links to the model answers in a tar",
            "In its tar, the module is a link to the model answer.",
            _tarred(_tar_link(kind=tarfile.SYMTYPE, to=_MODEL)),
            verdict=BROKEN,
        ),
        _attack(
            "links hard to a secret file in a tar",
            "In its tar, the module is a hard link to a file of the grader.",
            _tarred(_tar_link(kind=tarfile.LNKTYPE, to=_SECRET)),
            verdict=BROKEN,
        ),
        _attack(
            "brings a device in a tar",
            "In its tar, the module is a device without end.",
            _tarred(_tar_link(kind=tarfile.CHRTYPE, to="")),
            verdict=BROKEN,
        ),
        _attack(
            "climbs out of a tar",
            "The members of its tar have paths that lead into the folder of the grader.",
            _tarred(functools.partial(_at, place="../../../../../../../../{folder}")),
            verdict=BROKEN,
        ),
        _attack(
            "starts at the root in a tar",
            "The members of its tar have paths that begin at the root of the disk.",
            _tarred(functools.partial(_at, place="{folder}")),
            verdict=FAILED,
        ),
        _attack(
            "climbs out of a zip",
            "The members of its zip have paths that lead into the neighbor's folder and that of the grader.",
            _zipped(
                lambda files, at: [
                    *((f"../neighbor/{name}", data) for name, data in _plain(files)),
                    *((f"{at['folder']}/{name}", data) for name, data in _plain(files)),
                ]
            ),
            verdict=BROKEN,
        ),
        _attack(
            "brings a bomb",
            "Its zip holds a module of 200 MB in a few kilobytes.",
            _zipped(lambda files, _: [(n, _BOMB if n == "advantages.py" else data) for n, data in _plain(files)]),
            verdict=BROKEN,
        ),
        _attack(
            "brings ten thousand files",
            "Its zip holds ten thousand members, most of them named like modules.",
            _zipped(lambda files, _: [(f"{i}/advantages.py", b"x") for i in range(10_000)] + _plain(files)),
            verdict=FAILED,
        ),
        _attack(
            "brings an archive in an archive",
            "Its zip holds a zip that holds a zip, with answers in the innermost.",
            _zipped(lambda files, _: [("a.zip", b"PK\x05\x06" + bytes(18)), *_plain(files)]),
        ),
        _attack(
            "cuts its archive off",
            "Its zip ends in the middle.",
            _damaged(lambda data: data[: len(data) // 2]),
            verdict=BROKEN,
        ),
        _attack(
            "asks for an unpacker that nobody has",
            "Its zip says of each member that it takes a newer program to unpack it.",
            _damaged(lambda data: data.replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\xff\xff\xff")),
            verdict=BROKEN,
        ),
        _attack(
            "brings a grader of its own",
            "Beside its modules lie files that Python, pytest and the course would take for their own.",
            _beside(
                {
                    **{f"{name}.py": "raise SystemExit(0)\n" for name in ("grader", "conftest", "sitecustomize")},
                    **{f"{name}.py": "raise SystemExit(0)\n" for name in ("pytest", "numpy", "_course_worker")},
                    "pytest.ini": "[pytest]\naddopts = --collect-only\n",
                    "journal.jsonl": '{"key": "x", "earned": 205}\n',
                    "submissions.json": '{"schema": "grpo-course/class/1", "submissions": []}\n',
                }
            ),
        ),
        _attack(
            "nests too deeply to be parsed",
            "Its module holds a hundred thousand brackets, at which a parser may crash.",
            _instead(_DEEP),
            verdict=BROKEN,
        ),
        _attack(
            "names an encoding that is none",
            "Its module begins with the name of a codec that unpacks, and is not text.",
            _instead("# -*- coding: zip_codec -*-\nx = 1\n"),
            verdict=BROKEN,
        ),
        _attack(
            "writes nothing but nulls",
            "Its module is a hundred thousand null bytes.",
            _instead("\0" * 100_000),
            verdict=BROKEN,
        ),
    ),
)
