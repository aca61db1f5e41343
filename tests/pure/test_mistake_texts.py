"""The texts of the pages of common mistakes: current, complete, and with the numbers that were recorded."""

import json
from dataclasses import replace

from grader.commands.course import main
from grader.core import course
from grader.grading import vectors
from grader.workshop import mistakes
from grader.workshop.functions import read_modules
from grader.workshop.missing import missing

EXERCISES = [exercise.name for exercise in course.EXERCISES]


def test_the_pages_are_current(capsys):
    assert main(["dev", "mistakes", "--check"]) == 0, capsys.readouterr().out


def test_a_changed_page_is_stale(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(course, "ROOT", tmp_path)
    assert main(["dev", "mistakes"]) == 0
    page = tmp_path / "docs/mistakes/kl.md"
    page.write_text(page.read_text("utf-8") + "one line more\n", "utf-8")
    assert main(["dev", "mistakes", "--check"]) == 1
    assert "kl.md is stale: run `course dev mistakes`" in capsys.readouterr().out
    assert main(["dev", "mistakes"]) == 0
    assert main(["dev", "mistakes", "--check"]) == 0


def test_the_numbers_of_a_mistake_are_those_that_were_recorded():
    """Against the file itself, so that a wrong column cannot hide."""
    document = json.loads((course.exercise("clip").folder / "vectors.json").read_text("utf-8"))
    first = next(entry for entry in document["vectors"] if entry["check"] == "clip.the_four_corners_of_the_clip")
    text = mistakes.make("clip")
    compared = 0
    for name, observation in first["mistakes"].items():
        if len(observation.get("values") or []) != 4 or not all(isinstance(x, float) for x in observation["values"]):
            continue
        entry = text.split(f"attrs: {{id: clipped_surrogate-{name}}}", 1)[1].split("\n///\n", 1)[0]
        values = ", ".join(f"{value:.4g}" for value in observation["values"]).replace("-", "\u2212")
        assert f"| with this mistake | {values} |" in entry
        compared += 1
    assert compared >= 5


def test_every_mistake_of_the_course_shows_somewhere():
    for name in EXERCISES:
        text = mistakes.make(name)
        assert text.count("\nIt shows in: ") == sum(map(len, vectors.load(name)[1].values()))


def test_of_a_mistake_that_nothing_catches_the_page_claims_nothing_and_the_check_says_so(monkeypatch):
    recorded, known = vectors.load("kl")
    name = next(iter(known["kl_estimate"]))
    without = {
        check: [
            replace(each, mistakes={key: seen for key, seen in each.mistakes.items() if key != name}) for each in group
        ]
        for check, group in recorded.items()
    }
    monkeypatch.setattr(vectors, "load", lambda _: (without, known))
    entry = mistakes.make("kl").split(f"attrs: {{id: kl_estimate-{name}}}", 1)[1].split("\n///\n", 1)[0]
    assert entry.endswith("\n\nIt shows in no worked example.")
    (found,) = missing("kl", read_modules(course.MODEL_ANSWERS))
    assert f"no check catches {name} in a worked example; add one to a check of kl_estimate" in str(found)
