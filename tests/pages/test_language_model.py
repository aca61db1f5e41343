"""What a visitor does with the language model that learns in the tab, in a real browser with a real worker."""

from __future__ import annotations

import re
from typing import Any

import pytest
from site_fixtures import PATIENCE
from site_pages import violations
from tab import Tab

PAGE, WIDGET = "/language-model/", "grpo-language-model"
FINISHED = f"document.querySelector('{WIDGET}').run?.isFull && !document.querySelector('{WIDGET}').trainer.playing"
RECORDS = f"document.querySelector('{WIDGET}').run.records.map(({{ exact, meanReward }}) => [exact, meanReward])"
MODEL = f"document.querySelector('{WIDGET}')"
ENDS = f"[{MODEL}.ghost, {MODEL}.run].map((run) => run.curve('exact').at(-1))"
LOADED = """() => performance.getEntriesByType("resource").map(({ name }) => name)
  .filter((name) => /safetensors|language-model.(worker|screen)/.test(name)).length"""


def press(page: Any, name: str) -> None:
    page.locator(WIDGET).get_by_role("button", name=name, exact=True).click()


def status(page: Any) -> str:
    text: str = page.locator(f"{WIDGET} [role=status]").first.inner_text()
    return text


def until_finished(page: Any) -> None:
    page.wait_for_function(FINISHED, timeout=PATIENCE)


@pytest.mark.proof
def test_the_model_learns_a_reward_of_a_link_and_a_letter_shows_its_term(tab: Tab) -> None:
    page = tab.load(
        f"{PAGE}?lm.task=own&lm.reward=2*has(soda)&lm.steps=20&lm.watch=soda.&lm.p=8&lm.wild=1", scrolling=False
    )
    page.wait_for_selector(f"{WIDGET}[data-ready]")
    assert "wild" in status(page) and page.evaluate(LOADED) == 0
    page.get_by_label("at once").check(force=True)
    press(page, "Run 20 steps")
    until_finished(page)
    assert page.evaluate(LOADED) >= 2
    records = page.evaluate(RECORDS)
    assert records[0][0] < 0.2 and records[-1][0] > 0.6 and records[-1][1] > 1.2
    page.get_by_label("Read step").fill("3")
    page.locator(".lm-rows li:not(.flat) .lm-letter").first.focus()
    page.keyboard.press("Enter")
    (push,) = re.findall(r"([\d.]+)$", page.locator(".lm-lines").inner_text())
    label = page.locator(".lm-letter[aria-pressed=true]").get_attribute("aria-label")
    assert float(push) != 0 and push[:5] in label
    page.locator(f"{WIDGET} summary", has_text="The same run in Python").click()
    assert 'float("soda" in text)' in page.locator(f"{WIDGET} pre").inner_text()
    assert violations(page) == []


@pytest.mark.proof
def test_an_opening_asks_first_and_its_verdict_comes_from_the_run(tab: Tab) -> None:
    page = tab.load(f"{PAGE}?lm.open=leash", scrolling=False)
    page.wait_for_selector(f"{WIDGET}[data-ready]")
    page.get_by_label("at once").check(force=True)
    press(page, "it hardly rises")
    until_finished(page)
    assert "You guessed" in status(page) and "then falls back" in status(page)
    press(page, "Now without KL")
    until_finished(page)
    before, after = page.evaluate(ENDS)
    assert before < 0.9 < after and f"{100 * after:.1f}" in status(page)


@pytest.mark.proof
def test_a_run_without_signal_stops_and_says_why(tab: Tab) -> None:
    page = tab.load(f"{PAGE}?lm.g=1", scrolling=False)
    page.wait_for_selector(f"{WIDGET}[data-ready]")
    press(page, "Run 40 steps")
    page.locator(f"{WIDGET} [role=status]", has_text="G = 1").wait_for()
    assert page.evaluate(f"document.querySelector('{WIDGET}').run.steps") == 10
