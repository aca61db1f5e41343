"""Files that GitHub and the release workflow read."""

from __future__ import annotations

import importlib.util

import jsonschema
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema

from grader.core import course

GITHUB = course.ROOT / ".github"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
SCHEMAS = {
    **dict.fromkeys(FORMS, "vendor.github-issue-forms"),
    GITHUB / "ISSUE_TEMPLATE" / "config.yml": "vendor.github-issue-config",
    GITHUB / "dependabot.yml": "vendor.dependabot",
    course.ROOT / "CITATION.cff": "vendor.citation-file-format",
}
_spec = importlib.util.spec_from_file_location("changelog_section", GITHUB / "changelog_section.py")
assert _spec and _spec.loader
changelog_section = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(changelog_section)

CHANGELOG = """# Changelog

## Unreleased

- Not yet.

## 1.10.0 (2027-02-01)

### Students
- More.

## 1.1.0

- Something, see ## below.

## 1.0.0
"""


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_github_can_read_its_files(path):
    schema = get_builtin_schema(SCHEMAS[path])
    document = yaml.safe_load(path.read_text("utf-8"))
    jsonschema.validators.validator_for(schema)(schema).validate(document)
    if path in FORMS:  # the schema cannot say that ids, labels and options must differ
        questions = [each for each in document["body"] if each["type"] != "markdown"]
        options = [[str(each) for each in question["attributes"].get("options", ())] for question in questions]
        labels = [question["attributes"]["label"] for question in questions]
        for names in ([question["id"] for question in questions], labels, *options):
            assert len(names) == len({*names})


def test_a_wrong_verdict_can_be_reported_for_every_function():
    form = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / "wrong-verdict.yml").read_text("utf-8"))
    (question,) = (each for each in form["body"] if each.get("id") == "function")
    names = [option for option in question["attributes"]["options"] if "." in option]
    assert names == [f"{exercise.name}.{name}" for exercise in course.HANDED_OUT for name in exercise.function_names]


@pytest.mark.parametrize(
    ("version", "notes"), [("1.10.0", "### Students\n- More.\n"), ("1.1.0", "- Something, see ## below.\n")]
)
def test_release_notes_are_the_changelog_section_of_the_version(version, notes):
    assert changelog_section.notes(f"v{version}", version=version, changelog=CHANGELOG) == notes


@pytest.mark.parametrize(
    ("tag", "version"),
    [("v1.1.0", "1.10.0"), ("1.1.0", "1.1.0"), ("v1.0.0", "1.0.0"), ("v1.2.0", "1.2.0"), ("v1.1", "1.1")],
    ids=["other version", "no v", "empty section", "no section", "part of a version"],
)
def test_no_release_of_another_version_or_without_notes(tag, version):
    with pytest.raises(changelog_section.NoReleaseError, match=version):
        changelog_section.notes(tag, version=version, changelog=CHANGELOG)
