"""The site as a zip that works from a disk (`make offline`): pages, widgets, formulas and search without a server."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from site_fixtures import cannot, wait_until_ready, watch
from site_pages import sources

pytestmark = pytest.mark.proof
ROOT = Path(__file__).parents[2]
ZIP = ROOT / "build/grpo-course-site.zip"


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


def test_the_site_works_from_a_disk(page: Any, folder: Path) -> None:
    def visit(name: str) -> None:
        page.goto(f"{folder.as_uri()}/{name}")
        wait_until_ready(page)

    pages = [path for path in folder.rglob("*.html") if path.stem != "404" and "<h1" in path.read_text("utf-8")]
    names = sorted(path.relative_to(folder).as_posix() for path in pages)  # old addresses only lead on
    assert len(names) == len(sources())
    for name in names:
        visit(name)
        assert page.locator("h1").count() == 1
    visit("learn/advantage.html")
    page.get_by_role("button", name="One correct").first.click()
    assert "2.236" in page.locator("grpo-group-advantages table").first.text_content()
    page.get_by_role("link", name="Getting started").last.click()
    page.locator("article").get_by_role("link", name="Group-relative advantages", exact=True).click()
    page.wait_for_url("**/exercises/advantages.html")
    visit("exercises/clip/mistakes.html")
    page.get_by_label("Paste what your function returned").fill("[1.2, -1.5, 0.5, -0.8]")
    page.get_by_role("status").get_by_text("Right for this call").wait_for()
    visit("simulation.html?sim.steps=50&sim.seed=7")
    page.get_by_role("button", name="Send to worksheet").click()
    visit("worksheet.html")
    sent = page.evaluate("() => JSON.parse(localStorage.getItem('grpo-runs-v1'))")
    assert [(run["seed"], run["steps"]) for run in sent] == [(7, 50)]
    page.get_by_role("textbox", name="Search").first.click()
    page.keyboard.type("importance ratio", delay=20)
    page.wait_for_selector(".md-search-result__item a[href*='.html']", timeout=15_000)
