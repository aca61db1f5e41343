"""Writes docs/assets/css/heights.css: the room that whatever comes with its code takes on a page, in three engines.

    python tests/bench/figure_heights.py

Run it when the first state, the controls or the text of such a part have changed: `tests/pages/test_site.py` finds
that out for figures, `tests/pages/test_engines.py` for all.
WebKitGTK's letters are up to a tenth wider than Chromium's, so a label that just fits in one line needs two there.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import engines
import site_server
from site_fixtures import SETTLED, UNTIL_READY, chromium_program

STYLES = site_server.ROOT / "docs/assets/css/heights.css"
CHAPTERS = ("why", "ppo", "group", "gradient", "advantage", "loss", "training", "limits")
PAGES = (
    *(f"learn/{chapter}" for chapter in CHAPTERS),
    *(
        "2026/family",
        "2026/engines",
        "2026/debates",
        "results/as-shipped",
        "results/cut-the-batch",
        "results/truncation",
        "results/samplers",
        "results/llm",
        "simulation",
        "worksheet",
    ),
    "exercises/advantages/mistakes",
    "myths",
)
PIXELS = 20  # of a rem
WIDEST = 1280
# The largest width of a range in em, none for the widest, and the widths of the window that it is measured at.
RANGES = (
    ("", (1180, 1280)),
    ("73em", (961, 1168)),
    ("60em", (753, 960)),
    ("47em", (481,)),
    ("30em", (376, 390)),
    ("23.4375em", (320,)),
)
HEADER = """/* Written by `python tests/bench/figure_heights.py`; do not edit. How high what comes with its code is when
   it has come (its first state, the largest of three engines; the simulation without its chart), by the width of the
   window; explorables.css, widgets.css, simulation.css and worksheet.css keep it, and tests compare both. */
"""
# Without the room that is kept now, which would be measured in place of the figure, and without scroll bars, which take
# width in some engines here and in none on phones and tablets.
BARE = """() => document.head.append(Object.assign(document.createElement("style"), { textContent:
  ":is(.grpo-explorable, [data-ready]):is(*, #higher) { min-height: 0 !important; } html { scrollbar-width: none; }"
}))"""
MYTH = "grpo-myth "
HEIGHTS = """() => [...document.querySelectorAll(".grpo-explorable, article [data-ready]")]
  .filter((node) => !node.matches("grpo-question, grpo-quiz, grpo-myth, grpo-language-model, grpo-dock, "
    + "grpo-worksheet-tools:not([part])"))
  .map((node) => {
    const apart = ["name", "part"].filter((name) => node.hasAttribute(name) && !node.matches(".grpo-explorable"));
    const chart = node.localName === "grpo-simulation" && node.querySelector(".grpo-board > .grpo-chart");
    const [height, less] = [node, chart].map((part) => (part ? part.getBoundingClientRect().height : 0));
    const within = node.closest("grpo-myth") ? "grpo-myth " : "";
    const parts = apart.map((name) => `[${name}="${node.getAttribute(name)}"]`);
    return [within + node.localName + parts.join(""), height - less];
  })"""


def measured(window: engines.Engine, address: str) -> dict[str, dict[str, float]]:
    """The largest height of each figure in each range, in pixels."""
    found: dict[str, dict[str, float]] = {}
    for path in PAGES:
        window.resize(WIDEST, 900)
        window.open(f"{address}/{path}/")
        window.ask(BARE)
        window.ask(UNTIL_READY, True)
        for largest, widths in RANGES:
            for width in widths:
                window.resize(width, 900)
                window.ask(SETTLED)
                for name, height in window.ask(HEIGHTS):
                    heights = found.setdefault(name, {})
                    heights[largest] = max(height, heights.get(largest, 0))
    return found


def largest_of(all_found: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """The largest height of each figure in each range that any engine needs."""
    first = all_found[0]
    return {name: {key: max(found[name][key] for found in all_found) for key in first[name]} for name in first}


def needed(heights: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Without figures that need no more room in a myth than in their chapter, where some ask a question first."""

    def is_larger(name: str) -> bool:
        chapter = heights.get(name.removeprefix(MYTH), {})
        return any(height > chapter.get(key, 0) for key, height in heights[name].items())

    return {name: by_range for name, by_range in heights.items() if not name.startswith(MYTH) or is_larger(name)}


def styles(heights: dict[str, dict[str, float]]) -> str:
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
    """Write the file; 2 if an engine is missing."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    missing = [*engines.missing_engines().values()]
    if chromium_program() is None:
        missing.append("Chromium is missing (Debian: apt install chromium).")
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return 2
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "site")
        with site_server.serve(folder) as address:
            site_server.build(folder, url=f"{address}/")
            for engine in engines.ALL:
                with engines.start(engine) as window:
                    found.append(measured(window, address))
    STYLES.write_text(styles(needed(largest_of(found))), "utf-8", newline="\n")
    print(f"wrote {STYLES.relative_to(site_server.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
