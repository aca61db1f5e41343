"""What an exception of Python or torch means in this course, in words for who meets it the first time.

Left out: the system's exceptions (files, network, memory), which `system_exceptions` explains.
"""

from __future__ import annotations

import re

_NEEDS_NO_GRADIENT = (
    "never computed: a gradient is asked for, and nothing in it requires one; a tensor does after "
    "`detach().requires_grad_()`, and loses it by `.item()`, `.data`, `detach()` and `no_grad()`"
)
_SEVERAL_NUMBERS = (
    "never computed: a tensor with several numbers is used as if it were one number, such as in an `if` or by `.item()`"
)
_SHAPES = "never computed: shapes that do not fit together, of two tensors or of one tensor and what it is turned into"
_NOT_FLOATING = "never computed: a tensor of whole numbers or bools is where torch needs floating point"
_NOT_WHOLE = "never computed: a tensor of floating point is where torch needs whole numbers, such as for an index"
_NOT_BOOL = "never computed: a mask is of floating point, and torch needs bools: compare, or call `.bool()`"
_TOO_FEW_AXES = "never computed: a tensor has fewer axes than your code counts on"
_NOTHING_LEFT = (
    "never computed: nothing is left to stack, to search or to reduce; here there is no row or position of that kind"
)
_MEANINGS = (
    (r"element 0 of tensors does not require|differentiated Tensors does not require", _NEEDS_NO_GRADIENT),
    (
        r"appears to not have bee",
        "never computed: a gradient is asked for by a tensor that the value was not computed from, such as a copy",
    ),
    (
        r"leaf Variable that requires grad",
        "never computed: a tensor that requires a gradient is changed in place; make a new one, or use `no_grad()`",
    ),
    (
        r"one of the variables needed for gradient|more than one element of the written",
        "never computed: a tensor is changed in place that is still needed, for the backward pass or as another view "
        "of the same memory; make a new one",
    ),
    (
        r"backward through the graph a second time",
        "never computed: `backward` goes twice through one graph; compute the loss again before each update",
    ),
    (
        r"grad can be implicitly created only for scalar",
        "never computed: `backward` needs one number, and your loss has several; it is a mean",
    ),
    (
        r"can't optimize a non-leaf|change requires_grad flags of leaf|empty parameter list",
        "never computed: a computed tensor is where a parameter is needed; `detach().requires_grad_()` makes one",
    ),
    (
        r"call numpy\(\) on Tensor",
        "never computed: numpy is used on a tensor that requires a gradient; stay with torch, or `detach()` it first",
    ),
    (
        r"^TypeError.*NoneType",
        "never computed: something is None that is used as if it were not, such as the `.grad` of a tensor that is no "
        "leaf, an option that is not given, or what a function without `return` returns",
    ),
    (
        r"same device",
        "never computed: tensors are on different devices; make new ones with the `device=` of one that you were given",
    ),
    (r"where expected condition|\(operator.invert\)|bitwise_", _NOT_BOOL),
    (
        r"must be long, int|dtype int32/int64|dtype to be Long|to have one of the|of type Long|only integer",
        _NOT_WHOLE,
    ),
    (
        r"could not infer output dtype|only supports? floating|Expected a floating point|floating point dtype can|"
        r"floating point and complex|not implemented for '(Long|Int|Bool)'",
        _NOT_FLOATING,
    ),
    (
        r"desired output type|same dtype|scalar type|[Ee]xpected self\.dtype|dtypes? match",
        "never computed: two tensors have dtypes that torch does not mix",
    ),
    (r"only one element tensors|Boolean value of Tensor|elements cannot be converted", _SEVERAL_NUMBERS),
    (
        r"size of tensor a|must match the size|shapes cannot|shape of the mask|is invalid for input|"
        r"Size does not match|batch_size|same number of dimensions",
        _SHAPES,
    ),
    (
        r"view size is not compatible",
        "never computed: `view` needs numbers that lie in order in memory; `reshape` does not",
    ),
    (r"Dimension out of range|too many indices|0-d(im)? tensor", _TOO_FEW_AXES),
    (
        r"not enough values to unpack|too many values to unpack",
        "never computed: something has more or fewer parts than your code unpacks it into, such as a shape with one "
        "axis or three in `P, G = x.shape`",
    ),
    (r"non-empty|empty sequence|numel\(\) == 0|reduction dim", _NOTHING_LEFT),
    (r"is not in list", "never computed: a list is searched for something that is not in it"),
    (r"out of bounds|out of range", "never computed: an index lies outside of its tensor or list"),
    (
        r"without *$|samples without",
        "never computed: more is drawn than there is; `torch.multinomial` puts nothing back without `replacement=True`",
    ),
    (
        r"probability tensor contains|must be finite|NaN|math (domain|range)",
        "never computed: a number is NaN, infinite or negative where that has no meaning; look for what was computed "
        "before it: 0 / 0, the mean of nothing, the logarithm of 0",
    ),
    (
        r"^(UnboundLocalError|NameError)",
        "never computed: a name is used that has no value yet, such as one that only a loop sets, and the loop "
        "never runs",
    ),
    (r"^StopIteration|raised StopIteration", "never computed: `next` is called, and nothing is left"),
    (r"^FrozenInstanceError", "never computed: settings cannot be changed; `dataclasses.replace` makes others"),
    (r"^AttributeError", "never computed: something is asked for an attribute that it does not have"),
    (
        r"positional argument|keyword argument|combination of arguments",
        "never computed: a function gets arguments that it does not take",
    ),
    (r"^TypeError", "never computed: something is of a type that this operation does not take"),
    (r"^KeyError", "never computed: a dict is asked for a key that it does not have"),
    (r"^(ZeroDivisionError|OverflowError)", "never computed: a number is divided by 0 or becomes too large"),
    (r"^ValueError", "refused: the call is allowed, and your code, or what it calls, raises a ValueError"),
    (
        r"^AssertionError",
        "refused: the call is allowed, and an `assert`, of yours or of a library, says that it is not",
    ),
    (r"^RecursionError", "never computed: your function calls itself without end"),
)
"""A pattern in an exception's type and the beginning of its message, and what it means; the first that fits counts."""


def meaning(kind: str, message: str) -> str:
    """What an exception means, as the end of "your numbers are ..."; empty if nobody knows.

    Args:
        kind: Its type.
        message: Its text, of which the first 60 characters are enough.
    """
    said = f"{kind}: {message}"
    return next((means for pattern, means in _MEANINGS if re.search(pattern, said)), "")
