"""The files of the built site, read without a browser: links, HTML, and what readers get who run no scripts."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import links
import pytest
from site_fixtures import BUILT_FOR, cannot
from site_pages import ALL, FIGURE_PAGES, PAGES, ROOT, TEMPLATES, npm
from tab import assert_a_card

from grader.core import course
from grader.workshop.catalogue import known_mistakes
from site_steps import bughunt, first_states, recordings

Reader = Callable[[str], Any]
SCRIPTS, LANGUAGE_MODEL = 178_000, 40_000
TOOLS = {"run-reader.mjs": 24_000}
"""Scripts that only one page loads and no figure shares: each has a limit of its own."""
THEME_FAULTS = {
    # The theme switches its drawer and its search with hidden checkboxes and keeps browsers from restoring them.
    ("valid-autocomplete", "#__drawer"),
    ("valid-autocomplete", "#__search"),
    # The theme writes tabindex="" on the label of the current navigation section.
    ("attribute-allowed-values", "#__nav_N_label"),
}


def figures_with_a_picture() -> set[str]:
    """The figures that draw a chart from what their script has; a timeline takes it from the page."""
    texts = {file.stem: file.read_text("utf-8") for file in (ROOT / "docs/assets/js/widgets").glob("*.mjs")}
    draws = re.compile(r"extends Explorable(?s:.*)(?:[cC]hart|divergingBars|dotPlot)\(")
    return {f"grpo-{name}" for name, text in texts.items() if draws.search(text)} - {
        "grpo-timeline",
        "grpo-mistake-finder",
    }


def words(node: Any) -> str:
    return " ".join(node.text_content().split())


def test_every_page_says_what_it_is(site_folder: Path, read: Reader) -> None:
    entries = re.findall(r"<loc>(.*?)</loc>", (site_folder / "sitemap.xml").read_text("utf-8"))
    assert sorted(entry.removeprefix(BUILT_FOR) for entry in entries) == PAGES
    titles = []
    for path in ALL:
        page = read(path)
        assert page.getroot().get("lang") == "en"
        assert len(page.xpath("string(//meta[@name='description']/@content)")) >= 20, path
        assert len(page.xpath("//h1")) == 1, path
        assert not page.xpath("//th[not(normalize-space())]"), f"{path}: a column without a name"
        titles.append(page.xpath("string(//title)"))
    assert len(set(titles[: len(PAGES)])) == len(PAGES)


def test_a_link_in_a_chat_shows_the_page_with_a_picture_of_its_own(site_folder: Path, read: Reader) -> None:
    myths = [f"/myths/{card.get('id')}/" for card in read("/myths/").xpath("//grpo-myth/h3")]
    assert len(myths) > 20
    pictures = {}
    for path in [*PAGES, *myths]:
        tags = {tag.get("property"): tag.get("content") for tag in read(path).xpath("//meta[@property]")}
        assert tags["og:url"] == BUILT_FOR + path
        assert tags["og:title"] in read(path).xpath("string(//title)") and len(tags["og:description"]) >= 20
        pictures[path] = site_folder / tags["og:image"].removeprefix(f"{BUILT_FOR}/")
    assert len(set(pictures.values())) == len(pictures)
    for path in ("/learn/loss/", "/reference/questions/", "/myths/loss/"):
        assert_a_card(pictures[path])
    assert len({path.read_bytes() for path in pictures.values()}) == len(pictures)


@pytest.mark.parametrize("tag", sorted(figures_with_a_picture()))
def test_a_figure_is_drawn_without_a_browser(tag: str) -> None:
    page = {"title": "A figure", "course": "GRPO", "address": "site.example", "colors": {}}
    drawn = first_states.card(page, figure=(tag, {}))
    assert ("grpo-chart" in drawn) != first_states.asks(tag), "a picture does not give away what is asked"
    assert "NaN" not in drawn and "undefined" not in drawn


def test_links_and_ids_are_sound(site_folder: Path) -> None:
    assert links.faults(site_folder, address=f"{BUILT_FOR}/") == []


@pytest.mark.parametrize("paths", [TEMPLATES, pytest.param(ALL, marks=pytest.mark.proof)], ids=["one of each", "all"])
def test_html_is_valid_but_for_the_known_faults_of_the_theme(site_folder, tmp_path, paths):
    files = [site_folder / (path[1:] + "index.html" * path.endswith("/")) for path in paths]
    if shutil.which("node") is None:
        cannot("Node.js is missing (apt install nodejs npm): HTML is not validated.")
    command = [
        *("node", npm("html-validate") / "bin/html-validate.mjs", "--formatter", "json"),
        *("--config", ROOT / "tests/browser/htmlvalidate.json", *files),
    ]
    with (tmp_path / "report.json").open("w") as output:  # it does not wait for a pipe to be read
        done = subprocess.run([*map(str, command)], stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    reports = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert len({report["filePath"] for report in reports}) == len(paths)
    found = {}
    for report in reports:
        for message in report["messages"]:
            place = re.sub(r"#__nav_[\d_]+_label", "#__nav_N_label", message["selector"] or "")
            found[message["ruleId"], place] = f"{report['filePath']}:{message['line']}: {message['message']}"
    assert {key: where for key, where in found.items() if key not in THEME_FAULTS} == {}


def test_without_scripts_a_figure_is_a_text_with_its_numbers(read: Reader) -> None:
    figures = [each for path in FIGURE_PAGES for each in read(path).xpath("//*[contains(@class, 'grpo-explorable')]")]
    assert figures
    for figure in figures:
        card = figure.xpath("ancestor::grpo-myth")  # its text stays when the figure comes
        text = (card or [figure])[0].text_content()
        assert len(text.split()) >= 35, figure.tag
        assert figure.xpath(".//table") or len(re.findall(r"\d", text)) >= (1 if card else 10), figure.tag


def test_without_scripts_the_worksheet_has_its_questions_and_the_simulation_its_command(read: Reader) -> None:
    worksheet = read("/worksheet/")
    assert all(words(question).endswith(("?", ".")) for question in worksheet.xpath("//grpo-question"))
    assert len(worksheet.xpath("//grpo-question")) == 13 and len(worksheet.xpath("//grpo-runs//table")) >= 6
    assert "python -m starter.run_bandit" in words(read("/simulation/").xpath("//grpo-simulation")[0])


def test_without_scripts_every_piece_of_the_bug_hunt_can_be_read_with_its_answer(read: Reader) -> None:
    page = read("/bughunt/")
    answers = page.xpath("//grpo-bughunt//details")
    for piece, code, details in zip(bughunt.pieces(), page.xpath("//pre"), answers, strict=True):
        right = piece.lines[piece.line - 1]
        assert page.xpath(f"//h2[@id='{piece.id}']") and details.get("open") is None
        assert (piece.other if piece.kinds else right) in code.text_content()
        assert right.strip() in details.text_content() and piece.explanation.replace("`", "") in words(details)


@pytest.mark.parametrize("name", [exercise.name for exercise in course.EXERCISES])
def test_every_known_mistake_has_the_place_to_which_reports_lead(read: Reader, name: str) -> None:
    entries = read(f"/exercises/{name}/mistakes/").xpath("//details")
    shown = {node.get("id"): words(node.find("summary")) for node in entries}
    wanted = {f"{entry.function}-{entry.name}": entry.sentence.replace("`", "") for entry in known_mistakes(name)}
    assert {place: text.lower() for place, text in shown.items()} == {
        place: " ".join(sentence.split()).lower() for place, sentence in wanted.items()
    }


def test_the_home_page_shows_what_a_recorded_run_answered(read: Reader) -> None:
    run = recordings.llm_run()
    rows = read("/").xpath("//*[contains(@class, 'grpo-before-after')]//tbody/tr")
    expected = []
    for i, prompt in enumerate(run["prompts"]):
        ends = [(point["texts"][i], point["rewards"][i]) for point in (run["points"][0], run["points"][-1])]
        lines = [(f"{prompt.splitlines()[-1]} {text.splitlines()[0].strip()}", f"{reward:g}") for text, reward in ends]
        expected.append([" ".join(cell.split()) for line in lines for cell in line])
    assert [[words(cell) for cell in row.xpath(".//td")] for row in rows] == expected


def test_all_scripts_together_stay_small(site_folder: Path) -> None:
    npm("esbuild")
    scripts = {*site_folder.rglob("*.mjs"), site_folder / "assets/late-search.js"}
    entries = {script for script in scripts if script.parent.name != "bundled"}
    live_model = scripts - needed_by({entry for entry in entries if "language-model" not in entry.as_posix()})
    size = {script: len(gzip.compress(script.read_bytes())) for script in scripts}
    assert sum(size[script] for script in live_model) <= LANGUAGE_MODEL
    tools = {script for script in scripts if script.name in TOOLS}
    assert {script.name: size[script] for script in tools if size[script] > TOOLS[script.name]} == {}
    assert sum(size[script] for script in scripts - live_model - tools) <= SCRIPTS


def needed_by(entries: set[Path]) -> set[Path]:
    """Scripts, with all that they import, now or later."""
    found: set[Path] = set()
    waiting = [*entries]
    while waiting:
        script = waiting.pop().resolve()
        if script not in found:
            found.add(script)
            waiting += [
                script.parent / name for name in re.findall(r'"(\.{1,2}/[^"]*\.mjs)"', script.read_text("utf-8"))
            ]
    return found


def test_the_fonts_of_formulas_have_every_letter_that_is_drawn(read: Reader) -> None:
    drawn = {letter for path in ALL for node in read(path).iter("span") if node.get("class") == "katex-html"
             for letter in node.text_content()}  # fmt: skip
    letters = (ROOT / "docs/assets/vendor/katex/letters.txt").read_text("utf-8")
    assert drawn - set(letters) == set(), "see docs/assets/vendor/README.txt"


@pytest.mark.parametrize("folder", ["docs/assets/vendor", ".ci/site_steps/katex"])
def test_vendored_files_are_those_on_record(folder: str) -> None:
    vendor = ROOT / folder
    recorded = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", (vendor / "README.txt").read_text("utf-8"), re.M))
    files = [path for path in vendor.rglob("*") if path.is_file() and path.name != "README.txt"]
    assert files and recorded == {
        hashlib.sha256(path.read_bytes()).hexdigest(): path.relative_to(vendor).as_posix() for path in files
    }
