"""The autograder of the GRPO course: a student's folder goes in, a grade with feedback that teaches comes out.

Two processes. This one holds the checks, the inputs and the comparisons and never imports torch or a submission.
Workers hold one submission each and answer with plain data. The model answers are just another submission.

Reading order: `course` (what is graded), `checks/` (how), `student` (the proxy that a check talks to), `compare` (what
counts as equal), `sandbox` and `worker/` (the processes), `plugin`, `run` and `result` (one grading), `cli` (the
command).
"""

__version__ = "0.1.0"
