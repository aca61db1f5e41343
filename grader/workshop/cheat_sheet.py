"""The loss on one page: docs/assets/cheat-sheet.svg, from the words and formulas in `cheat_sheet_files/`.

The SVG holds a page of HTML with all that it needs, fonts included, so that it can be kept and sent alone. The two
drawings are computed by the oracles. `course dev cheat-sheet` prints it as the PDF beside it, which ends with the
digest of the SVG that it shows.

Left out: a version for programs that show no HTML in an SVG, such as Inkscape; they show a sentence, and open the PDF.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path

import numpy as np

from ..core import course
from ..oracles.simulation import group_advantages
from ..oracles.traced import clip_binds, clipped_surrogate
from .formulas import typeset

SVG = course.ROOT / "docs/assets/cheat-sheet.svg"
PDF = SVG.with_suffix(".pdf")
TITLE = "GRPO on one page"
_FILES = Path(__file__).parent / "cheat_sheet_files"
_ASSETS = course.ROOT / "docs/assets"
_KATEX_STYLES = "vendor/katex/katex.min.css"
_FONTS = {
    "Gabarito": ("fonts/gabarito-latin.woff2", "500 800", "normal"),
    "KaTeX_Main": ("katex/fonts/KaTeX_Main-Regular.woff2", "400", "normal"),
    "KaTeX_Math": ("katex/fonts/KaTeX_Math-Italic.woff2", "400", "italic"),
    "KaTeX_Size1": ("katex/fonts/KaTeX_Size1-Regular.woff2", "400", "normal"),
    "KaTeX_Size2": ("katex/fonts/KaTeX_Size2-Regular.woff2", "400", "normal"),
}
"""Family to file, weights and style: what the sheet's letters need."""
ANSWERS = ("24", "14", "12", "14", "14", "24", "24", "13")
RIGHT = "14"
"""The group of the home page: answers to 2 + 2 · 6."""
CLIP_EPS = 0.2
MINUS = "\N{MINUS SIGN}"


def make() -> str:
    """The text of the SVG."""
    body = (_FILES / "sheet.html").read_text("utf-8")
    for name, drawing in {"logo": _logo(), "group": _group(), "clip": _clip()}.items():
        body = body.replace(f"@{name}@", drawing)
    formulas = list(re.finditer(r"\\\((.*?)\\\)|\\\[(.*?)\\\]", body))
    made = typeset([(match[1] or match[2], match[2] is not None) for match in formulas])
    for match, formula in zip(formulas, made, strict=True):
        body = body.replace(match[0], formula)
    return (_FILES / "sheet.svg").read_text("utf-8").replace("@styles@", _styles()).replace("@body@", body)


def printable(svg: str) -> str:
    """A page that prints as the sheet and nothing else."""
    return f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{TITLE}</title>\n{svg}</html>\n'


def digest_line(svg: str) -> bytes:
    """The last line of the PDF: a comment that says which SVG it shows."""
    return b"\n% SHA-256 of cheat-sheet.svg: " + hashlib.sha256(svg.encode()).hexdigest().encode() + b"\n"


def _styles() -> str:
    """What the sheet needs of the site's style sheets, its fonts, and its own rules. Paper is light."""
    css = {name: (_ASSETS / name).read_text("utf-8") for name in ("css/tokens.css", "css/terms.css", _KATEX_STYLES)}
    colors = re.findall(
        r'^:root, \[data-md-color-scheme="default"\] \{.*?^\}', css["css/tokens.css"], re.DOTALL | re.MULTILINE
    )
    marks = re.findall(r"^\.katex .*$", css["css/terms.css"], re.MULTILINE)
    formulas = re.sub(r"@font-face\{[^}]*\}", "", css[_KATEX_STYLES])
    fonts = [
        f"@font-face {{ font-family: {family}; font-weight: {weight}; font-style: {style}; "
        f'src: url("data:font/woff2;base64,{_base64(_ASSETS / "vendor" / path)}") format("woff2"); }}'
        for family, (path, weight, style) in _FONTS.items()
    ]
    rules = "\n".join([*fonts, *colors, formulas, *marks, (_FILES / "sheet.css").read_text("utf-8")])
    return re.sub(r"/\*.*?\*/", "", rules, flags=re.DOTALL).replace("&", "&amp;")


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _logo() -> str:
    return (_ASSETS / "logo.svg").read_text("utf-8").strip()


def _group() -> str:
    """The eight answers with their rewards on the line of their mean."""
    rewards = np.array([float(answer == RIGHT) for answer in ANSWERS])
    line = 66
    parts = [_shape("path", "line", d=f"M0 {line}H340"), _words(340, 12, f"mean {rewards.mean():.3f}", "quiet end")]
    for place, (answer, reward) in enumerate(zip(ANSWERS, rewards, strict=True)):
        advantage = group_advantages(rewards)[place]
        x, end = 30 + 40 * place, line - 30 * advantage
        up = advantage > 0
        round_end = f"M{x - 11} {line}V{end:.1f}a11 11 0 0 {int(up)} 22 0V{line}z"
        parts += [
            _shape("path", "up" if up else "down", d=round_end),
            _words(x, end + (-15 if up else 22), f"{advantage:+.2f}".replace("-", MINUS), ""),
            _words(x, line + (13 if up else -6), answer, ""),
            _shape("circle", "coin" if reward else "none", cx=x, cy=128, r=7),
            _words(x, 132, f"{reward:g}", ""),
        ]
    return _drawing(parts, "Eight answers with their rewards and advantages")


def _clip() -> str:
    """The surrogate over the ratio, for an advantage of +1 and of -1; a chart is 150 wide, from 0 to 2."""
    ratio = np.linspace(0.0, 2.0, 101)
    parts: list[str] = []
    for left, sign in ((8, 1), (180, -1)):
        advantages = np.full_like(ratio, sign)
        surrogate = clipped_surrogate(ratio, advantages, clip_eps=CLIP_EPS).value
        flat = ratio[clip_binds(ratio, advantages, CLIP_EPS)]
        across, up = left + 75 * ratio, (104 if sign > 0 else 16) - 44 * surrogate
        zero, far = up[0] if sign > 0 else 16, (104 if sign > 0 else 16) - 88 * sign
        band = {"x": f"{left + 75 * flat.min():.1f}", "width": f"{75 * np.ptp(flat):.1f}", "y": 16, "height": 88}
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))
        parts += [
            _shape("rect", "flat", **band),
            _shape("path", "line", d=f"M{left} {zero}h150"),
            _shape("path", "whole", d=f"M{left} {zero}L{left + 150} {far}"),
            _shape("polyline", "up-line" if sign > 0 else "down-line", points=points),
            _shape("circle", "", cx=left + 75, cy=60, r=4),
            _words(left, 8, "A > 0" if sign > 0 else "A < 0", "start"),
            *(_words(left + 75 * x, 118, f"{x}", "quiet") for x in (0, 1, 2)),
            _words(left + 112, 118, "\N{GREEK SMALL LETTER RHO}", "quiet"),
        ]
    return _drawing(parts, "The clipped surrogate over the ratio, for a positive and for a negative advantage")


def _shape(kind: str, look: str, **attributes: object) -> str:
    given = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<{kind} class="{look}"{given}/>'


def _words(x: float, y: float, words: str, look: str) -> str:
    return f'<text class="{look}" x="{x:g}" y="{y:.1f}">{html.escape(words)}</text>'


def _drawing(parts: list[str], label: str) -> str:
    body = "".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 340 136" role="img" aria-label="{label}">{body}</svg>'
