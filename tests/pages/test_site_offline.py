"""The site as a zip that works from a disk (`make offline`): pages, widgets, formulas and search without a server.

Left out: accessibility and budgets, because the pages are those that the other tests look at.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from site_fixtures import cannot, wait_until_ready, watch
from site_pages import sources

pytestmark = pytest.mark.proof
ROOT = Path(__file__).parents[2]
ZIP = ROOT / "build/grpo-course-site.zip"
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip, made by its command and unpacked at a place with a space in its name."""
    if shutil.which("make") is None or shutil.which("npm") is None:
        cannot("make and npm are needed")
    command = ["make", "offline", f"VENV={sys.prefix}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    target = tmp_path_factory.mktemp("a disk")
    with zipfile.ZipFile(ZIP) as archive:
        archive.extractall(target)
    return target / ZIP.stem


@pytest.fixture
def page(browser: Any, folder: Path) -> Iterator[Any]:
    """A page that must ask for nothing but files of the folder, and show no error."""
    problems: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        watch(page, folder.as_uri(), problems)
        yield page
    assert problems == []


@pytest.fixture
def visit(page: Any, folder: Path) -> Callable[[str], Any]:
    """Opens a file of the folder."""

    def visit(name: str) -> Any:
        page.goto(f"{folder.as_uri()}/{name}")
        wait_until_ready(page)
        return page

    return visit


def test_the_zip_is_small(folder: Path) -> None:
    assert MEGABYTE < ZIP.stat().st_size <= 5 * MEGABYTE


def test_every_page_opens_and_sets_up_its_widgets(visit: Any, folder: Path) -> None:
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html") if path.stem != "404")
    assert len(names) == len(sources())
    for name in names:
        page = visit(name)
        assert page.locator("h1").count() == 1
        assert page.locator(".katex-error").count() == 0


def test_a_widget_computes(visit: Any) -> None:
    page = visit("index.html")
    page.get_by_role("button", name="One correct").click()
    assert "2.236" in page.locator("grpo-group-advantages table").text_content()


def test_the_simulation_runs_and_is_remembered_by_the_worksheet(visit: Any) -> None:
    page = visit("simulation.html?sim.steps=50&sim.seed=7")
    page.get_by_role("button", name="Send to worksheet").click()
    assert "now has 1 run" in page.locator("grpo-simulation").inner_text()
    sent = visit("worksheet.html").evaluate("() => JSON.parse(localStorage.getItem('grpo-runs-v1'))")
    assert [(run["seed"], run["steps"]) for run in sent] == [(7, 50)]


def test_links_lead_to_pages_and_formulas_are_typeset(visit: Any, folder: Path) -> None:
    page = visit("index.html")
    page.locator("article").get_by_role("link", name="Group-relative advantages", exact=True).click()
    page.wait_for_url("**/exercises/advantages.html")
    wait_until_ready(page)
    assert page.locator(".katex").count() > 3


def test_the_search_finds_a_page(visit: Any) -> None:
    page = visit("index.html")
    page.get_by_role("textbox", name="Search").first.click()
    page.keyboard.type("importance ratio", delay=20)
    page.wait_for_selector(".md-search-result__item a[href*='.html']", timeout=15_000)
