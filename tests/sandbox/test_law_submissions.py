"""The exercise on laws: what naive laws earn, and laws that try to know more than the numbers they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from submissions import SubmissionMaker, grading_profile, model_answer

from grader.core.contents import read_submission
from grader.core.result import Result
from grader.core.secret import PUBLIC
from grader.exercises.laws.hidden_checks import WRONG
from grader.grading.check import Check
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox

LAWS = ("advantages", "surrogate", "divergence", "estimate")
HOLDS = ("advantages_hold", "surrogate_holds", "divergence_holds", "estimate_holds")
Graded = Callable[..., Result]


@pytest.fixture
def graded(sandbox: Sandbox, make_submission: SubmissionMaker) -> Graded:
    """Grades the model laws with some text below them, on the checks of one law; "" for all."""

    def run(text: str, law: str = "", *, secret: str = PUBLIC, checks: Mapping[str, Check] | None = None) -> Result:
        files = {"laws.py": f"{model_answer('laws')}\n\n{text}\n"}
        declared = declared_checks(["laws"], hidden=True)
        checks = checks or {name: check for name, check in declared.items() if check.function.startswith(law)}
        with grading_profile():
            submission = read_submission(make_submission(files))
            return Grading(submission, ["laws"], sandbox.worker, checks=checks, secret=secret).run()

    return run


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
ONE_PROPERTY = """
def advantages_hold(calls, results):
    values = [each["value"] for each in results.values()]
    return all(near(each.sum(dim=-1), torch.zeros(each.shape[:-1]), tolerance=0.1) for each in values)
"""


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        pytest.param(every_law("return True"), (0, 0, 0, 0), id="always yes"),
        pytest.param(every_law("return False"), (0, 0, 0, 0), id="always no"),
        pytest.param(RESTATED, (0, 0, 0, 0), id="the formula again"),
        pytest.param(every_law(SHAPE_ONLY), (0, 0, 0, 0), id="shape only"),
        pytest.param(ONE_PROPERTY, (6,), id="one property"),
    ],
)
def test_what_a_naive_law_earns_with_the_calls_of_the_model(graded: Graded, text: str, scores) -> None:
    result = graded(text, "" if len(scores) > 1 else LAWS[0])
    found = tuple(sum(c.earned for c in result.checks if c.function.startswith(law)) for law in LAWS[: len(scores)])
    assert found == scores


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
    result = graded(f"def advantages_calls(seed):\n    return {call}", "advantages_calls")
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
    result = graded(f"def estimate_holds(calls, results):\n    {body}", "estimate_holds")
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
    result = graded(REMEMBERS, "estimate_holds")
    assert not any(check.earned for check in result.checks)
    told = "estimate_holds says yes and then no to the same results: it must depend on its arguments only"
    assert told in {check.story for check in result.checks}


def test_a_law_finds_nothing_of_the_functions_that_were_run(graded: Graded) -> None:
    """It says no where it finds the name of a wrong one, and so says yes to everything."""
    result = graded(LOOKS_FOR_CODE, "estimate_holds")
    told = "estimate_holds says yes although every number that came back is NaN"
    assert outcomes(result, "is_fair") == [("failed", told)]


# Feedback


def test_kinds_are_told_in_a_class_too_and_nothing_else_of_the_wrong_answers(graded: Graded) -> None:
    result = graded(ONE_PROPERTY, "advantages_hold", secret="5" * 64)
    (found,) = (check for check in result.checks if check.id.endswith("catches_as_many_as_the_model_law"))
    assert found.story == "you catch 14 of 22 wrong functions"
    (missing,) = (text for label, text in found.rows if label == "missing")
    assert missing.startswith("the sign, other groups count, another shape, equal rewards")
    names = {known.name for known in WRONG["advantages"]}
    assert not any(name in repr(result) for name in names)


def test_the_same_files_get_the_same_verdict_whichever_check_comes_first(graded: Graded) -> None:
    declared = declared_checks(["laws"], hidden=True)
    (last,) = (
        check for name, check in declared.items() if name == "laws.advantages_law_catches_as_many_as_the_model_law"
    )
    everything, alone = graded(ONE_PROPERTY, "advantages_hold"), graded(ONE_PROPERTY, checks={last.id: last})
    (found,) = (check for check in everything.checks if check.id == last.id)
    assert [(check.story, check.rows, check.call) for check in alone.checks] == [(found.story, found.rows, found.call)]
