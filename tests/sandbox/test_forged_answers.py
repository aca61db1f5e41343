"""A submission that writes to the grader itself: a forged answer is worth a returned one, anything else ends it."""

import textwrap
from typing import Any

import numpy as np
import pytest
from probing import MOMENT, death_of, probe, value_of

from grader.grading.student import StudentDied
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker import wire

PRELUDE = (
    f"""
LARGEST = {wire.MAX_DATA_BYTES}
"""
    + """
import fcntl, json, os, stat, struct, sys, time

def channel():
    for descriptor in range(3, 256):
        try:
            mode = os.fstat(descriptor).st_mode
            writable = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        except OSError:
            continue
        if writable and (stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)):
            return descriptor
    raise RuntimeError("no channel found")

def frame(request_id, body, data=b""):
    header = json.dumps([request_id, body]).encode()
    return struct.pack("<II", len(header), len(data)) + header + data

def wired(value):
    if isinstance(value, dict):
        return ["dict", [[key, wired(item)] for key, item in value.items()]]
    if isinstance(value, list):
        return ["list", [wired(item) for item in value]]
    return value.raw if isinstance(value, Raw) else value

class Raw:
    def __init__(self, raw):
        self.raw = raw

def present_id():
    place = sys._getframe()
    while "request_id" not in place.f_locals:
        place = place.f_back
    return place.f_locals["request_id"]

def send(data):
    os.write(channel(), data)

def forge(reply, data=b""):
    send(frame(present_id(), wired(reply), data))
    time.sleep(1000)

ANSWER = {"result": {"answers": [{"value": 99}]}}
"""
)


def hostile(body: str) -> str:
    return f"{PRELUDE}\ndef f(x):\n" + textwrap.indent(textwrap.dedent(body), "    ") + "\n    return 7\n"


@pytest.fixture(scope="module", params=["best level", pytest.param("cold", marks=pytest.mark.proof)])
def workers(request: pytest.FixtureRequest, sandbox: Sandbox) -> Any:
    if request.param == "cold":
        with Sandbox.start(cold=True) as cold:
            yield cold
    else:
        yield sandbox


def test_a_forged_answer_is_worth_a_returned_one(sandbox: Sandbox) -> None:
    # This only shows that the forgeries below have the shape of an answer.
    assert value_of(sandbox, hostile("forge(ANSWER)")) == 99


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("send(b'\\xff' * 64)", "protocol"),
        ("send(bytes(64))", "protocol"),
        ("send(struct.pack('<II', 2**32 - 1, 2**32 - 1))", "protocol"),
        ("send(struct.pack('<II', 4, LARGEST) + b'null')\nos._exit(0)", "crash"),
        ("send(struct.pack('<II', 4, LARGEST + 1) + b'null')", "protocol"),
        ("send(frame(1, wired(ANSWER))[:-1])\nos._exit(0)", "crash"),
        ("send(frame(present_id() - 1, wired(ANSWER)))", "protocol"),
        ("send(frame(present_id() + 1, wired(ANSWER)))", "protocol"),
        ("send(frame('1', wired(ANSWER)))", "protocol"),
        ("send(frame(10**6, ['pickle', 'gASV']))", "protocol"),
        ("send(b'[' * 10**5)", "protocol"),
        ("os.close(channel())", "crash"),
    ],
)
def test_anything_but_the_answer_to_the_question_ends_the_worker(workers: Sandbox, body: str, reason: str) -> None:
    assert death_of(workers, hostile(body)).death.reason == reason


@pytest.mark.parametrize(
    "reply",
    [
        "{}",
        "{'result': 5}",
        "{'result': {}}",
        "{'error': None}",
        "{'result': {'answers': 5}}",
        "{'result': {'answers': []}}",
        "{'result': {'answers': [5]}}",
        "{'result': {'answers': [{}]}}",
        "{'result': {'answers': [{'value': 1}, {'value': 2}]}}",
        "{'result': {'answers': [{'value': 1, 'gradients': [1]}]}}",
        "{'result': {'answers': [{'value': 1, 'arguments': [1, 2, 3]}]}}",
        "{'result': {'answers': [{'value': 1}], 'error': 5}}",
        "{'result': {'answers': [], 'error': {'frames': 5}}}",
        "{'error': {'frames': [5]}}",
        "{'error': {'frames': [['a', float('nan'), 'c', 'd']]}}",
        "{**ANSWER, 'error': None}",
        "{**ANSWER, 'more': None}",
        "{'result': {'answers': [{'value': Raw(['tensor', 'float64', [0, 10**30], 0, 'cpu'])}]}}",
        "{'result': {'answers': [{'value': Raw(['tensor', 'float64', [2], 0, 'cpu'])}]}}, bytes(8)",
        "{'result': {'answers': [{'value': Raw(['tensor', 'object', [1], 0, 'cpu'])}]}}, bytes(8)",
    ],
)
def test_a_forged_answer_that_makes_no_sense_ends_the_worker(sandbox: Sandbox, reply: str) -> None:
    assert death_of(sandbox, hostile(f"forge({reply})")).death.reason == "protocol"


@pytest.mark.parametrize("asked", [{"gradients_of": ["x"]}, {"return_arguments": True}], ids=["gradient", "argument"])
@pytest.mark.parametrize("item", ["1", "None", "{}"])
def test_a_forged_gradient_or_argument_is_a_tensor_or_ends_the_worker(
    sandbox: Sandbox, asked: dict[str, Any], item: str
) -> None:
    key = "gradients" if "gradients_of" in asked else "arguments"
    source = hostile(f"forge({{'result': {{'answers': [{{'value': 1, {key!r}: [{item}]}}]}}}})")
    with probe(sandbox, source) as student:
        if (key, item) == ("gradients", "None"):  # a function may have no gradient
            assert student.call("f", np.zeros(1), **asked).gradients == {"x": None}
            return
        with pytest.raises(StudentDied) as caught:
            student.call("f", np.zeros(1), **asked)
    assert caught.value.death.reason == "protocol"


def test_an_answer_sent_ahead_does_not_answer_the_next_question(sandbox: Sandbox) -> None:
    source = hostile("if x == 1:\n    send(frame(present_id(), wired(ANSWER)))")
    with probe(sandbox, source) as student:
        assert student.f(1).value == 99
        with pytest.raises(StudentDied) as caught:  # the honest answer to the first question is still on its way
            student.f(2)
    assert caught.value.death.reason == "protocol"


@pytest.mark.parametrize(
    "body",
    [
        "send(b'\\0')",
        "send(frame(present_id(), wired(ANSWER))[:-1])\ntime.sleep(1000)",
        "send(struct.pack('<II', 200_000, 0))\nwhile True:\n    send(b' ')\n    time.sleep(0.01)",
        "send(struct.pack('<II', 4, LARGEST) + b'null')\nwhile True:\n    send(bytes(100))\n    time.sleep(0.01)",
    ],
    ids=["a stray byte", "all but one byte", "a slow drip of header", "a slow drip of data"],
)
def test_an_answer_that_never_ends_runs_out_of_time(sandbox: Sandbox, body: str) -> None:
    assert death_of(sandbox, hostile(body), seconds=MOMENT).death.reason == "timeout"


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n    send(bytes(1 << 16))",
        "send(struct.pack('<II', 2, LARGEST))\nwhile True:\n    send(bytes(1 << 16))",
        "while True:\n    send(frame(0, None))",
    ],
    ids=["zeros", "a giant answer", "small answers"],
)
def test_a_flood_ends_the_worker(workers: Sandbox, body: str) -> None:
    assert death_of(workers, hostile(body), seconds=5).death.reason in ("protocol", "timeout")
