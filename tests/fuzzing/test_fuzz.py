"""What reads files of others keeps its promises: on a few inputs per format, and on what fuzzing has found.

`fuzz_targets` says what is promised. The nightly proof tries more inputs.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import fuzz_inputs
import pytest
from class_maker import zip_bytes
from fuzz_targets import TARGETS, checks_that_run, guarded, header

from grader.classroom.results import JOURNAL_FILE, SUBMISSIONS_FILE, ClassError, Journal, read_class, read_settings
from grader.classroom.submissions import HandedIn
from grader.core.contents import Contents
from grader.core.files import UnreadableError, members_of_archive
from grader.sandbox.worker import wire

KEY = "k" * 8


@pytest.mark.parametrize("count", [10, pytest.param(300, marks=pytest.mark.proof)])
@pytest.mark.parametrize("target", TARGETS)
def test_promises_hold_for_valid_and_changed_inputs(target: str, count: int) -> None:
    seeds = fuzz_inputs.seeds(target, 4 if count == 10 else None)
    changed = [fuzz_inputs.mutated(target, seeds[n % len(seeds)], random.Random(n)) for n in range(count)]
    for data in (*seeds, *changed, b"", b"\0", b"\xff" * 40):
        TARGETS[target](data)


# What fuzzing has found


def tar_of(*entries: tuple[str, bytes, bytes], size: bytes = b"") -> bytes:
    """A tar from names, kinds and contents; `size` is what the last header says instead of the truth."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, kind, content in entries:
            info = tarfile.TarInfo(name)
            info.size, info.type = len(content), kind
            archive.addfile(info, io.BytesIO(content))
        last = archive.offset - 512 - (len(entries[-1][2]) + 511) // 512 * 512
    data = bytearray(made.getvalue())
    if size:
        data[last + 124 : last + 136] = size
        data[last + 148 : last + 156] = b" " * 8
        data[last + 148 : last + 156] = b"%06o\0 " % sum(data[last : last + 512])
    return bytes(data)


def contents_of(name: str, data: bytes) -> Contents:
    with guarded():
        return HandedIn("ada", lambda: members_of_archive(name, data)).read()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("size", [b"\x80" + b"\xff" * 11, b"\x80" + b"\0" * 5 + b"\x7f" * 6], ids=["2**88", "2**47"])
def test_a_tar_that_announces_more_than_there_is_does_not_stop_the_class(size, pack):
    # A tar that is read as a stream skips the announced bytes 10 kB at a time, long after the end of the file.
    data = pack(tar_of(("kl.py", b"0", b"x = 1\n"), ("big.bin", b"0", b"y"), size=size))
    name = "ada.tar.gz" if pack is gzip.compress else "ada.tar"
    assert "cannot be read" in contents_of(name, data).submission.problems["kl.py"]


def test_a_zip_of_very_many_files_is_refused_before_they_are_listed() -> None:
    count = 400_000
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, count * len(entry), 0, 0)
    data = entry * count + end
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableError):
            members_of_archive("ada.zip", data)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


ALIASES = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 15)]
ODD_NAMES = io.BytesIO()
with zipfile.ZipFile(ODD_NAMES, "w") as _archive:
    for _name in ("", "kl.py", "../kl.py", "x/kl.py", "//", "."):
        _info = zipfile.ZipInfo("x")
        _info.filename = _name
        _archive.writestr(_info, "x = 1\n")
DAMAGED = bytearray(zip_bytes({"a/submission_metadata.yml": "x: y\n" * 50, "a/submission_1/kl.py": "x = 1\n"}))
_at = DAMAGED.index(b"submission_metadata.yml") + len(b"submission_metadata.yml")
DAMAGED[_at + 2 : _at + 8] = b"\xff" * 6


@pytest.mark.parametrize(
    ("target", "data"),
    [
        # The loader of libyaml recursed in C, and the grading ended with a segmentation fault.
        *(("metadata", piece * 100_000) for piece in (b"[", b"{a: ", b"- ", b"? ")),
        # Aliases of aliases would fill the memory.
        ("metadata", "\n".join(["a0: &a0 [x, x]", *ALIASES, "submission_1: {:submitters: *a14}"]).encode()),
        ("class", ODD_NAMES.getvalue()),
        ("class", bytes(DAMAGED)),
        # A large header or worksheet costs little memory and time.
        ("wire", b"\0" + struct.pack("<II", 300_004, 0) + b"[[" + b",".join([b"{}"] * 100_000) + b",1]"),
        # The settings that a module has changed were expected to be a list.
        ("student", header() + wire.encode(1, {"result": {"settings": 1}})),
        *(("worksheet", data) for data in (b"[" * 1_900_000, b'"' + b"\\" * 1_900_000, b"1" * 1_900_000)),
        ("worksheet", "\ufeff{}".encode("utf-16")),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value[:12]),
)
def test_promises_hold_for_what_fuzzing_has_found(target: str, data: bytes) -> None:
    TARGETS[target](data)


@pytest.mark.parametrize("data", [b"[]", b'"x"', b'{"settings": [1]}', b"[" * 100_000])
def test_a_damaged_list_of_submissions_is_refused_and_has_no_settings(tmp_path: Path, data: bytes) -> None:
    (tmp_path / SUBMISSIONS_FILE).write_bytes(data)
    assert read_settings(tmp_path) == {}
    with pytest.raises(ClassError):
        read_class(tmp_path)


@pytest.mark.parametrize(
    "change", [{"seconds": 1e999}, {"seconds": -1}, {"seconds": [1]}, {"key": {}}, {"file": 1}, {"content": None}, {}]
)
def test_a_damaged_line_of_the_journal_does_not_count(tmp_path: Path, change: dict[str, object]) -> None:
    line = json.dumps({"key": KEY, "content": "content", "file": "0" * 64, "seconds": 1.0} | change).encode()
    line = line if change else line.replace(KEY[:3].encode(), b"\xff")
    (tmp_path / JOURNAL_FILE).write_bytes(line + b"\n")
    journal = Journal(tmp_path)
    try:
        assert journal.seconds("content") is None
    finally:
        journal.close()


def test_a_whole_number_that_no_float_can_hold_is_no_error_of_the_grader() -> None:
    # A metric of 10**400 ended the check with an OverflowError: no mark at all, where 0 points are due.
    name = "charlm.the_metrics_of_a_step_are_floats_of_its_batch"
    (number,) = (place for place, one in enumerate(checks_that_run()) if one.check.id == name)
    frames = fuzz_inputs.replies(checks_that_run()[number])
    *before, last = frames
    size, rest = struct.unpack_from("<II", last)
    head, changes = re.subn(rb"(?<=,)\d\.\d+(?=\])", b"1" + b"0" * 400, last[8 : 8 + size])
    assert changes
    TARGETS["student"](
        header(number) + b"".join(before) + struct.pack("<II", len(head), rest) + head + last[8 + size :]
    )
