"""The finishing of built pages, as far as a reader of the site notices it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from site_steps.finish import finish

pytest.importorskip("py_mini_racer")
PAGE = """<html><head><link rel="canonical" href="{site}">
<title>4. std</title><link rel="stylesheet" href="../assets/css/tokens.css">
<meta name="description" content="Marks &amp; means"></head><body>
<h1 id="a">4. <code>std</code> &amp; mean<a class="headerlink" href="#a">&para;</a></h1>{body}
<script src="../assets/javascripts/bundle.1.min.js"></script>
</body></html>"""


def finished(folder: Path, body: str, site: str = "http://127.0.0.1:8000/") -> str:
    """A page as a generator writes it, finished twice: the second time must change nothing."""
    files = {
        "index.html": PAGE.format(site=site, body=""),
        "b/index.html": PAGE.format(site=f"{site}b/", body=body),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    finish(folder)
    first = (folder / "b/index.html").read_text("utf-8")
    finish(folder)
    assert (folder / "b/index.html").read_text("utf-8") == first
    return first


def test_formulas_are_typeset_once_for_eyes_and_screen_readers(tmp_path: Path) -> None:
    text = finished(
        tmp_path,
        'If <span class="arithmatex">\\(a &lt; b\\)</span>: <div class="arithmatex">\\[\n\\frac{1}{G}\n\\]</div>'
        '<span class="arithmatex">\\(\\htmlClass{md-header}{x} \\htmlId{y}{x}\\)</span>',
    )
    assert '<span class="arithmatex"><span class="katex"><span class="katex-mathml"><math' in text
    assert "<mi>a</mi><mo>&lt;</mo><mi>b</mi>" in text and "<mfrac>" in text
    assert 'class="md-header"' not in text and 'id="y"' not in text, "a formula may set the class of a term only"


def test_terms_have_their_class_in_formulas_in_code_and_in_links(tmp_path: Path) -> None:
    text = finished(
        tmp_path,
        '<span class="arithmatex">\\(\\rho_{i,t} A_i \\pi_\\text{old}\\)</span><code>importance_ratio</code>'
        '<span class="n">rewards</span><code>ratios</code><a href="../reference/glossary/#clipping">clip</a>',
    )
    assert re.findall(r'class="enclosing term-(\w+)"', text) == ["ratio", "advantage", "old"]
    assert '<code class="term-ratio">importance_ratio</code><span class="n term-reward">rewards</span>' in text
    assert '<code>ratios</code><a class="term-clip"' in text


def test_wide_tables_of_words_have_the_names_of_their_columns_in_their_cells(tmp_path: Path) -> None:
    heads = '<th>Method</th><th>What <em>it</em> is</th><th style="text-align: right;">Year</th>'
    cells = "<td>GRPO</td><td>a group</td><td>2024</td>"
    table = f"<table><thead><tr>{heads}</tr></thead><tbody><tr>{cells}</tr></tbody></table>"
    text = finished(tmp_path, table)
    assert '<td>GRPO</td><td data-label="What it is">a group</td><td data-label="Year">2024</td>' in text
    assert '<div class="grpo-stacked">' not in finished(
        tmp_path, table.replace("<th>", '<th style="text-align: right;">')
    )


def test_a_picture_of_a_run_takes_the_place_of_its_link(tmp_path: Path) -> None:
    svg = tmp_path / "assets/runs/x.svg"
    svg.parent.mkdir(parents=True)
    svg.write_text('<svg xmlns="http://www.w3.org/2000/svg" role="img" height="70">\n<title>T</title></svg>', "utf-8")
    text = finished(tmp_path, '<p><img alt="Rises &amp; falls" src="../assets/runs/x.svg" /></p>')
    assert '<p><svg aria-label="Rises &amp; falls"' in text and "<img" not in text


def test_a_mistake_in_a_formula_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<span class="arithmatex">\\(\\frac{1\\)</span>', "utf-8")
    with pytest.raises(Exception, match="ParseError"):
        finish(tmp_path)
