"""A page of the site is seen soon: what it needs for that comes first, and what runs comes when it can be read.

It knows of the theme the names of its files, and what it does as it begins, which is when the document is said to be
complete: it sets an attribute while it switches colors, makes an element `meta`, sets addresses again, and gives the
root a class. In a theme that does none of that, only the last of these changes something: the root has a class more.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

_SHEETS = re.compile(r'\s*<link rel="stylesheet" href="([^"]*)(assets/(?!stylesheets/)[^"]*\.css)">')
_SHEET = "assets/css/site.css"
_URL = re.compile(r"""url\((["']?)(?!data:|#|/)([^)"']+)\1\)""")
_FONTS = ("gabarito-latin", "literata-latin")
_SWITCHING = re.compile(r"[^{}]*\[data-md-color-switching\][^{}]*\{[^}]*\}")
_COLOR_SCHEME = ('{name:"color-scheme"}', '{name:"color_scheme"}')
_SCRIPTS = re.compile(
    r'<script src="([^"]*assets/javascripts/bundle\.[^"]*)"></script>'
    r'((?:\s*<script src="[^"]*" type="module"></script>)*)'
)
_SCRIPTS_RUN = '<meta charset="utf-8"><script>document.documentElement.className="js-focus-visible js"</script>'
_BEFORE_THEM = "".join(
    re.sub(r"^//.*\n|^\s+|\n", "", (Path(__file__).parent / "site_files" / name).read_text("utf-8"), flags=re.MULTILINE)
    for name in ("late_search.js", "kept_sheets.js", "late_scripts.js")
)


def join_sheets(folder: Path, texts: Iterable[str]) -> None:
    """Make the style sheets of the pages one, in their order: each of a dozen would hold back the first picture."""
    names = dict.fromkeys(match[2] for text in texts for match in _SHEETS.finditer(text) if match[2] != _SHEET)
    if names:
        sheets = [_moved((folder / name).read_text("utf-8"), posixpath.dirname(name)) for name in names]
        (folder / _SHEET).write_text("\n".join(sheets), "utf-8")
        for name in names:
            (folder / name).unlink()  # no page links to it any more


def _moved(sheet: str, folder: str) -> str:
    """A style sheet of `folder` with its addresses as they are from the folder of the joined one."""
    here = posixpath.dirname(_SHEET)
    return _URL.sub(lambda match: f"url({posixpath.relpath(posixpath.join(folder, match[2]), here)})", sheet)


def _with_one_sheet(text: str) -> str:
    """The page with the joined style sheet, and with its fonts asked for at once.

    A font that waits for the style sheet comes too late to be shown.
    """
    first = _SHEETS.search(text)
    if first is None or first[2] == _SHEET:
        return text
    fonts = (f"{first[1]}assets/vendor/fonts/{name}.woff2" for name in _FONTS)
    links = [f'<link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin>' for font in fonts]
    links.append(f'<link rel="stylesheet" href="{first[1]}{_SHEET}">')
    return _SHEETS.sub(lambda match: "".join(links) if match.start() == first.start() else "", text)


def style_less_often(assets: Path) -> None:
    """Take out of the theme what lets a browser style the whole page once more, and changes nothing of it.

    A rule that nothing moves while colors are switched speaks of all elements, and the theme switches colors at each
    load. And an element `meta` says which color scheme a page has, as its style sheets do: twice, of which each counts
    as a change of all colors. It gets a name that no browser knows, as long as the other, so that the map of the
    script stays true.
    """
    for path in (*assets.glob("stylesheets/*.css"), *assets.glob("javascripts/bundle.*.js")):
        text = path.read_text("utf-8")
        less = _SWITCHING.sub("", text) if path.suffix == ".css" else text.replace(*_COLOR_SCHEME)
        if less != text:
            path.write_text(less, "utf-8")


def soon(text: str) -> str:
    """A page whose scripts, the theme's and the course's own, come after styles and fonts and run once it was seen.

    Then it loads the index of the search when the search is opened, and its style sheets once. That scripts run, which
    the theme says of the whole page, is said before there is anything to style.
    """
    text = _with_one_sheet(text)
    found = _SCRIPTS.search(text)
    if found is None:
        return text
    late = [found[1], *re.findall(r'src="([^"]*)"', found[2])]
    asked = f'<link rel="preload" as="script" href="{found[1]}" fetchpriority="low"></head>'
    text = text.replace(found[0], f"<script>{_BEFORE_THEM.replace('SCRIPTS', json.dumps(late))}</script>", 1)
    return text.replace("</head>", asked, 1).replace('<meta charset="utf-8">', _SCRIPTS_RUN, 1)
