"""The course hangs together: every exercise has all its pieces, and one fact has one place."""

import ast
import inspect
import json
import re

import pytest

from grader.core import course
from grader.core.toml_file import COUNT, TEXT, TEXTS, TomlFileError, read_toml
from grader.grading import plugin, vectors
from grader.grading.check import checks_of
from grader.workshop import catalogue
from grader.workshop.functions import make, read_modules

plugin.use_profile()

EXERCISES = [exercise.name for exercise in course.EXERCISES]


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_its_pieces(name):
    exercise = course.exercise(name)
    assert (course.ROOT / exercise.page).is_file(), f"exercise {name} has no page {exercise.page}"
    assert (course.MODEL_ANSWERS / exercise.file_name).is_file(), f"exercise {name} has no model answer"
    assert (course.STARTER / exercise.file_name).is_file(), f"exercise {name} has no stub: run `course dev stubs`"
    assert len(catalogue.misconceptions(name)) >= 15, f"exercise {name} has too few misconceptions"
    assert len(catalogue.variants(name)) >= 12, f"exercise {name} has too few fair variants"
    for function in exercise.function_names:
        gates = [check for check in checks_of(name, hidden=True) if check.function == function and check.gate]
        assert len(gates) == 1, f"{function} needs exactly one gate"
        assert gates[0].examples, f"the gate of {function} has no worked example"


@pytest.mark.parametrize("name", EXERCISES)
def test_the_signatures_are_those_of_the_model_answers(name):
    import importlib

    module = importlib.import_module(f"reference.{name}")
    for function in course.exercise(name).function_names:
        parameters = inspect.signature(getattr(module, function)).parameters.values()
        positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        extra = course.exercise(name).extra_parameters
        assert course.exercise(name).parameters(function) == (positional, [k for k in keywords if k not in extra])


BASE = """
def weigh(values, *, scale=1.0):
    ### BEGIN SOLUTION: weigh
    return values * scale
    ### END SOLUTION
"""
TASK = "from .tools import read\n\ndef load():\n    return read()\n"
TOP = '''
from .base import weigh
from .task import load as load_task

def first(a, b, *, exact, state=None):
    """Calls `last`, it says."""
    ### BEGIN SOLUTION: first
    return _both(a, b)
    ### END SOLUTION

def last(a):
    ### BEGIN SOLUTION: last
    return first(a, load_task(), exact=True)
    ### END SOLUTION

def _both(a, b):
    return weigh(a) + weigh(b)
'''


def test_signatures_uses_and_given_files_are_read_from_the_model_answers(tmp_path):
    for file, text in {"base": BASE, "task": TASK, "tools": "def read():\n    return 1\n", "top": TOP}.items():
        (tmp_path / f"{file}.py").write_text(text, "utf-8")
    found = json.loads(make("top", read_modules(tmp_path), without=["state"]))
    assert found["functions"] == ["first(a, b, *, exact)", "last(a)"]
    assert found["uses"] == {"first": ["base.weigh"], "last": ["top.first", "base.weigh"]}
    assert found["given"] == ["task.py", "tools.py"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('title = "T"\nminutes = 5\n', ""),
        ('title = "T"\nminutes = "5"\n', ", line 2: minutes must be a whole number of at least 1, not '5'"),
        ('title = "T"\nminutes = true\n', ", line 2: minutes must be a whole number of at least 1, not True"),
        ('\n\ntitle = ["T"]\nminutes = 5\n', ", line 3: title must be text, not ['T']"),
        ('title = "T"\nminute = 5\n', ", line 2: there is no entry 'minute'; there are title, minutes, more"),
        ('title = "T"\n', ", line 2: add minutes, a whole number of at least 1"),
        ('title = "T"\nminutes = 5\n[more]\na = 1\n', ", line 3: more must be a list of texts, not {'a': 1}"),
        ('title = "T\nminutes = 5\n', ", line 1: this is no TOML: Illegal character '\\n'"),
        ("title =", ", line 1: this is no TOML: Invalid value"),
    ],
)
def test_a_wrong_entry_of_a_file_is_a_sentence_with_its_line(tmp_path, text, sentence):
    path = tmp_path / "exercise.toml"
    path.write_text(text, "utf-8")
    kinds = {"title": TEXT, "minutes": COUNT, "more": TEXTS}
    if not sentence:
        assert read_toml(path, kinds, optional={"more": []}) == {"title": "T", "minutes": 5, "more": []}
        return
    with pytest.raises(TomlFileError) as caught:
        read_toml(path, kinds, optional={"more": []})
    assert str(caught.value) == f"{path}{sentence}"


@pytest.mark.parametrize("name", EXERCISES)
def test_every_check_says_what_it_asks_and_helps(name):
    checks = checks_of(name, hidden=True)
    ids = [check.id for check in checks]
    assert len(set(ids)) == len(ids)
    for check in checks:
        assert check.title.endswith("."), f"{check.id}: the first line of the docstring is a sentence"
        assert check.explanation, f"{check.id}: say why it must hold"
        assert check.points >= 1
        assert check.hidden or check.hints, f"{check.id}: a student may ask for a hint"
        assert not any(re.search(r"torch\.\w+\(", hint) for hint in check.hints), f"{check.id}: hints hold no code"
        assert set(check.needs) <= set(ids), f"{check.id}: needs a check that is not there"
        assert check.function in course.exercise(name).function_names


@pytest.mark.parametrize("name", EXERCISES)
def test_a_misconception_is_a_sentence_that_fits_the_report(name):
    for entry in catalogue.misconceptions(name):
        assert entry.sentence.startswith("you "), entry.name
        assert not entry.sentence.endswith("."), entry.name
        assert len(entry.sentence) <= 160, entry.name
        assert entry.explanation, entry.name


@pytest.mark.parametrize("name", EXERCISES)
def test_every_misconception_is_in_the_vectors_and_can_be_told_from_the_model_answer(name):
    recorded, known = vectors.load(name)
    for entry in catalogue.misconceptions(name):
        assert known[entry.function][entry.name].sentence == entry.sentence
        assert any(entry.name in vector.mistakes for group in recorded.values() for vector in group)


@pytest.mark.parametrize("folder", ["misconceptions", "variants"])
def test_every_file_of_the_catalogue_belongs_to_a_function(folder):
    paths = [*course.FOLDERS.glob(f"*/{folder}/*.py")]
    assert len(paths) >= len(EXERCISES)
    for path in paths:
        assert path.stem in course.exercise(path.parents[1].name).function_names
        names = [node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
        assert len(names) == len(set(names))


def test_the_worked_numbers_of_the_gates_stand_on_the_pages():
    for name in EXERCISES:
        page = (course.ROOT / course.exercise(name).page).read_text("utf-8")
        for check in checks_of(name, hidden=False):
            if check.gate:
                result = check.title.rsplit("give" if "give" in check.title else "become", 1)[-1]
                numbers = re.findall(r"-?\d+\.\d+", result) or re.findall(r"-?\d+\.\d+", check.title)
                missing = [number for number in numbers if number not in page]
                assert not missing, f"{course.exercise(name).page} lacks {missing} of: {check.title}"


def test_the_page_reads_the_curves_as_the_picture_does():
    from reference.charlm_plots import PANELS

    page = (course.ROOT / course.exercise("charlm").page).read_text("utf-8")
    for panel in PANELS:
        assert f"| {panel.title} | {panel.reading} |" in page


def test_the_table_of_recorded_runs_is_that_of_the_recordings():
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
        first, fifth, last = (f"{points[place]['exact']:.3f}" for place in (0, 2, -1))
        assert f"| {label} | {first} | {fifth} | {last} |" in page


def test_the_ten_runs_on_additions_are_those_of_their_table():
    page = (course.ROOT / course.exercise("charlm").page).read_text("utf-8")
    *_, last = (course.RUNS / "charlm-arithmetic-10-seeds.csv").read_text("utf-8").splitlines()
    _, mean, lowest, _ = map(float, last.split(","))
    assert f"to {mean:.3f} on average, {lowest:.3f} in the worst run" in page
