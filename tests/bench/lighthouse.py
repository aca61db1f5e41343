"""Lighthouse's marks for the main pages on a simulated phone: `make lighthouse`.

Speed varies from run to run, so each page is loaded three times and the median counts. Fails below 0.95 for performance
or 1.0 for accessibility, best practices and search engines, and where anything moves while a page loads. Not part of
`make test`: it takes minutes, and its marks for performance need a fast machine that is otherwise idle: the same page
had 0.78 and 0.99 within an hour and a half. `make proof` therefore only warns about performance.
Other pages: `tests/bench/lighthouse.py /start/`.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import site_server
from site_fixtures import FLAGS, chromium_program

PROGRAM = Path(__file__).parents[1] / "lighthouse/node_modules/lighthouse/cli/index.js"
PAGES = (
    "/",
    "/learn/advantage/",
    "/learn/loss/",
    "/simulation/",
    "/worksheet/",
    "/exercises/clip/",
    "/exercises/charlm/functions/",
)
LEAST = {"performance": 0.95, "accessibility": 1.0, "best-practices": 1.0, "seo": 1.0}
MOST_SHIFT = 0.003
TIMES = {"first-contentful-paint": "FCP s", "largest-contentful-paint": "LCP s", "total-blocking-time": "TBT s"}
RUNS = 3


def report(address: str, *, program: str, output: Path) -> dict:
    """What Lighthouse found in one visit of one page."""
    command = [
        *("node", str(PROGRAM), address, "--quiet", "--no-enable-error-reporting"),
        *("--output", "json", "--output-path", str(output), f"--only-categories={','.join(LEAST)}"),
        f"--chrome-flags={' '.join(FLAGS)}",
    ]
    subprocess.run(command, env={**os.environ, "CHROME_PATH": program}, check=True, timeout=180)
    found = json.loads(output.read_text("utf-8"))
    if "runtimeError" in found:
        raise RuntimeError(f"{address}: {found['runtimeError']['message']}")
    return found


def numbers(found: dict) -> dict[str, float]:
    """Marks from 0 to 1, times in seconds, and the layout shift."""
    marks = {name: found["categories"][name]["score"] for name in LEAST}
    times = {label: found["audits"][name]["numericValue"] / 1000 for name, label in TIMES.items()}
    return {**marks, **times, "CLS": found["audits"]["cumulative-layout-shift"]["numericValue"]}


def failed_audits(found: dict) -> set[str]:
    """Why a page does not have full marks, but for performance, where every audit has a grade of its own."""
    audits = [
        found["audits"][reference["id"]]
        for name in LEAST
        if name != "performance"
        for reference in found["categories"][name]["auditRefs"]
        if reference["weight"]
    ]
    return {f"{audit['id']}: {audit['title']}" for audit in audits if audit["score"] is not None and audit["score"] < 1}


def too_low(medians: dict[str, float]) -> set[str]:
    """The names of the marks that are below what is asked, and of the layout shift if anything moves."""
    shifts = {"layout shift"} if medians["CLS"] > MOST_SHIFT else set()
    return shifts | {name for name, least in LEAST.items() if medians[name] < least}


def main() -> int:
    """Prints the medians of all pages; 0 if every page is good enough."""
    parser = argparse.ArgumentParser(description="Lighthouse's marks for the main pages on a simulated phone.")
    parser.add_argument("pages", nargs="*", default=PAGES, metavar="page", help="/start/, for example; all main pages")
    parser.add_argument("--only-warn-about-performance", action="store_true", help="for a machine that is not idle")
    arguments = parser.parse_args()
    program = chromium_program()
    if program is None:
        print("No Chromium on this machine.", file=sys.stderr)
        return 2
    tolerated = {"performance"} if arguments.only_warn_about_performance else set()
    good = True
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(site_server.serve(folder / "site"))
        site_server.build(folder / "site", url=f"{address}/")
        for path in arguments.pages:
            reports = [report(address + path, program=program, output=folder / "report.json") for _ in range(RUNS)]
            runs = [numbers(found) for found in reports]
            medians = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
            print(f"{path}  " + "  ".join(f"{name} {value:.2f}" for name, value in medians.items()), flush=True)
            for reason in sorted(set().union(*map(failed_audits, reports))):
                print(f"    {reason}")
            low = too_low(medians)
            for name in sorted(low):
                comment = " (a warning: `make lighthouse` on an idle machine decides)" if name in tolerated else ""
                print(f"    {name} is not good enough{comment}")
            good = good and low <= tolerated
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
