"""The built site in a real browser: accessibility, errors, other hosts, budgets, links, instant navigation, keyboard.

Each page is visited once per width and shown in both colour schemes; the tests then look at what was found. What single
widgets do has its own test files. Left out: other browsers (none is at hand) and pictures of pages (they differ by
machine).
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import links
import pytest
from site_fixtures import cannot, wait_until_ready, watch

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NODE_MODULES = ROOT / "tests/browser/node_modules"
AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
KILOBYTE = 1000


def address_of(source: Path) -> str:
    """Where the page of a Markdown file stands: docs/exercises/kl.md is at /exercises/kl/."""
    path = source.relative_to(DOCS).with_suffix("").as_posix()
    return "/" + (path.removesuffix("index") if path.endswith("index") else f"{path}/")


PAGES = sorted(address_of(source) for source in DOCS.rglob("*.md"))
ALL = [*PAGES, "/404.html"]
PHONE, WIDE = 360, 1280
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (PHONE, WIDE)]


def npm(package: str) -> Path:
    """The folder of an installed npm package."""
    folder = NODE_MODULES / package
    if not folder.is_dir():
        cannot(f"{package} is missing: npm ci --prefix tests/browser")
    return folder


# Every page, both colour schemes, narrow and wide


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What one visit of a page found."""

    violations: list[str]  # of axe's rules
    problems: list[str]  # errors, failed requests, other hosts
    overflow: int  # pixels by which the page is wider than the window


Visitor = Callable[[str, str, int], Visit]


@pytest.fixture(scope="module")
def visit(browser: Any, site: str) -> Iterator[Visitor]:
    """Visits a page once for each width, all pages in one tab, and looks at it in both colour schemes.

    On a phone it is loaded in the light scheme and then switched to the dark one as a reader does, on a wide window the
    other way round: loading is what takes time. After switching, axe applies its rules on colours only.
    """
    contexts = []

    @functools.cache
    def tab(width: int) -> tuple[Any, list[str]]:
        scheme = "light" if width == PHONE else "dark"
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page, problems = context.new_page(), []
        watch(page, site, problems)
        return page, problems

    @functools.cache
    def looks(path: str, width: int) -> dict[str, Visit]:
        page, problems = tab(width)
        found = {}
        page.goto(site + path)
        for rules in (AXE_RULES, COLOUR_RULES):
            wait_until_ready(page)
            overflow = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
            hurt = violations(page, rules)
            found[shown_scheme(page)] = Visit(violations=hurt, problems=[*problems], overflow=overflow)
            problems.clear()
            # The toggle; used twice, so that the next page loads in the scheme of this one.
            page.locator("[data-md-component=palette] label:visible").dispatch_event("click")
        return found

    yield lambda path, scheme, width: looks(path, width)[scheme]
    for context in contexts:
        context.close()


def shown_scheme(page: Any) -> str:
    """The colour scheme that a reader sees."""
    return {"default": "light", "slate": "dark"}[page.evaluate("document.body.dataset.mdColorScheme")]


def violations(page: Any, rules: list[str] = AXE_RULES) -> list[str]:
    """What axe-core finds on a page: rule, place and reason."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate((npm("axe-core") / "axe.min.js").read_text("utf-8"))
    # Preloading would serve rules about film and sound only.
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    result = page.evaluate("options => axe.run(document, options)", options)
    assert result["passes"], "axe has looked at nothing"
    return [
        f"{violation['id']}: {node['target']}: {node['failureSummary']}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
@pytest.mark.parametrize("path", ALL)
def test_a_page_has_no_accessibility_violation(visit: Visitor, path: str, scheme: str, width: int) -> None:
    assert visit(path, scheme, width).violations == []


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
@pytest.mark.parametrize("path", ALL)
def test_a_page_has_no_error_and_asks_no_other_host(visit: Visitor, path: str, scheme: str, width: int) -> None:
    assert visit(path, scheme, width).problems == []


@pytest.mark.parametrize("path", ALL)
def test_a_page_does_not_scroll_sideways_on_a_phone(visit: Visitor, path: str) -> None:
    assert visit(path, "light", PHONE).overflow <= 0


@pytest.mark.parametrize("path", ALL)
def test_a_page_keeps_its_budget_on_a_first_visit(browser: Any, site: str, path: str) -> None:
    sizes: dict[str, int] = {}
    with browser.new_context() as context:
        page = context.new_page()
        page.on(
            "response", lambda answer: sizes.update({answer.url[len(site) :]: int(answer.headers["content-length"])})
        )
        page.goto(site + path)
        wait_until_ready(page, scrolling=False)
        page.wait_for_load_state("networkidle")
        # Two files come in the background and grow with the site: the search index, which has a budget of its own, and
        # the sitemap, with which the theme looks which links it may preview.
        index = sizes.pop("/search/search_index.json")
        assert sizes.pop("/sitemap.xml", 0) <= 6 * KILOBYTE
        first = dict(sizes)
        wait_until_ready(page)  # read to its end: figures load when they come near
    assert path in first and "/assets/js/index.mjs" in first
    # The simulation was planned with 20; it has the comparison, the arithmetic of a step and all tables at once, and
    # still loads less of ours than of the formulas.
    assert own(first) <= (30 if path == "/simulation/" else 15) * KILOBYTE, largest(first)
    assert sum(first.values()) <= 250 * KILOBYTE, largest(first)
    assert own(sizes) <= 35 * KILOBYTE, largest(sizes)
    assert index <= 130 * KILOBYTE


def own(sizes: dict[str, int]) -> int:
    """Bytes of the site's own scripts."""
    return sum(size for name, size in sizes.items() if name.startswith("/assets/js/"))


def largest(sizes: dict[str, int]) -> list[tuple[int, str]]:
    return sorted(((size, name) for name, size in sizes.items()), reverse=True)


def test_all_own_scripts_together_keep_their_budget() -> None:
    sizes = {path: len(gzip.compress(path.read_bytes())) for path in own_scripts()}
    assert 0 < sum(sizes.values()) <= 120 * KILOBYTE, sizes


# The built files


def test_the_pages_are_those_of_the_site_map(site: str, site_folder: Path) -> None:
    entries = re.findall(r"<loc>(.*?)</loc>", (site_folder / "sitemap.xml").read_text("utf-8"))
    assert sorted(entry.removeprefix(site) for entry in entries) == PAGES


@pytest.mark.parametrize("path", ALL)
def test_a_page_says_what_it_is(site: str, site_folder: Path, path: str) -> None:
    text = (site_folder / path.removeprefix("/") / ("index.html" if path.endswith("/") else "")).read_text("utf-8")
    assert '<html lang="en"' in text
    assert re.search(r"<title>[^<]*\w[^<]*</title>", text)
    assert re.search(r'<meta name="description" content="[^"]{20,}"', text)
    assert len(re.findall(r"<h1\b", text)) == 1


def test_titles_tell_pages_apart(site: str, site_folder: Path) -> None:
    titles = [
        re.search(r"<title>(.*?)</title>", (site_folder / path[1:] / "index.html").read_text("utf-8"))[1]
        for path in PAGES
    ]
    assert sorted({title for title in titles if titles.count(title) > 1}) == []


def test_links_and_ids_are_sound(site: str, site_folder: Path) -> None:
    assert links.faults(site_folder, address=f"{site}/") == []


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


def test_html_is_valid_but_for_the_known_faults_of_the_theme(site: str, site_folder: Path, tmp_path: Path) -> None:
    command = [
        *("node", npm("html-validate") / "bin/html-validate.mjs", "--formatter", "json"),
        *("--config", ROOT / "tests/browser/htmlvalidate.json", "--ext", "html", site_folder),
    ]
    with (tmp_path / "report.json").open("w") as output:  # it does not wait for a pipe to be read
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
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


# Moving about


def follow(page: Any, address: str) -> None:
    """Clicks a link to a page and waits until the page is there."""
    page.locator(f'a[href="{address}"]:visible').first.click()
    page.wait_for_function("address => document.querySelector('link[rel=canonical]')?.href === address", arg=address)
    wait_until_ready(page)


def test_instant_navigation_keeps_the_window_and_leaves_nothing_undone(open_page: Any, site: str) -> None:
    page = open_page("/")
    page.evaluate("() => { window.visitor = 'the same' }")
    # Links get whole addresses by the theme's script, which shows that instant navigation is on.
    for path in ("/simulation/", "/start/", "/exercises/kl/", "/worksheet/", "/"):
        follow(page, site + path)
        assert page.evaluate("() => window.visitor") == "the same", path
        assert page.locator(".arithmatex").count() == page.locator(".arithmatex:has(.katex)").count()
        assert violations(page) == [], path
    page.go_back()
    page.wait_for_function("() => document.querySelector('link[rel=canonical]').href.endsWith('/worksheet/')")
    wait_until_ready(page)
    assert page.evaluate("() => window.visitor") == "the same"


def test_the_colour_scheme_can_be_switched_and_is_remembered(open_page: Any, site: str) -> None:
    page = open_page("/", scheme="light")

    def scheme() -> str:
        return page.evaluate("() => document.body.getAttribute('data-md-color-scheme')")

    assert scheme() == "default"
    page.get_by_title("Switch to dark mode").click()
    assert scheme() == "slate"
    page.goto(f"{site}/start/")
    assert scheme() == "slate"
    page.get_by_title("Switch to light mode").click()
    assert scheme() == "default"


def test_the_keyboard_skips_to_the_content(open_page: Any) -> None:
    page = open_page("/exercises/kl/")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.classList.contains('md-skip')")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash && document.activeElement === document.body")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('article') !== null")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_keyboard_reaches_the_content_through_the_navigation(open_page: Any, width: int) -> None:
    page = open_page("/exercises/kl/", width=width)
    passed = []
    for _ in range(80):
        page.keyboard.press("Tab")
        passed.append(page.evaluate("() => document.activeElement.className"))
        if page.evaluate("() => document.activeElement.closest('article') !== null"):
            break
    else:
        pytest.fail(f"80 times Tab do not reach the content: {passed}")
    assert len(passed) > 3


def test_wide_blocks_scroll_by_keyboard_when_a_phone_is_turned_and_closed_blocks_are_opened(open_page: Any) -> None:
    page = open_page("/exercises/bandit/", width=900, has_touch=True, is_mobile=True)
    page.set_viewport_size({"width": 240, "height": 900})  # so narrow that a table is wide in every font
    page.evaluate("() => document.querySelectorAll('details').forEach(node => { node.open = true })")
    wait_until_ready(page)
    wide_blocks = """() => [...document.querySelectorAll("pre > code, .md-typeset__scrollwrap, div.arithmatex")]
      .filter(node => node.scrollWidth > node.clientWidth)
      .map(node => [node.className.split(" ")[0], node.tabIndex, node.ariaLabel])"""
    # The theme and the page's own script hear of the new width one after the other.
    page.wait_for_function(f"() => new Set(({wide_blocks})().map(([kind]) => kind)).size === 3")
    page.wait_for_function(f"() => ({wide_blocks})().every(([, tabIndex]) => tabIndex === 0)")
    wide = page.evaluate(wide_blocks)
    assert {name for name, _, _ in wide} == {"", "md-typeset__scrollwrap", "arithmatex"}
    assert all(index == 0 and label for _, index, label in wide), wide
    assert len({label for _, _, label in wide}) == len(wide)


# The sources


def own_scripts() -> list[Path]:
    return sorted((DOCS / "assets/js").rglob("*.mjs"))


@pytest.mark.parametrize("script", own_scripts(), ids=lambda path: path.relative_to(DOCS).as_posix())
def test_a_script_is_a_module_that_parses(script: Path) -> None:
    if shutil.which("node") is None:
        cannot("Node.js is missing")
    done = subprocess.run(["node", "--check", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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


def test_vendored_files_are_those_on_record() -> None:
    vendor = DOCS / "assets/vendor"
    recorded = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", (vendor / "README.txt").read_text("utf-8"), re.M))
    files = [path for path in vendor.rglob("*") if path.is_file() and path.name != "README.txt"]
    assert len(files) == 25
    assert {
        hashlib.sha256(path.read_bytes()).hexdigest(): path.relative_to(vendor).as_posix() for path in files
    } == recorded
