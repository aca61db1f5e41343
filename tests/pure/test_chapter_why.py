"""Chapter 1, why reinforcement learning: the numbers of the text, from the recorded runs and the reported scores."""

import json
import re

from page_text import numbers, says

from grader.core import course

TEXT = (course.ROOT / "docs/learn/why.md").read_text("utf-8")
RUNS = course.ROOT / "docs/assets/runs"
SCORES = {  # table 5 of arXiv:2402.03300, rows Instruct and RL, in words
    "GSM8K": (82.9, 88.2), "MATH": (46.8, 51.7), "MGSM-zh": (73.2, 79.6), "CMATH": (84.6, 88.8),
}  # fmt: skip


def points(run):
    """The checkpoints of a recorded run, from its own file."""
    return json.loads((RUNS / f"charlm-{run}/samples.json").read_text("utf-8"))["points"]


def rewarded(point):
    return sum(sample["reward"] > 0 for sample in point["samples"])


def test_w01_samples_in_the_text_are_those_of_the_recorded_run():
    chosen = [points("arithmetic")[place] for place in (0, 1, 2, 10)]
    assert [point["step"] for point in chosen] == [0, 15, 30, 150]
    prompts = re.findall(r"^\| `(\d\+\d=)` \|", TEXT, re.M)
    assert len(prompts) == 5
    for prompt in prompts:
        found = [next(each for each in point["samples"] if each["prompt"] == prompt) for point in chosen]
        cells = " | ".join(f"`{each['text']}` {'✓' if each['reward'] else '✗'}" for each in found)
        assert f"| `{prompt}` | {cells} |" in TEXT
    says(
        TEXT,
        " | ".join(str(rewarded(point)) for point in chosen),
        " | ".join(format(point["exact"], ".3f") for point in chosen),
    )


def test_w23_scores_and_gains_in_the_text_are_those_of_the_paper():
    for test, (before, after) in SCORES.items():
        gone = 100 * (after - before) / (100 - before)
        assert f"| {test} | {before:.1f} % | {after:.1f} % | +{after - before:.1f} | {gone:.0f} % |" in TEXT
    before, after = SCORES["MGSM-zh"]
    solved = [round(2.5 * score, 6) for score in (before, after)]  # percent of 250 questions
    assert all(count.is_integer() for count in solved)
    says(TEXT, f"{after - before:.1f}", f"{solved[1] - solved[0]:.0f} of 250")
    for stage, place in (("2. Supervised fine-tuning (SFT)", 0), ("3. Reinforcement learning", 1)):
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| {stage} |"))
        assert numbers(row.split("|", 3)[3])[-2:] == [SCORES["GSM8K"][place], SCORES["MATH"][place]]
