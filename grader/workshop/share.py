"""The picture that a chat or a feed shows beside the address of a page: made when the site is built.

It has the page's title, the question of its first figure, and the figure. Pages whose generator does not know where the
site will be get none, because such a picture needs a whole address.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

from ..core import course
from .share_figures import Curves, Values, first_figure
from .share_picture import HEIGHT, WIDTH, picture

NO_ADDRESS = "No share pictures: set SITE_URL to the address where the site will be."
MARK_IN_WORDS = "Eight answers on the line of their mean, three above and five below it"
_FOLDER = "assets/share"
_ADDRESS = re.compile(r'<link rel="canonical" href="([^"]+)">')
_LOCAL = re.compile(r"https?://(127\.0\.0\.1|localhost)[:/]")


@dataclass(frozen=True)
class _Page:
    """What a picture and its tags say of a page."""

    address: str
    title: str
    question: str
    description: str
    figure: Values | Curves | None


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
            picture(page.title, page.question or page.description, page.figure).save(folder / file)
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
    asks, says = (html.unescape(found[1]) if found else "" for found in (question, description))
    figure = first_figure(text)
    if isinstance(figure, Curves):
        asks = figure.question
    return _Page(address[1], html.unescape(title), asks, says, figure)


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
        "image:alt": f"{page.figure or MARK_IN_WORDS}. {page.title}",
    }
    tags = [f'<meta property="og:{name}" content="{html.escape(said)}">' for name, said in properties.items() if said]
    return "".join([*tags, '<meta name="twitter:card" content="summary_large_image">'])
