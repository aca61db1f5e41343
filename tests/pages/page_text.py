"""Numbers in the text of a page."""

import re


def numbers(text: str) -> list[float]:
    """The numbers of a text as people read it, with a real minus sign: "G = 8, mean −0.25" gives 8 and −0.25."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text.replace("\u2212", "-").replace(",", ""))]


def row_of(text: str, first: str) -> list[str]:
    """The other cells of the only row of Markdown tables that begins with this cell."""
    (row,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", text, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def says(text: str, *values: object) -> None:
    """Fails unless all these numbers stand in the text, whatever the words around them."""
    flat = " ".join(text.split())
    missing = [value for value in map(str, values) if not re.search(rf"(?<![\d.,]){re.escape(value)}(?!\d)", flat)]
    assert not missing, f"the page does not say {missing}"
