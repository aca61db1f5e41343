"""Removes LaTeX from the search index, whose results are shown as plain text."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from pylatexenc.latex2text import LatexNodes2Text

_DISPLAYED = re.compile(r"\\\[.*?\\\]", re.DOTALL)
_INLINE = re.compile(r"\\\((.*?)\\\)", re.DOTALL)


def write_formulas_as_text(folder: Path) -> None:
    r"""Rewrite the index in a built site: `\(\pi_\theta\)` becomes π_θ. Displayed formulas go: no line of text can show
    a fraction.
    """
    index = folder / "search/search_index.json"
    content = json.loads(index.read_text("utf-8"))
    latex = LatexNodes2Text(math_mode="text")

    def plain(match: re.Match[str]) -> str:
        spaced = re.sub(r"(\\[a-z]+)(?=\s)", r"\1{}", html.unescape(match[1]))  # otherwise \log \pi becomes logπ
        return html.escape(latex.latex_to_text(spaced))

    for section in content["docs"]:
        text = _DISPLAYED.sub(" ", section["text"])
        section["text"] = _INLINE.sub(plain, text)
    index.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
