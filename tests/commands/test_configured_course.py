"""`course.toml` in real processes: a wrong one ends every command with a sentence, points in it count everywhere."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from grader.core import course
from grader.core.course_file import CourseFile, read_course_file


def run(root: Path, program: str, *arguments: object) -> str:
    """A command of the course in a folder; what it wrote to standard output."""
    return run_module(root, f"grader.commands.{program}", *arguments)


def run_module(root: Path, module: str, *arguments: object, expected: int | None = 0) -> str:
    """A program in a folder; what it wrote to standard output."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    variables = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=variables)
    assert expected in (None, done.returncode), done.stdout + done.stderr
    return done.stdout


def test_a_wrong_course_file_ends_every_command_with_a_sentence(tmp_path: Path) -> None:
    copied = shutil.ignore_patterns("__pycache__", "*.json", "known_mistakes", "fair_variants")
    shutil.copytree(course.GRADER, tmp_path / "grader", ignore=copied)
    (tmp_path / "course.toml").write_text('title = "Mine"\nexercises = ["kl", "ppo"]\n', "utf-8")
    command = [sys.executable, "-m", "grader.commands.grade", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    folders = {path.parent.name for path in course.FOLDERS.glob("*/exercise.toml")}
    assert f"{tmp_path / 'course.toml'}: " in done.stderr and done.stderr.count("\n") == 1
    assert "'ppo'" in done.stderr and ", ".join(sorted(folders)) in done.stderr


FIVE = ["advantages", "clip", "kl", "bandit", "charlm"]
OPTIONAL = [exercise.name for exercise in course.OPTIONAL]
WORDS = {
    "institution": "Universität of <Here> & There",
    "contact": "ada@uni.example",
    "deadline": datetime(2026, 12, 4, 23, 59),
    "time_zone": "Europe/Berlin",
    "late": {"deduction_percent": 10},
    "policies": {"Teams": "Two | at most.", "AI assistants": "Say so."},
}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "all of it": {
        **WORDS,
        "title": 'Rewards, "groups" & policies',
        "exercises": FIVE[:4],
        "points": {"bandit": 100},
        "logo": "docs/assets/favicon.svg",
        "instructors": False,
        "worksheet": True,
        "hidden_checks": False,
        "error_carried_forward": False,
    },
    "one exercise": {"exercises": ["kl"]},
    "without the advantages": {"exercises": FIVE[1:3]},
    "another order": {"exercises": ["kl", "clip", "advantages", "bandit"]},
    "an optional exercise": {"optional": OPTIONAL},
    "a bonus exercise": {"bonus": ["charlm"]},
    "all of them count": {"exercises": [*FIVE, *OPTIONAL]},
    "no hidden checks and other points": {"hidden_checks": False, "points": {"clip": 40, "kl": 40}},
    "a site": {"site": "https://example.org/a/b/c"},
}


@pytest.mark.proof
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_course_is_what_its_file_says_and_no_other_file_has_to_be_changed(name: str, tmp_path: Path) -> None:
    """Pages, menus, totals and the handout follow; the strict build, which stops at any dead link, passes."""
    ours, theirs, site = tmp_path / "course", tmp_path / "handout", tmp_path / "site"
    files = subprocess.run(["git", "ls-files"], cwd=course.ROOT, capture_output=True, text=True, check=True).stdout
    for file in files.splitlines():
        # The site lists the attacks.
        if not file.startswith("tests/") or file.startswith(("tests/attacks/", "tests/helpers/")):
            (ours / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(course.ROOT / file, ours / file)
    written = CourseFile(**{"title": "Mine", "exercises": FIVE, **CONFIGURATIONS[name]})
    (ours / "course.toml").write_text(str(written), "utf-8")

    run(ours, "course", "dev", "numbers")
    assert "current" in run(ours, "course", "dev", "numbers", "--check")
    built = run_module(ours, "mkdocs", "build", "--quiet", "--strict", "--site-dir", site)
    assert "WARNING" not in built
    start, menu = ((site / page).read_text("utf-8") for page in ("start/index.html", "exercises/clip/index.html"))
    start = start[start.index("<article") : start.index("</article>")]
    words = (written.institution, written.contact, written.hand_in_by, written.late_work, *written.policies.values())
    for text in words:
        assert html.escape(text, quote=False) in start
    assert f" - {written.title}</title>" in html.unescape(menu)
    named = {*written.exercises, *written.optional}
    for exercise in (*FIVE, *OPTIONAL):
        page = (site / "exercises" / exercise / "index.html").read_text("utf-8")
        assert ("Not in this course" in page) is (exercise not in named), exercise

    linked = [page for page in site.rglob("*.html") if re.search(r'href="[^"]*instructors/', page.read_text("utf-8"))]
    assert bool(linked) is (site / "instructors").is_dir() is written.instructors

    home, worksheet = ((site / page / "index.html").read_text("utf-8") for page in ("", "worksheet"))
    assert ("What you will have built" in home) is ("charlm" in named)
    assert ("earn up to 30 points" in worksheet) is written.worksheet

    run(ours, "course", "handout", "--out", theirs)
    readme = (theirs / "README.md").read_text("utf-8")
    modules = re.findall(r"`(\w+)\.py`", readme) + re.findall(r"`python -m starter\.(\w+)`", readme)
    assert {*modules} <= {path.stem for path in (theirs / "starter").iterdir()}
    assert " starter/" not in run_module(theirs / "course", "grader.commands.doctor", expected=None)
    assert {path.stem for path in (theirs / "starter").iterdir()} & {*FIVE, *OPTIONAL} == named
    lists: dict[str, Any] = {key: tuple(getattr(written, key)) for key in ("exercises", "optional", "bonus")}
    assert read_course_file(theirs / "course" / "course.toml") == replace(
        written, logo="", site=site_of(written), **lists
    )
    done = run_module(
        theirs / "course",
        "grader.commands.grade",
        "--path",
        "../starter",
        "--json",
        tmp_path / "result.json",
        expected=1,
    )
    assert "not written yet" in done
    result = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert [each["name"] for each in result["exercises"]] == [*written.exercises]
    for each in result["exercises"]:
        total = sum(check["points"] for check in each["checks"])
        if each["name"] in written.points and not written.hidden_checks:
            assert total == written.points[each["name"]]


def site_of(written: CourseFile) -> str:
    return f"{written.site.rstrip('/')}/" if written.site else ""
