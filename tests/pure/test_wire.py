"""What the grader and a worker send each other arrives as it was sent, and hostile bytes are refused."""

import contextlib
import enum
import io
import json
import math
import struct
import tracemalloc
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.sandbox.worker import wire
from grader.sandbox.worker.wire import Foreign, Reader, SameArgument, WireError, WireRecord, WireTensor

LARGEST = 2**64 - 1
HALF = wire.MAX_DATA_BYTES // 2


def read(frame: bytes) -> tuple[int, dict[str, Any]]:
    return Reader().read(io.BytesIO(frame).read)


def frame_of(header: object, data: bytes = b"") -> bytes:
    """A frame with any JSON for a header, whether it makes sense or not."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<II", len(text), len(data)) + text + data


def frame_with(value: object, data: bytes = b"") -> bytes:
    return frame_of([1, ["dict", [["value", value]]]], data)


def identical(left: Any, right: Any) -> bool:
    """Equal in type and value all the way down; NaN is identical to NaN, and 0.0 is not identical to -0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or struct.pack("<d", left) == struct.pack("<d", right)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(identical(left[key], right[key]) for key in left)
    if isinstance(left, WireRecord):
        return left.type_name == right.type_name and identical(left.fields, right.fields)
    return bool(left == right)


@st.composite
def tensors(draw: st.DrawFn) -> WireTensor:
    dtype = draw(st.sampled_from(sorted(wire.ITEM_SIZES)))
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
    size = math.prod(shape) * wire.ITEM_SIZES[dtype]
    return WireTensor(
        dtype, shape, draw(st.binary(min_size=size, max_size=size)), draw(st.sampled_from(["cpu", "cuda"]))
    )


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats()
    | st.text(max_size=20)
    | tensors()
    | st.builds(Foreign, st.text(max_size=200))
    | st.builds(SameArgument, st.integers(0, 9)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        | st.builds(WireRecord, st.text(max_size=20), st.dictionaries(st.text(max_size=5), inner, max_size=4))
    ),
    max_leaves=10,
)
bodies = st.dictionaries(st.text(max_size=10), plain_values, max_size=4)
# What is sent arrives


@given(request_id=st.integers(0, 2**40), body=bodies)
def test_every_allowed_value_arrives_as_it_was_sent(request_id: int, body: dict[str, Any]) -> None:
    arrived_id, arrived = read(wire.encode(request_id, body))
    assert arrived_id == request_id
    assert identical(arrived, body)


@given(first=bodies, second=bodies, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_frames_survive_arriving_in_pieces_and_glued_together(first, second, sizes):
    stream = io.BytesIO(wire.encode(1, first) + wire.encode(2, second))
    turns = iter(range(1 << 30))
    reader = Reader()

    def receive(size: int) -> bytes:
        return stream.read(min(size, sizes[next(turns) % len(sizes)]))

    one, two = reader.read(receive), reader.read(receive)
    assert identical(list(one), [1, first])
    assert identical(list(two), [2, second])
    with pytest.raises(EOFError):
        reader.read(receive)


@pytest.mark.parametrize("dtype", sorted(set(wire.ITEM_SIZES) - {"bfloat16"}))
def test_numpy_reads_the_elements_that_were_sent(dtype: str) -> None:
    for shape in ((), (0,), (2, 0, 3), (2, 3), (1,) * wire.MAX_AXES):
        array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
        _, body = read(wire.encode(1, {"value": WireTensor(dtype, shape, array.tobytes())}))
        assert body["value"].shape == shape
        assert (np.frombuffer(body["value"].data, dtype).reshape(shape) == array).all()


# What is refused before it is sent


class IntegerInDisguise(enum.IntEnum):
    ONE = 1


class TextInDisguise(str):
    pass


Pair = namedtuple("Pair", "left right")


def nested(depth: int, kind: Callable[[list[Any]], Any] = list) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = kind([value])
    return value


HOLDS_ITSELF: list[Any] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (LARGEST + 1, "64 bits"), (10**5000, "64 bits"),
        ({1: 2}, "keys"), ({TextInDisguise("a"): 2}, "keys"),
        (nested(17), "deeply"), (nested(100_000), "deeply"), (nested(17, lambda items: {"key": items[0]}), "deeply"),
        (HOLDS_ITSELF, "deeply"),
        ("x" * (wire.MAX_HEADER_BYTES + 1), "too large"), ([0] * wire.MAX_HEADER_BYTES, "items|too large"),
        (dict.fromkeys(map(str, range(100_000))), "items|too large"),
        (WireTensor("uint8", (wire.MAX_DATA_BYTES + 1,), bytes(wire.MAX_DATA_BYTES + 1)), "too large"),
        ([WireTensor("uint8", (HALF,), bytes(HALF))] * 3, "too large"),
        ([[[0.5] * 100] * 100] * 6, "too many values"),
        (WireTensor("uint8", (0, 2**62), b""), "shape"), (WireTensor("uint8", (1,) * 65, b"1"), "shape"),
        (b"bytes", "bytes"), (object(), "object"), (np.float64(1.0), "float64"), (IntegerInDisguise.ONE, "Integer"),
        (TextInDisguise("a"), "TextInDisguise"), (Pair(1, 2), "Pair"), (OrderedDict(a=1), "OrderedDict"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 50 else type(value).__name__,
)  # fmt: skip
def test_anything_else_is_refused_before_it_is_sent(value: object, words: str) -> None:
    with pytest.raises(WireError, match=words):
        wire.encode(1, {"value": value})
    with pytest.raises(WireError):
        wire.encode(1, {"inside": [value]})


# What is refused when it arrives


HOSTILE_TENSORS = [
    ["float64", [3], 0, "cpu"],  # of more bytes than were sent
    ["float64", [1], 9, "cpu"],  # starts behind the end
    ["uint8", [1], -1, "cpu"], ["uint8", [1], 0.5, "cpu"], ["uint8", [1], True, "cpu"],
    ["uint8", [-2, -2], 0, "cpu"], ["uint8", [1.0], 0, "cpu"], ["uint8", [True], 0, "cpu"],
    ["uint8", 1, 0, "cpu"], ["uint8", {"1": 1}, 0, "cpu"], ["uint8", [1] * 65, 0, "cpu"],
    ["uint8", [2**70], 0, "cpu"], ["uint8", [2**33, 2**33], 0, "cpu"],
    # An array of no elements still has strides: numpy refuses these shapes, and so must the reader.
    ["float64", [0, 2**62], 0, "cpu"], ["float64", [0, 2**40, 2**40], 0, "cpu"],
    ["object", [1], 0, "cpu"], ["complex64", [1], 0, "cpu"], [["uint8"], [1], 0, "cpu"],
    ["uint8", [1], 0, 0], ["uint8", [1], 0], ["uint8", [1], 0, "cpu", 1],
]  # fmt: skip
HOSTILE_VALUES = [
    *(["tensor", *rest] for rest in HOSTILE_TENSORS),
    ["pickle", "gASVAAAA"], [["list"], []], [], {"key": 1},
    ["list"], ["list", 5], ["dict", [1, 2]], ["dict", [["a", 1, 2]]], ["dict", [[[], 2]]],
    ["record", 1, []], ["record", "BanditConfig"], ["record", "BanditConfig", [[None, 1]]],
    ["record", "BanditConfig", [[str(n), 1] for n in range(wire.MAX_ITEMS + 1)]],
    ["object", 1], nested(20, lambda items: ["list", items]),
]  # fmt: skip
HOSTILE_HEADERS = [
    *([request_id, ["dict", []]] for request_id in (None, True, 1.0, "1", [1])),
    *([1, body] for body in (None, 1, "text", ["list", []], ["object", "x"])),
    *([], [1], [1, ["dict", []], 2], {"1": 2}, "ab", None),
    *(b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 50_000),
    *(b"[1," + b"9" * 200_000 + b"]", b'[1,["dict",[["a",' + b"9" * 10_000 + b"]]]]"),
]


def short(value: object) -> str:
    return repr(value)[:40]


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=short)
def test_a_value_that_lies_is_refused(value: object) -> None:
    with pytest.raises(WireError):
        read(frame_with(value, bytes(8)))


@pytest.mark.parametrize("header", HOSTILE_HEADERS, ids=short)
def test_a_header_that_lies_is_refused(header: object) -> None:
    with pytest.raises(WireError):
        read(frame_of(header))


# What a hostile message may cost


def peak_bytes_of_reading(frame: bytes) -> int:
    """The most memory that reading a frame takes, beyond the frame itself."""
    stream = io.BytesIO(frame)
    tracemalloc.start()
    try:
        with contextlib.suppress(WireError, EOFError):
            Reader().read(stream.read)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_announcement_of_too_much_is_refused_at_once_and_reserves_no_memory() -> None:
    for sizes in ((0xFFFFFFFF, 0), (0, 0xFFFFFFFF), (wire.MAX_HEADER_BYTES + 1, 0), (2, wire.MAX_DATA_BYTES + 1)):
        announced = struct.pack("<II", *sizes)
        parts = iter([announced])
        with pytest.raises(WireError):
            Reader().read(lambda _: next(parts))  # noqa: B023  # asking for more would end in StopIteration
        assert peak_bytes_of_reading(announced + bytes(100)) < 100_000
    largest = struct.pack("<II", wire.MAX_HEADER_BYTES, wire.MAX_DATA_BYTES)
    assert peak_bytes_of_reading(largest + bytes(1000)) < 100_000


def test_tensors_cost_no_more_than_was_sent() -> None:
    data = bytes(1 << 20)
    claims = ["list", [["tensor", "uint8", [len(data) - 1], 1, "cpu"]] * 100]  # all share the same bytes
    for frame in (wire.encode(1, {"value": WireTensor("uint8", (1 << 20,), data)}), frame_with(claims, data)):
        assert peak_bytes_of_reading(frame) < 8 << 20
