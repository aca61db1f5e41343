"""The files for strangers: what they name exists, GitHub can read them, and one fact reads the same everywhere."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema

from grader.commands.course import DEV_COMMANDS
from grader.core import course
from tests import tiers

ROOT = course.ROOT
GITHUB = ROOT / ".github"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
PAGES = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")]
TEXTS = [*PAGES, GITHUB / "pull_request_template.md", *FORMS, ROOT / "CITATION.cff"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SCHEMAS = {
    **dict.fromkeys(FORMS, "vendor.github-issue-forms"),
    GITHUB / "ISSUE_TEMPLATE" / "config.yml": "vendor.github-issue-config",
    GITHUB / "dependabot.yml": "vendor.dependabot",
    ROOT / "CITATION.cff": "vendor.citation-file-format",
}
MANIFESTS = {"pip": "pyproject.toml", "npm": "package-lock.json", "github-actions": ".github/workflows"}
PLACEHOLDER = re.compile("EXERCISE|FUNCTION|NAME")


class Loader(yaml.SafeLoader):
    """Reads the tags of MkDocs as nothing."""


Loader.add_multi_constructor("", lambda loader, suffix, node: None)


def read(path: Path) -> dict:
    return yaml.load(path.read_text("utf-8"), Loader)


def name_of(path: Path) -> str:
    return path.name


def code_in(text: str) -> list[str]:
    """The lines of blocks of code for a shell, without comments, and what stands between backquotes."""
    blocks = re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.M | re.S)
    lines = [
        line.split("#")[0].strip() for language, block in blocks if language == "bash" for line in block.split("\n")
    ]
    return [line for line in lines if line] + re.findall(
        r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    )


def commands(program: str) -> Iterator[list[str]]:
    """The arguments of a program, wherever a text for strangers calls it."""
    for path in TEXTS:
        for line in code_in(path.read_text("utf-8")):
            if line.split()[0] == program:
                yield shlex.split(line)[1:]


def test_a_command_is_found_in_a_block_and_in_a_sentence():
    text = "Run `make check`.\n\n```bash\ncourse dev stubs  # writes\n```\n\n```python\nmake = 1\n```\n"
    assert code_in(text) == ["course dev stubs", "make check"]


def test_every_make_target_that_is_named_exists_and_none_is_there_twice():
    written = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    targets = set(written)
    assert len(written) == len(targets)
    named = {arguments[0] for arguments in commands("make")}
    assert {"check", "test", "proof", "mutants"} <= named
    assert named <= targets


def test_every_course_command_that_is_named_can_be_given_like_that():
    given = list(commands("course"))
    assert {"vectors", "mistakes", "selftest", "stubs", "attacks"} <= {
        rest[0] for name, *rest in given if name == "dev"
    }
    for name, *rest in given:
        if name == "dev":
            assert rest[0] in DEV_COMMANDS
            name, *rest = rest
        parser = argparse.ArgumentParser(prog=f"course {name}", exit_on_error=False)
        importlib.import_module(f"grader.commands.{name.replace('-', '_')}").add_arguments(parser)
        if not any(action.required for action in parser._actions) or rest:  # a bare name is a name
            parser.parse_args([PLACEHOLDER.sub("kl", word) for word in rest])


def test_every_path_that_is_named_exists():
    named = set()
    for path in TEXTS:
        for line in code_in(path.read_text("utf-8")):
            named |= {
                word
                for word in line.split()
                if re.fullmatch(r"\.?[A-Za-z][\w.*-]*(/[\w.*-]*)+|[\w-]+\.(md|yml|toml)", word)
            }
    named -= {".venv/bin/activate"}  # there after the installation
    assert len(named) > 20
    for word in named:
        assert [*ROOT.glob(PLACEHOLDER.sub("*", word.rstrip("/")))], f"{word} does not exist"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file_and_to_a_heading_in_it(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    own = [link for link in links if not link.startswith("https://")]
    assert own
    for link in own:
        file, _, heading = link.partition("#")
        target = (page.parent / file) if file else page
        assert target.exists(), link
        assert not heading or heading in headings(target), link


def headings(path: Path) -> list[str]:
    """The ids that GitHub and MkDocs give to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S), re.M)
    return [re.sub(r"[^\w\s-]", "", title.lower()).strip().replace(" ", "-") for title in titles]


def test_contributing_opens_with_a_link_to_each_of_its_ways_in():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    opening = text[text.index("**I want to ...**") : text.index("\n## ")]
    sections = headings(ROOT / "CONTRIBUTING.md")
    ways = sections[sections.index("set-up") + 1 : sections.index("the-three-tiers-of-tests")]
    assert len(ways) == 8
    assert re.findall(r"^- \[.+?\]\(#(.+?)\)", opening, re.M) == ways


def test_the_budgets_that_contributing_states_are_those_of_the_tiers():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    stated = re.findall(r"^\| `make (\w+)` \|.*\| ([\d,]+) \|$", text, re.M)
    assert {name: int(number.replace(",", "")) for name, number in stated} == tiers.BUDGET


def test_contributing_names_every_folder_of_tests():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = text[text.index("| Folder of `tests/` |") : text.index("| Marker |")]
    named = set(re.findall(r"^\| `(\w+)` \|", table, re.M))
    with_tests = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert with_tests <= named
    assert all((ROOT / "tests" / name).is_dir() for name in named)


@pytest.mark.parametrize("path", SCHEMAS, ids=name_of)
def test_what_other_programs_read_obeys_their_schema(path):
    schema = get_builtin_schema(SCHEMAS[path])
    jsonschema.validators.validator_for(schema)(schema).validate(read(path))


@pytest.mark.parametrize("change", ["label", "type", "name"])
def test_a_form_that_github_would_refuse_does_not(change):
    form = read(FORMS[0])
    if change == "label":
        del form["body"][-1]["attributes"]["label"]
    elif change == "type":
        form["body"][-1]["type"] = "text"
    else:
        del form["name"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(form, get_builtin_schema("vendor.github-issue-forms"))


@pytest.mark.parametrize("path", FORMS, ids=name_of)
def test_the_ids_labels_and_options_of_a_form_are_different_as_github_demands(path):
    questions = [element for element in read(path)["body"] if element["type"] != "markdown"]
    assert questions
    for key in ([each["id"] for each in questions], [each["attributes"]["label"] for each in questions]):
        assert len(key) == len(set(key))
    for each in questions:
        options = [str(option) for option in each["attributes"].get("options", ())]
        assert len(options) == len(set(options))
    assert len({read(form)["name"] for form in FORMS}) == len(FORMS)


def test_a_wrong_verdict_is_reported_for_any_function_of_the_course():
    (function,) = (
        each for each in read(GITHUB / "ISSUE_TEMPLATE" / "wrong-verdict.yml")["body"] if each.get("id") == "function"
    )
    named = [option for option in function["attributes"]["options"] if "." in option]
    assert named == [f"{exercise.name}.{name}" for exercise in course.EXERCISES for name in exercise.function_names]


def test_what_a_form_shows_as_the_first_line_of_a_report_is_one():
    examples = [
        each["attributes"]["placeholder"]
        for form in FORMS
        for each in read(form)["body"]
        if each.get("id") == "first-line"
    ]
    assert len(examples) == 2
    for example in examples:
        assert example.startswith(f"GRPO course {PROJECT['version']} | submission ")
        assert re.search(r" \| seed \d+ \| isolation level \d$", example)


def test_the_citation_says_what_the_project_says():
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"][0]["name"].lower() in (ROOT / "LICENSE").read_text("utf-8").lower()
    (paper,) = citation["references"]
    assert paper["doi"].removeprefix("10.48550/").replace(".", ":", 1) in (
        course.MODEL_ANSWERS / "advantages.py"
    ).read_text("utf-8")


def test_the_address_of_the_repository_stands_everywhere_or_nowhere():
    """Nobody's address is invented: whoever publishes the course fills in all three places."""
    addresses = {
        PROJECT.get("urls", {}).get("Repository"),
        read(ROOT / "CITATION.cff").get("repository-code"),
        read(ROOT / "mkdocs.yml").get("repo_url"),
    }
    assert len(addresses) == 1


def test_the_pythons_of_the_classifiers_are_those_that_ci_tries():
    named = {each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", each)}
    matrix = read(GITHUB / "workflows" / "course.yml")["jobs"]["students"]["strategy"]["matrix"]
    assert named == set(matrix["python"])


def test_dependabot_watches_every_place_that_names_versions_with_one_request_a_week():
    updates = read(GITHUB / "dependabot.yml")["updates"]
    watched = {
        (each["package-ecosystem"], folder)
        for each in updates
        for folder in each.get("directories", [each.get("directory")])
    }
    for ecosystem, folder in watched:
        assert (ROOT / folder.lstrip("/") / MANIFESTS[ecosystem]).exists(), folder
    locked = {f"/tests/{path.parent.name}" for path in (ROOT / "tests").glob("*/package-lock.json")}
    assert {folder for ecosystem, folder in watched if ecosystem == "npm"} == locked
    for each in updates:
        assert each["schedule"]["interval"] == "weekly"
        assert each["cooldown"]["default-days"] >= 7
        assert [group["patterns"] for group in each["groups"].values()] == [["*"]]


def test_the_hooks_run_the_ruff_that_make_check_runs_and_nothing_else():
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    (folder,) = re.findall(r"^VENV \?= (\S+)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    checked = [step.command[1] for step in tiers.steps("check") if Path(step.command[0]).name == "ruff"]
    assert repository["repo"] == "local"
    assert [hook["entry"].split()[:2] for hook in repository["hooks"]] == [
        [f"{folder}/bin/ruff", name] for name in checked
    ]
    assert all(hook["language"] == "system" and "python" in hook["types_or"] for hook in repository["hooks"])
