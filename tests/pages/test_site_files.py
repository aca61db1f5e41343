"""The files of the built site: pages, links, HTML, and the scripts from which widgets are made. No browser is asked."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import struct
import subprocess
from pathlib import Path

import links
import pytest
from site_fixtures import BUILT_FOR
from site_pages import ALL, DOCS, NODE_MODULES, PAGES, ROOT, npm

KILOBYTE = 1000


def test_the_pages_are_those_of_the_site_map(site_folder: Path) -> None:
    entries = re.findall(r"<loc>(.*?)</loc>", (site_folder / "sitemap.xml").read_text("utf-8"))
    assert sorted(entry.removeprefix(BUILT_FOR) for entry in entries) == PAGES


@pytest.mark.parametrize("path", ALL)
def test_a_page_says_what_it_is(site_folder: Path, path: str) -> None:
    text = (site_folder / path.removeprefix("/") / ("index.html" if path.endswith("/") else "")).read_text("utf-8")
    assert '<html lang="en"' in text
    assert re.search(r"<title>[^<]*\w[^<]*</title>", text)
    assert re.search(r'<meta name="description" content="[^"]{20,}"', text)
    assert len(re.findall(r"<h1\b", text)) == 1


@pytest.mark.parametrize("path", PAGES)
def test_a_page_shows_a_picture_of_its_own_where_its_address_is_shared(site_folder: Path, path: str) -> None:
    text = (site_folder / path[1:] / "index.html").read_text("utf-8")
    said = dict(re.findall(r'<meta property="og:([\w:]+)" content="([^"]+)">', text))
    assert said["url"] == BUILT_FOR + path
    assert said["title"] and said["description"] and said["image:alt"].endswith(said["title"])
    png = (site_folder / said["image"].removeprefix(f"{BUILT_FOR}/")).read_bytes()
    assert struct.unpack(">4xII", png[12:24]) == (1200, 630)
    assert len(png) < 100 * KILOBYTE


def test_the_search_index_keeps_its_budget(site_folder: Path) -> None:
    index = (site_folder / "search/search_index.json").read_bytes()
    assert len(gzip.compress(index)) <= 150 * KILOBYTE  # it comes when somebody searches


def test_all_published_scripts_together_keep_their_budget(site_folder: Path) -> None:
    sizes = {path: len(gzip.compress(path.read_bytes())) for path in (site_folder / "assets/js").rglob("*.mjs")}
    assert len(sizes) == len(own_scripts())
    assert sum(sizes.values()) <= 145 * KILOBYTE, sizes  # a page loads those of its own figures only


def test_all_published_scripts_are_modules_that_parse_and_find_what_they_import(
    site_folder: Path, tmp_path: Path
) -> None:
    """Bundled all at once: an import that leads nowhere, or of a name that is not exported, is an error too."""
    npm("esbuild")
    published = sorted((site_folder / "assets/js").rglob("*.mjs"))
    command = [
        *map(str, [NODE_MODULES / ".bin/esbuild", *published]),
        *("--bundle", "--format=esm", "--loader:.min.js=empty"),
        *(f"--outdir={tmp_path / 'bundled'}", f"--metafile={tmp_path / 'inputs.json'}", "--log-limit=0"),
    ]
    done = subprocess.run(command, cwd=site_folder, capture_output=True, text=True, check=False)
    assert (done.returncode, "[ERROR]" in done.stderr) == (0, False), done.stderr
    read = set(json.loads((tmp_path / "inputs.json").read_text("utf-8"))["inputs"])
    assert published and {path.relative_to(site_folder).as_posix() for path in published} <= read


def test_every_column_of_a_table_has_a_name(site_folder: Path) -> None:
    pages = {path: path.read_text("utf-8") for path in site_folder.rglob("*.html")}
    assert any("<th" in text for text in pages.values())
    assert [path for path, text in pages.items() if re.search(r"<th[^>]*>\s*</th>", text)] == []


def test_titles_tell_pages_apart(site_folder: Path) -> None:
    titles = [
        re.findall(r"<title>(.*?)</title>", (site_folder / path[1:] / "index.html").read_text("utf-8"))[0]
        for path in PAGES
    ]
    assert sorted({title for title in titles if titles.count(title) > 1}) == []


def test_links_and_ids_are_sound(site_folder: Path) -> None:
    assert links.faults(site_folder, address=f"{BUILT_FOR}/") == []


SOUND = """<html><body><h1 id="top">A</h1><p id="a.b">B</p>
<a href="#top">.</a> <a href="">.</a> <a href="b/">.</a> <a href="b/?sim.seed=7#%C3%A9">.</a> <img src="img/a%20b.png">
<a href="https://elsewhere.example/x#y">.</a> <a href="mailto:a@b.example">.</a> <a href="https://host.example/c/b/">.</a>
<a href="#a.b">.</a><a href="../c/b/index.html">.</a></body></html>"""
OTHER = '<html><body id="é"><a href="../">.</a><a href="../#top">.</a><img src="../img/a%20b.png"></body></html>'
PLANTED = {
    '<a href="c/">.</a>': "index.html: 'c/' leads nowhere",
    '<a href="b">.</a>': "index.html: 'b' leads to a folder without its slash",
    '<img src="img/none.png">': "index.html: 'img/none.png' leads nowhere",
    '<a href="#bottom">.</a>': "index.html: '#bottom' leads to no such id",
    '<a href="b/#top">.</a>': "index.html: 'b/#top' leads to no such id",
    '<p id="top">': "index.html: duplicate id 'top'",
    '<a href="/c/b/">.</a>': "index.html: '/c/b/' starts at the host's root",
    '<a href="../">.</a>': "index.html: '../' leaves the site",
    '<a href="https://host.example/c/d/">.</a>': "index.html: 'https://host.example/c/d/' leads nowhere",
    '<a href="javascript:void(0)">.</a>': "index.html: 'javascript:void(0)' is a script",
}


@pytest.fixture
def small_site(tmp_path: Path) -> Path:
    """A sound site of two pages and a picture."""
    for name, text in {"index.html": SOUND, "b/index.html": OTHER, "img/a b.png": "", "404.html": SOUND}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("../c/", "/c/") if name == "404.html" else text, encoding="utf-8")
    return tmp_path


def test_the_link_checker_accepts_sound_links(small_site: Path) -> None:
    assert links.faults(small_site, address="https://host.example/c/") == []


@pytest.mark.parametrize("planted", PLANTED)
def test_the_link_checker_finds_a_planted_fault(small_site: Path, planted: str) -> None:
    (small_site / "index.html").write_text(SOUND.replace("</body>", f"{planted}</body>"), encoding="utf-8")
    assert links.faults(small_site, address="https://host.example/c/") == [PLANTED[planted]]


THEME_FAULTS = {
    # The theme switches its drawer and its search with hidden checkboxes and keeps browsers from restoring them.
    ("valid-autocomplete", "#__drawer"),
    ("valid-autocomplete", "#__search"),
    # The theme writes tabindex="" on the label of the navigation section in which the page stands.
    ("attribute-allowed-values", "#__nav_N_label"),
}


def test_html_is_valid_but_for_the_known_faults_of_the_theme(site_folder: Path, tmp_path: Path) -> None:
    command = [
        *("node", npm("html-validate") / "bin/html-validate.mjs", "--formatter", "json"),
        *("--config", ROOT / "tests/browser/htmlvalidate.json", "--ext", "html", site_folder),
    ]
    with (tmp_path / "report.json").open("w") as output:  # it does not wait for a pipe to be read
        done = subprocess.run([*map(str, command)], stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    reports = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert len({report["filePath"] for report in reports}) == len(list(site_folder.rglob("*.html"))) == len(ALL)
    found = {}
    for report in reports:
        for message in report["messages"]:
            place = re.sub(r"#__nav_[\d_]+_label", "#__nav_N_label", message["selector"] or "")
            found[message["ruleId"], place] = f"{report['filePath']}:{message['line']}: {message['message']}"
    assert {key: where for key, where in found.items() if key not in THEME_FAULTS} == {}
    assert set(found) == THEME_FAULTS, "a fault of the theme is gone: remove it from the list"


# The sources


def own_scripts() -> list[Path]:
    return sorted((DOCS / "assets/js").rglob("*.mjs"))


def test_every_widget_on_a_page_is_declared_and_can_be_loaded() -> None:
    used = {
        tag
        for source in DOCS.rglob("*.md")
        for tag in re.findall(r"^/+ html \| (grpo-[\w-]+)", source.read_text("utf-8"), re.M)
    }
    declared = set(re.findall(r"tag: (grpo-[\w-]+)", (ROOT / "mkdocs.yml").read_text("utf-8")))
    assert used and used <= declared
    shared = {"question": "worksheet", "runs": "worksheet", "worksheet-tools": "worksheet"}
    for name in (tag.removeprefix("grpo-") for tag in declared):
        script = DOCS / f"assets/js/widgets/{shared.get(name, name)}.mjs"
        assert f'customElements.define("grpo-{name}"' in script.read_text("utf-8"), name


@pytest.mark.parametrize(("folder", "count"), [("docs/assets/vendor", 30), ("grader/workshop/katex", 2)])
def test_vendored_files_are_those_on_record(folder: str, count: int) -> None:
    vendor = ROOT / folder
    recorded = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", (vendor / "README.txt").read_text("utf-8"), re.M))
    files = [path for path in vendor.rglob("*") if path.is_file() and path.name != "README.txt"]
    assert len(files) == count
    assert {
        hashlib.sha256(path.read_bytes()).hexdigest(): path.relative_to(vendor).as_posix() for path in files
    } == recorded


def test_the_fonts_of_text_and_headlines_keep_their_budget() -> None:
    fonts = list((DOCS / "assets/vendor/fonts").glob("*.woff2"))
    assert fonts and sum(path.stat().st_size for path in fonts) <= 60 * KILOBYTE


def test_colours_are_written_in_the_tokens_and_nowhere_else() -> None:
    """Widgets and style sheets take them by name, so that one file decides what a page looks like in light and dark."""
    folder = DOCS / "assets"
    files = [*(folder / "css").glob("*.css"), *(folder / "js").rglob("*.mjs")]
    colour = re.compile(r"(?<![\w&])#[0-9a-f]{3,8}\b|\b(?:rgb|hsl)a?\(", re.I)
    found = {path.name: colour.findall(path.read_text("utf-8")) for path in files}
    assert found.pop("tokens.css")
    assert {name: colours for name, colours in found.items() if colours} == {}


def test_styles_rarely_depend_on_what_an_element_contains() -> None:
    """Each selector with :has makes every change of a page slow; twenty of them doubled the time to style it."""
    text = "".join(path.read_text("utf-8") for path in (DOCS / "assets/css").glob("*.css"))
    assert re.findall(r"\S*:has\(.*?\)", text) == ["a:has(> code)"]


def test_every_token_that_is_used_is_declared() -> None:
    text = "".join(path.read_text("utf-8") for path in (DOCS / "assets/css").glob("*.css"))
    scripts = "".join(path.read_text("utf-8") for path in own_scripts())
    declared = set(re.findall(r"(--[\w-]+):", text)) | set(re.findall(r'setProperty\("(--[\w-]+)"', scripts))
    used = set(re.findall(r"var\((--[\w-]+)", text + scripts))
    assert used and {name for name in used - declared if not name.startswith("--md-")} == set()
