"""Which submissions need modules of torch that take seconds to import."""

from pathlib import Path

import pytest

from grader.core import course
from grader.core.contents import read_submission
from grader.core.submission import Submission


def submission_of(text: str) -> Submission:
    return Submission("homework", Path("homework"), {"clip.py": text}, {})


@pytest.mark.parametrize(
    ("text", "slow"),
    [
        ("optimizer = torch.optim.Adam(p)", True),
        ("from torch import optim", True),
        ("from torch.func import grad", True),
        ("import functorch", True),
        ("from torch import Tensor", False),
        ("def function(optimum): ...", False),
    ],
)
def test_only_submissions_that_need_it_pay_for_slow_imports(text, slow):
    assert bool(submission_of(text).slow_imports(["clip.py"])) == slow
    assert not submission_of(text).slow_imports(["kl.py"])


def test_only_the_language_model_needs_slow_imports():
    submission = read_submission(course.MODEL_ANSWERS)
    need = {
        exercise.name
        for exercise in course.EXERCISES
        if exercise.slow_imports or submission.slow_imports(exercise.needed_files)
    }
    assert need == {"charlm"}
