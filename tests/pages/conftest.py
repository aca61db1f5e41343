"""What tests of pages share: one tab, because loading a page costs more than using it, and the pages' files."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from explorables import SKIP_GUESSES, Explorable
from lxml import html
from tab import Tab


@pytest.fixture(scope="session")
def one_tab(browser: Any, site: str) -> Iterator[Tab]:
    """The tab, for the whole run."""
    tab = Tab(browser, site)
    yield tab
    tab.page.context.close()


@pytest.fixture
def tab(one_tab: Tab) -> Iterator[Tab]:
    """The tab, for one test; the test fails if the page has an error, or asks another host."""
    one_tab.problems.clear()
    yield one_tab
    assert one_tab.problems == []


@pytest.fixture
def open_figure(tab: Tab) -> Callable[..., Explorable]:
    """Shows a figure as on a first visit, without its question: `open_figure("/learn/ppo/", "grpo-memory")`."""

    def open_figure(address: str, tag: str, *, covered: bool = False) -> Explorable:
        page = tab.show(address, tag)
        if not covered:
            page.evaluate(SKIP_GUESSES)
        return Explorable(page, tag)

    return open_figure


@pytest.fixture(scope="session")
def read(site_folder: Path) -> Callable[[str], Any]:
    """The tree of a page."""

    @functools.cache
    def read(path: str) -> Any:
        return html.parse(
            site_folder / (path[1:] + "index.html" * path.endswith("/")), html.HTMLParser(encoding="utf-8")
        )

    return read
