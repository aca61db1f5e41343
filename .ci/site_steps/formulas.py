"""Formulas as HTML, typeset by KaTeX, in which each term of the course has its class: `term-ratio`, `term-kl`, ...

Pages contain plain TeX, which editors and GitHub also show. Only this module says how a term looks in TeX; its colors
and marks are in `docs/assets/css/terms.css`. Names in code and links to the glossary get the same class, so that
pointing at a term highlights it in all three.
"""

from __future__ import annotations

import atexit
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer

KATEX = Path(__file__).parent / "katex/katex.min.js"
_INDEX = r"(?:_(?:\{(?:[^{}]|\{[^{}]*\})*\}|\w))?"


class Term(NamedTuple):
    """A term of the loss; its class is `term-NAME`."""

    name: str
    tex: str  # regular expression of it in formulas
    code: Sequence[str]  # its names in the course's code
    glossary: Sequence[str]  # anchors of its entries in the glossary


TERMS = (
    Term(
        "old",
        r"\\pi_(?:\\text\{old\}|\{\\text\{old\}[^{}]*\})",
        ("old_logp", "old_logits"),
        ("old-policy",),
    ),
    Term(
        "reference",
        r"\\pi_(?:\\text\{ref\}|\{\\text\{ref\}[^{}]*\})",
        ("ref_logp", "ref_logits", "reference"),
        ("reference-policy",),
    ),
    Term("policy", r"\\pi(?:_\\theta|_j)?(?![A-Za-z_])", ("logp", "policy"), ("policy",)),
    Term("ratio", rf"\\rho{_INDEX}", ("importance_ratio", "ratio"), ("importance-ratio",)),
    Term(
        "clip",
        r"\\(?:operatorname|mathrm)\{clip\}|\\varepsilon(?:_\\text\{high\})?",
        ("clipped_surrogate", "clip_eps", "clip_eps_high", "clip_fraction"),
        ("clipping", "clipped-surrogate", "the-clip-binds", "clip-fraction"),
    ),
    Term(
        "kl",
        r"\\mathrm\{KL\}|k_[123]",
        ("categorical_kl", "kl_estimate", "kl", "kl_coef"),
        ("kl-divergence", "kl-penalty", "k1-k2-k3"),
    ),
    Term(
        "advantage",
        rf"(?<![A-Za-z\\])A{_INDEX}(?![A-Za-z])",
        ("group_advantages", "advantages", "advantage"),
        ("advantage", "relative-advantage-normalization"),
    ),
    Term("mean", r"\\operatorname\{mean\}\(r\)", (), ("baseline",)),
    Term(
        "reward",
        rf"(?:\\tilde )?(?<![A-Za-z\\])r{_INDEX}(?![A-Za-z])",
        ("rewards", "reward", "mean_reward"),
        ("reward",),
    ),
)

_IN_TEX = re.compile("|".join(f"(?P<{term.name}>{term.tex})" for term in TERMS))
_BY_CODE = {name: term.name for term in TERMS for name in term.code}
_BY_ANCHOR = {anchor: term.name for term in TERMS for anchor in term.glossary}
_NAMED = re.compile(rf"<(code|span)((?: class=\"n\w*\")?)>({'|'.join(_BY_CODE)})</\1>")
_LINKED = re.compile(rf'<a (?=[^>]*href="[^"]*glossary/(?:index\.html)?#({"|".join(_BY_ANCHOR)})")(?![^>]*class=)')

_STRUT = re.compile(r'<span class="katex-strut" style="height:([\d.]+)em;(?:vertical-align:(-?[\d.]+)em;)?"')
_KATEX_SIZE = 1.21
"""Font size in KaTeX's style sheet."""
_ABOVE, _BELOW = 0.918, 0.373
"""How far a line of its fonts reaches at least, measured: upright ones above the baseline, italic ones below it."""

_TYPESET = """formulas => formulas.map(([tex, displayMode]) => katex.renderToString(tex, {
  displayMode,
  trust: ({ command, class: name }) => command === "\\\\htmlClass" && name.startsWith("term-"),
  strict: code => (code === "htmlExtension" ? "ignore" : "error"),
}))"""


def typeset(formulas: Sequence[tuple[str, bool]]) -> list[str]:
    """HTML of formulas, with MathML for screen readers; each formula is its TeX and whether it is displayed."""
    marked = [
        (_IN_TEX.sub(lambda term: rf"\htmlClass{{term-{term.lastgroup}}}{{{term[0]}}}", tex), own)
        for tex, own in formulas
    ]
    made: list[str] = json.loads(str(_engine().eval(f"JSON.stringify(({_TYPESET})({json.dumps(marked)}))")))
    return [_with_height(each) if own else each for each, (_, own) in zip(made, marked, strict=True)]


def _with_height(formula: str) -> str:
    """A formula with its height (terms.css), so that a browser need not lay it out before it comes into view.

    The height is the distance from the top of its highest part to the bottom of its lowest one, from KaTeX's struts.
    """
    struts = [(float(height), -float(down or 0)) for height, down in _STRUT.findall(formula)]
    above, below = max(height - depth for height, depth in struts), max(depth for _, depth in struts)
    height = _KATEX_SIZE * (max(_ABOVE, above) + max(_BELOW, below))
    return formula.replace("<span", f'<span style="--formula:{height:.3f}em"', 1)


def name_terms(page: str) -> str:
    """The HTML of a page in which names in code and links to the glossary have the class of their term."""
    page = _NAMED.sub(lambda each: f"<{each[1]}{_with_class(each[2], _BY_CODE[each[3]])}>{each[3]}</{each[1]}>", page)
    return _LINKED.sub(lambda each: f'<a class="term-{_BY_ANCHOR[each[1]]}" ', page)


def _with_class(attribute: str, term: str) -> str:
    return f'{attribute[:-1]} term-{term}"' if attribute else f' class="term-{term}"'


@cache
def _engine() -> MiniRacer:
    from py_mini_racer import MiniRacer  # part of the extra "docs"

    engine = MiniRacer()
    atexit.register(engine.close)  # later, its thread may be gone, and closing would wait forever
    engine.eval(KATEX.read_text("utf-8"))
    return engine
