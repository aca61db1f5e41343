"""`course dev cheat-sheet`: write the loss on one page, as SVG and as PDF."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..workshop.cheat_sheet import PDF, SVG, digest_line, make, printable
from ..workshop.generated import shown, write_or_check

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_COMMAND = "course dev cheat-sheet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev cheat-sheet`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev cheat-sheet`: 0 fine, 1 stale, 2 no browser that prints."""
    svg = make()
    code = write_or_check({SVG: svg}, command=_COMMAND, what="the cheat sheet is", check=arguments.check)
    if PDF.exists() and PDF.read_bytes().endswith(digest_line(svg)):
        return code
    if arguments.check:
        print(f"{shown(PDF)} is stale: run `{_COMMAND}`")
        return 1
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        print(f"the PDF is printed by Chromium or Chrome; tried {', '.join(_BROWSERS)}", file=sys.stderr)
        return 2
    PDF.write_bytes(_printed(svg, browser) + digest_line(svg))
    print(f"{shown(PDF)} written")
    return 0


def _printed(svg: str, browser: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        page, pdf = Path(folder, "sheet.html"), Path(folder, "sheet.pdf")
        page.write_text(printable(svg), "utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}")
        command = [browser, *options, f"--print-to-pdf={pdf}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return pdf.read_bytes()
