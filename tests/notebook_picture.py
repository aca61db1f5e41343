"""Takes the picture of a report in a notebook: JupyterLab, a wrong answer, `check`.

Run: python tests/notebook_picture.py. It needs Chromium, and JupyterLab, which the course does not install.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from grader.core import course
from grader.workshop import handout

PICTURE = course.ROOT / "docs" / "assets" / "check-in-notebook.png"
MISTAKE = ("minimum(ratio * advantages, clipped_ratio * advantages)", "minimum(ratio, clipped_ratio) * advantages")
_PORT = 8975
_WAIT = "() => ![...document.querySelectorAll('.jp-InputPrompt')].some((each) => each.textContent.includes('*'))"


def notebook(folder: Path) -> Path:
    """The notebook of `clip` in a handout, with the most copied mistake in the clip, and without its docstrings."""
    handout.write_folder(handout.make(site="https://example.org/grpo/"), folder)
    text = (course.MODEL_ANSWERS / "clip.py").read_text("utf-8").replace(*MISTAKE)
    text = re.sub(r'    """.*?"""\n|    ### [^\n]*\n', "", text, flags=re.DOTALL)
    answers = {
        node.name: ast.get_source_segment(text, node)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    path = folder / "starter" / "clip.ipynb"
    document = json.loads(path.read_text("utf-8"))
    for cell in document["cells"]:
        match = re.match(r"def (\w+)", "".join(cell["source"]))
        if match and cell["cell_type"] == "code":
            cell["source"] = answers[match[1]]
    path.write_text(json.dumps(document), "utf-8")
    return path


@contextlib.contextmanager
def lab(folder: Path, home: Path) -> Iterator[str]:
    """JupyterLab on a folder, with settings of its own; its address."""
    variables = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = {**os.environ, **dict.fromkeys(variables, str(home)), "PYTHONPATH": str(folder / handout.FOLDER)}
    address = f"http://127.0.0.1:{_PORT}"
    options = ("--no-browser", "--ip=127.0.0.1", f"--port={_PORT}", "--IdentityProvider.token=", "--allow-root")
    command = [sys.executable, "-m", "jupyterlab", *options, "--LabApp.news_url=", f"--ServerApp.root_dir={folder}"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(120):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"{address}/api", timeout=2).close()
                    break
                time.sleep(1)
            yield address
        finally:
            server.terminate()


def take(page: Page, address: str) -> None:
    """Run the cells up to the check of `clipped_surrogate`, and take the picture."""
    page.goto(f"{address}/lab/tree/starter/clip.ipynb")
    cells = page.locator(".jp-Notebook .jp-Cell")
    cells.nth(7).wait_for()
    page.wait_for_selector("text=| Idle")
    page.keyboard.press("Control+b")  # closes the side bar
    for place in (1, 3, 4, 6, 7):
        cells.nth(place).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(500)
        page.wait_for_function(_WAIT)
    cells.nth(7).locator("iframe").wait_for()
    page.add_style_tag(content=".Toastify, .jp-toast-button { display: none }")
    page.wait_for_timeout(2_000)
    cells.nth(6).evaluate("(cell) => cell.scrollIntoView({block: 'start'})")
    page.wait_for_timeout(1_000)
    page.screenshot(path=PICTURE)
    Image.open(PICTURE).quantize(64).save(PICTURE, optimize=True)  # a third of the size


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        notebook(Path(folder))
        with lab(Path(folder), Path(home)) as address, sync_playwright() as playwright:
            path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1000, "height": 900})
            page.set_default_timeout(180_000)
            take(page, address)
            browser.close()


if __name__ == "__main__":
    main()
