"""Draws the picture of a page for those who share its address, 1200 × 630 pixels: words above, a figure below.

Colors and fonts are those of the site; Pillow reads the fonts as they are. A page without a figure has the course's
mark, the eight answers of a group on the line of their mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from ..core import course
from .share_figures import Curves, Points, Values

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

SIZE = WIDTH, HEIGHT = 1200, 630
REWARDS = (0, 1, 0, 1, 1, 0, 0, 0)
"""Of the eight answers of the mark, in the order in which they were drawn."""
MARK = Values(
    name="",
    labels=("",) * len(REWARDS),
    words=tuple(f"{(reward - fmean(REWARDS)) / pstdev(REWARDS):+.3f}".replace("-", "\u2212") for reward in REWARDS),
    rewarded=tuple(map(bool, REWARDS)),
)
_TOKENS = course.ROOT / "docs/assets/css/tokens.css"
_FONT = course.ROOT / "docs/assets/vendor/fonts/gabarito-latin.woff2"
_EDGE, _TOP, _BOTTOM = 72, 344, 618
"""In pixels: the margin of the words, and where a figure begins and ends."""
_LINE, _UNIT, _BLOCK = 484, 62, 60
"""In pixels: the height of the mean line, one standard deviation at most, the side of a block."""
_GROUND, _BAR = 574, 156
"""In pixels: where bars stand, and the height of the highest."""
_FINER = 3
"""A figure is drawn so many times as large and made smaller, because Pillow draws shapes without soft edges."""


def picture(title: str, question: str, figure: Values | Curves | None = None) -> Image:
    """The picture of a page: its title, what it asks where that fits in, and its figure or else the mark."""
    from PIL import Image
    from PIL.ImageDraw import Draw

    image = Image.new("RGB", SIZE, _color("paper"))
    shapes = Image.new("RGB", (WIDTH * _FINER, (HEIGHT - _TOP) * _FINER), _color("paper"))
    if isinstance(figure, Curves):
        _curves(Draw(shapes), figure)
    elif figure is None or figure.signed:
        _answers(Draw(shapes), figure or MARK)
    else:
        _bars(Draw(shapes), figure)
    image.paste(shapes.resize((WIDTH, HEIGHT - _TOP), Image.Resampling.BOX), (0, _TOP))
    draw = Draw(image)
    y = _words(draw, 54, [course.TITLE], size=30, weight=700, color="ink-2")
    lines = _lines(title, size=76, weight=800)[:2]
    y = _words(draw, y + 22, lines, size=76, weight=800, color="ink")
    asks = _lines(question, size=36, weight=500)
    if len(lines) == 1 and len(asks) <= 2:
        _words(draw, y + 12, asks, size=36, weight=500, color="ink-2")
    return image


# Figures: places are pixels of the finished picture


def _answers(draw: ImageDraw, values: Values) -> None:
    """An answer that is pushed up is above the line, one that is pushed down below it; a coin is a reward of 1."""
    numbers = values.numbers
    highest, lowest = max(*numbers, 0.0), min(*numbers, 0.0)
    unit = min(_UNIT, (_LINE - _TOP - _BLOCK) / (highest or 1), (_BOTTOM - _LINE - _BLOCK) / (-lowest or 1))
    for middle, number, label, rewarded in zip(
        _columns(len(numbers)), numbers, values.labels, values.rewarded, strict=True
    ):
        _answer(draw, middle, number * unit, rewarded=rewarded)
        _label(draw, middle, _LINE + (26 if number >= 0 else -26), label, room=(WIDTH - 2 * _EDGE) / len(numbers))
    _rectangle(draw, (0, _LINE - 2.5, WIDTH, _LINE + 2.5), color="ink")


def _answer(draw: ImageDraw, middle: float, push: float, *, rewarded: bool) -> None:
    """A stem from the line, as long as the push, with the answer as a block at its end; plain without a push."""
    end = _LINE - push
    left, right = middle - _BLOCK / 2, middle + _BLOCK / 2
    if push > 0:
        _rectangle(
            draw, (left, end - _BLOCK, right, _LINE), color="up", radius=_BLOCK / 2, corners=(True, True, False, False)
        )
    elif push < 0:
        _rectangle(
            draw,
            (left, _LINE, right, end + _BLOCK),
            color="down",
            radius=_BLOCK / 2,
            corners=(False, False, True, True),
        )
    else:
        draw.rectangle(
            _fine((left, _LINE - _BLOCK, right, _LINE)), fill=_color("paper"), outline=_color("ink"), width=3 * _FINER
        )
    if rewarded:
        y, radius = (end - _BLOCK / 2 if push >= 0 else end + _BLOCK / 2), _BLOCK * 0.27
        circle = _fine((middle - radius, y - radius, middle + radius, y + radius))
        draw.ellipse(circle, fill=_color("reward"), outline=_color("ink"), width=3 * _FINER)


def _bars(draw: ImageDraw, values: Values) -> None:
    """Bars from one ground, each with its number above and its name below."""
    numbers = values.numbers
    room = (WIDTH - 2 * _EDGE) / len(numbers)
    for middle, number, word, label in zip(_columns(len(numbers)), numbers, values.words, values.labels, strict=True):
        top = _GROUND - _BAR * number / (max(numbers) or 1)
        _rectangle(draw, (middle - 0.3 * room, top, middle + 0.3 * room, _GROUND), color="ink")
        _label(draw, middle, top - 22, word, room=room, color="ink")
        _label(draw, middle, _GROUND + 24, label, room=room)
    _label(draw, _EDGE, _TOP + 14, values.name, color="ink", anchor="lm")
    _rectangle(draw, (_EDGE, _GROUND - 1.5, WIDTH - _EDGE, _GROUND + 1.5), color="ink")


def _curves(draw: ImageDraw, curves: Curves) -> None:
    """One chart: its band, the pale lines of other settings, and its line, with the ends of both axes."""
    left, right, top, bottom = _EDGE + 70, WIDTH - _EDGE, _TOP + 44, 580

    def placed(points: Points) -> list[tuple[float, float]]:
        return [
            ((left + x * (right - left) / 1000) * _FINER, (top - _TOP + y * (bottom - top) / 200) * _FINER)
            for x, y in points
        ]

    for height in (0, 200):
        draw.line(placed([(0, height), (1000, height)]), fill=_color("rule"), width=2 * _FINER)
    if curves.band:
        band = placed(curves.band)
        draw.polygon(band, fill=_color("reward" if curves.reward else "rule"))
        if curves.reward:  # gold has an outline of ink
            draw.line([*band, band[0]], fill=_color("ink"), width=2 * _FINER, joint="curve")
    for other in curves.others:
        draw.line(placed(other), fill=_color("edge"), width=2 * _FINER, joint="curve")
    draw.line(placed(curves.line), fill=_color("ink"), width=6 * _FINER, joint="curve")
    for y, words in ((top, curves.ends[0]), (bottom, curves.ends[1])):
        _label(draw, left - 14, y, words, anchor="rm")
    _label(draw, left, top - 24, curves.name, color="ink", anchor="lm")
    _label(draw, left, bottom + 22, "0", anchor="lm")
    _label(draw, right, bottom + 22, curves.steps, anchor="rm")


def _columns(count: int) -> list[float]:
    """The middles of equal columns between the margins."""
    return [_EDGE + (place + 0.5) * (WIDTH - 2 * _EDGE) / count for place in range(count)]


def _label(
    draw: ImageDraw,
    x: float,
    y: float,
    words: str,
    *,
    room: float = WIDTH,
    color: str = "ink-2",
    anchor: str = "mm",
) -> None:
    """Words at a place, made smaller where there is little room."""
    size = 28 * _FINER
    width = _font(size, 600).getlength(words)
    size = round(size * min(1.0, 0.96 * room * _FINER / (width or 1)))
    draw.text((x * _FINER, (y - _TOP) * _FINER), words, font=_font(size, 600), fill=_color(color), anchor=anchor)


def _rectangle(
    draw: ImageDraw,
    box: tuple[float, float, float, float],
    *,
    color: str,
    radius: float = 0,
    corners: tuple[bool, bool, bool, bool] = (False, False, False, False),
) -> None:
    draw.rounded_rectangle(_fine(box), radius * _FINER, fill=_color(color), corners=corners)


def _fine(box: tuple[float, float, float, float]) -> Sequence[float]:
    """A box in the finer pixels in which figures are drawn, from their top on."""
    x0, y0, x1, y1 = box
    return [x0 * _FINER, (y0 - _TOP) * _FINER, x1 * _FINER, (y1 - _TOP) * _FINER]


# Words


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
