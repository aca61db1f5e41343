"""Frames that the grader and a worker exchange: a small JSON header and the raw bytes of tensors.

The two sides trust each other in one direction only, so decoding never runs code, never looks a name up, and never
allocates more than was sent. Left out on purpose: pickle, any dtype with objects in it, compression, arrays of numpy
(a submission that returns one is told so by name), objects that stay behind in the worker.

A frame is: header length, data length (two little-endian uint32), header, data. In the header None, bool, int, float
and str stand for themselves; everything else is a list that begins with a tag: ["list", items], ["tuple", items],
["dict", pairs], ["record", name of its class, pairs], ["same", number of an argument], ["tensor", dtype, shape, first
byte, device], ["object", name of its type].
"""

from __future__ import annotations

import builtins
import json
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# In a worker, what becomes of `builtins` changes nothing here.
globals()["__builtins__"] = dict(vars(builtins))

ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8,
}  # fmt: skip
MAX_HEADER_BYTES = 1536 << 10
MAX_DATA_BYTES = 4 << 20
MAX_DEPTH = 16
CALL_MARK = "\0"  # not part of a frame: begins the prints of each call in the file of prints
MAX_AXES = 16
MAX_AXIS = 1 << 24
MAX_ITEMS = 1_000  # of a list, a tuple or a dict
MAX_COMMAS = 50_000  # of a header, and so about as many values: each costs the grader time when it is compared

_SIZES = struct.Struct("<II")
_to_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode  # depth is limited below


class WireError(Exception):
    """The other side sent, or was about to send, something that is not in the format."""


@dataclass(frozen=True)
class WireTensor:
    """A tensor on its way: `data` holds the elements in row-major order, little-endian."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    device: str = "cpu"


@dataclass(frozen=True)
class WireRecord:
    """An object of a class: its name, and the fields. As an argument it is made from them, by the class or the function
    of that name; which one that is, the other side decides."""

    type_name: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class SameArgument:
    """Stands for an earlier positional argument of the same call, counted from 0: not a copy, the object itself."""

    position: int


@dataclass(frozen=True)
class Foreign:
    """Stands for a value that is not plain data; only the name of its type travels."""

    type_name: str


def encode(request_id: int, body: dict[str, Any]) -> bytes:
    """One frame.

    Args:
        request_id: Repeated by the answer, so that an answer cannot be taken for that of another request.
        body: Plain data; see the module's docstring.

    Raises:
        WireError: too large, too deep, or holds a value that is not plain data.
    """
    chunks: list[bytes] = []
    header = _to_json([request_id, _encode_value(body, chunks, 0)]).encode()
    data = b"".join(chunks)
    if len(header) > MAX_HEADER_BYTES or len(data) > MAX_DATA_BYTES:
        raise WireError(f"a message of {len(header) + len(data):,} bytes is too large")
    if header.count(b",") > MAX_COMMAS:
        raise WireError("too many values")
    return _SIZES.pack(len(header), len(data)) + header + data


class Reader:
    """Takes frames out of a stream, and keeps what arrived beyond: a small frame costs one system call."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def read(self, receive: Callable[[int], bytes]) -> tuple[int, dict[str, Any]]:
        """Read one frame.

        Args:
            receive: Takes a number of bytes and returns at least one and at most that many; b"" at the end of the
                stream.

        Returns:
            The request id and the body.

        Raises:
            EOFError: the stream ended.
            WireError: the bytes are not a frame.
        """
        header_size, data_size = _SIZES.unpack(self._exactly(receive, _SIZES.size))
        if header_size > MAX_HEADER_BYTES or data_size > MAX_DATA_BYTES:
            raise WireError(f"a message of {header_size + data_size:,} bytes was announced")
        header, data = self._exactly(receive, header_size), self._exactly(receive, data_size)
        if header.count(b",") > MAX_COMMAS:
            raise WireError("too many values")
        try:
            request_id, value = json.loads(header)
            body = _Decoder(data).value(value, 0)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise WireError("not a message") from None
        if type(request_id) is not int or type(body) is not dict:
            raise WireError("not a message")
        return request_id, body

    def _exactly(self, receive: Callable[[int], bytes], size: int) -> bytes:
        while len(self._buffer) < size:  # grows with what arrives, not with what was announced
            part = receive(1 << 16)
            if not part:
                raise EOFError
            self._buffer += part
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found


def _encode_value(value: Any, chunks: list[bytes], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise WireError("nested too deeply")
    kind = type(value)
    if value is None or kind in (bool, float, str):
        return value
    if kind is int:
        if value.bit_length() > 64:
            raise WireError("an integer of more than 64 bits")
        return value
    if kind in (list, tuple) and len(value) > MAX_ITEMS:
        raise WireError(f"a {kind.__name__} of {len(value):,} items")
    if kind in (list, tuple):
        return [kind.__name__, [_encode_value(item, chunks, depth + 1) for item in value]]
    if kind is dict:
        return ["dict", _encode_pairs(value, chunks, depth)]
    if kind is WireRecord:
        return ["record", value.type_name[:200], _encode_pairs(value.fields, chunks, depth)]
    if kind is WireTensor:
        if len(value.shape) > MAX_AXES or any(size > MAX_AXIS for size in value.shape):
            raise WireError(f"a tensor of shape {value.shape}")
        start = sum(map(len, chunks))
        chunks.append(value.data)
        return ["tensor", value.dtype, list(value.shape), start, value.device]
    if kind is SameArgument:
        return ["same", value.position]
    if kind is Foreign:
        return ["object", value.type_name[:200]]
    raise WireError(f"a value of type {kind.__name__}")


def _encode_pairs(items: dict[Any, Any], chunks: list[bytes], depth: int) -> list[list[Any]]:
    if len(items) > MAX_ITEMS:
        raise WireError(f"a dict of {len(items):,} items")
    for key in items:
        if type(key) is not str:
            raise WireError("a dict with keys that are not strings")
    return [[key, _encode_value(item, chunks, depth + 1)] for key, item in items.items()]


class _Decoder:
    """Turns the parsed header of one frame into values. Every byte of the data belongs to one tensor at most."""

    def __init__(self, data: bytes) -> None:
        self._data, self._used = data, 0

    def value(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise WireError("nested too deeply")
        if type(value) is int and value.bit_length() > 64:
            raise WireError("an integer of more than 64 bits")
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is not list or not value:
            raise WireError("a value without a tag")
        tag, *rest = value
        if tag in ("list", "tuple"):
            (items,) = rest
            decoded = [self.value(item, depth + 1) for item in _few(items)]
            return tuple(decoded) if tag == "tuple" else decoded
        if tag == "dict":
            (pairs,) = rest
            return self._pairs(pairs, depth)
        if tag == "record":
            type_name, pairs = rest
            return WireRecord(_string(type_name)[:200], self._pairs(pairs, depth))
        if tag == "tensor":
            dtype, shape, start, device = rest
            return self._tensor(_string(dtype), shape, start, _string(device)[:40])
        if tag == "same":
            (position,) = rest
            if type(position) is not int:
                raise WireError("an argument without a number")
            return SameArgument(position)
        if tag == "object":
            (type_name,) = rest
            return Foreign(_string(type_name)[:200])
        raise WireError("an unknown tag")

    def _pairs(self, pairs: Any, depth: int) -> dict[str, Any]:
        return {_string(key): self.value(item, depth + 1) for key, item in _few(pairs)}

    def _tensor(self, dtype: str, shape: Any, start: Any, device: str) -> WireTensor:
        if type(shape) is not list or len(shape) > MAX_AXES or type(start) is not int or start != self._used:
            raise WireError("a tensor header that makes no sense")
        if any(type(size) is not int or not 0 <= size <= MAX_AXIS for size in shape):
            raise WireError("a tensor shape that makes no sense")
        self._used += math.prod(shape) * ITEM_SIZES[dtype]
        if self._used > len(self._data):
            raise WireError("a tensor of more bytes than were sent")
        return WireTensor(dtype, tuple(shape), self._data[start : self._used], device)


def _few(items: Any) -> list[Any]:
    if type(items) is not list or len(items) > MAX_ITEMS:
        raise WireError("a container that makes no sense")
    return items


def _string(value: Any) -> str:
    if type(value) is not str:
        raise WireError("expected a string")
    return value
