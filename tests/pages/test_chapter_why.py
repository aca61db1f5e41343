"""Chapter 1, why reinforcement learning: recorded samples, reported scores, and the numbers of the text."""

import csv
import json
import re

import pytest
from explorables import Explorable, numbers
from tab import Tab

from grader.core import course

PATH = "/learn/why/"
TEXT = (course.ROOT / "docs/learn/why.md").read_text("utf-8")
RUNS = course.ROOT / "docs/assets/runs"
SCORES = {  # table 5 of arXiv:2402.03300, rows Instruct and RL, in words
    "GSM8K": (82.9, 88.2),
    "MATH": (46.8, 51.7),
    "MGSM-zh": (73.2, 79.6),
    "CMATH": (84.6, 88.8),
}


def points(run):
    """The checkpoints of a recorded run, from its own file."""
    return json.loads((RUNS / f"charlm-{run}/samples.json").read_text("utf-8"))["points"]


def rewarded(point):
    return sum(sample["reward"] > 0 for sample in point["samples"])


def shown_text(sample):
    """An addition is shown with its prompt; the pizza runs have only one."""
    return sample["text"] if sample["prompt"] == "ravin likes " else sample["prompt"] + sample["text"]


def shown_samples(figure):
    """The texts and rewards in the table, in the order of the samples."""
    rows = figure.table("What it writes")
    halves = [[row[1:3] for row in rows], [row[3:5] for row in rows]]
    return [(text, numbers(reward)[0], "\u2713" in reward) for half in halves for text, reward in half]


@pytest.mark.parametrize("run", ["arithmetic", "pizza", "pizza-kl"])
def test_w01_shows_what_the_recorded_run_wrote_at_each_checkpoint(open_figure, run):
    recorded = points(run)
    figure = open_figure(f"{PATH}?emergence.run={run}", "grpo-emergence")
    for place in (0, 2, 10):
        figure.slide("Training", f"{10 * place}\u00a0% done")
        point = recorded[place]
        expected = [(shown_text(each), each["reward"], each["reward"] > 0) for each in point["samples"]]
        assert shown_samples(figure) == expected
        assert numbers(figure.status)[:3] == [point["step"], recorded[-1]["step"], rewarded(point)]
        assert f"{point['exact']:.3f}" in figure.status
    assert figure.column(1, "Checkpoints") == [round(point["exact"], 3) for point in recorded]
    assert figure.column(2, "Checkpoints") == [rewarded(point) for point in recorded]


@pytest.fixture(scope="module")
def tab_with_a_clock(browser, site):
    tab = Tab(browser, site)
    tab.page.clock.install()
    yield tab
    tab.page.context.close()
    assert tab.problems == []


@pytest.fixture
def open_player(tab_with_a_clock):
    """Shows the figure that can play; `page.clock.run_for(milliseconds)` makes time pass."""
    return lambda address: Explorable(tab_with_a_clock.show(address, "grpo-emergence"), "grpo-emergence")


MINUTE = 60_000


def test_w01_plays_when_it_is_asked_to_and_stops_at_the_end(open_player):
    figure = open_player(f"{PATH}?emergence.at=80")
    slider = figure.node.get_by_role("slider", name="Training", exact=True)
    figure.page.clock.run_for(MINUTE)
    assert slider.input_value() == "8", "it plays although nobody pressed Play"
    figure.press("Play")
    figure.page.clock.run_for(MINUTE)
    assert slider.input_value() == "10"
    assert figure.node.get_by_role("button", name="Play", exact=True).count() == 1
    assert "Step 150 of 150" in figure.status


def play_one_step(figure):
    figure.press("Play")
    slider = figure.node.locator("input[type=range]")
    while slider.input_value() == "0":
        figure.page.clock.run_for(100)
    assert slider.input_value() == "1"


def test_w01_pauses(open_player):
    figure = open_player(PATH)
    play_one_step(figure)
    figure.press("Pause")
    before = figure.state
    figure.page.clock.run_for(MINUTE)
    assert figure.state == before and "Step 15 of 150" in figure.status


def test_w01_stops_playing_when_another_control_is_used(open_player):
    figure = open_player(PATH)
    first = figure.state
    play_one_step(figure)
    figure.press("Reset")
    assert figure.node.get_by_role("button", name="Play", exact=True).count() == 1
    figure.page.clock.run_for(MINUTE)
    assert figure.state == first


def test_w01_samples_in_the_text_are_those_of_the_recorded_run():
    chosen = [points("arithmetic")[place] for place in (0, 1, 2, 10)]
    assert [point["step"] for point in chosen] == [0, 15, 30, 150]
    prompts = re.findall(r"^\| `(\d\+\d=)` \|", TEXT, re.M)
    assert len(prompts) == 5
    for prompt in prompts:
        found = [next(each for each in point["samples"] if each["prompt"] == prompt) for point in chosen]
        cells = " | ".join(f"`{each['text']}` {'✓' if each['reward'] else '✗'}" for each in found)
        assert f"| `{prompt}` | {cells} |" in TEXT
    assert f"that are right | {' | '.join(str(rewarded(point)) for point in chosen)} |" in TEXT
    assert f"mean over all prompts | {' | '.join(format(point['exact'], '.3f') for point in chosen)} |" in TEXT


def test_w01_what_there_is_to_notice_is_true():
    start, early, later, end = (points("arithmetic")[place] for place in (0, 1, 2, 10))
    exact = [f"{point['exact']:.3f}" for point in (start, later, end)]
    assert (
        "rises from {} to {} in the first 30 of 150 steps. The other 120 steps bring it to {}.".format(*exact) in TEXT
    )
    seven = [next(each for each in point["samples"] if each["prompt"] == "7+1=") for point in (early, later)]
    assert [each["reward"] for each in seven] == [1, 0] and seven[1]["text"] == "9."
    pizza = points("pizza")
    assert all(rewarded(point) == 16 for point in pizza if point["step"] >= 8)
    assert rewarded(next(point for point in pizza if point["step"] == 4)) < 16
    assert f"stops at {points('pizza-kl')[-1]['exact']:.3f}." in TEXT
    with (RUNS / "charlm-arithmetic/metrics.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 150


def test_w23_scores_and_gains_in_the_text_are_those_of_the_paper():
    for test, (before, after) in SCORES.items():
        gone = 100 * (after - before) / (100 - before)
        assert f"| {test} | {before:.1f} % | {after:.1f} % | +{after - before:.1f} | {gone:.0f} % |" in TEXT
    assert "31 % are gone on GSM8K and 9 % on MATH" in TEXT
    assert max(SCORES, key=lambda test: SCORES[test][1] - SCORES[test][0]) == "MGSM-zh"
    before, after = SCORES["MGSM-zh"]
    solved = [round(2.5 * score, 6) for score in (before, after)]  # percent of 250 questions
    assert all(count.is_integer() for count in solved)
    assert f"{after - before:.1f} points are {solved[1] - solved[0]:.0f} of 250 questions" in TEXT
    for stage, place in (("2. Supervised fine-tuning (SFT)", 0), ("3. Reinforcement learning", 1)):
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| {stage} |"))
        assert numbers(row.split("|", 3)[3])[-2:] == [SCORES["GSM8K"][place], SCORES["MATH"][place]]
