"""One path through the course: the home page tells it with times, and each page of it ends with the next one."""

import posixpath
import re

from grader.core import course

DOCS = course.ROOT / "docs"


def linked(text, page):
    """The pages of the site that a text of a page links to, in its order."""
    targets = re.findall(r"\]\(([\w./-]+\.md)[^)]*\)", text)
    return [posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) for target in targets]


def told_at_home():
    table = (DOCS / "index.md").read_text("utf-8").split("## The path", 1)[1].split("\n### ", 1)[0]
    return [page for page in linked(table, "index.md") if page != "simulation.md"]  # the worksheet's instrument


def next_of(page):
    """The first page that a page leads to at its end."""
    last = re.split(r"^(?:## Next\b|Next: )", (DOCS / page).read_text("utf-8"), flags=re.M)[-1]
    return linked(last, page)[0]


def test_every_page_of_the_path_ends_with_the_next_one():
    path = told_at_home()
    assert path[0] == "ten-minutes.md" and path[-1] == "next.md"
    assert {f"exercises/{each.name}.md" for each in course.EXERCISES} <= {*path}
    assert {f"learn/{page.name}" for page in (DOCS / "learn").glob("*.md")} <= {*path}
    assert [next_of(page) for page in path[:-1]] == path[1:]


def test_no_page_of_the_path_has_a_footer_that_leads_elsewhere():
    for page in told_at_home()[:-1]:
        front = (DOCS / page).read_text("utf-8").split("---\n")[1]
        assert re.search(r"^hide: \[.*footer.*\]$", front, re.M), page


def test_a_link_that_names_a_chapter_by_its_number_leads_to_that_chapter():
    found = 0
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).as_posix()
        for link, number in re.findall(r"(\[[Cc]hapter (\d)\b[^\]]*\]\([^)\s]+)", page.read_text("utf-8")):
            target = DOCS / linked(f"{link})", name)[0]
            assert f"\n# {number}. " in target.read_text("utf-8"), f"{name}: {link})"
            found += 1
    assert found > 50
