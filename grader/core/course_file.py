"""`course.toml`: what this course is, as its instructor says it, read once or refused in a sentence with its line.

Left out on purpose: whether an exercise of that name is there, which `course` looks at, and whether a file that is
named here is there, which is said by the command that needs it: a handout names none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

from .toml_file import POINTS, TABLE, TEXT, TEXTS, TRUTH, read_toml, refuse_wrong_entries, wrong_entry


@dataclass(frozen=True)
class CourseFile:
    """The entries of `course.toml`; empty where it does not say.

    Attributes:
        title: What the course is called.
        exercises: Names of its exercises, in order.
        optional: Names of exercises that students see and get, but that are in no total.
        points: Exercise to what it is worth in all; without an entry, what its checks declare.
        error_carried_forward: Whether points count that are lost to a mistake in an earlier function only.
        hidden_checks: Whether gradings with the model answers run the hidden checks.
        worksheet: Whether `grade-all` and the autograder grade the worksheet too, unless they are told otherwise.
        institution: Whose course it is.
        contact: Whom students ask: an address, or words with one.
        logo: Picture in the header of the site, a path from the root of the course.
        site: Where the pages are published, with a slash at the end.
        deadline: When to hand in, in the words that students read.
        late_policy: File of `course gradebook --late`, a path from the root of the course.
        policies: Heading to text of what else students must know: late work, working together, AI assistants.
    """

    title: str
    exercises: tuple[str, ...]
    optional: tuple[str, ...] = ()
    error_carried_forward: bool = True
    hidden_checks: bool = True
    worksheet: bool = False
    institution: str = ""
    contact: str = ""
    logo: str = ""
    site: str = ""
    deadline: str = ""
    late_policy: str = ""
    points: Mapping[str, int] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """The file that says this, without what it says by saying nothing."""
        lines, tables = [], []
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Mapping):
                tables += [f"\n[{each.name}]", *map(_line, value, value.values())] if value else []
            elif value != each.default:
                lines.append(_line(each.name, value))
        return "\n".join([*lines, *tables, ""])


def read_course_file(path: Path) -> CourseFile:
    """Read `course.toml`, without asking whether there are such exercises.

    Raises:
        TomlFileError: an entry is unknown, missing or wrong, or the file is no TOML.
        OSError: it cannot be read.
    """
    kinds = {"title": TEXT, "exercises": TEXTS, "optional": TEXTS, "points": TABLE, "policies": TABLE}
    kinds |= dict.fromkeys(("error_carried_forward", "hidden_checks", "worksheet"), TRUTH)
    kinds |= dict.fromkeys(("institution", "contact", "logo", "site", "deadline", "late_policy"), TEXT)
    entries = read_toml(path, kinds, optional=dict.fromkeys(kinds.keys() - {"title", "exercises"}))
    given = {name: value for name, value in entries.items() if value is not None}
    points = given.get("points", {})
    refuse_wrong_entries(path, points, dict.fromkeys(points, POINTS), table="points")
    policies = given.get("policies", {})
    refuse_wrong_entries(path, policies, dict.fromkeys(policies, TEXT), table="policies")
    for name, (is_right, what) in _FORMS.items():
        if name in given and not is_right(given[name]):
            raise wrong_entry(path, name, f"{name} must be {what}, not {given[name]!r}")
    texts = {name: " ".join(value.split()) for name, value in given.items() if kinds[name] == TEXT}
    if "site" in texts:
        texts["site"] = texts["site"].rstrip("/") + "/"
    given |= {name: tuple(given[name]) for name in ("exercises", "optional") if name in given}
    return CourseFile(**given | texts)


def is_address(text: str) -> bool:
    """Whether a text is the address of a site."""
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not any(each in text for each in "\"'<>$ \n")


def _is_picture(text: str) -> bool:
    return text.startswith("docs/") and text.endswith((".svg", ".png")) and ".." not in text


_FORMS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "site": (is_address, "an address such as https://example.org/grpo/"),
    "logo": (_is_picture, "a picture in docs/ whose name ends in .svg or .png"),
}


def _line(key: str, value: object) -> str:
    """An entry. A string of JSON is one of TOML, and so are a list of them, a number, true and false."""
    name = key if key.isascii() and key.replace("_", "").isalnum() else json.dumps(key)
    return f"{name} = {json.dumps(value)}"
