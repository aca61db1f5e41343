"""What happens to the pages of the site after they were built: the same for MkDocs and for Zensical.

It reads the HTML that a generator has written and needs nothing of its theme. MkDocs calls it by a hook; Zensical,
which knows no hooks, is followed by `course dev finish-site`.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from .formulas import name_terms, typeset

_FORMULA = re.compile(r'(<(span|div) class="arithmatex">)(\\[(\[].*?\\[)\]])(</\2>)', re.DOTALL)
_PICTURE = re.compile(r'<img alt="([^"]*)"[^>]*? src="([^":]*assets/runs/[^":]*\.svg)"[^>]*>')
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]*)assets/css/tokens\.css">')
_FONTS = ("gabarito-latin", "literata-latin")


def finish(folder: Path) -> None:
    """Typeset formulas, mark terms, put in pictures of runs and preload fonts, in all built pages in `folder`.

    Pages that have been finished stay as they are.

    Raises:
        py_mini_racer.JSEvalException: KaTeX cannot read a formula.
        FileNotFoundError: a picture of a run is missing.
    """
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*.html")}
    sources = sorted({match[3] for text in texts.values() for match in _FORMULA.finditer(text)})
    formulas = [(html.unescape(source[2:-2]).strip(), source.startswith("\\[")) for source in sources]
    made = dict(zip(sources, typeset(formulas) if formulas else [], strict=True))
    for path, text in texts.items():
        finished = _FORMULA.sub(lambda match: match[1] + made[match[3]] + match[4], _preloaded(text))
        finished = name_terms(finished)
        for picture in _PICTURE.finditer(finished):
            finished = finished.replace(picture[0], _inlined(path.parent / picture[2], picture[1]))
        if finished != text:
            path.write_text(finished, "utf-8")


def _inlined(picture: Path, description: str) -> str:
    """The picture itself in place of a link to it, so that it has the colors and the fonts of its page."""
    svg = picture.read_text("utf-8").replace(' xmlns="http://www.w3.org/2000/svg"', "")
    svg = svg.replace("<use href=", "<use xlink:href=")  # the theme writes to every href, and here it is read-only
    height = re.search(r' height="(\d+)"', svg)
    style = f' style="--height: {height[1]}px"' if height else ""  # the theme gives pictures a height of its own
    return svg.replace("<svg", f'<svg aria-label="{description}"{style}', 1).replace("\n", "")


def _preloaded(text: str) -> str:
    """The page with its fonts asked for at once: a font that waits for the style sheet comes too late to be shown."""
    if '<link rel="preload"' in text or (style := _STYLE.search(text)) is None:
        return text
    fonts = (f"{style[1]}assets/vendor/fonts/{name}.woff2" for name in _FONTS)
    links = (f'<link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin>' for font in fonts)
    return text.replace(style[0], "".join(links) + style[0], 1)
