"""What is only text or a picture needs no scripts: elements of the plan that stand on a page and compute nothing.

Which elements the plan has, and that each stands on a page, is tested in tests/pure/test_catalogue.py.
"""

import re

import pytest

from grader.core import course

DOCS = course.ROOT / "docs"
STILL = re.compile(r"data-catalogue(?:=|: )[\"']?[A-Z0-9 ]*\b[TND]\d\d")
"""A static element, or what a notebook or a page of diagnostics has to show."""
FOLLOWING = """node => {
  let text = node.textContent;
  if (!/^H/.test(node.tagName)) return text;
  for (let next = node.nextElementSibling; next && !/^H/.test(next.tagName); next = next.nextElementSibling) {
    text += " " + next.textContent + " " + [...next.querySelectorAll("img")].map(image => image.alt).join(" ");
  }
  return text;
}"""
"""The text of an element; of a heading, all that stands below it."""


@pytest.mark.parametrize("path", sorted(path for path in DOCS.rglob("*.md") if STILL.search(path.read_text("utf-8"))))
def test_what_is_only_text_or_a_picture_can_be_read_without_scripts(read_without_scripts, path):
    page = read_without_scripts(f"/{path.relative_to(DOCS).with_suffix('')}/")
    for part in page.locator("article [data-catalogue]:not(.grpo-explorable)").all():
        assert part.is_visible()
        words = part.evaluate(FOLLOWING).split()
        assert len(words) >= 15, part.get_attribute("data-catalogue")
