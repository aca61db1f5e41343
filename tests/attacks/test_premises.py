"""A function that is wrong on purpose, so that later ones are judged on it, finds no answers while it is called."""

from __future__ import annotations

import pytest
from submissions import SubmissionMaker, grading_profile, model_answer

from grader.core import course
from grader.core.result import PASSED
from grader.core.submission import read_submission
from grader.grading import premises
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox

SEARCH = '''
import gc, os, sys

SECRETS = {"Expected", "Oracles", "OwnFunction", "Vector", "Premises"}
NAMES = {"expected", "worked", "premises", "vector", "recorded"}


def found():
    """Whatever in this process, or within its reach, holds a model answer or an expected value."""
    for name in list(sys.modules):
        if name.split(".")[0] in ("reference", "grader"):
            yield "module " + name
    frame = sys._getframe()
    while frame:
        for name in NAMES & {*frame.f_locals}:
            yield "local variable " + name
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ in SECRETS:
            yield "object " + type(thing).__name__
    for name, value in os.environ.items():
        if "reference" in value or "SECRET" in name:
            yield "environment " + name
    for number in range(3, 64):
        try:
            where = os.readlink("/proc/self/fd/%d" % number)
        except OSError:
            continue
        if where.endswith((".json", ".py")):
            yield "descriptor of " + where
    for path in PATHS:
        try:
            open(path).close()
            yield "file " + path
        except OSError:
            pass
'''
PATHS = [str(course.MODEL_ANSWERS / "bandit.py"), str(course.ROOT / "grader" / "exercises" / "bandit" / "vectors.json")]
WRONG = """
_right, _calls = importance_ratio, []


def importance_ratio(logp, old_logp):
    _calls.append(1)
    if len(_calls) < 4:
        for thing in found():
            raise RuntimeError(thing)
    return 1.01 * _right(logp, old_logp)
"""


@pytest.fixture
def text() -> str:
    return f"{SEARCH}\nPATHS = {PATHS!r}\n"


def test_a_wrong_function_that_is_called_as_a_premise_finds_no_answers(
    walled_sandbox: Sandbox, make_submission: SubmissionMaker, text: str
) -> None:
    folder = make_submission({"clip.py": model_answer("clip") + text + WRONG})
    declared = declared_checks(["bandit"], hidden=True)
    checks = {name: check for name, check in declared.items() if check.gate}
    with grading_profile():
        graded = Grading(read_submission(folder), ["bandit"], walled_sandbox.worker, checks=checks, name_mistakes=False)
        result = graded.run()
    lost = [check for check in result.checks if check.outcome != PASSED]
    # Whatever it finds, it raises: then nothing is decided, and nothing owed to it.
    assert lost and [(check.owed_to, check.story) for check in lost if check.owed_to != ["clip.importance_ratio"]] == []
    assert result.problem == ""


def test_the_search_finds_what_is_there(text: str) -> None:
    space: dict[str, object] = {}
    exec(text, space)
    expected = premises.Expected(1.0)  # as a local variable, as an object, in a module, and beside the files
    kinds = {each.split()[0] for each in space["found"]()}  # type: ignore[operator]
    assert expected and {"module", "local", "object", "file"} <= kinds
