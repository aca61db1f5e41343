"""MkDocs's hook: our Markdown extensions, pages that are generated, and what happens to built pages.

Zensical has no hooks: there `EXTENSIONS` belong in mkdocs.yml, `generated_pages.write()` comes before it, and
`finish(FOLDER)` after it.
"""

import logging
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from mkdocs.structure.files import InclusionLevel

from grader.core import course
from site_steps import figure_tags, generated_pages, page_values
from site_steps.finish import finish
from site_steps.search_index import finish_search

EXTENSIONS = [page_values.__name__, figure_tags.__name__]
_log = logging.getLogger("mkdocs.hooks.finish_site")
_BOOST = {
    "ten-minutes/": 4,
    "reference/questions/": 5,
    "learn/": 4,
    "your-run/": 1.5,
    "reference/glossary/": 5,
    "exercises/": 1.7,
    "reference/given/": 0.1,
    "cheat-sheet/": 0.1,  # it names everything and explains little
}
_ROOT = Path(__file__).parents[1]
_FOR_INSTRUCTORS = "instructors/"
_LINK = rf'<a [^>]*href="(?:\.\./|\./)*{_FOR_INSTRUCTORS}[^"]*"[^>]*>'
_ROW = re.compile(rf"<tr>(?:(?!</tr>).)*?{_LINK}.*?</tr>", re.DOTALL)
_LINKED = re.compile(rf"{_LINK}(.*?)</a>", re.DOTALL)
_UNUSED = re.compile(
    r"(?<=\})\[data-md-color-(?:accent|primary)=(?!custom)[\w-]+\]\{[^}]*\}"  # other colors of the theme
    r'|,url\(fonts/[\w-]+\.(?:woff|ttf)\) format\("\w+"\)'  # for browsers that run no modules
)
_ESBUILD = shutil.which("esbuild", path=_ROOT / "tests/browser/node_modules/.bin")


def on_config(config: Any) -> None:
    """MkDocs has read its configuration: with `instructors = false`, their pages are in no menu."""
    config["markdown_extensions"] += EXTENSIONS
    if not course.WRITTEN.instructors:
        config["nav"] = _for_students(config["nav"])


def on_pre_build(*, config: Any) -> None:
    """No page has been read yet."""
    generated_pages.write()


def on_files(files: Any, *, config: Any) -> None:
    """With `instructors = false`, their pages are not built."""
    if not course.WRITTEN.instructors:
        for file in files:
            if file.src_uri.startswith(_FOR_INSTRUCTORS):
                file.inclusion = InclusionLevel.EXCLUDED


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """With `instructors = false`, no page leads to theirs; a row of a table that does is left out."""
    return output if course.WRITTEN.instructors else _LINKED.sub(r"\1", _ROW.sub("", output))


def on_nav(nav: Any, *, config: Any, files: Any) -> None:
    """The pages of an exercise that are not in the menu belong where the page of the exercise is."""
    for page in (file.page for file in files.documentation_pages() if re.match(r"exercises/\w+/", file.src_uri)):
        exercise = files.get_file_from_path(f"{page.file.src_uri.rpartition('/')[0]}.md")
        page.parent = exercise.page.parent if exercise else None


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> None:
    """Students do not search the pages for instructors, and find what explains before what applies it."""
    if page.url.startswith(("instructors/", "maintainers/")):
        page.meta["search"] = {"exclude": True}
    for start, boost in _BOOST.items():
        if page.url.startswith(start) and "exclude" not in page.meta.get("search", {}):
            page.meta["search"] = {"boost": boost}


def on_post_build(*, config: Any) -> None:
    """MkDocs has written all pages."""
    site = Path(config["site_dir"])
    finish(site)
    finish_search(site)
    if _ESBUILD:
        _bundle(_ESBUILD, site / "assets/js")
        _join_styles(_ESBUILD, site)
    else:
        _log.info("Scripts are published as they are; `npm ci --prefix tests/browser` installs esbuild to bundle them.")


def _for_students(entry: Any) -> Any:
    """A part of the menu without the pages for instructors; empty if nothing is left."""
    if isinstance(entry, str):
        return "" if entry.startswith(_FOR_INSTRUCTORS) else entry
    if isinstance(entry, list):
        return [part for part in map(_for_students, entry) if part]
    return {title: part for title, below in entry.items() if (part := _for_students(below))}


def _bundle(esbuild: str, scripts: Path) -> None:
    """Put the scripts into few small files: a browser that follows imports makes a journey for each."""
    source = _ROOT / "docs/assets/js"
    options = ("--bundle", "--splitting", "--minify", "--format=esm", "--out-extension:.js=.mjs", "--log-level=warning")
    names = (f"--outdir={scripts}", "--chunk-names=bundled/[name]-[hash]")
    shutil.rmtree(scripts)
    for data in (scripts.parent / "runs").glob("*.mjs"):
        data.unlink()
    entries = [source / "index.mjs", *source.glob("widgets/*.mjs"), source / "widgets/language-model/worker.mjs"]
    subprocess.run([esbuild, *entries, *options, *names], check=True)
    workers = (scripts.parent / "javascripts/workers").glob("search.*.js")
    for small in (scripts.parent / "late-search.js", *workers):
        subprocess.run([esbuild, small, "--minify", f"--outfile={small}", "--allow-overwrite", options[-1]], check=True)


def _join_styles(esbuild: str, site: Path) -> None:
    """Put all style sheets but the theme's first into one: small files compress badly, and each is a request."""
    names = "css/[\\w-]+|vendor/katex/katex\\.min|_mkdocstrings|stylesheets/palette\\.\\w+\\.min"
    sheets = re.compile(rf'<link rel="stylesheet" href="([^"]*)(assets/(?:{names})\.css)">\s*')
    joined = ""
    for match in sheets.finditer((site / "index.html").read_text("utf-8")):
        text = _UNUSED.sub("", (site / match[2]).read_text("utf-8"))
        joined += text.replace("url(fonts/", "url(../vendor/katex/fonts/")
    command = [esbuild, "--loader=css", "--minify", "--log-level=warning"]
    small = subprocess.run(command, input=joined, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    (site / "assets/css/course.css").write_text(small, "utf-8")
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        text = sheets.sub(r'<link rel="stylesheet" href="\1assets/css/course.css">', text, count=1)
        page.write_text(sheets.sub(lambda match: match[0] if match[2].endswith("course.css") else "", text), "utf-8")
