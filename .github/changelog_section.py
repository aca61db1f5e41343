"""The notes of a release: `python .github/changelog_section.py v1.2.3` prints the section of CHANGELOG.md for a tag.

It fails if the tag is not the version of pyproject.toml, or if the changelog says nothing about that version.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class NoReleaseError(Exception):
    """Why there can be no release."""


def notes(tag: str, *, version: str, changelog: str) -> str:
    """What the changelog says about a version, without its heading: `## 1.2.3` or `## 1.2.3 (2027-01-31)`."""
    if tag != f"v{version}":
        raise NoReleaseError(f"the tag is {tag} and pyproject.toml says {version}: the tag must be v{version}")
    for section in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        if re.fullmatch(rf"{re.escape(version)}( \(.*\))?", heading.strip()):
            if not body.strip():
                raise NoReleaseError(f"the section of {version} in CHANGELOG.md is empty")
            return body.strip() + "\n"
    raise NoReleaseError(f"CHANGELOG.md has no section of {version}: rename the heading `Unreleased` to {version}")


def main(tag: str) -> str:
    """The notes of a tag in this checkout."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return notes(tag, version=project["version"], changelog=(ROOT / "CHANGELOG.md").read_text("utf-8"))


if __name__ == "__main__":
    try:
        print(main(sys.argv[1]), end="")
    except NoReleaseError as error:
        sys.exit(f"No release: {error}")
