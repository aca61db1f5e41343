"""The questions at the end of each chapter: what is said of each choice and number, and what the progress keeps."""

import json

import pytest
from site_pages import violations

CHAPTERS = ("why", "ppo", "group", "gradient", "advantage", "loss", "training", "limits")
SCANNED = "loss"
"""Where answered questions are looked at by axe: one script makes those of all chapters."""
STORED = "JSON.parse(localStorage.getItem('grpo-quiz-v1'))"


ANSWER = """node => {
  const served = window.served.page.querySelector(`grpo-quiz[name="${node.getAttribute("name")}"]`).outerHTML;
  const remarks = [...new DOMParser().parseFromString(served, "text/html").querySelectorAll("details li")]
    .map((item) => [item.querySelector("strong")?.textContent ?? "", item.textContent.trim()]);
  const [button, said] = [node.querySelector("button"), node.querySelector(".grpo-said")];
  const choices = [...node.querySelectorAll("input[type=radio]")];
  const words = (part) => part.innerText.split(/\\s+/).filter(Boolean).join(" ");
  button.click();
  const first = words(said);
  const right = Number(node.getAttribute("right")) - 1;
  const order = [...remarks.keys()].filter((i) => i !== right).concat(right);
  const answers = order.map((i) => {
    if (choices.length) {
      choices[i].click();
    } else {
      node.querySelector("input[type=text]").value = remarks[i][0].replace(/\\.$/, "") || "-987654";
    }
    const before = choices.length ? words(said) : "";
    button.click();
    const verdict = i === right ? "Right." : "Not quite.";
    const wanted = `${verdict} ${remarks[i][1]}`.split(/\\s+/).join(" ");
    return { before, wanted, said: words(said), counted: words(node).includes("answered right"), right: i === right };
  });
  return { choices: choices.length, remarks: remarks.length, first, answers };
}"""
"""Answers a question before anything was chosen, then with each wrong choice, and at last with the right one."""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_choice_and_each_number_gets_what_is_said_of_it_and_the_right_one_is_kept(tab, chapter):
    page = tab.show(f"/learn/{chapter}/", "grpo-quiz")
    served = page.evaluate("document.querySelectorAll('grpo-quiz').length")
    for quiz in page.locator("grpo-quiz").all():
        seen = quiz.evaluate(ANSWER)
        assert seen["first"] in ("Choose an answer first.", "Enter a number first.")
        assert seen["choices"] in (0, seen["remarks"]) and seen["answers"]
        for answer in seen["answers"]:
            assert answer["before"] == ""
            assert answer["said"] == answer["wanted"]
            assert answer["counted"] == answer["right"]
        if not seen["choices"]:
            quiz.get_by_role("textbox").fill("-987654")
            quiz.get_by_role("textbox").press("Enter")
            assert quiz.locator(".grpo-said").inner_text().startswith("Not quite.")
    kept = page.evaluate(STORED)[f"learn/{chapter}"]
    assert (kept["of"], len(kept["right"])) == (served, served) and served >= 3
    if chapter == SCANNED:
        assert violations(page, within="grpo-quiz") == []


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
