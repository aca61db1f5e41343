"""One tab that the tests of a process share, because loading a page costs more than using it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from explorables import Explorable
from site_fixtures import watch
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
def open_figure(tab: Tab) -> Callable[[str, str], Explorable]:
    """Shows a figure as on a first visit: open_figure("/learn/ppo/?memory.size=13", "grpo-memory")."""
    return lambda address, tag: Explorable(tab.show(address, tag), tag)


@pytest.fixture(scope="session")
def read_without_scripts(browser: Any, site: str) -> Iterator[Callable[[str], Any]]:
    """Shows a page in a browser that runs no scripts."""
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
