"""The pages of common mistakes: every misconception, in the words of the report, where the report leads.

What stands in their texts is tested in tests/pure/test_mistake_texts.py.
"""

import pytest

from grader.core import course
from grader.workshop.catalogue import misconceptions

EXERCISES = [exercise.name for exercise in course.EXERCISES]


@pytest.mark.parametrize("name", EXERCISES)
def test_every_misconception_opens_at_its_own_place(read_without_scripts, name):
    page = read_without_scripts(f"/mistakes/{name}/")
    shown = dict(
        page.evaluate(
            """() => [...document.querySelectorAll("article details")]
              .map(node => [node.id, node.querySelector("summary").textContent.trim()])"""
        )
    )
    wanted = {f"{entry.function}-{entry.name}": entry.sentence for entry in misconceptions(name)}
    assert shown.keys() == wanted.keys()
    for anchor, sentence in wanted.items():
        assert shown[anchor].lower() == sentence.replace("`", "").lower()


def test_the_place_to_which_a_report_leads_is_opened(tab):
    page = tab.load("/mistakes/advantages/#group_advantages-divides_by_group_size_minus_one")
    opened = page.locator("details[open]")
    assert opened.count() == 1
    assert "0.94 for G = 8" in opened.inner_text()
    numbers = opened.locator("td").all_inner_texts()
    assert numbers[1].startswith("1.732") and numbers[3].startswith("1.5, \u22120.5")
