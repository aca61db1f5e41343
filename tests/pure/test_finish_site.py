"""What happens to built pages, whatever has built them."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from grader.core import course
from grader.workshop import share
from grader.workshop.finish_site import finish

pytest.importorskip("py_mini_racer")
PAGE = """<html><head><link rel="canonical" href="{address}">
<meta name="description" content="Marks &amp; means"></head><body>
<h1 id="a">4. <code>std</code> &amp; mean<a class="headerlink" href="#a">&para;</a></h1>{figure}
<script src="../assets/javascripts/bundle.1.min.js"></script>
<script src="../assets/js/index.mjs" type="module"></script>
</body></html>"""
FIGURE = '<grpo-ratio class="grpo-explorable" question="Who is &quot;pushed&quot;?"></grpo-ratio>'
SAID = r'<meta property="og:([\w:]+)" content="([^"]*)">'


def built(folder: Path, *, site: str, figure: str = "") -> Path:
    """A page of a site of two, as a generator writes it."""
    for name, address in (("index.html", site), ("b/index.html", f"{site}b/")):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(PAGE.format(address=address, figure=figure), "utf-8")
    return folder / "b/index.html"


def test_formulas_are_typeset_once_for_eyes_and_screen_readers(tmp_path: Path) -> None:
    page = tmp_path / "chapter/index.html"
    page.parent.mkdir()
    page.write_text(
        'If <span class="arithmatex">\\(a &lt; b\\)</span>: <div class="arithmatex">\\[\n\\frac{1}{G}\n\\]</div>',
        "utf-8",
    )
    finish(tmp_path)
    text = page.read_text("utf-8")
    assert text.startswith('If <span class="arithmatex"><span class="katex"><span class="katex-mathml"><math')
    assert "<mi>a</mi><mo>&lt;</mo><mi>b</mi>" in text and "<mfrac>" in text
    assert text.count('class="katex-display"') == 1
    finish(tmp_path)
    assert page.read_text("utf-8") == text


def test_a_formula_that_cannot_be_read_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<span class="arithmatex">\\(\\frac{1\\)</span>', "utf-8")
    with pytest.raises(Exception, match="ParseError"):
        finish(tmp_path)


def test_the_index_of_the_search_waits_in_front_of_the_script_of_the_theme_once(tmp_path: Path) -> None:
    page = built(tmp_path, site="http://127.0.0.1:8000/")
    finish(tmp_path)
    text = page.read_text("utf-8")
    assert text.index("XMLHttpRequest") < text.index("javascripts/bundle") < text.index("js/index.mjs")
    finish(tmp_path)
    assert page.read_text("utf-8") == text and text.count("<script") == 3


def test_a_page_has_the_picture_of_its_title_and_of_what_its_first_figure_asks(tmp_path: Path) -> None:
    page = built(tmp_path, site="https://host.example/c/", figure=FIGURE)
    assert finish(tmp_path) == []
    said = {name: html.unescape(text) for name, text in re.findall(SAID, page.read_text("utf-8"))}
    assert (said["title"], said["description"]) == ("4. std & mean", "Marks & means")
    assert (said["url"], said["image"]) == ("https://host.example/c/b/", "https://host.example/c/assets/share/b.png")
    drawn = share.picture("4. std & mean", 'Who is "pushed"?')
    image = pytest.importorskip("PIL.Image").open(tmp_path / "assets/share/b.png")
    assert image.size == (1200, 630) and image.tobytes() == drawn.tobytes()
    assert drawn.tobytes() != share.picture("4. std & mean", "Marks & means").tobytes()
    text = page.read_text("utf-8")
    assert finish(tmp_path) == [] and page.read_text("utf-8") == text


@pytest.mark.parametrize("site", ["http://127.0.0.1:8000/", "http://localhost/c/"])
def test_without_an_address_there_are_no_pictures_which_is_said_once(tmp_path: Path, site: str) -> None:
    page = built(tmp_path, site=site, figure=FIGURE)
    assert finish(tmp_path) == [share.NO_ADDRESS]
    assert "og:image" not in page.read_text("utf-8") and not (tmp_path / "assets").exists()


def test_the_mark_of_the_picture_is_that_of_the_logo() -> None:
    """In the logo an answer stands or hangs at each eighth of the width."""
    logo = (course.ROOT / "docs/assets/logo.svg").read_text("utf-8")
    up, down = ([float(x) for x in re.findall(r"M([\d.]+) ", path)] for path in re.findall(r'd="([^"]*z)"', logo))
    assert [int(x in up) for x in sorted(up + down)] == list(share.REWARDS)


@pytest.mark.parametrize(("title", "question"), [(60, 60), (12, 12), (2, 20)])
def test_no_word_of_a_picture_covers_its_mark(title: int, question: int) -> None:
    mark = (0, 344, *share.SIZE)
    full = share.picture("Group " * title, "group " * question)
    assert full.tobytes() != share.picture("", "").tobytes()
    assert full.crop(mark).tobytes() == share.picture("", "").crop(mark).tobytes()


def test_fonts_of_the_first_screen_are_asked_for_before_the_style_sheet_that_names_them(tmp_path: Path) -> None:
    page = tmp_path / "learn/why/index.html"
    page.parent.mkdir(parents=True)
    page.write_text('<head><link rel="stylesheet" href="../../assets/css/tokens.css"></head>', "utf-8")
    finish(tmp_path)
    text = page.read_text("utf-8")
    fonts = re.findall(r'<link rel="preload" href="\.\./\.\./(assets/\S+)" as="font"', text)
    assert len(fonts) == 2 and all((course.ROOT / "docs" / font).exists() for font in fonts)
    assert text.index("preload") < text.index("stylesheet")
    finish(tmp_path)
    assert page.read_text("utf-8") == text
