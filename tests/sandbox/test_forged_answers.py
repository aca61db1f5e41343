"""A submission that writes to the grader itself: a forged answer is worth a returned one, anything else ends it."""

import textwrap

import numpy as np
import pytest
from forging import CHANNEL
from probing import MOMENT, death_of, probe, value_of

from grader.grading.student_errors import StudentDied
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker import wire

PRELUDE = f"""
{CHANNEL}
LARGEST = {wire.MAX_DATA_BYTES}
ANSWER = {{"result": {{"answers": [{{"value": 99}}]}}}}

def forge(reply, data=b""):
    send(frame(present(), wired(reply), data))
    hold()
"""


def hostile(body: str) -> str:
    return f"{PRELUDE}\ndef f(x):\n" + textwrap.indent(textwrap.dedent(body), "    ") + "\n    return 7\n"


def test_a_forged_answer_is_worth_a_returned_one(sandbox: Sandbox) -> None:
    # This only shows that the forgeries below have the shape of an answer.
    assert value_of(sandbox, hostile("forge(ANSWER)")) == 99


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("send(struct.pack('<II', 4, LARGEST) + b'null')\nos._exit(0)", "crash"),
        ("send(struct.pack('<II', 4, LARGEST + 1) + b'null')", "protocol"),
        ("send(frame(1, wired(ANSWER))[:-1])\nos._exit(0)", "crash"),
        ("send(frame(1, wired(ANSWER))[:-1])\nhold()", "timeout"),
        ("send(frame('1', wired(ANSWER)))", "protocol"),
    ],
)
def test_anything_but_the_answer_to_the_question_ends_the_worker(sandbox: Sandbox, body: str, reason: str) -> None:
    seconds = MOMENT if reason == "timeout" else 20
    assert death_of(sandbox, hostile(body), seconds=seconds).death.reason == reason


@pytest.mark.parametrize(
    "reply",
    [
        "{}", "{'result': {'answers': 5}}", "{'result': {'answers': [{}]}}",
        "{'result': {'answers': [{'value': 1}, {'value': 2}]}}",
        "{'result': {'answers': [{'value': 1, 'gradients': [1]}]}}",
        "{'result': {'answers': [{'value': 1}], 'error': 5}}", "{'error': {'frames': [5]}}", "{**ANSWER, 'more': None}",
        "{'result': {'answers': [{'value': ('tensor', 'object', [1], 0, 'cpu')}]}}, bytes(8)",
    ],
)  # fmt: skip
def test_a_forged_answer_that_makes_no_sense_ends_the_worker(sandbox: Sandbox, reply: str) -> None:
    assert death_of(sandbox, hostile(f"forge({reply})")).death.reason == "protocol"


@pytest.mark.parametrize("asked", [{"gradients_of": ["x"]}, {"return_arguments": True}], ids=["gradient", "argument"])
@pytest.mark.parametrize("item", ["1", "None", "{}"])
def test_a_forged_gradient_or_argument_is_a_tensor_or_ends_the_worker(sandbox, asked, item):
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
    source = hostile("if x == 1:\n    send(frame(present(), wired(ANSWER)))")
    with probe(sandbox, source) as student:
        assert student.f(1).value == 99
        with pytest.raises(StudentDied) as caught:  # the honest answer to the first question is still on its way
            student.f(2)
    assert caught.value.death.reason == "protocol"
