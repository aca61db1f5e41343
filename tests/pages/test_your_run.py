"""The page "Read your run": a log that is pasted, dropped or chosen from a list, as readers use the page."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from site_pages import DOCS, violations
from tab import PHONE, Tab

PAGE = "/your-run/"
LOGS = DOCS / "assets/run-logs"
CARD = ".grpo-run-card"
TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll("grpo-run-reader *")]
  .filter((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth
    && !node.closest("svg, input, textarea, .grpo-scroll")).map((node) => node.outerHTML.slice(0, 200))"""
PASTE = """text => {
  const field = document.querySelector("grpo-run-reader textarea");
  const data = new DataTransfer();
  data.setData("text", text);
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


def read(page: Any, text: str) -> list[str]:
    """Pastes a log; the ids of what the page finds."""
    page.locator("grpo-run-reader textarea").fill(text)
    page.locator("grpo-run-reader > [role=status]", has_text="I read").wait_for()
    ids: list[str] = page.locator(CARD).evaluate_all("cards => cards.map(({ dataset }) => dataset.id)")
    return ids


def test_a_pasted_log_is_read_with_its_lines_causes_and_curves(tab: Tab) -> None:
    page = tab.follow(PAGE)
    assert read(page, (LOGS / "collapse.txt").read_text()) == ["collapse"]
    card = page.locator(CARD)
    assert "line 18" in card.inner_text() and card.locator("ol > li").count() >= 4
    assert card.locator("a[href*='learn/training']").count() == 1
    charts = page.locator(".grpo-run-curves svg")
    assert charts.count() >= 6 and page.locator(".grpo-run-result table").count() == 1
    assert violations(page, within="grpo-run-reader") == []


@pytest.mark.proof
def test_a_reading_fits_on_a_phone_in_the_dark(tab: Tab) -> None:
    page = tab.load(PAGE, size=PHONE, scheme="dark")
    read(page, (LOGS / "healthy.txt").read_text())
    assert page.evaluate(TOO_WIDE) == []
    assert violations(page, within="grpo-run-reader") == []


@pytest.mark.proof
def test_a_symptom_is_found_and_chosen_by_the_keyboard(tab: Tab) -> None:
    page = tab.follow(PAGE)
    page.locator("grpo-run-reader input[type=search]").focus()
    page.keyboard.type("nan")
    page.keyboard.press("Tab")  # the list scrolls, so it is a stop of its own
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.dataset.id") == "nan"
    assert "Probable causes" in page.locator(CARD).inner_text()


@pytest.mark.proof
def test_a_link_to_a_symptom_shows_its_text(tab: Tab) -> None:
    page = tab.load(f"{PAGE}#loss_zero")
    assert page.locator(CARD).get_attribute("data-id") == "loss_zero"


@pytest.mark.proof
def test_a_dropped_file_of_this_course_is_read(tab: Tab) -> None:
    page = tab.follow(PAGE)
    page.locator("grpo-run-reader input[type=file]").set_input_files(DOCS / "assets/runs/charlm-pizza/metrics.csv")
    page.locator("grpo-run-reader > [role=status]", has_text="run_charlm").wait_for()
    assert page.locator(f"{CARD}.stop, {CARD}.look").count() == 0


@pytest.mark.proof
def test_a_paste_of_five_megabytes_is_read_and_shown_in_part(tab: Tab) -> None:
    page = tab.follow(PAGE)
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["step", "reward", "kl", "note"])
    writer.writerows([step, 0.3 + step / 1e5, 0.001, "x" * 80] for step in range(50_000))
    page.evaluate(PASTE, table.getvalue())
    page.locator("grpo-run-reader > [role=status]", has_text="one line in 13").wait_for()
    assert len(page.locator("grpo-run-reader textarea").input_value()) < 10_000


@pytest.mark.proof
def test_what_cannot_be_read_gets_examples_that_can(tab: Tab) -> None:
    page = tab.follow(PAGE)
    page.locator("grpo-run-reader textarea").fill("my run is bad, please help")
    page.locator(".grpo-run-works").wait_for()
    for line in page.locator(".grpo-run-works code").all_inner_texts():
        assert read(page, line.replace("⏎", "\n")) != []
        page.locator("grpo-run-reader textarea").fill("?")
        page.locator(".grpo-run-works").wait_for()


@pytest.mark.proof
def test_the_dictionary_is_narrowed_to_what_is_typed(tab: Tab) -> None:
    page = tab.follow(PAGE)
    page.locator("grpo-run-names input").fill("reward_std trl")
    rows = page.locator("grpo-run-names tbody tr:visible")
    assert rows.count() == 2 and "whole generation batch" in rows.nth(1).inner_text()
