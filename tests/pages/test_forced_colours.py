"""Where a reader has chosen the colours, all words, marks and controls of figures and of the worksheet are still there.

The simulation has its own test (test_site_simulation.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from site_fixtures import SETTLED, PageOpener
from site_pages import COLOUR_RULES, violations

CHAPTER, WORKSHEET = "/learn/gradient/", "/worksheet/"
LOOKS = [
    (CHAPTER, "dark"),
    (WORKSHEET, "light"),
    pytest.param(CHAPTER, "light", marks=pytest.mark.proof),
    pytest.param(WORKSHEET, "dark", marks=pytest.mark.proof),
]
LOST = """() => {
  const paints = (color) => color !== "none" && !/^rgba\\(.*, 0(\\.[0-4]\\d*)?\\)$/.test(color);
  const ground = (node) => {
    for (let each = node; each; each = each.parentElement)
      if (paints(getComputedStyle(each).backgroundColor)) return getComputedStyle(each).backgroundColor;
  };
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const covers = (node) => {
    const { fill, fillOpacity } = getComputedStyle(node);
    return node.matches("rect, circle, path") && paints(fill) && fillOpacity > 0.5;
  };
  const seen = { words: 0, controls: 0 };
  const lost = [];
  for (const node of document.querySelectorAll("article svg text")) {
    const { x, y, width, height } = node.getBoundingClientRect();
    if (!width || !shown(node)) continue;
    const below = document.elementsFromPoint(x + width / 2, y + height / 2)
      .find((each) => node.ownerSVGElement.contains(each) && covers(each));
    const { fill, stroke } = getComputedStyle(node);
    const back = below ? getComputedStyle(below).fill : ground(node.ownerSVGElement);
    seen.words++;
    if (fill === back && (!paints(stroke) || stroke === back)) lost.push(`word ${node.textContent} ${fill}`);
  }
  for (const node of document.querySelectorAll("article :is(button, select, textarea, summary, input)")) {
    if (!shown(node) || node.matches("[type=file], [type=radio], [type=checkbox], [type=range]")) continue;
    const { color, backgroundColor, borderTopColor, borderTopWidth } = getComputedStyle(node);
    const around = ground(node.parentElement);
    seen.controls++;
    if (color === ground(node)) lost.push(`words of ${node.outerHTML.slice(0, 200)}`);
    const bare = !parseFloat(borderTopWidth) || borderTopColor === around;
    const flat = !paints(backgroundColor) || backgroundColor === around;
    if (node.matches("input, select, textarea") && bare && flat) lost.push(`edge of ${node.outerHTML.slice(0, 200)}`);
    for (const icon of node.querySelectorAll("svg")) {
      const { fill, stroke } = getComputedStyle(icon);
      const unseen = [fill, stroke].every((paint) => !paints(paint) || paint === ground(node));
      if (unseen) lost.push(`icon of ${node.outerHTML.slice(0, 200)}`);
    }
  }
  return [seen, lost];
}"""


def look(open_page: PageOpener, path: str, scheme: str) -> Any:
    page = open_page(path, scheme=scheme, forced_colors="active", reduced_motion="reduce")
    # All of the page is in the window: nothing lies in front of a word that is out of sight.
    page.set_viewport_size({"width": 1280, "height": page.evaluate("document.documentElement.scrollHeight")})
    page.evaluate(SETTLED)
    return page


@pytest.mark.parametrize(("path", "scheme"), LOOKS)
def test_no_word_and_no_control_is_lost_in_colours_that_the_reader_has_chosen(
    open_page: PageOpener, path: str, scheme: str
) -> None:
    page = look(open_page, path, scheme)
    seen, lost = page.evaluate(LOST)
    assert lost == []
    assert seen["controls"] > 20 and seen["words"] > 10
    assert violations(page, COLOUR_RULES, within="article") == []
