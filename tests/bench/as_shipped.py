"""GRPO as libraries ship it: runs each library's own advantages and loss on one batch, and writes the record of a page.

    python tests/bench/as_shipped.py --out docs/assets/runs/as-shipped.json

The figure's script, as-shipped.mjs, is written next to it. Needs the environment of
tests/bench/libraries/requirements-as-shipped.txt, whose first lines say how to make it. Every number is compared with
the library's documented formula, computed again in numpy, and the command fails where they differ.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / ".ci")]

import numpy as np
from libraries import formula, loading, page

REQUIREMENTS = Path(__file__).with_name("libraries") / "requirements-as-shipped.txt"
READ = loading.DOCUMENTED["read"]
DOCUMENTED = {name: each for name, each in loading.DOCUMENTED.items() if name not in ("read", "stand_ins")}
SETTINGS = ("shipped", "equation_3")
WORDS = ("name", "package", "how", "needs", "group", "sampler")
LOSS_TYPES = ("dapo", "grpo", "dr_grpo", "bnpo")
MICRO_BATCHES = (1, 2, 4, 8)
TOLERANCE = 1e-6
DIGITS = 8


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="JSON", help="the record that is written")
    parser.add_argument("--against", type=Path, metavar="JSON", help="print what differs from this record")
    parser.add_argument("--one", choices=[*DOCUMENTED], help="print the record of one library")
    arguments = parser.parse_args(argv)
    if arguments.one:
        print(json.dumps(library_record(arguments.one)))
        return 0
    record, failures = whole_record()
    if arguments.out:
        arguments.out.write_text(as_text(record), "utf-8")
        arguments.out.with_suffix(".mjs").write_text(page.module(record), "utf-8")
    if arguments.against:
        print(changes(json.loads(arguments.against.read_text("utf-8")), record))
    for name, reason in failures.items():
        print(f"{name}: {reason}", file=sys.stderr)
    return 1 if failures else 0


def whole_record() -> tuple[dict[str, Any], dict[str, str]]:
    """The record, and why libraries are missing in it. Each runs in a process of its own: some change each other."""
    record: dict[str, Any] = {"batch": json.loads(formula.BATCH.read_text("utf-8")), "course": course_record()}
    record |= {"libraries": [], "read": READ, "micro_batches": {}}
    failures = {}
    for name in DOCUMENTED:
        command = [sys.executable, "-W", "ignore", __file__, "--one", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            failures[name] = done.stderr.strip().splitlines()[-1]
        else:
            library = json.loads(done.stdout.splitlines()[-1])
            record["micro_batches"] |= library.pop("micro_batches", {})
            record["libraries"].append(library)
    return record, failures


def course_record() -> dict[str, Any]:
    """The course's own loss, by the grader's oracles in numpy."""
    from grader.oracles import charlm_oracle, simulation

    batch = formula.read_batch()
    scores = simulation.group_advantages(batch.rewards.reshape(-1, batch.group)).reshape(-1)
    settings = charlm_oracle.Settings()
    loss = charlm_oracle.grpo_loss(batch.logp, batch.old, batch.ref, scores, batch.mask, settings)
    kl = shortened(settings.kl_coef * loss.kl)
    return {
        "name": "This course",
        "facets": page.facets({}),
        **outcome(batch, scores, loss.loss, loss.gradient),
        "kl": kl,
    }


def library_record(name: str) -> dict[str, Any]:
    """Version, lines of the source, and the outcome of both settings."""
    documented, adapter = DOCUMENTED[name], importlib.import_module(f"libraries.{name}")
    version = metadata.version(documented["package"])
    record: dict[str, Any] = {each: documented.get(each, "") for each in WORDS}
    record |= {"version": version, "date": release_date(documented["package"], version)}
    record["source"] = {
        what: f"{file}:{loading.line_of(file, function, text)}, {function}"
        for what, (file, function, text) in documented["source"].items()
    }
    for setting in SETTINGS:
        options, expected = documented["settings"][setting], documented["formula"][setting]
        batch = formula.read_batch()
        advantages, loss, gradient = adapter.compute(for_torch(batch), options)
        found = outcome(batch, advantages, loss, gradient)
        check(batch, expected, found)
        if loss is not None:
            without = adapter.compute(for_torch(batch), options | documented["settings"]["without_kl"])[1]
            found["kl"] = shortened(float(loss) - float(without))
        record[setting] = {"settings": options, "formula": expected, "facets": page.facets(expected), **found}
    return record | ({"micro_batches": in_micro_batches(adapter)} if name == "trl" else {})


def in_micro_batches(adapter: Any) -> dict[str, Any]:
    """Loss of the same batch in 1, 2, 4 and 8 micro-batches, and the cosine of each gradient with that of the whole."""
    found: dict[str, Any] = {}
    for loss_type in LOSS_TYPES:
        runs = [
            adapter.compute(for_torch(formula.read_batch()), {"loss_type": loss_type, "micro_batches": n})[1:]
            for n in MICRO_BATCHES
        ]
        whole = runs[0][1] / runs[0][1].norm()
        cosines = [round(float((whole * gradient).sum() / gradient.norm()), 6) for _, gradient in runs]
        found[loss_type] = {"loss": [shortened(float(loss)) for loss, _ in runs], "cosine": cosines}
    return found


def for_torch(batch: formula.Batch) -> Any:
    """The batch as tensors in float64, which most libraries keep."""
    import torch

    random.seed(0)  # some shuffle
    tensors = {name: torch.tensor(getattr(batch, name)) for name in ("rewards", "mask", "logp", "old", "ref")}
    tensors["rewards"] = tensors["rewards"].double()
    return SimpleNamespace(group=batch.group, lengths=batch.lengths.tolist(), **tensors)


def outcome(batch: formula.Batch, advantages: Any, loss: Any, gradient: Any) -> dict[str, Any]:
    """What is recorded of a run; lists hold no padding. Without a loss, advantages only."""
    advantages = np.asarray(advantages, dtype=float)
    if advantages.ndim == 2 and all(np.ptp(row[kept]) == 0 for row, kept in zip(advantages, batch.mask, strict=True)):
        advantages = advantages[:, 0]
    found: dict[str, Any] = {"advantages": unpadded(batch, advantages)}
    if loss is None:
        return found
    gradient = np.asarray(gradient, dtype=float)
    _, _, course = formula.compute(batch)
    length, of_course = np.linalg.norm(gradient), np.linalg.norm(course)
    cosine = (gradient * course).sum() / (length * of_course)
    found |= {"loss": shortened(float(loss)), "gradient": unpadded(batch, gradient)}
    return found | {"length": round(length / of_course, 6), "cosine": round(cosine, 6)}


def unpadded(batch: formula.Batch, values: Any) -> list[Any]:
    if values.ndim == 1:
        return [shortened(x) for x in values]
    return [[shortened(x) for x in row[kept]] for row, kept in zip(values, batch.mask, strict=True)]


def shortened(x: float) -> float:
    return round(float(x), DIGITS) + 0.0  # no minus zero


def check(batch: formula.Batch, documented: dict[str, Any], found: dict[str, Any]) -> None:
    """Raises where a record is not what the documented formula gives."""
    advantages, loss, gradient = formula.compute(batch, **documented)
    expected = {"advantages": advantages, "loss": loss, "gradient": gradient}
    for what in [what for what in expected if what in found]:
        values = np.concatenate([np.ravel(row) for row in np.atleast_1d(np.asarray(found[what], dtype=object))])
        right: Any = expected[what]
        if what != "loss":
            first = what == "advantages" and np.ndim(found[what][0]) == 0
            right = right[:, 0] if first else right[batch.mask]
        apart = np.abs(values.astype(float) - right).max()
        if apart > TOLERANCE:
            raise ArithmeticError(f"{what} is {apart:.1e} away from the documented formula {documented}")


def release_date(package: str, version: str) -> str | None:
    """As noted beside the pinned version; the registry's client does not tell it."""
    pattern = rf"^{re.escape(package)}=={re.escape(version)}\s+# (\d\d\d\d-\d\d(?:-\d\d)?)"
    found = re.search(pattern, REQUIREMENTS.read_text("utf-8"), re.MULTILINE)
    return found[1] if found else None


def changes(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What differs between two records, as Markdown for a job's summary."""
    lines = []
    old = {each["name"]: each for each in before["libraries"]}
    for each in after["libraries"]:
        known = old.pop(each["name"], {})
        versions = f"{known.get('version', 'new')} → {each['version']}"
        different = [s for s in SETTINGS if known.get(s) != each[s]]
        numbers = f"**other numbers**: {', '.join(different)}" if different else "same numbers"
        moved = "" if known.get("source") == each["source"] else "; other lines of the source"
        lines.append(f"- {each['name']} {versions}: {numbers}{moved}")
    lines += [f"- {name}: **does not run any more**, or not on this batch" for name in old]
    return "\n".join(lines)


def as_text(record: dict[str, Any]) -> str:
    """JSON with one line per list of numbers."""
    text = json.dumps(record, indent=1, ensure_ascii=False)
    return (
        re.sub(r"\[\s+((?:-?[\d.e-]+,?\s+)+)\]", lambda m: f"[{', '.join(m[1].replace(',', ' ').split())}]", text)
        + "\n"
    )


if __name__ == "__main__":
    sys.exit(main())
