"""What the figure of the page "GRPO as shipped" needs of a record."""

from __future__ import annotations

import json
from typing import Any

from site_steps.as_shipped import COLUMNS, MINUS


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
