"""What the grader and a worker send each other arrives as it was sent, and hostile bytes can only be refused."""

import ast
import contextlib
import enum
import io
import json
import math
import struct
import tracemalloc
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import grader
from grader.sandbox.worker import wire
from grader.sandbox.worker.wire import Foreign, Reader, Record, Same, Tensor, WireError

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
    if isinstance(left, Record):
        return left.type_name == right.type_name and identical(left.fields, right.fields)
    return bool(left == right)


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    dtype = draw(st.sampled_from(sorted(wire.ITEM_SIZES)))
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
    size = math.prod(shape) * wire.ITEM_SIZES[dtype]
    return Tensor(dtype, shape, draw(st.binary(min_size=size, max_size=size)), draw(st.sampled_from(["cpu", "cuda"])))


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats()
    | st.text(max_size=20)
    | tensors()
    | st.builds(Foreign, st.text(max_size=200))
    | st.builds(Same, st.integers(0, 9)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        | st.builds(Record, st.text(max_size=20), st.dictionaries(st.text(max_size=5), inner, max_size=4))
    ),
    max_leaves=10,
)
bodies = st.dictionaries(st.text(max_size=10), plain_values, max_size=4)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["list", "tuple", "dict", "record", "tensor", "object", "float64", "bool", "cpu"]),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
        | st.tuples(st.sampled_from(["list", "tuple", "dict", "object"]), inner).map(list)
        | st.tuples(st.just("record"), inner, inner).map(list)
        | st.tuples(st.just("tensor"), st.sampled_from(["float64", "bool"]) | inner, inner, inner, inner).map(list)
    ),
    max_leaves=20,
)


# What is sent arrives


@given(request_id=st.integers(0, 2**40), body=bodies)
def test_every_allowed_value_arrives_as_it_was_sent(request_id: int, body: dict[str, Any]) -> None:
    arrived_id, arrived = read(wire.encode(request_id, body))
    assert arrived_id == request_id
    assert identical(arrived, body)


@given(first=bodies, second=bodies, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_frames_survive_arriving_in_pieces_and_glued_together(
    first: dict[str, Any], second: dict[str, Any], sizes: list[int]
) -> None:
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


@pytest.mark.parametrize(
    "value",
    [True, False, 1, 0, 1.0, -0.0, math.nan, math.inf, -math.inf, None, "", [], (), {}, [1], (1,), LARGEST, -LARGEST],
    ids=repr,
)
def test_the_exact_type_arrives(value: object) -> None:
    _, body = read(wire.encode(1, {"value": value, "inside": [(value,)]}))
    assert identical(body["value"], value)
    assert identical(body["inside"], [(value,)])


@pytest.mark.parametrize("dtype", sorted(set(wire.ITEM_SIZES) - {"bfloat16"}))
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (2, 3), (1,) * wire.MAX_AXES], ids=str)
def test_numpy_reads_the_elements_that_were_sent(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    _, body = read(wire.encode(1, {"value": Tensor(dtype, shape, array.tobytes())}))
    arrived = np.frombuffer(body["value"].data, dtype).reshape(body["value"].shape)
    assert arrived.dtype == array.dtype
    assert arrived.shape == shape
    assert (arrived == array).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_not_a_number_and_infinity_keep_every_bit_in_a_tensor(dtype: str) -> None:
    data = np.array([math.nan, math.inf, -math.inf, -0.0], dtype).tobytes()
    _, body = read(wire.encode(1, {"value": Tensor(dtype, (4,), data)}))
    assert body["value"].data == data


def test_several_tensors_keep_their_own_bytes() -> None:
    sent = [Tensor("uint8", (size,), bytes([size] * size)) for size in (3, 0, 1, 5)]
    _, body = read(wire.encode(1, {"first": sent[0], "rest": (sent[1], [sent[2], {"last": sent[3]}])}))
    assert body == {"first": sent[0], "rest": (sent[1], [sent[2], {"last": sent[3]}])}


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


def list_that_holds_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (LARGEST + 1, "64 bits"),
        (-LARGEST - 1, "64 bits"),
        (10**5000, "64 bits"),
        ({1: 2}, "keys that are not strings"),
        ({None: 2}, "keys that are not strings"),
        ({TextInDisguise("a"): 2}, "keys that are not strings"),
        (nested(17), "too deeply"),
        (nested(100_000), "too deeply"),
        (nested(17, tuple), "too deeply"),
        (nested(17, lambda items: {"key": items[0]}), "too deeply"),
        (list_that_holds_itself(), "too deeply"),
        ("x" * (wire.MAX_HEADER_BYTES + 1), "too large"),
        ([0] * wire.MAX_HEADER_BYTES, "items|too large"),
        (dict.fromkeys(map(str, range(100_000))), "items|too large"),
        (["x" * (wire.MAX_HEADER_BYTES // 10)] * 11, "too large"),
        (Tensor("uint8", (wire.MAX_DATA_BYTES + 1,), bytes(wire.MAX_DATA_BYTES + 1)), "too large"),
        ([Tensor("uint8", (HALF,), bytes(HALF))] * 3, "too large"),
        (Tensor("uint8", (0, 2**62), b""), "shape"),
        (Tensor("uint8", (1,) * 65, b"1"), "shape"),
        (b"bytes", "type bytes"),
        (1j, "type complex"),
        ({1, 2}, "type set"),
        (range(3), "type range"),
        (object(), "type object"),
        (len, "type builtin_function_or_method"),
        (np.float64(1.0), "type float64"),
        (np.zeros(2), "type ndarray"),
        (IntegerInDisguise.ONE, "type IntegerInDisguise"),
        (TextInDisguise("a"), "type TextInDisguise"),
        (Pair(1, 2), "type Pair"),
        (OrderedDict(a=1), "type OrderedDict"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 50 else type(value).__name__,
)
def test_anything_else_is_refused_before_it_is_sent(value: object, words: str) -> None:
    with pytest.raises(WireError, match=words):
        wire.encode(1, {"value": value})
    with pytest.raises(WireError):
        wire.encode(1, {"inside": [value]})


def test_the_name_of_a_foreign_type_is_cut() -> None:
    _, body = read(wire.encode(1, {"value": Foreign("x" * 10_000)}))
    assert body == {"value": Foreign("x" * 200)}


# What is refused when it arrives


def refused(frame: bytes) -> bool:
    try:
        request_id, body = read(frame)
    except (WireError, EOFError):
        return True
    assert type(request_id) is int
    assert type(body) is dict
    return False


@given(frame=st.binary(max_size=200))
def test_random_bytes_are_refused(frame: bytes) -> None:
    assert refused(frame)


@given(header=st.binary(max_size=100), data=st.binary(max_size=20))
def test_a_frame_around_random_bytes_is_refused(header: bytes, data: bytes) -> None:
    assert refused(frame_of(header, data))


@given(header=json_values, data=st.binary(max_size=40))
def test_a_frame_around_random_json_is_a_message_or_refused(header: object, data: bytes) -> None:
    refused(frame_of(header, data))
    refused(frame_of([1, header], data))
    refused(frame_with(header, data))


@given(
    body=bodies,
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4), st.binary(max_size=4)), min_size=1, max_size=4),
)
def test_a_damaged_frame_is_a_message_or_refused(body: dict[str, Any], cuts: list[tuple[float, int, bytes]]) -> None:
    frame = wire.encode(1, body)
    for where, length, replacement in cuts:
        start = int(where * len(frame))
        frame = frame[:start] + replacement + frame[start + length :]
    refused(frame)


HOSTILE_VALUES = {
    "a tensor of more bytes than were sent": ["tensor", "float64", [3], 0, "cpu"],
    "a tensor that starts behind the end": ["tensor", "float64", [1], 9, "cpu"],
    "a tensor that starts before the beginning": ["tensor", "uint8", [1], -1, "cpu"],
    "a tensor that starts at a half": ["tensor", "uint8", [1], 0.5, "cpu"],
    "a tensor that starts at a truth value": ["tensor", "uint8", [1], True, "cpu"],
    "a negative size": ["tensor", "uint8", [-1], 0, "cpu"],
    "two negative sizes": ["tensor", "uint8", [-2, -2], 0, "cpu"],
    "a size that is a fraction": ["tensor", "uint8", [1.0], 0, "cpu"],
    "a size that is a truth value": ["tensor", "uint8", [True], 0, "cpu"],
    "a size that is a word": ["tensor", "uint8", ["1"], 0, "cpu"],
    "a shape that is a number": ["tensor", "uint8", 1, 0, "cpu"],
    "a shape that is a dict": ["tensor", "uint8", {"1": 1}, 0, "cpu"],
    "a shape with too many axes": ["tensor", "uint8", [1] * 65, 0, "cpu"],
    "a huge size": ["tensor", "uint8", [2**70], 0, "cpu"],
    "sizes whose product is huge": ["tensor", "uint8", [2**33, 2**33], 0, "cpu"],
    # An array of no elements still has strides: numpy refuses these shapes, and so must the reader.
    "an empty tensor with a huge size": ["tensor", "float64", [0, 2**62], 0, "cpu"],
    "an empty tensor with a size of more than 64 bits": ["tensor", "float64", [0, 10**30], 0, "cpu"],
    "an empty tensor with huge sizes": ["tensor", "float64", [0, 2**40, 2**40], 0, "cpu"],
    "a dtype of objects": ["tensor", "object", [1], 0, "cpu"],
    "an unknown dtype": ["tensor", "complex64", [1], 0, "cpu"],
    "a dtype that is a number": ["tensor", 8, [1], 0, "cpu"],
    "a dtype that is a list": ["tensor", ["uint8"], [1], 0, "cpu"],
    "a device that is a number": ["tensor", "uint8", [1], 0, 0],
    "a tensor without a device": ["tensor", "uint8", [1], 0],
    "a tensor with too much": ["tensor", "uint8", [1], 0, "cpu", 1],
    "an unknown tag": ["pickle", "gASVAAAA"],
    "a tag that is a number": [1, 2],
    "a tag that is a list": [["list"], []],
    "no tag": [],
    "a dict of JSON": {"key": 1},
    "a list without items": ["list"],
    "a list of too much": ["list", [], []],
    "a list whose items are a number": ["list", 5],
    "a list whose items are null": ["list", None],
    "a dict whose pairs are numbers": ["dict", [1, 2]],
    "a dict whose pairs are triples": ["dict", [["a", 1, 2]]],
    "a dict with a key that is a number": ["dict", [[1, 2]]],
    "a dict with a key that is a list": ["dict", [[[], 2]]],
    "a record whose class is a number": ["record", 1, []],
    "a record without fields": ["record", "BanditConfig"],
    "a record whose fields are numbers": ["record", "BanditConfig", [1, 2]],
    "a record with a field that has no name": ["record", "BanditConfig", [[None, 1]]],
    "a record with too many fields": ["record", "BanditConfig", [[str(n), 1] for n in range(wire.MAX_ITEMS + 1)]],
    "an object whose type is a number": ["object", 1],
    "an object without a type": ["object"],
}


@pytest.mark.parametrize("value", HOSTILE_VALUES.values(), ids=HOSTILE_VALUES.keys())
def test_a_header_that_lies_is_refused(value: object) -> None:
    with pytest.raises(WireError):
        read(frame_with(value, bytes(8)))


def test_nesting_that_is_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(20):
        value = ["list", [value]]
    with pytest.raises(WireError, match="too deeply"):
        read(frame_with(value))


@pytest.mark.parametrize("header", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 50_000])
def test_a_tower_of_brackets_is_refused(header: bytes) -> None:
    with pytest.raises(WireError):
        read(frame_of(header))


@pytest.mark.parametrize("digits", [10_000, 200_000])
def test_a_number_of_thousands_of_digits_is_refused(digits: int) -> None:
    with pytest.raises(WireError):
        read(frame_of(b"[1," + b"9" * digits + b"]"))
    with pytest.raises(WireError):
        read(frame_of(b'[1,["dict",[["a",' + b"9" * digits + b"]]]]"))


@pytest.mark.parametrize("request_id", [None, True, 1.0, "1", [1], {"id": 1}], ids=repr)
def test_a_request_id_that_is_no_integer_is_refused(request_id: object) -> None:
    with pytest.raises(WireError):
        read(frame_of([request_id, ["dict", []]]))


@pytest.mark.parametrize("body", [None, 1, "text", ["list", []], ["tuple", []], ["object", "x"]], ids=repr)
def test_a_body_that_is_no_dict_is_refused(body: object) -> None:
    with pytest.raises(WireError):
        read(frame_of([1, body]))


@pytest.mark.parametrize("header", [[], [1], [1, ["dict", []], 2], {"1": 2}, "ab", 12, None], ids=repr)
def test_a_header_that_is_no_pair_is_refused(header: object) -> None:
    with pytest.raises(WireError):
        read(frame_of(header))


def test_of_two_equal_keys_one_counts() -> None:
    _, body = read(frame_of([1, ["dict", [["a", 1], ["a", 2]]]]))
    assert body == {"a": 2}


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


@pytest.mark.parametrize(
    "sizes",
    [
        (0xFFFFFFFF, 0),
        (0, 0xFFFFFFFF),
        (0xFFFFFFFF, 0xFFFFFFFF),
        (wire.MAX_HEADER_BYTES + 1, 0),
        (2, wire.MAX_DATA_BYTES + 1),
    ],
    ids=str,
)
def test_an_announcement_of_too_much_is_refused_at_once(sizes: tuple[int, int]) -> None:
    announced = struct.pack("<II", *sizes)
    parts = iter([announced])
    with pytest.raises(WireError, match="was announced"):
        Reader().read(lambda size: next(parts))  # asking for more would end in StopIteration
    assert peak_bytes_of_reading(announced + bytes(100)) < 100_000


def test_an_announcement_reserves_no_memory() -> None:
    announced = struct.pack("<II", wire.MAX_HEADER_BYTES, wire.MAX_DATA_BYTES)
    assert peak_bytes_of_reading(announced + bytes(1000)) < 100_000


def test_a_message_of_one_megabyte_costs_a_few() -> None:
    data = bytes(1 << 20)
    peak = peak_bytes_of_reading(wire.encode(1, {"value": Tensor("uint8", (1 << 20,), data)}))
    assert peak < 8 << 20


def test_tensors_that_share_their_bytes_cost_no_more_than_was_sent() -> None:
    # 256 kB of header could claim a tensor of 64 MB thousands of times.
    data = bytes(1 << 20)
    claims = ["list", [["tensor", "uint8", [len(data) - 1], 1, "cpu"]] * 100]
    peak = peak_bytes_of_reading(frame_with(claims, data))
    assert peak < 8 << 20


# How it is made


def test_nothing_in_the_grader_unpickles_but_the_two_ends_of_a_helper_which_it_starts_itself() -> None:
    forbidden = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "copyreg"}
    files = sorted(Path(grader.__file__).parent.rglob("*.py"))
    assert len(files) > 20
    ends = {"grading/helper.py", "grading/helper_process.py"}
    found = []
    for file in files:
        if file.relative_to(Path(grader.__file__).parent).as_posix() in ends:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(alias.name for alias in node.names)]
            found += [f"{file.name}: {name}" for name in names if name.split(".")[0] in forbidden]
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                # torch.load and torch.save are pickle too, and so is numpy.load with objects in it.
                call = f"{node.value.id}.{node.attr}"
                found += [f"{file.name}: {call}"] * (call in ("torch.load", "torch.save", "np.load", "np.save"))
    assert found == []
