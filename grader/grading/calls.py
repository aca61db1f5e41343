"""What goes into a call and what comes back: the kinds of arguments, an example, a call, its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class _WithArray:
    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


class Half(_WithArray):
    """Argument in a dtype that numpy lacks: `Half(array)` becomes a bfloat16 tensor."""


class Transposed(_WithArray):
    """Argument that is not contiguous: the numbers of `array`, read from a tensor with its first two axes swapped."""


@dataclass(frozen=True)
class Tensor(_WithArray):
    """A tensor that came back. `array` holds bfloat16 as float32; `dtype` says what it was."""

    dtype: str
    device: str


MODE = "training"
"""The field of a model that says whether it trains."""


@dataclass(frozen=True)
class Record:
    """An object. As an argument it is made in the worker, by the class or function of that name in given code.

    `typed` is what a student types for it, where its fields are too long to read. A model that goes in
    with the field `MODE`, False, is in `eval()` mode.

    A dataclass comes back with its fields, a model with its parameters, their gradients and its mode: {"state":
    {name: Tensor}, "gradients": {name: Tensor or None}, "training": bool, "requires_grad": {name: bool}}.
    """

    type_name: str
    fields: dict[str, Any]
    typed: str = ""


@dataclass(frozen=True)
class Same:
    """Argument that is another argument of the call, the object itself: an optimizer needs its policy."""

    name: str


class Example:
    """One call to make: positional arguments, options, and what to send back with the value.

    Attributes:
        arguments: Positional arguments; numpy arrays become tensors of the same dtype.
        options: Keyword arguments.
        gradients_of: Names of positional parameters to differentiate the sum of the value by; of several values, of
            the first one.
        return_arguments: Send tensors and objects back as they are after the call, those among the options too.
        watch_random: Say whether the call changed the global random state of torch, numpy or Python.
        repeat: Make the call so many times with the same objects; the last value counts.
        left_gradients: Names of positional parameters, models, whose parameters have gradients (of 1) before the call.
        weights: Factors of the value in the sum to differentiate; None for the plain sum.
    """

    def __init__(
        self,
        *arguments: Any,
        gradients_of: Sequence[str] = (),
        return_arguments: bool = False,
        watch_random: bool = False,
        repeat: int = 1,
        left_gradients: Sequence[str] = (),
        weights: Array | None = None,
        **options: Any,
    ) -> None:
        self.arguments, self.options = arguments, options
        self.gradients_of, self.return_arguments = tuple(gradients_of), return_arguments
        self.watch_random, self.repeat, self.left_gradients = watch_random, repeat, tuple(left_gradients)
        self.weights = weights


@dataclass(frozen=True)
class Call:
    """What was asked, for the report; `shown_call` prints it as the student would write it."""

    function: str
    arguments: dict[str, Any]
    options: dict[str, Any]
    gradients_of: tuple[str, ...] = ()
    repeat: int = 1
    left_gradients: tuple[str, ...] = ()

    @property
    def handed_over(self) -> dict[str, Any]:
        """Arguments and options by name."""
        return self.arguments | self.options

    @classmethod
    def of(cls, function: str, example: Example, names: Sequence[str]) -> Call:
        """The call of an example of a function, whose positional parameters have these names."""
        arguments = dict(zip(names, example.arguments, strict=False))
        return cls(function, arguments, example.options, example.gradients_of, example.repeat, example.left_gradients)


@dataclass(frozen=True)
class Answer:
    """What came back from one call."""

    call: Call  # what was asked
    value: Any  # `Tensor`, plain data, `Record` for an object of a dataclass, or `wire.Foreign` for anything else
    gradients: dict[str, Tensor | None] = field(default_factory=dict)  # "model.parameter" for models; None: independent
    arguments: dict[str, Any] = field(default_factory=dict)  # tensors and objects after the call, if asked for
    also_changed: tuple[
        str, ...
    ] = ()  # what else it changed in these: "logits.grad", "batch.tokens._version" (written into)
    device: str = "cpu"  # where the arguments were, and so the value must be
    wrong_dtypes: list[Any] | None = None  # where `compare` notes a wrong dtype; None: it refuses one
    random_changed: str = ""  # whose global random state changed, if asked for: "torch", "numpy", "random" or ""
    graph: tuple[str, ...] = ()  # parts attached to an autograd graph: "" for the value itself, "0" or "1.kl"
    part: str = ""  # where the value is in what the call returned: "" for all of it, else "[0]" or ".kl"


def is_array(value: Any) -> bool:
    """Whether an argument becomes a tensor."""
    return isinstance(value, np.ndarray | np.generic | Half | Transposed)
