"""Everything that reads what others wrote keeps its promises on inputs that are made for each format.

`fuzz_targets` says what is promised, `fuzz_inputs` makes the inputs; a number says which one, so that each run tries
the same. Hours instead of seconds: `make fuzz`. What the fuzzers have found stands below as a test of its own.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz_inputs
import fuzz_targets
import pytest
from class_maker import zip_bytes
from fuzz_targets import KEY, TARGETS, PromiseBroken
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.classroom.journal import JOURNAL_FILE, Journal
from grader.classroom.results import read_settings
from grader.classroom.submissions import HandedIn
from grader.core.contents import Contents
from grader.core.files import ArchiveError, members_of_archive
from grader.core.result import from_json
from grader.reports import terminal
from grader.sandbox.worker import wire

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = {
    "wire": 200, "student": 100, "worksheet": 25, "archive": 300, "class": 200, "metadata": 200, "source": 60,
    "result": 120, "gradebook": 250, "roster": 200, "policy": 250, "folder": 100, "journal": 80,
}  # fmt: skip
"""About a second each, in the proof; `make fuzz` is for more."""
A_FEW = 10
"""That share of them shows that a target works at all."""


@st.composite
def inputs(draw: st.DrawFn, target: str) -> bytes:
    """A valid input with a few changes that its format allows for, and now and then one that it does not."""
    data = draw(st.sampled_from(fuzz_inputs.seeds(target)))
    for number in draw(st.lists(st.integers(0, 2**32 - 1), max_size=4)):
        data = fuzz_inputs.mutated(target, data, random.Random(number))
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(st.binary(max_size=8)) + data[at + draw(st.integers(0, 8)) :]
    return data


@pytest.mark.parametrize("divisor", [A_FEW, pytest.param(1, marks=pytest.mark.proof)], ids=["a few", "many"])
@pytest.mark.parametrize("target", TARGETS)
def test_promises_hold_for(target: str, divisor: int) -> None:
    @settings(max_examples=EXAMPLES[target] // divisor)
    @given(data=inputs(target))
    def promises_hold(data: bytes) -> None:
        TARGETS[target](data)

    fuzz_inputs.seeds(target)  # before the first draw: Hypothesis refuses one that sets a global generator
    promises_hold()


@pytest.mark.parametrize("target", TARGETS)
def test_promises_hold_for_valid_and_empty_inputs_of(target: str) -> None:
    for data in (*fuzz_inputs.seeds(target)[:20], b"", b"\0", b"\xff" * 40):
        TARGETS[target](data)


# ---------------------------------------------------------------- a target can fail


def test_reading_that_writes_or_starts_something_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    for action in (
        lambda: (tmp_path / "a").write_text("x"),
        lambda: os.close(os.open(tmp_path / "a", os.O_WRONLY | os.O_CREAT)),
        lambda: (tmp_path / "__pycache__").rmdir(),
        lambda: subprocess.run([sys.executable, "-c", ""]),
    ):
        with pytest.raises(PromiseBroken, match="must not"), fuzz_targets.guarded():
            action()


def test_bytecode_that_python_writes_is_not_held_against_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "imported_late_by_a_test.py").write_text("x = 1\n")
    with fuzz_targets.guarded():
        importlib.import_module("imported_late_by_a_test")
    assert [*(tmp_path / "__pycache__").iterdir()]


def test_what_another_thread_writes_meanwhile_is_not_held_against_reading(tmp_path: Path) -> None:
    go = threading.Event()
    other = threading.Thread(target=lambda: go.wait() and (tmp_path / "a").write_text("x"))
    other.start()
    with fuzz_targets.guarded():
        go.set()
        other.join()
    assert (tmp_path / "a").exists()


def test_a_loop_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_targets, "CPU_SECONDS", 0.0)
    with pytest.raises(PromiseBroken, match="seconds of a processor"), fuzz_targets.guarded():
        sum(range(10_000))


def _breaks(target: str, data: bytes) -> None:
    with pytest.raises(Exception):  # noqa: B017 (whatever a planted fault leads to)
        TARGETS[target](data)


def test_a_grader_that_stumbles_over_a_reply_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = fuzz_inputs.seeds("student")[0]
    monkeypatch.setattr("grader.grading.student._from_wire", lambda value: {1: value}[0])
    _breaks("student", data)


def test_a_terminal_that_shows_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"type": "E", "message": "\x1b[2J", "frames": [], "not_written": False}
    frames = [wire.encode(1, {"result": {}}), wire.encode(2, {"error": error})]
    data = fuzz_targets.header() + b"".join(frames)
    TARGETS["student"](data)
    monkeypatch.setattr(terminal, "plain", lambda text, **_: text)
    _breaks("student", data)


def test_a_member_that_is_left_out_in_silence_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\0" + zip_bytes({"kl.py": "x = 1\n", "other/kl.py": "x = 2\n"})
    TARGETS["archive"](data)
    read = HandedIn.read
    monkeypatch.setattr(HandedIn, "read", lambda self: _without_notes(read(self)))
    _breaks("archive", data)


def _without_notes(contents: Contents) -> Contents:
    return Contents(contents.submission, contents.worksheet)


def test_a_gradebook_that_changes_another_cell_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = fuzz_inputs.seeds("gradebook")[0]
    monkeypatch.setattr("grader.gradebook.table.Table.as_bytes", lambda self: b"Student,ID\n")
    _breaks("gradebook", data)


# ---------------------------------------------------------------- what they have found


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
    return HandedIn("ada", lambda: members_of_archive(name, data)).read()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("size", [b"\x80" + b"\xff" * 11, b"\x80" + b"\0" * 5 + b"\x7f" * 6], ids=["2**88", "2**47"])
def test_a_tar_that_announces_more_than_there_is_does_not_stop_the_class(
    size: bytes, pack: Callable[[Any], bytes]
) -> None:
    # tarfile skipped the announced bytes 10 kB at a time, long after the end of the file.
    data = pack(tar_of(("kl.py", b"0", b"x = 1\n"), ("big.bin", b"0", b"y"), size=size))
    with fuzz_targets.guarded():
        problem = contents_of("ada.tar.gz" if pack is gzip.compress else "ada.tar", data).submission.problems["kl.py"]
    assert "ends in the middle of a file" in problem


def test_long_extended_headers_of_a_tar_are_refused() -> None:
    # Python before 3.11.10 and 3.12.6 looks for a word behind the digits with a time that is quadratic in their number.
    with fuzz_targets.guarded():
        one = contents_of("ada.tar", tar_of(("x", b"x", b"1" * 1_000_000), ("kl.py", b"0", b"x = 1\n")))
        many = contents_of("ada.tar", tar_of(*[("x", b"x", b"1" * 4_000), ("kl.py", b"0", b"")] * 400))
    for found in (one, many):
        assert "pack it again as zip" in found.submission.problems["kl.py"]


def test_a_zip_of_very_many_files_is_refused_before_they_are_listed() -> None:
    count = 400_000
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, count * len(entry), 0, 0)
    data = entry * count + end
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError, match="hand in the modules only"):
            members_of_archive("ada.zip", data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000])
def test_names_that_are_nested_without_an_end_do_not_end_the_process(text: str) -> None:
    # The loader of libyaml recursed in C, and the whole grading was gone with a segmentation fault.
    TARGETS["metadata"](text.encode())


def test_aliases_of_aliases_take_no_memory() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 15)]
    TARGETS["metadata"]("\n".join([*lines, "submission_1: {:submitters: *a14}"]).encode())


@pytest.mark.parametrize("names", [["", "kl.py"], ["a", "a/b/kl.py"], ["../kl.py", "x/kl.py"], ["//", "."]])
def test_odd_names_at_the_top_of_a_class_are_no_traceback(names: list[str]) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo("x")
            info.filename = name
            archive.writestr(info, "x = 1\n")
    TARGETS["class"](made.getvalue())


def test_metadata_that_cannot_be_unpacked_is_a_sentence() -> None:
    data = bytearray(zip_bytes({"a/submission_metadata.yml": "x: y\n" * 50, "a/submission_1/kl.py": "x = 1\n"}))
    at = data.index(b"submission_metadata.yml") + len(b"submission_metadata.yml")
    data[at + 2 : at + 8] = b"\xff" * 6
    TARGETS["class"](bytes(data))


def test_a_path_that_leads_outside_is_named() -> None:
    for data, name in ((zip_bytes({"../kl.py": "x = 1\n"}), "a.zip"), (tar_of(("../kl.py", b"0", b"x")), "a.tar")):
        assert "leads outside" in contents_of(name, data).submission.problems["kl.py"]
    both = contents_of("a.zip", zip_bytes({"../kl.py": "x = 1\n", "kl.py": "x = 2\n"}))
    assert both.submission.files["kl.py"] == "x = 2\n"
    assert any("(..)" in note for note in both.notes)


def test_two_members_of_one_path_are_named() -> None:
    contents = contents_of("a.tar", tar_of(("kl.py", b"0", b"x = 1\n"), ("kl.py", b"0", b"x = 2\n")))
    assert contents.submission.files["kl.py"] == "x = 2\n"
    assert any("there are 2 of kl.py" in note for note in contents.notes)


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\u202e"])
def test_the_folder_that_is_graded_is_named_in_plain_text(name: str) -> None:
    files = {"kl.py": "x = 1\n", f"{name}/kl.py": "x = 1\n", f"{name}/clip.py": "x = 1\n"}
    for note in contents_of("a.zip", zip_bytes(files)).notes:
        assert note.isprintable()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["seconds"], 1e999),
        (["seconds"], float("nan")),
        (["points"], 10**400),
        (["frames"], [{"file": "kl.py"}]),
        (["waits_for"], [["x"]]),
        (["curves"], [{"title": "t", "x": "x", "y": "y", "first": 0, "every": 1, "values": ["x"]}]),
        (["id"], "\ud800"),
    ],
)
def test_a_result_that_no_report_can_be_made_of_is_refused(path: list[str], value: object) -> None:
    document = json.loads(fuzz_inputs.seeds("result")[0])
    document["exercises"][0]["checks"][0][path[0]] = value
    with pytest.raises(ValueError, match="no result of a grading"):
        from_json(json.dumps(document))


def test_an_exercise_without_checks_is_refused() -> None:
    document = json.loads(fuzz_inputs.seeds("result")[0])
    document["exercises"][0]["checks"] = []
    with pytest.raises(ValueError, match="no checks"):
        from_json(json.dumps(document))


@pytest.mark.parametrize("settings_", [b"[]", b'"x"', b'{"settings": [1]}', b"[" * 100_000])
def test_damaged_settings_of_a_class_are_none(tmp_path: Path, settings_: bytes) -> None:
    (tmp_path / "submissions.json").write_bytes(settings_)
    assert read_settings(tmp_path) == {}


@pytest.mark.parametrize(
    "change", [{"seconds": 1e999}, {"seconds": -1}, {"seconds": [1]}, {"key": {}}, {"file": 1}, {"content": None}]
)
def test_a_damaged_line_of_the_journal_counts_nothing(tmp_path: Path, change: dict[str, object]) -> None:
    line = {"key": KEY, "content": "content", "file": "0" * 64, "seconds": 1.0}
    (tmp_path / JOURNAL_FILE).write_text(json.dumps(line | change) + "\n", "utf-8")
    journal = Journal(tmp_path)
    try:
        assert journal.seconds("content") is None
    finally:
        journal.close()


def test_a_line_of_the_journal_with_a_byte_of_no_text_counts_nothing(tmp_path: Path) -> None:
    line = json.dumps({"key": KEY, "content": "content", "file": "0" * 64, "seconds": 1.0}).encode()
    (tmp_path / JOURNAL_FILE).write_bytes(line.replace(KEY[:3].encode(), b"\xff") + b"\n")
    journal = Journal(tmp_path)
    try:
        assert journal.seconds("content") is None
    finally:
        journal.close()


def test_a_whole_number_that_no_float_can_hold_is_no_error_of_the_grader() -> None:
    # A metric of 10**400 ended the check with an OverflowError: no mark at all, where 0 points are due.
    huge = b"1" + b"0" * 400
    for seed in fuzz_inputs.seeds("student"):
        one = fuzz_targets.checks_that_run()[seed[0]]
        if one.check.id in (
            "charlm.the_metrics_of_a_step_are_floats_of_its_batch",
            "bandit.a_run_without_signal_stays_uniform",
        ):
            for number in re.findall(rb"(?<=[\[,])\d\.\d+(?=[\],])", seed)[:5]:
                TARGETS["student"](_with_other_token(seed, number, huge))


def _with_other_token(stream: bytes, old: bytes, new: bytes) -> bytes:
    """A stream of frames in which a number of a header is another one, and the length of the header too."""
    place = stream.index(old)
    at = 3 + stream[2]
    while at + 8 + sum(struct.unpack_from("<II", stream, at)) < place:
        at += 8 + sum(struct.unpack_from("<II", stream, at))
    size = struct.unpack_from("<I", stream, at)[0] + len(new) - len(old)
    return stream[:at] + struct.pack("<I", size) + stream[at + 4 : place] + new + stream[place + len(old) :]


# ---------------------------------------------------------------- size


def test_no_mutation_of_an_archive_unpacks_it_whole() -> None:
    module = {"kl.py": bytes(60_000_000)}
    bombs = {
        ".zip": zip_bytes(module),
        ".tar.gz": fuzz_inputs._tar(module, "w:gz"),
        ".tar": fuzz_inputs._tar(module, "w:xz"),
    }
    for ending, bomb in bombs.items():
        data = bytes([fuzz_targets.ENDINGS.index(ending)]) + bomb
        tracemalloc.start()
        try:
            for number in range(20):
                fuzz_inputs.mutated("archive", data, random.Random(number))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 20_000_000, ending


@pytest.mark.parametrize(
    "header",
    [
        b'[1,["dict",[["v",["list",[' + b",".join([b"[]"] * 400_000) + b"]]]]]]",
        b"[" + b",".join([b"0.1"] * 380_000) + b"]",
        b"[" + b",".join([b"{}"] * 500_000) + b"]",
        b'["' + b"\\u1f600" * 200_000 + b'"]',
    ],
    ids=["lists", "numbers", "objects", "text"],
)
def test_the_largest_header_costs_a_bounded_amount_of_memory(header: bytes) -> None:
    TARGETS["wire"](b"\0" + struct.pack("<II", len(header), 0) + header)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 1_900_000,
        b'{"a":' * 380_000,
        b'"' + b"\\" * 1_900_000,
        b"1" * 1_900_000,
        b"x" * 10_000_000,
        b'{"worksheet":"' + b"\xf0\x9f\x98\x80" * 400_000,
        "\ufeff{}".encode("utf-16"),
        b"[" + b"[]," * 600_000 + b"[]]",
    ],
    ids=["deep lists", "deep objects", "backslashes", "digits", "10 MB", "half a text", "UTF-16", "wide"],
)
def test_a_large_worksheet_is_refused_within_moments(data: bytes) -> None:
    TARGETS["worksheet"](data)


# ---------------------------------------------------------------- the command


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tests" / "fuzzing" / "fuzz.py"), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)


def test_the_command_has_examples_and_names_the_targets() -> None:
    done = fuzz("--help")
    assert done.returncode == 0 and "examples:" in done.stdout
    assert all(target in done.stdout for target in TARGETS)


def test_an_unknown_target_is_refused_with_the_known_ones() -> None:
    done = fuzz("wires", "--seconds", "1")
    assert done.returncode == 2 and "there is no target wires" in done.stderr and "metadata" in done.stderr


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="Atheris runs on Linux only")
def test_a_short_run_counts_its_inputs() -> None:
    done = fuzz("roster", "--seconds", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    target, inputs, *_, crashes = done.stdout.splitlines()[-1].split()
    assert target == "roster" and int(inputs.replace(",", "")) > 100 and crashes == "0"
