"""The examples on the pages of the exercises, run as a reader would."""

import doctest

import pytest
import torch

from grader.core import course

PAGES = [each.page for each in course.EXERCISES if ">>> " in (course.ROOT / each.page).read_text("utf-8")]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_print_what_it_says(page):
    text = (course.ROOT / page).read_text("utf-8").replace("```", "")
    found = doctest.DocTestParser().get_doctest(text, {"torch": torch}, page, page, 0)
    done = doctest.DocTestRunner(verbose=False).run(found)
    assert done.attempted >= 3 and done.failed == 0
