"""The grading process holds no torch, and no Jinja2 before it writes a page: tried in an interpreter of its own.

`pure/test_layers.py` reads the source.
"""

import json
import subprocess
import sys

from grader.core import course

TEXT = ("/misconceptions/", "/variants/")
WITH_TORCH = ("grader.sandbox.worker.serve", "grader.sandbox.worker.forkserver", "grader.sandbox.worker.start")


def test_every_module_of_the_grading_process_imports_without_torch_and_jinja2() -> None:
    modules = []
    for file in sorted((course.ROOT / "grader").rglob("*.py")):
        name = file.relative_to(course.ROOT).as_posix()
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if not any(part in name for part in TEXT) and module not in WITH_TORCH:
            modules.append(module)
    assert {
        "grader.commands.grade",
        "grader.grading.run",
        "grader.grading.debug",
        "grader.exercises.kl.checks",
        "grader.sandbox.worker.wire",
    } <= set(modules)
    script = (
        "import importlib, json, sys\n"
        "for name in json.loads(sys.argv[1]): importlib.import_module(name)\n"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    command = [sys.executable, "-c", script, json.dumps(modules)]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=course.ROOT, timeout=300)
    assert completed.returncode == 0, completed.stderr
    loaded = set(json.loads(completed.stdout))
    assert {"grader", "numpy", "hypothesis"} <= loaded
    assert not {"torch", "jinja2", "markupsafe", "reference", "starter", "submission", "tests"} & loaded
