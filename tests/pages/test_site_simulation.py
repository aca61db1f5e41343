"""What students do on the simulation page, in a real browser.

Expected numbers come from grader/oracles/simulation.py, which is numpy and shares no code with the page.
"""

import csv
import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest
from site_pages import violations
from tab import Tab

from grader.oracles import simulation
from grader.oracles.simulation import SimulationSettings, simulate, single_peak

DEFAULT = SimulationSettings(reward_table=single_peak())
PAGE, WIDGET, COMPARISON = "/simulation/", "grpo-simulation", "grpo-comparison"
MENU = ("Copy link", "Download CSV", "Print")
TABLES = {
    "Policy: probability": "Policy as a table",
    "Training history": "History as a table",
    "Samples of the last group": "Step detail",
}
"""What must be opened to see a table, because tables are made then."""
ROWS = """([within, caption, summary]) => {
  for (const details of document.querySelectorAll(`${within} details`)) {
    if (summary && details.firstElementChild.textContent.includes(summary)) details.open = true;
  }
  const table = [...document.querySelectorAll(`${within} table`)]
    .find((each) => each.caption?.textContent.includes(caption));
  const rows = [...table?.tBodies[0].rows ?? []].map((row) => [...row.cells].map((cell) => cell.textContent));
  return rows.length && rows;
}"""


def show(tab: Tab, address: str, *more: str) -> Any:
    """A page on which runs are shown at once, because the reader wants no motion."""
    return tab.show(address, WIDGET, *more, motion=False)


def address(**values: Any) -> str:
    """The page with settings of the simulation in its address."""
    return f"{PAGE}?{urlencode({f'sim.{name}': value for name, value in values.items()})}"


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}%", ""))


def readout(page: Any, name: str) -> str:
    text: str = page.evaluate(
        """name => [...document.querySelectorAll("grpo-simulation .grpo-readouts div")]
          .find(each => each.querySelector("dt").innerText === name).querySelector("dd").innerText""",
        name,
    )
    return text


def rows(page: Any, caption: str, within: str = WIDGET) -> list[list[str]]:
    """The cells of the table with that caption."""
    found = page.wait_for_function(ROWS, arg=[within, caption, TABLES.get(caption, "")])
    cells: list[list[str]] = found.json_value()
    return cells


def policy(page: Any) -> list[float]:
    return [number(row[4]) for row in rows(page, "Policy: probability")]


def press(page: Any, name: str) -> None:
    if name in MENU:
        page.locator(".grpo-menu summary").click()
    page.get_by_role("button", name=name, exact=True).click()


def setting(page: Any, name: str) -> Any:
    return page.locator(f"[data-setting={name}]")


def move(page: Any, name: str, place: int) -> None:
    """Moves a slider to one of its places, as a pointer does: input while it moves, change at the end."""
    setting(page, name).evaluate(
        """(node, place) => { node.value = place;
          for (const kind of ["input", "change"]) node.dispatchEvent(new Event(kind, { bubbles: true })); }""",
        place,
    )


def query(page: Any) -> dict[str, str]:
    found = parse_qs(urlsplit(page.url).query)
    return {name.removeprefix("sim."): values[0] for name, values in found.items()}


def sent_runs(page: Any) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = page.evaluate("JSON.parse(localStorage.getItem('grpo-runs-v1') ?? '[]')")
    return runs


def final_policy(seed: int, steps: int = 50, **changed: Any) -> Any:
    return simulate(replace(DEFAULT, **changed), seeds=[seed], steps=steps).probabilities[0, -1]


def test_one_step_by_keyboard_tells_all_its_arithmetic(tab: Tab) -> None:
    page = show(tab, address(seed=11, k=4, eps=0.05, lr=1))
    button = page.get_by_role("button", name="One step", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    run = simulate(replace(DEFAULT, inner_steps=4, clip_eps=0.05, lr=1.0), seeds=[11], steps=1)
    actions = run.actions[0, 0]
    rewards = np.array(DEFAULT.reward_table)[actions]
    after = run.probabilities[0, 1, actions]
    advantages = simulation.group_advantages(rewards[None])[0]
    samples = rows(page, "Samples of the last group")
    assert [int(row[1]) for row in samples] == list(actions + 1)
    for column, values in {2: rewards, 3: advantages, 4: np.full(8, 0.1), 5: after, 6: after / 0.1}.items():
        assert [number(row[column]) for row in samples] == pytest.approx(list(values), abs=5.1e-3)
    assert np.mean([row[7] == "binds" for row in samples]) == run.clip_fraction[0, 0] > 0
    unreached = {"n", "reward", "peak", "g", "lr", "k", "eps", "beta", "std", "seed"}
    for _ in range(60):
        page.keyboard.press("Tab")
        unreached.discard(page.evaluate("document.activeElement.dataset.setting ?? ''"))
        if not unreached:
            break
    assert not unreached


@pytest.mark.proof
def test_every_setting_changes_the_run_as_it_says(tab: Tab) -> None:
    page = show(tab, address(seed=5))
    for name, place, changed in (
        ("peak", 2, {"reward_table": single_peak(3)}),
        ("g", 4, {"group_size": 16}),
        ("lr", 10, {"lr": 1.0}),
        ("k", 3, {"inner_steps": 4}),
        ("beta", 100, {"kl_coef": 1.0}),
        ("reward", "double", {"reward_table": simulation.double_peak()}),
        ("start", "biased", {"start_action": 3, "start_logit": 3.0}),
        ("std", "sample", {"correction": 1}),
    ):
        if isinstance(place, int):
            move(page, name, place)
        else:
            setting(page, name).select_option(place)
        press(page, "Run 50 steps")
        assert policy(page) == pytest.approx(final_policy(5, **changed), abs=5.1e-4), (name, place)
        press(page, "Defaults")
        assert (query(page), readout(page, "Steps")) == ({"seed": "5"}, "0")
    move(page, "k", 3)
    move(page, "eps", 0)
    press(page, "Run 50 steps")
    assert policy(page) == pytest.approx(final_policy(5, inner_steps=4, clip_eps=0.05), abs=5.1e-4)


@pytest.mark.proof
def test_a_locked_seed_repeats_a_run_and_an_unlocked_one_does_not(tab: Tab) -> None:
    page = show(tab, address(seed=7))
    press(page, "Run 50 steps")
    first = policy(page)
    setting(page, "lock").check()
    press(page, "Reset")
    press(page, "Run 50 steps")
    assert policy(page) == first
    setting(page, "lock").uncheck()
    seeds = {7}
    for _ in range(3):
        press(page, "Reset")
        seeds.add(int(setting(page, "seed").input_value()))
    assert len(seeds) >= 3
    for typed, used in (("42", "42"), ("", "42"), ("-3", "0"), ("99999999", "999999")):
        setting(page, "seed").fill(typed)
        setting(page, "seed").press("Enter")
        assert setting(page, "seed").input_value() == query(page)["seed"] == used


@pytest.mark.proof
def test_the_address_brings_back_the_run_and_a_senseless_one_gives_a_working_page(tab: Tab) -> None:
    page = show(tab, address(seed=3))
    for name, option in {"reward": "double", "start": "biased", "std": "none"}.items():
        setting(page, name).select_option(option)
    for name, place in {"g": 5, "lr": 6, "k": 2, "eps": 10, "beta": 30, "bump": 4}.items():
        move(page, name, place)
    setting(page, "n").fill("30")
    setting(page, "n").press("Enter")
    press(page, "Run 30 steps")
    before = (policy(page), query(page))
    assert before[1] == {
        **{"seed": "3", "n": "30", "steps": "30", "reward": "double", "start": "biased", "bump": "2"},
        **{"g": "32", "lr": "0.3", "k": "3", "eps": "off", "beta": "0.3", "std": "none"},
    }
    page = show(tab, f"{PAGE}?{urlsplit(page.url).query}")
    assert (policy(page), query(page)) == before
    for bad in ("g=banana", "steps=1e9"):
        page = show(tab, f"{PAGE}?sim.{bad}&sim.%3Cscript%3E=1")
        press(page, "One step")
        assert readout(page, "Steps") == "1" and sum(policy(page)) == pytest.approx(1, abs=0.006), bad


@pytest.mark.proof
def test_a_run_moves_can_be_paused_and_is_read_step_by_step(tab: Tab) -> None:
    page = tab.show(address(seed=4, n=12), WIDGET)
    press(page, "Run 12 steps")
    page.wait_for_function("document.querySelector('grpo-simulation').time > 0.3")
    press(page, "Pause")
    still = "node => [node.time, node.querySelector('.grpo-board > svg').innerHTML]"
    before = page.locator(WIDGET).evaluate(still)
    page.wait_for_timeout(100)
    assert page.locator(WIDGET).evaluate(still) == before and 0 < before[0] < 12
    page = show(tab, address(seed=9, steps=50))
    page.get_by_label("Read step").focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    expected = simulate(DEFAULT, seeds=[9], steps=50).probabilities[0, 30, 6]
    assert f"{expected:.3f}" in page.get_by_text("After step 30:").inner_text()
    chart = page.get_by_label("Training history").first.locator("svg.grpo-chart[height]").last
    chart.click(position={"x": 60, "y": 40})
    step = int(readout(page, "Steps"))
    assert 0 < step < 25
    assert policy(page) == pytest.approx(simulate(DEFAULT, seeds=[9], steps=50).probabilities[0, step], abs=5.1e-4)


@pytest.mark.proof
def test_for_readers_who_want_no_motion_nothing_moves(tab: Tab) -> None:
    page = show(tab, address(seed=4))
    page.evaluate(
        """() => { window.pictures = 0; new MutationObserver(() => { window.pictures += 1; })
          .observe(document.querySelector(".grpo-board > svg"), { subtree: true, attributes: true }); }"""
    )
    press(page, "One step")
    press(page, "Run 50 more")
    assert readout(page, "Steps") == "51"
    page.wait_for_timeout(100)
    assert page.evaluate("window.pictures") <= 2, "one picture per press"
    assert page.evaluate("document.getAnimations().length") == 0


def test_a_run_is_sent_to_the_worksheet_downloaded_and_linked(tab: Tab) -> None:
    page = show(tab, address(seed=13, k=4, eps=0.05))
    press(page, "Send to worksheet")
    assert sent_runs(page) == [], "no run yet"
    press(page, "Run 50 steps")
    for _ in range(2):
        press(page, "Send to worksheet")
    (run,) = sent_runs(page)
    assert (run["seed"], run["steps"], run["settings"]["innerSteps"]) == (13, 50, 4)
    with page.expect_download() as waiting:
        press(page, "Download CSV")
    table = list(csv.DictReader(waiting.value.path().read_text("utf-8").splitlines()))
    expected = simulate(replace(DEFAULT, inner_steps=4, clip_eps=0.05), seeds=[13], steps=50)
    for name, values in {
        "step": range(51),
        "best_probability": expected.probabilities[0, :, 6],
        "entropy": expected.entropy[0],
        "kl": expected.kl[0],
    }.items():
        assert [float(row[name]) for row in table] == pytest.approx(list(values), abs=1e-9)
    assert [float(row["mean_reward"]) for row in table[1:]] == pytest.approx(list(expected.mean_reward[0]), abs=1e-9)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(page, "Copy link")
    page.get_by_text("Link copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


@pytest.mark.proof
def test_the_comparison_is_that_of_the_oracle(tab: Tab) -> None:
    page = show(tab, address(seed=40, g=4), COMPARISON)
    press(page, "Send comparison to worksheet")
    assert sent_runs(page) == []
    press(page, "Run comparison (200 steps)")
    page.locator(f"{COMPARISON} [role=status]", has_text="Compared.").wait_for()
    shown = rows(page, "Results after 200 steps", COMPARISON)
    algorithms = ("grpo", "reinforce", "reinforce_baseline")
    for row, algorithm in zip(shown, algorithms, strict=True):
        runs = simulate(replace(DEFAULT, group_size=4, algorithm=algorithm), seeds=range(40, 60), steps=200)
        ends = runs.probabilities[:, -1, 6]
        assert row[3] == f"{ends.mean():.3f} ± {ends.std():.3f}"
        assert number(row[6]) == pytest.approx(100 * (ends > 0.5).mean(), abs=0.5)
    press(page, "Send comparison to worksheet")
    assert [(run["settings"]["algorithm"], run["seed"], run["steps"]) for run in sent_runs(page)] == [
        (algorithm, 40, 200) for algorithm in algorithms
    ]


@pytest.mark.proof
def test_on_paper_stand_the_picture_the_seed_and_the_settings(tab: Tab) -> None:
    page = show(tab, address(seed=3, steps=14, beta=0.3))
    page.emulate_media(media="print")
    printed = page.locator(f"{WIDGET} .grpo-printed").inner_text()
    assert re.search(r"Seed 3\b", printed) and "0.30" in printed
    assert not page.locator(f"{WIDGET} :is(button, summary, input):visible").count()
    assert page.locator(".grpo-board > svg").is_visible()


@pytest.mark.proof
def test_the_worksheet_beside_the_simulation_changes_it_and_hears_of_sent_runs(tab):
    page = tab.load("/worksheet/", scrolling=False)
    page.wait_for_selector(".grpo-strip")
    page.locator("article a[href*='sim.g=2']").click()
    page.wait_for_selector("grpo-simulation[data-ready]")
    frame = page.frame_locator("iframe[name=grpo-dock]")
    frame.locator("a[href*='sim.g=32']").click()
    page.wait_for_url("**/simulation/?sim.g=32*")
    page.get_by_role("button", name="One step").click()
    page.get_by_role("button", name="Send to worksheet").click()
    frame.locator(".grpo-sent li").wait_for()
    page.get_by_role("button", name="Worksheet", exact=True).click()
    assert not page.locator("iframe").is_visible() and violations(page) == []
