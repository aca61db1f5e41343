"""Arguments in, exit code out: one module for each command, named like it."""

import os
import sys

try:
    _here = os.getcwd()
except FileNotFoundError:
    print("The folder that you are in is gone; change into one that is there.", file=sys.stderr)
    sys.exit(2)
# Nothing beside a submission may take a library's place: the current folder and PYTHONPATH are searched last.
_foreign = {_here, *map(os.path.abspath, os.environ.get("PYTHONPATH", "").split(os.pathsep))}
sys.path.sort(key=lambda entry: os.path.abspath(entry) in _foreign)
