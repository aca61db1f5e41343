"""The same mkdocs.yml builds under Zensical, the successor of Material for MkDocs, and the site works there.

Material for MkDocs ends in May 2027, so the way out is tested. Left out: the accessibility of Zensical's own theme,
whose colours are not ours yet.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import links
import pytest
import site_server
from site_fixtures import cannot, wait_until_ready, watch

from grader.commands import pages
from grader.workshop import finish_site

pytestmark = pytest.mark.proof
ROOT = Path(__file__).parents[2]
SOURCES = ("docs", "starter", "mkdocs.yml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Zensical writes the site: beside its sources, at no other place."""
    return tmp_path_factory.mktemp("zensical") / "site"


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address of the site that Zensical has built from a copy of the sources."""
    if importlib.util.find_spec("zensical") is None:
        cannot("Zensical is missing: pip install -c constraints.txt -e '.[dev]'")
    pages.write()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder.parent / name)
    with site_server.serve(folder) as address:
        done = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict"],
            cwd=folder.parent,
            env={**os.environ, "SITE_URL": f"{address}/"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        finish_site.finish(folder)
        yield address


def pages_of(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.html")}


def widgets(text: str) -> list[str]:
    return re.findall(r"<(grpo-[\w-]+)", text)


def test_it_builds_the_same_pages_with_the_same_content(address: str, folder: Path, site_folder: Path) -> None:
    theirs, ours = pages_of(folder), pages_of(site_folder)
    assert set(theirs) == set(ours)
    for name, text in ours.items():
        assert widgets(theirs[name]) == widgets(text), name
        for content in ('class="arithmatex"', "doc-object"):
            assert theirs[name].count(content) == text.count(content), name
    assert links.faults(folder, address=f"{address}/") == []


def test_widgets_formulas_and_the_search_work(browser: Any, address: str, site_folder: Path) -> None:
    live = [name for name, text in pages_of(site_folder).items() if widgets(text) or "arithmatex" in text]
    assert {"index.html", "simulation/index.html", "worksheet/index.html"} <= set(live)
    problems: list[str] = []
    with browser.new_context() as context:
        page = context.new_page()
        watch(page, address, problems)
        for name in live:
            page.goto(f"{address}/{name.removesuffix('index.html')}")
            wait_until_ready(page)
        page.locator(".md-search__button").first.dispatch_event("click")
        page.wait_for_function(
            "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/search.json'))"
        )
    assert problems == []
