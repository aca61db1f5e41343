"""The page that explains GRPO in ten minutes: figures of the chapters, all alive, and nothing written twice."""

import re

from grader.core import course

TEXT = (course.ROOT / "docs/ten-minutes.md").read_text("utf-8")


def test_eight_figures_of_the_chapters_are_alive_on_one_page(tab):
    page = tab.load("/ten-minutes/")
    figures = page.locator(".grpo-explorable[data-ready]").all()
    names = [figure.evaluate("node => node.localName.slice(5)") for figure in figures]
    assert names == re.findall(r'^--8<-- "learn/\w+\.md:([\w-]+)"$', TEXT, re.M) and len(names) == 8
    assert all(figure.locator("p[role=status]").inner_text() for figure in figures)
    assert not tab.problems


def test_it_can_be_read_in_ten_minutes():
    words = re.sub(r"(?s)^---.*?^---|\$\$.*?\$\$|^--8<--.*?$", "", TEXT, flags=re.M).split()
    assert len(words) < 10 * 100  # half of the 200 in a minute; the figures take the other half
