"""What a release says about itself, and when there is none."""

import importlib.util

import pytest

from grader.core import course

_spec = importlib.util.spec_from_file_location("changelog_section", course.ROOT / ".github" / "changelog_section.py")
assert _spec is not None and _spec.loader is not None
changelog_section = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(changelog_section)

CHANGELOG = """# Changelog

What a student or an instructor would notice.

## Unreleased

- Not yet.

## 1.10.0 (2027-02-01)

### Students
- More.

### Instructors
- Even more.

## 1.1.0

- Something, see ## below.

## 1.0.0
"""


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.10.0", "### Students\n- More.\n\n### Instructors\n- Even more.\n"),
        ("1.1.0", "- Something, see ## below.\n"),
    ],
)
def test_the_notes_are_the_section_of_the_version_without_its_heading(version: str, said: str) -> None:
    assert changelog_section.notes(f"v{version}", version=version, changelog=CHANGELOG) == said


@pytest.mark.parametrize(
    ("tag", "version", "why"),
    [
        ("v1.1.0", "1.10.0", "the tag must be v1.10.0"),
        ("1.1.0", "1.1.0", "the tag must be v1.1.0"),
        ("v1.0.0", "1.0.0", "is empty"),
        ("v1.2.0", "1.2.0", "no section of 1.2.0"),
        ("v1.1", "1.1", "no section of 1.1:"),
    ],
)
def test_there_is_no_release_for_another_version_or_without_a_word_about_it(tag: str, version: str, why: str) -> None:
    with pytest.raises(changelog_section.NoReleaseError, match=why):
        changelog_section.notes(tag, version=version, changelog=CHANGELOG)


def test_the_version_is_that_of_this_checkout() -> None:
    with pytest.raises(changelog_section.NoReleaseError, match="pyproject"):
        changelog_section.main("v999.0")
