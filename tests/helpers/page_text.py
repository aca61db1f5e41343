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


def written(number: float, digits: int = 3, *, sign: bool = True) -> str:
    """A number as pages write it: with a real minus, and 0 without a sign."""
    text = f"{abs(number):.{digits}f}"
    return text if float(text) == 0 else ("\u2212" if number < 0 else "+" * sign) + text


def rows_of(text: str, heading: str) -> list[list[str]]:
    """The cells of the table on a page whose head begins like this."""
    table = text.split(heading, 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines()[2:]]


def table_row(*cells: object) -> str:
    """A row of a table as Markdown has it."""
    return f"| {' | '.join(map(str, cells))} |"
