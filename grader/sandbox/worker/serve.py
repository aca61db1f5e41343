"""Loads a submission and answers calls to its functions. Holds no model answer, no assertion and no secret.

Whatever a submission does to this process, all it can send back is data that the grader then compares. What this module
calls of Python, torch and numpy is bound before student code is imported, and arguments are read from the memory that
they were sent into: replacing a public name changes nothing that is reported. What is compared after a call waits on
the interpreter's stack while student code runs, in tuples and bytes that nobody can change: no local variable of a
frame has it, which student code may read and, since Python 3.13 or with a trace function, write. Rewriting this module
itself is allowed to succeed, since it can only return other data.
"""

from __future__ import annotations

import _random
import builtins
import contextlib
import ctypes
import dataclasses
import faulthandler
import importlib.abc
import importlib.machinery
import inspect
import io
import linecache
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy.random
import torch

from . import salvage, wire

# Functions below take names of Python from a copy, whatever becomes of `builtins`.
globals()["__builtins__"] = dict(vars(builtins))

PACKAGE = "submission"
ALIAS = "starter"
"""What the folder is called on a student's own machine."""

MAX_PRINTED = 20_000  # characters of a submission's prints that are kept, per call
MAX_FRAMES = 8
MAX_MESSAGE = 2_000

_DTYPES = {name: getattr(torch, name) for name in wire.ITEM_SIZES}
_DTYPE_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_TENSOR, _UINT8, _STRIDED, _GRAD = torch.Tensor, torch.uint8, torch.strided, torch.autograd.grad
_CONTIGUOUS, _MODULE, _ARRAY_BYTES = torch.contiguous_format, torch.nn.Module, numpy.ndarray.tobytes
_DETACH, _CPU, _RESHAPE, _CLONE = _TENSOR.detach, _TENSOR.cpu, _TENSOR.reshape, _TENSOR.clone
_VIEW, _NUMPY, _COUNT, _ADDRESS = _TENSOR.view, _TENSOR.numpy, _TENSOR.numel, _TENSOR.data_ptr
_MULTIPLY, _SUM = _TENSOR.__mul__, _TENSOR.sum
_TORCH_STATE, _NUMPY_STATE = torch.default_generator.get_state, numpy.random.get_state
_PYTHON_STATE = _random.Random.getstate
_PYTHON_RANDOM: Any = random._inst
_BYTES_AT = ctypes.string_at
_SETTINGS: dict[str, Callable[[], object]] = {
    "gradients": torch.is_grad_enabled,
    "inference": torch.is_inference_mode_enabled,
    "dtype": torch.get_default_dtype,
    "device": torch.get_default_device,
    "determinism": torch.are_deterministic_algorithms_enabled,
}
"""What holds for all of torch, by names that the grader knows."""
_FIELDS, _IS_DATACLASS = dataclasses.fields, dataclasses.is_dataclass
_untrace: Callable[[None], object] = id
_unprofile: Callable[[None], object] = id
"""Switch off the submission's trace and profile functions. Not in debug mode: there they are a debugger's."""


class Printed(io.TextIOBase):
    """Standard output of the submission: written through at once up to a limit per call, then dropped.

    At once, so that a crash loses nothing; up to a limit, so that an endless stream of prints costs nothing.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write, self._left = write, MAX_PRINTED

    def start_call(self) -> None:
        self._left = MAX_PRINTED

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._left > 0:
            self._write(text[: self._left].replace(wire.CALL_MARK, ""))
            self._left -= len(text)
            if self._left <= 0:
                self._write("\n[the rest of the output was cut]\n")
        return len(text)


class SubmissionFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the submission's modules from text, as modules of the package `submission`.

    No file of the submission needs to be readable. `import clip` and `starter.clip`, which work where a student writes
    them, are the same modules; the reader leaves out files with the name of a library. So is `submission.bandit_task`
    the same as `submission.given.bandit_task`: given code lay next to the modules once.
    """

    def __init__(self, files: dict[str, str], folder: str) -> None:
        self._texts: dict[str, tuple[str, str]] = {}
        self.aliases: dict[str, str] = {}
        self.right: dict[str, dict[str, Any]] = {}  # module to right functions, which take the place of its own
        self.not_executed: dict[str, list[salvage.Skipped]] = {}  # module to what was not executed
        for package in {"", *(f".{name.rpartition('/')[0]}" for name in files if "/" in name)}:
            # Empty, and never the submission's own.
            self._texts[PACKAGE + package] = (f"{folder}{package.replace('.', '/')}/__init__.py", "")
            self.aliases[ALIAS + package] = PACKAGE + package
            self.aliases |= {package[1:]: PACKAGE + package} if package else {}
        for name, text in files.items():
            stem = name.removesuffix(".py").replace("/", ".")
            self._texts[f"{PACKAGE}.{stem}"] = (f"{folder}/{name}", text)
            short = stem.rpartition(".")[2]
            elsewhere = {stem, short, f"{ALIAS}.{stem}", f"{ALIAS}.{short}", f"{PACKAGE}.{short}"}
            self.aliases |= dict.fromkeys(elsewhere - {f"{PACKAGE}.{stem}"}, f"{PACKAGE}.{stem}")

    @property
    def file_names(self) -> set[str]:
        return {file_name for file_name, _ in self._texts.values()}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._texts and fullname not in self.aliases:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=self.is_package(fullname))

    def is_package(self, fullname: str) -> bool:
        return self._texts[self.aliases.get(fullname, fullname)][0].endswith("/__init__.py")

    def get_source(self, fullname: str) -> str:
        return self._texts[self.aliases.get(fullname, fullname)][1]

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ in self.aliases:
            sys.modules[module.__name__] = importlib.import_module(self.aliases[module.__name__])
            return
        file_name, text = self._texts[module.__name__]
        lines = [f"{line}\n" for line in text.split("\n")]  # as the compiler counts, which splitlines() does not
        linecache.cache[file_name] = (len(text), None, lines, file_name)
        module.__file__ = file_name
        right = self.right.get(module.__name__, {})
        try:
            self.not_executed[module.__name__] = salvage.execute(text, file_name, module.__dict__)
        except SyntaxError:
            if not right:
                raise
        module.__dict__.update(right)

    def why_undefined(self, error: BaseException) -> str:
        """Which part that was not executed would have defined the name that a submission misses, for a message."""
        for module, parts in self.not_executed.items():
            for part in parts:
                if isinstance(error, NameError) and error.name in part.names:
                    what = f"{type(part.error).__name__}: {_message(part.error)}"[:200]
                    file_name = self._texts[module][0].rpartition("/")[2]
                    return f"; line {part.line} of {file_name}, which defines it, fails ({what})"
        return ""


class Worker:
    """Answers requests of the grader about one submission. The grader's end is `WorkerProcess` in `worker_process.py`.

    Args:
        before_call: Called before every call, so that prints can be told apart.
    """

    def __init__(self, before_call: Callable[[], object] = lambda: None) -> None:
        self._before_call = before_call
        self._finder: SubmissionFinder | None = None
        self._files: set[str] = set()
        self._modules: dict[str, ModuleType] = {}
        self._given: dict[str, Callable[..., Any]] = {}
        self._requests: dict[str, Callable[[dict[str, Any]], dict[str, Any]]]
        self._requests = {"load": self._load, "bind": self._bind, "call": self._call}

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The reply to one request: {"result": ...} or {"error": ...}."""
        try:
            return {"result": self._requests[body["request"]](body)}
        except BaseException as error:  # SystemExit and KeyboardInterrupt of a submission are its own, not ours
            return {"error": self._describe(error)}

    def close(self) -> None:
        """Forget the submission, so that another one can be loaded into the same process (debug mode)."""
        if self._finder is not None:
            sys.meta_path.remove(self._finder)
        own = {name for name in sys.modules if name.split(".")[0] == PACKAGE}
        aliases = self._finder.aliases if self._finder is not None else {}
        for name in own | {name for name in aliases if sys.modules.get(name) is not None}:
            del sys.modules[name]

    def _load(self, body: dict[str, Any]) -> dict[str, Any]:
        self._finder = SubmissionFinder(body["files"], body["folder"])
        self._files = self._finder.file_names
        sys.meta_path.insert(0, self._finder)
        # Given code first: whatever a submission does to it later, the arguments are made by the course's own.
        given = [vars(importlib.import_module(f"{PACKAGE}.{name}")) for name in body["given"]]
        self._given = {name: value for names in given for name, value in names.items() if callable(value)}
        self._given["transpose"] = torch.transpose
        for module, functions in body.get("right", {}).items():
            right = vars(importlib.import_module(f"{PACKAGE}.{body['right_in']}"))
            self._finder.right[f"{PACKAGE}.{module}"] = {name: right[name] for name in functions}
        before = {name: get() for name, get in _SETTINGS.items()}
        self._modules[body["module"]] = importlib.import_module(f"{PACKAGE}.{body['module']}")
        settings = [name for name, get in _SETTINGS.items() if get() != before[name]]
        return {"settings": settings, "not_executed": self._not_executed()}

    def _not_executed(self) -> list[Any]:
        """What was not executed, as plain data: file, line, kind, message and names."""
        return [
            [module.partition(".")[2], part.line, type(part.error).__name__, _message(part.error), [*part.names]]
            for module, parts in (self._finder.not_executed.items() if self._finder else ())
            for part in parts
        ]

    def _bind(self, body: dict[str, Any]) -> dict[str, Any]:
        """Would the function take the course's arguments? "missing", "not callable", its signature, or None if so."""
        function = getattr(self._modules[body["module"]], body["function"], None)
        if function is None:
            return {"problem": "missing"}
        if not callable(function):
            return {"problem": "not callable"}
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return {"problem": None}  # a builtin or a C function: the call will tell
        try:
            signature.bind(*body["positional"], **dict.fromkeys(body["keywords"]))
        except TypeError:
            names = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
            return {"problem": f"{body['function']}{inspect.Signature(names)}"[:300]}
        return {"problem": None}

    def _call(self, body: dict[str, Any]) -> dict[str, Any]:
        """Call a function once or several times, up to the first exception."""
        function = getattr(self._modules[body["module"]], body["function"])
        # Each answer is kept as bytes, by C code: what is found in a list could be changed by a later call.
        *answers, end = map(_kept, tuple(self._answers(function, body)))
        return {"answers": answers} | end

    def _answers(self, function: Callable[..., Any], body: dict[str, Any]) -> Iterator[bytes]:
        """A frame for each call up to the first exception, and one more with that exception, if there was one."""
        try:
            for call in body["calls"]:
                self._before_call()
                yield _frame(0, _answer(function, call, body["device"], self._given))
        except BaseException as error:  # as in `answer`
            yield wire.encode(0, {"error": self._describe(error)})
        else:
            yield wire.encode(0, {})

    def _describe(self, error: BaseException) -> dict[str, Any]:
        """What the student needs to know: type, message, and the frames in their own files."""
        frames = []
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename in self._files:
                frames.append((frame.filename, frame.lineno or 0, frame.name, (frame.line or "")[:200]))
        if isinstance(error, SyntaxError) and error.filename in self._files:
            line = error.text or linecache.getline(error.filename or "", error.lineno or 0)
            frames.append((error.filename or "", error.lineno or 0, "", line.rstrip()[:200]))
        why_undefined = self._finder.why_undefined(error) if self._finder else ""
        return {
            "type": type(error).__name__[:100],
            "message": _message(error) + why_undefined,
            "frames": frames[-MAX_FRAMES:],
            "value_error": isinstance(error, ValueError),
            "not_written": type(error) is NotImplementedError and self._raised_by_submission(error),
        }

    def _raised_by_submission(self, error: BaseException) -> bool:
        """Whether a `raise` of the submission made it: torch raises NotImplementedError too, from their lines."""
        frames = traceback.extract_tb(error.__traceback__)
        return bool(frames) and frames[-1].filename in self._files and (frames[-1].line or "").startswith("raise")


def _message(error: BaseException) -> str:
    """What an exception says."""
    try:
        return str(error.msg if isinstance(error, SyntaxError) else error)[:MAX_MESSAGE]
    except BaseException:  # an exception of theirs may be as wrong as the rest
        return "(this exception has no readable text)"


def _answer(
    function: Callable[..., Any], call: dict[str, Any], device: str, given: dict[str, Callable[..., Any]]
) -> dict[str, Any]:
    """One call; on request its vector-Jacobian product, and what became of its arguments."""
    made: list[Any] = []
    for argument in call["arguments"]:
        made.append(_to_torch(argument, device, given, made))
    arguments = (*made,)
    options = {name: _to_torch(option, device, given, made) for name, option in call["options"].items()}
    inputs = tuple(arguments[position].requires_grad_() for position in call["gradients_of"])
    weights = 1.0 if call.get("weights") is None else _to_torch(call["weights"], device, {}, [])
    watched, returned = call["watch_random"], call["return_arguments"]
    for position in call.get("left_gradients", ()):
        for parameter in arguments[position].parameters():
            parameter.grad = torch.ones_like(parameter)
    handed_over = (*arguments, *options.values()) if returned else ()
    # Student code runs while the last argument is made. The others are on the stack by then.
    return _compared(
        inputs,
        weights,
        handed_over,
        tuple(map(_memory, handed_over)),
        tuple(tuple(_marks(each).items()) for each in handed_over),
        _random_states() if watched else (),
        _called(function, arguments, options, call["repeat"]),
    )


def _called(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any], repeat: int) -> Any:
    """What a function of the submission returns. What is done afterwards calls no trace function of theirs."""
    for _ in range(repeat):
        value = function(*arguments, **options)
    _untrace(None)
    _unprofile(None)
    return value


def _compared(
    inputs: tuple[Any, ...],
    weights: Any,
    handed_over: tuple[Any, ...],
    memory: tuple[Any, ...],
    marks: tuple[Any, ...],
    before: tuple[Any, ...],
    value: Any,
) -> dict[str, Any]:
    """The answer to a call, from what it returned and what was kept from before it.

    Args:
        inputs: What to differentiate by.
        weights: Of the sum that is differentiated.
        handed_over: Its arguments and options, if it is asked what became of them.
        memory: Where their numbers lie, see `_memory`.
        marks: What they had on them, see `_marks`.
        before: The random states, if these are asked for.
        value: What the function returned.
    """
    answer: dict[str, Any] = {"value": _from_torch(value), "graph": _with_graph(value)}
    if before:
        changed = (old[0] for old, new in zip(before, _random_states(), strict=True) if old != new)
        answer["random_changed"] = next(changed, "")
    if inputs:
        first = value[0] if type(value) in (list, tuple) and value else value
        answer["gradients"] = _gradients(first, inputs, weights)
    if handed_over:
        answer["arguments"] = [_as_left(*each) for each in zip(handed_over, memory, strict=True)]
        changes = zip(marks, map(_marks, handed_over), strict=True)
        answer["also_changed"] = [[key for key, state in old if new.get(key) != state] for old, new in changes]
    return answer


def _kept(frame: bytes) -> dict[str, Any]:
    """What is in a frame of this process's own."""
    parts = iter((frame,))
    return wire.Reader().read(lambda _: next(parts, b""))[1]


def _frame(request_id: int, body: dict[str, Any]) -> bytes:
    """A frame with what a submission has returned.

    Raises:
        TypeError: it cannot be sent.
    """
    try:
        return wire.encode(request_id, body)
    except (wire.WireError, RecursionError) as error:
        raise TypeError(f"the returned value cannot be sent to the grader: {error}") from None


def _marks(value: Any) -> dict[str, Any]:
    """What a call can leave on a tensor, or on those in an object, besides other numbers: "grad", or "tokens.grad"."""
    if type(value) is _TENSOR:
        has_grad = value.is_leaf and value.grad is not None  # of any other one torch warns who asks
        return {"requires_grad": value.requires_grad, "grad": has_grad, "_version": value._version}
    if not _IS_DATACLASS(value) or isinstance(value, type):
        return {}
    parts = {field.name: _marks(getattr(value, field.name, None)) for field in _FIELDS(value)}
    return {f"{name}.{key}": state for name, part in parts.items() for key, state in part.items()}


def _random_states() -> tuple[tuple[str, Any], ...]:
    """The global random states by whose they are, as something that can be compared."""
    state: Any = _NUMPY_STATE()
    name, key, *rest = state
    return (
        ("torch", _ARRAY_BYTES(_NUMPY(_TORCH_STATE()))),
        ("numpy", (name, _ARRAY_BYTES(key), *rest)),
        ("random", (_PYTHON_STATE(_PYTHON_RANDOM), _PYTHON_RANDOM.gauss_next)),
    )


def _memory(value: Any) -> tuple[int, int, str, tuple[int, ...]] | None:
    """Address, bytes, dtype and shape of a whole tensor in this process's memory; None for anything else.

    Read from there, nobody is asked what its numbers are. A tuple: the attributes of an object can be set.
    """
    if type(value) is not _TENSOR or value.device.type != "cpu" or not value.is_contiguous() or not _COUNT(value):
        return None
    return _ADDRESS(value), value.nbytes, _DTYPE_NAMES[value.dtype], tuple(value.shape)


def _as_left(value: Any, memory: tuple[int, int, str, tuple[int, ...]] | None) -> Any:
    """An argument after the call, from the bytes in its memory unless it lies elsewhere or looks otherwise by now."""
    if memory is None or memory != _memory(value):
        return _from_torch(value)
    address, size, dtype, shape = memory
    return wire.WireTensor(dtype, shape, _BYTES_AT(address, size))


def _with_graph(value: Any, depth: int = 0) -> list[str]:
    """Where the tensors stand that require a gradient: "" for the value itself, "0" or "kl" for parts of it."""
    if type(value) is _TENSOR:
        return [""] if value.requires_grad else []
    if depth > 2 or type(value) not in (list, tuple, dict):
        return []
    parts = value.items() if type(value) is dict else enumerate(value)
    return [f"{key}.{inside}".rstrip(".") for key, part in parts for inside in _with_graph(part, depth + 1)][:100]


def _gradients(value: Any, inputs: tuple[Any, ...], weights: Any) -> list[Any]:
    """Gradient of the weighted sum of the value by every input; None for one that the value does not depend on.

    The gradient by a model is that by each of its parameters, by their names.
    """
    leaves = [_leaves(each) for each in inputs]
    flat = [leaf for named in leaves for leaf in named.values()]
    gradients: Iterator[Any] = iter([None] * len(flat))
    if type(value) is _TENSOR and value.requires_grad:
        # Not through the argument grad_outputs: torch imports sympy to check its shape, which takes half a second.
        gradients = iter(_GRAD(_SUM(_MULTIPLY(value, weights)), flat, allow_unused=True))
    found = [{name: _from_torch(next(gradients)) for name in named} for named in leaves]
    return [each.get("", each) for each in found]


def _leaves(value: Any) -> dict[str, torch.Tensor]:
    """The parameters of a model by name; a tensor itself under no name."""
    return dict(value.named_parameters()) if isinstance(value, _MODULE) else {"": value}


def _to_torch(value: Any, device: str, given: dict[str, Callable[..., Any]], arguments: list[Any]) -> Any:
    if type(value) is wire.SameArgument:
        return arguments[value.position]
    if type(value) in (wire.WireRecord, dict):
        items = value.fields if type(value) is wire.WireRecord else value
        made = {name: _to_torch(item, device, given, arguments) for name, item in items.items()}
        if type(value) is not wire.WireRecord:
            return made
        trains = made.pop("training", True)  # no field of a dataclass: the mode of a model
        record = given[value.type_name](**made)
        return record if trains else record.eval()
    if type(value) is not wire.WireTensor:
        return value
    dtype = _DTYPES[value.dtype]
    if not value.data:
        return torch.empty(value.shape, dtype=dtype, device=device)
    return torch.frombuffer(bytearray(value.data), dtype=dtype).reshape(value.shape).to(device)


def _from_torch(value: Any, depth: int = 0) -> Any:
    """Plain data as it is, exact tensors as bytes, everything else as the name of its type."""
    if type(value) is _TENSOR:
        if value.dtype not in _DTYPE_NAMES or value.layout != _STRIDED:
            return wire.Foreign(f"tensor of dtype {value.dtype} and layout {value.layout}")
        device = value.device.type
        # Not .contiguous(): one element with stride 0 counts as contiguous, and cannot be viewed as bytes.
        flat = _CLONE(_RESHAPE(_CPU(_DETACH(value)), -1), memory_format=_CONTIGUOUS)
        data = _ARRAY_BYTES(_NUMPY(_VIEW(flat, _UINT8))) if _COUNT(flat) else b""
        return wire.WireTensor(_DTYPE_NAMES[value.dtype], tuple(value.shape), data, device)
    if depth > wire.MAX_DEPTH:
        raise TypeError("the returned value cannot be sent to the grader: nested too deeply")
    if type(value) in (list, tuple):
        return type(value)(_from_torch(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return {str(key): _from_torch(item, depth + 1) for key, item in value.items()}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, float):  # numpy's
        return float(value)
    if isinstance(value, _MODULE):
        parameters = dict(value.named_parameters())
        fields = {
            "state": _from_torch({name: _DETACH(each) for name, each in parameters.items()}, depth + 1),
            "gradients": _from_torch({name: each.grad for name, each in parameters.items()}, depth + 1),
            "training": bool(value.training),
            "requires_grad": {name: bool(each.requires_grad) for name, each in parameters.items()},
        }
        return wire.WireRecord(type(value).__name__, fields)
    if _IS_DATACLASS(value) and not isinstance(value, type):
        names = [field.name for field in _FIELDS(value)]
        return wire.WireRecord(
            type(value).__name__, {name: _from_torch(getattr(value, name), depth + 1) for name in names}
        )
    return wire.Foreign(f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins."))


def run(receive: Callable[[int], bytes], send: Callable[[bytes], object], walls: list[str], device: str) -> None:
    """Serve requests until the grader hangs up. Standard error is the file that keeps the submission's prints.

    Changes this process for good.

    Args:
        receive: As for `wire.Reader.read`.
        send: Takes a whole frame.
        walls: What confines this process; told to the grader in the first frame.
        device: Where the tensors will go; the first frame says whether CUDA is there, if that is asked for.
    """

    def write_to_file(text: str) -> None:
        with contextlib.suppress(OSError):  # prints are lost if the file is full or the submission has closed it
            os.write(2, text.encode("utf-8", "backslashreplace"))

    printed = Printed(write_to_file)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = printed  # type: ignore[misc, assignment]
    sys.stdin = io.StringIO()
    faulthandler.enable(2, all_threads=False)
    if hasattr(faulthandler, "register"):  # not on Windows
        faulthandler.register(signal.SIGUSR1, 2, all_threads=False)
    sys.breakpointhook = _no_breakpoint
    global _untrace, _unprofile
    _untrace, _unprofile = sys.settrace, sys.setprofile
    send(wire.encode(0, {"walls": walls, "cuda": device == "cuda" and torch.cuda.is_available()}))

    def before_call() -> None:
        printed.start_call()
        write_to_file(wire.CALL_MARK)

    worker, reader = Worker(before_call), wire.Reader()
    while True:
        try:
            request_id, body = reader.read(receive)
        except EOFError:
            return
        printed.start_call()
        reply = worker.answer(body)
        try:
            frame = _frame(request_id, reply)
        except TypeError as error:
            frame = wire.encode(request_id, {"error": worker._describe(error)})
        send(frame)


def _no_breakpoint(*_: Any, **__: Any) -> None:
    raise RuntimeError("breakpoint() works only in your own process: run grade --debug EXERCISE")
