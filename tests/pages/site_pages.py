"""The addresses of the site's pages, and what axe says about an open one."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

from site_fixtures import cannot

from site_steps import generated_pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NODE_MODULES = ROOT / "tests/browser/node_modules"
AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
DRAWN = ".katex-html"
"""Drawn formulas take a third of axe's time; a screen reader gets the MathML next to them."""


def address_of(source: Path) -> str:
    """Where the page of a Markdown file stands: docs/exercises/kl.md is at /exercises/kl/."""
    path = source.relative_to(DOCS).with_suffix("").as_posix()
    return "/" + (path.removesuffix("index") if path.endswith("index") else f"{path}/")


@functools.cache
def sources() -> list[Path]:
    """The Markdown files of all published pages."""
    (drafts,) = re.findall(r"^draft_docs: (.*)", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    hidden = {DOCS / name for name in json.loads(drafts).split("\n") if name}
    hidden |= {*DOCS.glob("maintainers/*")}
    built = (ROOT / name for name in generated_pages.makers() if name.endswith(".md"))
    return sorted({*DOCS.rglob("*.md"), *built} - hidden)


PAGES = sorted(map(address_of, sources()))
ALL = [*PAGES, "/404.html"]
FIGURE = re.compile(r"^/+ html \| grpo-[\w-]+\.grpo-explorable$", re.MULTILINE)
FIGURE_PAGES = sorted(
    address_of(source) for source in sources() if source.is_file() and FIGURE.search(source.read_text("utf-8"))
)
TEMPLATES = [
    *("/", "/learn/why/", "/simulation/", "/worksheet/"),
    *("/exercises/kl/", "/exercises/kl/mistakes/", "/exercises/kl/functions/"),
]
"""One page of each kind."""


def npm(package: str) -> Path:
    """The folder of an installed npm package."""
    folder = NODE_MODULES / package
    if not folder.is_dir():
        cannot(f"{package} is missing: npm ci --prefix tests/browser")
    return folder


def violations(page: Any, rules: list[str] = AXE_RULES, *, within: str = "html") -> list[str]:
    """What axe-core finds on a page, or in some parts of it: rule, place and reason."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate((npm("axe-core") / "axe.min.js").read_text("utf-8"))
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    where = {"include": within, "exclude": DRAWN}
    result = page.evaluate("([where, options]) => axe.run(where, options)", [where, options])
    assert result["passes"], "axe has looked at nothing"
    return [
        f"{violation['id']}: {node['target']}: {node['failureSummary']}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]
