"""The ring in the header: what is done of the course by reading, by hand and by a report; and the finish."""

import json

import pytest
from site_pages import violations
from tab import follow_a_link
from terminal_reports import result_of

from grader.core import course
from grader.core.result import FAILED, PASSED
from grader.reports import html_report

CHAPTERS = [f"learn/{name}" for name in ("why", "ppo", "group", "gradient", "advantage", "loss", "training", "limits")]
EXERCISES = [f"exercises/{exercise.name}" for exercise in course.EXERCISES]
ALL = [*CHAPTERS, "worksheet", *EXERCISES]
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


def named(ring):
    return ring.get_attribute("aria-label")


def test_a_chapter_is_done_when_its_end_is_reached_and_not_when_one_arrives_at_the_end(ring, site):
    page = ring.page
    assert named(ring) == "0 of 14 done"
    page.evaluate(BOTTOM)
    page.wait_for_function(f"{STORED}?.done.length")
    assert page.evaluate(STORED) == {"done": ["learn/why"], "finished": False}
    assert named(ring) == "1 of 14 done"
    page.wait_for_load_state("networkidle")
    follow_a_link(page, f"{site}/learn/ppo/")
    page.wait_for_function("document.querySelector('h1').innerText.startsWith('2')")
    page.wait_for_function("scrollY === 0")
    assert page.locator("grpo-progress").count() == 1
    assert page.evaluate(STORED)["done"] == ["learn/why"]


def test_everything_can_be_ticked_by_hand_and_forgotten(ring):
    page = ring.page
    assert not page.evaluate("performance.getEntriesByType('resource').some(({ name }) => name.endsWith('stops.mjs'))")
    ring.press("Enter")
    dialog = page.get_by_role("dialog", name="0 of 14 done")
    dialog.wait_for()
    assert dialog.get_by_role("checkbox").count() == 14
    assert violations(page, within="dialog") == []
    page.get_by_role("checkbox", name="3. KL").check()
    page.get_by_role("checkbox", name="2. What PPO costs").check()
    assert named(ring) == "2 of 14 done"
    page.get_by_role("dialog", name="2 of 14 done").get_by_role("checkbox", name="3. KL").uncheck()
    assert page.evaluate(STORED)["done"] == ["learn/ppo"]
    page.locator(".grpo-stops").get_by_role("button", name="Reset").click()
    page.get_by_role("button", name="Forget").click()
    page.wait_for_function(f"{STORED}.done.length === 0")
    assert page.get_by_role("checkbox", checked=True).count() == 0
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


@pytest.mark.parametrize("kind", ["json", "html"])
def test_a_report_of_the_grader_ticks_what_is_passed_and_says_what_is_not(ring, kind):
    page = ring.page
    result = result_of({"clip": PASSED, "kl": FAILED})
    text = result.as_json() if kind == "json" else html_report.export(result, {})
    ring.click()
    page.set_input_files(
        ".grpo-stops input[type=file]", {"name": f"report.{kind}", "mimeType": "text/plain", "buffer": text.encode()}
    )
    page.get_by_text("Passed: clip. Not yet: kl, 0 of 10 points.").wait_for()
    assert page.evaluate(STORED)["done"] == ["exercises/clip"]


def test_a_dropped_file_that_is_no_report_is_refused_in_a_sentence(ring):
    page = ring.page
    ring.click()
    page.locator(".grpo-stops").wait_for()
    page.evaluate("""() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["{}"], "a.json"));
      const dropped = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
      document.querySelector(".grpo-stops p").dispatchEvent(dropped);
    }""")
    page.get_by_text("This is no report of the grader").wait_for()


def test_the_finish_comes_by_itself_once_and_ends_with_eight_answers_on_their_line(ring):
    page = ring.page
    page.emulate_media(reduced_motion="reduce")
    keep(page, ALL[1:])
    assert named(ring) == "13 of 14 done"
    keep(page, ALL)
    dialog = page.get_by_role("dialog", name="14 of 14 done")
    dialog.get_by_text("nothing left to teach you").wait_for()
    assert dialog.locator(".grpo-finish text:visible").filter(has_text="mean 1.00").count() == 1
    assert violations(page, within="dialog") == []
    page.get_by_role("button", name="Close").click()
    keep(page, ALL, finished=True)
    assert page.locator("dialog").count() == 0


def test_without_scripts_there_is_no_ring(read_without_scripts):
    page = read_without_scripts("/learn/why/")
    assert page.locator("grpo-progress, .grpo-ring").count() == 0
