"""Navigation between built pages: the four tabs, the parts of an exercise, the next page of the path, old addresses.

It works for MkDocs, for Zensical, and for a site on a disk, where each address names a file.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from . import path
from .published import published
from .templates import render

_ROOT = re.compile(r'<a href="([^"]*)"[^>]* class="md-header__button md-logo"')
_TAB = re.compile(r'\s*<li class="md-tabs__item[^"]*">\s*<a [^>]*>\s*(?:Home|Teach)\s*</a>\s*</li>')
"""Home is behind the logo, and Teach at the foot. Both stay in the menu."""
_COPYRIGHT = '<div class="md-copyright">'
_PARTS = {"": "Task", "/functions": "Functions", "/mistakes": "Mistakes", "/after": "After"}
"""The pages of an exercise, by what follows its own address."""
_MOVED = {
    "what-breaks-grading": "start/#what-breaks-grading",
    "notebooks": "start/#in-a-notebook",
    "results/challenge": "next/#challenge",
    "instructors/yours": "instructors/course-toml/",
    "instructors/honesty": "instructors/course-toml/#honesty",
    "instructors/site": "instructors/course-toml/#site",
    "instructors/handout": "instructors/#3-give-out-the-exercises",
    "instructors/cluster": "instructors/class/#cluster",
    "instructors/report": "instructors/class/#report",
    "instructors/exports": "instructors/class/#formats",
    "instructors/worksheet": "instructors/class/#worksheet",
    "instructors/personal-data": "instructors/isolation/#stored",
    "instructors/attacks": "instructors/isolation/#test-the-walls",
    "instructors/maintain": "instructors/",
    "instructors/releases": "instructors/",
    "maintainers/decisions": "instructors/",
}
_MOVED_OF_AN_EXERCISE = {"mistakes/{}": "mistakes/", "discussion/{}": "after/", "reference/api/{}": "functions/"}
"""Old addresses stand in reports that were written before."""


def with_ways(text: str, file: Path, folder: Path) -> str:
    """A page with its navigation; `file` is its path in the built site."""
    logo = _ROOT.search(text)
    if logo is None:
        return text
    root = f"{logo[1].rstrip('/')}/" if file.name == "404.html" else "../" * (len(file.parts) - 1)
    text = _TAB.sub("", text).replace('class="md-tabs__list"', 'class="md-tabs__list grpo-doors"', 1)
    if teach := _address(folder, root, "instructors"):
        link = f'<a class="grpo-teach" href="{teach}">Teach with this course</a>'
        text = text.replace(_COPYRIGHT, _COPYRIGHT + link, 1)
    if file.name == "404.html":
        return re.sub(r"<h1>.*?</h1>", render("lost.html", root=root).rstrip(), text, count=1)
    page = (file.parent if file.name == "index.html" else file.with_suffix("")).as_posix()
    if page.startswith("exercises/"):
        text = _with_parts(text, page, folder, root)
    after = path.after(page)
    if after is None:
        return text
    link = f"<span>Next, {after.minutes} minutes</span> {html.escape(after.title)}"
    link = f'<nav class="grpo-next" aria-label="Next"><a href="{_address(folder, root, after.page)}">{link}</a></nav>'
    return text.replace("</article>", f"{link}</article>", 1)


def redirect_old_addresses(folder: Path) -> None:
    """Write redirects at the old addresses of pages."""
    names = [each.name for each in published()]
    moved = {old.format(n): f"exercises/{n}/{new}" for n in names for old, new in _MOVED_OF_AN_EXERCISE.items()}
    for old, new in (_MOVED | moved).items():
        target, _, anchor = new.partition("#")
        if (folder / target / "index.html").is_file():  # not on a disk, where old addresses do not exist
            file = folder / old / "index.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            up = "../" * len(Path(old).parts)
            moved_page = render("moved.html", page=f"{up}{target}", anchor=anchor and f"#{anchor}")
            file.write_text(moved_page, "utf-8")


def _with_parts(text: str, page: str, folder: Path, root: str) -> str:
    """A page of an exercise with tabs for its pages; the menu shows all of them as one page."""
    exercise = "/".join(page.split("/")[:2])
    links = []
    for part, words in _PARTS.items():
        if address := _address(folder, root, exercise + part):
            current = ' aria-current="page"' if page == exercise + part else ""
            links.append(f'<a href="{address}"{current}>{words}</a>')
    tabs = f'<nav class="grpo-parts" aria-label="This exercise">{"".join(links)}</nav>'
    text = text.replace("</h1>", f"</h1>{tabs}", 1)
    entry = '<a href="../" class="md-nav__link'
    return text.replace(entry, f"{entry} md-nav__link--active")


def _address(folder: Path, root: str, page: str) -> str:
    """The address of a page; nothing if the site has no such page."""
    from_disk = (folder / "start.html").is_file()
    files = (file for file in (f"{page}.html", f"{page}/index.html") if (folder / file).is_file())
    address = root + next(files, "")
    return "" if address == root else address if from_disk else address.removesuffix("index.html")
