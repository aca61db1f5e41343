"""The search of a built site: its index without LaTeX, since results are plain text, and a repair of its script."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from pylatexenc.latex2text import LatexNodes2Text

_DISPLAYED = re.compile(r"\\\[.*?\\\]", re.DOTALL)
_INLINE = re.compile(r"\\\((.*?)\\\)", re.DOTALL)
_NODE_KEY = re.compile(r"(\w)=\1\+(\w)\+(\w)\.id\}")


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


def repair_script(folder: Path) -> None:
    """Make the search of a built site survive numbers.

    lunr tells the nodes of its word tree apart by a text of labels and numbers, without a separator. So a site with
    many numbers may mix two nodes up, and every search for a word that begins with 1, for example, fails.
    """
    for script in (folder / "assets/javascripts/workers").glob("search.*.js"):
        text = script.read_text("utf-8")
        script.write_text(_NODE_KEY.sub(r'\1=\1+\2+\3.id+","}', text), "utf-8")
