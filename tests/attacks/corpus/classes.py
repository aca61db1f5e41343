"""Attacks on the class command: names and archives that lead elsewhere.

A submission is a name and a packing before it is code, and only `grade-all` meets these.
"""

import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attack import Attack, Files, Packing

from grader.core.result import BROKEN, FAILED, PASSED

TITLE = "Stop a class"
_MODULE = "advantages.py"


def folder_named(called: str, *, more: Files | None = None, module: str | None = None) -> Packing:
    """A folder: its name, in which `{0}` is the usual one, further files, and another text of the attacked module."""

    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        own = folder / called.format(name)
        own.mkdir(exist_ok=True)
        changed = {} if module is None else {_MODULE: module}
        for file, text in {**files, **(more or {}), **changed}.items():
            (own / file).write_text(text, "utf-8")

    return pack


def _without_module(make: Callable[[Path, Mapping[str, Any]], None]) -> Packing:
    """A folder that has something else in the place of the attacked module."""

    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        folder_named("{0}")(folder, name, files, at)
        (folder / name / _MODULE).unlink()
        make(folder / name / _MODULE, at)

    return pack


def _folder_with_link(path: Path, _: Mapping[str, Any]) -> None:
    path.mkdir()
    (path / "up").symlink_to("..")


def _zip(members: Callable[[dict[str, bytes], Mapping[str, Any]], list[tuple[str, bytes]]]) -> Packing:
    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in members({file: text.encode() for file, text in files.items()}, at):
                archive.writestr(member, data)

    return pack


def _damaged(damage: Callable[[bytes], bytes]) -> Packing:
    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        _zip(lambda files, _: [*files.items()])(folder, name, files, at)
        path = folder / f"{name}.zip"
        path.write_bytes(damage(path.read_bytes()))

    return pack


def _tar(change: Callable[[tarfile.TarInfo, Mapping[str, Any]], None]) -> Packing:
    """A tar whose members are changed on their way."""

    def pack(folder: Path, name: str, files: Files, at: Mapping[str, Any]) -> None:
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            for file, text in files.items():
                member, data = tarfile.TarInfo(file), text.encode()
                member.size = len(data)
                change(member, at)
                archive.addfile(member, io.BytesIO(data) if member.isreg() else None)

    return pack


def _link(kind: bytes, to: str, member: tarfile.TarInfo, at: Mapping[str, Any]) -> None:
    if member.name == _MODULE:
        member.type, member.linkname, member.size = kind, to.format(**at), 0


def _move(to: str, member: tarfile.TarInfo, at: Mapping[str, Any]) -> None:
    member.name = f"{to.format(**at)}/{member.name}"


def _climb(files: dict[str, bytes], at: Mapping[str, Any]) -> list[tuple[str, bytes]]:
    return [(f"{place}/{name}", data) for place in ("../neighbor", at["folder"]) for name, data in files.items()]


def _own_grader() -> dict[str, str]:
    names = ("grader", "conftest", "sitecustomize", "pytest", "numpy", "_course_worker")
    return {
        **{f"{name}.py": "raise SystemExit(0)\n" for name in names},
        "pytest.ini": "[pytest]\naddopts = --collect-only\n",
        "journal.jsonl": '{"key": "x", "earned": 205}\n',
        "submissions.json": '{"schema": "grpo-course/class/1", "submissions": []}\n',
    }


NAMES = {
    "has a formula for a name": "=HYPERLINK(0)+{0}", "has a script for a name": '{0}"><script>alert(1)<|script>',
    "has the end of a document for a name": '{0}]]><|testcase>"}}]}}',
    "has a name of several lines": "{0}\n::error::owned\n\x1b[2J\r,,,205",
    "has invisible letters in its name": "\u202e\u2066{0}\u200b\u2060",
    "has a name that is not UTF-8": "{0}\udcff\udcfe", "has a name of 250 letters": "{0}" + "x" * 240,
    "has its neighbor's name in capitals": "NEIGHBOR", "has the results file's name": "submissions.json",
    "has a Windows device's name": "con.{0}",
}  # fmt: skip
_MODEL, _SECRET = "{answers}/advantages.py", "{secret}"
_BOMB = b"\0" * (64 << 20)
_PACKED: dict[str, Packing] = {
    "links to the model answers": _without_module(lambda path, at: path.symlink_to(_MODEL.format(**at))),
    "links to a secret file": _without_module(lambda path, at: path.symlink_to(_SECRET.format(**at))),
    "has a pipe for a module": _without_module(lambda path, _: os.mkfifo(path)),
    "has a folder for a module": _without_module(_folder_with_link),
    "links to the model answers in a tar": _tar(partial(_link, tarfile.SYMTYPE, _MODEL)),
    "links to a secret file in a tar": _tar(partial(_link, tarfile.LNKTYPE, _SECRET)),
    "packs a device in a tar": _tar(partial(_link, tarfile.CHRTYPE, "")),
    "climbs out of a tar": _tar(partial(_move, "../../../../../../../../{folder}")),
    "climbs out of a zip": _zip(_climb),
    "packs a zip bomb": _zip(lambda files, _: [*{**files, _MODULE: _BOMB}.items()]),
    "cuts its zip off": _damaged(lambda data: data[: len(data) // 2]),
    "asks for an unknown unpacker": _damaged(
        lambda data: data.replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\xff\xff\xff")
    ),
    "nests too deeply to parse": folder_named("{0}", module=f"x = {'(' * 100_000}{')' * 100_000}\n"),
    "names a codec that unpacks": folder_named("{0}", module="# -*- coding: zip_codec -*-\nx = 1\n"),
    "decodes to half a character": folder_named("{0}", module="# -*- coding: raw_unicode_escape -*-\nx = '\\ud800'\n"),
    "contains only null bytes": folder_named("{0}", module="\0" * 100_000),
}
_PACKED_AND_GRADED: dict[str, Packing] = {
    "starts at the root in a tar": _tar(partial(_move, "{folder}")),
    "packs ten thousand files": _zip(
        lambda files, _: [*((f"{i}/{_MODULE}", b"x") for i in range(10_000)), *files.items()]
    ),
    "packs a zip in a zip": _zip(lambda files, _: [("a.zip", b"PK\x05\x06" + bytes(18)), *files.items()]),
    "packs its own grader": folder_named("{0}", more=_own_grader()),
}
ATTACKS = (
    *(Attack(name, verdict=PASSED, packing=folder_named(called)) for name, called in NAMES.items()),
    *(Attack(name, verdict=BROKEN, packing=packing) for name, packing in _PACKED.items()),
    *(Attack(name, verdict=FAILED, packing=packing) for name, packing in _PACKED_AND_GRADED.items()),
)
