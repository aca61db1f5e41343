"""What happens to the pages of the site after they were built: the same for MkDocs and for Zensical.

It reads the HTML that a generator has written and needs nothing of its theme. MkDocs calls it by a hook; Zensical,
which knows no hooks, is followed by `course dev finish-site`.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from ..core import course

KATEX = course.ROOT / "docs/assets/vendor/katex/katex.min.js"
_FORMULA = re.compile(r'(<(span|div) class="arithmatex">)(\\[(\[].*?\\[)\]])(</\2>)', re.DOTALL)
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]*)assets/css/tokens\.css">')
_FONTS = ("gabarito-latin", "literata-latin")
_TYPESET = "formulas => formulas.map(([tex, displayMode]) => katex.renderToString(tex, { displayMode }))"


def finish(folder: Path) -> None:
    """Typeset the formulas of all built pages in `folder` and preload their fonts; finished pages stay as they are.

    Raises:
        py_mini_racer.JSEvalException: KaTeX cannot read a formula.
    """
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*.html")}
    sources = sorted({match[3] for text in texts.values() for match in _FORMULA.finditer(text)})
    typeset = dict(zip(sources, _typeset(sources), strict=True)) if sources else {}
    for path, text in texts.items():
        finished = _FORMULA.sub(lambda match: match[1] + typeset[match[3]] + match[4], _preloaded(text))
        if finished != text:
            path.write_text(finished, "utf-8")


def _preloaded(text: str) -> str:
    """The page with its fonts asked for at once: a font that waits for the style sheet comes too late to be shown."""
    if '<link rel="preload"' in text or (style := _STYLE.search(text)) is None:
        return text
    fonts = (f"{style[1]}assets/vendor/fonts/{name}.woff2" for name in _FONTS)
    links = (f'<link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin>' for font in fonts)
    return text.replace(style[0], "".join(links) + style[0], 1)


def _typeset(sources: list[str]) -> list[str]:
    """KaTeX's HTML, which has MathML in it for screen readers, of TeX as pages have it: `\\(...\\)` or `\\[...\\]`."""
    from py_mini_racer import MiniRacer  # part of the extra "docs"

    formulas = [(html.unescape(source[2:-2]).strip(), source.startswith("\\[")) for source in sources]
    engine = MiniRacer()
    engine.eval(KATEX.read_text("utf-8"))
    made: list[str] = json.loads(str(engine.eval(f"JSON.stringify(({_TYPESET})({json.dumps(formulas)}))")))
    return made
