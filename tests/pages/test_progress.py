"""The ring in the header: what is done of the course by reading, by hand and by a report; and the questions."""

import json

import pytest
from site_pages import violations
from terminal_reports import result_of

from grader.core.result import FAILED, PASSED
from grader.reports import html_report
from site_steps import path

ALL = [stop.page for stop in path.stops()]
STORED = "JSON.parse(localStorage.getItem('grpo-progress-v1'))"
BOTTOM = "scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })"


@pytest.fixture
def ring(tab):
    """The ring of chapter 1, with nothing done."""
    page = tab.load("/learn/why/", scrolling=False)
    page.wait_for_selector("grpo-progress[data-ready]")
    return page.locator(".grpo-ring")


def keep(page, done, *, finished=False):
    """Stores a progress as another tab does."""
    page.evaluate(
        """text => {
          localStorage.setItem("grpo-progress-v1", text);
          dispatchEvent(new StorageEvent("storage", { key: "grpo-progress-v1" }));
        }""",
        json.dumps({"done": done, "finished": finished}),
    )


def done(ring):
    """How many stops the ring counts."""
    return int(ring.get_attribute("aria-label").split()[0])


def test_a_chapter_is_done_at_its_end_and_everything_can_be_ticked_by_hand_and_forgotten(ring):
    page = ring.page
    assert done(ring) == 0
    # A figure that loads makes the page longer, and a reader then scrolls on.
    page.wait_for_function(f"() => {{ {BOTTOM}; return {STORED}?.done.length; }}")
    assert (page.evaluate(STORED)["done"], done(ring)) == (["learn/why"], 1)
    quiz = page.locator("grpo-quiz").first
    quiz.get_by_role("radio").nth(1).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")  # as in any form
    ring.press("Enter")
    dialog = page.locator(".grpo-stops")
    dialog.get_by_text("1 of 3").wait_for()
    assert dialog.get_by_role("checkbox").count() == len(ALL)
    assert violations(page, within="dialog") == []
    page.get_by_role("checkbox", name="3. KL").check()
    assert page.evaluate(STORED)["done"] == ["learn/why", "exercises/kl"] and done(ring) == 2
    page.get_by_role("checkbox", name="3. KL").uncheck()
    assert done(ring) == 1
    dialog.get_by_role("button", name="Reset").click()
    page.get_by_role("button", name="Forget").click()
    page.wait_for_function(f"{STORED}.done.length === 0 && localStorage.getItem('grpo-quiz-v1') === null")


def test_a_report_of_the_grader_ticks_what_is_passed_and_another_file_is_refused(ring):
    page = ring.page
    result = result_of({"clip": PASSED, "kl": FAILED})
    ring.click()
    status = page.locator(".grpo-stops [role=status]")
    for name, text in {"report.json": result.as_json(), "report.html": html_report.export(result, {})}.items():
        keep(page, [])
        report = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        page.set_input_files(".grpo-stops input[type=file]", report)
        status.filter(has_text="0 of 10").wait_for()
        assert page.evaluate(STORED)["done"] == ["exercises/clip"]
    page.evaluate("""() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["{}"], "a.json"));
      const dropped = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
      document.querySelector(".grpo-stops p").dispatchEvent(dropped);
    }""")
    status.filter(has_text="not a report").wait_for()


@pytest.mark.proof
def test_the_finish_comes_by_itself_once(ring):
    page = ring.page
    page.emulate_media(reduced_motion="reduce")
    keep(page, ALL[1:])
    assert done(ring) == len(ALL) - 1 and page.locator("dialog").count() == 0
    keep(page, ALL)
    page.locator("dialog .grpo-finish").wait_for()
    assert violations(page, within="dialog") == []
    page.get_by_role("button", name="Close").click()
    keep(page, ALL, finished=True)
    assert page.locator("dialog").count() == 0
