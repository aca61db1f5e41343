"""What happens to the pages of the site after they were built: the same for MkDocs and for Zensical.

It reads what a generator has written and needs nothing of its theme but the names of two files. MkDocs calls
it by a hook; Zensical, which knows no hooks, is followed by `course dev finish-site`.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from . import share
from .formulas import name_terms, typeset

_FORMULA = re.compile(r'(<(span|div) class="arithmatex">)(\\[(\[].*?\\[)\]])(</\2>)', re.DOTALL)
_PICTURE = re.compile(r'<img alt="([^"]*)"[^>]*? src="([^":]*assets/runs/[^":]*\.svg)"[^>]*>')
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]*)assets/css/tokens\.css">')
_FONTS = ("gabarito-latin", "literata-latin")
_OWN = {"text/javascript": "js/**/*.mjs", "text/css": "css/*.css"}
_LATE_SEARCH = (Path(__file__).parent / "site_files/late_search.js").read_text("utf-8")
_THEME_SCRIPT = re.compile(r'(?<!</script>)<script src="[^"]*assets/javascripts/bundle\.')


def finish(folder: Path) -> list[str]:
    """Finish all built pages in `folder`; pages that have been finished stay as they are.

    Formulas are typeset and their terms marked, pictures of runs are put in, fonts are preloaded, the index of the
    search waits until somebody searches, pages get a picture for those who share their address, and the course's own
    scripts and styles are made small.

    Returns:
        What whoever builds the site should know, in sentences.

    Raises:
        py_mini_racer.JSEvalException: KaTeX cannot read a formula.
        FileNotFoundError: a picture of a run is missing.
        minify.MinifyError: a script or a style sheet cannot be read.
    """
    _minify(folder / "assets")
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*.html")}
    finished = {
        path: _search_late(_preloaded(_with_runs(text, path.parent))) for path, text in _with_formulas(texts).items()
    }
    finished, notes = share.with_pictures(finished, folder)
    for path, text in finished.items():
        if text != texts[path]:
            path.write_text(text, "utf-8")
    return notes


def _minify(assets: Path) -> None:
    """Take comments, spaces and long names of variables out of the course's own scripts and styles.

    What a script exports keeps its name, and comments that begin with `!`, as those with a license do, stay.
    """
    import minify  # part of the extra "docs"

    for kind, pattern in _OWN.items():
        for path in assets.glob(pattern):
            text = path.read_text("utf-8")
            small = minify.string(kind, text)
            if len(small) < len(text):  # a small one may only change the names of its variables
                path.write_text(small, "utf-8")


def _search_late(text: str) -> str:
    """A page that loads the index of the search when the search is opened."""
    script = re.sub(r"^//.*\n|^\s+|\n", "", _LATE_SEARCH, flags=re.MULTILINE)
    return _THEME_SCRIPT.sub(lambda match: f"<script>{script}</script>{match[0]}", text, count=1)


def _with_formulas(texts: dict[Path, str]) -> dict[Path, str]:
    """The pages with their formulas typeset; each formula of the site is typeset once."""
    sources = sorted({match[3] for text in texts.values() for match in _FORMULA.finditer(text)})
    formulas = [(html.unescape(source[2:-2]).strip(), source.startswith("\\[")) for source in sources]
    made = dict(zip(sources, typeset(formulas) if formulas else [], strict=True))
    return {
        path: name_terms(_FORMULA.sub(lambda match: match[1] + made[match[3]] + match[4], text))
        for path, text in texts.items()
    }


def _with_runs(text: str, folder: Path) -> str:
    """A page of `folder` with the pictures of runs in it."""
    return _PICTURE.sub(lambda match: _inlined(folder / match[2], match[1]), text)


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
