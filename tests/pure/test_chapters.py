"""How the Learn chapters are built: what a reader finds in each, in the same order."""

import itertools
import re

import pytest

from grader.core import course

CHAPTERS = ["why", "ppo", "group", "gradient", "advantage", "loss", "training", "limits"]
SECTIONS = ["The question", "The idea", "The formula", "Try it", "Check yourself", "Sources", "Next"]


def chapter(name):
    return (course.ROOT / f"docs/learn/{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_chapters_have_one_structure(name):
    assert re.findall(r"^## ([^{\n]*\w)", chapter(name), re.M) == SECTIONS


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_explorable_is_asked_about_before_and_explained_after(name):
    pieces = re.split(r"^/// html \| grpo-(?!quiz)\S+$", chapter(name), flags=re.M)
    for before, after in itertools.pairwise(pieces):
        intro = re.split(r"^### ", before, flags=re.M)[-1]
        assert "?" in intro, f"no question before: {intro[:80]}"
        rest = re.split(r"^/// *$", after, maxsplit=1, flags=re.M)[1]
        assert '\n??? note "What to notice"' in re.split(r"^##", rest, maxsplit=1, flags=re.M)[0], rest[:80]
