"""Numbers in the text of a page."""

import re


def numbers(text: str) -> list[float]:
    """The numbers of a text as people read it, with a real minus sign: "G = 8, mean −0.25" gives 8 and −0.25."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text.replace("\u2212", "-").replace(",", ""))]
