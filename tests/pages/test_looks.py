"""Nightly looks: colours that the reader has chosen, and the shadows of what is wider than a phone."""

from __future__ import annotations

import re

import pytest
from site_fixtures import SETTLED
from site_pages import COLOUR_RULES, violations

pytestmark = pytest.mark.proof
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


@pytest.mark.parametrize(
    ("path", "scheme"),
    [("/learn/gradient/", "dark"), ("/worksheet/", "light"), ("/simulation/?sim.seed=3&sim.steps=14", "dark")],
)
def test_no_word_and_no_control_is_lost_in_colours_that_the_reader_has_chosen(open_page, path, scheme):
    page = open_page(path, scheme=scheme, forced_colors="active", reduced_motion="reduce")
    # All of the page is in the window: nothing lies in front of a word that is out of sight.
    page.set_viewport_size({"width": 1280, "height": page.evaluate("document.documentElement.scrollHeight")})
    page.evaluate(SETTLED)
    seen, lost = page.evaluate(LOST)
    assert lost == []
    assert seen["controls"] > 10 and seen["words"] > 10
    assert violations(page, COLOUR_RULES, within="article") == []


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_loss_on_one_page_is_printed_on_one_page(open_page, paper):
    printed = open_page("/cheat-sheet/").pdf(format=paper)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
