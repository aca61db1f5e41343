"""The model answers to the worksheet's questions: what the numbers of many runs show.

Students see them after handing in, in the report and on the page. No program compares anything with them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__).with_name("model_answers.json")
"""Written by hand, with numbers measured over 1,000 seeds; `course dev golden` copies it for the browser."""


@dataclass(frozen=True)
class ModelAnswer:
    """What the numbers show for one question.

    Attributes:
        id: Id of the question, as on the page.
        question: The question, in a few words.
        answer: The answer, in sentences.
        experiment: What to try next, and what it shows; may be empty.
    """

    id: str
    question: str
    answer: str
    experiment: str


@functools.cache
def model_answers() -> Mapping[str, ModelAnswer]:
    """All of them by id, in the order of the worksheet."""
    entries = json.loads(PATH.read_text("utf-8"))["answers"]
    return {entry["id"]: ModelAnswer(**entry) for entry in entries}
