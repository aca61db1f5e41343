"""What happens to built pages, whatever has built them."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from grader.core import course
from grader.workshop import share, share_picture
from grader.workshop.finish_site import finish
from grader.workshop.share_figures import Curves, Values, first_figure
from grader.workshop.share_picture import MARK, REWARDS, SIZE, picture

pytest.importorskip("py_mini_racer")
pytest.importorskip("minify")
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
    assert re.search(r'<span style="contain-intrinsic-height:auto [\d.]+em" class="katex-display">', text)
    assert text.count("contain-intrinsic-height") == 1, "only a formula in its own line"
    finish(tmp_path)
    assert page.read_text("utf-8") == text


def test_a_page_says_in_a_class_what_it_has(tmp_path: Path) -> None:
    page, plain = tmp_path / "index.html", tmp_path / "plain.html"
    page.write_text('<main class="md-main"><h2 id="the-question">?</h2><grpo-hero></grpo-hero></main>', "utf-8")
    plain.write_text('<main class="md-main"></main>', "utf-8")
    for _ in range(2):
        finish(tmp_path)
        assert '<main class="with-hero with-chapter-question md-main">' in page.read_text("utf-8")
        assert '<main class="md-main">' in plain.read_text("utf-8")


@pytest.mark.parametrize(
    ("first", "is_one"),
    [
        ('<td><span class="arithmatex">', True),
        ("<td>text", False),
        ('<td style="text-align: right;"><span class="arithmatex">', False),
    ],
)
def test_tables_are_wrapped_as_the_theme_does_and_those_of_symbols_are_marked(
    tmp_path: Path, first: str, is_one: bool
) -> None:
    page = tmp_path / "index.html"
    table = f"<table><thead><tr><th>a</th></tr></thead><tbody><tr>{first}x</td></tr></tbody></table>"
    page.write_text(table, "utf-8")
    for _ in range(2):
        finish(tmp_path)
        wrapped = f'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">{table}</div></div>'
        assert page.read_text("utf-8") == (f'<div class="grpo-symbols">{wrapped}</div>' if is_one else wrapped)


def test_the_theme_switches_colors_without_styling_every_element(tmp_path: Path) -> None:
    sheet = tmp_path / "assets/stylesheets/palette.1.min.css"
    sheet.parent.mkdir(parents=True)
    sheet.write_text(":root{--a:1}[data-md-color-switching] *,[data-md-color-switching] :after{b:c}d{e:f}", "utf-8")
    finish(tmp_path)
    assert sheet.read_text("utf-8") == ":root{--a:1}d{e:f}"


def test_the_theme_does_not_say_again_which_colors_a_page_has_and_the_map_of_its_script_stays_true(
    tmp_path: Path,
) -> None:
    script = tmp_path / "assets/javascripts/bundle.1.min.js"
    script.parent.mkdir(parents=True)
    script.write_text(text := 'let a=x("meta",{name:"theme-color"}),b=x("meta",{name:"color-scheme"});', "utf-8")
    finish(tmp_path)
    assert "color-scheme" not in script.read_text("utf-8") and "theme-color" in script.read_text("utf-8")
    assert len(script.read_text("utf-8")) == len(text)


def test_terms_have_their_class_in_formulas_in_code_and_in_links(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text(
        '<span class="arithmatex">\\(\\rho_{i,t} A_i + \\tilde r_{i,j} - \\operatorname{mean}(r)\\)</span>'
        '<span class="arithmatex">\\(\\mathrm{KL}(\\pi_\\theta \\Vert \\pi_{\\text{ref},j}) \\pi_\\text{old}\\)</span>'
        '<code>importance_ratio</code><span class="n">rewards</span><code>ratios</code>'
        '<a data-preview href="../reference/glossary/#clipping">clip</a><a href="#clipping">here</a>',
        "utf-8",
    )
    finish(tmp_path)
    text = page.read_text("utf-8")
    formulas, _, rest = text.partition("<code")
    assert re.findall(r'class="enclosing term-(\w+)"', formulas) == [
        *("ratio", "advantage", "reward", "mean", "kl", "policy", "reference", "old")
    ]
    assert rest == (
        ' class="term-ratio">importance_ratio</code><span class="n term-reward">rewards</span><code>ratios</code>'
        '<a class="term-clip" data-preview href="../reference/glossary/#clipping">clip</a><a href="#clipping">here</a>'
    )
    finish(tmp_path)
    assert page.read_text("utf-8") == text


def test_a_picture_of_a_run_takes_the_place_of_its_link(tmp_path: Path) -> None:
    page, picture = tmp_path / "results/index.html", tmp_path / "assets/runs/x.svg"
    for path in (page, picture):
        path.parent.mkdir(parents=True)
    picture.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" height="70">\n<title>T</title>\n<use href="#a"/></svg>',
        "utf-8",
    )
    page.write_text('<p><img alt="Rises &amp; falls" src="../assets/runs/x.svg" /></p>', "utf-8")
    finish(tmp_path)
    assert page.read_text("utf-8") == (
        '<p><svg aria-label="Rises &amp; falls" style="--height: 70px" role="img" height="70">'
        '<title>T</title><use xlink:href="#a"/></svg></p>'
    )


def test_a_formula_that_uses_more_of_html_than_the_class_of_a_term_is_not_trusted(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text('<span class="arithmatex">\\(\\htmlClass{md-header}{x} \\htmlId{y}{x}\\)</span>', "utf-8")
    finish(tmp_path)
    assert "md-header" not in page.read_text("utf-8").partition("katex-html")[2] and 'id="y"' not in page.read_text(
        "utf-8"
    )


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_marks_of_terms_can_be_told_from_the_page(look: str) -> None:
    tokens = (course.ROOT / "docs/assets/css/tokens.css").read_text("utf-8")
    light, dark = tokens.split('[data-md-color-scheme="slate"]')
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    if look == "dark":
        colors |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark.partition("}")[0]))
    styles = (course.ROOT / "docs/assets/css/terms.css").read_text("utf-8")
    lines = set(re.findall(r"(?:solid|dashed|double) var\(--([\w-]+)\)", styles))
    lines.remove("rule")  # between two rows; no mark
    assert lines == {"policy", "old", "reference", "up", "down", "ink"}
    for paper in ("paper", "panel"):
        assert all(_contrast(colors[line], colors[paper]) >= 3 for line in lines)
        assert _contrast(colors["ink"], colors[paper]) >= 4.5
    pairs = set(re.findall(r"background: var\(--([\w-]+)\); color: var\(--([\w-]+)\)", styles))
    assert pairs == {("reward", "on-reward"), ("ink", "paper")}
    assert all(_contrast(colors[below], colors[above]) >= 4.5 for below, above in pairs)


def _contrast(one: str, other: str) -> float:
    """Of two colors, by WCAG 2."""

    def luminance(color: str) -> float:
        parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_a_formula_that_cannot_be_read_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<span class="arithmatex">\\(\\frac{1\\)</span>', "utf-8")
    with pytest.raises(Exception, match="ParseError"):
        finish(tmp_path)


def test_scripts_come_after_the_first_picture_the_theme_s_first_and_once(tmp_path: Path) -> None:
    page = built(tmp_path, site="http://127.0.0.1:8000/")
    finish(tmp_path)
    text = page.read_text("utf-8")
    assert not re.search(r"<script[^>]* src=", text), "a browser would run them before it shows anything"
    late = '["../assets/javascripts/bundle.1.min.js", "../assets/js/index.mjs"]'
    assert text.index("XMLHttpRequest") < text.index("requestAnimationFrame") and text.count(late) == 1
    asked = '<link rel="preload" as="script" href="../assets/javascripts/bundle.1.min.js" fetchpriority="low">'
    assert text.index(asked) < text.index("</head>")
    finish(tmp_path)
    assert page.read_text("utf-8") == text and text.count("<script") == 1


def test_a_page_says_that_scripts_run_before_there_is_anything_to_style(tmp_path: Path) -> None:
    page = built(tmp_path, site="http://127.0.0.1:8000/")
    page.write_text(page.read_text("utf-8").replace("<head>", '<head><meta charset="utf-8">'), "utf-8")
    for _ in range(2):
        finish(tmp_path)
        assert page.read_text("utf-8").startswith('<html><head><meta charset="utf-8"><script>document')
        assert page.read_text("utf-8").count("js-focus-visible js") == 1


def test_a_page_has_the_picture_of_its_title_and_of_what_its_first_figure_asks(tmp_path: Path) -> None:
    page = built(tmp_path, site="https://host.example/c/", figure=FIGURE)
    assert finish(tmp_path) == []
    said = {name: html.unescape(text) for name, text in re.findall(SAID, page.read_text("utf-8"))}
    assert (said["title"], said["description"]) == ("4. std & mean", "Marks & means")
    assert (said["url"], said["image"]) == ("https://host.example/c/b/", "https://host.example/c/assets/share/b.png")
    drawn = picture("4. std & mean", 'Who is "pushed"?')
    image = pytest.importorskip("PIL.Image").open(tmp_path / "assets/share/b.png")
    assert image.size == (1200, 630) and image.tobytes() == drawn.tobytes()
    assert drawn.tobytes() != picture("4. std & mean", "Marks & means").tobytes()
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
    assert [int(x in up) for x in sorted(up + down)] == list(REWARDS)


@pytest.mark.parametrize(("title", "question"), [(60, 60), (12, 12), (2, 20)])
def test_no_word_of_a_picture_covers_its_mark(title: int, question: int) -> None:
    mark = (0, 344, *SIZE)
    full = picture("Group " * title, "group " * question)
    assert full.tobytes() != picture("", "").tobytes()
    assert full.crop(mark).tobytes() == picture("", "").crop(mark).tobytes()


def test_fonts_of_the_first_screen_are_asked_for_before_the_style_sheet_that_names_them(tmp_path: Path) -> None:
    page = with_styles(tmp_path, {"css/tokens.css": "b{color:red}"})
    finish(tmp_path)
    text = page.read_text("utf-8")
    fonts = re.findall(r'<link rel="preload" href="\.\./\.\./(assets/\S+)" as="font"', text)
    assert len(fonts) == 2 and all((course.ROOT / "docs" / font).exists() for font in fonts)
    assert text.index("preload") < text.index("assets/css/site.css")
    finish(tmp_path)
    assert page.read_text("utf-8") == text


def with_styles(folder: Path, sheets: dict[str, str]) -> Path:
    """A built page with the theme's style sheet and those of `sheets`."""
    page = folder / "learn/why/index.html"
    page.parent.mkdir(parents=True)
    for name, text in sheets.items():
        (folder / "assets" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "assets" / name).write_text(text, "utf-8")
    links = [f'<link rel="stylesheet" href="../../assets/{name}">' for name in ("stylesheets/main.css", *sheets)]
    page.write_text("\n  ".join(["<head>", *links, "</head>"]), "utf-8")
    return page


def test_a_page_has_one_style_sheet_beside_the_theme_s_in_the_same_order_and_with_its_fonts(tmp_path: Path) -> None:
    font = "@font-face{font-family:K;src:url(fonts/k.woff2)}"
    page = with_styles(tmp_path, {"vendor/katex/katex.css": font, "css/a.css": "b{color:red}", "css/b.css": "b{top:0}"})
    finish(tmp_path)
    text = page.read_text("utf-8")
    assert re.findall(r'"stylesheet" href="([^"]*)"', text) == [
        "../../assets/stylesheets/main.css",
        "../../assets/css/site.css",
    ]
    joined = (tmp_path / "assets/css/site.css").read_text("utf-8")
    assert joined.index("b{color:red}") < joined.index("b{top:0}")
    assert [path.name for path in tmp_path.rglob("*.css")] == ["site.css"], "what no page links to is not published"
    assert (tmp_path / "assets/css" / re.findall(r"url\((.*?)\)", joined)[0]).resolve() == (
        tmp_path / "assets/vendor/katex/fonts/k.woff2"
    )
    finish(tmp_path)
    assert page.read_text("utf-8") == text
    assert (tmp_path / "assets/css/site.css").read_text("utf-8") == joined


SCRIPT = """/*! (c) somebody, MIT */
// Twice a number.
import { one } from "./one.mjs";

export const twice = (number) => 2 * one * number;

/** @param {string} name */
export function greeting(name) {
  return `Hello,  ${name}  /* you */ // there`;
}
"""
STYLES = "/* Blocks */\n.block {\n  color: var(--ink);\n  margin: 0 0 0 0.5rem;\n}\n"


def test_published_scripts_and_styles_are_small_and_their_sources_stay(tmp_path: Path) -> None:
    script, styles, vendored = (tmp_path / "assets" / name for name in ("js/ui/a.mjs", "css/a.css", "vendor/a.mjs"))
    for path, text in ((script, SCRIPT), (styles, STYLES), (vendored, SCRIPT)):
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    finish(tmp_path)
    small = script.read_text("utf-8")
    assert re.findall(r"export (?:const|function) (\w+)", small) == ["twice", "greeting"]
    assert '"./one.mjs"' in small and "/*! (c) somebody, MIT */" in small
    assert "Hello,  ${" in small and "}  /* you */ // there`" in small, "the words of a template are no code"
    assert "Twice" not in small and "number" not in small and "@param" not in small
    assert styles.read_text("utf-8") == ".block{color:var(--ink);margin:0 0 0 .5rem}"
    assert vendored.read_text("utf-8") == SCRIPT
    finish(tmp_path)
    assert script.read_text("utf-8") == small


CHAIN = {
    "index.mjs": 'import "./ui/repair.mjs"; import(`./widgets/${name}.mjs`);',
    "ui/repair.mjs": "export const a = 1;",
    "ui/last.mjs": "export const z = 26;",
    "ui/middle.mjs": 'export { z } from "./last.mjs";',
    "widgets/progress.mjs": "export const b = 2;",
    "widgets/ratio.mjs": 'import { z } from "../ui/middle.mjs"; import("./ratio/later.mjs"); const c = z',
    "widgets/ratio/later.mjs": 'import { z } from "../../ui/middle.mjs"; export const d = z;',
    "widgets/quiz.mjs": 'import { a } from "../ui/repair.mjs"; export const e = a;',
}


def test_scripts_are_asked_for_at_once_and_not_one_after_the_other(tmp_path: Path) -> None:
    scripts = tmp_path / "assets/js"
    for name, text in CHAIN.items():
        (scripts / name).parent.mkdir(parents=True, exist_ok=True)
        (scripts / name).write_text(text, "utf-8")
    page = built(tmp_path, site="https://a.example/", figure=f"<grpo-quiz></grpo-quiz>{FIGURE}")
    finish(tmp_path)
    asked = re.findall(
        r'<link rel="modulepreload" href="\.\./assets/js/([^"]*)" fetchpriority="low">', page.read_text("utf-8")
    )
    first_look = ["index", "ui/repair", "widgets/progress", "widgets/ratio", "ui/middle", "ui/last"]
    assert asked == [f"{name}.mjs" for name in first_look], "a quiz is further down"
    finished = {name: (scripts / name).read_text("utf-8") for name in CHAIN}
    imported = {name: re.findall(r'(?:import|from) ?"([^"]+)"', text) for name, text in finished.items()}
    assert imported["widgets/ratio.mjs"] == ["../ui/middle.mjs", "../ui/last.mjs"]
    assert imported["widgets/ratio/later.mjs"] == ["../../ui/middle.mjs", "../../ui/last.mjs"]
    assert imported["ui/middle.mjs"] == ["./last.mjs"], "nobody fetches it by itself"
    text = page.read_text("utf-8")
    finish(tmp_path)
    assert page.read_text("utf-8") == text
    assert {name: (scripts / name).read_text("utf-8") for name in CHAIN} == finished


def test_a_page_without_own_scripts_asks_for_none(tmp_path: Path) -> None:
    page = built(tmp_path, site="https://a.example/")
    page.write_text(re.sub(r'<script src="../assets/js/.*', "", page.read_text("utf-8")), "utf-8")
    finish(tmp_path)
    assert "modulepreload" not in page.read_text("utf-8")


def test_a_script_that_imports_what_does_not_exist_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "assets/js/widgets").mkdir(parents=True)
    (tmp_path / "assets/js/widgets/a.mjs").write_text('import "../none.mjs"; import "../b.mjs";', "utf-8")
    with pytest.raises(FileNotFoundError, match="none"):
        finish(tmp_path)


def test_a_script_that_cannot_be_read_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "assets/js").mkdir(parents=True)
    (tmp_path / "assets/js/a.mjs").write_text("export const = 1;", "utf-8")
    with pytest.raises(Exception, match="unexpected = in binding"):
        finish(tmp_path)


TABLE = """<grpo-x class="grpo-explorable" data-share="{share}" question="Q?"><table>
<thead><tr><th>Sample</th><th>Reward</th><th>Advantage</th></tr></thead><tbody>
<tr><td>1</td><td>1</td><td>+1.5</td></tr><tr><td>2</td><td>0</td><td>&minus;0.5</td></tr>
<tr><td>3</td><td>0.2</td><td>0.00</td></tr>
</tbody></table></grpo-x>"""


def test_a_figure_is_drawn_from_the_column_or_the_row_that_it_names() -> None:
    column = first_figure(TABLE.format(share="Advantage"))
    assert isinstance(column, Values) and column.signed
    assert (column.labels, column.numbers) == (["Sample 1", "Sample 2", "Sample 3"], [1.5, -0.5, 0.0])
    assert column.rewarded == [True, False, False]
    row = first_figure(TABLE.format(share="3"))
    assert isinstance(row, Values) and not row.signed
    assert (row.labels, row.numbers) == (["Reward", "Advantage"], [0.2, 0.0])
    pair = first_figure(TABLE.format(share="Reward; Advantage"))
    assert isinstance(pair, Values) and (pair.name, pair.numbers) == ("1", [1.0, 1.5])
    assert first_figure(FIGURE) is None


@pytest.mark.parametrize("share_of", ["Loss", "Sample; Loss"])
def test_a_figure_that_names_what_its_table_lacks_stops_the_build(share_of: str) -> None:
    with pytest.raises(ValueError, match="no row and no column"):
        first_figure(TABLE.format(share=share_of))


def test_the_answers_of_a_picture_stand_and_hang_as_far_as_their_numbers_say() -> None:
    """Counted in the middle of each column: how much is blue above the line, and orange below it."""
    figure = first_figure(TABLE.format(share="Advantage"))
    image = picture("T", "Q?", figure)
    colors = {
        name: tuple(bytes.fromhex(share_picture._color(name)[1:])) for name in ("up", "down", "ink", "reward", "paper")
    }
    column = (image.width - 144) / 3
    lengths = []
    for place in range(3):
        x = round(72 + (place + 0.5) * column) - 20  # beside the coin and the letters
        pixels = [image.getpixel((x, y)) for y in range(344, image.height)]
        lengths.append((pixels.count(colors["up"]), pixels.count(colors["down"])))
    (up, none), (nothing, down), plain = lengths
    assert none == nothing == 0 and plain == (0, 0)
    assert (up - 60 + 12) / (down - 60 + 12) == pytest.approx(3, abs=0.25)  # rounded ends begin 12 pixels later here


def test_the_picture_of_a_run_is_drawn_from_the_first_chart_of_the_page() -> None:
    svg = (course.RUNS / "mean-reward.svg").read_text("utf-8")
    curves = first_figure(f"<p>{svg}</p>")
    assert isinstance(curves, Curves)
    assert (curves.name, curves.ends, curves.steps) == ("Mean reward", ("1", "0"), "80 steps")
    assert (curves.question, curves.reward) == ("How does the mean reward of the group rise?", True)
    assert len(curves.others) == 2 and all(len(line) == 80 for line in (curves.line, *curves.others))
    assert len(curves.band) == 160
    assert picture("T", "", curves).tobytes() == picture("T", "", curves).tobytes() != picture("T", "").tobytes()


def test_the_mark_is_not_drawn_where_a_figure_is() -> None:
    assert MARK.signed and picture("T", "", MARK).tobytes() == picture("T", "").tobytes()
    assert picture("T", "", first_figure(TABLE.format(share="Reward"))).tobytes() != picture("T", "").tobytes()
