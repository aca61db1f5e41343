"""The picture that a chat or a feed shows beside the address of a page: made when the site is built, 1200 x 630 pixels.

It has the course's mark, the eight answers of a group on the line of their mean, with the page's title and question.
Colors and fonts are those of the site; Pillow reads the fonts as they are. Pages whose generator does not know where
the site will be get none, because such a picture needs a whole address.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from ..core import course

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

SIZE = WIDTH, HEIGHT = 1200, 630
REWARDS = (0, 1, 0, 1, 1, 0, 0, 0)
"""Of the eight answers of the mark, in the order in which they were drawn."""
NO_ADDRESS = "No share pictures: set SITE_URL to the address where the site will be."
_FOLDER = "assets/share"
_TOKENS = course.ROOT / "docs/assets/css/tokens.css"
_FONT = course.ROOT / "docs/assets/vendor/fonts/gabarito-latin.woff2"
_ADDRESS = re.compile(r'<link rel="canonical" href="([^"]+)">')
_LOCAL = re.compile(r"https?://(127\.0\.0\.1|localhost)[:/]")
_EDGE, _LINE, _UNIT, _BLOCK = 72, 484, 62, 60
"""In pixels: the margin of the words, the height of the mean line, one standard deviation, the side of a block."""
_FINER = 3
"""The mark is drawn so many times as large and made smaller, because Pillow draws shapes without soft edges."""


@dataclass(frozen=True)
class _Page:
    """What a picture and its tags say of a page."""

    address: str
    title: str
    question: str
    description: str


def with_pictures(texts: dict[Path, str], folder: Path) -> tuple[dict[Path, str], list[str]]:
    """Draw the pictures into the built site and name them in its pages; pages that name one stay as they are.

    Args:
        texts: The HTML of all pages by their files.
        folder: The built site, which gets the pictures.

    Returns:
        The pages with their tags, and what whoever builds the site should know, in sentences.
    """
    home = _ADDRESS.search(texts.get(folder / "index.html", ""))
    if not home or _LOCAL.match(home[1]):
        return texts, [NO_ADDRESS]
    tagged = dict(texts)
    for path, text in texts.items():
        page = _page(text)
        if page and 'property="og:image"' not in text:
            name = path.relative_to(folder).with_suffix("")
            file = f"{_FOLDER}/{(name.parent if name.name == 'index' and name.parent.name else name).as_posix()}.png"
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            picture(page.title, page.question or page.description).save(folder / file)
            tagged[path] = text.replace("</head>", f"{_tags(page, home[1] + file)}</head>", 1)
    return tagged, []


def _page(text: str) -> _Page | None:
    """What a page says of itself; None if it has no address of its own, as the page for wrong addresses."""
    address = _ADDRESS.search(text)
    heading = re.search(r"<h1[^>]*>(.*?)(?:<a class=\"headerlink\".*?)?</h1>", text, re.DOTALL)
    if not address or not heading:
        return None
    question = re.search(r'<grpo-[^>]* question="([^"]*)"', text)
    description = re.search(r'<meta name="description" content="([^"]*)"', text)
    title = re.sub(r"<[^>]*>|\s+", lambda match: " " * match[0].isspace(), heading[1]).strip()
    said = [html.unescape(found[1]) if found else "" for found in (question, description)]
    return _Page(address[1], html.unescape(title), *said)


def _tags(page: _Page, picture: str) -> str:
    """Open Graph tags, which chats and feeds read."""
    properties = {
        "type": "website",
        "site_name": course.TITLE,
        "title": page.title,
        "description": page.description,
        "url": page.address,
        "image": picture,
        "image:width": str(WIDTH),
        "image:height": str(HEIGHT),
        "image:alt": f"Eight answers on the line of their mean, three above and five below it. {page.title}",
    }
    tags = [f'<meta property="og:{name}" content="{html.escape(said)}">' for name, said in properties.items() if said]
    return "".join([*tags, '<meta name="twitter:card" content="summary_large_image">'])


# The picture


def picture(title: str, question: str) -> Image:
    """The picture of a page: the mark, its title, and what it asks where that fits in above the mark."""
    from PIL.ImageDraw import Draw

    image = _mark().copy()
    draw = Draw(image)
    y = _words(draw, 54, [course.TITLE], size=30, weight=700, color="ink-2")
    lines = _lines(title, size=76, weight=800)[:2]
    y = _words(draw, y + 22, lines, size=76, weight=800, color="ink")
    asks = _lines(question, size=36, weight=500)
    if len(lines) == 1 and len(asks) <= 2:
        _words(draw, y + 12, asks, size=36, weight=500, color="ink-2")
    return image


def _lines(text: str, *, size: int, weight: int) -> list[str]:
    """A text in lines that are as wide as the picture without its margins."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if _font(size, weight).getlength(longer) <= WIDTH - 2 * _EDGE:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _words(draw: ImageDraw, y: int, lines: list[str], *, size: int, weight: int, color: str) -> int:
    """Write lines from the height `y` on; returns where they end."""
    for line in lines:
        draw.text((_EDGE, y), line, font=_font(size, weight), fill=_color(color))
        y += round(1.12 * size)
    return y


@cache
def _font(size: int, weight: int) -> FreeTypeFont:
    from PIL.ImageFont import truetype

    font = truetype(_FONT, size)
    font.set_variation_by_axes([weight])
    return font


@cache
def _color(name: str) -> str:
    """A color of the light scheme, by the name of its token."""
    found = re.search(rf"--{name}: (#[0-9a-f]{{6}});", _TOKENS.read_text("utf-8"))
    assert found, f"{_TOKENS} has no --{name}"
    return found[1]


@cache
def _mark() -> Image:
    """Paper with the eight: pushed up an answer stands on the line, pushed down it hangs; a coin is a reward of 1."""
    from PIL import Image
    from PIL.ImageDraw import Draw

    image = Image.new("RGB", (WIDTH * _FINER, HEIGHT * _FINER), _color("paper"))
    draw = Draw(image)
    column = (WIDTH - 2 * _EDGE) / len(REWARDS)
    for place, reward in enumerate(REWARDS):
        advantage = (reward - fmean(REWARDS)) / pstdev(REWARDS)
        _answer(draw, middle=_EDGE + (place + 0.5) * column, advantage=advantage, reward=reward)
    _rectangle(draw, (0, _LINE - 2.5, WIDTH, _LINE + 2.5), color="ink")
    return image.resize(SIZE, Image.Resampling.BOX)


def _answer(draw: ImageDraw, *, middle: float, advantage: float, reward: int) -> None:
    """A stem from the line, as long as the advantage, with the answer as a block at its end."""
    up = advantage > 0
    end = _LINE - advantage * _UNIT
    low, high = (end - _BLOCK, _LINE) if up else (_LINE, end + _BLOCK)
    corners = (up, up, not up, not up)
    box = (middle - _BLOCK / 2, low, middle + _BLOCK / 2, high)
    _rectangle(draw, box, color="up" if up else "down", radius=_BLOCK / 2, corners=corners)
    if reward:
        y, radius = end - _BLOCK / 2, _BLOCK * 0.27
        circle = [_FINER * z for z in (middle - radius, y - radius, middle + radius, y + radius)]
        draw.ellipse(circle, fill=_color("reward"), outline=_color("ink"), width=3 * _FINER)


def _rectangle(
    draw: ImageDraw,
    box: tuple[float, float, float, float],
    *,
    color: str,
    radius: float = 0,
    corners: tuple[bool, bool, bool, bool] = (False, False, False, False),
) -> None:
    finer = [z * _FINER for z in box]
    draw.rounded_rectangle(finer, radius * _FINER, fill=_color(color), corners=corners)
