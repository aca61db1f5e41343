"""How an interpreter for student code is started: nothing of the caller's environment, and a path of libraries only."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from .worker_process import SandboxError

_START_SCRIPT = Path(__file__).parent / "worker" / "start.py"


def library_folders() -> list[str]:
    """The folders that hold torch and numpy, found without importing them."""
    folders = []
    for name in ("torch", "numpy"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(f"{name} is not installed; run the install command of the README")
        folders.append(str(Path(spec.origin).parents[1]))
    return list(dict.fromkeys(folders))


_GPUS = "CUDA_VISIBLE_DEVICES"


def environment(home: str, *, device: str = "cpu") -> dict[str, str]:
    """Nothing of the caller's environment but what an interpreter needs: no tokens, no paths of the course.

    Args:
        home: The interpreter's home folder.
        device: With "cpu" torch sees no GPU, so a submission gets the same grade on every machine.
    """
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TMP", "TEMP", _GPUS) if name in os.environ}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # Looking for a GPU must not start CUDA in the process that forks. Without the last one, how many threads fit under
    # the limit of memory depends on the number of processors.
    fixed = {"PYTHONHASHSEED": "0", "PYTORCH_NVML_BASED_CUDA_CHECK": "1", "MALLOC_ARENA_MAX": "2"}
    if device == "cpu":
        fixed[_GPUS] = ""
    # torch asks for the user's name, which a namespace has no list of. matplotlib finds no screen, nor asks for one.
    user = {"HOME": home, "LOGNAME": "student", "PATH": os.defpath, "LANG": "C.UTF-8", "MPLBACKEND": "Agg"}
    return {**kept, **one_thread, **fixed, **user}


def command(settings: Mapping[str, object]) -> list[str]:
    """The command line of an isolated interpreter; the settings travel to `worker.start` as JSON."""
    program = sys.executable
    if sys.platform == "win32":  # in a virtual environment that is a launcher, which starts another process
        program = getattr(sys, "_base_executable", "") or program
    return [program, "-I", "-S", str(_START_SCRIPT), json.dumps({"path": library_folders(), **settings})]
