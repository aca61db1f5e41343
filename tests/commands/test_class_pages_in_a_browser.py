"""The pages that instructors' commands write, before an HTML checker and in a browser: class report, worksheets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import worksheets
from command import environment
from reported_class import CHECKS, class_of, entry, secret_class
from site_fixtures import cannot
from worksheets import answer_of, handed_in, right_worksheet, run_of

from grader.classroom.page import class_page
from grader.classroom.report import class_report, named
from grader.classroom.results import Person
from grader.classroom.side_by_side import pairs_page
from grader.classroom.similarity import Ground, Pair, Similarity, compare
from grader.core import course
from grader.core.result import FAILED, NOT_WRITTEN, PASSED

BROWSER = course.ROOT / "tests" / "browser" / "node_modules"
BAD = "<script>alert(1)</script><img src=x onerror=alert(2)></table>\u202eabc\x1b[31m unbroken" + "x" * 300


def hostile() -> str:
    entries = secret_class()
    entries[1] = entry(1, entries[0].result, key="0" * 64, people=(Person(name=BAD),), notes=(BAD,))
    pair = Pair(first=BAD, second="b", share=0.8, files={"kl.py": 0.5})
    similarity = Similarity(threshold=0.5, compared=2, too_small=(BAD,), pairs=(pair,), found=1)
    return class_page(
        class_report(entries), named=named(entries, {each.key: 1.0 for each in entries}), similarity=similarity
    )


def reports() -> dict[str, str]:
    many = class_of(*[[PASSED, FAILED, *[NOT_WRITTEN] * 3], [PASSED] * CHECKS] * 15)
    classes = {"empty": [], "one": class_of([PASSED] * CHECKS), "waiting": [entry(0, None)], "many": many}
    classes["equal"] = class_of(*[[PASSED] * CHECKS] * 25)
    pages = {name: class_page(class_report(each)) for name, each in classes.items()}
    return pages | {"hostile": hostile(), "pairs": pairs()}


def pairs() -> str:
    """Two submissions side by side, and a third that has one file in common with them."""
    own = "".join(f"def f{n}(x):\n    return [x.m{n}(x, {BAD!r}) * {n} for y in range({n}) if y]\n" for n in range(9))
    known = "def g(x):\n    return x.a(1) + x.b(2) + x.c(3) + x.d(4)\n"
    texts = {
        BAD: {"kl.py": own + known, "clip.py": own},
        "b": {"kl.py": known + own, "clip.py": own},
        "c": {"kl.py": own},
    }
    ground = Ground({"kl.py": "", "clip.py": ""}, [{"kl.py": known}])
    return pairs_page(compare(texts, ground, top=3), texts, ground, "1.0")


def test_every_class_report_is_valid_html(tmp_path: Path) -> None:
    checker = BROWSER / "html-validate" / "bin" / "html-validate.mjs"
    if not checker.is_file():
        cannot("html-validate is missing: npm ci --prefix tests/browser")
    planted = {"planted": reports()["one"].replace("<h1>", "<h1><p></p>")}
    for name, text in (reports() | planted).items():
        (tmp_path / f"{name}.html").write_text(text, "utf-8")
    settings = course.ROOT / "tests/browser/htmlvalidate.json"
    command: list[str | Path] = ["node", checker, "--formatter", "json", "--config", settings]
    with (tmp_path / "report.json").open("w") as output:
        done = subprocess.run([*command, *sorted(tmp_path.glob("*.html"))], stdout=output, stderr=subprocess.PIPE)
    found = json.loads((tmp_path / "report.json").read_text("utf-8"))
    faults = [(Path(each["filePath"]).stem, each["messages"]) for each in found if each["messages"]]
    assert [name for name, _ in faults] == ["planted"], (faults, done.stderr)


def look_at(browser: Any, pages: list[Path], *, scheme: str, width: int) -> None:
    """Visit each page once: it runs nothing, loads nothing, fits wide and narrow windows, and is accessible."""
    axe = BROWSER / "axe-core" / "axe.min.js"
    if not axe.is_file():
        cannot("axe-core is missing: npm ci --prefix tests/browser")
    problems: list[str] = []
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        tab = context.new_page()
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("dialog", lambda dialog: problems.append(dialog.message))
        tab.on("request", lambda request: None if request.url.startswith("file:") else problems.append(request.url))
        for path in pages:
            tab.goto(path.as_uri())
            assert tab.locator("script, img").count() == 0
            tab.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true })")
            for each in (1280 + 360 - width, width):
                tab.set_viewport_size({"width": each, "height": 900})
                overflow = tab.evaluate("() => document.documentElement.scrollWidth - innerWidth")
                assert overflow <= 0, (path.name, each)
            tab.evaluate(axe.read_text("utf-8"))
            found = tab.evaluate("() => axe.run({ preload: false })")
            assert found["passes"] and [each["id"] for each in found["violations"]] == [], path.name
    assert problems == []


@pytest.mark.parametrize(("scheme", "width"), [("dark", 360), pytest.param("light", 1280, marks=pytest.mark.proof)])
def test_class_reports_are_accessible_load_nothing_and_fit_the_window(
    tmp_path: Path, browser: Any, scheme: str, width: int
) -> None:
    written = []
    for name, text in reports().items():
        if name in ("empty", "many", "hostile"):
            written.append(tmp_path / f"{name}.html")
            written[-1].write_text(text, "utf-8")
    look_at(browser, written, scheme=scheme, width=width)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), pytest.param("dark", 360, marks=pytest.mark.proof)])
def test_the_page_of_worksheets_is_accessible_loads_nothing_and_fits_the_window(
    tmp_path: Path, browser: Any, scheme: str, width: int
) -> None:
    """Written by the command as a process."""
    document = right_worksheet()
    handed_in(tmp_path / "ada", document)
    run_of(document, "1C.policy")["values"]["policy"][6] = 0.5
    run_of(document, "1C.try1")["seed"] = "x"
    answer_of(document, "1F.1")["answer"] = worksheets.BAD + "unbroken" * 100
    handed_in(tmp_path / "ben", document)
    command = [
        sys.executable,
        "-P",
        "-m",
        "grader.commands.course",
        "worksheet",
        "ada",
        "ben",
        "nobody",
        "--out",
        "page.html",
    ]
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment(PYTHONPATH=str(course.ROOT)), capture_output=True, text=True
    )
    assert ended.returncode == 1 and "2 read, 1 could not be read" in ended.stdout, ended.stderr
    look_at(browser, [tmp_path / "page.html"], scheme=scheme, width=width)
