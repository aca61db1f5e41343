"""The page of sources has every paper that the pages name, once, and says what was read of it; no other page does."""

import re

import pytest

from grader.core import course

DOCS = course.ROOT / "docs"
SOURCES = DOCS / "reference/sources.md"
PAPER = re.compile(
    r"\]\((https?://(?:arxiv\.org/abs|doi\.org|openreview\.net|joschu\.net|fengyao\.notion\.site)[^)\s]*)\)"
)
UNCHECKED = "not checked in the primary source"
PAGES = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.md")
    if path != SOURCES and path.relative_to(DOCS).parts[0] not in ("instructors", "mistakes")
)


def rows():
    """Of each paper its name, its address and what was read."""
    row = re.compile(rf"^\| \[([^\]]+){PAPER.pattern} \| (.+) \|$", re.M)
    return row.findall(SOURCES.read_text("utf-8"))


def test_each_paper_has_one_row_that_says_what_was_read():
    addresses = [address for _, address, _ in rows()]
    assert len(addresses) == len(set(addresses)) > 50
    assert all(name and read for name, _, read in rows())
    years = [re.findall(r"\b(?:19|20)\d\d\b", name)[0] for name, _, _ in rows()]
    assert years == sorted(years)
    assert sum(UNCHECKED in read for *_, read in rows()) > 5, "the marks are here"


def test_the_papers_of_the_page_are_those_of_all_other_pages():
    named = {address for page in PAGES for address in PAPER.findall((DOCS / page).read_text("utf-8"))}
    assert named == {address for _, address, _ in rows()}


@pytest.mark.parametrize("page", PAGES)
def test_no_other_page_says_what_was_not_checked(page):
    assert UNCHECKED not in (DOCS / page).read_text("utf-8")
