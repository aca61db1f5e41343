"""Writes docs/assets/css/heights.css: the room that each figure of chapters and results takes, measured in Chromium.

    python tests/bench/figure_heights.py

Run it when a figure's first state, its controls or its text have changed; `tests/pages/test_frame.py` finds that out.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import site_server
from site_fixtures import FLAGS, chromium_program, wait_until_ready

STYLES = site_server.ROOT / "docs/assets/css/heights.css"
CHAPTERS = ("why", "ppo", "group", "advantage", "loss", "training", "limits")
PAGES = (*(f"learn/{chapter}" for chapter in CHAPTERS), "results/llm")
PIXELS = 20  # of a rem
# The largest width of a range in em, none for the widest, and the widths of the window that it is measured at.
RANGES = (("", (960, 1280)), ("59.9375em", (753,)), ("47em", (481,)), ("30em", (376, 390)), ("23.4375em", (320,)))
HEADER = """/* Written by `python tests/bench/figure_heights.py`; do not edit. How high each figure is when it has come
   (its first state, measured), by the width of the window; explorables.css keeps the room, and a test compares both. */
"""
# Without the room that is kept now, which would be measured in place of the figure.
BARE = "document.head.append(Object.assign(document.createElement('style'), {textContent: '%s'}))"
RULE = ".grpo-explorable { min-height: 0 !important; }"
HEIGHTS = "() => [...document.querySelectorAll('.grpo-explorable')].map(node => [node.localName, node.offsetHeight])"


def measured(page: Any, address: str) -> dict[str, dict[str, int]]:
    """The largest height of each figure in each range, in pixels."""
    found: dict[str, dict[str, int]] = {}
    for path in PAGES:
        for largest, widths in RANGES:
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(f"{address}/{path}/")
                page.evaluate(BARE % RULE)
                wait_until_ready(page)
                for name, height in page.evaluate(HEIGHTS):
                    heights = found.setdefault(name, {})
                    heights[largest] = max(height, heights.get(largest, 0))
    return found


def styles(heights: dict[str, dict[str, int]]) -> str:
    """The style sheet, in tenths of a rem, rounded up."""
    text = HEADER
    for largest, _ in RANGES:
        rules = [
            f"{name} {{ --height: {math.ceil(by_range[largest] * 10 / PIXELS) / 10:g}rem; }}"
            for name, by_range in heights.items()
        ]
        block = "\n".join(f"  {rule}" for rule in rules)
        text += f"@media (max-width: {largest}) {{\n{block}\n}}\n" if largest else "\n".join(rules) + "\n"
    return text


def main() -> int:
    """Write the file; 2 if there is no Chromium."""
    program = chromium_program()
    if program is None:
        print("No Chromium on this machine (Debian: apt install chromium).", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name, "site")
        with site_server.serve(folder) as address:
            site_server.build(folder, url=f"{address}/")
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
            STYLES.write_text(styles(measured(browser.new_page(), address)), "utf-8", newline="\n")
            browser.close()
    print(f"wrote {STYLES.relative_to(site_server.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
