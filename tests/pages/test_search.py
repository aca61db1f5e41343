"""The search of the built site, asked in Node.js: what people type, and where it leads first."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from site_fixtures import cannot

from site_steps.search_index import TERMS

ANSWERS = {
    "what is GRPO": "ten-minutes/",
    "what is k3": "reference/glossary/#k1-k2-k3",
    "off-policy": "reference/glossary/#off-policy",
    "importance ratio": "reference/glossary/#importance-ratio",
    "exercise 2": "exercises/clip/",
    "cheat sheet": "cheat-sheet/",
    "submit": "start/#files",
    "GRPOTrainer": "reference/trl/",
    "steps_per_generation": "reference/questions/#steps-per-generation",
    "mask_truncated_completions": "reference/questions/#overlong",
    "mismatch": "reference/questions/#mismatch",
    "overlong": "reference/questions/#overlong",
    "MoE": "reference/questions/#moe",
    "top_p": "reference/questions/#top-p",
    "TIS": "reference/questions/#mismatch",
    "evaluation": "reference/questions/#evaluation",
    "overfitting": "reference/questions/#evaluation",
    "Dr. GRPO": "reference/questions/#std",
    "loss 0": "reference/questions/#loss-zero",
    "why is my GRPO loss zero?": "reference/questions/#loss-zero",
    "multiple rewards": "reference/questions/#several-rewards",
    "rewards aren't improving": "reference/questions/#reward-flat",
    "reward goes up, then collapses": "reference/questions/#collapse",
    "KL exploded": "reference/questions/#kl-billions",
    "clip-ratio always 0": "reference/questions/#clip-ratio",
    "ppo_mini_batch_size": "reference/questions/#verl-ratio",
    "multiturn": "reference/questions/#multi-turn",
    "qlora": "reference/questions/#lora",
    "bf16": "2026/engines/#engines",
}


def first_answers(site: Path, questions: list[str]) -> dict[str, str]:
    """The best section of the best page for each question; empty if nothing was found."""
    if shutil.which("node") is None:
        cannot("Node.js is missing (apt install nodejs npm): the search is not asked.")
    command = ["node", str(Path(__file__).with_name("search.mjs")), str(site)]
    asked = json.dumps(questions)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return {question: next(iter(found), "") for question, found in json.loads(done.stdout).items()}


def test_the_search_leads_to_what_explains_a_term(site_folder: Path) -> None:
    assert first_answers(site_folder, [*ANSWERS]) == ANSWERS


@pytest.mark.proof
def test_every_term_leads_to_a_section_that_has_it_or_to_the_glossary(site_folder: Path) -> None:
    terms: dict[str, list[str]] = tomllib.loads(TERMS.read_text("utf-8"))
    found = first_answers(site_folder, [term for listed in terms.values() for term in listed])
    elsewhere = {term: place for term, place in found.items() if term not in terms.get(place, [])}
    assert {term: place for term, place in elsewhere.items() if "glossary/#" not in place} == {}


def test_terms_name_sections_of_the_site(site_folder: Path) -> None:
    index = json.loads((site_folder / "search/search_index.json").read_text("utf-8"))
    sections = {section["location"] for section in index["docs"]}
    assert set(tomllib.loads(TERMS.read_text("utf-8"))) - sections == set()
