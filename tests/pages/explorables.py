"""One explorable on an open page, as a reader uses it: by labels, by the keyboard, and by what stands in its tables."""

import re
from typing import Any


def numbers(text: str) -> list[float]:
    """The numbers of a text as people read it, with a real minus sign: "G = 8, mean −0.25" gives 8 and −0.25."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text.replace("\u2212", "-").replace(",", ""))]


def row_of(text: str, first: str) -> list[str]:
    """The other cells of the only row of Markdown tables that begins with this cell."""
    (row,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", text, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


FOCUS = """node => {
  node.focus({ preventScroll: true });
  return node === document.activeElement;
}"""
"""As the Tab key does it, but the page stays where it is: what is out of sight need not be painted."""
SLIDE = """(slider, text) => {
  const [least, most] = [Number(slider.min), Number(slider.max)];
  const number = (shown) => parseFloat(shown.replace("\u2212", "-").replace(/[^-.0-9]/g, ""));
  const move = (place) => {
    slider.value = place;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    return slider.ariaValueText;
  };
  for (let low = least, high = most; !Number.isNaN(number(text)) && low <= high; ) {
    const middle = Math.floor((low + high) / 2);
    const shown = move(middle);
    if (shown === text) break;
    if (number(shown) < number(text)) low = middle + 1;
    else high = middle - 1;
  }
  for (let left = most - least + 1; slider.ariaValueText !== text && left > 0; left--) {
    move(Number(slider.value) < most ? Number(slider.value) + 1 : least);
  }
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  return slider.ariaValueText;
}"""


FRAMES = """() => {
  const figures = [...document.querySelectorAll(".grpo-explorable")];
  return {
    heights: Object.fromEntries(figures.map((node) => [node.localName, node.offsetHeight])),
    late: figures.filter((node) => !("ready" in node.dataset)).length,
    controls: figures.flatMap((node) => [...node.querySelectorAll("button, input, select")])
      .filter((node) => node.checkVisibility()).map((node) => node.getBoundingClientRect().bottom + scrollY),
    names: [...document.querySelectorAll(".grpo-asks")].map((node) => node.innerText),
    chapter: document.querySelector("h1").innerText.split(".")[0],
  };
}"""
"""The figures of a page: how high each is, how many have no code yet, how far down their controls end, their titles,
and the number of the chapter."""


class Explorable:
    """An explorable that is ready, found by its tag: Explorable(page, "grpo-difficulty")."""

    def __init__(self, page: Any, tag: str) -> None:
        self.page = page
        self.tag = tag
        self.node = page.locator(tag)

    @property
    def status(self) -> str:
        """The sentence that says what the state teaches."""
        return self.node.locator("p[role=status]").inner_text()

    @property
    def state(self) -> str:
        """All that it shows as text, tables that are folded up included."""
        return self.node.evaluate(
            """node => [...node.querySelectorAll("table, .grpo-status, .grpo-readout, .grpo-value, .grpo-card")]
              .map(part => part.textContent).join("|")"""
        )

    def table(self, caption: str = "") -> list[list[str]]:
        """The rows of the table with this caption, or of the only one."""
        table = self.node.locator("table", has=self.page.locator(f'caption:text-is("{caption}")') if caption else None)
        return table.evaluate(
            """table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent.trim()))"""
        )

    def column(self, place: int, caption: str = "") -> list[float]:
        """The first number of each row in a column, counted from 0."""
        return [numbers(row[place])[0] for row in self.table(caption)]

    def press(self, name: str) -> None:
        """Presses a button by the keyboard."""
        assert self.node.get_by_role("button", name=name, exact=True).evaluate(FOCUS), f"{name} takes no focus"
        self.page.keyboard.press("Enter")

    def pick(self, name: str) -> None:
        """Chooses one of several radio buttons."""
        self.node.get_by_role("radio", name=name, exact=True).evaluate("node => node.click()")

    def choose(self, label: str, text: str) -> None:
        """Chooses from a list."""
        self.node.get_by_label(label, exact=True).select_option(label=text)

    def tick(self, label: str, *, on: bool = True) -> None:
        """Ticks a box, or takes the tick away."""
        self.node.get_by_label(label, exact=True).set_checked(on)

    def slide(self, label: str, text: str) -> None:
        """Moves a slider until it reads as the text: input while it moves, change when it rests."""
        found = self.node.get_by_role("slider", name=label, exact=True).evaluate(SLIDE, text)
        assert found == text, f"{label} never reads {text!r}"
