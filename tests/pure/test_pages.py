"""The pages of the exercises and of the reference as text: one structure, a hint for each function, nothing missing."""

import re

import pytest

from grader.core import course

DOCS = course.ROOT / "docs"
SECTIONS = ["What it takes", "The idea", "The formula", "By hand", "Your turn", "Hints", "Afterwards", "Sources"]
EXERCISES = [exercise.name for exercise in course.EXERCISES]
FUNCTIONS = [(exercise.name, function) for exercise in course.EXERCISES for function in exercise.function_names]


def page(name):
    return (DOCS / name).read_text("utf-8")


def section(text, title):
    """The lines below a heading of the second level, without code."""
    return re.split(r"^## ", re.sub(r"```.*?```", "", text, flags=re.S).split(f"## {title}\n", 1)[1], flags=re.M)[0]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_pages_of_the_exercises_have_one_structure(name):
    text = re.sub(r"```.*?```", "", page(f"exercises/{name}.md"), flags=re.S)
    assert re.findall(r"^## (.*)$", text, re.M) == SECTIONS
    takes = section(text, "What it takes")
    assert f"about {course.exercise(name).minutes} minutes" in takes
    assert f"`starter/{course.exercise(name).file_name}`" in takes
    for label in ("You need to know", "Exercises before this one", "Afterwards you will be able to"):
        assert label in takes


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_every_function_has_three_or_four_hints_without_code(name, function):
    hints = section(page(f"exercises/{name}.md"), "Hints")
    own = re.split(r"^### ", hints.split(f"### `{function}`\n", 1)[1], flags=re.M)[0]
    titles = re.findall(r'^\?\?\? tip "(\d)\. [^"]+"$', own, re.M)
    assert titles in (["1", "2", "3"], ["1", "2", "3", "4"])
    assert not re.search(r"torch\.\w+\(|```", own), "hints hold no code"


@pytest.mark.parametrize("name", EXERCISES)
def test_every_symbol_of_a_formula_is_in_the_table_of_symbols(name):
    """Letters with a meaning: Greek ones, and single Latin ones, outside the names of functions."""
    text = page(f"exercises/{name}.md")
    formulas = "\n".join(re.findall(r"^\$\$$(.*?)^\$\$$", section(text, "The formula"), re.M | re.S))
    table = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    named = re.sub(r"\\(text|operatorname|mathrm|begin|end)\{[^}]*\}", " ", formulas)
    greek = set(re.findall(r"\\(pi|rho|theta|varepsilon|beta|eta|delta)\b", named))
    latin = set(re.findall(r"(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])", named)) - set("eist")  # e, and running indices
    missing = {name for name in greek if not re.search(rf"\\{name}\b", table)}
    missing |= {name for name in latin if not re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z])", table)}
    assert not missing, f"exercises/{name}.md: no row explains {sorted(missing)}"


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_the_reference_shows_every_function_of_the_exercises(name, function):
    assert f"\n::: starter.{name}.{function}\n" in page("reference/api.md")


def test_the_reference_shows_all_given_code_that_exercises_import():
    shown = set(re.findall(r"^::: starter\.(\w+)$", page("reference/given.md"), re.M))
    given = {file.removesuffix(".py") for exercise in course.EXERCISES for file in exercise.given}
    assert given <= shown
    commands = {path.stem for path in course.STARTER.glob("*.py") if "argparse" in path.read_text("utf-8")}
    assert commands and all(f"| `{command}` |" in page("reference/given.md") for command in commands)


def test_a_term_of_the_glossary_is_short_and_says_where_it_is_taught():
    terms = re.split(r"^### ", page("reference/glossary.md"), flags=re.M)[1:]
    assert len(terms) >= 40
    for term in terms:
        title, body = re.sub(r"^## .*", "", term, flags=re.M | re.S).split("\n", 1)
        assert re.search(r"\]\((\.\./exercises/\w+|conventions)\.md", body), f"{title}: no link to where it is taught"
        sentences = re.findall(r"[.?](?=\s|$)", re.sub(r"\]\([^)]*\)|Dr\. ", "", body))
        assert len(sentences) <= 4, f"{title}: {len(sentences)} sentences"


def test_no_letter_of_the_notation_stands_for_two_things():
    rows = re.findall(r"^\| ([^|]*\$[^|]*) \|", section(page("reference/conventions.md"), "Notation"), re.M)
    symbols = [symbol for row in rows for symbol in re.findall(r"\$([^$]+)\$", row)]
    assert len(symbols) >= 18
    assert len(set(symbols)) == len(symbols)
