"""The course hangs together: every exercise has all its pieces, and one fact has one place."""

import inspect
import json

import pytest

from grader.core import course
from grader.core.toml_file import COUNT, TEXT, TEXTS, TomlFileError, read_toml
from grader.workshop.functions import make, read_modules
from grader.workshop.missing import missing

EXERCISES = course.names(drafts=True)


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_is_missing_of_an_exercise(name):
    draft = course.exercise(name).draft
    found = missing(name, read_modules(course.MODEL_ANSWERS))
    assert [str(each) for each in found if not (draft and each.only_for_release)] == []


@pytest.mark.parametrize("name", [name for name in EXERCISES if not course.exercise(name).is_data])
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
    """Called between `### BEGIN SOLUTION: first` and its end: words of a string mark nothing."""
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
