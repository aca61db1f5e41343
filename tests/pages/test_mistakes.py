"""The pages of common mistakes: every misconception, in the words of the report, where the report leads."""

import json

import pytest

from grader import course, mistakes, vectors
from grader.catalogue import misconceptions
from grader.course_command import main

EXERCISES = [exercise.name for exercise in course.EXERCISES]


def test_the_pages_are_current(capsys):
    assert main(["mistakes", "--check"]) == 0, capsys.readouterr().out


def test_a_changed_page_is_stale(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(course, "ROOT", tmp_path)
    assert main(["mistakes"]) == 0
    page = tmp_path / "docs/mistakes/kl.md"
    page.write_text(page.read_text("utf-8") + "one line more\n", "utf-8")
    assert main(["mistakes", "--check"]) == 1
    assert "kl.md is stale: run `course mistakes`" in capsys.readouterr().out
    assert main(["mistakes"]) == 0
    assert main(["mistakes", "--check"]) == 0


@pytest.mark.parametrize("name", EXERCISES)
def test_every_misconception_opens_at_its_own_place(open_page, name):
    page = open_page(f"/mistakes/{name}/", java_script_enabled=False)
    shown = dict(
        page.evaluate(
            """() => [...document.querySelectorAll("article details")]
              .map(node => [node.id, node.querySelector("summary").textContent.trim()])"""
        )
    )
    wanted = {f"{entry.function}-{entry.name}": entry.sentence for entry in misconceptions(name)}
    assert shown.keys() == wanted.keys()
    for anchor, sentence in wanted.items():
        assert shown[anchor].lower() == sentence.replace("`", "").lower()


def test_the_place_to_which_a_report_leads_is_opened(open_page):
    page = open_page("/mistakes/advantages/#group_advantages-divides_by_group_size_minus_one")
    opened = page.locator("details[open]")
    assert opened.count() == 1
    assert "0.94 for G = 8" in opened.inner_text()
    numbers = opened.locator("td").all_inner_texts()
    assert numbers[1].startswith("1.732") and numbers[3].startswith("1.5, \u22120.5")


def test_the_numbers_of_a_mistake_are_those_that_were_recorded():
    """Against the file itself, so that a wrong column cannot hide."""
    document = json.loads((course.VECTORS / "clip.json").read_text("utf-8"))
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
