"""Scripts of the published site are asked for at once, and not one after the other.

A browser learns what a script imports when the script has come, so a widget whose imports import others costs a
journey to the server for each. Here a page names the scripts of its first look (`modulepreload`): one journey for all.
What comes later, as a figure further down does, imports by itself what it would get through others: two journeys.

Left out: a bundle for each page. Pages share most scripts, and a bundler is no part of what builds the site.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_IMPORT = re.compile(r"""\b(?:import|from)\s*["'](\.[^"']+)["']""")
_LATER = re.compile(r"""\bimport\(\s*["'`](\.[^"'`$]+)["'`]\s*\)""")
_ENTRY = re.compile(r'<script src="([^"]*)assets/js/index\.mjs" type="module">')
_WIDGET = re.compile(r"<grpo-([\w-]+)([^>]*)>")
_IN_EVERY_HEADER = "progress"
_OF_THE_WORKSHEET = ("question", "runs", "worksheet-tools")
_WHEN_NEAR = ("comparison", "quiz")  # besides figures, as docs/assets/js/index.mjs has it
_FIGURE = "grpo-explorable"


def shorten(scripts: Path) -> None:
    """Let every script in `scripts` that is fetched by itself import all that it needs; does so once.

    What it needs through others goes behind its own imports, so that everything still runs in the same order. What
    every page asks for anyway is left out.

    Raises:
        FileNotFoundError: A script imports one that does not exist.
    """
    everywhere = _needed([scripts / "index.mjs", scripts / f"widgets/{_IN_EVERY_HEADER}.mjs"])
    for path in _fetched_by_themselves(scripts):
        text = path.read_text("utf-8")
        more = [each for each in _all_of(path)[1:] if each not in {*_imports(path), *everywhere}]
        names = (os.path.relpath(each, path.parent) for each in more)
        added = [f'import"{name if name.startswith(".") else f"./{name}"}"' for name in names]
        if added:
            path.write_text(";".join([text.rstrip().removesuffix(";"), *added]), "utf-8")


def preloaded(text: str, scripts: Path) -> str:
    """A page that asks at once for the scripts of its first look; one without own scripts stays as it is.

    These are the entry, the ring in the header, and the widgets that do not wait until they are near. Where none is of
    that kind, the first figure is in the first screen or little below. Text, styles, and fonts come before them.
    """
    entry = _ENTRY.search(text)
    if entry is None or 'rel="modulepreload"' in text:
        return text
    found = _WIDGET.findall(text)
    at_once = [name for name, rest in found if _FIGURE not in rest and name not in _WHEN_NEAR]
    figures = [name for name, rest in found if _FIGURE in rest]
    names = [_IN_EVERY_HEADER, *(at_once or figures[:1])]
    starts = [scripts / "index.mjs", *(scripts / f"widgets/{_file_of(name)}.mjs" for name in names)]
    places = (f"{entry[1]}assets/{each.relative_to(scripts.resolve().parent).as_posix()}" for each in _needed(starts))
    links = "".join(f'<link rel="modulepreload" href="{place}" fetchpriority="low">' for place in places)
    return text.replace("</head>", f"{links}</head>", 1)


def _file_of(widget: str) -> str:
    return "worksheet" if widget in _OF_THE_WORKSHEET else widget


def _fetched_by_themselves(scripts: Path) -> list[Path]:
    """Widgets, and what a script imports when it is needed."""
    later = {
        (path.parent / name).resolve()
        for path in scripts.rglob("*.mjs")
        for name in _LATER.findall(path.read_text("utf-8"))
    }
    return sorted({*(path.resolve() for path in scripts.glob("widgets/*.mjs")), *later})


def _imports(path: Path) -> list[Path]:
    return [(path.parent / name).resolve() for name in _IMPORT.findall(path.read_text("utf-8"))]


def _needed(starts: list[Path]) -> list[Path]:
    """All that is needed to run those of these scripts that exist, each once."""
    return list(dict.fromkeys(each for start in starts if start.exists() for each in _all_of(start)))


def _all_of(path: Path) -> list[Path]:
    """The script and all that it imports, through others too."""
    found = [path.resolve()]
    for each in found:  # it grows
        found += dict.fromkeys(new for new in _imports(each) if new not in found)
    return found
