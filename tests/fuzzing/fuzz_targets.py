"""Everything that reads what others wrote, as functions from bytes to nothing: each raises only if a promise is broken.

What is read comes from students (replies of a worker, worksheets, archives, sources) or from platforms (exports,
metadata) and results that anybody may have written. Every target runs under a guard with two promises of its own:
reading writes no file and starts nothing, and it ends within a processor time that only a loop exceeds.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import io
import json
import os
import random
import re
import struct
import sys
import tempfile
import threading
import time
import tracemalloc
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import hypothesis
import numpy as np
from rich.console import Console

from grader.classroom.page import class_page
from grader.classroom.report import class_report, named
from grader.classroom.results import (
    ClassError,
    Entry,
    Person,
    file_name,
)
from grader.classroom.submissions import METADATA, HandedIn, find_submissions
from grader.core import course
from grader.core.contents import MODULES, Contents
from grader.core.files import UnreadableError, members_of_archive
from grader.core.result import FAILED, GRADER_ERROR, PASSED, CheckResult, ExerciseResult, Result, from_json
from grader.core.submission import MAX_FILE_BYTES, Submission, text_of
from grader.gradebook import canvas, moodle
from grader.gradebook.fill import Options, fill
from grader.gradebook.late import LateError, LateRule
from grader.gradebook.layout import with_times
from grader.gradebook.table import GradebookError, read_table
from grader.grading import curves, recorded_answers
from grader.grading.check import Check, as_result, modules
from grader.grading.plugin import GradingPlugin
from grader.grading.settings import GradingSettings
from grader.grading.student import Student
from grader.reports import FORMATS, export, terminal
from grader.sandbox.worker import wire
from grader.sandbox.worker_process import WorkerProcess
from grader.worksheet import grade as worksheet
from grader.worksheet.reader import worksheet_in, worksheet_of
from grader.worksheet.replay import replay

CPU_SECONDS = 30.0
"""No input takes a tenth of it, however busy the machine is."""

# Memory of a reply against its bytes: an empty list takes three bytes in JSON and about 64 in memory, and for a moment
# the text, the parsed header and the decoded values exist together.
WIRE_FACTOR, WIRE_SPARE = 100, 1 << 20

_RUNNER = {
    "CLASSROOM": "c", "ASSIGNMENT": "a", "ASSIGNMENT_TYPE": "individual", "OWNER": "o", "COMMIT_URL": "https://x",
    "SUBMISSION_TAG": "submit/2030-01-31T23-59-00Z", "RELEASE_URL": "https://x", "REVIEW_URL": "https://x",
}  # fmt: skip
_CONTROLS = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def require(condition: object, promise: str) -> None:
    """Raise unless it holds; `assert` would be left out by -O."""
    if not condition:
        raise AssertionError(promise)


_STARTS = ("subprocess.", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "socket.", "pickle.")
_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "shutil.")
_guarded_thread, _forbidden = 0, ""


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Note the first event in the guarded thread that reading must not cause."""
    global _forbidden
    if _guarded_thread != threading.get_ident() or _forbidden:
        return
    writes = False
    if event == "open":
        path, mode, flags = arguments
        if mode is None:  # of os.open
            writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
        else:  # a number is a descriptor, which was heard when it was opened
            writes = bool({*mode} & {*"wax+"}) and type(path) is not int
    if "__pycache__" not in str(arguments[:1]) and (writes or event.startswith((*_STARTS, *_CHANGES))):
        _forbidden = f"{event} {arguments!r:.200}"


sys.addaudithook(_hear)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Require that nothing is written or started inside, and that it ends."""
    global _guarded_thread, _forbidden
    _guarded_thread, _forbidden = threading.get_ident(), ""
    started = time.process_time()
    try:
        yield
    finally:
        _guarded_thread = 0
    spent = time.process_time() - started
    require(not _forbidden, f"reading must not do this: {_forbidden}")
    require(spent < CPU_SECONDS, f"it took {spent:.0f} seconds of a processor")


# What a worker sends


def wire_frames(data: bytes) -> None:
    """Bytes in pieces of any size are messages, refused with a WireError, or end with an EOFError.

    A message is plain data that can be sent back, and reading costs at most a fixed multiple of the bytes that came.
    The first byte says how large the pieces are.
    """
    stream, reader = _Pieces(data[1:], piece=data[0] if data else 1), wire.Reader()
    tracemalloc.start()
    try:
        while True:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            _, body = reader.read(stream.recv)
            cost = tracemalloc.get_traced_memory()[1] - before
            require(cost <= WIRE_FACTOR * len(data) + WIRE_SPARE, f"{len(data)} bytes cost {cost} bytes of memory")
            require(_is_plain(body), "a message holds something that is no plain data")
            with contextlib.suppress(wire.WireError):  # the encoder is the stricter one: 64 bits, and known dtypes
                again = wire.Reader().read(io.BytesIO(wire.encode(1, body)).read)[1]
                require(repr(again) == repr(body), "a message that is sent back arrives as another one")
    except (EOFError, wire.WireError):
        cost = tracemalloc.get_traced_memory()[1]
        require(cost <= WIRE_FACTOR * len(data) + WIRE_SPARE, f"{len(data)} refused bytes cost {cost} of memory")
    finally:
        tracemalloc.stop()


def student_replies(data: bytes) -> None:
    """Whatever a worker sends, a check ends as it may: never with an error of the grader, and the report is plain.

    `data` is which check, how large the pieces are, how many bytes it printed, these, and all that it ever sends:
    the answers to "load", to "bind" and to the calls of the check.
    """
    number, piece, printed, *_ = (*data[:3], 0, 0, 0)
    one = checks_that_run()[number % len(checks_that_run())]
    stream = _Pieces(data[3 + printed :], piece=piece)
    submission = Submission("homework", Path("homework"), {f"{one.check.exercise}.py": "x = 1\n"}, {})

    def start(imports: object = ()) -> WorkerProcess:
        prints = _Prints(data[3 : 3 + printed])
        return WorkerProcess(stream, prints, kill=lambda dump: -9, forget=lambda: None)  # type: ignore[arg-type]

    student = Student(course.exercise(one.check.exercise), submission, start)
    entry = as_result(one.check)
    exercise = ExerciseResult(one.check.exercise, "Title", "docs/kl.md", [entry])
    result = Result("homework", "0" * 64, 1, "cpu", [exercise], "0.1.0", isolation_level=1, complete=True)
    settings = GradingSettings(
        submission, [one.check.exercise], start, hidden=False, checks={one.check.id: one.check}, seed=1
    )
    plugin = GradingPlugin(settings, result)
    plugin._student = student
    try:
        one.run(student, entry)
        entry.outcome = PASSED
    except BaseException as problem:
        plugin._record(entry, one.check, problem)
        require(entry.outcome != GRADER_ERROR, f"{one.check.id}: {entry.message}")
    finally:
        student.close()
    _promises_of_own(result, data)


@dataclass
class _Pieces:
    """What a worker has sent, as it comes out of a socket."""

    data: bytes
    piece: int
    at: int = 0

    def recv(self, size: int) -> bytes:
        self.at += (taken := min(size, self.piece or 1 << 16))
        return self.data[self.at - taken : self.at]

    def sendall(self, frame: bytes) -> None:
        """A hostile worker does not read."""

    def settimeout(self, seconds: float) -> None: ...

    def close(self) -> None: ...


@dataclass
class _Prints:
    """What a worker has printed."""

    data: bytes

    def start_request(self) -> int:
        return 0

    def read(self, start: int, size: int) -> bytes:
        return self.data[start : start + size]

    def close(self) -> None: ...


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(type(key) is str and _is_plain(part) for key, part in value.items())
    return type(value) in (
        bool,
        int,
        float,
        str,
        type(None),
        wire.WireRecord,
        wire.WireTensor,
        wire.SameArgument,
        wire.Foreign,
    )


@dataclass(frozen=True)
class RunnableCheck:
    """A check that can be called without pytest: the function below Hypothesis, and one generated input."""

    check: Check
    test: Callable[..., None]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def run(self, student: Any, entry: CheckResult) -> None:
        """Call it as the plugin's fixtures would."""

        def show_curve(title: str, values: Any, **options: Any) -> None:
            curve = curves.curve(title, values, **options)
            entry.curves += [curve] if curve else []

        recorded = recorded_answers.load(self.check.exercise)[0].get(self.check.id, ())
        fixtures = {
            "student": student,
            "worked": list(zip(self.check.examples, recorded, strict=True)),
            "fresh": np.random.default_rng(1),
            "show_curve": show_curve,
        }
        wanted = inspect.signature(self.test).parameters
        given = dict(self.arguments)
        for name, part in given.items():  # Hypothesis's random number generator ends with its own test
            given[name] = random.Random(1) if isinstance(part, random.Random) else part
        self.test(**{name: fixtures[name] for name in wanted if name in fixtures}, **given)


@functools.cache
def checks_that_run() -> tuple[RunnableCheck, ...]:
    """Every check that does not ask for the model answers, in the order of the course."""
    found = []
    for exercise in course.EXERCISES:
        for name in modules(exercise.name, hidden=False):
            tests = [value for value in vars(importlib.import_module(name)).values() if hasattr(value, "check")]
            found += [_runnable(test) for test in tests]
    return tuple(found)


def _runnable(test: Any) -> RunnableCheck:
    if not hypothesis.is_hypothesis_test(test):
        return RunnableCheck(test.check, test)
    inner, seen = test.hypothesis.inner_test, []
    test.hypothesis.inner_test = lambda **given: seen.append(given)
    fixtures = {"student", "worked", "fresh", "show_curve"}
    try:
        names = inspect.signature(test).parameters  # hypothesis has taken its own out
        hypothesis.seed(1)(test)(**dict.fromkeys(names))
    finally:
        test.hypothesis.inner_test = inner
    return RunnableCheck(test.check, inner, {name: each for name, each in seen[0].items() if name not in fixtures})


# Results and reports


def result_file(data: bytes) -> None:
    """A damaged result file is refused with a ValueError, or every report and export can be made of what was read."""
    with guarded():
        try:
            result = from_json(data.decode("utf-8"))
        except ValueError:
            return
        _promises_of(result)
        entries = [Entry("ada", result=result), Entry("ben", result=result)]
        report = class_report(entries)
        class_page(report, named=named(entries)).encode("utf-8")


def _promises_of(result: Result, formats: Sequence[str] = tuple(FORMATS)) -> None:
    """A result is strict JSON in ASCII that reads back the same, and every export of it is text that can be written."""
    text = result.as_json()
    require(text.isascii(), "the JSON is not ASCII")
    json.loads(text, parse_constant=_refuse_constant)
    require(from_json(text).as_json() == text, "the JSON does not read back")
    for name in formats:
        try:
            export(result, name, _RUNNER).encode("utf-8")
        except ValueError as error:  # this format refuses such a result
            if isinstance(error, UnicodeError):
                raise


def _promises_of_own(result: Result, data: bytes) -> None:
    """The same of a result of this grading in one format, and a terminal gets no character that moves its cursor."""
    _promises_of(result, [[*FORMATS][zlib.crc32(data) % len(FORMATS)]])
    shown = io.StringIO()
    terminal.show(result, Console(file=shown, width=20 + len(data) % 80, color_system=None, legacy_windows=False))
    bad = {c for c in shown.getvalue() if c != "\n" and unicodedata.category(c) in _CONTROLS}
    require(not bad, f"the terminal would get the control characters {sorted(map(ord, bad))}")


def _refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


# What a student hands in


def worksheet_file(data: bytes) -> None:
    """A file of any bytes is a worksheet or refused in one plain sentence, and its grade is a result like any other."""
    with guarded():
        file = worksheet_of(data)
        _is_a_sentence(file.problem)
        replays = replay(file.worksheet)
        found = worksheet.grade(file, replays)
        require(found.points == worksheet.empty_result().points, "points were added or lost")
        require(GRADER_ERROR not in {check.outcome for check in found.checks}, "the grader stumbled")
        result = Result("ada", file.sha256, 1, "cpu", [found], "0.1.0", complete=True)
        _promises_of_own(result, data)


def source_file(data: bytes) -> None:
    """Bytes are a module's text that can be sent, hashed and compared with others, or one sentence says why not."""
    with guarded():
        text = problem = ""
        try:
            text = text_of("kl.py", data)
        except UnreadableError as error:
            problem = str(error)
            _is_a_sentence(problem)
        submission = Submission("ada", Path("ada"), {"kl.py": text}, {"clip.py": problem})
        require(re.fullmatch("[0-9a-f]{64}", submission.sha256), "no digest")
        submission.slow_imports(["kl.py"])
        with contextlib.suppress(wire.WireError):  # it says that the message is too large
            wire.encode(1, {"files": submission.files})
        require("\0" not in text and "\r" not in text, "a text with null bytes or the line ends of other systems")
        require(problem or len(data) <= MAX_FILE_BYTES, "a text that is larger than allowed")


ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz")


def archive(data: bytes) -> None:
    """A student's archive never stops the class and reaches no disk. The first byte says what it is called."""
    name, data = f"ada{ENDINGS[data[0] % len(ENDINGS)] if data else '.zip'}", data[1:]
    with guarded():
        _promises_of_contents(HandedIn("ada", partial(members_of_archive, name, data)).read())


def class_zip(data: bytes) -> None:
    """The zip of a class is refused with a ClassError or gives submissions of different names that can all be read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "class.zip")
        path.write_bytes(data)
        with guarded():
            _promises_of_class(path)


def metadata(data: bytes) -> None:
    """Gradescope's file of names and times is refused with a ClassError, or gives people whose fields are all text."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(f"export/{METADATA}", data)
        for number in (1, 2):
            archive.writestr(f"export/submission_{number}/kl.py", f"x = {number}\n")
    class_zip(made.getvalue())


def _promises_of_class(path: Path) -> None:
    try:
        left_out: list[str] = []
        found = find_submissions(path, left_out=left_out)
    except ClassError:
        return
    names = [file_name(each.name).casefold() for each in found]
    require(len(names) == len(set(names)) > 0, "two submissions would share a file")
    for each in found[:20]:
        _promises_of_contents(each.read())
        require(all(type(text) is str for person in each.people for text in vars(person).values()), "a name is no text")
        require(each.submitted_at is None or each.submitted_at.tzinfo, "a time without a zone")


def _promises_of_contents(contents: Contents) -> None:
    submission = contents.submission
    require({*submission.files} | {*submission.problems} == {*MODULES}, "a module is neither read nor missing")
    require(not {*submission.files} & {*submission.problems}, "a module is read and missing")
    require(len(contents.notes) <= 20, "more notes than anybody reads")
    for sentence in (
        *map(str, contents.notes),
        *submission.problems.values(),
        worksheet_in(contents.worksheet).problem,
    ):
        _is_a_sentence(sentence)
    require(submission.sha256, "no digest")


def _is_a_sentence(text: str) -> None:
    bad = [c for c in text if unicodedata.category(c) in _CONTROLS]
    require(len(text) <= 1_000 and not bad, f"no sentence for a person: {text[:300]!r}")


# What platforms give back


def _graded(earned: int) -> Result:
    checks = [CheckResult(f"kl.c{i}", "f", "t", 1, False, False, PASSED if i < earned else FAILED) for i in range(10)]
    exercise = ExerciseResult("kl", "KL", "docs/kl.md", checks)
    return Result("who", "0" * 64, 1, "cpu", [exercise], "0.1.0", isolation_level=1, complete=True)


ADA = Person(name="Ada Doe", email="ada@example.edu", number="0007", username="ada", platform="canvas", platform_id="7")
BEN = Person(name="Ben Roe", email="ben@example.edu", number="0008", username="ben", platform="moodle", platform_id="8")
NOON = datetime(2031, 11, 20, 12, tzinfo=UTC)
CLASS = (
    Entry("hw-ada", (ADA,), NOON, result=_graded(9)),
    Entry("hw-ben", (BEN,), NOON + timedelta(days=2), result=_graded(3)),
    Entry("hw-eve", result=_graded(1)),
)
POLICY = LateRule(NOON, deduction=Decimal(10), last=NOON + timedelta(days=7), zone=ZoneInfo("Europe/Berlin"))


def gradebook(data: bytes) -> None:
    """An export is refused with a sentence, or filled such that nothing but the cells of one column has changed.

    The first byte says whose export it is and what the instructor chose.
    """
    choice, data = data[0] if data else 0, data[1:]
    with guarded():
        try:
            if choice % 2 == 0:
                table = read_table(data, canvas.is_header)
                layout = canvas.layout(table)
            else:
                table = read_table(data, partial(moodle.is_header, titles={}), moodle.ADVICE)
                layout = moodle.layout(table, {})
            layout = with_times(table, layout)
            require(table.as_bytes() == data, "an untouched export is not the same file")
            options = Options(
                maximum=Decimal(20), scale=True, missing_zero=bool(choice & 16),
                feedback=("renew" if choice & 64 else "add") if choice & 32 and layout.feedback is not None else "no",
            )  # fmt: skip
            entries = CLASS[:2] if choice & 16 else CLASS
            filled = fill(table, layout, entries, POLICY if choice & 128 else None, options)
        except (GradebookError, LateError):
            return
        written = {filled.column.index, layout.feedback}
        for row, (old, new) in enumerate(zip(table.rows, filled.table.rows, strict=True)):
            same = [a == b or at in written for at, (a, b) in enumerate(zip(old.cells, new.cells, strict=True))]
            require(all(same) and old.end == new.end, f"record {row} has changed elsewhere")
        again = read_table(filled.table.as_bytes(), lambda header: header == table.header)
        kept = [[(row.cells, row.end) for row in one.rows] for one in (again, filled.table)]
        require(kept[0] == kept[1], "what was written does not read back")


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "wire": wire_frames, "student": student_replies, "worksheet": worksheet_file, "archive": archive,
    "class": class_zip, "metadata": metadata, "source": source_file, "result": result_file, "gradebook": gradebook,
}  # fmt: skip


def header(check: int = 0, piece: int = 0, printed: bytes = b"") -> bytes:
    """The beginning of an input of `student_replies`."""
    return struct.pack("BBB", check, piece, len(printed)) + printed
