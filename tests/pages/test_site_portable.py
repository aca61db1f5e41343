"""The same mkdocs.yml builds the same pages under Zensical, because Material for MkDocs ends in May 2027."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import links
import pytest
from site_fixtures import cannot

from site_steps import figure_tags, generated_pages, page_values
from site_steps import finish as finish_site

pytestmark = pytest.mark.proof
ROOT = Path(__file__).parents[2]
SOURCES = ("docs", "starter", "mkdocs.yml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Zensical writes the site: beside its sources, at no other place."""
    return tmp_path_factory.mktemp("zensical") / "site"


@pytest.fixture(scope="module")
def address(folder: Path) -> str:
    """The address for which Zensical has built the site from a copy of the sources."""
    if importlib.util.find_spec("zensical") is None:
        cannot("Zensical is missing: pip install -c constraints.txt -e '.[dev]'")
    generated_pages.write()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder.parent / name)
    ours = "".join(f"\n  - {module.__name__}" for module in (page_values, figure_tags))  # the hook adds them
    configuration = folder.parent / "mkdocs.yml"
    text = configuration.read_text("utf-8")
    configuration.write_text(text.replace("markdown_extensions:", f"markdown_extensions:{ours}", 1), "utf-8")
    address = "https://site.example/"
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder.parent,
        env={**os.environ, "SITE_URL": address, "PYTHONPATH": str(ROOT / ".ci")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    finish_site.finish(folder)
    return address


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
    assert links.faults(folder, address=address) == []
