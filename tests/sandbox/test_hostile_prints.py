"""What a submission says while it runs is text in every format. Texts by hand: `pure/test_hostile_text.py`."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from exports_readers import CLASSROOM
from hostile_texts import BENIGN, HOSTILE, INVENTORIES, on_disk, terminal_inventory
from rich.console import Console
from submissions import grading_profile, model_answer

from grader.core.contents import read_submission
from grader.core.result import Result
from grader.grading.run import Grading
from grader.reports import FORMATS, export, terminal
from grader.sandbox.sandbox import Sandbox


def module(text: str) -> dict[str, str]:
    """A submission that says a text in every way that a program can."""
    name = "".join(c for c in text if c not in "\0" and not 0xD800 <= ord(c) < 0xE000) or "x"  # what Python takes
    line = "".join(c for c in name if c not in "\n\r\x0b\x0c\x1a\x1c\x1d\x1e\x85\u2028\u2029").strip()
    prints = f"print({text!a}, flush=True); import sys; print({text!a}, file=sys.stderr)"
    return {
        "kl.py": f"{model_answer('kl')}\n\n"
        f"def categorical_kl(logits, ref_logits):\n    {prints}\n"
        f"    raise type({name!a}, (Exception,), {{}})({text!a})\n\n"
        f"def kl_estimate(logp, ref_logp, *, kind='k3'):\n    {prints}\n    return {{{text!a}: [{text!a}]}}\n",
        "advantages.py": f"{model_answer('advantages')}\n\n"
        f"def group_advantages(rewards, *, std_eps={text!a}, divide=None):\n    return rewards\n\n"
        f"def zero_signal_fraction(rewards):\n    {prints}\n    return type({name!a}, (), {{}})()\n",
        "clip.py": f"x = 1\ny = = # {line}\n",
        "bandit.py": f"exec(compile('def f():\\n    1 / 0\\nf()', {name!a}, 'exec'))\n",
        "charlm.py": f"{model_answer('charlm')}\n\n"
        "def token_logp(model, tokens):\n    def f(): raise ValueError  # " + line + "\n"
        f"    f.__code__ = f.__code__.replace(co_name={name!a}, co_qualname={name!a})\n    f()\n",
    }


EXERCISES = ["kl", "advantages", "clip", "bandit"]


def graded_for_real(folder: Path, text: str, sandbox: Sandbox) -> Result:
    folder.mkdir()
    for file, source in module(text).items():
        (folder / file).write_text(source, "utf-8", newline="")
    with grading_profile():
        result = Grading(read_submission(folder), EXERCISES, sandbox.worker, hidden=False).run()
    result.isolation_level = 1
    return result


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> tuple[Result, Result]:
    """The same submission graded twice: with all texts at once, and with harmless words."""
    place = tmp_path_factory.mktemp("real")
    everything = " ".join(text for text in HOSTILE.values() if len(text) < 300 and "mark" not in text)
    return (
        graded_for_real(place / on_disk("\x1b[31m\u202e[bold]"), everything, sandbox),
        graded_for_real(place / "harmless", BENIGN, sandbox),
    )


@pytest.mark.parametrize("format_name", FORMATS)
def test_what_a_real_submission_says_is_text_in_every_format(format_name: str, real: tuple[Result, Result]) -> None:
    hostile, harmless = real
    assert [(each.id, each.outcome) for each in hostile.checks] == [(each.id, each.outcome) for each in harmless.checks]
    inventory = INVENTORIES[format_name]
    for result in real:  # times differ from run to run
        for check in result.checks:
            check.seconds = 0.0
    one, other = (inventory(export(result, format_name, CLASSROOM)) for result in real)
    assert one == other


def test_a_real_submission_said_it_in_every_way(real: tuple[Result, Result]) -> None:
    """The texts did arrive, so the tests of the formats looked at something."""
    hostile = real[0]
    said = {
        name: [each for each in hostile.checks if each.function == name]
        for name in {c.function for c in hostile.checks}
    }
    assert "HYPERLINK" in said["categorical_kl"][0].story and said["categorical_kl"][0].printed
    assert "HYPERLINK" in json.dumps(asdict(said["kl_estimate"][0]))
    assert "evil.example" in json.dumps(asdict(said["zero_signal_fraction"][0]))
    assert "evil.example" in json.dumps(asdict(said["importance_ratio"][0]))
    file = io.StringIO()
    terminal.show(hostile, Console(file=file, width=120, color_system=None))
    assert terminal_inventory(file.getvalue()) == set()
