"""The pages of the reference as text: one structure, nothing missing."""

import re

from grader.core import course
from grader.workshop.functions import of_exercises, read_modules
from grader.workshop.missing import section

DOCS = course.ROOT / "docs"


def page(name):
    return (DOCS / name).read_text("utf-8")


def test_the_reference_shows_all_given_code_that_exercises_import():
    shown = set(re.findall(r"^::: starter\.(\w+)$", page("reference/given.md"), re.M))
    given = {file.removesuffix(".py") for exercise in course.EXERCISES for file in exercise.given}
    assert given <= shown
    commands = {
        path.stem for path in course.STARTER.glob("*.py") if 'if __name__ == "__main__":' in path.read_text("utf-8")
    } & of_exercises(course.names(), read_modules(course.MODEL_ANSWERS))
    assert commands and all(f"| `{command}` |" in page("reference/given.md") for command in commands)


def test_a_term_of_the_glossary_is_short_and_says_where_it_is_taught():
    terms = re.split(r"^### ", page("reference/glossary.md"), flags=re.M)[1:]
    assert len(terms) >= 40
    for term in terms:
        title, body = re.sub(r"^## .*", "", term, flags=re.M | re.S).split("\n", 1)
        assert re.search(r"\]\((\.\./(exercises|learn)/\w+|conventions)\.md", body), (
            f"{title}: no link to where it is taught"
        )
        sentences = re.findall(r"[.?](?=\s|$)", re.sub(r"\]\([^)]*\)|Dr\. ", "", body))
        assert len(sentences) <= 4, f"{title}: {len(sentences)} sentences"


def test_no_letter_of_the_notation_stands_for_two_things():
    rows = re.findall(r"^\| ([^|]*\$[^|]*) \|", section(page("reference/conventions.md"), "Notation"), re.M)
    symbols = [symbol for row in rows for symbol in re.findall(r"\$([^$]+)\$", row)]
    assert len(symbols) >= 18
    assert len(set(symbols)) == len(symbols)
