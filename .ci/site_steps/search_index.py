"""The search of a built site: what people type for a section, text without LaTeX, and the worker that searches."""

from __future__ import annotations

import html
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from pylatexenc.latex2text import LatexNodes2Text

_DISPLAYED = re.compile(r"\\\[.*?\\\]", re.DOTALL)
_INLINE = re.compile(r"\\\((.*?)\\\)", re.DOTALL)
TERMS = Path(__file__).with_name("search_terms.toml")
"""What people type for a section, by its address."""
_GLOSSARY = "reference/glossary/#"
_NODE_KEY = re.compile(r"(\w)=\1\+(\w)\+(\w)\.id\}")


def finish_search(folder: Path) -> None:
    """Finish the search of a built site."""
    index = folder / "search/search_index.json"
    content = json.loads(index.read_text("utf-8"))
    _add_terms(content["docs"])
    for section in content["docs"]:
        section["text"] = _without_latex(section["text"])
    index.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    for script in (folder / "assets/javascripts/workers").glob("search.*.js"):
        _lead(script, folder / "assets/search.js")
    (folder / "assets/search.js").unlink()


def _add_terms(sections: list[dict[str, Any]]) -> None:
    """Give sections their terms as tags, a field of the index that outweighs all others.

    A term that begins with = answers only a question that consists of it.
    """
    # A site that is opened from a disk has names of files in its addresses.
    by_address = {re.sub(r"\.html(?=#|$)", "/", section["location"]): section for section in sections}
    terms = tomllib.loads(TERMS.read_text("utf-8"))
    for address, section in by_address.items():
        own = [f"={name}" for name in section["title"].split(", ")] if address.startswith(_GLOSSARY) else []
        if tags := [*own, *terms.get(address, [])]:
            section["tags"] = tags


def _without_latex(text: str) -> str:
    r"""Text in which `\(\pi_\theta\)` has become π_θ. Displayed formulas go: no line of text can show a fraction."""
    latex = LatexNodes2Text(math_mode="text")

    def plain(match: re.Match[str]) -> str:
        spaced = re.sub(r"(\\[a-z]+)(?=\s)", r"\1{}", html.unescape(match[1]))  # otherwise \log \pi becomes logπ
        return html.escape(latex.latex_to_text(spaced))

    return _INLINE.sub(plain, _DISPLAYED.sub(" ", text))


def _lead(script: Path, leader: Path) -> None:
    """Put our worker before the theme's, which we also repair.

    lunr tells the nodes of its word tree apart by a text of labels and numbers, without a separator. So a site with
    many numbers may mix two nodes up, and every search for a word that begins with 1, for example, fails.
    """
    theirs = script.read_text("utf-8")
    script.with_name(f"theme-{script.name}").write_text(_NODE_KEY.sub(r'\1=\1+\2+\3.id+","}', theirs), "utf-8")
    script.write_text(leader.read_text("utf-8"), "utf-8")
