"""The autograder of the GRPO course: a student's folder goes in, a grade with feedback that teaches comes out.

Two processes. This one holds the checks, the inputs and the comparisons and never imports torch or a submission.
Workers hold one submission each and answer with plain data. The model answers are just another submission.

Every package has a README. Reading order: `core/` (what is graded, and what came of it), `exercises/kl/` (how),
`grading/` (one submission in, one result out), `sandbox/` (the processes), `reports/`, `commands/grade.py` (the
command).
"""

import os
import sys

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and sys.path[0] == os.getcwd() != _ROOT:
    # Python searches the current folder before everything else. Were it a submission's, a grader.py there would have
    # run in place of this file, so nobody is to get used to starting us like this.
    print("`python -m` runs the files of the folder that you are in before those of the course.", file=sys.stderr)
    print("Use the commands `grade` and `course`, or `python -P -m`.", file=sys.stderr)
    sys.exit(2)

__version__ = "1.0.0"


def __getattr__(name: str) -> object:
    """`from grader import check`, for notebooks; imported on demand, because everything imports this file."""
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if sys.version_info < (3, 11):  # noqa: UP036 - a kernel may be older than what the course needs
        return _refuse_old_python
    from .commands.notebook_check import check, prepare

    prepare()
    return check


def _refuse_old_python(*_: object) -> None:
    version = ".".join(map(str, sys.version_info[:2]))
    print(f"This kernel runs Python {version}. The course needs Python 3.11 to 3.14: choose another kernel.")
