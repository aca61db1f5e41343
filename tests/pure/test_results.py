"""The results pages: no number without a claim of `course dev numbers`, every command, file and picture exists.

What is left of a page without its claims may hold no number, except settings and what `QUOTED` lists from other
people's notebooks.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shlex
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from grader.core import course
from grader.oracles import simulation
from grader.workshop.page_claims import ABLATIONS, CLAIMS
from grader.workshop.recordings import RUNS, samples_of
from reference import charlm_task, run_bandit, run_charlm
from reference.advantages import group_advantages

PAGES = ("bandit", "charlm", "variants")


def path_of(name: str) -> Path:
    return course.ROOT / f"docs/results/{name}.md"


def page(name: str) -> str:
    """A page as one line of text."""
    return " ".join(path_of(name).read_text("utf-8").split())


def test_the_groups_on_the_pages_have_the_advantages_of_the_model_answer():
    points = {point["step"]: point for point in samples_of("pizza")["points"]}
    groups = [[sample["reward"] for sample in points[step]["samples"]] for step in (0, 8)]
    for rewards in (
        [0, 1, 0, 1, 0, 0, 1, 0],
        [4, 0, 0, 0],
        *(group[start:][:8] for group in groups for start in (0, 8)),
    ):
        group = torch.tensor(rewards, dtype=torch.float64)
        assert group_advantages(group).numpy() == pytest.approx(simulation.group_advantages(group.numpy()))


def test_the_samples_before_the_first_step_are_all_foods():
    texts = {sample["text"] for sample in samples_of("pizza")["points"][0]["samples"]}
    assert texts == {f"{food}." for food in charlm_task.FOODS}


QUOTED = {
    "bandit": [],
    "charlm": [
        "\u22124.6220 at episode 100 and 0 at episode 200",
        "75 of 100 samples after episode 100 and in 88 of 100 after episode 200",
        "in 11 of 100 samples before",
    ],
    "variants": [],
}
"""Numbers of the notebooks that a page corrects. No file of this course holds them."""
SETTINGS = [
    r"arXiv:[\d.]+",
    r"DeepSeek-R1",
    r"\bk3\b",
    r"π\(7\)",
    r"G \u2212 1",
    r"\b(exercise|equation|chapter) \d\b",
    r"\b(in|of) (2024|2025)\b",
    r"\bepisodes? (100|200)\b",
    r"\bG = (4|8|16|32|64)\b",
    r"\b(lr|ε) = (0\.5|1|0\.1, 0\.2 or 0\.5)(?= |\.)",
    r"\bε = 0\.2(?=,|;)|\bβ = 0\.04\b",
    r"\bfloat8\b",
    r"\b(section \d\.\d|et al\. \d{4})\b",
    r"\b(its first 12|12 of 40|after 40|last 20) steps\b|\bstep 12 of 40\b",
    r"\bpasses 0\.5\b",
    r"\b(between 0 and 1|paid 4 or nothing)\b",
    r"\bby 28 % with a group and not by 20 %",
    r"\bat most (12 tokens|20 times)\b",
    r"\bOne run of 100 that stays on a wrong action moves a mean by 0\.01\b",
    r"\b0\.5 times\b",
    r"\b(weight|limit) of 0\.1\b",
    r"\b1,000 (seeds|runs)\b",
    r"\b(32 completions|100 prompts|1 action of 100|one action of 100|unless it says 32)\b",
    r"\bmiddle 80 %",
    r"\b80 steps\b|\b50 steps\b",
    r"\bstep (1|14|34|40|50|80)\b",
    r"\bseed 0\b",
    r"\bactions? (3|6 to 8|7)\b",
    r"\b0 or 1\b",
    r"\b4 for +, 0 for\b",
    r"\bat 2 changes\b",
    r"\b(A|a|of|to|is|exactly|near|at|above|are|not|earns|variance is|ratio is) (0|1)\b",
]
"""Phrases whose numbers say what was set, or how we count."""


@pytest.mark.parametrize("name", PAGES)
def test_no_number_on_a_page_is_without_a_claim(name):
    text = re.sub(r"^---$.*?^---$", "", path_of(name).read_text("utf-8"), count=1, flags=re.M | re.S)
    text = re.sub(r"```.*?```|<figure>.*?</figure>", " ", text, flags=re.S)
    text = re.sub(r"^#+ .*$|^\|.*\n(?=\|[-:|]+\|$)", " ", text, flags=re.M)  # headings, and heads of tables
    text = " ".join(text.split())
    expected = [claim for found in CLAIMS[f"docs/results/{name}.md"] for claim in found()] + QUOTED[name]
    for claim in sorted(expected, key=len, reverse=True):
        assert claim in text
        text = text.replace(claim, " ")
    for pattern in (r"`[^`]*`", r"\]\([^)]*\)", r"\{[^}]*\}", *SETTINGS):
        text = re.sub(pattern, " ", text, flags=re.I)
    assert [text[max(0, found.start() - 40) : found.end() + 20] for found in re.finditer(r"\d+", text)] == []


def test_the_page_of_the_relatives_leads_to_no_exercise_because_a_course_may_leave_out_theirs():
    assert not re.search(r"exercises/|mistakes/|starter|run_variants", path_of("variants").read_text("utf-8"))


# What a reader can follow: code, commands, links


def test_the_example_prints_what_the_page_shows():
    code, shown = re.findall(r"```(?:python|text)\n(.*?)```", path_of("bandit").read_text("utf-8"), re.S)[:2]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code.replace("from starter.", "from reference."), {})  # the page's own code, with the model answers
    assert printed.getvalue() == shown


@pytest.mark.parametrize("name", PAGES)
def test_every_command_on_a_page_exists(name):
    found = re.findall(r"`((?:python -m|course|make|grade) [^`]+)`", page(name))
    assert len(found) >= 4
    targets = re.findall(r"^([\w-]+):", (course.ROOT / "Makefile").read_text("utf-8"), re.M)
    parsers = {"starter.run_bandit": run_bandit._parser, "starter.run_charlm": run_charlm._parser}
    for command in found:
        program, *arguments = shlex.split(command)
        if program == "python":
            parsers[arguments[1]]().parse_args(arguments[2:])
        elif program == "course":
            assert arguments[:2] == ["dev", "ablate"] and set(arguments[2:]) <= set(ABLATIONS), command
        elif program == "make":
            assert arguments[0] in targets, command
        else:
            assert set(arguments) <= {exercise.name for exercise in course.EXERCISES}, command


@pytest.mark.parametrize(("name", "options"), RUNS.items())
def test_the_options_of_a_run_are_those_it_was_recorded_with(name, options):
    given = run_charlm._given(run_charlm._parser().parse_args(shlex.split(options)))
    document = samples_of(name)
    default = asdict(run_charlm.TASKS[document["task"]].config)
    assert document["settings"] == default | given
    assert document["task"] == ("arithmetic" if "arithmetic" in options else "pizza")


@pytest.mark.parametrize("name", PAGES)
def test_files_that_a_page_offers_are_there_and_what_it_says(name):
    links = re.findall(r"\]\((\.\./assets/[^)]+)\)", page(name))
    assert {Path(link).suffix for link in links} >= {".csv", ".svg"}
    for link in links:
        path = (path_of(name).parent / link).resolve()
        assert path.is_file(), link
        if path.suffix == ".csv":
            assert len(list(csv.reader(path.read_text("utf-8").splitlines()))) > 40


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_says_what_it_shows(name):
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page(name))
    assert len(pictures) >= 1
    for alternative, address in pictures:
        assert len(alternative.split()) >= 12, address


@pytest.mark.parametrize("name", PAGES)
def test_beside_every_table_and_picture_stands_where_it_comes_from(name):
    """One paragraph below each heading that has a table, a picture or a figure; a table of corrections is only text."""
    parts = re.split(r"^#{2,3} ", path_of(name).read_text("utf-8"), flags=re.M)[1:]
    parts = [part for part in parts if "{ #corrections }" not in part]
    shown = [part for part in parts if re.search(r"^\|---|^\|[-:]+\||^!\[|^<figure>", part, re.M)]
    assert len(shown) >= 3
    for part in shown:
        sources = re.findall(r"^(?:Recorded run|Computed|Schematic)[^`]*?(?:`[^`]+`|\n\n|\Z)", part, re.M)
        assert len(sources) == 1, part.splitlines()[0]
        assert "`" in sources[0] or sources[0].startswith("Schematic"), part.splitlines()[0]
