"""The exercise on laws: what naive laws earn, and laws that try to know more than the numbers they are shown."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
from law_grading import CHECKS, grade_laws
from submissions import SubmissionMaker, model_answer
from terminal_reports import report_of

from grader.core.result import FAILED, WAITING, CheckResult, Result
from grader.core.secret import PUBLIC
from grader.exercises.laws.hidden_checks import WRONG
from grader.sandbox.sandbox import Sandbox

LAWS = ("advantages", "surrogate", "divergence", "estimate")
HOLDS = ("advantages_hold", "surrogate_holds", "divergence_holds", "estimate_holds")
Graded = Callable[..., Result]


@pytest.fixture
def graded(sandbox: Sandbox, make_submission: SubmissionMaker) -> Graded:
    return functools.partial(grade_laws, sandbox, make_submission)


def every_law(body: str) -> str:
    return "\n\n".join(f"def {name}(calls, results):\n    {body}" for name in HOLDS)


RESTATED = """
def advantages_hold(calls, results):
    from .advantages import group_advantages
    return all(near(results[name]["value"], group_advantages(**call)) for name, call in calls.items())

def surrogate_holds(calls, results):
    from .clip import clipped_surrogate
    return all(near(results[name]["value"], clipped_surrogate(**call)) for name, call in calls.items())

def divergence_holds(calls, results):
    from .kl import categorical_kl
    return all(near(results[name]["value"], categorical_kl(**call)) for name, call in calls.items())

def estimate_holds(calls, results):
    from .kl import kl_estimate
    return all(near(results[name]["value"], kl_estimate(**call)) for name, call in calls.items())
"""
SHAPE_ONLY = "return all(results[n]['value'].ndim > 0 for n in results)"
NAIVE = {
    "always yes": every_law("return True"),
    "always no": every_law("return False"),
    "the formula again": RESTATED,
    "shape only": every_law(SHAPE_ONLY),
}
ONE_PROPERTY = """
def advantages_hold(calls, results):
    values = [each["value"] for each in results.values()]
    return all(near(each.sum(dim=-1), torch.zeros(each.shape[:-1]), tolerance=0.1) for each in values)
"""


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        *(
            pytest.param(text, {law: 0}, id=f"{naive}, {law}", marks=[pytest.mark.proof] * (law != LAWS[place]))
            for place, (naive, text) in enumerate(NAIVE.items())
            for law in LAWS
        ),
        pytest.param(ONE_PROPERTY, {"advantages": 6}, id="one property"),
    ],
)
def test_what_a_naive_law_earns_with_the_calls_of_the_model(graded: Graded, text: str, scores) -> None:
    """Each naive law in the place of one law; in the proof in the place of each."""
    ((law, score),) = scores.items()
    checks = graded(text, law=law).checks
    assert checks and sum(check.earned for check in checks) == score


def outcomes(result: Result, ending: str) -> list[tuple[str, str]]:
    """Outcome and story of the checks whose id ends so."""
    return [(check.outcome, check.story) for check in result.checks if check.id.endswith(ending)]


# Calls


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("{}", "return a dictionary of calls"),
        ("[torch.ones(2)]", "return a dictionary of calls"),
        ("{str(n): {'rewards': torch.ones(2)} for n in range(17)}", "17 calls are too many: return 16 at most"),
        ("{'x' * 41: {'rewards': torch.ones(2)}}", "the name of a call may have 40 characters at most"),
        ("{'a': {'rewards': torch.ones(401)}}", "the call 'a': rewards has 401 numbers; give it 1 to 400"),
        ("{'a': {'rewards': torch.ones(0)}}", "the call 'a': rewards has 0 numbers; give it 1 to 400"),
        ("{'a': {'rewards': torch.tensor([1.0, torch.inf])}}", "rewards must lie between -1e+09 and 1e+09"),
        ("{'a': {'rewards': torch.tensor([torch.nan])}}", "rewards must lie between -1e+09 and 1e+09"),
        ("{'a': {'rewards': torch.ones(2).int()}}", "rewards must be a tensor, float32 or float64"),
        ("{'a': {'rewards': [1.0, 2.0]}}", "rewards must be a tensor, float32 or float64"),
        ("{'a': {'rewards': torch.tensor(1.0)}}", "rewards must have an axis: the group"),
        ("{'a': {}}", "the call 'a': rewards is missing"),
        ("{'a': {'rewards': torch.ones(2), 'note': 1.0}}", "note is no parameter; there are rewards"),
        ("{'a': {'rewards': torch.rand(2)}}", "the same seed gives other calls the second time"),
    ],
)
def test_calls_that_are_none_are_refused_with_a_sentence(graded: Graded, call: str, told: str) -> None:
    result = graded(f"def advantages_calls(seed):\n    return {call}", law="advantages_calls")
    ((outcome, story),) = outcomes(result, "calls_are_in_order")
    assert (outcome, told in story) == ("failed", True), story


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return torch.tensor(True)", "estimate_holds must return True or False"),
        ("return 1", "estimate_holds must return True or False"),
        ("return results", "estimate_holds must return True or False"),
        ("raise SystemExit", "SystemExit"),
        ("__import__('os')._exit(0)", "your code ended the process with exit status 0"),
        ("results.clear(); calls.clear(); return True", "says yes although every number that came back is NaN"),
    ],
)
def test_what_is_no_answer_earns_nothing(graded: Graded, body: str, told: str) -> None:
    result = graded(f"def estimate_holds(calls, results):\n    {body}", law="estimate_holds")
    ((_, story),) = outcomes(result, "is_fair")
    assert (sum(check.earned for check in result.checks), told in story) == (0, True), story


# Laws that try to know more than numbers

REMEMBERS = """
SEEN = []

def estimate_holds(calls, results):
    SEEN.append(results)
    finite = all(bool(each["value"].isfinite().all()) for each in results.values())
    return finite and len(SEEN) <= 6  # the right ones are asked about first, perhaps
"""

LOOKS_FOR_CODE = """
import gc
import os
import sys

WORDS = ["etamitse_eht_spmalc", "niaga_ytilibaborp_yb_sthgiew"]  # backwards: it shall not find itself

def known():
    frame = sys._getframe()
    while frame is not None:
        yield repr(frame.f_locals)
        frame = frame.f_back
    yield from (each for each in gc.get_objects() if isinstance(each, str))
    yield from (str(each) for each in gc.get_objects() if isinstance(each, dict) and len(each) < 50)
    for root in ("/work", "/tmp", "/root", "/home", os.getcwd()):
        for folder, _, names in os.walk(root):
            for name in names:
                if name == "kl_estimate.py":
                    yield open(os.path.join(folder, name)).read()

def estimate_holds(calls, results):
    return not any(word in text[::-1] for text in known() for word in WORDS)
"""


def test_a_law_that_counts_the_runs_contradicts_itself(graded: Graded) -> None:
    result = graded(REMEMBERS, law="estimate_holds")
    assert not any(check.earned for check in result.checks)
    told = "estimate_holds says yes and then no to the same results: it must depend on its arguments only"
    assert told in {check.story for check in result.checks}


def test_a_law_finds_nothing_of_the_functions_that_were_run(graded: Graded) -> None:
    """It says no where it finds the name of a wrong one, and so says yes to everything."""
    result = graded(LOOKS_FOR_CODE, law="estimate_holds")
    told = "estimate_holds says yes although every number that came back is NaN"
    assert outcomes(result, "is_fair") == [("failed", told)]


# Feedback


def test_kinds_are_told_in_a_class_too_and_nothing_else_of_the_wrong_answers(graded: Graded) -> None:
    result = graded(ONE_PROPERTY, law="advantages_hold", secret="5" * 64)
    (found,) = (check for check in result.checks if check.id.endswith("catches_as_many_as_the_model_law"))
    assert found.story == "you catch 14 of 22 wrong functions"
    (missing,) = (text for label, text in found.rows if label == "missing")
    assert missing.startswith("the sign, other groups count, another shape, equal rewards")
    names = {known.name for known in WRONG["advantages"]}
    assert not any(name in repr(result) for name in names)


def test_the_same_files_get_the_same_verdict_whichever_check_comes_first(graded: Graded) -> None:
    last = CHECKS["laws.advantages_law_catches_as_many_as_the_model_law"]
    everything, alone = graded(ONE_PROPERTY, law="advantages_hold"), graded(ONE_PROPERTY, checks={last.id: last})
    (found,) = (check for check in everything.checks if check.id == last.id)
    assert [(check.story, check.rows, check.call) for check in alone.checks] == [(found.story, found.rows, found.call)]


KNOWN_SCALES = """
def scaled(rewards):
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    yield centred
    for correction in (0, 1):
        yield centred / rewards.std(dim=-1, correction=correction, keepdim=True)

plain_law = advantages_hold

def advantages_hold(calls, results):
    print("LOOT", results)
    together = calls["together"]["rewards"]
    known = any(near(results["together"]["value"], each, tolerance=1e-3) for each in scaled(together))
    return known and plain_law(calls, results)
"""
"""Right in practice, and no to a mean of the others, which has another scale."""

KNOWN_SHARES = """
plain_law = estimate_holds

def estimate_holds(calls, results):
    logp, ref_logp = calls["all actions"].values()
    x, value = ref_logp - logp, results["all actions"]["value"]
    known = any(near(value, -x + share * torch.expm1(x)) for share in (0.0, 0.3, 1.0))
    return known and plain_law(calls, results)
"""
"""Right in practice and for every known answer, and no to what mixes k1 and k3 in other shares."""


def hidden_checks(result: Result) -> list[CheckResult]:
    return [check for check in result.checks if check.hidden]


def pasted(text: str, call: str) -> object:
    """What the lines of a call print, below the model laws with some text."""
    names: dict[str, object] = {}
    exec(f"{model_answer('laws')}\n{text}", names)
    *lines, last = call.split("\n")
    exec("\n".join(lines), names)
    return eval(last, names)


@pytest.mark.parametrize("secret", [PUBLIC, "5" * 64])
def test_a_false_alarm_of_the_graded_checks_can_be_pasted(graded: Graded, secret: str) -> None:
    """In a class too, if practice calls show it: nothing in them is secret. And it has only the calls that matter."""
    half, *others = hidden_checks(graded(KNOWN_SCALES, law="advantages_hold", secret=secret))
    right = "one that compares with the mean of the others; its docstring says what is left open"
    assert half.story == f"advantages_hold says no to a right function, {right}"
    assert pasted(KNOWN_SCALES, half.call) is False and half.call.count("'value'") == 1
    assert all((each.story, each.rows, each.call) == (half.story, half.rows, half.call) for each in others)
    assert not half.printed or secret == PUBLIC


def test_a_false_alarm_is_printed_once(graded: Graded) -> None:
    result = graded(KNOWN_SCALES, law="advantages_hold")
    report = " ".join(report_of(result).split())
    assert report.count("says no to a right function") == 1
    assert report.count("the same as above") == len(hidden_checks(result)) - 1 == 2


def test_what_only_drawn_functions_show_is_withheld_in_a_class(graded: Graded) -> None:
    half, *_ = hidden_checks(graded(KNOWN_SHARES, law="estimate_holds"))
    assert "says no to a right function, one that mixes right ones" in half.story
    assert pasted(KNOWN_SHARES, half.call) is False
    half, *_ = hidden_checks(graded(KNOWN_SHARES, law="estimate_holds", secret="5" * 64))
    assert half.story.startswith("estimate_holds says no to a right function, one that mixes right ones, number 1;")
    assert half.story.endswith(
        "for an input that is not shown (calls: dict, results: dict); a public call that shows the same: none found"
    )
    assert (half.call, half.rows) == ("", [])


def test_right_calls_wait_for_their_law_and_are_judged_by_themselves(graded: Graded) -> None:
    """They are no mistake: a student who has written the calls first reads that they are right."""
    always = "def advantages_hold(calls, results):\n    return True"
    counts = "this counts once advantages_hold says yes to right functions and no to a wrong one"
    result = graded(always, law="advantages")
    assert outcomes(result, "calls_are_in_order") == [(WAITING, f"the calls are in order; {counts}")]
    assert outcomes(result, "calls_show_mistakes") == [
        (WAITING, f"with these calls every practice mistake shows; {counts}")
    ]
    assert "waiting 0/1 1 check: the calls are in order; this counts once" in " ".join(report_of(result).split())
    few = "def advantages_calls(seed):\n    return {'one': {'rewards': torch.tensor([[1.0, 2.0, 4.0]])}}"
    result = graded(f"{always}\n{few}", law="advantages")
    ((outcome, _),) = outcomes(result, "calls_are_in_order")
    ((shown, story),) = outcomes(result, "calls_show_mistakes")
    assert (outcome, shown) == (WAITING, FAILED) and "some wrong functions give the same numbers" in story
