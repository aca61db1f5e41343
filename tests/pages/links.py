"""Checks the links of a built site without a network: what strict MkDocs does not see, such as links in raw HTML.

Left out: what stands on other hosts, and addresses inside style sheets and scripts (a browser's test loads those).
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

ADDRESSES = {"href", "src", "data", "poster", "action"}
ANYWHERE = {"404.html"}
"""Pages that a server shows at any address, so their links must start at the host's root."""


@dataclass(kw_only=True)
class _Page(HTMLParser):
    """Ids and links of one page."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id":
                self.ids.append(value or "")
            elif name in ADDRESSES:
                self.links.append(value or "")


def faults(folder: Path, *, address: str) -> list[str]:
    """What is wrong with the links of a site, one line each.

    Args:
        folder: The built site.
        address: Where the site stands, with a slash at its end; links that start with it are the site's own too.
    """
    pages = {path: _parsed(path) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        own = address + name.removesuffix("index.html")
        problems = [f"duplicate id {id!r}" for id in sorted({id for id in page.ids if page.ids.count(id) > 1})]
        for link in sorted(set(page.links)):
            absolute = link.startswith("/") and not link.startswith("//")
            problem = "starts at the host's root" if absolute and name not in ANYWHERE else None
            problem = problem or _problem(urljoin(own, link), pages=pages, folder=folder, address=address)
            if problem:
                problems.append(f"{link!r} {problem}")
        found += [f"{name}: {problem}" for problem in problems]
    return found


def _parsed(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def _problem(target: str, *, pages: dict[Path, _Page], folder: Path, address: str) -> str | None:
    """What is wrong with one link, given as a whole address."""
    if urlsplit(target).scheme == "javascript":
        return "is a script"
    if urlsplit(target).netloc != urlsplit(address).netloc:
        return None  # another host, mail, data
    if not target.startswith(address):
        return "leaves the site"
    parts = urlsplit(target)
    path = folder / unquote(parts.path.removeprefix(urlsplit(address).path))
    if parts.path.endswith("/"):
        path /= "index.html"
    if not path.is_file():
        return "leads to a folder without its slash" if path.is_dir() else "leads nowhere"
    if parts.fragment and path in pages and unquote(parts.fragment) not in pages[path].ids:
        return "leads to no such id"
    return None
