"""The lists of exercises on the pages, in the menu and in the issue form are those of `course.toml`."""

import re

import pytest

from grader.core import course
from grader.workshop.course_lists import PageList
from grader.workshop.page_lists import api_pages, page_lists, with_list
from grader.workshop.page_numbers import NoPlace

MENU = "nav:\n  - 1. One: exercises/one.md\n  - 2. Two: exercises/two.md\n  - Other: other.md\n"
FORM = r" +- \d\. \w+: exercises/\w+\.md"


def test_a_list_is_replaced_where_it_is_and_the_rest_stays():
    wanted = PageList("menu.yml", FORM, ("  - 1. Two: exercises/two.md",))
    assert with_list(MENU, wanted) == "nav:\n  - 1. Two: exercises/two.md\n  - Other: other.md\n"


@pytest.mark.parametrize("text", ["nav:\n", MENU + MENU])
def test_a_file_without_the_list_or_with_two_is_refused(text):
    count = text.count("nav") if "One" in text else 0
    with pytest.raises(NoPlace, match=f"^{count} places, not 1, have lines such as: - 1. Two"):
        with_list(text, PageList("menu.yml", FORM, ("  - 1. Two: exercises/two.md",)))


def test_every_exercise_is_in_every_list_and_every_function_on_the_page_of_its_exercise():
    others = (
        "draft",
        "site",
        "copyright",
        "  logo",
        r"(?:- )?\*\*",
        r"\| `",
        r"\| (?:",
        r"\| \d+ ",
    )  # not of exercises; the last three: samples and runs
    lists = [each for each in page_lists() if not each.form.startswith(others)]
    assert len(lists) >= 5
    for each in lists:
        text = "\n".join(each.lines)
        assert all(re.search(rf"\b{exercise.name}\b", text) for exercise in course.EXERCISES), each.path
    pages = api_pages()
    for exercise in course.EXERCISES:
        for function in exercise.function_names:
            assert f"\n::: starter.{exercise.name}.{function}\n" in pages[f"docs/reference/api/{exercise.name}.md"]
            assert f"(api/{exercise.name}.md#starter.{exercise.name}.{function})" in pages["docs/reference/api.md"]
