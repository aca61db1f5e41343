"""Nightly looks: colours that the reader has chosen, and the shadows of what is wider than a phone."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image
from site_fixtures import SETTLED, PageOpener
from site_pages import COLOUR_RULES, violations
from tab import Tab

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
def test_no_word_and_no_control_is_lost_in_colours_that_the_reader_has_chosen(
    open_page: PageOpener, path: str, scheme: str
) -> None:
    page = open_page(path, scheme=scheme, forced_colors="active", reduced_motion="reduce")
    # All of the page is in the window: nothing lies in front of a word that is out of sight.
    page.set_viewport_size({"width": 1280, "height": page.evaluate("document.documentElement.scrollHeight")})
    page.evaluate(SETTLED)
    seen, lost = page.evaluate(LOST)
    assert lost == []
    assert seen["controls"] > 10 and seen["words"] > 10
    assert violations(page, COLOUR_RULES, within="article") == []


WIDE = {
    "a table": ("/exercises/clip/", ".md-typeset__scrollwrap:has(th:nth-child(9))"),
    "a formula": ("/exercises/clip/", "div.arithmatex"),
    "code": ("/", "pre > code"),
    "a table to fill in": ("/worksheet/", 'grpo-runs[name="1C.3"] .grpo-scroll'),
}
BLANK = 2  # pixels below its upper edge, nothing is written in any of them
DARKER = 25  # of 255


def shadows(page: Any, node: Any) -> tuple[bool, bool]:
    """Whether there is a shadow at the left and at the right edge."""
    page.evaluate(SETTLED)
    box = node.bounding_box()
    left, right, top = map(round, (box["x"], box["x"] + box["width"], box["y"]))
    line = {"x": 0, "y": top + BLANK, "width": right, "height": 1}
    pixels: Any = Image.open(io.BytesIO(page.screenshot(clip=line))).convert("L").load()
    at_left, between, at_right = (pixels[x, 0] for x in (left + 1, (left + right) // 2, right - 2))
    return abs(at_left - between) > DARKER, abs(at_right - between) > DARKER


@pytest.mark.parametrize("what", WIDE)
def test_a_shadow_is_at_each_edge_behind_which_there_is_more(tab: Tab, what: str) -> None:
    path, place = WIDE[what]
    page = tab.load(path, size={"width": 390, "height": 900})
    page.locator("grpo-runs [role=tab]:last-child").evaluate_all("all => all.forEach((tab) => tab.click())")
    node = page.locator(place).first
    node.evaluate("node => node.scrollIntoView({ behavior: 'instant', block: 'center' })")
    page.evaluate(SETTLED)  # a formula is laid out when it comes near
    seen = []
    for share in (0, 0.5, 1):
        node.evaluate("(node, share) => { node.scrollLeft = share * (node.scrollWidth - node.clientWidth); }", share)
        seen.append(shadows(page, node))
    assert seen == [(False, True), (True, True), (True, False)]
