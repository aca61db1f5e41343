"""The exercise on laws: what naive laws earn, and laws that try to know more than the numbers they are shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from submissions import SubmissionMaker, grading_profile, model_answer

from grader.core.contents import read_submission
from grader.core.result import Result
from grader.core.secret import PUBLIC
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox

LAWS = ("advantages", "surrogate", "divergence", "estimate")
HOLDS = ("advantages_hold", "surrogate_holds", "divergence_holds", "estimate_holds")
Graded = Callable[..., Result]


@pytest.fixture
def graded(sandbox: Sandbox, make_submission: SubmissionMaker) -> Graded:
    """Grades the model laws with some text below them, on the checks of one law; "" for all."""

    def run(text: str, law: str = "", *, secret: str = PUBLIC) -> Result:
        files = {"laws.py": f"{model_answer('laws')}\n\n{text}\n"}
        declared = declared_checks(["laws"], hidden=True)
        checks = {name: check for name, check in declared.items() if check.function.startswith(law)}
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

def surrogate_holds(calls, results):
    factor = results["unit"]["value"]
    return all(
        bool((results[name]["value"] <= factor * call["ratio"] * call["advantages"] + 1e-4).all())
        for name, call in calls.items()
    )

def divergence_holds(calls, results):
    return all(bool((each["value"] >= -1e-6).all()) for each in results.values())

def estimate_holds(calls, results):
    return near(results["equal"]["value"], torch.zeros(3, 5))
"""


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        pytest.param(every_law("return True"), (0, 0, 0, 0), id="always yes"),
        pytest.param(every_law("return False"), (0, 0, 0, 0), id="always no"),
        pytest.param(RESTATED, (0, 0, 0, 0), id="the formula again"),
        pytest.param(every_law(SHAPE_ONLY), (0, 0, 0, 0), id="shape only"),
        pytest.param(ONE_PROPERTY, (6, 4, 4, 4), id="one property"),
    ],
)
def test_what_a_naive_law_earns_with_the_calls_of_the_model(graded: Graded, text: str, scores) -> None:
    result = graded(text)
    found = tuple(sum(c.earned for c in result.checks if c.function.startswith(law)) for law in LAWS)
    assert found == scores
