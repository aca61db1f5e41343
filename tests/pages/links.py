"""Checks the links of a built site: what strict MkDocs does not see, such as links in raw HTML."""

from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from lxml import html

ANYWHERE = "404.html"
"""A server shows this page at any address, so its links start at the host's root."""


def faults(folder: Path, *, address: str) -> list[str]:
    """What is wrong with the links of a site, one line each.

    Args:
        folder: The built site.
        address: Where the site stands, with a slash at its end; links that start with it are the site's own too.
    """
    trees = {path: html.parse(path, html.HTMLParser(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    ids = {path: tree.xpath("//@id") for path, tree in trees.items()}
    found = []
    for path, tree in trees.items():
        name = path.relative_to(folder).as_posix()
        own = address + name.removesuffix("index.html")
        found += [
            f"{name}: duplicate id {each!r}" for each in {each for each in ids[path] if ids[path].count(each) > 1}
        ]
        for link in sorted({*tree.xpath("//@href | //@src | //@data | //@poster | //@action")}):
            problem = _problem(urljoin(own, link), ids=ids, folder=folder, address=address)
            if link.startswith("/") and not link.startswith("//") and name != ANYWHERE:
                problem = "starts at the host's root"
            if problem:
                found.append(f"{name}: {link!r} {problem}")
    return found


def _problem(target: str, *, ids: dict[Path, list[str]], folder: Path, address: str) -> str | None:
    """What is wrong with one link, given as a whole address."""
    parts = urlsplit(target)
    if parts.scheme == "javascript":
        return "is a script"
    if parts.netloc != urlsplit(address).netloc:
        return None  # another host, mail, data
    if not target.startswith(address):
        return "leaves the site"
    path = folder / unquote(parts.path.removeprefix(urlsplit(address).path))
    if parts.path.endswith("/"):
        path /= "index.html"
    if not path.is_file():
        return "leads to a folder without its slash" if path.is_dir() else "leads nowhere"
    if parts.fragment and path in ids and unquote(parts.fragment) not in ids[path]:
        return "leads to no such id"
    return None
