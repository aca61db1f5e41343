"""Arguments in, exit code out: one module per command, with the same name."""

import os
import sys

try:
    _here = os.getcwd()
except FileNotFoundError:
    print("The current folder no longer exists; change to another folder.", file=sys.stderr)
    sys.exit(2)
# A file next to a submission must not replace a library, so Python searches the current folder and PYTHONPATH last.
_foreign = {_here, *map(os.path.abspath, os.environ.get("PYTHONPATH", "").split(os.pathsep))}
sys.path.sort(key=lambda entry: os.path.abspath(entry) in _foreign)
