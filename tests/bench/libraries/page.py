"""What the page "GRPO as shipped" shows of a record: its tables, and the module of its figure."""

from __future__ import annotations

import json
import math
from typing import Any

COLUMNS = ("divisor", "average", "KL", "clip")
MINUS = "\N{MINUS SIGN}"


def facets(documented: dict[str, Any]) -> dict[str, str]:
    """A formula in the words of the page; one without entries is equation 3 as the course computes it."""
    divisor = {"G-1": f"G {MINUS} 1"}.get(documented.get("std", "G"), documented.get("std", "G"))
    divisor += ", then over the batch" if "whiten" in documented else ", then rescaled" if "unit" in documented else ""
    kl = documented.get("kl", "k3")
    kl = "k1 in the loss" if kl == "k1" else kl
    weight = "" if kl == "none" else f", {documented.get('beta', 0.04):g}"
    of_kl = f", KL by {documented['kl_average']}" if "kl_average" in documented else ""
    clip = f"{1 - documented.get('low', 0.2):g} to {1 + documented.get('high', 0.2):g}"
    clip += ", dual at 3" if "dual" in documented else ", CISPO" if "gate" in documented else ""
    average = f"by {documented.get('average', 'completion')}{of_kl}"
    return {"divisor": divisor, "average": average, "KL": kl, "clip": clip, "weight": weight}


def tables(record: dict[str, Any]) -> dict[str, str]:
    """The tables of the page, in Markdown."""
    libraries = record["libraries"]
    run = [each for each in libraries if "loss" in each["shipped"]]
    heads = {
        "ships": "Library|Divisor|Average|KL, weight|Clip|Group|Sampler correction",
        "closest": "Library|For equation 3, set|What still differs",
        "numbers": "Library|Length, shipped|Cosine, shipped|Length, closest|Cosine, closest",
        "sources": "Library|Lines of its source|How it was run",
        "read": "Library|Commit or version|Lines",
        "cut": "`loss_type`|1 micro-batch|2|4|8|Cosine, 8 to 1",
        "batch": f"Completion|Reward|Ratio of each token|log \u03c0 {MINUS} log \u03c0_ref of each token",
    }
    rows = {
        "ships": [*map(_ships, run), *map(_only_read, record["read"])],
        "closest": [_closest(each, record["course"]["facets"]) for each in run],
        "numbers": [_numbers(each) for each in run],
        "sources": [_sources(each) for each in libraries],
        "read": [_read(each) for each in record["read"]],
        "cut": [_cut(*each) for each in record["micro_batches"].items()],
        "batch": _batch(record["batch"]),
    }
    return {name: _table(head.split("|"), rows[name]) for name, head in heads.items()}


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows])


def _ships(library: dict[str, Any]) -> list[str]:
    facets = library["shipped"]["facets"]
    words = [facets[what] + (facets["weight"] if what == "KL" else "") for what in COLUMNS]
    return [f"{library['name']} {library['version']}", *words, library["group"], library["sampler"]]


def _only_read(library: dict[str, Any]) -> list[str]:
    words = [library[what] for what in (*COLUMNS, "group", "sampler")]
    return [f"{library['name']} \N{DAGGER}", *words]


def _closest(library: dict[str, Any], course: dict[str, str]) -> list[str]:
    shipped, closest = library["shipped"], library["equation_3"]
    changed = {name: x for name, x in closest["settings"].items() if shipped["settings"].get(name) != x}
    settings = [f"`{name} = {json.dumps(x)}`" for name, x in changed.items()]
    options = ", ".join(filter(None, [_switch(library), *settings]))
    differs = [closest["facets"][what] for what in COLUMNS if closest["facets"][what] != course[what]]
    still = "; ".join("no KL" if part == "none" else part for part in differs)
    return [library["name"], options or "nothing", still]


def _switch(library: dict[str, Any]) -> str:
    """The setting without which the library does not compute GRPO at all."""
    setting, _, default = library["needs"].partition(" (")
    return f"`{setting}` ({default}" if default else ""


def _numbers(library: dict[str, Any]) -> list[str]:
    runs = (library["shipped"], library["equation_3"])
    return [library["name"], *(f"{each[what]:.3f}" for each in runs for what in ("length", "cosine"))]


def _sources(library: dict[str, Any]) -> list[str]:
    places = "<br>".join(f"{what}: `{place}`" for what, place in library["source"].items())
    released = f", {library['date']}" if library["date"] else ""
    return [f"{library['name']} {library['version']}{released}", places, library["how"]]


def _read(library: dict[str, Any]) -> list[str]:
    places = "<br>".join(f"`{place}`" for place in library["source"])
    return [library["name"], f"{library['version']}, {library['date']}", places]


def _cut(loss_type: str, runs: dict[str, list[float]]) -> list[str]:
    losses = [f"{loss:.5f}".replace("-", MINUS) for loss in runs["loss"]]
    return [f"`{loss_type}`", *losses, f"{runs['cosine'][-1]:.3f}"]


def _batch(batch: dict[str, Any]) -> list[list[str]]:
    rows = []
    for i, (now, old, ref) in enumerate(zip(batch["logp"], batch["old"], batch["ref"], strict=True)):
        ratios = [f"{math.exp(x - y):.2f}" for x, y in zip(now, old, strict=True)]
        gaps = [f"{x - y:.2f}".replace("-", MINUS) for x, y in zip(now, ref, strict=True)]
        prompt, number = divmod(i, batch["group"])
        rows.append([f"{'AB'[prompt]}{number + 1}", str(batch["rewards"][i]), " ".join(ratios), " ".join(gaps)])
    return rows


def module(record: dict[str, Any]) -> str:
    """What the figure needs, as a script: a site that is opened from disk may load nothing else."""
    runs = [_slim("Equation 3 (this course)", record["course"])]
    for setting, text in (("shipped", ""), ("equation_3", ", closest")):
        runs += [_slim(each["name"] + text, each[setting]) for each in record["libraries"] if "loss" in each[setting]]
    lines = ",\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in runs)
    rewards = json.dumps(record["batch"]["rewards"])
    head = "// Written by `python tests/bench/as_shipped.py`; do not edit."
    return f"{head}\nexport const REWARDS = {rewards};\nexport const RUNS = [\n{lines},\n];\n"


def _slim(name: str, run: dict[str, Any]) -> dict[str, Any]:
    words = [run["facets"][what] for what in COLUMNS]
    return {"name": name, "facets": words, "gradient": [[round(x, 7) + 0.0 for x in row] for row in run["gradient"]]}
