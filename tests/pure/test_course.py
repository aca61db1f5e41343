"""The course hangs together: every exercise has all its pieces."""

import json

import pytest
from handouts import untouched_handout

from grader.core import course
from grader.workshop.functions import read_modules
from grader.workshop.missing import missing


@pytest.mark.parametrize("name", course.names(drafts=True))
def test_nothing_is_missing_of_an_exercise(name):
    draft = course.exercise(name).draft
    sentences = missing(name, read_modules(course.MODEL_ANSWERS, course.STARTER))
    assert [str(each) for each in sentences if not (draft and each.only_for_release)] == []


def test_the_grader_of_a_handout_has_given_code_of_its_own(tmp_path, monkeypatch):
    root = untouched_handout(tmp_path)
    changed = root / "starter" / "given" / "bandit_task.py"
    changed.write_text("LENGTH = 1\n", "utf-8")
    monkeypatch.setattr(course, "GRADER", root / "course" / "grader")
    monkeypatch.setattr(course, "STARTER", root / "starter")
    assert course.given_files.__wrapped__() == course.given_files()


def test_the_page_of_charlm_has_the_numbers_of_the_recorded_runs():
    page = (course.ROOT / course.exercise("charlm").page).read_text("utf-8")
    rows = {
        "pizza, as above": "pizza",
        "pizza, `--level token`": "pizza-token",
        "pizza, `--ratio-level sequence`": "pizza-sequence",
        "pizza, `--kl-coef 1`": "pizza-kl",
        "additions": "arithmetic",
    }
    for label, name in rows.items():
        points = json.loads((course.RUNS / f"charlm-{name}" / "samples.json").read_text("utf-8"))["points"]
        numbers = " | ".join(f"{points[place]['exact']:.3f}" for place in (0, 2, -1))
        assert f"| {label} | {numbers} |" in page
    *_, last = (course.RUNS / "charlm-arithmetic-10-seeds.csv").read_text("utf-8").splitlines()
    _, mean, lowest, _ = map(float, last.split(","))
    assert f"{mean:.3f} on average" in page and f"{lowest:.3f}" in page
