"""One figure on an open page, as a reader uses it: by the keyboard, and by what stands in its tables."""

from typing import Any

from page_text import numbers

FOCUS = """node => {
  node.focus({ preventScroll: true });
  return node === document.activeElement;
}"""
"""As the Tab key does it, but the page stays where it is: what is out of sight need not be painted."""
SKIP_GUESSES = """() => document.querySelectorAll(".grpo-guess button:last-child").forEach(node => node.click())"""
CONTROL = """node => {
  node.focus({ preventScroll: true });
  const shown = node.checkVisibility({ visibilityProperty: true }) && !node.disabled;
  return { kind: node.type, name: node.name, value: node.value, shown, reached: node === document.activeElement };
}"""

FIRST_CONTROL = """tag => {
  const node = window.figure = document.querySelector(tag);
  window.shown = () => [...node.querySelectorAll("table, .grpo-status, .grpo-readout, .grpo-value, .grpo-card")]
    .map((part) => part.textContent).join("|");
  window.before = [shown(), [...node.querySelectorAll("svg")].map((svg) => svg.innerHTML).join()];
  const control = [...node.querySelectorAll("input, select, textarea")]
    .find((each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled
      && (each.type !== "radio" || each.checked));
  control.focus({ preventScroll: true });
  if (control !== document.activeElement) return "takes no focus";
  if (control.type === "text") control.select();
  const atItsEnd = control.type === "range" && control.value === control.max;
  return { checkbox: "Space", text: "7", textarea: "7" }[control.type] ?? (atItsEnd ? "ArrowLeft" : "ArrowRight");
}"""
"""Gives the first control the focus; returns the key that changes it."""
CHANGED_AND_RESET = """async () => {
  document.activeElement.blur(); // takes over what was typed
  const picture = () => [...figure.querySelectorAll("svg")].map((svg) => svg.innerHTML).join();
  const isChanged = () => shown() !== before[0] || picture() !== before[1];
  for (let i = 0; i < 40 && !isChanged(); i++) await new Promise((later) => setTimeout(later, 50)); // Firefox is late
  const changed = isChanged();
  const address = location.search;
  figure.querySelector("[aria-label=Reset]").click();
  return { changed, kept: address !== "", reset: shown() === before[0] && location.search === "" };
}"""
CONTRACT = {"changed": True, "kept": True, "reset": True}
"""The control changes the figure, the address keeps the state, and Reset brings back the first one."""


class Explorable:
    """A figure that is ready, found by its tag: Explorable(page, "grpo-difficulty")."""

    def __init__(self, page: Any, tag: str) -> None:
        self.page = page
        self.tag = tag
        self.node = page.locator(tag)

    @property
    def status(self) -> str:
        """The sentence that says what the state teaches."""
        text: str = self.node.locator("p[role=status]").inner_text()
        return text

    @property
    def state(self) -> str:
        """All that it shows as text, tables that are folded up included."""
        text: str = self.node.evaluate(
            """node => [...node.querySelectorAll("table, .grpo-status, .grpo-readout, .grpo-value, .grpo-card")]
              .map(part => part.textContent).join("|")"""
        )
        return text

    def table(self, caption: str = "") -> list[list[str]]:
        """The rows of the table with this caption, or of the only one."""
        table = self.node.locator("table", has=self.page.locator(f'caption:text-is("{caption}")') if caption else None)
        rows: list[list[str]] = table.evaluate(
            """table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent.trim()))"""
        )
        return rows

    def column(self, place: int, caption: str = "") -> list[float]:
        """The first number of each row in a column, counted from 0."""
        return [numbers(row[place])[0] for row in self.table(caption)]

    def press(self, name: str) -> None:
        """Presses a button by the keyboard."""
        assert self.node.get_by_role("button", name=name, exact=True).evaluate(FOCUS), f"{name} takes no focus"
        self.page.keyboard.press("Enter")

    def use_every_control(self) -> None:
        """Changes each control once, by the keyboard; of radio buttons with one name, one."""
        groups = set()
        keyboard = self.page.keyboard
        for control in self.node.locator("input, select").all():
            found = control.evaluate(CONTROL)
            kind, name = found["kind"], found["name"]
            assert found["reached"] == found["shown"], f"{name or kind} takes no focus"
            if not found["shown"] or (kind == "radio" and name in groups):  # one control may hide another
                continue
            groups.add(name)
            if kind == "checkbox":
                keyboard.press("Space")
            elif kind in ("text", "number"):
                control.fill("13")
                keyboard.press("Tab")
            else:
                keyboard.press("ArrowRight")
                if kind == "range" and control.input_value() == found["value"]:
                    keyboard.press("ArrowLeft")  # it stood at its right end
