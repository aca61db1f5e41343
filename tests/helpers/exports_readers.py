"""Reads every export as its consumer does, with nothing of our reports: what passed, and for how many points.

A reader fails where the consumer would: each validates with the schema, and opens the text with the real program if
there is one that needs no files.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import junitparser
import lxml.etree
import lxml.html
import markdown_it

SCHEMAS = Path(__file__).with_name("schemas")
CLASSROOM: dict[str, Any] = {
    "CLASSROOM": "ml-2026", "ASSIGNMENT": "grpo", "ASSIGNMENT_TYPE": "individual", "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d", "COMMIT_URL": "https://example.com/commit/a1b2c3d",
    "RELEASE_URL": "https://example.com/release", "REVIEW_URL": "https://example.com/compare",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One check as the format shows it."""

    identity: str
    earned: Fraction
    points: Fraction


@dataclass(frozen=True)
class Read:
    """What a consumer knows.

    Attributes:
        earned: The total, read from where the format says it, not added up here.
        lines: Every check, in the order of the format.
        texts: Everything that a person sees.
    """

    earned: Fraction
    lines: list[Line]
    texts: list[str]


@cache
def _schema(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text("utf-8")))


def _document(name: str, text: str) -> Any:
    document = json.loads(text)
    _schema(name).validate(document)
    return document


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return [value] if isinstance(value, str) else []


def _line(identity: str, earned: Any, points: Any) -> Line:
    return Line(identity, Fraction(earned), Fraction(points))


def gradescope(text: str) -> Read:
    document = _document("gradescope", text)
    lines = [_line(test["extra_data"]["id"], test["score"], test["max_score"]) for test in document["tests"]]
    for test in document["tests"]:  # a check that fails because of another function may keep its points
        assert test["status"] == "passed" or test["score"] == 0 or "It fails only because" in test["output"]
    return Read(Fraction(document["score"]), lines, _strings(document))


def classroom50(text: str) -> Read:
    document = _document("classroom50", text)
    assert document["score"] <= document["max-score"]
    for test in document["tests"]:
        assert test["score"] <= test["max-score"]
        assert type(test["score"]) is int and type(test["max-score"]) is int
    lines = [_line(test["id"], test["score"], test["max-score"]) for test in document["tests"]]
    return Read(Fraction(document["score"]), lines, _strings(document))


@cache
def _junit_schema() -> lxml.etree.XMLSchema:
    return lxml.etree.XMLSchema(lxml.etree.parse(SCHEMAS / "junit.xsd"))


def junit(text: str) -> Read:
    tree = lxml.etree.fromstring(text.encode())
    _junit_schema().assertValid(tree)
    suites = junitparser.JUnitXml.fromstring(text.encode())
    earned, lines, cases = Fraction(0), [], 0
    for suite in suites:
        about = {each.name: each.value for each in suite.properties()}
        earned += Fraction(about["earned"])
        members = list(suite)
        cases += len(members)
        for case in members:
            points = Fraction(about[f"points.{case.classname}"])
            lines.append(Line(case.classname, points if case.is_passed else Fraction(0), points))
        bad = [type(reason).__name__ for case in members for reason in case.result]
        assert (bad.count("Failure"), bad.count("Error")) == (suite.failures, suite.errors)
        assert (bad.count("Skipped"), len(members)) == (suite.skipped, suite.tests)
    assert (suites.tests, suites.failures) == (cases, sum(suite.failures for suite in suites))
    values = [value for element in tree.iter() for value in element.attrib.values()]
    return Read(earned, lines, [*values, *(element.text or "" for element in tree.iter())])


def commands(log: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands that GitHub's runner finds in a log: both syntaxes, and nothing between stop-commands.

    The rules are those of `ActionCommand.cs` in actions/runner: "::name key=value::data" at the beginning of a line, or
    "##[name key=value]data" anywhere in it.
    """
    found, token = [], None
    for line in re.split(r"\r\n|\r|\n", log):
        if token:
            token = None if line.strip() == f"::{token}::" else token
            continue
        new, old = (
            re.match(r"\s*::([a-z-]+)(?: (.*?))?::(.*)", line),
            re.search(r"##\[([a-z-]+)(?: (.*?))?\](.*)", line),
        )
        match, separator = (new, ",") if new else (old, ";")
        if not match:
            continue
        name, given, data = match[1], match[2] or "", match[3]
        if name == "stop-commands":
            token = data
            continue
        properties = dict(each.split("=", 1) for each in given.split(separator) if "=" in each)
        found.append((name, {key: _unescaped(value) for key, value in properties.items()}, _unescaped(data)))
    return found


def _unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def github_annotations(text: str) -> Read:
    found = commands(text)
    names = [name for name, _, _ in found]
    assert set(names) <= {"error", "warning", "notice"} and all(names.count(name) <= 10 for name in set(names))
    for name, properties, _ in found:
        assert set(properties) <= {"title", "file", "line"}
        assert name == "error" or "file" not in properties
        assert re.fullmatch(r"starter/\w+\.(py|json|toml)", properties.get("file", "starter/kl.py"), re.ASCII)
    stopped, *rest = text.removesuffix("\n").split("\n")
    token = stopped.removeprefix("::stop-commands::")
    assert re.fullmatch(r"[0-9a-f]{32}", token)
    log = rest[: rest.index(f"::{token}::")]
    assert text.count(token) == 2
    lines = []
    for line in log:
        match = re.match(r"([a-z ]+) (\d+)/(\d+) \d+\.\d+ (\S+) ", line)
        assert match, line
        lines.append(_line(match[4], match[2], match[3]))
    (total,) = (data for name, _, data in found if name == "notice")
    earned = re.match(r"total: (\d+) of \d+ points", total)
    assert earned
    return Read(Fraction(earned[1]), lines, [*log, *(data for *_, data in found), *(p["title"] for _, p, _ in found)])


def github_summary(text: str) -> Read:
    assert len(text.encode()) < 1024 * 1024
    html = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    page = lxml.html.fragment_fromstring(html, create_parent=True)
    tags = {"h2", "h3", "h4", "p", "strong", "table", "thead", "tbody", "tr", "td", "th", "code", "pre"}
    assert {each.tag for each in page.iterdescendants()} <= tags
    assert not [each for each in page.iter() if each.attrib]
    cells = [[cell.text_content() for cell in row.iter("td", "th")] for row in page.iter("tr")]
    rows, texts = [row for row in cells if row[0] != "Check"], [*page.itertext()]
    lines = [_line(row[0].split(" ")[1], *(row[3] or "0/0").split("/")) for row in rows]
    total = re.match(r"GRPO course: (\d+) of (\d+) points", texts[0])
    assert total
    return Read(Fraction(total[1]), lines, texts)


READERS: Mapping[str, Callable[[str], Read]] = {
    "gradescope": gradescope, "classroom50": classroom50, "github-annotations": github_annotations,
    "github-summary": github_summary, "junit": junit,
}  # fmt: skip
