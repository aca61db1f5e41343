"""The bug hunt, graded: known hand-ins get their points, and no piece is an answer to another exercise.

Whether it is right or wrong, and whatever name it is handed in under.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from command import call
from submissions import grading_profile

from grader.commands.course import main
from grader.core import course
from grader.core.result import Result
from grader.core.submission import Submission
from grader.exercises.bughunt import sets
from grader.grading.check import own_module
from grader.grading.run import Grading
from grader.sandbox.sandbox import Sandbox
from grader.workshop.selftest import grading_here, selftest

_ADAPTED = """

def {function}({parameters}):
    given = [each for each in ({names},) if each is not None]
    wanted = {piece}.__code__.co_argcount
    given = [each.detach().numpy().tolist() if hasattr(each, "detach") else each for each in given]
    return {returned}
"""
"""A function of an exercise that calls a piece with the arguments that it gets, as many as the piece takes."""


def handed_in(text: str, piece: str, *, as_tensor: bool) -> Submission:
    """A submission of all exercises in which every function is a piece."""
    files = {}
    for exercise in (each for each in course.EXERCISES if not each.is_data):
        module = f"import re\nimport numpy as np\nimport torch\n\n{text}"
        for function in exercise.function_names:
            positional, keywords = exercise.parameters(function)
            parameters = [*positional, *(["*"] if keywords else []), *(f"{name}=None" for name in keywords)]
            call = f"{piece}(*(given + [0.1] * wanted)[:wanted])"
            module += _ADAPTED.format(
                function=function,
                parameters=", ".join(parameters),
                names=", ".join([*positional, *keywords]),
                piece=piece,
                returned=f"torch.as_tensor({call})" if as_tensor else call,
            )
        files[exercise.file_name] = module
    return Submission(piece, Path(piece), files, {})


def graded(submission: Submission, sandbox: Sandbox) -> Result:
    options = {"fresh_workers": False, "name_mistakes": False, "second_pass": False}
    with grading_profile():
        names = [each.name for each in course.EXERCISES if not each.is_data]
        return Grading(submission, names, sandbox.worker, **options).run()  # type: ignore[arg-type]


def forms(family: sets.Family) -> dict[str, str]:
    """A family right, and with each of its bugs."""
    found: dict[str, str] = {}
    for bug in family.bugs:
        body, right, _ = sets._bodies(family, {}, sets.Draw(1), bug)
        found |= {"right": sets._lines(family.signature, *right), bug.text: sets._lines(family.signature, *body)}
    return found


@pytest.mark.parametrize("both", [False, pytest.param(True, marks=pytest.mark.proof)], ids=["one of two", "both"])
@pytest.mark.parametrize("family", sets.families(), ids=lambda family: family.name)
def test_a_piece_under_the_names_of_the_exercises_earns_nothing(
    family: sets.Family, both: bool, sandbox: Sandbox
) -> None:
    """The right piece and one with a bug; which of the two is drawn, too, where it is only one."""
    texts, draw = forms(family), random.Random(family.name)
    pieces = ("right", draw.choice(sorted(texts.keys() - {"right"})))
    for what in pieces if both else (draw.choice(pieces),):
        result = graded(handed_in(texts[what], family.name, as_tensor=False), sandbox)
        assert result.complete and result.points > 100
        assert [(check.id, check.earned) for check in result.checks if check.earned] == [], what


@pytest.mark.proof
@pytest.mark.parametrize("family", sets.families(), ids=lambda family: family.name)
def test_no_form_of_a_piece_solves_a_function_even_if_its_numbers_are_made_tensors(
    family: sets.Family, sandbox: Sandbox
) -> None:
    for what, text in forms(family).items():
        result = graded(handed_in(text, family.name, as_tensor=True), sandbox)
        for function in {(check.id.split(".")[0], check.function) for check in result.checks}:
            own = [c for c in result.checks if (c.id.split(".")[0], c.function) == function]
            assert sum(check.earned for check in own) < sum(check.points for check in own), (what, function)


def test_every_hand_in_whose_grade_is_known_gets_it(sandbox: Sandbox, tmp_path: Path) -> None:
    done = call(main, "dev", "selftest", "bughunt", "--quick", "--jobs", "1", cwd=tmp_path, sandbox=sandbox)
    assert done.returncode == 0 and "self-test passed" in done.stdout, done.stdout
    counts = dict(reversed(line.split(maxsplit=1)) for line in re.findall(r"^ *(\d+ .*)$", done.stdout, re.M))
    assert int(counts["fair variants"]) >= 20
    assert int(counts["misconceptions"]) + int(counts["answers without work"]) >= 20


def test_the_self_test_notices_a_hand_in_that_earns_something_else(sandbox: Sandbox, monkeypatch: Any) -> None:
    known = own_module("bughunt", "known")
    wrong = known.Known("one that earns more than is known", next(known.right_ones()).text, 59)
    monkeypatch.setattr(known, "right_ones", lambda: iter([wrong]))
    report = selftest(["bughunt"], grading_here(sandbox.worker, sandbox.worker), only=wrong.name)
    assert report.problems == [f"bughunt: {wrong.name}: earns 60 of 60 points, not 59"]
