"""What happens to the pages of the site after they were built: the same for MkDocs and for Zensical.

It reads what a generator has written, and needs nothing of its theme but the names of its files and an element `main`
with a class. MkDocs calls it by a hook; Zensical, which knows no hooks, is followed by
`course dev finish-site`.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from ..core import course
from . import first_paint, script_chains, share
from .formulas import name_terms, typeset
from .published import published

_FORMULA = re.compile(r'(<(span|div) class="arithmatex">)(\\[(\[].*?\\[)\]])(</\2>)', re.DOTALL)
_PICTURE = re.compile(r'<img alt="([^"]*)"[^>]*? src="([^":]*assets/runs/[^":]*\.svg)"[^>]*>')
_WRAPPED = '<div class="md-typeset__scrollwrap"><div class="md-typeset__table">'
_TABLE = re.compile(rf"(?<!{_WRAPPED})<table>.*?</table>", re.DOTALL)
_KINDS = {
    "hero": "<grpo-hero",
    "simulation": "<grpo-simulation",
    "question": "<grpo-question",
    "chapter-question": ' id="the-question"',
}
"""Pages that look different as a whole, and what says so in them."""
_OF_EXERCISES, _NOT_IN_THE_COURSE = ("exercises", "mistakes", "discussion", "reference"), "Not in this course"
_OWN = {"text/javascript": "js/**/*.mjs", "text/css": "css/*.css"}


def finish(folder: Path) -> list[str]:
    """Finish all built pages in `folder`; pages that have been finished stay as they are.

    Formulas are typeset and their terms marked, pictures of runs are put in, what a page has is said in a class, pages
    get a picture for those who share their address, and the course's own scripts and styles are made small and asked
    for at once. What lets a page appear soon is in `first_paint`.

    Returns:
        What whoever builds the site should know, in sentences.

    Raises:
        py_mini_racer.JSEvalException: KaTeX cannot read a formula.
        FileNotFoundError: a picture of a run is missing, or a script that another one imports.
        minify.MinifyError: a script or a style sheet cannot be read.
    """
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*.html")}
    first_paint.join_sheets(folder, texts.values())
    first_paint.style_less_often(folder / "assets")
    _minify(folder / "assets")
    scripts = folder / "assets/js"
    script_chains.shorten(scripts)
    finished = {
        path: _with_tables(_with_runs(_said_not_to_count(text, path.relative_to(folder)), path.parent))
        for path, text in _with_formulas(texts).items()
    }
    finished = {
        path: first_paint.soon(script_chains.preloaded(_with_its_kind(text), scripts))
        for path, text in finished.items()
    }
    finished, notes = share.with_pictures(finished, folder)
    for path, text in finished.items():
        if text != texts[path]:
            path.write_text(text, "utf-8")
    return notes


def _said_not_to_count(text: str, page: Path) -> str:
    """A page that says so if it is of an exercise that is not in the course."""
    name = page.parent.name if page.name == "index.html" else page.stem
    is_one = name in {each.name for each in published() if each.draft} and page.parts[0] in _OF_EXERCISES
    if not is_one or _NOT_IN_THE_COURSE in text:
        return text
    what = f"This exercise is not part of {html.escape(course.TITLE)}. You may read it and do it; it earns no points."
    said = f'<div class="admonition note"><p class="admonition-title">{_NOT_IN_THE_COURSE}</p><p>{what}</p></div>'
    return text.replace("</h1>", f"</h1>{said}", 1)


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


def _with_formulas(texts: dict[Path, str]) -> dict[Path, str]:
    """The pages with their formulas typeset; each formula of the site is typeset once."""
    sources = sorted({match[3] for text in texts.values() for match in _FORMULA.finditer(text)})
    formulas = [(html.unescape(source[2:-2]).strip(), source.startswith("\\[")) for source in sources]
    made = dict(zip(sources, typeset(formulas) if formulas else [], strict=True))
    return {
        path: name_terms(_FORMULA.sub(lambda match: match[1] + made[match[3]] + match[4], text))
        for path, text in texts.items()
    }


def _with_tables(text: str) -> str:
    """A page whose tables are wrapped as the theme's script would, so that nothing moves when it does.

    Those of symbols are marked: they begin with a formula, and no column of theirs is of numbers.
    """

    def wrapped(match: re.Match[str]) -> str:
        first = re.search(r"<td[^>]*>\s*(<span class=\"arithmatex\")?", match[0])
        table = f"{_WRAPPED}{match[0]}</div></div>"
        is_one = first and first[1] and "<td style=" not in match[0]
        return f'<div class="grpo-symbols">{table}</div>' if is_one else table

    return _TABLE.sub(wrapped, text)


def _with_its_kind(text: str) -> str:
    """A page that says in a class what it has: the selector :has would make each change of the page slow."""
    kinds = "".join(f"with-{kind} " for kind, sign in _KINDS.items() if sign in text)
    return re.sub('<main class="(?!with-)', lambda match: match[0] + kinds, text, count=1)


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
