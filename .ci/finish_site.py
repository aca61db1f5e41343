"""MkDocs's hook: pages that are generated, and what happens to built pages.

Zensical has no hooks: `course dev pages` comes before it, and `course dev finish-site FOLDER` after it.
"""

import logging
import shutil
import subprocess
from pathlib import Path
from typing import Any

from grader.workshop import generated_pages
from grader.workshop.finish_site import finish

_log = logging.getLogger("mkdocs.hooks.finish_site")
_ROOT = Path(__file__).parents[1]
_ESBUILD = shutil.which("esbuild", path=_ROOT / "tests/browser/node_modules/.bin")


def on_pre_build(*, config: Any) -> None:
    """MkDocs has read its configuration, and no page yet."""
    generated_pages.write()


def on_post_build(*, config: Any) -> None:
    """MkDocs has written all pages."""
    site = Path(config["site_dir"])
    finish(site)
    if _ESBUILD:
        _bundle(_ESBUILD, site / "assets/js")
    else:
        _log.info("Scripts are published as they are; `npm ci --prefix tests/browser` installs esbuild to bundle them.")


def _bundle(esbuild: str, scripts: Path) -> None:
    """Put the scripts into few small files: a browser that follows imports makes a journey for each."""
    options = ("--bundle", "--splitting", "--minify", "--format=esm", "--out-extension:.js=.mjs", "--log-level=warning")
    entry = _ROOT / "docs/assets/js/index.mjs"
    names = (f"--outdir={scripts}", "--chunk-names=bundled/[name]-[hash]")
    subprocess.run([esbuild, entry, *options, *names], check=True)
