"""The autograder of the GRPO course: a student's folder goes in, a grade with feedback that teaches comes out.

Two processes. This one holds the checks, the inputs and the comparisons and never imports torch or a submission.
Workers hold one submission each and answer with plain data. The model answers are just another submission.

Every room has a README. Reading order: `core/` (what is graded, and what came of it), `exercises/kl/` (how), `grading/`
(one submission in, one result out), `sandbox/` (the processes), `reports/`, `commands/grade.py` (the command).
"""

__version__ = "0.1.0"
