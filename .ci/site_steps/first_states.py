"""Cards of pages, with a figure in its first state, drawn by the site's own scripts: in V8, without a browser.

The scripts run as they are. `share_files/dom.js` is as much of a document as they need.
"""

from __future__ import annotations

import atexit
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.core import course

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer

_DOM = Path(__file__).parent / "share_files" / "dom.js"
_SCRIPTS = course.ROOT / "docs" / "assets" / "js"
_NAMES = r"\{([^}]*)\}"
_IMPORT = re.compile(rf'^import {_NAMES} from "([^"]+)";', re.MULTILINE)
_IMPORT_ALL = re.compile(r'^import \* as (\w+) from "([^"]+)";', re.MULTILINE)
_IMPORT_ONLY = re.compile(r'^import "([^"]+)";', re.MULTILINE)
_EXPORT_FROM = re.compile(rf'^export {_NAMES} from "([^"]+)";', re.MULTILINE)
_EXPORT_LIST = re.compile(rf"^export {_NAMES};", re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:const|function\*?|class) (\w+))", re.MULTILINE)


def card(page: dict[str, Any], *, figure: tuple[str, dict[str, str]] | None) -> str:
    """The card of a page as SVG: `page` is what `ui/card.mjs` takes, `figure` the tag and the attributes of a figure.

    Raises:
        py_mini_racer.JSEvalException: the figure needs more of a browser than `dom.js` has.
    """
    shown = {"name": figure[0], "attributes": figure[1]} if figure else None
    return str(_engine().eval(f"pageCard({json.dumps(page)}, {json.dumps(shown)})"))


def asks(tag: str) -> bool:
    """Whether a figure asks for a guess."""
    return bool(_engine().eval(f"asks({json.dumps(tag)})"))


@cache
def _engine() -> MiniRacer:
    from py_mini_racer import MiniRacer  # part of the extra "docs"

    engine = MiniRacer()
    atexit.register(engine.close)  # later, its thread may be gone, and closing would wait forever
    modules = {path.relative_to(_SCRIPTS).as_posix(): path for path in _SCRIPTS.rglob("*.mjs")}
    modules |= {f"../runs/{path.name}": path for path in (_SCRIPTS.parent / "runs").glob("*.mjs")}
    functions = ",\n".join(f"{json.dumps(name)}: {_as_function(path, name)}" for name, path in modules.items())
    engine.eval(f"const modules = {{{functions}}};\n{_NEEDED}\n{_DOM.read_text('utf-8')}\n0")
    return engine


_NEEDED = """
modules["ui/frame.mjs"] = (exported) => {  // title, controls and tools are no part of the picture
  exported.frame = (figure, { built }) => figure.append(...built);
};
const loaded = new Map();
function needed(name) {
  if (!loaded.has(name)) {
    const exported = {};
    loaded.set(name, exported);
    modules[name](exported);
  }
  return loaded.get(name);
}
"""


def _as_function(path: Path, name: str) -> str:
    """A module of the site as a function that fills what it exports."""

    def load(address: str) -> str:
        parts = [*name.split("/")[:-1]]
        for part in address.split("/"):
            if part == ".." and parts and parts[-1] != "..":
                parts.pop()
            elif part != ".":
                parts.append(part)
        return f"needed({json.dumps('/'.join(parts))})"

    def constants(names: str) -> str:
        return names.replace(" as ", ": ")

    text = path.read_text("utf-8")
    exported = [match[2] for match in _EXPORT.finditer(text)]
    exported += [part.strip() for match in _EXPORT_LIST.finditer(text) for part in match[1].split(",") if part.strip()]
    text = _EXPORT_FROM.sub(
        lambda m: f"{{ const {{{constants(m[1])}}} = {load(m[2])}; Object.assign(exported, {{{m[1]}}}); }}", text
    )
    text = _IMPORT.sub(lambda m: f"const {{{constants(m[1])}}} = {load(m[2])};", text)
    text = _IMPORT_ALL.sub(lambda m: f"const {m[1]} = {load(m[2])};", text)
    text = _IMPORT_ONLY.sub(lambda m: f"{load(m[1])};", text)
    text = _EXPORT_LIST.sub("", _EXPORT.sub(r"\1", text))
    return f"(exported) => {{\n{text}\nObject.assign(exported, {{ {', '.join(exported)} }});\n}}"
