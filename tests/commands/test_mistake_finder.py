"""The site's mistake finder over all right answers and all known mistakes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from site_fixtures import cannot

from site_steps import finder

CORE = Path(__file__).parents[2] / "docs/assets/js/core/mistake_numbers.mjs"
LOOK = """
const { matches, numbersIn, hiddenIn } = await import(process.argv[1]);
const { entries, pasted } = JSON.parse(await new Response(process.stdin).text());
console.log(JSON.stringify(pasted.map(([entry, call, text]) => {
  const [found] = matches(numbersIn(text), [entries[entry]], entries[entry].calls[call]);
  const { right, sets, more, teller } = found ?? {};
  return found && { right, sets, more, teller: entries[entry].calls.indexOf(teller),
    hidden: right ? hiddenIn(entries[entry], found.call, numbersIn(text)).map(({ mistake }) => mistake) : [] };
})));
"""

Pasted = tuple[int, int, str]
"""The place of a function, that of a call, and what a reader pastes."""


@pytest.fixture(scope="module")
def entries() -> list[dict[str, Any]]:
    return finder.data()


def _found(entries: Sequence[dict[str, Any]], pasted: Sequence[Pasted]) -> list[Any]:
    """What the finder makes of each pasted text, in a call that the reader chose."""
    node = shutil.which("node") or cannot("Node.js is missing")
    command = [node, "--input-type=module", "--eval", LOOK, CORE.as_uri()]
    text = json.dumps({"entries": entries, "pasted": pasted})
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=True)
    return list(json.loads(done.stdout))


def _as_pasted(numbers: Sequence[Any]) -> str:
    return str(torch.tensor([float(each) for each in numbers], dtype=torch.float64))


def test_right_answers_are_called_right_and_known_mistakes_are_named(entries: list[dict[str, Any]]) -> None:
    right, alone, made = [], [], []
    for place, entry in enumerate(entries):
        for at, call in enumerate(entry["calls"]):
            right.append((place, at, _as_pasted(call["right"])))
            for numbers, mistakes in call["alone"]:
                alone += [(place, at, _as_pasted(numbers))] * len(mistakes)
                made += mistakes
    assert len(right) > 50
    assert all(each and each["right"] for each in _found(entries, right))
    told: Counter[str] = Counter()
    for mistake, each in zip(made, _found(entries, alone), strict=True):
        if each and each["right"]:  # in the digits that torch prints it is
            assert mistake in each["hidden"]
        told[_told(each, (mistake,))] += 1
    print(told)
    assert told["other"] == told["not found"] == 0
    assert told["named"] + told["listed"] > 0.94 * told.total()


def _told(found: dict[str, Any] | None, members: Sequence[int]) -> str:
    """How the finder tells a set: by itself, in a list of at most three, as one more, or by a smaller set."""
    if found is None:
        return "not found"
    if found["right"]:
        return "right there"
    if len(found["sets"][0]) < len(members):
        return "smaller set"
    if list(members) in found["sets"]:
        assert len(found["sets"]) <= 3
        return "named" if len(found["sets"]) + found["more"] == 1 else "listed"
    return "one more" if found["more"] else "other"
