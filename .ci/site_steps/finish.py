"""Finish the pages of the site after the build, with MkDocs or with Zensical.

This module reads the generator's output. Of the theme it needs only the names of its files and an element `main` with a
class. MkDocs calls it by a hook (`.ci/finish_site.py`). Zensical has no hooks, so call `finish` after it.
"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

from grader.core import course

from .formulas import name_terms, typeset
from .published import published
from .share import with_share_tags, write_myths
from .ways import redirect_old_addresses, with_ways

_FORMULA = re.compile(r'(<(span|div) class="arithmatex">)(\\[(\[].*?\\[)\]])(</\2>)', re.DOTALL)
_PICTURE = re.compile(r'<img alt="([^"]*)"[^>]*? src="([^":]*assets/runs/[^":]*\.svg)"[^>]*>')
_WRAPPED = '<div class="md-typeset__scrollwrap"><div class="md-typeset__table">'
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_ROW, _TAG = re.compile(r"<tr>.*?</tr>", re.DOTALL), re.compile(r"<[^>]+>")
_DRAWN = re.compile(r'<annotation.*?</annotation>|<span class="katex-html".*', re.DOTALL)
_LONG_NAME = re.compile(r"<code>[^<]{24,}</code>")
_KINDS = {
    "hero": "<grpo-hero",
    "simulation": "<grpo-simulation",
    "language-model": "<grpo-language-model",
    "question": "<grpo-question",
    "chapter-question": ' id="the-question"',
}
"""Pages that look different as a whole, and what says so in them."""
_CONTENTS_IN_MENU = 'id="__toc"'
_CONTENTS = re.compile(r'<div class="md-sidebar md-sidebar--secondary".*?(?=<div class="md-content")', re.DOTALL)
_BUNDLE = re.compile(r'<script src="([^"]*)assets/javascripts/bundle\.[^"]*"></script>')
_LATE_SEARCH = "assets/late-search.js"
_EARLY_CLASS = '<script>document.documentElement.className="js js-focus-visible"</script>'
_TOKENS = re.compile(r'<link rel="stylesheet" href="([^"]*)assets/css/tokens\.css">')
_FONTS, _IS_FONT = ("gabarito-latin", "literata-latin"), 'as="font" type="font/woff2" crossorigin'
_ADDRESS = re.compile(r'<link rel="canonical" href="([^"]+)">')
_LOCAL = re.compile(r"https?://(127\.0\.0\.1|localhost)[:/]")


def finish(folder: Path) -> None:
    """Finish all built pages in `folder`; pages that have been finished stay as they are.

    It typesets formulas and marks their terms, inlines pictures of runs, and gives each page a class for its kind. The
    search index loads only when somebody searches. Each page links to the next one of the path, and old addresses
    redirect to new ones. If the address of the site is known, each page and each myth get a picture for sharing.

    Raises:
        py_mini_racer.JSEvalException: KaTeX cannot read a formula.
        FileNotFoundError: a picture of a run is missing.
    """
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*.html")}
    found = _ADDRESS.search(texts.get(folder / "index.html", ""))
    home = found[1] if found and not _LOCAL.match(found[1]) else ""
    unfinished = {path: text for path, text in texts.items() if _LATE_SEARCH not in text}
    for file, text in _with_formulas(unfinished).items():
        page = file.relative_to(folder)
        text = with_ways(text, page, folder)
        text = _with_tables(_with_runs(_said_not_to_count(text, page), file.parent))
        text = _with_fonts(_with_its_kind(_with_contents_once(text)))
        text = with_share_tags(text, page=page, folder=folder, home=home)
        # The search index is larger than everything else, so it loads when the search opens.
        text = _BUNDLE.sub(rf'<script src="\1{_LATE_SEARCH}"></script>\g<0>', text, count=1)
        # The theme's classes of a page: added later, each would cost a pass over all styles.
        text = text.replace("<head>", f"<head>{_EARLY_CLASS}", 1)
        if text != texts[file]:
            file.write_text(text, "utf-8")
    redirect_old_addresses(folder)
    write_myths(folder, home)
    _publish_weights(folder)


def _publish_weights(folder: Path) -> None:
    """The weights that the browser trains are those of the exercise."""
    runs = folder / "assets" / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(course.ROOT / "starter" / "given" / "charlm.safetensors", runs / "charlm.safetensors")


def _said_not_to_count(text: str, page: Path) -> str:
    """A page, with a note if its exercise is not in the course."""
    drafts = {each.name for each in published() if each.draft}
    if page.parts[0] != "exercises" or drafts.isdisjoint(page.parts):
        return text
    what = f"This exercise is not part of {html.escape(course.TITLE)}. You may read it and do it; it earns no points."
    title = '<p class="admonition-title">Not in this course</p>'
    return text.replace("</h1>", f'</h1><div class="admonition note">{title}<p>{what}</p></div>', 1)


def _with_fonts(text: str) -> str:
    """A page that requests its fonts at once; fonts requested by a style sheet arrive too late to be shown."""
    first = _TOKENS.search(text)
    if first is None:
        return text
    links = (f'<link rel="preload" href="{first[1]}assets/vendor/fonts/{name}.woff2" {_IS_FONT}>' for name in _FONTS)
    return text.replace(first[0], "".join([*links, first[0]]), 1)


def _with_formulas(texts: dict[Path, str]) -> dict[Path, str]:
    """The pages with typeset formulas; equal formulas are typeset once."""
    sources = sorted({match[3] for text in texts.values() for match in _FORMULA.finditer(text)})
    formulas = [(html.unescape(source[2:-2]).strip(), source.startswith("\\[")) for source in sources]
    made = dict(zip(sources, typeset(formulas) if formulas else [], strict=True))
    return {
        path: name_terms(_FORMULA.sub(lambda match: match[1] + made[match[3]] + match[4], text))
        for path, text in texts.items()
    }


def _with_tables(text: str) -> str:
    """A page whose tables are already wrapped as the theme's script wraps them, so that nothing moves.

    Two kinds are marked, because a phone shows their rows as blocks: tables of symbols, which begin with a formula and
    have no column of numbers, and wide tables with mostly columns of words, whose cells get the names of their columns.
    """

    def wrapped(match: re.Match[str]) -> str:
        table = match[0]
        first = re.search(r"<td[^>]*>\s*(<span class=\"arithmatex\")?", table)
        if first and first[1] and "<td style=" not in table:
            return f'<div class="grpo-symbols">{_WRAPPED}{table}</div></div></div>'
        columns = re.findall(r"<th([^>]*)>(.*?)</th>", table, re.DOTALL)
        of_numbers = sum("text-align: right" in style for style, _ in columns)
        is_wide = len(columns) > 2 or _LONG_NAME.search(table)
        if not is_wide or 2 * of_numbers >= len(columns):
            return f"{_WRAPPED}{table}</div></div>"
        names = [html.escape(_TAG.sub("", _DRAWN.sub("", name))).strip() for _, name in columns]
        rows = _ROW.sub(lambda row: _with_names(row[0], names), table)
        return f'<div class="grpo-stacked">{_WRAPPED}{rows}</div></div></div>'

    return _TABLE.sub(wrapped, text)


def _with_names(row: str, names: list[str]) -> str:
    """A row in which all cells but the first name their column."""
    left = iter(["", *(f' data-label="{name}"' for name in names[1:])])
    return re.sub("<td", lambda cell: cell[0] + next(left, ""), row)


def _with_contents_once(text: str) -> str:
    """A page without the column of its contents if the menu has them, because a figure needs the width."""
    return _CONTENTS.sub("", text, count=1) if _CONTENTS_IN_MENU in text else text


def _with_its_kind(text: str) -> str:
    """A page with a class for its kind; the selector :has would make each change of the page slow."""
    kinds = "".join(f"with-{kind} " for kind, sign in _KINDS.items() if sign in text)
    return re.sub('<main class="', lambda match: match[0] + kinds, text, count=1)


def _with_runs(text: str, folder: Path) -> str:
    """A page of `folder` with its pictures of runs inlined."""
    return _PICTURE.sub(lambda match: _inlined(folder / match[2], match[1]), text)


def _inlined(picture: Path, description: str) -> str:
    """The picture itself instead of a link to it, so that it has the page's colors and fonts."""
    svg = picture.read_text("utf-8").replace(' xmlns="http://www.w3.org/2000/svg"', "")
    svg = svg.replace("<use href=", "<use xlink:href=")  # the theme writes to every href, and here it is read-only
    height = re.search(r' height="(\d+)"', svg)
    style = f' style="--height: {height[1]}px"' if height else ""  # the theme gives pictures a height of its own
    return svg.replace("<svg", f'<svg aria-label="{description}"{style}', 1).replace("\n", "")
