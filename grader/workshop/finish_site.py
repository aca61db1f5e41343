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
_TYPESET = "formulas => formulas.map(([tex, displayMode]) => katex.renderToString(tex, { displayMode }))"


def finish(folder: Path) -> None:
    """Typeset the formulas of all built pages in `folder`; pages that have been finished stay as they are.

    Raises:
        py_mini_racer.JSEvalException: KaTeX cannot read a formula.
    """
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*.html")}
    sources = sorted({match[3] for text in texts.values() for match in _FORMULA.finditer(text)})
    if not sources:
        return
    typeset = dict(zip(sources, _typeset(sources), strict=True))
    for path, text in texts.items():
        finished = _FORMULA.sub(lambda match: match[1] + typeset[match[3]] + match[4], text)
        if finished != text:
            path.write_text(finished, "utf-8")


def _typeset(sources: list[str]) -> list[str]:
    """KaTeX's HTML, which has MathML in it for screen readers, of TeX as pages have it: `\\(...\\)` or `\\[...\\]`."""
    from py_mini_racer import MiniRacer  # part of the extra "docs"

    formulas = [(html.unescape(source[2:-2]).strip(), source.startswith("\\[")) for source in sources]
    engine = MiniRacer()
    engine.eval(KATEX.read_text("utf-8"))
    made: list[str] = json.loads(str(engine.eval(f"JSON.stringify(({_TYPESET})({json.dumps(formulas)}))")))
    return made
