"""Checks for `laws.py`: is a law kept by right functions, and by which wrong ones is it broken?

A law is judged by *runs*: its own calls, made by some function, with what came back. The grader makes them and asks the
law about each, right ones among wrong ones, in an order that is drawn. What the law is shown are numbers; the functions
that were run are here, in numpy, or with the hidden checks, in other processes.

The right functions are more than one, and differ by what a docstring leaves open. So a law that computes one formula
again rejects the others.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grader.grading.check import NotYet, check
from grader.grading.compare import Mismatch
from grader.grading.student import (
    Answer,
    Call,
    Example,
    ModuleProblem,
    StudentCrashed,
    StudentDied,
    StudentError,
    Tensor,
)

SEEDS = (0, 1)
"""Of the practice runs. A law is broken where it says no to the calls of one of them."""
MOST_CALLS, MOST_NUMBERS, LONGEST_NAME = 16, 400, 40
NAMES = 6
"""As many kinds of missed answers are said."""
NAN, SHAKEN = "NaN", "numbers that are a little off"
"""Runs of no function: of a right one, with every number replaced, and with every number changed by some percent."""

Array = np.ndarray[Any, Any]
Calls = dict[str, dict[str, Any]]
Run = Sequence[Calls] | None
"""What came back from the calls of each seed; None if one of them ended with an exception."""


@dataclass(frozen=True)
class Practice:
    """A right or a wrong function, in numpy.

    Attributes:
        function: Takes the arguments of a call by name, in float64, and gives the value.
        trained: Parameters that a gradient reaches.
        slope: The gradient, in the same way, of a function with kinks; otherwise differences of values are taken.
    """

    function: Callable[..., Array]
    trained: tuple[str, ...] = ()
    slope: Callable[..., Array] | None = None


@dataclass(frozen=True)
class Law:
    """What a law is about, and what its calls may be.

    Attributes:
        name: Its functions are named by it.
        verb: "hold" or "holds".
        of: The function that it is about, "exercise.function".
        tensors: Parameters that are tensors, with the smallest and the largest number.
        numbers: Those that are numbers, in the same way; they may be left out.
        gradients: Parameters by which a value is differentiated for the law.
        fits: Why the shapes of some tensors do not fit; empty if they do.
        right: Practice functions that keep the law, by what they are.
        wrong: Practice functions that break it, by the kind of their mistake.
    """

    name: str
    verb: str
    of: str
    tensors: Mapping[str, tuple[float, float]]
    gradients: tuple[str, ...] = ()
    numbers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    fits: Callable[..., str] = lambda *_: ""
    right: Mapping[str, Practice] = field(default_factory=dict)
    wrong: Mapping[str, Practice] = field(default_factory=dict)

    @property
    def calls(self) -> str:
        return f"{self.name}_calls"

    @property
    def holds(self) -> str:
        return f"{self.name}_{self.verb}"


# Asking the submission


def drawn_calls(student, law: Law, seeds: Sequence[int]) -> tuple[list[Calls], Call]:
    """The calls of a law for some seeds, as arrays, and the call that asked for the first of them.

    Raises:
        Mismatch: they are no calls of its function, too many, or not the same for the same seed.
    """
    first, *others = student.each(law.calls, *(Example(seed) for seed in (*seeds[:1], *seeds)))
    found = [_calls_in(law, answer) for answer in (first, *others)]
    if not _same_calls(found[0], found[1]):
        story = "the same seed gives other calls the second time: draw all random numbers from the seed"
        raise _refused(first.call, story)
    return found[1:], first.call


def _calls_in(law: Law, answer: Answer) -> Calls:
    """The calls in an answer.

    Raises:
        Mismatch: a sentence says what to change.
    """
    calls = answer.value
    if type(calls) is not dict or not calls or not all(type(call) is dict for call in calls.values()):
        story = "return a dictionary of calls, each a dictionary: {name of the call: {parameter: tensor}}"
        raise _refused(answer.call, story)
    if len(calls) > MOST_CALLS:
        raise _refused(answer.call, f"{len(calls)} calls are too many: return {MOST_CALLS} at most")
    if any(len(name) > LONGEST_NAME for name in calls):
        raise _refused(answer.call, f"the name of a call may have {LONGEST_NAME} characters at most")
    for name, call in calls.items():
        if problem := _wrong_in(law, call):
            raise _refused(answer.call, f"the call {' '.join(name.split())!r}: {problem}")
    return {name: {key: _plain(value) for key, value in call.items()} for name, call in calls.items()}


def _wrong_in(law: Law, call: Mapping[str, Any]) -> str:
    """What to change about one call; empty for nothing."""
    needed, known = [*law.tensors], {**law.tensors, **law.numbers}
    if missing := [name for name in needed if name not in call]:
        return f"{missing[0]} is missing"
    if unknown := [name for name in call if name not in known]:
        return f"{unknown[0][:LONGEST_NAME]} is no parameter; there are {', '.join(known)}"
    for name, value in call.items():
        if problem := _wrong_value(value, *known[name], tensor=name in needed):
            return f"{name} {problem}"
    tensors = [call[name] for name in needed]
    if len({each.dtype for each in tensors}) > 1:
        return f"{' and '.join(needed)} must have one dtype"
    return law.fits(*(each.array for each in tensors))


def _wrong_value(value: Any, low: float, high: float, *, tensor: bool) -> str:
    if tensor and (not isinstance(value, Tensor) or value.dtype not in ("float32", "float64")):
        return "must be a tensor, float32 or float64"
    if not tensor and type(value) not in (int, float):
        return "must be a number"
    numbers = value.array if tensor else np.array(value)
    if numbers.size > MOST_NUMBERS or not numbers.size:
        return f"has {numbers.size} numbers; give it 1 to {MOST_NUMBERS}"
    if not bool(((numbers >= low) & (numbers <= high)).all()):
        return f"must lie between {low:g} and {high:g}"
    return ""


def _plain(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _same_calls(left: Calls, right: Calls) -> bool:
    return bool(_bytes_of(left) == _bytes_of(right))


def _bytes_of(value: Any) -> Any:
    """Something that is equal for equal calls or results, to the last bit."""
    if isinstance(value, dict):
        return tuple((name, _bytes_of(item)) for name, item in value.items())
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)


def caught(student, law: Law, calls: Sequence[Calls], runs: Mapping[str, Run], asked: Call, order) -> set[str]:
    """Which of some runs a law says no to. An exception is a no: what came back cannot even be looked at.

    Each run is a message of its own. All are asked twice, by two workers and in two orders: a law that remembers what
    others gave, and goes by the majority, has seen nothing the one time and everything the other time. Give it right
    runs and wrong ones together, or the law could tell them by what else its worker was asked.

    Args:
        student: The submission.
        law: The law.
        calls: Its calls.
        runs: By name.
        asked: For the report, the call that asked for its calls.
        order: Random numbers for the order.

    Raises:
        Mismatch: it contradicts itself, or does not answer with a bool.
    """
    names = [*runs]
    order.shuffle(names)
    student.apart()
    found = {name for name in names if _says_no(student, law, calls, runs[name])}
    student.apart()
    again = {name for name in reversed(names) if _says_no(student, law, calls, runs[name])}
    if found != again:
        story = f"{law.holds} says yes and then no to the same results: it must depend on its arguments only"
        raise _refused(asked, story, may_be_told=True)
    return found


def _says_no(student, law: Law, calls: Sequence[Calls], run: Run) -> bool:
    try:
        return run is None or not all(_verdicts(student, law, *map(Example, calls, run)))
    except StudentError:
        return True


def _verdicts(student, law: Law, *examples: Example) -> list[bool]:
    """What a law says.

    Raises:
        StudentError: it raised.
        Mismatch: it does not answer with a bool.
    """
    answers = student.each(law.holds, *examples)
    for answer in answers:
        if type(answer.value) is not bool:
            raise _refused(answer.call, f"{law.holds} must return True or False")
    return [answer.value for answer in answers]


def smallest_refused(student, law: Law, calls: Sequence[Calls], run: Run, accepted: Run) -> Call | None:
    """The call of a law in which it says no to a run, without the calls that do not matter.

    Calls are left out as long as it goes on saying no to this run, and does not say no to one that it lets pass: a law
    may say no because a call is missing, and that would show nothing.

    Args:
        student: The submission.
        law: The law.
        calls: Its calls.
        run: What it says no to.
        accepted: What it says yes to; None if there is nothing.

    Returns:
        The call, asked last; None if it says yes this time.

    Raises:
        StudentError: it raised.
    """
    others: Sequence[Calls | None] = accepted or [None] * len(calls)
    for asked, results, other in zip(calls, run or (), others, strict=False):
        if not all(_verdicts(student, law, Example(asked, results))):
            kept = _needed_calls(student, law, asked, results, other)
            (answer,) = student.each(law.holds, _only(kept, asked, results))
            return None if answer.value else answer.call
    return None


def _needed_calls(student, law: Law, asked: Calls, results: Calls, other: Calls | None) -> list[str]:
    """The names of the calls that are left; see `smallest_refused`."""
    kept = [*asked]
    for name in asked:
        fewer = [each for each in kept if each != name]
        if not fewer or _verdict(student, law, _only(fewer, asked, results)) is not False:
            continue
        if other is None or _verdict(student, law, _only(fewer, asked, other)) is not False:
            kept = fewer
    return kept


def _verdict(student, law: Law, example: Example) -> bool | None:
    """What a law says; None if that is neither yes nor no."""
    with contextlib.suppress(Mismatch, StudentError, StudentCrashed, StudentDied):
        (verdict,) = _verdicts(student, law, example)
        return verdict
    return None


def _only(names: Sequence[str], asked: Calls, results: Calls) -> Example:
    return Example({name: asked[name] for name in names}, {name: results[name] for name in names})


def _refused(call: Call, story: str, *rows: tuple[str, str], **told: Any) -> Mismatch:
    """A mismatch; its call is a copy, because the call of another function is not asked for again."""
    return Mismatch(replace(call), rows, story, **told)


def no_to_a_right_one(law: Law, call: Call, name: str, **told: Any) -> Mismatch:
    """What to say of a law that rejects a right function."""
    story = f"{law.holds} says no to a right function, one that {name}; its docstring says what is left open"
    return _refused(call, story, **told)


def require_caught(call: Call, found: set[str], kinds: Mapping[str, str], *, enough: int, **told: Any) -> None:
    """Require that enough wrong functions are caught.

    Args:
        call: The call that asked for the law's calls.
        found: Names of those that are caught.
        kinds: Name to the kind of its mistake, of all of them.
        enough: How many are enough.
        told: What of it may be told in a class with a secret, as for `Mismatch`.

    Raises:
        Mismatch: fewer are; the kinds of the others are said.
    """
    caught_ones = found & kinds.keys()
    if len(caught_ones) < enough:
        missed = list(dict.fromkeys(kinds[name] for name in kinds if name not in found))
        more = f" and {len(missed) - NAMES} more" if len(missed) > NAMES else ""
        row = ("missing", ", ".join(missed[:NAMES]) + more)
        raise _refused(call, f"you catch {len(caught_ones)} of {len(kinds)} wrong functions", row, **told)


# Practice runs


def practice_run(law: Law, practice: Practice, calls: Sequence[Calls]) -> list[Calls]:
    """What a practice function makes of the calls."""
    return [{name: _practised(law, practice, call) for name, call in each.items()} for each in calls]


def _practised(law: Law, practice: Practice, call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = {name: value.astype(np.float64) if name in law.tensors else value for name, value in call.items()}
    dtype = call[next(iter(law.tensors))].dtype
    with np.errstate(all="ignore"):
        value = np.asarray(practice.function(**arguments))
        gradients = {
            name: _slope(practice, arguments, name, value).astype(dtype) if name in practice.trained else None
            for name in law.gradients
        }
    return {"value": value.astype(dtype), "gradients": gradients}


_STEP = 1e-6


def _slope(practice: Practice, arguments: Mapping[str, Any], name: str, value: Array) -> Array:
    """The derivative of the sum of the values; elements or rows of them do not mix."""
    if practice.slope is not None:
        return practice.slope(**arguments)
    place = arguments[name]

    def difference(step: Array) -> Array:
        ahead, behind = (practice.function(**{**arguments, name: place + sign * step}) for sign in (1, -1))
        return (ahead - behind) / (2 * _STEP)

    if value.shape == place.shape:
        return difference(np.full(place.shape, _STEP))
    columns = np.eye(place.shape[-1]) * _STEP
    return np.stack([difference(np.broadcast_to(column, place.shape)) for column in columns], axis=-1)


def _centred(rewards):
    return np.where(np.ptp(rewards, axis=-1, keepdims=True) == 0, 0.0, rewards - rewards.mean(axis=-1, keepdims=True))


def _over_spread(rewards, correction):
    spread = np.sqrt((_centred(rewards) ** 2).sum(axis=-1, keepdims=True) / max(rewards.shape[-1] - correction, 1))
    return _centred(rewards) / np.where(spread > 0, spread, 1.0)


ADVANTAGES = Law(
    "advantages",
    "hold",
    "advantages.group_advantages",
    {"rewards": (-1e9, 1e9)},
    fits=lambda rewards: "" if rewards.ndim else "rewards must have an axis: the group",
    right={
        "divides by the standard deviation": Practice(lambda rewards: _over_spread(rewards, 0)),
        "divides by the sample standard deviation": Practice(lambda rewards: _over_spread(rewards, 1)),
        "only subtracts the mean": Practice(_centred),
    },
    wrong={
        "rewards that are compared with nothing": Practice(lambda rewards: rewards),
        "the sign": Practice(lambda rewards: -_centred(rewards)),
        "one mean for all groups": Practice(lambda rewards: rewards - rewards.mean()),
        "the best sample of a group counts alone": Practice(
            lambda rewards: np.where(_centred(rewards) > 0, _centred(rewards), 0.0)
        ),
        "equal rewards": Practice(
            lambda rewards: (rewards - rewards.mean(axis=-1, keepdims=True)) / rewards.std(axis=-1, keepdims=True)
        ),
        "another axis": Practice(lambda rewards: rewards - rewards.mean(axis=0)),
    },
)


def _bound(ratio, advantages, clip_eps=0.2, clip_eps_high=None):
    """The end of the band where the clip binds, else the ratio; and the slope of that."""
    high = 1 + (clip_eps if clip_eps_high is None else clip_eps_high)
    clipped = np.where(advantages > 0, np.minimum(ratio, high), np.maximum(ratio, 1 - clip_eps))
    return clipped, (clipped == ratio).astype(np.float64)


def _objective(factor=1.0, **fixed):
    """A multiple of the objective of exercise 2, some of whose arguments may be fixed."""
    return Practice(
        lambda **call: factor * call["advantages"] * _bound(**{**call, **fixed})[0],
        ("ratio",),
        lambda **call: factor * call["advantages"] * _bound(**{**call, **fixed})[1],
    )


def _always_clipped(ratio, advantages, clip_eps=0.2, clip_eps_high=None):
    return ratio.clip(1 - clip_eps, 1 + (clip_eps if clip_eps_high is None else clip_eps_high))


def _fit_to_ratio(ratio: Array, advantages: Array) -> str:
    try:
        np.broadcast_to(advantages, ratio.shape)
    except ValueError:
        return f"advantages of shape {advantages.shape} do not broadcast to ratio of shape {ratio.shape}"
    return ""


SURROGATE = Law(
    "surrogate",
    "holds",
    "clip.clipped_surrogate",
    {"ratio": (1e-3, 1e3), "advantages": (-1e3, 1e3)},
    gradients=("ratio",),
    numbers={"clip_eps": (0.0, 10.0), "clip_eps_high": (0.0, 10.0)},
    fits=_fit_to_ratio,
    right={
        "is the objective of exercise 2": _objective(),
        "is half of that objective": _objective(0.5),
        "is three times that objective": _objective(3.0),
    },
    wrong={
        "no clip": Practice(
            lambda ratio, advantages, **_: ratio * advantages,
            ("ratio",),
            lambda ratio, advantages, **_: advantages * np.ones_like(ratio),
        ),
        "a clip that lets a bad sample off": Practice(
            lambda **call: _always_clipped(**call) * call["advantages"],
            ("ratio",),
            lambda **call: (_always_clipped(**call) == call["ratio"]) * call["advantages"],
        ),
        "the sign": _objective(-1.0),
        "clip_eps": _objective(clip_eps=0.2),
        "clip_eps_high": _objective(clip_eps_high=None),
        "no gradient": replace(_objective(), trained=()),
    },
)


def _log_softmax(logits):
    moved = logits - logits.max(axis=-1, keepdims=True)
    return moved - np.log(np.exp(moved).sum(axis=-1, keepdims=True))


def _kl(logits, ref_logits):
    logp, ref_logp = _log_softmax(logits), _log_softmax(ref_logits)
    return (np.exp(logp) * (logp - ref_logp)).sum(axis=-1)


def _one_shape(*tensors: Array) -> str:
    shapes = [each.shape for each in tensors]
    if len({*shapes}) > 1:
        return f"both tensors must have one shape, not {shapes[0]} and {shapes[1]}"
    return "" if shapes[0] else "the tensors must have an axis"


def _near_enough(logp: Array, ref_logp: Array) -> str:
    if problem := _one_shape(logp, ref_logp):
        return problem
    return "" if np.abs(logp - ref_logp).max() <= 20 else "logp and ref_logp may be 20 apart at most"


def _overflowing(logits, ref_logits):
    weights, ref_weights = np.exp(logits), np.exp(ref_logits)
    p, q = (each / each.sum(axis=-1, keepdims=True) for each in (weights, ref_weights))
    return (p * np.log(p / q)).sum(axis=-1)


DIVERGENCE = Law(
    "divergence",
    "holds",
    "kl.categorical_kl",
    {"logits": (-1e3, 1e3), "ref_logits": (-1e3, 1e3)},
    gradients=("logits", "ref_logits"),
    fits=_one_shape,
    right={
        "is KL(pi || pi_ref)": Practice(_kl, ("logits",)),
        "is KL(pi_ref || pi)": Practice(lambda logits, ref_logits: _kl(ref_logits, logits), ("logits",)),
        "is in bits": Practice(lambda **call: _kl(**call) / math.log(2), ("logits",)),
    },
    wrong={
        "the sign": Practice(lambda **call: -_kl(**call), ("logits",)),
        "equal policies": Practice(
            lambda logits, ref_logits: -(np.exp(_log_softmax(logits)) * _log_softmax(ref_logits)).sum(axis=-1),
            ("logits",),
        ),
        "logits that are moved": Practice(
            lambda logits, ref_logits: (np.exp(_log_softmax(logits)) * (logits - ref_logits)).sum(axis=-1) ** 2,
            ("logits",),
        ),
        "one number for all rows": Practice(lambda **call: _kl(**call).sum()),
        "overflow": Practice(_overflowing, ("logits",)),
        "no gradient": Practice(_kl),
        "a gradient of the reference": Practice(_kl, ("logits", "ref_logits")),
    },
)


def _k1(logp, ref_logp):
    return logp - ref_logp


def _k3(logp, ref_logp):
    return np.expm1(ref_logp - logp) - (ref_logp - logp)


ESTIMATE = Law(
    "estimate",
    "holds",
    "kl.kl_estimate",
    {"logp": (-1e3, 0.0), "ref_logp": (-1e3, 0.0)},
    gradients=("logp", "ref_logp"),
    fits=_near_enough,
    right={
        "is k3": Practice(_k3, ("logp",)),
        "is k1": Practice(_k1, ("logp",)),
        "is between k1 and k3": Practice(lambda **call: 0.7 * _k1(**call) + 0.3 * _k3(**call), ("logp",)),
    },
    wrong={
        "the sign": Practice(lambda **call: -_k1(**call), ("logp",)),
        "a biased estimator": Practice(lambda **call: _k1(**call) ** 2 / 2, ("logp",)),
        "equal policies": Practice(lambda **call: _k3(**call) + 1.0, ("logp",)),
        "a mean in place of every value": Practice(lambda **call: _k3(**call).mean()),
        "long completions": Practice(
            lambda logp, ref_logp: np.where(np.exp(logp.astype(np.float32)) > 0, _k3(logp, ref_logp), 0.0), ("logp",)
        ),
        "no gradient": Practice(_k3),
        "a gradient of the reference": Practice(_k3, ("logp", "ref_logp")),
    },
)
LAWS = {law.name: law for law in (ADVANTAGES, SURROGATE, DIVERGENCE, ESTIMATE)}


# What the checks of all laws have in common


def _require_in_order(student, law: Law, order) -> None:
    calls, asked = drawn_calls(student, law, SEEDS)
    _require_work(student, law, calls, asked, order, "the calls are in order")


def _require_work(student, law: Law, calls: Sequence[Calls], asked: Call, order, judged: str) -> None:
    """Calls earn nothing for a law that is not written, rejects right functions, or says yes to everything.

    Args:
        judged: What is right about the calls by themselves.

    Raises:
        NotYet: it does.
    """
    right, wrong, more = _practice_runs(law, calls, order)
    found: set[str] = set()
    with contextlib.suppress(Mismatch, ModuleProblem, StudentError, StudentCrashed, StudentDied):
        found = caught(student, law, calls, {**right, **wrong, **more}, asked, order)
    if NAN not in found or not found & wrong.keys() or found & right.keys():
        raise NotYet(f"{judged}; this counts once {law.holds} says yes to right functions and no to a wrong one")


def _practice_runs(law: Law, calls: Sequence[Calls], order) -> tuple[dict[str, Run], dict[str, Run], dict[str, Run]]:
    """Runs of right practice functions, of wrong ones, and of no function, by their names."""
    right: dict[str, Run] = {name: practice_run(law, each, calls) for name, each in law.right.items()}
    wrong: dict[str, Run] = {name: practice_run(law, each, calls) for name, each in law.wrong.items()}
    some = practice_run(law, next(iter(law.right.values())), calls)
    more: dict[str, Run] = {NAN: [_of_nan(each) for each in some], SHAKEN: [_shaken(each, order) for each in some]}
    return right, wrong, more


def _require_shown(student, law: Law, order) -> None:
    """Require calls in which every wrong practice function gives something else than every right one."""
    calls, asked = drawn_calls(student, law, SEEDS)
    right, wrong, _ = _practice_runs(law, calls, order)
    hidden = [kind for kind, run in wrong.items() if any(_alike(run, other) for other in right.values())]
    if hidden:
        story = "with these calls some wrong functions give the same numbers as a right one, so no law can tell them"
        raise _refused(asked, story, ("not shown", ", ".join(hidden[:NAMES])))
    _require_work(student, law, calls, asked, order, "with these calls every practice mistake shows")


def _alike(left: Any, right: Any) -> bool:
    """Whether two runs are the same up to rounding."""
    if isinstance(left, dict):
        return all(_alike(item, right[name]) for name, item in left.items())
    if isinstance(left, list):
        return all(map(_alike, left, right))
    if left is None or right is None:
        return left is right
    return left.shape == right.shape and bool(np.allclose(left, right, rtol=1e-4, atol=1e-7))


def _of_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _of_nan(item) for name, item in value.items()}
    return None if value is None else np.full_like(value, np.nan)


def _shaken(value: Any, order) -> Any:
    """A run whose every number is off by 5 to 20 %: that of no function, and so no list of wrong ones has it."""
    if isinstance(value, dict):
        return {name: _shaken(item, order) for name, item in value.items()}
    if value is None:
        return None
    off = order.uniform(0.05, 0.2, value.shape) * order.choice((-1, 1), value.shape)
    return (value * (1 + off)).astype(value.dtype)


def _require_fair(student, law: Law, order) -> None:
    """Require a yes to all right practice functions, and a no where it is due, without which a yes says nothing."""
    wrong, found, asked = _judged(student, law, order)
    if NAN not in found:
        raise _refused(asked, f"{law.holds} says yes although every number that came back is NaN")
    require_caught(asked, found, {kind: kind for kind in wrong}, enough=1)


def _require_practice(student, law: Law, order) -> None:
    """Require a no to every wrong practice function, and to numbers that are a little off."""
    wrong, found, asked = _judged(student, law, order)
    kinds = {kind: kind for kind in (*wrong, SHAKEN)}
    require_caught(asked, found, kinds, enough=len(kinds))


def _judged(student, law: Law, order) -> tuple[dict[str, Run], set[str], Call]:
    """The wrong practice runs, the names of all runs that a law says no to, and the call that asked for its calls.

    Raises:
        Mismatch: it says no to a right one, or it is none that can be judged.
        StudentError: it raises on a right one.
    """
    calls, asked = drawn_calls(student, law, SEEDS)
    right, wrong, more = _practice_runs(law, calls, order)
    found = caught(student, law, calls, {**right, **wrong, **more}, asked, order)
    accepted = next((run for name, run in right.items() if name not in found), None)
    for name, run in right.items():
        if name in found:
            refused = smallest_refused(student, law, calls, run, accepted)
            raise no_to_a_right_one(law, refused or asked, name)
    return wrong, found, asked


# The checks of each law: two of its calls, two of what it says


def _declare(law: Law, *, calls: Sequence[str], law_itself: Sequence[str]) -> None:
    """The public checks of a law.

    Args:
        law: Which one.
        calls: Hints for its calls; the last one helps with mistakes that do not show, too.
        law_itself: Hints for what it says of them.
    """
    in_order, show = f"{law.name}_calls_are_in_order", f"{law.name}_calls_show_mistakes"
    fair, catches = f"{law.name}_law_is_fair", f"{law.name}_law_catches_practice_mistakes"
    _add(law, _require_in_order, in_order, law.calls, points=1, gate=True, hints=calls)
    _add(law, _require_shown, show, law.calls, points=1, needs=(in_order,), hints=calls[-1:])
    _add(law, _require_fair, fair, law.holds, points=2, gate=True, hints=law_itself)
    _add(law, _require_practice, catches, law.holds, points=2, needs=(fair, show), hints=law_itself)


def _add(law: Law, require: Callable[..., None], name: str, function: str, **declared: Any) -> None:
    """Declare a check of a law, with the words that all laws have for it."""

    def test(student, order) -> None:
        require(student, law, order)

    test.__name__, test.__doc__ = f"test_{name}", _WORDS[require].format(calls=law.calls, holds=law.holds)
    globals()[test.__name__] = check(function, **declared)(test)


_WORDS = {
    _require_in_order: """`{calls}` returns calls of the function, the same for the same seed.

    A law that cannot be repeated proves nothing: whoever reads "broken" wants to see the call that broke it. The point
    is earned by a pair: `{holds}` must tell a right function from a wrong one with these calls. Until then it waits.
    """,
    _require_shown: """With the calls of `{calls}` every practice mistake gives other numbers than every right function.

    What gives the same numbers cannot be told apart, however clever the law is. Most mistakes show in few places only.
    """,
    _require_fair: """`{holds}` says yes to right functions of three kinds, and no where nothing but NaN came back.

    Libraries write this function in more than one way, and all of them are right. A law says what they share. A formula
    that is computed again and compared rejects the others. A false alarm costs more than a missed mistake: nobody
    listens to the next one. With NaN every comparison is False, so ask for what is right and not for what is wrong.
    """,
    _require_practice: """`{holds}` says yes to all right practice functions and no to all wrong ones.

    The report says which kinds of mistakes it misses. Change the calls so that the mistake shows, or ask for one more
    property. Numbers that are a little off are those of a right function, each changed by 5 to 20 %.
    """,
}

_declare(
    ADVANTAGES,
    calls=(
        "Which groups have an answer that you know without computing it?",
        "A mistake that mixes groups shows where a group is alone in one call and with others in another one.",
        "What can be special about a group: all rewards alike, one sample, one success among many?",
    ),
    law_itself=(
        "Two numbers of a group are in the same proportion as the two rewards minus the mean.",
        "What must stay the same when the other groups change, or when all rewards are moved?",
    ),
)
_declare(
    SURROGATE,
    calls=(
        "There are two signs of A and three places for a ratio. Have you all six?",
        "Which of the arguments have a default that could hide a mistake?",
    ),
    law_itself=(
        "What is left of the gradient where the clip binds, and what stays the value?",
        "The factor is the function's own choice: read it from a call in which nothing is clipped.",
    ),
)
_declare(
    DIVERGENCE,
    calls=(
        "Which two policies have a divergence that you know without computing it?",
        "Logits have one number too many: what may be added to them?",
        "Where would exp overflow, and where would a logarithm be that of 0?",
    ),
    law_itself=(
        "What does not change: the numbering of actions, a constant, the other rows?",
        "A gradient says how a value changes: make a small step, and compare.",
    ),
)
_declare(
    ESTIMATE,
    calls=(
        "An estimator is right on average. Which samples, with which weights, make an average that has no noise?",
        "Where would a probability in place of its logarithm be 0?",
    ),
    law_itself=(
        "A sample counts by its log-ratio alone: what can be added to both log-probabilities?",
        "A gradient says how a value changes: make a small step, and compare.",
    ),
)
