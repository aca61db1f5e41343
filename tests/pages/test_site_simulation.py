"""The simulation page in a real browser: every control, button, readout, chart and table of it.

Expected numbers come from the golden vectors and from grader/oracles/simulation.py, which is numpy and shares no
code with the page.
"""

import csv
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest
from site_fixtures import SETTLED, PageOpener
from tab import Tab

from grader.oracles import simulation
from grader.oracles.simulation import Settings, simulate, single_peak

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads((ROOT / "tests/golden/simulation.json").read_text("utf-8"))
DEFAULT = Settings(reward_table=single_peak())
PAGE = "/simulation/"
COMPARISON = "grpo-comparison"
MENU = ("Copy link", "Download CSV", "Print")
OPEN = """summary => [...document.querySelectorAll("grpo-simulation details")]
  .find(node => node.firstElementChild.textContent === summary).open = true"""
SCREENS = {"desktop": (1280, 720), "phone": (390, 844)}
REWARDS: dict[tuple[float, ...], dict[str, Any]] = {
    single_peak(): {},
    single_peak(3): {"reward": "single", "peak": 3},
    simulation.double_peak(): {"reward": "double"},
    tuple(action / 10 for action in range(1, 11)): {"reward": "linear"},
}


def show(tab: Tab, address: str, *more: str) -> Any:
    """A page on which runs are shown at once, because the reader wants no motion; with more widgets by their tags."""
    return tab.show(address, "grpo-simulation", *more, motion=False)


def load(tab: Tab, address: str, *, unchanged: bool = False) -> Any:
    # The theme writes the address after scrolling.
    page = tab.load(address, motion=False, unchanged=unchanged, scrolling=unchanged)
    page.wait_for_selector("article :is(grpo-simulation, grpo-hero)[data-ready]")
    return page


def address(**values: Any) -> str:
    """The page with settings of the simulation in its address."""
    return f"{PAGE}?{urlencode({f'sim.{name}': value for name, value in values.items()})}"


def address_of(settings: Settings, **more: Any) -> str:
    """The same, from the oracle's settings."""
    values = dict(REWARDS[settings.reward_table])
    values |= {"g": settings.group_size, "lr": settings.lr, "beta": settings.kl_coef, "k": settings.inner_steps}
    values["eps"] = "off" if settings.clip_eps is None else settings.clip_eps
    values["std"] = "none" if not settings.divide_by_std else ("sample" if settings.correction else "population")
    if settings.start_action is not None:
        values |= {"start": "biased", "bump": settings.start_logit}
    return address(**values, **more)


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}%", ""))


def readout(page: Any, name: str) -> str:
    text: str = (
        page.locator("grpo-simulation .grpo-readouts div")
        .filter(has=page.get_by_text(name, exact=True))
        .locator("dd")
        .inner_text()
    )
    return text


def rows(page: Any, caption: str, within: str = "grpo-simulation") -> list[list[str]]:
    """Cells of the table with that caption; those of the simulation are opened, because they are made then."""
    if within == "grpo-simulation":
        page.evaluate(
            OPEN,
            {"Policy": "Policy as a table", "Training history": "History as a table"}.get(
                caption.split(":")[0], "Step detail"
            ),
        )
    cells: list[list[str]] = page.locator(f"{within} table", has=page.get_by_text(caption)).first.evaluate(
        "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return cells


def policy(page: Any) -> list[float]:
    return [number(row[4]) for row in rows(page, "Policy: probability and reward")]


def open_history(page: Any) -> None:
    """Opens the history as a table and waits for its rows: the browser says later that it was opened."""
    page.get_by_text("History as a table").click()
    page.locator("table", has=page.get_by_text("Training history")).locator("tbody tr").first.wait_for()


def press(page: Any, name: str) -> None:
    if name in MENU:
        page.locator(".grpo-menu summary").click()
    page.get_by_role("button", name=name, exact=True).click()


def status(page: Any, within: str = "grpo-simulation") -> str:
    text: str = page.locator(f"{within} [role=status]").inner_text()
    return text


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


def test_the_start_is_the_uniform_policy(tab: Tab) -> None:
    page = show(tab, PAGE)
    assert [readout(page, name) for name in ("Steps", "KL from the start", "Entropy (nats)")] == ["0", "0.000", "2.303"]
    assert readout(page, "Max π(a)").startswith("0.100")
    assert policy(page) == [0.1] * 10
    page.locator("grpo-simulation summary", has_text="Step detail").click()
    page.get_by_text("Run at least one step").wait_for()


@pytest.mark.parametrize(
    "place", [1, 4, 7, *(pytest.param(place, marks=pytest.mark.proof) for place in (0, 2, 3, 5, 10))]
)
def test_runs_are_the_golden_vectors(tab: Tab, place: int) -> None:
    run = GOLDEN["runs"][place]
    settings = Settings(**{**run["settings"], "reward_table": tuple(run["settings"]["reward_table"])})
    page = show(tab, address_of(settings, seed=run["seed"], steps=200))
    assert policy(page) == pytest.approx(run["policy"][-1], abs=5.1e-4)
    assert number(readout(page, "Entropy (nats)")) == pytest.approx(run["entropy"][-1], abs=5.1e-4)
    assert number(readout(page, "KL from the start")) == pytest.approx(run["kl"][-1], abs=5.1e-4)
    assert number(readout(page, "Clip fraction")) == pytest.approx(100 * run["clip_fraction"][-1], abs=0.51)
    open_history(page)
    table = rows(page, "Training history")
    assert len(table) == 201
    for step, expected in zip(GOLDEN["after"], run["entropy"], strict=True):
        assert number(table[step][4]) == pytest.approx(expected, abs=5.1e-4)


@pytest.mark.parametrize(
    ("name", "place", "changed"),
    [
        ("peak", 2, {"reward_table": single_peak(3)}),
        ("g", 4, {"group_size": 16}),
        ("lr", 10, {"lr": 1.0}),
        ("k", 3, {"inner_steps": 4}),
        ("eps", 0, {"clip_eps": 0.05}),
        ("eps", 10, {"clip_eps": None}),
        ("beta", 100, {"kl_coef": 1.0}),
    ],
)
def test_every_slider_changes_the_run_as_it_says(tab: Tab, name: str, place: int, changed: dict[str, Any]) -> None:
    base = {"k": 4} if name == "eps" else {}  # with one update the clip changes nothing, and the page says so
    page = show(tab, address(seed=5, **base))
    move(page, name, place)
    assert re.search(r" → .+: .*the run starts anew with seed 5\.", status(page))
    press(page, "Run 50 steps")
    before = replace(DEFAULT, inner_steps=4) if base else DEFAULT
    expected = simulate(replace(before, **changed), seeds=[5], steps=50)
    unchanged = simulate(before, seeds=[5], steps=50)
    assert policy(page) == pytest.approx(expected.probabilities[0, -1], abs=5.1e-4)
    if (name, place) != ("eps", 10):
        assert np.abs(expected.probabilities[0, -1] - unchanged.probabilities[0, -1]).max() > 1e-3
    assert number(readout(page, "Clip fraction")) == pytest.approx(100 * expected.clip_fraction[0, -1], abs=0.51)


@pytest.mark.parametrize(
    ("name", "option", "changed"),
    [
        ("reward", "double", {"reward_table": simulation.double_peak()}),
        ("reward", "linear", {"reward_table": tuple(action / 10 for action in range(1, 11))}),
        ("start", "biased", {"start_action": 3, "start_logit": 3.0}),
        ("std", "sample", {"correction": 1}),
        ("std", "none", {"divide_by_std": False}),
    ],
)
def test_every_choice_changes_the_run_as_it_says(tab: Tab, name: str, option: str, changed: dict[str, Any]) -> None:
    page = show(tab, address(seed=6))
    setting(page, name).select_option(option)
    press(page, "Run 50 steps")
    expected = simulate(replace(DEFAULT, **changed), seeds=[6], steps=50)
    assert policy(page) == pytest.approx(expected.probabilities[0, -1], abs=5.1e-4)
    best = int(np.argmax(changed.get("reward_table", DEFAULT.reward_table)))
    assert f"π({best + 1})" in status(page)
    assert setting(page, "peak").is_visible() == (name != "reward")
    assert setting(page, "bump").is_visible() == (name == "start")


def test_a_biased_start_begins_where_its_logit_says(tab: Tab) -> None:
    page = show(tab, address(start="biased", bump=5, reward="double", seed=1, steps=100))
    expected = math.exp(5) / (math.exp(5) + 9)
    assert number(rows(page, "Policy: probability and reward")[2][2]) == pytest.approx(expected, abs=5.1e-4)


def test_one_step_tells_all_its_arithmetic(tab: Tab) -> None:
    page = show(tab, address(seed=11, k=4, eps=0.05, lr=1))
    press(page, "One step")
    expected = simulate(replace(DEFAULT, inner_steps=4, clip_eps=0.05, lr=1.0), seeds=[11], steps=1)
    actions = expected.actions[0, 0]
    rewards = np.array(DEFAULT.reward_table)[actions]
    advantages = simulation.group_advantages(rewards[None])[0]
    page.locator("grpo-simulation summary", has_text="Step detail").click()
    samples = rows(page, "Samples of the last group")
    after = expected.probabilities[0, 1, actions]
    assert [int(row[1]) for row in samples] == list(actions + 1)
    for column, values in {2: rewards, 3: advantages, 4: np.full(8, 0.1), 5: after, 6: after / 0.1}.items():
        digits = 5.1e-3 if column == 2 else 5.1e-4
        assert [number(row[column]) for row in samples] == pytest.approx(list(values), abs=digits)
    binds = [row[7] == "binds" for row in samples]
    assert np.mean(binds) == expected.clip_fraction[0, 0] > 0
    facts = page.get_by_label("Step detail").locator("p").nth(1).inner_text()
    assert f"mean reward {rewards.mean():.3f}, standard deviation {rewards.std():.3f}, sum of advantages 0.000" in facts
    assert len(rows(page, "The updates with this group")) == 4
    changes = [number(row[3].strip("▲▼ ")) for row in rows(page, "Change of the policy")]
    assert changes == pytest.approx(expected.probabilities[0, 1] - 0.1, abs=5.1e-4)
    gains = expected.probabilities[0, 1] - 0.1
    assert re.findall(r"\d+ \(.*?points\) \w+", status(page)) == [
        f"{gains.argmax() + 1} ({100 * gains.max():+.1f} points) gains",
        f"{gains.argmin() + 1} ({100 * gains.min():+.1f} points) loses".replace("-", "\N{MINUS SIGN}"),
    ]
    flow = page.locator(".grpo-flow").inner_text()
    assert " ".join(map(str, actions + 1)) in flow and f"mean {rewards.mean():.3f}" in flow


def test_one_update_needs_no_table_of_updates(tab: Tab) -> None:
    page = show(tab, address(seed=11, steps=1))
    page.locator("grpo-simulation summary", has_text="Step detail").click()
    page.get_by_text("Samples of the last group").wait_for()
    assert not page.get_by_text("The updates with this group").is_visible()


def test_a_group_of_one_learns_nothing_and_the_page_says_why(tab: Tab) -> None:
    page = show(tab, address(seed=2))
    note = page.get_by_text("Why not 1?")
    assert not note.is_visible()
    move(page, "g", 0)
    assert note.is_visible()
    press(page, "Run 50 steps")
    assert policy(page) == [0.1] * 10
    assert readout(page, "Groups without signal") == "50 of 50"


def test_the_clip_is_said_to_be_idle_with_one_update(tab: Tab) -> None:
    page = show(tab, address(seed=2))
    note = page.get_by_text("With one inner update every ratio is 1")
    assert not note.is_visible(), "nobody has moved it"
    move(page, "eps", 0)
    assert note.is_visible()
    press(page, "Try 4")
    assert setting(page, "k").evaluate("node => node.value") == "3"
    assert not note.is_visible()
    assert setting(page, "k").evaluate("node => node === document.activeElement")
    assert query(page) == {"seed": "2", "k": "4", "eps": "0.05"}


def test_a_locked_seed_repeats_and_an_unlocked_one_does_not(tab: Tab) -> None:
    page = show(tab, address(seed=7))
    press(page, "Run 50 steps")
    first = policy(page)
    setting(page, "lock").check()
    press(page, "Reset")
    assert (readout(page, "Steps"), policy(page)) == ("0", [0.1] * 10)
    press(page, "Run 50 steps")
    assert policy(page) == first
    setting(page, "lock").uncheck()
    seeds = {7}
    for _ in range(3):
        press(page, "Reset")
        seeds.add(int(setting(page, "seed").input_value()))
    assert len(seeds) >= 3
    press(page, "New seed")
    assert int(setting(page, "seed").input_value()) == int(query(page)["seed"])


def test_a_typed_seed_is_used_and_a_senseless_one_is_not(tab: Tab) -> None:
    page = show(tab, address(seed=7))
    for typed, used in (("42", "42"), ("", "42"), ("-3", "0"), ("99999999", "999999")):
        setting(page, "seed").fill(typed)
        setting(page, "seed").press("Enter")
        assert setting(page, "seed").input_value() == used
    assert query(page)["seed"] == "999999"


def test_the_address_brings_back_the_run(tab: Tab) -> None:
    page = show(tab, address(seed=3))
    setting(page, "reward").select_option("double")
    setting(page, "start").select_option("biased")
    setting(page, "std").select_option("none")
    for name, place in {"g": 5, "lr": 6, "k": 2, "eps": 10, "beta": 30, "bump": 4}.items():
        move(page, name, place)
    setting(page, "lock").check()
    setting(page, "n").fill("30")
    setting(page, "n").press("Enter")
    press(page, "Run 30 steps")
    press(page, "One step")
    before = (policy(page), readout(page, "KL from the start"), query(page))
    again = load(tab, f"{PAGE}?{urlsplit(page.url).query}", unchanged=True)
    assert (policy(again), readout(again, "KL from the start"), query(again)) == before
    assert query(again) == {
        **{"seed": "3", "lock": "1", "n": "30", "steps": "31", "reward": "double", "start": "biased", "bump": "2"},
        **{"g": "32", "lr": "0.3", "k": "3", "eps": "off", "beta": "0.3", "std": "none"},
    }


@pytest.mark.parametrize(
    "bad", ["g=banana", "g=", "lr=-1", "lr=1e999", "seed=1.5", "seed=-1", "steps=1e9", "reward=x", "n=0"]
)
def test_a_senseless_address_gives_a_working_page(tab: Tab, bad: str) -> None:
    page = show(tab, f"{PAGE}?sim.{bad}&sim.%3Cscript%3E=1")
    press(page, "One step")
    assert readout(page, "Steps") == "1"
    assert sum(policy(page)) == pytest.approx(1, abs=0.006)


def test_examples_set_and_defaults_clear_the_settings(tab: Tab) -> None:
    page = show(tab, address(seed=3))
    press(page, "Local optimum")
    assert query(page) == {"seed": "3", "reward": "double", "start": "biased", "lr": "0.3", "g": "4"}
    press(page, "Run 50 steps")
    assert number(rows(page, "Policy: probability and reward")[2][2]) == pytest.approx(0.69, abs=0.005)
    press(page, "Defaults")
    assert query(page) == {"seed": "3"}


def test_the_first_step_past_one_half_is_marked(tab: Tab) -> None:
    page = show(tab, address(seed=9, steps=50))
    best = simulate(DEFAULT, seeds=[9], steps=50).probabilities[0, :, 6]
    half = int(np.argmax(best > 0.5))
    assert f"step {half}: π(7) > 0.5" in page.get_by_label("Training history").first.text_content()
    press(page, "Run 50 more")
    assert f"π(7) passed 0.5 in step {half}." in status(page)


def test_a_single_step_of_the_history_can_be_read_by_keyboard(tab: Tab) -> None:
    page = show(tab, address(seed=9, steps=50))
    expected = simulate(DEFAULT, seeds=[9], steps=50)
    reader = page.get_by_label("Read step")
    reader.focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    said = page.get_by_text("After step 30:").inner_text()
    assert f"π(7) {expected.probabilities[0, 30, 6]:.3f}" in said
    assert f"mean reward of the group {expected.mean_reward[0, 29]:.3f}" in said
    assert f"entropy H {expected.entropy[0, 30]:.3f}" in said


def test_curves_can_be_hidden(tab: Tab) -> None:
    page = show(tab, address(seed=9, steps=50))
    history = page.get_by_label("Training history").first
    lines = history.locator("svg path[class^=line-]")
    assert lines.count() == 5
    history.get_by_label("max π").uncheck()
    assert lines.count() == 4
    assert history.locator("path.line-second").count() == 0


def test_a_run_moves_can_be_paused_and_is_handed_on_whole(open_page: PageOpener) -> None:
    page = open_page(address(seed=4, n=12), reduced_motion="no-preference")
    widget = page.locator("grpo-simulation")
    press(page, "Run 12 steps")
    assert status(page) == "Running 12 steps. Press Pause to stop."
    assert page.locator("grpo-simulation [role=status]").get_attribute("aria-live") == "off"
    page.wait_for_function("document.querySelector('grpo-simulation').time > 0.3")
    setting(page, "lock").check()  # does not end the run, so the button stays
    press(page, "Pause")
    still = "node => [node.time, node.querySelector('.grpo-board > svg').innerHTML]"
    before = widget.evaluate(still)
    assert 0 < before[0] < 12
    page.wait_for_timeout(200)
    assert widget.evaluate(still) == before
    assert query(page)["steps"] == "12", "the address is that of the run, and not of the moment"
    press(page, "Send to worksheet")
    assert "Sent: seed 4, 12 steps." in status(page)
    assert readout(page, "Steps") == "12", "what is sent is shown"
    assert policy(page) == pytest.approx(simulate(DEFAULT, seeds=[4], steps=12).probabilities[0, -1], abs=5.1e-4)
    press(page, "Reset")
    press(page, "Run 12 steps")
    press(page, "Send to worksheet")
    page.get_by_role("radio", name=re.compile("^20")).check(force=True)
    press(page, "Run 12 more")
    page.get_by_text("After 24 steps").wait_for()
    runs = page.evaluate("JSON.parse(localStorage.getItem('grpo-runs-v1'))")
    assert [(run["seed"], run["steps"]) for run in runs] == [(4, 12)], "the same run, sent twice"


def test_a_run_goes_on_and_says_where_it_is_while_a_phone_shows_its_curves(open_page: PageOpener) -> None:
    page = open_page(address(seed=4, n=400), reduced_motion="no-preference")
    page.set_viewport_size({"width": 390, "height": 500})
    page.get_by_role("radio", name=re.compile("^20")).check(force=True)
    press(page, "Run 400 steps")
    page.get_by_label("Training history").first.evaluate("node => node.scrollIntoView({ behavior: 'instant' })")
    assert page.locator(".grpo-board").evaluate("node => node.getBoundingClientRect().bottom") < 0
    now = page.locator("grpo-simulation").evaluate("node => node.time")
    page.wait_for_function("now => document.querySelector('grpo-simulation').time > now + 2", arg=now)
    assert re.fullmatch(r"Step \d+ of 400: π\(7\) is 0\.\d{3}\.", status(page))


def test_a_step_is_a_film_samples_fall_take_sides_and_move_the_bars(tab: Tab) -> None:
    page = show(tab, address(seed=4, steps=1))
    expected = simulate(DEFAULT, seeds=[4], steps=1)
    rewards = np.array(DEFAULT.reward_table)[expected.actions[0, 0]]
    above = rewards > rewards.mean()
    picture = """(node, time) => { node.time = time; node.draw();
      const bars = [...node.querySelectorAll(".grpo-board path.bar:not(.up, .down, .flat)")]
        .map(each => each.getBBox().height);
      const samples = [...node.querySelectorAll(".grpo-board path:is(.up, .down)")].map(each =>
        [each.classList[1], Number(each.getAttribute("opacity")), each.getBBox().y]);
      return { bars, samples }; }"""
    moments = [page.locator("grpo-simulation").evaluate(picture, time) for time in (0.01, 0.3, 0.64, 1)]
    early, fallen, sided, end = moments
    assert all(was < now for (_, _, was), (_, _, now) in zip(early["samples"][1:], fallen["samples"][1:], strict=True))
    assert [opacity for _, opacity, _ in fallen["samples"]] == [0] * 8, "still plain"
    assert [(side, opacity) for side, opacity, _ in sided["samples"]] == [
        ("up" if each else "down", 1) for each in above
    ]
    high = early["bars"][0] / 0.1  # pixels of a probability of 1
    assert fallen["bars"] == sided["bars"] == pytest.approx([0.1 * high] * 10, abs=0.2), "the policy that drew them"
    assert end["bars"] == pytest.approx(high * expected.probabilities[0, 1], abs=0.2)


def test_the_run_before_stays_as_a_ghost_and_what_changed_is_said(tab: Tab) -> None:
    page = show(tab, address(seed=3))
    ghost = page.locator("grpo-simulation path.ghost-line")
    pale = page.locator("grpo-simulation rect.pale[opacity='1']")
    expected = simulate(DEFAULT, seeds=[7], steps=50).probabilities[0, -1, 6]
    assert f"a finished run, seed 7, in which action 7 reached {expected:.0%}"[:-1] in status(page)
    assert (ghost.count(), pale.count()) == (1, 10)
    press(page, "Run 50 steps")
    finished = page.locator("grpo-simulation path.line-first").first.get_attribute("d")
    move(page, "g", 2)
    assert status(page) == "Group size G 8 → 4: each step draws 4 samples and the run starts anew with seed 3."
    assert ghost.get_attribute("d") == finished
    assert "the run before, Group size G 8, seed 3" in page.locator(".grpo-keys").inner_text()
    drag = "(node, places) => places.forEach(at => { node.value = at; node.dispatchEvent(new Event('input')); })"
    setting(page, "g").evaluate(drag, [3, 4, 5])
    assert status(page).startswith("Group size G 4 → 32: "), "from where the slider was taken"
    move(page, "g", 1)
    assert ghost.get_attribute("d") == finished, "a run without steps leaves none"
    assert show(tab, address(seed=3, ghost="off")).locator("grpo-simulation path.ghost-line").count() == 0


def test_one_step_is_not_called_steps(tab: Tab) -> None:
    page = show(tab, address(seed=3, n=1))
    press(page, "Run 1 step")
    assert status(page).startswith("Step 1:")
    press(page, "Send to worksheet")
    assert "1 step. The worksheet now has 1 run " in status(page)


def test_a_run_and_a_moving_slider_write_the_address_once(tab: Tab) -> None:
    page = load(tab, address(seed=4, n=12))
    page.evaluate(
        """() => { window.writes = 0; const write = history.replaceState.bind(history);
          history.replaceState = (...given) => { window.writes += 1; write(...given); }; }"""
    )
    setting(page, "beta").evaluate(
        """node => { for (let place = 1; place <= 50; place++) {
          node.value = place; node.dispatchEvent(new Event("input")); } node.dispatchEvent(new Event("change")); }"""
    )
    assert page.evaluate("window.writes") == 1
    page.emulate_media(reduced_motion="no-preference")
    page.get_by_role("radio", name=re.compile("^20")).check(force=True)
    press(page, "Run 12 steps")
    page.get_by_text("After 12 steps").wait_for()
    assert page.evaluate("window.writes") == 2
    assert (query(page)["beta"], query(page)["steps"]) == ("0.5", "12")


def test_a_browser_that_refuses_to_write_the_address_stops_nothing(tab: Tab) -> None:
    page = load(tab, address(seed=4))
    page.evaluate("() => { history.replaceState = () => { throw new DOMException('too often', 'SecurityError'); }; }")
    press(page, "Run 50 steps")
    assert readout(page, "Steps") == "50"


def test_the_pointer_reads_a_step_and_goes_there_when_pressed(tab: Tab) -> None:
    page = show(tab, address(seed=9, steps=50))
    chart = page.get_by_label("Training history").first.locator("svg.grpo-chart[height]").last
    chart.hover(position={"x": 60, "y": 40})
    said = page.get_by_label("Training history").first.locator(".grpo-readout")
    step = int(re.findall(r"After step (\d+):", said.inner_text())[0])
    assert 0 < step < 25
    assert readout(page, "Steps") == "50"
    chart.click(position={"x": 60, "y": 40})
    assert (readout(page, "Steps"), page.get_by_label("Read step").input_value()) == (str(step), str(step))
    assert status(page).startswith(f"Step {step}: ")
    expected = simulate(DEFAULT, seeds=[9], steps=50).probabilities[0, step]
    assert policy(page) == pytest.approx(expected, abs=5.1e-4)
    press(page, "Play to step 50")
    assert readout(page, "Steps") == "50"


def test_only_tables_that_scroll_are_stops_of_the_tab_key(tab: Tab) -> None:
    page = show(tab, address(seed=9, steps=50))
    page.get_by_text("Policy as a table").click()
    open_history(page)
    page.evaluate(SETTLED)  # sizes are looked at in the next frame
    scroller = "node => node.closest('.grpo-scroll').tabIndex"
    assert page.get_by_role("table", name="Training history").evaluate(scroller) == 0
    assert page.get_by_role("table", name="Policy: probability").evaluate(scroller) == -1


def test_without_motion_nothing_moves(tab: Tab) -> None:
    page = show(tab, address(seed=4))
    page.evaluate(
        """() => { window.pictures = 0; new MutationObserver(() => { window.pictures += 1; })
          .observe(document.querySelector(".grpo-board > svg"), { subtree: true, attributes: true }); }"""
    )
    press(page, "One step")
    press(page, "Run 50 more")
    assert readout(page, "Steps") == "51"
    page.wait_for_timeout(200)
    assert page.evaluate("window.pictures") <= 2, "one picture for each press"
    assert page.evaluate("document.getAnimations().length") == 0


def test_a_run_has_an_end(tab: Tab) -> None:
    page = show(tab, address(seed=4, steps=2000))
    press(page, "One step")
    assert "A run ends after 2000 steps" in status(page)
    assert readout(page, "Steps") == "2000"


def test_the_history_is_downloaded_with_every_digit(tab: Tab, tmp_path: Path) -> None:
    page = show(tab, address(seed=13, k=4, eps=0.05, steps=60))
    with page.expect_download() as waiting:
        press(page, "Download CSV")
    file = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(file)
    assert file.name == "bandit-history-seed-13.csv"
    with file.open(encoding="utf-8", newline="") as text:
        table = list(csv.DictReader(text))
    expected = simulate(replace(DEFAULT, inner_steps=4, clip_eps=0.05), seeds=[13], steps=60)
    assert [int(row["step"]) for row in table] == list(range(61))
    columns = {
        "best_probability": expected.probabilities[0, :, 6],
        "entropy": expected.entropy[0],
        "kl": expected.kl[0],
    }
    for name, values in columns.items():
        assert [float(row[name]) for row in table] == pytest.approx(list(values), abs=1e-9)
    groups = {
        "mean_reward": expected.mean_reward[0],
        "clip_fraction": expected.clip_fraction[0],
        "zero_signal": expected.zero_signal[0].astype(float),
    }
    for name, values in groups.items():
        assert table[0][name] == ""
        assert [float(row[name]) for row in table[1:]] == pytest.approx(list(values), abs=1e-9)


def test_the_link_is_copied(tab: Tab) -> None:
    page = show(tab, address(seed=13, steps=5))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(page, "Copy link")
    page.get_by_text("Link copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_a_run_is_sent_to_the_worksheet(tab: Tab) -> None:
    page = show(tab, address(seed=13))
    press(page, "Send to worksheet")
    assert "no run to send" in status(page)
    press(page, "Run 50 steps")
    press(page, "Send to worksheet")
    press(page, "Send to worksheet")
    assert "Sent: seed 13, 50 steps. The worksheet now has 1 run " in status(page)
    (run,) = page.evaluate("JSON.parse(localStorage.getItem('grpo-runs-v1'))")
    assert (run["seed"], run["steps"], run["settings"]["groupSize"]) == (13, 50, 8)


def test_a_browser_that_keeps_nothing_says_so_and_still_hands_the_run_on(tab: Tab) -> None:
    page = load(tab, address(seed=13, steps=50))
    page.evaluate(
        "() => { Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }; }"
    )
    press(page, "Send to worksheet")
    assert "cannot keep them for long" in status(page)
    page.get_by_role("link", name="Worksheet", exact=True).first.click()
    page.wait_for_selector("grpo-runs[data-ready]")
    page.get_by_role("button", name="Fill from sent runs").nth(1).click()
    page.wait_for_function("() => [...document.querySelectorAll('grpo-runs input')].some(node => node.value === '13')")


def test_everything_works_by_keyboard(tab: Tab) -> None:
    page = show(tab, address(seed=21))
    step = page.get_by_role("button", name="One step", exact=True)
    step.focus()
    page.keyboard.press("Enter")
    assert readout(page, "Steps") == "1"
    wanted = {"n", "Reset", "Send to worksheet", "reward", "peak", "g", "lr", "k", "eps", "beta", "std", "seed"}
    for _ in range(60):
        page.keyboard.press("Tab")
        wanted -= {
            page.evaluate(
                "(document.activeElement.dataset.setting ?? document.activeElement.ariaLabel) "
                "?? document.activeElement.textContent.trim().slice(0, 20)"
            )
        }
        if not wanted:
            break
    assert not wanted, "not reached by the Tab key"
    setting(page, "g").focus()
    page.keyboard.press("End")
    assert setting(page, "g").get_attribute("aria-valuetext") == "64"
    assert query(page)["g"] == "64"
    assert page.get_by_role("button", name="One step", exact=True).evaluate(
        "node => getComputedStyle(node).outlineStyle"
    )


def test_the_widget_survives_instant_navigation(tab: Tab) -> None:
    page = load(tab, "/")
    page.evaluate("window.stillHere = true")
    page.get_by_role("link", name="Simulation", exact=True).first.click()
    page.wait_for_selector("grpo-simulation[data-ready]")
    press(page, "Run 50 steps")
    assert readout(page, "Steps") == "50"
    shown = page.url
    page.get_by_role("link", name="Worksheet", exact=True).first.click()
    page.wait_for_url("**/worksheet/**")
    assert "sim." not in page.url
    page.go_back()
    page.wait_for_selector("grpo-simulation[data-ready]")
    assert (page.url, readout(page, "Steps")) == (shown, "50")
    assert page.evaluate("window.stillHere")
    assert page.locator("grpo-simulation .grpo-readouts").count() == 1


def test_without_scripts_the_page_says_how_to_see_the_same(read_without_scripts: Callable[[str], Any]) -> None:
    page = read_without_scripts(PAGE)
    text = page.locator("grpo-simulation").inner_text()
    assert "python -m starter.run_bandit" in text
    assert page.locator("grpo-comparison").is_visible()


def run_comparison(page: Any) -> None:
    """Presses the button and waits: the code of the results is loaded then."""
    press(page, "Run comparison (200 steps)")
    compared(page)


def compared(page: Any) -> None:
    page.locator("grpo-comparison [role=status]", has_text="Compared.").wait_for()


def comparison(page: Any) -> list[list[str]]:
    return rows(page, "Results after 200 steps", "grpo-comparison")


def expected_comparison(settings: Settings, seed: int) -> list[list[str]]:
    """The rows of the table, from the oracle."""
    found = []
    names = {"grpo": "GRPO", "reinforce": "REINFORCE", "reinforce_baseline": "REINFORCE + baseline"}
    for algorithm, name in names.items():
        runs = simulate(replace(settings, algorithm=algorithm), seeds=range(seed, seed + 20), steps=200)
        best = runs.probabilities[:, :, int(np.argmax(settings.reward_table))]
        first = {level: np.where((best > level).any(1), (best > level).argmax(1), 10_000) for level in (0.5, 0.9)}
        middle = [sorted(first[level])[9] for level in (0.5, 0.9)]
        shown = ["never" if step == 10_000 else str(step) for step in (first[0.9][0], *middle)]
        ends = best[:, -1]
        rising = (np.diff(runs.entropy) > 1e-9).mean()
        found.append([
            name, f"{runs.probabilities[0, -1].max():.3f}", shown[0],
            f"{ends.mean():.3f} ± {ends.std():.3f}", *shown[1:],
            f"{(ends > 0.5).mean():.0%}".replace("%", "\N{NO-BREAK SPACE}%"),
            f"{rising:.1%}".replace("%", "\N{NO-BREAK SPACE}%"),
        ])  # fmt: skip
    return found


def test_the_comparison_is_that_of_the_oracle(tab: Tab) -> None:
    page = show(tab, address(seed=40), COMPARISON)
    run_comparison(page)
    assert comparison(page) == expected_comparison(DEFAULT, 40)
    assert "GRPO, after" in status(page, "grpo-comparison")
    assert page.locator("grpo-comparison path.band").count() == 6
    runs = simulate(DEFAULT, seeds=range(40, 60), steps=200)
    curves = rows(page, "Curves: means over the seeds", "grpo-comparison")
    assert [int(row[0]) for row in curves] == list(range(0, 201, 20))
    largest = runs.probabilities.max(-1).mean(0)[::20]
    assert [number(row[1]) for row in curves] == pytest.approx(list(largest), abs=5.1e-4)
    assert [number(row[4]) for row in curves] == pytest.approx(list(runs.entropy.mean(0)[::20]), abs=5.1e-4)
    assert page.locator("grpo-comparison path:not(.band)").count() == 6


def test_the_comparison_uses_the_settings_above(tab: Tab) -> None:
    page = show(tab, address(seed=40, g=4, lr=0.3, std="none"), COMPARISON)
    run_comparison(page)
    settings = replace(DEFAULT, group_size=4, lr=0.3, divide_by_std=False)
    assert comparison(page) == expected_comparison(settings, 40)
    setting(page, "lock").check()  # changes nothing about a run
    assert "run the comparison again" not in status(page, "grpo-comparison")
    move(page, "g", 3)
    assert "run the comparison again" in status(page, "grpo-comparison")
    press(page, "Send comparison to worksheet")
    assert "run the comparison again" in status(page, "grpo-comparison")
    assert page.evaluate("localStorage.getItem('grpo-runs-v1')") is None
    move(page, "g", 2)
    press(page, "Send comparison to worksheet")
    assert "Sent" in status(page, "grpo-comparison")


def test_five_added_to_all_rewards_hurt_who_has_no_baseline(tab: Tab) -> None:
    page = show(tab, address(seed=40), COMPARISON)
    run_comparison(page)
    page.locator("grpo-comparison [data-setting=offset]").select_option("5")
    compared(page)
    table = comparison(page)
    plus_5 = replace(DEFAULT, reward_table=tuple(reward + 5 for reward in DEFAULT.reward_table))
    assert table == expected_comparison(plus_5, 40)
    found = [number(row[6]) for row in table]
    assert found[1] < found[2] <= found[0] == 100


def test_reinforce_may_draw_one_sample_and_the_left_chart_may_show_the_best(tab: Tab) -> None:
    page = show(tab, address(seed=40), COMPARISON)
    run_comparison(page)
    many = comparison(page)
    page.locator("grpo-comparison [data-setting=samples]").select_option("one")
    compared(page)
    one = comparison(page)
    assert one[0] == many[0] and one[1] != many[1]
    runs = simulate(replace(DEFAULT, algorithm="reinforce", group_size=1), seeds=range(40, 60), steps=200)
    assert one[1][3].startswith(f"{runs.probabilities[:, -1, 6].mean():.3f}")
    chart = page.locator("grpo-comparison path.line-second:not(.band)").first
    before = chart.get_attribute("d")
    page.locator("grpo-comparison [data-setting=measure]").select_option("best")
    assert chart.get_attribute("d") != before
    assert page.get_by_role("heading", name="Probability of action 7").is_visible()
    assert "cmp.measure=best" in page.url and "cmp.samples=one" in page.url


def test_the_comparison_can_be_sent_and_downloaded(tab: Tab, tmp_path: Path) -> None:
    page = show(tab, address(seed=40), COMPARISON)
    press(page, "Send comparison to worksheet")
    assert "nothing to send yet" in status(page, "grpo-comparison")
    run_comparison(page)
    press(page, "Send comparison to worksheet")
    runs = page.evaluate("JSON.parse(localStorage.getItem('grpo-runs-v1'))")
    assert [(run["settings"]["algorithm"], run["seed"], run["steps"]) for run in runs] == [
        ("grpo", 40, 200), ("reinforce", 40, 200), ("reinforce_baseline", 40, 200),
    ]  # fmt: skip
    with page.expect_download() as waiting:
        press(page, "Download comparison CSV")
    waiting.value.save_as(tmp_path / "comparison.csv")
    with (tmp_path / "comparison.csv").open(encoding="utf-8", newline="") as text:
        table = list(csv.DictReader(text))
    assert len(table) == 3 * 201
    expected = simulate(DEFAULT, seeds=range(40, 60), steps=200)
    last = next(row for row in table if row["algorithm"] == "grpo" and row["step"] == "200")
    assert float(last["entropy"]) == pytest.approx(expected.entropy[:, -1].mean(), abs=1e-9)
    assert float(last["best_probability"]) == pytest.approx(expected.probabilities[:, -1, 6].mean(), abs=1e-9)


def test_a_comparison_leaves_the_page_time_to_answer(tab: Tab) -> None:
    page = show(tab, address(seed=40, g=64, k=4), COMPARISON)
    run_comparison(page)  # its code is there now
    said = page.evaluate(
        """async () => {
          const status = document.querySelector("grpo-comparison [role=status]");
          const said = [];
          document.querySelector("grpo-comparison .grpo-primary").click();
          while (!status.textContent.startsWith("Compared.")) {
            said.push(status.textContent);
            await new Promise(resume => setTimeout(resume));
          }
          return said;
        }"""
    )
    assert len(said) > 5, "something else can happen meanwhile"
    assert {"Comparing …", "Comparing … 50\N{NO-BREAK SPACE}%"} <= set(said)


def test_a_later_comparison_takes_the_place_of_one_that_still_runs(tab: Tab) -> None:
    page = show(tab, address(seed=40, g=16), COMPARISON)
    run_comparison(page)
    said = page.evaluate(
        """() => {
          const [run, send] = document.querySelectorAll("grpo-comparison button");
          const samples = document.querySelector("grpo-comparison [data-setting=samples]");
          run.click();
          samples.value = "one";
          samples.dispatchEvent(new Event("change"));
          send.click();
          return document.querySelector("grpo-comparison [role=status]").textContent;
        }"""
    )
    assert "nothing to send yet" in said, "the table still shows the one before"
    compared(page)
    runs = simulate(replace(DEFAULT, algorithm="reinforce", group_size=1), seeds=range(40, 60), steps=200)
    assert comparison(page)[1][3].startswith(f"{runs.probabilities[:, -1, 6].mean():.3f}")


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_screen_holds_picture_and_controls_and_moves(open_page: PageOpener, screen: str) -> None:
    width, height = SCREENS[screen]
    page = open_page(address(seed=3), width=width, height=height, reduced_motion="no-preference")
    controls = [".grpo-run", ".grpo-round[aria-label='One step']", "[aria-label='Read step']", ".grpo-menu summary"]
    more = ["[data-setting=g]", "[data-setting=seed]"] if screen == "desktop" else [".grpo-opener"]
    for part in (".grpo-board > svg", ".grpo-board [role=status]", *controls, *more):
        box = page.locator(f"grpo-simulation {part}").bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= height, part
    picture = page.locator(".grpo-board > svg")
    before = picture.inner_html()
    assert page.locator(".grpo-board rect.pale[opacity='1']").count() == 10, "it opens on a finished run"
    press(page, "Run 50 steps")
    page.wait_for_function("before => document.querySelector('.grpo-board > svg').innerHTML !== before", arg=before)
    press(page, "Pause")
    if screen == "phone":
        check_the_sheet(page, height)


def check_the_sheet(page: Any, height: int) -> None:
    press(page, "Settings")
    sheet = page.locator(".grpo-panel")
    header = page.locator(".md-header").bounding_box()["height"]
    chart, top = page.locator(".grpo-board > svg").bounding_box(), sheet.bounding_box()["y"]
    assert header <= chart["y"] and chart["y"] + chart["height"] <= top < height - 200, "the picture stays in view"
    assert page.get_by_role("button", name="Pause").or_(page.locator(".grpo-run")).bounding_box()["y"] < top
    press_here = "button, summary, select, .grpo-option, .grpo-picks label, input:not([type=radio], [type=checkbox])"
    targets = page.locator(f"grpo-simulation :is({press_here}):visible")
    small = "all => all.filter(node => node.getBoundingClientRect().height < 44).map(node => node.outerHTML)"
    assert targets.evaluate_all(small) == []
    move(page, "g", 2)
    assert status(page) == "Group size G 8 → 4: each step draws 4 samples and the run starts anew with seed 3."
    setting(page, "g").focus()
    page.keyboard.press("Escape")
    assert not sheet.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Settings"


def test_the_menu_closes_by_escape_and_by_a_press_elsewhere(tab: Tab) -> None:
    page = show(tab, address(seed=3))
    menu, first = page.locator(".grpo-menu summary"), page.get_by_role("button", name="Copy link")
    menu.press("Enter")
    first.focus()
    page.keyboard.press("Escape")
    assert not first.is_visible()
    assert menu.evaluate("node => node === document.activeElement")
    menu.click()
    page.locator(".grpo-board > svg").click(position={"x": 5, "y": 5})
    assert not first.is_visible()


def test_the_first_key_behind_the_skip_link_is_the_button_that_runs(tab: Tab) -> None:
    page = load(tab, PAGE)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash && document.activeElement === document.body")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.classList.contains('grpo-run')")


def test_on_paper_stand_the_picture_the_seed_and_the_settings(tab: Tab) -> None:
    page = show(tab, address(seed=3, steps=14, beta=0.3))
    page.emulate_media(media="print")
    printed = page.locator("grpo-simulation .grpo-printed").inner_text()
    assert printed.startswith("Seed 3, 14 steps; Reward function Single peak;") and "KL weight β 0.30" in printed
    assert not page.locator("grpo-simulation :is(button, summary, input):visible").count()
    assert page.locator(".grpo-board > svg").is_visible()
    empty = page.locator("grpo-simulation").evaluate(
        "node => node.getBoundingClientRect().bottom - node.querySelector('.grpo-below').getBoundingClientRect().bottom"
    )
    assert empty < 40


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.proof)])
def test_colours_that_the_reader_has_chosen_are_kept(open_page: PageOpener, scheme: str) -> None:
    page = open_page(address(seed=3, steps=14), scheme=scheme, forced_colors="active", reduced_motion="reduce")
    page.get_by_label("Read step").press("ArrowLeft")
    foreign = page.evaluate(
        """() => {
          const probe = document.body.appendChild(document.createElement("i"));
          const color = name => { probe.style.color = name; return getComputedStyle(probe).color; };
          const known = ["Canvas", "CanvasText"].map(color);
          const marks = [...document.querySelectorAll("grpo-simulation .grpo-chart *")];
          return marks.flatMap(node => ["fill", "stroke"].map(name => [node, getComputedStyle(node)[name]]))
            .filter(([, color]) => color !== "none" && !known.includes(color))
            .map(([node, color]) => node.outerHTML.slice(0, 80) + " " + color);
        }"""
    )
    assert foreign == []


def test_a_term_shows_its_definition_without_a_mouse(tab: Tab) -> None:
    page = show(tab, PAGE)
    page.locator("a[data-preview]", has_text="Clipping").focus()
    tooltip = page.locator(".md-tooltip2--active")
    tooltip.wait_for()
    assert "ratio" in tooltip.inner_text()
