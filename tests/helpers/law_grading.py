"""Grading of laws, for tests."""

from collections.abc import Mapping

from submissions import SubmissionMaker, grading_profile, model_answer

from grader.core.contents import read_submission
from grader.core.result import Result
from grader.core.secret import PUBLIC
from grader.grading.check import Check
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox

CHECKS = declared_checks(["laws"], hidden=True)


def grade_laws(
    sandbox: Sandbox,
    make_submission: SubmissionMaker,
    text: str,
    *,
    law: str = "",
    secret: str = PUBLIC,
    checks: Mapping[str, Check] | None = None,
) -> Result:
    """Grades the model laws with some text below them.

    Args:
        sandbox: Where it runs.
        make_submission: The fixture of this name.
        text: What is put below the model laws.
        law: Its checks are run, those of one law or of one function; all if empty.
        secret: Of the class.
        checks: Those to run, in place of them.
    """
    files = {"laws.py": f"{model_answer('laws')}\n\n{text}\n"}
    checks = checks or {name: check for name, check in CHECKS.items() if check.function.startswith(law)}
    with grading_profile():
        submission = read_submission(make_submission(files))
        return Grading(submission, ["laws"], sandbox.worker, checks=checks, secret=secret).run()
