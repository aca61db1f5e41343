"""Inputs that fuzzers start with, made by the project's own writers, and mutations that know each format.

Blind changes would get no further than a length, a checksum or a bracket. Every mutation takes a `random.Random`.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import itertools
import json
import random
import re
import stat
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from class_maker import tar_bytes, zip_bytes
from exports_results import example
from fuzz_targets import CLASS, ENDINGS, RunnableCheck, checks_that_run, header

from grader.core import course
from grader.core.contents import read_submission
from grader.grading.student import Student
from grader.reports.shared_texts import as_json
from grader.sandbox.worker import wire
from grader.worksheet import replay as replaying
from grader.worksheet.questions import NAME, QUESTIONS, RUNS, VERSION
from grader.worksheet.simulation import simulate

Draw = random.Random
Files = Mapping[str, str | bytes]
_LONGEST = 200_000
_LONG_RUNS = ("bandit.it_finds_the_peak", "bandit.it_learns_on_other_tables_too", "charlm.it_learns_to_like_pizza")
_ODD_TOKENS = (
    "1e400", "NaN", "-Infinity", "-0.0", "9" * 4_300, "1" + "0" * 400, "18446744073709551616", "-1", "0.5", "true",
    "null", '""', "[]", "{}", '"\\ud800"', '"\\u202e"', '"\\u0000"', '"\\u001b[2J"', '{"a":1,"a":2}',
    "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", '"::error::x"', '"' + "x" * 3_000 + '"',
)  # fmt: skip
_ODD_NAMES = (
    "../kl.py", "/kl.py", "C:\\kl.py", "a/../../kl.py", "Kl.py", "kl.py.txt", "kl (1).py", "con.py", "starter/kl.py",
    "__MACOSX/kl.py", "venv/kl.py", "kl\u0301.py", "\u202eyp.lk", "k\0l.py", "\x1b[2Jkl.py", "a\nb/kl.py", "in.tar.gz",
    "worksheet (1).json", "in.zip", "x" * 300 + ".py", "deep/" * 60 + "kl.py", "submission_metadata.yml", "", "..",
    "//", "ada_LATE_12_34_kl.py", "Ada Doe_12_assignsubmission_file/kl.py",
)  # fmt: skip
_WORDS: Mapping[str, tuple[str, ...]] = {
    "metadata": (
        "&a ", "*a", "<<: *a", "[", "{", "}", "- ", "? ", ": ", "!!python/object:os.system ", "!!binary ", "|\n", "'",
        "---\n", ":submitters:", ":name:", ":created_at: ", "\t", "\0", "0001-01-01 00:00:00 +23:59", "submission_1:\n",
    ),
    "gradebook": (
        '"', '""', ",", ";", "\t", "\r\n", "\0", "\ufeff", "-", "0,5", "999999999", "1e9", "Ada Doe", "ada@example.edu",
        "0007", "Student,ID,SIS User ID,SIS Login ID,Section,GRPO (12)\n", "Points Possible", "Username", "=1+1",
        "GRPO [Total Pts: 20 Score] |12", "Friday, 20 November 2031, 1:00 PM", "\u0661", "\u202e",
    ),
    "source": (
        "\ufeff", "\r", "\0", "# coding: utf-7\n", "'''", "(" * 99, "\\\n", "\t", "\f", "f'{", "def ", "torch.func",
        "0xg", "\u2028", "if x:\n", "é", "x" * 2_000, "lambda", "$",
    ),
}  # fmt: skip


# Seeds


@functools.cache
def seeds(target: str, most: int | None = None) -> tuple[bytes, ...]:
    """Valid inputs of a target, as the project itself or a platform writes them."""
    return tuple(itertools.islice(_SEEDS[target](), most))


def replies(one: RunnableCheck) -> list[bytes]:
    """All frames that a worker with the model answers sends for a check."""
    from grader.grading.debug import InProcess  # imports torch

    frames: list[bytes] = []

    class Recorder(InProcess):
        def request(self, body: dict[str, Any], *, seconds: float, wall_seconds: float = 0.0) -> dict[str, Any]:
            reply = super().request(body, seconds=seconds)
            frames.append(wire.encode(len(frames) + 1, reply))
            return reply

    student = Student(course.exercise(one.check.exercise), read_submission(course.MODEL_ANSWERS), Recorder)
    with contextlib.suppress(AssertionError):
        one.run(student, example().checks[0])
    student.close()
    return frames


def _student() -> Iterator[bytes]:
    error: dict[str, Any] = {
        "error": {"type": "ValueError", "message": "no", "frames": [["kl.py", 3, "f", "x"]], "not_written": False}
    }
    streams: list[list[dict[str, Any]]] = [[{"result": {}}, {"result": {"problem": "f(x)"}}], [{"result": {}}, error]]
    for sent in streams:
        yield header() + b"".join(wire.encode(number, body) for number, body in enumerate(sent, 1))
    for number, one in sorted(enumerate(checks_that_run()), key=lambda pair: pair[0] % 10):  # the first are diverse
        if one.check.id not in _LONG_RUNS and len(stream := b"".join(replies(one))) < _LONGEST:
            yield header(number, 7 * number % 256, b"said\n" * (number % 3)) + stream


def _worksheet() -> Iterator[bytes]:
    """A worksheet without runs, and some with a few runs each: all of them would take too long."""
    answers = [{"id": each.id, "answer": f"In {each.id} the mean decides who gains."} for each in QUESTIONS]
    for at in (len(RUNS), *range(0, len(RUNS), 4)):
        runs = []
        for number, run in enumerate(RUNS[at : at + 4], at):
            played = replaying._quantities(run, simulate(run.settings, seed=number, steps=run.steps))
            values = {name: played[name] for name in run.values}
            settings = asdict(run.settings)
            runs.append({"id": run.id, "seed": number, "steps": run.steps, "settings": settings, "values": values})
        document = {"worksheet": NAME, "version": VERSION, "answers": answers, "runs": runs}
        yield as_json(document).encode()


FILES: Files = {
    "kl.py": "def f():\n    return 1\n", "starter/clip.py": "y = 2\n", "worksheet.json": "{}", "notes.txt": "hello\n"
}  # fmt: skip


def _archive() -> list[bytes]:
    plain = [
        zip_bytes(FILES),
        tar_bytes(FILES, "w"),
        tar_bytes(FILES, "w:gz"),
        tar_bytes({"é/kl.py": "x = 1\n"}, "w:gz"),
    ]
    nested = [zip_bytes({"in.zip": plain[0]}), zip_bytes({"in.tar.gz": plain[2]}), tar_bytes({"in.zip": plain[0]}, "w")]
    return [bytes([kind]) + data for kind, data in zip((0, 1, 2, 3, 0, 0, 1), [*plain, *nested], strict=True)]


def _class() -> list[bytes]:
    inner = zip_bytes(FILES)
    text = "x = 1\n"
    return [
        zip_bytes({"adadoe_LATE_12_34_kl.py": text, "benroe_13_35_clip.py": text, "evefoo_14_36_all.zip": inner}),
        zip_bytes({f"{who}_assignsubmission_file/kl.py": text for who in ("Ada Doe_7", "Ben Roe_8")}),
        zip_bytes({"a/submission_metadata.yml": METADATA, "a/submission_1/kl.py": text}),
        zip_bytes({"hw-ada/starter/kl.py": text, "hw-ben/kl.py": text, "hw-eve.zip": inner}),
    ]


METADATA = b"""---
submission_1:
  :submitters:
  - :name: Ada Doe
    :email: ada@example.edu
    :sid: '0007'
  :created_at: 2031-11-20 12:00:00 -08:00
submission_2:
  :created_at: 2030-01-31 23:59:00.5 Z
  :submitters:
  - {:name: Ben, :email: ~}
  - :sid: 8
"""


def _gradebook() -> list[bytes]:
    canvas = (
        "Student,ID,SIS User ID,SIS Login ID,Section,GRPO (12),Current Score\r\n"
        "    Points Possible,,,,,20,(read only)\r\n"
        '"Doe, Ada",7,0007,ada,One,,\r\n"Roe, Ben",9,0008,ben,One,3.5,\r\n"Student, Test",,,,One,,\r\n'
    )
    moodle = (
        "Identifier,Full name,ID number,Email address,Status,Grade,Maximum grade,Grade can be changed,"
        "Last modified (submission),Feedback comments\n"
        'Participant 7,Ada Doe,0007,ada@example.edu,x,"4,5",20,Yes,"Friday, 20 November 2031, 1:00 PM",\n'
        "Participant 8,Ben Roe,0008,ben@example.edu,x,-,20,No,-,\n"
    )
    books = [canvas.encode("utf-8-sig"), moodle.encode()]
    books += [canvas.replace(",", ";").encode(), b"\xff\xfe" + moodle.encode("utf-16-le")]
    # The first byte modulo 2 says whose export it is; its bits are the instructor's choices.
    return [bytes([kind]) + book for number, book in enumerate(books) for kind in (number % 2, 128 + number % 2)]


_SEEDS: Mapping[str, Callable[[], Iterable[bytes]]] = {
    "wire": lambda: (bytes([1 + number % 200]) + data[3 + data[2] :] for number, data in enumerate(_student())),
    "student": _student,
    "worksheet": _worksheet,
    "archive": _archive,
    "class": _class,
    "metadata": lambda: [METADATA],
    "source": lambda: [text.encode() for text in read_submission(course.MODEL_ANSWERS).files.values()],
    "result": lambda: [
        example().as_json().encode(),
        *(each.result.as_json().encode() for each in CLASS if each.result),
    ],
    "gradebook": _gradebook,
}


# Mutations


def mutated(target: str, data: bytes, draw: Draw) -> bytes:
    """The input with one change that its format allows for, or a blind one where the input has another format."""
    try:
        return _MUTATIONS[target](data, draw)[:_LONGEST]
    except Exception:  # an input that was changed before may be anything
        return _blind(data, draw)[:_LONGEST]


def _blind(data: bytes, draw: Draw) -> bytes:
    """A few bytes changed, missing, twice or new."""
    found = bytearray(data or b"\0")
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(found) + 1)
        to = min(len(found), at + draw.randrange(1, 9))
        piece = bytes(found[at:to])
        found[at:to] = draw.choice([b"", piece * 2, draw.randbytes(1), draw.randbytes(to - at), b"\xff" * (to - at)])
    return bytes(found)


def _json(data: bytes, draw: Draw) -> bytes:
    """A document with a change in one place; no JSON writer could make some of them."""
    document, marker = json.loads(data), "the odd token"
    places = _places(document)
    holder, key = draw.choice(places) if places else ([document], 0)
    elsewhere, other = draw.choice(places or [([0], 0)])
    simple: Any = draw.choice([0, -1, 2**63, 2**64, 0.5, 1e308, True, None, "", "torch", [], {}])
    copied = json.loads(json.dumps(elsewhere[other]))
    holder[key] = draw.choice([marker, marker, marker, [holder[key]], {"a": holder[key]}, copied, simple])
    kind = draw.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[draw.choice(["id", "extra", "\ud800", "", "__class__", str(key).upper()])] = holder.pop(key)
    elif kind == 2 and isinstance(holder, list):
        holder += [holder[key]] * draw.choice([1, 2, 50])
    return json.dumps(document).replace(f'"{marker}"', draw.choice(_ODD_TOKENS)).encode()


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every container and key in a document."""
    found: list[tuple[Any, Any]] = []
    todo = [document]
    while todo and len(found) < 5_000:
        holder = todo.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        found += [(holder, key) for key in keys]
        todo += [holder[key] for key in keys]
    return found


def _frames(data: bytes, draw: Draw, *, before: int) -> bytes:
    """A stream of frames with a change in a header, in the bytes of a tensor, in a length or in the order."""
    start, at = data[:before], before
    frames = []
    while at + 8 <= len(data):
        sizes = [int.from_bytes(data[at + i : at + i + 4], "little") for i in (0, 4)]
        frames.append((data[at + 8 : at + 8 + sizes[0]], data[at + 8 + sizes[0] : at + 8 + sum(sizes)]))
        at += 8 + sum(sizes)
    which, kind = draw.randrange(len(frames)), draw.randrange(10)
    head, body = frames[which]
    if kind < 6:
        frames[which] = _json(head, draw), body
    elif kind == 6:
        frames[which] = head, _blind(body, draw)
    elif kind == 7:
        frames.insert(draw.randrange(len(frames) + 1), frames[which])
    elif kind == 8:
        del frames[which]
    packed = [len(one).to_bytes(4, "little") + len(two).to_bytes(4, "little") + one + two for one, two in frames]
    if kind == 9:
        packed[which] = draw.randbytes(draw.randrange(1, 9)) + packed[which][8:]
    return start + b"".join(packed)


_Entry = tuple[str, bytes, int]
"""Name, content, and for a zip the attributes, for a tar the kind."""


def _packed(data: bytes, draw: Draw) -> bytes:
    """An archive after its first byte, with other entries, or with blind changes."""
    change = _zip if ENDINGS[data[0] % len(ENDINGS)] == ".zip" else _other_tar
    return data[:1] + (_blind(data[1:], draw) if draw.random() < 0.2 else change(data[1:], draw))


def _zip(data: bytes, draw: Draw) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        entries = []
        for each in opened.infolist():
            with opened.open(each) as packed:
                entries.append((each.filename, packed.read(_LONGEST), each.external_attr))
    modes = (0, stat.S_IFLNK << 16, stat.S_IFIFO << 16, stat.S_IFCHR << 16, stat.S_IFDIR << 16, 16)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content, attributes in _other_entries(entries, modes, draw):
            info = zipfile.ZipInfo("x")
            info.filename, info.external_attr = name, attributes
            info.compress_type = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
            with warnings.catch_warnings(action="ignore"):  # two entries of one name are a warning
                archive.writestr(info, content)
    return made.getvalue()


def _other_tar(data: bytes, draw: Draw) -> bytes:
    is_packed = data[:2] == b"\x1f\x8b"
    plain = gzip.GzipFile(fileobj=io.BytesIO(data)).read(10 * _LONGEST) if is_packed else data
    plain = _tar_entries(plain, draw)
    return gzip.compress(plain, 1, mtime=0) if is_packed else plain


def _tar_entries(data: bytes, draw: Draw) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as opened:  # no xz, which may ask for gigabytes
        entries = [(each.name, opened.extractfile(each).read(_LONGEST), 0) for each in opened if each.isreg()]  # type: ignore[union-attr]
    kinds = b"00125346DSKLgx7X"
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=draw.choice([0, 1, 2])) as archive:
        for name, content, kind in _other_entries(entries, range(len(kinds)), draw):
            info = tarfile.TarInfo(name.replace("\0", ""))
            info.size, info.type, info.linkname = len(content), kinds[kind : kind + 1], "../../etc/passwd"
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def _other_entries(entries: list[_Entry], kinds: Any, draw: Draw) -> list[_Entry]:
    """Files with other names, contents and kinds, missing, twice, or packed once more."""
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(entries))
        name, content, kind = entries[at]
        match draw.randrange(6):
            case 0 | 1:
                entries[at] = draw.choice(_ODD_NAMES), content, kind
            case 2:
                entries[at] = name, draw.choice([b"", b"\0" * 300_000, b"\xff\xfe", _blind(content, draw)]), kind
            case 3:
                entries[at] = name, content, draw.choice(kinds)
            case 4:
                entries.append((draw.choice([name, name.upper(), draw.choice(_ODD_NAMES)]), content, kind))
            case _:
                inner = zip_bytes({"kl.py" if part in ("", "..") else part: text for part, text, _ in entries})
                entries = [(draw.choice(["in.zip", "in.tar", name]), inner, 0)]
    return entries


def _lines(data: bytes, draw: Draw, *, target: str) -> bytes:
    """A text with words of its format in other places, and lines twice, missing or moved; its encoding stays."""
    start = data[:1] if target == "gradebook" else b""
    text = data[len(start) :]
    encoding = "utf-16" if text[:2] == b"\xff\xfe" else "utf-8"
    found = text.decode(encoding)
    for _ in range(draw.randrange(1, 4)):
        if draw.random() < 0.3:
            lines = found.splitlines(keepends=True) or [""]
            at = draw.randrange(len(lines))
            lines[at : at + 1] = draw.choice([[], [lines[at]] * 2, [lines[at]] * 30, [draw.choice(lines)]])
            found = "".join(lines)[:_LONGEST]
        else:
            at = draw.choice([match.start() for match in re.finditer(r"\b|\W", found)] or [0])
            found = found[:at] + draw.choice(_WORDS[target]) + found[at + draw.choice([0, 0, 1, 4, 12]) :]
    if target == "gradebook" and draw.random() < 0.2:
        start = draw.randbytes(1)
    return start + found.encode(encoding)


_MUTATIONS: Mapping[str, Callable[[bytes, Draw], bytes]] = {
    "wire": functools.partial(_frames, before=1),
    "student": lambda data, draw: _frames(data, draw, before=3 + data[2]),
    "archive": _packed,
    "class": _zip,
    **dict.fromkeys(("worksheet", "result"), _json),
    **{target: functools.partial(_lines, target=target) for target in _WORDS},
}
