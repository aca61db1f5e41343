"""The texts of the pages of common mistakes: current, complete, and with the numbers that were recorded."""

import json

from grader.commands.course import main
from grader.core import course
from grader.grading import vectors
from grader.workshop import mistakes

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


def test_every_mistake_shows_somewhere_or_says_that_it_does_not():
    for name in EXERCISES:
        text = mistakes.make(name)
        assert text.count("\nIt shows in") == sum(map(len, vectors.load(name)[1].values()))
