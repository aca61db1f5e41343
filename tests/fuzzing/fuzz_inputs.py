"""What fuzzers begin with, and how they change it: valid inputs that the project's own writers make, and mutations that
know the format. Blind changes would get no further than a length, a checksum or a bracket.

Every mutation takes a `random.Random`, so that a number says which one it is.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import json
import random
import re
import stat
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from class_maker import zip_bytes
from fuzz_targets import CLASS, ENDINGS, KEY, checks_that_run, header

from grader.core.contents import read_submission
from grader.core.course import EXERCISES, MODEL_ANSWERS
from grader.grading.student import Student
from grader.reports.feedback import as_json
from grader.sandbox.worker import wire
from grader.worksheet.questions import NAME, QUESTIONS, RUNS, VERSION

Draw = random.Random
Files = Mapping[str, str | bytes]
_LONGEST = 200_000
_LONG_RUNS = ("bandit.it_finds_the_peak", "bandit.it_learns_on_other_tables_too", "charlm.it_learns_to_like_pizza")
_ODD_TOKENS = (
    "1e400", "-1e400", "NaN", "Infinity", "-0", "-0.0", "1" + "0" * 5_000, "9" * 4_300, "1" + "0" * 400, "1e-400",
    "0.1",
    "18446744073709551616", "-1", "true", "null", '""', "[]", "{}", '"\\ud800"', '"\\u202e"', '"\\u0000"',
    '"\\u001b[2J"',
    '{"a":1,"a":2}', "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", '"::error::x"', '"' + "x" * 3_000 + '"', "1.0", "2",
)  # fmt: skip
_ODD_NAMES = (
    "../kl.py", "/kl.py", "C:\\kl.py", "a/../../kl.py", "KL.PY", "Kl.py", "kl.py ", "kl.py.txt", "kl (1).py", "kl-2.py",
    "con.py", "nul", "starter/kl.py", "x/starter/kl.py", "__MACOSX/kl.py", "venv/kl.py", ".git/kl.py", "kl\u0301.py",
    "\uff4bl.py", "\u202eyp.lk", "k\0l.py", "\x1b[2Jkl.py", "a\nb/kl.py", "worksheet.json", "worksheet (1).json",
    "in.zip",
    "in.tar.gz", "x.7z", "x" * 300 + ".py", "deep/" * 60 + "kl.py", "submission_metadata.yml", "~", "", ".", "..", "//",
    "ada_LATE_12_34_kl.py", "Ada Doe_12_assignsubmission_file/kl.py",
)  # fmt: skip
_WORDS: Mapping[str, tuple[str, ...]] = {
    "metadata": (
        "&a ", "*a", "<<: *a", "[", "]", "{", "}", "- ", "? ", ": ", "!!python/object:os.system ", "!!binary ",
        "|\n", ">\n",
        "'", '"', "~", "null", "%YAML 1.1\n---\n", "---\n", "...\n", ":submitters:", ":name:", ":created_at: ", "\t",
        "\0",
        "2030-01-31 23:59:00 Z", "0001-01-01 00:00:00 +23:59", "9999-12-31 23:59:59.999 -2359", "submission_1:\n",
        "- " * 40,
    ),
    "gradebook": (
        '"', '""', ",", ";", "\t", "\r", "\n", "\r\n", " ", "\0", "\ufeff", "-", "0,5", "1.5", "999999999", "-0",
        "1e9", "ex",
        "Ada Doe", "Doe, Ada", "ada@example.edu", "0007", "7",
        "Student,ID,SIS User ID,SIS Login ID,Section,GRPO (12)\n",
        "Points Possible", "Identifier,Full name,Email address,Grade,Maximum grade,Last modified (submission)\n",
        "Username",
        "GRPO [Total Pts: 20 Score] |12", "Friday, 20 November 2031, 1:00 PM", "Participant 8", "=1+1", "\u0661",
        "\u202e",
    ),
    "roster": (
        '"', ",", ";", "\n", "\r\n", "submission", "identifier", "github_username", "submitted_at", "name", "email",
        "id",
        "hw-ada", "hw-ben", "HW-ADA", "ada", "2031-11-20T12:00:00+01:00", "0001-01-01T00:00:00+23:59",
        "2030-03-31T02:30:00",
        "9999-12-31T23:59:59-23:59", "20311120T1200", "12:00", "\0", "\ufeff", " ",
    ),
    "policy": (
        "due = ", "last = ", "time_zone = ", '"Europe/Berlin"', '"../../etc/passwd"', '"/etc/passwd"', '"\\u0000"',
        '"UTC"',
        "grace_minutes = ", "deduction_percent = ", "maximum_percent = ", "per = ", '"hour"', "[[extension]]\n",
        "\n", "[", "]",
        "student = ", '"ada@example.edu"', "2031-11-20T12:00:00Z", "2031-11-20T12:00:00", "2031-11-20",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z", "1e400", "nan", "-inf", "1" * 5_000, "0x7f", "{", "}", "'''", "#", "10", "0",
        "1e-400", "= ",
    ),
    "source": (
        "\ufeff", "\r", "\r\n", "\0", "# coding: utf-7\n", "'''", '"""', "(" * 99, "\\\n", "\t", "    ", "\f", "f'{",
        "}", "def ",
        "from torch import func", "torch.func", "optim", "0_0", "1e400", "0xg", "\u2028", "\u00b7", "\u210c",
        "if x:\n", "é",
        "x" * 2_000, "lambda", "$", "?",
    ),
}  # fmt: skip


# ---------------------------------------------------------------- seeds


@functools.cache
def seeds(target: str) -> tuple[bytes, ...]:
    """Valid inputs of a target, as the project itself or a platform writes them."""
    return tuple(_SEEDS[target]())


def _student() -> list[bytes]:
    """All that a worker with the model answers sends, check by check."""
    from grader.grading.debug import InProcess  # imports torch

    found = []
    submission = read_submission(MODEL_ANSWERS)

    class Recorder(InProcess):
        def request(self, body: dict[str, Any], *, seconds: float, wall_seconds: float = 0.0) -> dict[str, Any]:
            reply = super().request(body, seconds=seconds)
            frames.append(wire.encode(len(frames) + 1, reply))
            return reply

    for number, one in enumerate(checks_that_run()):
        if one.check.id in _LONG_RUNS:
            continue
        frames: list[bytes] = []
        exercise = next(each for each in EXERCISES if each.name == one.check.exercise)
        student = Student(exercise, submission, Recorder)
        with contextlib.suppress(AssertionError):
            one.run(student, one_entry())
        student.close()
        stream = b"".join(frames)
        if len(stream) < _LONGEST:
            found.append(header(number, 7 * number % 256, b"said\n" * (number % 3)) + stream)
    error = {"type": "ValueError", "message": "no", "frames": [["kl.py", 3, "f", "raise"]], "not_written": False}
    for number in (0, 20):
        replies: tuple[tuple[dict[str, Any], ...], ...] = (
            ({"result": {}}, {"result": {"problem": "f(x)"}}),
            ({"result": {}}, {"error": error}),
            ({"error": error},),
        )
        found += [header(number) + b"".join(wire.encode(i, body) for i, body in enumerate(each, 1)) for each in replies]
    return found


def one_entry() -> Any:
    """A check's result that only collects curves."""
    return CLASS[0].result.checks[0]  # type: ignore[union-attr]


def _worksheet() -> list[bytes]:
    """A worksheet without runs, and some with a few of them as the simulation plays them: all would take too long."""
    from grader.oracles.simulation import simulate
    from grader.worksheet import replay as replaying

    answers = [
        {"id": each.id, "answer": f"In {each.id} the mean decides who gains, and who loses."} for each in QUESTIONS
    ]
    runs = []
    for number, run in enumerate(RUNS):
        played = replaying._quantities(run, simulate(run.settings, seeds=[number], steps=run.steps))
        values = {name: played[name] for name in run.values}
        settings = json.loads(json.dumps(asdict(run.settings)))
        runs.append({"id": run.id, "seed": number, "steps": run.steps, "settings": settings, "values": values})
    documents = [{"answers": answers, "runs": runs[at : at + 4]} for at in (len(runs), *range(0, len(runs), 4))]
    return [as_json({"worksheet": NAME, "version": VERSION, **each}).encode() for each in documents]


def _files() -> dict[str, str | bytes]:
    return {
        "kl.py": "def f():\n    return 1\n",
        "starter/clip.py": "y = 2\n",
        "worksheet.json": "{}",
        "notes.txt": "hello\n",
    }


def _tar(files: Files, mode: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as opened:  # type: ignore[call-overload]
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            content = text if isinstance(text, bytes) else text.encode()
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return data.getvalue()


def _archive() -> list[bytes]:
    plain = [zip_bytes(_files()), _tar(_files(), "w"), _tar(_files(), "w:gz"), _tar({"é/kl.py": "x = 1\n"}, "w:gz")]
    nested = [zip_bytes({"in.zip": plain[0]}), zip_bytes({"in.tar.gz": plain[2]}), _tar({"in.zip": plain[0]}, "w")]
    kinds = (0, 1, 2, 3, 0, 0, 1)
    return [bytes([kind]) + data for kind, data in zip(kinds, [*plain, *nested], strict=True)]


def _class() -> list[bytes]:
    inner = zip_bytes(_files())
    flat: Files = {
        "adadoe_LATE_12_34_kl.py": "x = 1\n",
        "benroe_13_35_clip.py": "x = 2\n",
        "evefoo_14_36_all.zip": inner,
    }
    moodle: Files = {
        f"{who}_{number}_assignsubmission_file/kl.py": "x = 1\n" for who, number in (("Ada Doe", 7), ("Ben Roe", 8))
    }
    gradescope: Files = {"a/submission_metadata.yml": _metadata()[0], "a/submission_1/kl.py": "x = 1\n"}
    github: Files = {"hw-ada/starter/kl.py": "x = 1\n", "hw-ben/kl.py": "x = 2\n", "hw-eve.zip": inner}
    return [zip_bytes(each) for each in (flat, moodle, gradescope, github)]


def _metadata() -> list[bytes]:
    one = "submission_1:\n  :submitters:\n  - :name: Ada Doe\n    :email: ada@example.edu\n    :sid: '0007'\n"
    two = "submission_2:\n  :created_at: 2030-01-31 23:59:00.5 Z\n  :submitters:\n  - {:name: Ben, :email: ~}\n"
    return [f"---\n{one}  :created_at: 2031-11-20 12:00:00 -08:00\n{two}  - :sid: 8\n".encode()]


def _source() -> list[bytes]:
    return [text.encode() for text in read_submission(MODEL_ANSWERS).files.values()]


def _result() -> list[bytes]:
    from exports_results import example

    return [example().as_json().encode(), *(each.result.as_json().encode() for each in CLASS if each.result)]


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
    blackboard = (
        '"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"GRPO [Total Pts: 20 Score] |12"\n'
        '"Doe"\t"Ada"\t"ada"\t"0007"\t""\n"Roe"\t"Ben"\t"ben"\t"0008"\t"5"\n'
    )
    books = [(0, canvas.encode("utf-8-sig")), (0, canvas.replace(",", ";").encode()), (1, moodle.encode())]
    books.append((2, b"\xff\xfe" + blackboard.encode("utf-16-le")))
    # What the byte says of the platform is its rest by 3, so that the other bits are free.
    choices = [
        next(each for each in range(bits, bits + 16) if each % 3 == kind) for kind, _ in books for bits in (0, 128)
    ]
    return [
        bytes([choice]) + data for choice, (_, data) in zip(choices, (b for b in books for _ in range(2)), strict=True)
    ]


def _roster() -> list[bytes]:
    titles = "submission,name,email,number,username,id,submitted_at\n"
    ours = titles + "hw-ada,Ada Doe,ada@example.edu,7,ada,1,2031-11-20T12:00Z\n"
    theirs = '"identifier","github_username","github_id","name"\n"Ben Roe","ben","12",""\n"0007","ada","13","x"\n'
    return [ours.encode(), theirs.encode()]


def _policy() -> list[bytes]:
    text = (
        'due = 2031-11-20T23:59:00\ntime_zone = "Europe/Berlin"\ngrace_minutes = 10\ndeduction_percent = 12.5\n'
        'per = "hour"\n'
        'maximum_percent = 50\nlast = 2031-11-27T23:59:00+01:00\n[[extension]]\nstudent = "ada@example.edu"\n'
        "due = 2031-11-22T23:59:00Z\n"
    )
    return [text.encode(), b"due = 2031-11-20T23:59:00Z\ndeduction_percent = 10\n"]


def _folder() -> list[bytes]:
    person = {"name": "Ada", "email": "", "number": "7", "username": "", "platform": "canvas", "platform_id": "7"}
    entry = {
        "name": "ada", "people": [person], "submitted_at": "2031-11-20T12:00:00+00:00",
        "marked_late": False, "key": KEY,
        "notes": ["odd"], "unread": [], "problem": "",
    }  # fmt: skip
    document = {
        "schema": "grpo-course/class/1",
        "settings": {"seed": 1},
        "submissions": [entry, {**entry, "name": "b"}],
    }
    return [json.dumps(document).encode()]


def _journal() -> list[bytes]:
    line = json.dumps({"key": KEY, "content": "content", "file": "0" * 64, "seconds": 1.5}).encode()
    return [line + b"\n" + line + b"\n", line[:20]]


_SEEDS: Mapping[str, Callable[[], list[bytes]]] = {
    "wire": lambda: [bytes([1 + number % 200]) + data[3 + data[2] :] for number, data in enumerate(seeds("student"))],
    "student": _student,
    "worksheet": _worksheet,
    "archive": _archive,
    "class": _class,
    "metadata": _metadata,
    "source": _source,
    "result": _result,
    "gradebook": _gradebook,
    "roster": _roster,
    "policy": _policy,
    "folder": _folder,
    "journal": _journal,
}


# ---------------------------------------------------------------- mutations


def mutated(target: str, data: bytes, draw: Draw) -> bytes:
    """The input with one change that its format allows for; with a blind one where it is no such format."""
    try:
        changed = _MUTATIONS[target](data, draw)
    except Exception:  # an input that was changed before may be anything
        changed = _blind(data, draw)
    return changed[:_LONGEST]


def _blind(data: bytes, draw: Draw) -> bytes:
    """A few bytes other, missing, twice or new."""
    found = bytearray(data or b"\0")
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(found) + 1)
        to = min(len(found), at + draw.randrange(1, 9))
        piece = bytes(found[at:to])
        found[at:to] = draw.choice(
            [b"", piece * 2, draw.randbytes(1), draw.randbytes(len(piece)), b"\xff" * len(piece)]
        )
    return bytes(found)


def _json(data: bytes, draw: Draw) -> bytes:
    return _odd_json(json.loads(data), draw).encode()


def _odd_json(document: Any, draw: Draw) -> str:
    """The text of a document with a change in one place. Some changes are none that a JSON writer could make."""
    odd = draw.choice(_ODD_TOKENS)
    marker = "the odd token"
    places = list(_places(document))
    holder, key = draw.choice(places) if places else ([document], 0)
    holder[key], kind = _other(holder[key], document, marker, draw), draw.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[draw.choice(["id", "extra", "\ud800", "", "__class__", str(key).upper()])] = holder.pop(key)
    elif kind == 2 and isinstance(holder, list):
        holder += [holder[key]] * draw.choice([1, 2, 50])
    return json.dumps(document).replace(f'"{marker}"', odd)


def _other(value: Any, document: Any, marker: str, draw: Draw) -> Any:
    """Something else in the place of a value."""
    choices = [lambda: marker] * 4 + [
        lambda: [value],
        lambda: {"a": value},
        lambda: json.loads(json.dumps(draw.choice([holder[key] for holder, key in _places(document)]))),
        lambda: draw.choice([0, 1, -1, 2**31, 2**63, 2**64, 0.5, 1e308, True, None, "", "x", "torch", [], {}]),
        lambda: value + draw.choice([1, -1, 0.5, 2**40]) if isinstance(value, int | float) else value,
        lambda: value[::-1] if isinstance(value, list | str) else value,
    ]
    return draw.choice(choices)()


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every container and key below a document."""
    found: list[tuple[Any, Any]] = []
    todo = [document]
    while todo and len(found) < 5_000:
        holder = todo.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        found += [(holder, key) for key in keys]
        todo += [holder[key] for key in keys]
    return found


def _frames(data: bytes, draw: Draw, *, before: int) -> bytes:
    """A stream of frames in which a header, the bytes of a tensor, a length or the order is another."""
    start, at = data[:before], before
    frames = []
    while at + 8 <= len(data):
        sizes = [int.from_bytes(data[at + i : at + i + 4], "little") for i in (0, 4)]
        frames.append((data[at + 8 : at + 8 + sizes[0]], data[at + 8 + sizes[0] : at + 8 + sum(sizes)]))
        at += 8 + sum(sizes)
    which, kind = draw.randrange(len(frames)), draw.randrange(10)
    head, body = frames[which]
    if kind < 6:
        frames[which] = _odd_json(json.loads(head), draw).encode(), body
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
    """An archive behind its first byte, with other entries, other packing, or blind changes in what describes them."""
    kind, packed = data[:1], data[1:]
    ending = ENDINGS[kind[0] % len(ENDINGS)]
    return kind + (_zip(packed, draw) if ending == ".zip" else _other_tar(packed, draw))


def _zip(data: bytes, draw: Draw) -> bytes:
    if draw.random() < 0.3:
        return _directory(data, draw)
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
            info.compress_type = draw.choice(
                [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]
            )
            with warnings.catch_warnings(action="ignore"):  # two of one name are a warning
                archive.writestr(info, content)
    return made.getvalue()


def _directory(data: bytes, draw: Draw) -> bytes:
    """A field of an entry in the directory of a zip, or of its end, with another number."""
    found = bytearray(data)
    signatures = [match.start() for match in re.finditer(b"PK\x01\x02|PK\x05\x06|PK\x03\x04", data)]
    at = draw.choice(signatures) + draw.choice([4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 30, 32, 34, 36, 38, 42])
    size = draw.choice([1, 2, 4])
    found[at : at + size] = draw.choice(
        [b"\xff" * size, b"\0" * size, draw.randbytes(size), b"\x01" + b"\0" * (size - 1)]
    )
    return bytes(found)


def _other_tar(data: bytes, draw: Draw) -> bytes:
    is_packed = data[:2] == b"\x1f\x8b"
    plain = gzip.GzipFile(fileobj=io.BytesIO(data)).read(10 * _LONGEST) if is_packed else data
    plain = _tar_headers(plain, draw) if draw.random() < 0.4 else _tar_entries(plain, draw)
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


def _tar_headers(data: bytes, draw: Draw) -> bytes:
    """A field of a header with another value, and the checksum that belongs to it."""
    found = bytearray(data)
    starts = [at for at in range(0, len(data) - 511, 512) if data[at + 257 : at + 262] == b"ustar"]
    at = draw.choice(starts)
    field, size = draw.choice(
        [(0, 100), (100, 8), (124, 12), (124, 12), (136, 12), (156, 1), (156, 1), (345, 155), (482, 30)]
    )
    numbers = (
        b"77777777777\0",
        b"-0000000001\0",
        b"\x80" + b"\0" * 10 + b"\x01",
        b"\xff" * 12,
        b"\x80" + b"\xff" * 11,
        b"0" * 12,
    )
    value = draw.choice([*numbers, draw.randbytes(size), bytes([draw.choice(b"0123456LKxgXSDV")]) * size])
    found[at + field : at + field + size] = value[:size].ljust(size, b"\0")
    found[at + 148 : at + 156] = b" " * 8
    found[at + 148 : at + 156] = b"%06o\0 " % sum(found[at : at + 512])
    return bytes(found)


def _other_entries(entries: list[_Entry], kinds: Any, draw: Draw) -> list[_Entry]:
    """Files with other names, contents and kinds, missing, twice, or packed once more."""
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(entries))
        name, content, kind = entries[at]
        match draw.randrange(7):
            case 0 | 1:
                entries[at] = draw.choice(_ODD_NAMES), content, kind
            case 2:
                entries[at] = name, draw.choice([b"", b"\0" * 300_000, b"\xff\xfe", _blind(content, draw)]), kind
            case 3:
                entries[at] = name, content, draw.choice(kinds)
            case 4:
                entries.append((draw.choice([name, name.upper(), draw.choice(_ODD_NAMES)]), content, kind))
            case 5:
                inner = zip_bytes({"kl.py" if part in ("", "..") else part: text for part, text, _ in entries})
                entries = [(draw.choice(["in.zip", "in.tar", name]), inner, 0)]
            case _:
                draw.shuffle(entries)
    return entries


def _lines(target: str) -> Callable[[bytes, Draw], bytes]:
    """Changes of a text: words of the format in other places, lines twice, missing or elsewhere; its encoding stays."""

    def change(data: bytes, draw: Draw) -> bytes:
        start = data[:1] if target == "gradebook" else b""
        text = data[len(start) :]
        encoding = "utf-16" if text[:2] == b"\xff\xfe" else "utf-8"
        found = text.decode(encoding)
        for _ in range(draw.randrange(1, 4)):
            if draw.random() < 0.3:
                lines = found.splitlines(keepends=True) or [""]
                at = draw.randrange(len(lines))
                lines[at : at + 1] = draw.choice([[], [lines[at]] * 2, lines[at:][:1] * 30, [draw.choice(lines)]])
                # The same line thirty times, and that three times, is more than fits in memory.
                found = "".join(lines)[:_LONGEST]
            else:
                at = draw.choice([match.start() for match in re.finditer(r"\b|\W", found)] or [0])
                length = draw.choice([0, 0, 1, 4, 12])
                found = found[:at] + draw.choice(_WORDS[target]) + found[at + length :]
        if target == "gradebook" and draw.random() < 0.2:
            start = draw.randbytes(1)
        return start + found.encode(encoding)

    return change


_MUTATIONS: Mapping[str, Callable[[bytes, Draw], bytes]] = {
    "wire": functools.partial(_frames, before=1),
    "student": lambda data, draw: _frames(data, draw, before=3 + data[2]),
    "worksheet": _json,
    "archive": _packed,
    "class": _zip,
    "metadata": _lines("metadata"),
    "source": _lines("source"),
    "result": _json,
    "gradebook": _lines("gradebook"),
    "roster": _lines("roster"),
    "policy": _lines("policy"),
    "folder": _json,
    "journal": lambda data, draw: b"\n".join(_json(line, draw) for line in data.split(b"\n") if line) + b"\n",
}
