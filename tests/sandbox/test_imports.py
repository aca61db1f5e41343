"""The grading process holds neither torch nor Jinja2 nor the submission: tried in its own interpreter."""

import shutil
from pathlib import Path

from probing import run_script

from grader.core import course

TEXT = ("/known_mistakes/", "/fair_variants/")
WORKER = "grader.sandbox.worker"
WITH_TORCH = (f"{WORKER}.serve", f"{WORKER}.forkserver", f"{WORKER}.start", "grader.oracles.in_torch")
IMPORT_ALL_AND_GRADE = """
import contextlib, importlib, io, json, sys
modules, folder = sys.argv[1].split(), sys.argv[2]
for name in modules:
    importlib.import_module(name)
from grader.commands import grade
printed = io.StringIO()
with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
    code = grade.main(["advantages", "--path", folder, "--examples", "2"])
names = {name.split(".")[0] for name in sys.modules}
print(json.dumps({"code": code, "names": sorted(names), "printed": printed.getvalue()}))
"""


def test_importing_every_module_and_grading_loads_neither_torch_nor_jinja2_nor_the_submission(tmp_path: Path) -> None:
    modules = []
    for file in sorted((course.ROOT / "grader").rglob("*.py")):
        name = file.relative_to(course.ROOT).as_posix()
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if not any(part in name for part in TEXT) and module not in WITH_TORCH:
            modules.append(module)
    assert {"grader.commands.grade", "grader.exercises.kl.checks", "grader.sandbox.worker.wire"} <= {*modules}
    shutil.copy(course.MODEL_ANSWERS / "advantages.py", tmp_path)
    found = run_script(IMPORT_ALL_AND_GRADE, " ".join(modules), tmp_path)
    assert found["code"] == 0 and "25 of 25" in found["printed"]
    assert {"grader", "numpy", "hypothesis"} <= {*found["names"]}
    unwanted = {"torch", "jinja2", "markupsafe", "advantages", "reference", "starter", "submission", "tests"}
    assert not unwanted & {*found["names"]}
