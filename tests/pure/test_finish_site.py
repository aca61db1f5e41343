"""What happens to built pages, whatever has built them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.core import course
from grader.workshop.finish_site import finish

pytest.importorskip("py_mini_racer")


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
