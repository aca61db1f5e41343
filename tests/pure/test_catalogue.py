"""Nothing of the site's plan is missing: each element stands on a page, and its numbers and its behaviour are tested.

The plan lists explorables (W), static elements (T), what a notebook (N) and a diagnostics page (D) have to show, and
what this course adds (B). An element carries its id in the page as data-catalogue. Tests carry it in their names:
"W08 ..." in tests/js for the numbers, test_w08_... in tests/pages/test_chapter_*.py for what a reader does and sees.
"""

import functools
import itertools
import re
from collections import Counter

import pytest

from grader.core import course

DOCS = course.ROOT / "docs"
TESTS = course.ROOT / "tests"
EXPLORABLES = [f"W{number:02}" for number in range(1, 27) if number != 23]  # W23 is a table of the text
ADDED = {
    "B01": "signal-to-noise panel: what the mean does and what the standard deviation does",
    "B02": "value and gradient of k1, k2 and k3",
    "B03": "three ways to average, and their length bias",
    "B04": "a loss of zero with a gradient",
    "B05": "float noise on equal rewards",
    "B06": "GRPO, Dr. GRPO, DAPO, GSPO and RLOO on the same run",
    "B07": "lineage of the baselines",
    "B08": "a recorded run of a pretrained language model, token by token",
    "B09": "the policy gradient over three actions, and the way uphill",
    "B10": "what a baseline does to the gradients of single groups",
    "B11": "which tokens each relative of GRPO still learns from, by their ratio",
    "B12": "why a ratio leaves 1: updates, the sampler's age, the sampler's engine",
    "B13": "an agent's answers with and without the mask over what a tool wrote",
    "B14": "pass@k before and after training",
    "B15": "the weight of a prompt by how often it is solved",
    "B16": "entropy and reward by the upper end of the clip",
}
STATIC = ["W23", *(f"T{number:02}" for number in range(1, 13))]
NOTEBOOK = [f"N{number:02}" for number in range(1, 8)]
DIAGNOSTICS = [f"D{number:02}" for number in range(1, 15)]


PAGES = sorted(DOCS.rglob("*.md"))


@functools.cache
def ids_on_pages():
    """How often each id stands on the pages."""
    texts = [path.read_text("utf-8") for path in PAGES]
    found = [re.findall(r'data-catalogue(?:=|: )["\']?([A-Z0-9 ]+)', text) for text in texts]
    return Counter(name for ids in itertools.chain.from_iterable(found) for name in ids.split())


@pytest.mark.parametrize("name", [*EXPLORABLES, *ADDED, *STATIC, *NOTEBOOK, *DIAGNOSTICS])
def test_every_element_of_the_plan_stands_on_a_page(name):
    assert ids_on_pages()[name] >= 1


def test_pages_carry_no_id_that_is_not_in_the_plan():
    assert set(ids_on_pages()) <= {*EXPLORABLES, *ADDED, *STATIC, *NOTEBOOK, *DIAGNOSTICS}


@pytest.mark.parametrize("name", [*EXPLORABLES, *ADDED])
def test_the_numbers_of_every_explorable_have_a_unit_test(name):
    tests = "\n".join(path.read_text("utf-8") for path in (TESTS / "js").glob("*.test.mjs"))
    assert re.search(rf'^test\(["`]{name}\b', tests, re.M)


@pytest.mark.parametrize("name", [*EXPLORABLES, *ADDED])
def test_the_behaviour_of_every_explorable_has_a_browser_test(name):
    tests = "\n".join(path.read_text("utf-8") for path in (TESTS / "pages").glob("test_chapter_*.py"))
    assert re.search(rf"^def test_{name.lower()}_\w+\((open_figure|open_player|tab)\b", tests, re.M)


@pytest.mark.parametrize("script", sorted((DOCS / "assets/js/widgets").rglob("*.mjs")), ids=lambda path: path.stem)
def test_a_widget_has_at_most_150_lines_or_a_reason(script):
    text = script.read_text("utf-8")
    reason = re.search(r"^// Longer than 150 lines, because (.{20,})", text, re.M)
    assert reason or len(text.splitlines()) <= 150
