"""The Dockerfile and the development container: what is in an image, and who gets it."""

import fnmatch
import json
import re
import tomllib

import yaml

from grader.core import course

DOCKERFILE = (course.ROOT / "Dockerfile").read_text("utf-8")
STEPS = [line for line in DOCKERFILE.replace("\\\n", " ").split("\n") if line and not line.startswith("#")]
IGNORED = (course.ROOT / ".dockerignore").read_text("utf-8").split("\n")
ALLOWED = [line.removeprefix("!") for line in IGNORED if line.startswith("!")]


def test_an_image_holds_what_grading_needs_and_nothing_else() -> None:
    rules = [line for line in IGNORED if line and not line.startswith("#")]
    assert rules[0] == "*", "what is not named stays outside"
    assert {*ALLOWED} == {
        "LICENSE",
        "README.md",
        "constraints.txt",
        "course.toml",
        "pyproject.toml",
        "grader",
        "reference",
    }
    assert all((course.ROOT / name).exists() for name in ALLOWED)
    project = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))
    needed = {project["project"]["readme"], *project["project"]["license-files"]}
    assert needed <= {*ALLOWED}, "the course is not installed without them"


def test_every_source_of_a_copy_is_there_and_gets_past_the_dockerignore() -> None:
    copies = [line.split()[1:-1] for line in STEPS if line.startswith("COPY ")]
    assert copies[-1] == ["."]
    for source in (source for sources in copies[:-1] for source in sources):
        assert (course.ROOT / source).is_file(), source
        assert any(source == name or fnmatch.fnmatch(source, f"{name}/*") for name in ALLOWED), source


def test_the_image_and_the_development_container_have_the_python_that_every_change_is_tested_with() -> None:
    workflow = yaml.safe_load((course.ROOT / ".github" / "workflows" / "course.yml").read_text("utf-8"))
    (tested,) = (
        step["with"]["python-version"]
        for step in workflow["jobs"]["test"]["steps"]
        if "python-version" in step.get("with", {})
    )
    assert STEPS[0].startswith(f"FROM python:{tested}-")
    development = json.loads((course.ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert re.search(rf"/python:{re.escape(tested)}-", development["image"])


def test_an_image_grades_as_an_ordinary_user() -> None:
    kinds = [line.split()[0] for line in STEPS]
    assert "USER" in kinds and "RUN" not in kinds[kinds.index("USER") :]
    assert STEPS[kinds.index("USER")] != "USER root"
    assert STEPS[-1] == 'ENTRYPOINT ["grade", "--path", "/submission"]'


def test_the_development_container_installs_what_ci_installs() -> None:
    development = json.loads((course.ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    ours = re.findall(r"install ([a-z0-9 -]+)$", (course.ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)
    packages = {name for line in ours for name in line.split()}
    assert {"bubblewrap", "chromium", "nodejs"} <= packages
    assert packages <= {*development["onCreateCommand"].split()}
    makefile = (course.ROOT / "Makefile").read_text("utf-8")
    command, *targets = development["postCreateCommand"].split()
    assert command == "make" and targets
    for target in targets:
        pattern = target.replace(".venv", "$(VENV)").replace("browser", "%")
        assert f"\n{pattern}:" in makefile, target
