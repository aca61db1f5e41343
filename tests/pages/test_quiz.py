"""The questions at the end of each chapter: what is said of each choice and number, and what the progress keeps."""

import json

import pytest
from site_pages import violations

CHAPTERS = ("why", "ppo", "group", "gradient", "advantage", "loss", "training", "limits")
STORED = "JSON.parse(localStorage.getItem('grpo-quiz-v1'))"
SAID = ".grpo-said"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_choice_and_each_number_gets_what_is_said_of_it_and_the_right_one_is_kept(tab, chapter):
    page = tab.show(f"/learn/{chapter}/")
    served = page.evaluate("document.querySelectorAll('grpo-quiz').length")
    remarks_of = """node => [...new DOMParser().parseFromString(window.served.page.querySelector(
      `grpo-quiz[name="${node.getAttribute("name")}"]`).outerHTML, "text/html").querySelectorAll("details li")]
      .map((item) => [item.querySelector("strong")?.textContent ?? "", item.textContent.trim()])"""
    for quiz in page.locator("grpo-quiz").all():
        right = int(quiz.get_attribute("right")) - 1
        remarks = quiz.evaluate(remarks_of)
        choices = quiz.get_by_role("radio")
        button, said = quiz.get_by_role("button", name="Check"), quiz.locator(SAID)
        button.click()
        assert said.inner_text() in ("Choose an answer first.", "Enter a number first.")
        order = [i for i in range(len(remarks)) if i != right] + [right]
        for i in order:
            number, remark = remarks[i]
            if choices.count():
                assert choices.count() == len(remarks)
                choices.nth(i).check()
                assert said.inner_text() == ""
                button.click()
            else:
                quiz.get_by_role("textbox").fill(number.removesuffix(".") or "-987654")
                quiz.get_by_role("textbox").press("Enter")
            verdict = "Right." if i == right else "Not quite."
            assert said.inner_text().split() == f"{verdict} {remark}".split()
            assert ("answered right" in quiz.inner_text()) == (i == right)
    kept = page.evaluate(STORED)[f"learn/{chapter}"]
    assert (kept["of"], len(kept["right"])) == (served, served) and served >= 3
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")  # away from the theme's button, which may cover one
    assert violations(page) == []


def test_the_list_of_what_is_done_says_how_many_questions_were_answered_right(tab):
    page = tab.load("/learn/why/")
    quiz = page.locator("grpo-quiz").first
    quiz.get_by_role("radio").nth(1).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")  # as in any form
    page.wait_for_function(f"{STORED}?.['learn/why'].right.length === 1")
    page.reload()
    quiz.scroll_into_view_if_needed()
    quiz.get_by_text("answered right").wait_for()
    page.locator(".grpo-ring").click()
    dialog = page.locator(".grpo-stops")
    dialog.get_by_text("1 of 3 questions right").wait_for()
    dialog.get_by_role("button", name="Reset").click()
    page.get_by_role("button", name="Forget").click()
    page.wait_for_function("localStorage.getItem('grpo-quiz-v1') === null")
    dialog.get_by_text("questions right").wait_for(state="detached")


def test_without_scripts_a_question_has_its_answer_folded_below_it(read_without_scripts):
    page = read_without_scripts("/learn/loss/")
    quiz = page.locator("grpo-quiz").first
    assert not quiz.locator("details li").first.is_visible()
    quiz.locator("summary").click()
    assert "1.6 is right." in quiz.locator("details").inner_text()
    assert json.dumps(quiz.locator("details li").all_inner_texts()).count("ratio") >= 2
