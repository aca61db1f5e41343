"""The autograder of the GRPO course: a student's folder goes in, a grade with feedback that teaches comes out.

Two processes. This one holds the checks, the inputs and the comparisons and never imports torch or a submission.
Workers hold one submission each and answer with plain data. The model answers are just another submission.

Every room has a README. Reading order: `core/` (what is graded, and what came of it), `exercises/kl/` (how), `grading/`
(one submission in, one result out), `sandbox/` (the processes), `reports/`, `commands/grade.py` (the command).
"""

import os
import sys

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and sys.path[0] == os.getcwd() != _ROOT:
    # `python -m grader...` searches the current folder first. In a submission's, a library would be the student's file
    # of that name. A grader.py there would take the place of this file: use `grade`, `course` or `python -P -m`.
    del sys.path[0]

__version__ = "0.1.0"
