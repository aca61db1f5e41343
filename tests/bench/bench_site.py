"""How fast the simulation page is in a real browser: `make bench-site`. No test, because machines differ.

Chromium runs headless on this machine; --throttle 4 slows its processor down as a phone would. Times of redraws run
from the call to the moment at which the browser has laid out the page and is ready to paint.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import site_server
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table
from site_fixtures import FLAGS, chromium_program, wait_until_ready

ROUNDS = 7

STEPS = """async ([groupSize, innerSteps]) => {
  const { run, singlePeak } = await import(new URL("../assets/js/core/bandit.mjs", location.href));
  const settings = { rewardTable: singlePeak(), groupSize, innerSteps };
  run(settings, { seed: 0, steps: 2000 });
  const start = performance.now();
  for (let seed = 1; seed <= 20; seed++) run(settings, { seed, steps: 1000 });
  return 20000 / (performance.now() - start) * 1000;
}"""

COMPARISON = """async () => {
  const widget = document.querySelector("grpo-comparison");
  await widget.compare(); // loads its code
  const start = performance.now();
  await widget.compare();
  widget.getBoundingClientRect();
  return performance.now() - start;
}"""

REDRAW = """async () => {
  const widget = document.querySelector("grpo-simulation");
  const times = [];
  for (let i = 0; i < 40; i++) {
    const start = performance.now();
    widget.advance(1);
    widget.getBoundingClientRect();
    times.push(performance.now() - start);
    await new Promise(requestAnimationFrame);
  }
  return times;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--throttle", type=float, default=1, help="how many times slower the processor is made")
    throttle = parser.parse_args().throttle
    with (
        tempfile.TemporaryDirectory() as folder,
        site_server.serve(Path(folder)) as address,
        sync_playwright() as driver,
    ):
        site_server.build(Path(folder), url=f"{address}/")
        browser = driver.chromium.launch(executable_path=chromium_program(), args=FLAGS)
        page = browser.new_page()
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": throttle})
        page.goto(f"{address}/simulation/?sim.seed=0&sim.steps=50")
        wait_until_ready(page)
        report(page, throttle, browser.version)


def report(page: Any, throttle: float, version: str) -> None:
    """Measures everything and prints it."""
    table = Table(
        title=f"Simulation page, Chromium {version}, processor slowed {throttle:g} times", title_justify="left"
    )
    table.add_column("what")
    table.add_column("median", justify="right")
    table.add_column("worst", justify="right")
    table.add_column("goal", justify="right")
    for group_size, inner_steps in ((8, 1), (8, 4), (64, 4)):
        found = [page.evaluate(STEPS, [group_size, inner_steps]) for _ in range(ROUNDS)]
        what = f"steps per second, G = {group_size}, K = {inner_steps}"
        table.add_row(what, f"{statistics.median(found):,.0f}", f"{min(found):,.0f}", "20,000")
    found = [page.evaluate(COMPARISON) for _ in range(ROUNDS)]
    what = "comparison, 3 algorithms x 20 seeds x 200 steps, drawn (ms)"
    table.add_row(what, f"{statistics.median(found):.0f}", f"{max(found):.0f}", "500")
    found = page.evaluate(REDRAW)
    table.add_row("one step with all redraws (ms)", f"{statistics.median(found):.1f}", f"{max(found):.1f}", "16")
    page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    found = page.evaluate(REDRAW)
    table.add_row("the same with all tables open (ms)", f"{statistics.median(found):.1f}", f"{max(found):.1f}", "16")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
