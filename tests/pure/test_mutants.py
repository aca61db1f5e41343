"""The defects of `make mutants`: the same places for the same texts, one exact piece each, and the tests to run."""

from __future__ import annotations

import ast
import io
import json
from pathlib import Path

import mutants
import pytest
from mutations import Place, draw, find, mutations
from reaching_tests import import_graph, reaching_tests
from rich.console import Console

from grader.core import course

TEXT = '''"""A módule with a docstring."""

LIMIT = 3


class Scale:
    def weigh(self, value: "float", *, exact: bool = False) -> "float":
        """Docstring."""
        note(value)
        if value <= LIMIT and not exact:  # ünusual < bytes
            return round(value * 0.5, ndigits=2)
        return value if value else None


def note(value):
    if value == 1 or value == 1: raise ValueError("a sentence", f"{value == 2}", "key")
    return None
'''
EXPECTED = {
    ("", "number larger", "3", "4"),
    ("", "number smaller", "3", "2"),
    ("Scale.weigh", "truth value", "False", "True"),
    ("Scale.weigh", "call removed", "note(value)", "pass"),
    ("Scale.weigh", "and, or", "value <= LIMIT and not exact", "value <= LIMIT or not exact"),
    ("Scale.weigh", "condition negated", "value <= LIMIT and not exact", "not (value <= LIMIT and not exact)"),
    ("Scale.weigh", "comparison", "value <= LIMIT", "value < LIMIT"),
    ("Scale.weigh", "not removed", "not exact", "exact"),
    ("Scale.weigh", "nothing returned", "round(value * 0.5, ndigits=2)", "None"),
    ("Scale.weigh", "arithmetic", "value * 0.5", "value / 0.5"),
    ("Scale.weigh", "number larger", "0.5", "1.0"),
    ("Scale.weigh", "number smaller", "0.5", "0.25"),
    ("Scale.weigh", "argument dropped", "ndigits=2", ""),
    ("Scale.weigh", "number larger", "2", "3"),
    ("Scale.weigh", "number smaller", "2", "1"),
    ("Scale.weigh", "nothing returned", "value if value else None", "None"),
    ("Scale.weigh", "condition negated", "value", "not (value)"),
    ("note", "condition negated", "value == 1 or value == 1", "not (value == 1 or value == 1)"),
    ("note", "and, or", "value == 1 or value == 1", "value == 1 and value == 1"),
    ("note", "comparison", "value == 1", "value != 1"),
    ("note", "number larger", "1", "2"),
    ("note", "number smaller", "1", "0"),
    ("note", "string emptied", '"key"', '""'),
}
OURS = ("grader/gradebook/late.py", "grader/sandbox/worker/confine.py", "grader/reports/svg_chart.py")


def test_each_kind_of_defect_is_found_and_nothing_outside_of_code() -> None:
    found = [each.place for each in mutations(TEXT, "a.py")]
    assert {(place.function, place.kind, place.before, place.after) for place in found} == EXPECTED
    assert [place.occurrence for place in found if (place.function, place.before) == ("note", "value == 1")] == [0, 1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a is  not b", "a is b"),
        ("a is b", "a is not b"),
        ("a not in b", "a in b"),
        ("a in b", "a not in b"),
        ("a > b", "a >= b"),
        ("a >= b", "a > b"),
        ("a < b", "a <= b"),
        ("a != b", "a == b"),
        ("(a) == (b)", "(a) != (b)"),
        ("a + b", "a - b"),
        ("a - b", "a + b"),
        ("a / b", "a * b"),
        ("a // b", "a / b"),
        ("a % b", "a * b"),
        ("a ** b", "a * b"),
        ("(a\n * (b))", "a\n / (b"),
        ("a or b", "a and b"),
        ("not (a)", "(a)"),
    ],
)
def test_an_operator_becomes_its_neighbour(before: str, after: str) -> None:
    assert [each.of(before) for each in mutations(before, "a.py")] == [f"({after}))" if "\n" in before else after]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = f(a, b=c, d=e)", ["x = f(a,  d=e)", "x = f(a, b=c, )"]),
        ("x = f(b=(c), help=d, **e)", ["x = f( help=d, **e)"]),
    ],
)
def test_an_argument_is_dropped_with_its_comma(before: str, after: list[str]) -> None:
    assert [each.of(before) for each in mutations(before, "a.py")] == after


@pytest.mark.parametrize("file", OURS)
def test_a_defect_changes_its_own_piece_and_leaves_valid_python(file: str) -> None:
    text = (course.ROOT / file).read_text("utf-8")
    found = mutations(text, file)
    assert len(found) > 50
    for mutation in found[::7]:
        raw, mutated = text.encode(), mutation.of(text).encode()
        assert raw[mutation.start : mutation.end] == mutation.place.before.encode()
        assert mutated.startswith(raw[: mutation.start]) and mutated.endswith(raw[mutation.end :])
        assert len(mutated) - len(raw) == len(mutation.place.after.encode()) - len(mutation.place.before.encode())
        assert ast.parse(mutated) and mutated != raw


def test_the_same_texts_and_seed_give_the_same_places_and_each_kind_as_often() -> None:
    texts = {file: (course.ROOT / file).read_text("utf-8") for file in OURS}
    drawn = draw(texts, count=24, seed=1)
    assert drawn == draw(dict(reversed(texts.items())), count=24, seed=1)
    assert len({*drawn}) == 24 and drawn != draw(texts, count=24, seed=2)
    kinds = [place.kind for place in drawn]
    assert {kinds.count(kind) for kind in kinds} == {2}
    assert len(kinds) == 2 * len({kind for _, kind, _, _ in EXPECTED})


def test_a_place_is_found_again_after_lines_and_files_have_moved() -> None:
    places = {each.place: each for each in mutations(TEXT, "grader/a.py")}
    moved = TEXT.replace("class Scale", "OTHER = 1\n\n\nclass Scale")
    for place, mutation in places.items():
        file, found = find(place, {"grader/room/a.py": moved, "grader/b.py": TEXT}) or pytest.fail(f"{place} is lost")
        assert file == "grader/room/a.py" and found.place == place
        inserted = len("OTHER = 1\n\n\n") if place.function else 0
        assert (found.start, found.end) == (mutation.start + inserted, mutation.end + inserted)


def test_a_place_whose_text_or_function_has_changed_is_gone() -> None:
    place = Place("grader/a.py", "Scale.weigh", "comparison", "value <= LIMIT", "value < LIMIT")
    assert find(place, {"grader/a.py": TEXT})
    for text in (TEXT.replace("<= LIMIT", "<= 3"), TEXT.replace("weigh", "heavy"), ""):
        assert find(place, {"grader/a.py": text}) is None
    assert find(place, {"grader/b.py": TEXT}), "the file has another name now"


def test_the_tests_of_a_file_are_those_that_reach_it_and_the_likeliest_come_first() -> None:
    for file, first, *among in (
        ("grader/gradebook/late.py", "test_late", "test_gradebook"),  # named after it; imports it
        ("grader/grading/strategies.py", "test_strategies", "test_selftest"),  # checks are imported by a made-up name
        ("grader/reports/svg_chart.py", "test_svg_chart", "test_html_report", "test_class_report"),
        ("grader/sandbox/worker/confine.py", "test_walls", "test_sandbox", "test_attack_corpus"),  # started as a file
        ("grader/gradebook/table.py", "test_gradebook", "test_fuzz"),  # a subcommand, imported by its name
    ):
        tests = [Path(test).stem for test in reaching_tests(file, course.ROOT)]
        assert tests[0] == first
        assert {*among} <= {*tests}
        assert not {"test_changelog_section", "test_chapters"} & {*tests}
    callers = {Path(test).stem for test in reaching_tests("grader/commands/diff.py", course.ROOT)[:3]}
    assert "test_class_folder" in callers  # calls it as `course diff`, among dozens that reach every command


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_every_way_to_reach_a_module_is_seen(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "grader/__init__.py": "",
            "grader/deep/__init__.py": "import importlib\nMORE = {'x': 'named'}\nimportlib.import_module(f'{1}')\n",
            "grader/deep/named.py": "from .. import plain\n",
            "grader/plain.py": "",
            "grader/script.py": '"""Docstring about grader.lonely."""\nfrom .plain import name\n',
            "grader/lonely.py": "",
            "tests/conftest.py": "from grader.script import Script\nfrom grader import lonely\n"
            "from fixtures import page\ndef warm():\n    return Script()\ndef warmer(warm):\n    return warm\n",
            "tests/helpers/fixtures.py": "import grader.lonely\n",
            "tests/a/test_import.py": "from grader.deep import export\n",
            "tests/a/test_text.py": "COMMAND = ['-m', 'grader.script']\n",
            "tests/a/test_file.py": "x = 'script.py'\n",
            "tests/a/test_fixture.py": "def test(warmer): ...\n",
            "tests/a/test_page.py": "def test(page): ...\n",
            "tests/a/conftest.py": "def tab(page): ...\n",
            "tests/a/test_nothing.py": "import math\n",
        },
    )
    graph = import_graph(root)
    assert graph["grader/deep/__init__.py"] == {"grader/deep/named.py"}
    assert graph["grader/script.py"] == {"grader/plain.py"}
    assert reaching_tests("grader/lonely.py", root) == ["tests/a/test_page.py"]
    found = reaching_tests("grader/plain.py", root)
    assert {*found} == {f"tests/a/test_{name}.py" for name in ("file", "fixture", "import", "text")}
    assert found[-1] == "tests/a/test_import.py"  # one step more


def test_the_list_of_places_is_what_it_says() -> None:
    listed = json.loads(mutants.PLACES.read_text("utf-8"))
    assert next(iter(listed)) == "generated" and f"seed {mutants.SEED}" in listed["generated"]
    places = [Place(**entry["place"]) for entry in listed["places"]]
    assert [place for place, entry in zip(places, listed["places"], strict=True) if entry["must_die"]] == [
        *mutants.MUST_DIE
    ]
    assert len({*places}) == len(places) == mutants.COUNT + len(mutants.MUST_DIE)
    assert not any(place.file.startswith(mutants.WITHOUT) for place in places)


def results(path: Path, *outcomes: str) -> Path:
    known = {str(number): {"outcome": outcome, "by": "a test"} for number, outcome in enumerate(outcomes)}
    path.write_text(json.dumps({"results": known}))
    return path


@pytest.mark.parametrize(
    ("before", "after", "code", "says"),
    [
        (["survived", "killed", "survived"], ["killed", "survived", "killed"], 0, "before: 1 of 3, after: 2 of 3"),
        (["killed", "killed", "survived"], ["killed", "survived", "survived"], 1, "before: 2 of 3, after: 1 of 3"),
        (["survived", "survived", "killed"], ["survived", "killed", "killed"], 1, "must die and is alive: 0"),
        (["killed", "killed", "killed"], ["killed", "killed", "no such place"], 0, "because a run lacks them: 2"),
        (["killed", "killed"], ["killed", "killed", "killed"], 0, "because a run lacks them: 2"),
        (["out of time", "killed", "killed"], ["out of time", "killed", "killed"], 1, "must die and is alive: 0"),
        ([], ["killed"], 1, "before: 0 of 0"),
    ],
)
def test_two_runs_are_compared_by_the_places_that_both_know(
    before: list[str], after: list[str], code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {"file": "grader/a.py", "function": "f", "kind": "number larger", "before": "[1]", "after": "[2]"}
    places = [{"must_die": number == 0, "place": place} for number in range(3)]
    monkeypatch.setattr(mutants, "PLACES", tmp_path / "places.json")
    mutants.PLACES.write_text(json.dumps({"places": places}))
    console = Console(record=True, width=200, file=io.StringIO())
    files = results(tmp_path / "before.json", *before), results(tmp_path / "after.json", *after)
    assert mutants.compare(*files, console) == code
    text = console.export_text()
    assert says in text and text.count("[1] -> [2]") == min(len(before), len(after) - after.count(mutants.GONE))


def test_what_is_known_is_kept_for_the_same_tree_and_forgotten_for_another(tmp_path: Path) -> None:
    path = tmp_path / "build" / "results.json"
    journal = mutants.Journal(path, {"digest": "a"})
    journal.known["results"]["3"] = {"outcome": "killed"}
    journal.write()
    assert mutants.Journal(path, {"digest": "a"}).known == journal.known
    assert mutants.Journal(path, {"digest": "b"}).known["results"] == {}
    assert [file.name for file in path.parent.iterdir()] == ["results.json"]
