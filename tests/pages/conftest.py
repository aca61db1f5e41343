"""One tab for all tests that need no browser of their own, so that a page is loaded once and not for every test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from explorables import Explorable
from site_fixtures import watch
from tab import Tab


@pytest.fixture(scope="session")
def one_tab(browser: Any, site: str) -> Iterator[Tab]:
    """The tab of this process."""
    tab = Tab(browser, site)
    yield tab
    tab.page.context.close()


@pytest.fixture
def tab(one_tab: Tab) -> Iterator[Tab]:
    """The tab of this process; in a test there must be no error and no request to another place.

    For tests that leave nothing behind in the window but widgets, the address and what is stored. The others use
    `open_page`, which costs a browser context and a whole load.
    """
    one_tab.problems.clear()
    yield one_tab
    assert one_tab.problems == []


@pytest.fixture
def open_figure(tab: Tab) -> Callable[[str, str], Explorable]:
    """Shows an explorable as on a first visit: open_figure("/learn/ppo/?memory.size=13", "grpo-memory")."""
    return lambda address, tag: Explorable(tab.show(address, tag), tag)


@pytest.fixture(scope="session")
def read_without_scripts(browser: Any, site: str) -> Iterator[Callable[[str], Any]]:
    """Shows a page to a reader whose browser runs no scripts."""
    page = browser.new_context(java_script_enabled=False).new_page()
    problems: list[str] = []
    watch(page, site, problems)

    def read(path: str) -> Any:
        if page.url != site + path:
            page.goto(site + path)
        return page

    yield read
    page.context.close()
    assert problems == []
