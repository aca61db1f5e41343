"""What a chat or a feed shows of a page: its title, its description and a picture of its own, drawn by `first_states`.

Such pictures need absolute addresses, so a site without an address has none.
"""

from __future__ import annotations

import html
import logging
import re
from functools import cache
from pathlib import Path
from typing import Any

from grader.core import course

from .first_states import asks, card
from .templates import render

_log = logging.getLogger(f"mkdocs.{__name__}")
_FILES = Path(__file__).parent / "share_files"
_STYLES = course.ROOT / "docs" / "assets" / "css"
_FOLDER, _OF_THE_HOME_PAGE = "assets/share", "assets/share.png"
_ADDRESS = re.compile(r'<link rel="canonical" href="([^"]+)">')
_TITLE, _DESCRIPTION = re.compile(r"<title>([^<]*)</title>"), re.compile(r'<meta name="description" content="([^"]*)"')
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
_FIGURE = re.compile(r'<(grpo-[\w-]+)((?: [\w-]+="[^"]*")*)>')
_TAG = re.compile(r"<a class=\"headerlink\".*?</a>|<[^>]+>", re.DOTALL)
_IS_PICTURE = re.compile(r"fill|stroke|font|opacity|anchor|paint-order|display")


def with_share_tags(text: str, *, page: Path, folder: Path, home: str) -> str:
    """A page with Open Graph tags; draws its picture into `folder`."""
    address = _ADDRESS.search(text)
    if not home or not address:
        return text
    title, description = (match[1] if (match := pattern.search(text)) else "" for pattern in (_TITLE, _DESCRIPTION))
    heading = _HEADING.search(text)
    words = {"title": plain(heading[1]) if heading else html.unescape(title), "words": ""}
    name = "-".join(page.with_suffix("").parts).removesuffix("-index")
    picture = _OF_THE_HOME_PAGE
    if name != "index":
        about, figures = html.unescape(description), _figures(text)
        picture = draw(name, words, description=about, figures=figures, address=address[1], folder=folder)
    return add_tags(text, title=title, description=description, address=address[1], picture=f"{home}{picture}")


def add_tags(text: str, *, title: str, description: str, address: str, picture: str) -> str:
    """A page with the tags that chats and feeds read; title and description are HTML."""
    properties = {
        "type": "website",
        "site_name": html.escape(course.TITLE),
        "title": title,
        "description": description,
        "url": address,
        "image": picture,
        "image:width": "1200",
        "image:height": "630",
        "image:alt": title,
    }
    tags = [f'<meta property="og:{name}" content="{value}">' for name, value in properties.items() if value]
    tags.append('<meta name="twitter:card" content="summary_large_image">')
    return text.replace("</head>", "".join(tags) + "</head>", 1)


def draw(
    name: str,
    words: dict[str, str],
    *,
    description: str,
    figures: list[tuple[str, dict[str, str]]],
    address: str,
    folder: Path,
) -> str:
    """Draw a card with the first figure that has a picture; returns its path in the site."""
    from resvg_py import svg_to_bytes  # part of the extra "docs"

    colors = {to: _tokens()[token] for to, token in _COLORS.items()}
    page: dict[str, Any] = {
        **words,
        "course": course.TITLE,
        "address": re.sub(r"^https?://|/$", "", address),
        "colors": colors,
    }
    picture = next(filter(None, (_with_figure(page, figure) for figure in figures)), "")
    picture = picture or card({**page, "words": words["words"] or description}, figure=None)
    data = svg_to_bytes(
        svg_string="".join(filter(_letters().__contains__, picture)),
        style_sheet=_styles(),
        skip_system_fonts=True,
        font_files=[str(file) for file in sorted(_FILES.glob("*.ttf"))],
    )
    target = folder / _FOLDER / f"{name}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(bytes(data))
    return f"{_FOLDER}/{name}.png"


_COLORS = {"paper": "--paper", "ink": "--ink", "pale": "--ink-2", "up": "--up", "down": "--down"}


def _with_figure(page: dict[str, Any], figure: tuple[str, dict[str, str]]) -> str:
    """The card with a figure; empty if the figure has no charts or cannot be drawn without a browser."""
    from py_mini_racer import JSEvalException

    try:
        return card({**page, "title": figure[1].get("question", page["title"]), "number": ""}, figure=figure)
    except JSEvalException as error:
        _log.info("%s is in no picture for sharing: %s", figure[0], error)
        return ""


def _figures(text: str) -> list[tuple[str, dict[str, str]]]:
    """The figures of a page, first those that do not ask for a guess, which a picture would give away."""
    found = [(tag, _attributes(told)) for tag, told in _FIGURE.findall(text) if "grpo-explorable" in told]
    return sorted(found, key=lambda figure: asks(figure[0]))


def plain(text: str) -> str:
    """The words of HTML."""
    return " ".join(html.unescape(_TAG.sub("", text)).split())


def _attributes(text: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', text)}


@cache
def _letters() -> set[str]:
    """What the pictures' fonts have; what they lack would be drawn as boxes."""
    return {*(_FILES / "letters.txt").read_text("utf-8"), " ", "\N{NO-BREAK SPACE}"}


_MYTH = re.compile(r"<grpo-myth[^>]*>(.*?)</grpo-myth>", re.DOTALL)
_CLAIM = re.compile(r'<h3 id="([^"]+)">(.*?)</h3>', re.DOTALL)
_PARAGRAPH = re.compile(r"<p[^>]*>(.*?)</p>", re.DOTALL)


def write_myths(folder: Path, home: str) -> None:
    """Give each myth a small page of its own, so that a link to it shows its claim and its picture."""
    page = folder / "myths" / "index.html"
    if not page.is_file():
        return  # a site on a disk has no links to post
    for text in _MYTH.findall(page.read_text("utf-8")):
        claim = _CLAIM.search(text)
        assert claim, "a myth without a claim"
        words = [plain(paragraph) for paragraph in _PARAGRAPH.findall(text)]
        _write_myth(folder, home, id=claim[1], claim=plain(claim[2]), words=words, figures=_figures(text))


def _write_myth(
    folder: Path, home: str, *, id: str, claim: str, words: list[str], figures: list[tuple[str, dict[str, str]]]
) -> None:
    correction, number = words[:2]
    address = f"{home}myths/{id}/"
    picture = ""
    if home:
        told = {"title": claim, "words": correction, "number": number}
        figures = [(tag, {**attributes, "question": claim}) for tag, attributes in figures]
        picture = draw(f"myths-{id}", told, description=correction, figures=figures, address=address, folder=folder)
    escaped = {"claim": html.escape(claim), "correction": html.escape(correction), "number": html.escape(number)}
    image = f'<img src="../../{picture}" width="1200" height="630" alt="{html.escape(number)}">' if picture else ""
    text = render("myth.html", **escaped, id=id, address=address, course=html.escape(course.TITLE), picture=image)
    if home:
        tags = {"title": escaped["claim"], "description": escaped["correction"]}
        text = add_tags(text, **tags, address=address, picture=f"{home}{picture}")
    target = folder / "myths" / id / "index.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")


@cache
def _tokens() -> dict[str, str]:
    """The design's colors and faces in the light scheme."""
    text = (_STYLES / "tokens.css").read_text("utf-8").split("@media")[0]
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", text))


@cache
def _styles() -> str:
    """How charts look: the rules of the site's style sheets that a picture needs, in the words that resvg knows."""
    rules = [_WITHOUT_SHEET]
    for name in ("widgets.css", "explorables.css"):
        text = re.sub(r"/\*.*?\*/", "", (_STYLES / name).read_text("utf-8"), flags=re.DOTALL)
        text = re.sub(r"@[^{}]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", text)  # other screens, and paper
        for selectors, declarations in re.findall(r"([^{}]+)\{([^{}]*)\}", text):
            if _IS_PICTURE.search(declarations):
                plainer = [each for each in _expanded(selectors.strip()) if ":" not in each]
                rules += [f"{each} {{{_resolved(declarations)}}}" for each in plainer]
    return "\n".join(rules)


_WITHOUT_SHEET = """
text { font-family: Gabarito, 'Literata Greek'; font-variant-numeric: tabular-nums; }
.grpo-chart text { font-size: 13px; font-weight: 500; }
"""
_IS = re.compile(r"^(.*?)([^\s,>+~]*):is\(([^()]*)\)(.*)$", re.DOTALL)
_KINDS = ("first", "second", "third", "fourth", "each", "up", "down", "old", "reference", "reward")
_LINES = ", ".join(f".line-{name}" for name in _KINDS)


def _expanded(selectors: str) -> list[str]:
    """Selectors without `:is()` and without attributes; a figure's tag is a class of the picture."""
    found = []
    for selector in re.split(r",(?![^(]*\))", selectors.replace('[class^="line-"]', f":is({_LINES})")):
        if match := _IS.match(selector.strip()):
            before, start, options, after = match.groups()
            for option in options.split(","):
                tag = option.strip()
                found += _expanded(f"{before}{tag + start if tag[:1].isalpha() else start + tag}{after}")
        else:
            found.append(re.sub(r"(?<![\w.-])(grpo-[\w-]+)", r".\1", selector.strip()))
    return found


def _resolved(declarations: str) -> str:
    return re.sub(r"var\((--[\w-]+)\)", lambda match: _tokens().get(match[1], "none"), declarations)
