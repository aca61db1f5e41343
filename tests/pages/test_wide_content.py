"""What is wider than a phone has a shadow at each edge behind which there is more: a table, a formula, code, a form.

That nothing else scrolls sideways is asked of every page in test_site.py.
"""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image
from site_fixtures import SETTLED
from tab import Tab

WIDE = {
    "a table": ("/exercises/clip/", ".md-typeset__scrollwrap:has(th:nth-child(9))"),
    "a formula": ("/exercises/clip/", "div.arithmatex"),
    "code": ("/", "pre > code"),
    "a table to fill in": ("/worksheet/", 'grpo-runs[name="1C.3"] .grpo-scroll'),
}
BLANK = 2  # pixels below its upper edge nothing is written in any of them
SEEN = 25  # of 255


def shadows(page: Any, node: Any) -> tuple[bool, bool]:
    """Whether there is a shadow at the left and at the right edge."""
    page.evaluate(SETTLED)
    box = node.bounding_box()
    left, right, top = map(round, (box["x"], box["x"] + box["width"], box["y"]))
    line = {"x": 0, "y": top + BLANK, "width": right, "height": 1}
    pixels: Any = Image.open(io.BytesIO(page.screenshot(clip=line))).convert("L").load()
    at_left, between, at_right = (pixels[x, 0] for x in (left + 1, (left + right) // 2, right - 2))
    return abs(at_left - between) > SEEN, abs(at_right - between) > SEEN


@pytest.mark.parametrize("what", WIDE)
def test_a_shadow_is_at_each_edge_behind_which_there_is_more(tab: Tab, what: str) -> None:
    path, place = WIDE[what]
    page = tab.show(path, width=390)
    page.locator("grpo-runs [role=tab]:last-child").evaluate_all("all => all.forEach((tab) => tab.click())")
    node = page.locator(place).first
    node.evaluate("node => node.scrollIntoView({ behavior: 'instant', block: 'center' })")
    page.evaluate(SETTLED)  # a formula is laid out when it comes near
    assert node.evaluate("node => node.scrollWidth - node.clientWidth") > 20, "it is not wide"
    seen = []
    for share in (0, 0.5, 1):
        node.evaluate("(node, share) => { node.scrollLeft = share * (node.scrollWidth - node.clientWidth); }", share)
        seen.append(shadows(page, node))
    assert seen == [(False, True), (True, True), (True, False)]


HEIGHTS = """() => [...document.querySelectorAll(".katex-display")].map((node) => {
  const before = node.getAttribute("style");
  node.style.containIntrinsicHeight = node.style.containIntrinsicHeight.replace("auto ", "");  // not what was seen last
  const heights = ["hidden", "visible"].map((look) => {
    node.style.contentVisibility = look;
    return node.getBoundingClientRect().height;
  });
  node.setAttribute("style", before);
  return heights;
})"""


@pytest.mark.parametrize("path", ["/exercises/clip/", "/learn/why/"])
def test_a_formula_that_is_not_laid_out_yet_has_the_height_that_it_will_have(tab: Tab, path: str) -> None:
    heights = tab.show(path, width=390).evaluate(HEIGHTS)
    assert len(heights) > 1
    assert [hidden for hidden, _ in heights] == pytest.approx([visible for _, visible in heights], abs=0.1)


def test_a_table_of_symbols_needs_no_scrolling_on_a_phone(tab: Tab) -> None:
    page = tab.show("/exercises/bandit/", width=390)
    table = page.locator("table", has=page.get_by_role("columnheader", name="Symbol", include_hidden=True)).first
    frame = table.locator("xpath=ancestor::div[@class='md-typeset__scrollwrap'][last()]")
    assert frame.evaluate("node => node.scrollWidth - node.clientWidth") == 0
    cells = [cell.bounding_box() for cell in table.locator("tbody tr").first.locator("td").all()]
    assert len(cells) == 3 and cells[0]["x"] + cells[0]["width"] <= cells[1]["x"], "the meaning is beside the symbol"
    assert all(cell["x"] + cell["width"] <= 390 for cell in cells)
    assert table.get_by_role("row").count() == table.locator("tr").count(), "it is a table for a screen reader, too"
