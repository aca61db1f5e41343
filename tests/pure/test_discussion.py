"""The pages that discuss the answers: the report of each exercise leads to one, and none gives a solution away."""

import math

import pytest
import torch

from grader.core import course
from grader.workshop import leak_scan

PAGES = [course.ROOT / f"docs/discussion/{each.name}.md" for each in course.EXERCISES]


@pytest.mark.parametrize("exercise", course.EXERCISES, ids=lambda each: each.name)
def test_the_part_of_a_page_that_the_report_leads_to_leads_on_to_the_discussion(exercise):
    after = (course.ROOT / exercise.page).read_text("utf-8").split("\n## Afterwards\n")[1].split("\n## ")[0]
    assert f"](../discussion/{exercise.name}.md)" in after


def test_no_discussion_holds_a_piece_of_a_solution():
    texts = {str(path.relative_to(course.ROOT)): path.read_bytes() for path in PAGES}
    assert leak_scan.scan(texts, leak_scan.secrets()) == []
    solution = (course.ROOT / "reference/clip.py").read_bytes()
    assert leak_scan.scan(
        {**texts, "docs/discussion/clip.md": b"```python\n" + solution + b"```\n"}, leak_scan.secrets()
    )


def test_the_numbers_of_the_discussions_are_right():
    tiny = torch.tensor(1e-50)
    assert tiny == 0 and round(math.log(1e-50)) == -115
    x = torch.tensor(1e-4)
    right = math.exp(1e-4) - 1 - 1e-4  # float64 keeps seven digits of it
    assert abs(float(x.exp() - 1 - x) - right) > right, "no right digit"
    assert abs(float(torch.expm1(x) - x) - right) < 0.01 * right
