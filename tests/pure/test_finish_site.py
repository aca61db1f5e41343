"""The finishing of built pages, as far as a reader of the site notices it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from grader.workshop import share
from grader.workshop.finish_site import finish
from grader.workshop.share_picture import picture

pytest.importorskip("py_mini_racer")
pytest.importorskip("minify")
FIGURE = '<grpo-ratio class="grpo-explorable" question="Who is &quot;pushed&quot;?"></grpo-ratio>'
PAGE = """<html><head><link rel="canonical" href="{site}">
<link rel="stylesheet" href="../assets/stylesheets/main.css">
<link rel="stylesheet" href="../assets/vendor/katex/katex.css">
<link rel="stylesheet" href="../assets/css/a.css">
<meta name="description" content="Marks &amp; means"></head><body>
<h1 id="a">4. <code>std</code> &amp; mean<a class="headerlink" href="#a">&para;</a></h1>{body}
<script src="../assets/javascripts/bundle.1.min.js"></script>
<script src="../assets/js/index.mjs" type="module"></script>
</body></html>"""
SCRIPT = """/*! (c) somebody, MIT */
// Twice a number.
export const twice = (number) => 2 * number;
export function greeting(name) {
  return `Hello,  ${name}  /* you */ // there`;
}
"""


def finished(folder: Path, body: str, site: str = "http://127.0.0.1:8000/") -> str:
    """A page as a generator writes it, finished twice: the second time must change nothing."""
    files = {
        "index.html": PAGE.format(site=site, body=""),
        "b/index.html": PAGE.format(site=f"{site}b/", body=body),
        "assets/css/a.css": "/* Blocks */\nb {\n  top: 0;\n}\n",
        "assets/vendor/katex/katex.css": "@font-face{font-family:K;src:url(fonts/k.woff2)}",
        "assets/js/index.mjs": SCRIPT,
        "assets/vendor/index.mjs": SCRIPT,
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


@pytest.mark.parametrize(
    ("first", "of_symbols"), [('<td><span class="arithmatex">\\(a\\)</span>', True), ("<td>text", False)]
)
def test_tables_are_wrapped_so_that_they_scroll(tmp_path: Path, first: str, of_symbols: bool) -> None:
    table = f"<table><thead><tr><th>a</th></tr></thead><tbody><tr>{first}</td></tr></tbody></table>"
    text = finished(tmp_path, table)
    assert '<div class="md-typeset__scrollwrap"><div class="md-typeset__table"><table>' in text
    assert ('<div class="grpo-symbols">' in text) is of_symbols


def test_a_picture_of_a_run_takes_the_place_of_its_link(tmp_path: Path) -> None:
    svg = tmp_path / "assets/runs/x.svg"
    svg.parent.mkdir(parents=True)
    svg.write_text('<svg xmlns="http://www.w3.org/2000/svg" role="img" height="70">\n<title>T</title></svg>', "utf-8")
    text = finished(tmp_path, '<p><img alt="Rises &amp; falls" src="../assets/runs/x.svg" /></p>')
    assert '<p><svg aria-label="Rises &amp; falls"' in text and "<img" not in text


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("index.html", '<span class="arithmatex">\\(\\frac{1\\)</span>', "ParseError"),
        ("assets/js/widgets/a.mjs", 'import "../none.mjs"; import "../b.mjs";', "none"),
        ("assets/js/a.mjs", "export const = 1;", "binding"),
    ],
    ids=["formula", "missing import", "syntax"],
)
def test_a_mistake_in_a_source_stops_the_build(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(Exception, match=words):
        finish(tmp_path)


def test_published_files_are_small_and_load_in_the_same_order(tmp_path: Path) -> None:
    text = finished(tmp_path, FIGURE)
    script, vendored = ((tmp_path / f"assets/{name}/index.mjs").read_text("utf-8") for name in ("js", "vendor"))
    assert vendored == SCRIPT and "(c) somebody" in script and "Twice" not in script and "number" not in script
    assert re.findall(r"export (?:const|function) (\w+)", script) == ["twice", "greeting"]
    assert "Hello,  ${" in script and "}  /* you */ // there`" in script, "the words of a template are no code"
    sheets = re.findall(r'"stylesheet" href="\.\./([^"]*)"', text)
    assert sheets == ["assets/stylesheets/main.css", "assets/css/site.css"]
    joined = (tmp_path / sheets[1]).read_text("utf-8")
    assert "b{top:0}" in joined
    font = tmp_path / "assets/css" / re.findall(r"url\((.*?)\)", joined)[0]
    assert font.resolve() == tmp_path / "assets/vendor/katex/fonts/k.woff2"
    assert "../assets/javascripts/bundle.1.min.js" in text and text.count("../assets/js/index.mjs") >= 1


def test_a_page_has_the_picture_of_its_title_and_of_what_its_first_figure_asks(tmp_path: Path) -> None:
    text = finished(tmp_path, FIGURE, "https://host.example/c/")
    tags = dict(re.findall(r'<meta property="og:([\w:]+)" content="([^"]*)">', text))
    assert (html.unescape(tags["title"]), html.unescape(tags["description"])) == ("4. std & mean", "Marks & means")
    assert (tags["url"], tags["image"]) == ("https://host.example/c/b/", "https://host.example/c/assets/share/b.png")
    image = pytest.importorskip("PIL.Image").open(tmp_path / "assets/share/b.png")
    assert image.size == (1200, 630)
    assert image.tobytes() == picture("4. std & mean", 'Who is "pushed"?').tobytes() != picture("4.", "").tobytes()


def test_without_an_address_there_are_no_pictures(tmp_path: Path) -> None:
    assert "og:image" not in finished(tmp_path, FIGURE) and not (tmp_path / "assets/share").exists()
    assert finish(tmp_path) == [share.NO_ADDRESS]
