"""The untrusted side: everything that runs in the process that runs student code.

`wire` is shared with the grader; `forkserver`, `confine` and `serve` run only here. The package is loaded from its
folder by `start.py`, so that the process has neither the grader nor the model answers on its import path. It imports
the standard library, torch and the submission, and nothing else of the course.
"""
