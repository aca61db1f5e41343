"""The tables of the page "GRPO as shipped", from the record that `tests/bench/as_shipped.py` writes."""

from __future__ import annotations

import json
from typing import Any

from grader.core import course

RECORD = course.RUNS / "as-shipped.json"
COLUMNS = ("divisor", "average", "KL", "clip")
MINUS = "\N{MINUS SIGN}"
HEADS = {
    "defaults": "Library|Divisor|Average|KL, weight|Clip|Group|Sampler correction",
    "closest": "Library|For equation 3, set|What still differs",
    "numbers": "Library|Length, shipped|Cosine, shipped|Length, closest|Cosine, closest",
    "read": "Library|Commit or version|Lines",
    "micro_batches": "`loss_type`|1 micro-batch|2|4|8|Cosine, 8 to 1",
}


def table(name: str) -> str:
    """One of the tables, in Markdown."""
    record = json.loads(RECORD.read_text("utf-8"))
    run = [each for each in record["libraries"] if "loss" in each["shipped"]]
    rows = {
        "defaults": [*map(_defaults, run), *map(_only_read, record["read"])],
        "closest": [_closest(each, record["course"]["facets"]) for each in run],
        "numbers": [_numbers(each) for each in run],
        "read": [_read(each) for each in record["read"]],
        "micro_batches": [_micro_batches(*each) for each in record["micro_batches"].items()],
    }[name]
    head = HEADS[name].split("|")
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows])


def _defaults(library: dict[str, Any]) -> list[str]:
    facets = library["shipped"]["facets"]
    words = [facets[what] + (facets["weight"] if what == "KL" else "") for what in COLUMNS]
    return [f"{library['name']} {library['version']}", *words, library["group"], library["sampler"]]


def _only_read(library: dict[str, Any]) -> list[str]:
    words = [library[what] for what in (*COLUMNS, "group", "sampler")]
    return [f"{library['name']} \N{DAGGER}", *words]


def _closest(library: dict[str, Any], formula: dict[str, str]) -> list[str]:
    shipped, closest = library["shipped"], library["equation_3"]
    changed = {name: x for name, x in closest["settings"].items() if shipped["settings"].get(name) != x}
    settings = [f"`{name} = {json.dumps(x)}`" for name, x in changed.items()]
    options = ", ".join(filter(None, [_switch(library), *settings]))
    differs = [closest["facets"][what] for what in COLUMNS if closest["facets"][what] != formula[what]]
    still = "; ".join("no KL" if part == "none" else part for part in differs)
    return [library["name"], options or "nothing", still]


def _switch(library: dict[str, Any]) -> str:
    """The setting without which the library does not compute GRPO at all."""
    setting, _, default = library["needs"].partition(" (")
    return f"`{setting}` ({default}" if default else ""


def _numbers(library: dict[str, Any]) -> list[str]:
    runs = (library["shipped"], library["equation_3"])
    return [library["name"], *(f"{each[what]:.3f}" for each in runs for what in ("length", "cosine"))]


def _read(library: dict[str, Any]) -> list[str]:
    places = "<br>".join(f"`{place}`" for place in library["source"])
    return [library["name"], f"{library['version']}, {library['date']}", places]


def _micro_batches(loss_type: str, runs: dict[str, list[float]]) -> list[str]:
    losses = [f"{loss:.5f}".replace("-", MINUS) for loss in runs["loss"]]
    return [f"`{loss_type}`", *losses, f"{runs['cosine'][-1]:.3f}"]
