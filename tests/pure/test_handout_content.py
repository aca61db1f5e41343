"""The handout: students get what they need, and what they must not have is found anywhere."""

import ast
import hashlib
import json
import os
import re
import shutil
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from test_layers import imports_of

from grader.commands import autograder
from grader.core import course
from grader.core.notebook import code_of, without_host_setup
from grader.workshop import handout
from grader.workshop.catalogue import known_mistakes, whole_functions
from grader.workshop.leak_scan import WINDOW, Secrets, scan, secrets
from site_steps import handout_pages, mistakes
from site_steps.page_values import expand

SITE = "https://example.org/grpo/"
LINE = "binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))"
"""Of the model answer `clip.clip_fraction`."""


CONVENTIONS = "course/docs/reference/conventions.md"
PROMISE = re.compile(r"[Cc]hapters? \d|[Ss]imulation|[Tt]he lab\b|discussion|[Ii]n your tab|[Ww]orksheet")
"""What only the site has."""
OF_AN_EXERCISE = re.compile(
    rf"^(course/docs/exercises/|course/grader/exercises/|starter/)(?:{'|'.join(course.names(optional=True))})"
    r"(?=/|\.py$|\.ipynb$|\.md$)"
)
"""The place of the exercise in a path."""


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return handout.make()


@pytest.fixture(scope="module")
def hidden() -> Secrets:
    return secrets()


def regions() -> dict[str, str]:
    """The solution regions of the model answers, found by splitting at the markers."""
    found = {}
    for path in sorted(course.MODEL_ANSWERS.glob("*.py")):
        for number, part in enumerate(path.read_text("utf-8").split("### BEGIN SOLUTION")[1:]):
            code = part.partition("\n")[2].partition("### END SOLUTION")[0].rstrip()
            if len(re.findall(r"\w+|[^\w\s,]", code)) > WINDOW:  # a shorter one could be anybody's
                found[f"{path.stem} {number}"] = code
    return found


# Its files


def test_no_handout_and_no_discussion_holds_a_secret(files: dict[str, bytes], hidden: Secrets) -> None:
    discussions = course.ROOT.glob("docs/exercises/*/after.md")
    pages = {path.relative_to(course.ROOT).as_posix(): path.read_bytes() for path in discussions}
    assert pages and scan({**files, **pages}, hidden) == [] and handout.foreign(files) == []
    for name in files:
        assert not name.startswith(("reference/", "tests/")), name
        assert not re.search(r"known_mistakes|common_mistakes|hidden|exercises/\w+/fair_variants/", name), name


def test_a_file_is_handed_out_only_after_somebody_looked_through_it(files: dict[str, bytes]) -> None:
    lines = (course.ROOT / "tests" / "golden" / "handout.txt").read_text("utf-8").splitlines()
    kinds = {re.sub(r"/checks/.*", "/checks/*", re.sub(OF_AN_EXERCISE, r"\1EXERCISE", name)) for name in files}
    assert sorted(kinds) == [line for line in lines if not line.startswith("#")], "look at the file, then add its line"


def test_given_code_goes_with_the_exercises_that_it_does_not_run_without() -> None:
    def handed_out(*names: str) -> set[str]:
        exercises = [course.exercise(name) for name in names]
        files = {*handout.make(exercises=exercises), *autograder.make(seed=1, secret="5" * 64, exercises=names)}
        names_of_files = {Path(name).name for name in files if name.startswith(("starter", "reference"))}
        return {name for name in names_of_files if not name.endswith(".ipynb")}

    everything = {path.name for path in course.STARTER.rglob("*.*") if path.suffix != ".pyc"}
    everything |= {"__init__.py"}  # the autograder's reference/ is a package
    everything -= {"README.md"}
    assert handed_out(*course.names(optional=True)) == everything
    assert handed_out(*course.names()) == everything - {"variants.py", "variants_training.py"}
    without = handed_out("advantages", "clip", "kl", "bandit")
    assert without == {"__init__.py", "advantages.py", "clip.py", "kl.py", "bandit.py"} | {
        *("bandit_history.py", "bandit_task.py", "plots.py", "run_bandit.py")
    }
    assert handed_out("clip", "variants") == {"__init__.py", "clip.py", "variants.py"}
    assert handed_out(*course.names()) - handed_out("advantages", "clip", "kl", "charlm") == {
        "bandit.py",
        "bandit_history.py",
        "run_bandit.py",
    }


def test_everything_that_students_import_is_in_it_and_nothing_else_of_the_grader(files: dict[str, bytes]) -> None:
    wanted = set()
    ours = {path.relative_to(course.ROOT).as_posix() for path in (course.ROOT / "grader").rglob("*.py")}
    for name, content in files.items():
        name = name.removeprefix("course/")
        if name.startswith("grader/") and name.endswith(".py"):
            for each in imports_of(content.decode(), name):
                parts = each.strip().split(".")
                bases = ["/".join(parts[:count]) for count in (len(parts), len(parts) - 1)]
                if parts[0] == "grader":
                    wanted |= {f"{base}{end}" for base in bases for end in (".py", "/__init__.py")} & ours
    given = {name.removeprefix("course/") for name in files}
    missing = {name for name in wanted - given if "/hidden/" not in name}
    assert missing == set(), "add them to handout.MODULES"


def test_its_project_file_names_our_dependencies_and_the_files_that_the_grader_reads(files: dict[str, bytes]) -> None:
    ours = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    document = tomllib.loads(files["course/pyproject.toml"].decode())
    assert document["project"]["dependencies"] == ours["dependencies"]
    assert document["project"]["version"] == ours["version"]
    extras = ours["optional-dependencies"]
    assert document["project"]["optional-dependencies"] == {name: extras[name] for name in ("llm", "trl")}
    assert '-e "./course[llm]"' in files["course/docs/exercises/charlm.md"].decode()
    data = document["tool"]["setuptools"]["package-data"]["grader"]
    wanted = [
        name.removeprefix("course/grader/")
        for name in files
        if re.match(r"course/grader/.*\.(json|toml|ini|css|jinja)$", name)
    ]
    assert [name for name in wanted if not any(PurePosixPath(name).match(pattern) for pattern in data)] == []


def test_the_pages_in_it_are_plain_markdown_and_lead_nowhere_that_it_lacks(files: dict[str, bytes]) -> None:
    pages = {name: text.decode() for name, text in files.items() if name.endswith(".md")}
    wanted = {f"course/{page}" for each in course.HANDED_OUT for page in each.pages}
    assert {*pages} == {"README.md", "course/README.md", "course/docs/mistakes/general.md", CONVENTIONS, *wanted}
    for name, text in pages.items():
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            path = os.path.normpath(os.path.join(os.path.dirname(name), target)).replace(os.sep, "/")
            assert path in files, f"{name} leads to {target}"
        prose = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL)
        assert not re.findall(r"^(?:///|\?\?\?|!!!|---\n|!\[|    attrs:).*|\{ ?[#.]|loading=lazy", prose, re.MULTILINE)
        assert text.count("<details") == text.count("</details>") == text.count("<summary>")


def test_no_page_and_no_starter_file_promises_what_only_the_site_has(files: dict[str, bytes]) -> None:
    read = [name for name in files if name.endswith(".md") or re.fullmatch(r"starter/\w+\.(py|ipynb)", name)]
    lines = [f"{name}: {line}" for name in read for line in files[name].decode().split("\n")]
    assert list(filter(PROMISE.search, lines)) == []


def test_a_sentence_goes_with_its_dead_link_and_the_rest_stays() -> None:
    page, files = "docs/exercises/kl.md", ["docs/exercises/kl.md", "docs/reference/conventions.md"]
    for text, expected in {
        "One. [Chapter 6](../learn/loss.md#a) shows it. Two.": "One. Two.",
        "It is 0 ([why](../learn/loss.md)). See [here](../start.md), in 2026.": "It is 0.",
        "a\n\n[Chapter 6](../learn/loss.md) shows it.\n\nb": "a\n\nb",
        "- **File:** a.\n- See [b](b.html?x=1).\n- c": "- **File:** a.\n- c",
        "    1. Play. [Watch](../a.md).": "    1. Play.",
        "| [loss](../learn/loss.md) | 1 |": "| loss | 1 |",
        "You need [2](clip.md) and [them](../reference/conventions.md#a).": (
            "You need 2 and [them](../reference/conventions.md#a)."
        ),
        "See [Install and run](../start.md#install-and-run).": "See [Install and run](../../../README.md#install).",
    }.items():
        assert handout_pages.plain_page(page, text, files) == expected


def test_every_mistake_that_a_report_names_is_on_its_page_and_every_hint_is_kept(files: dict[str, bytes]) -> None:
    for each in course.EXERCISES:
        wanted = re.findall(r"id: ([\w-]+)}", mistakes.make(each.name))
        assert len(wanted) == len(known_mistakes(each.name)) > 0
        assert re.findall(r'<details id="([\w-]+)">', files[f"course/{each.mistakes_page}"].decode()) == wanted
        hints = re.findall(r'^\?\?\? \w+ "(.*)"$', (course.ROOT / each.page).read_text("utf-8"), re.MULTILINE)
        assert re.findall("<summary>(.*)</summary>", files[f"course/{each.page}"].decode()) == hints


@pytest.mark.parametrize("site", [None, SITE])
def test_the_readme_speaks_of_what_this_kind_of_handout_has(site: str | None) -> None:
    made = handout.make(site=site)
    text = made["README.md"].decode()
    assert "$" not in text and ("grade worksheet" in text) == bool(site)
    assert (f"{SITE}exercises/advantages/" in text) == bool(site)
    assert ("course/docs/exercises/advantages.md" in text) == (not site)
    commands = set(re.findall(r"^(?:make|\| `make) (\w+)", text, re.MULTILINE))
    assert commands <= set(re.findall(r"^(\w+):", made["Makefile"].decode(), re.MULTILINE))


def test_the_stubs_come_from_the_model_answers_and_not_from_what_lies_in_starter(files, monkeypatch, tmp_path):
    starter = tmp_path / "starter"
    shutil.copytree(course.STARTER, starter)
    (starter / "clip.py").write_text("my own attempt")
    (starter / "notes.py").write_text("my notes")
    monkeypatch.setattr(course, "STARTER", starter)
    made = handout.make()
    assert made["starter/clip.py"] == files["starter/clip.py"]
    assert "starter/notes.py" not in made
    assert b"clip.clip_fraction is not written yet" in made["starter/clip.py"]


def test_the_same_course_gives_the_same_bytes(files: dict[str, bytes], tmp_path: Path) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    handout.write_zip(files, first, folder="course")
    os.utime(course.ROOT / "LICENSE")
    handout.write_zip(dict(reversed(handout.make().items())), second, folder="course")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        entries = archive.infolist()
        assert archive.testzip() is None
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o100644}
    assert handout.read(first) == files
    assert not [name for name, text in files.items() if b"\r\n" in text and not name.endswith(".safetensors")]


def test_the_manifest_says_what_students_leave_as_it_is(files: dict[str, bytes]) -> None:
    manifest = json.loads(files[handout.MANIFEST])
    own = {f"starter/{name}{ending}" for name in course.names(optional=True) for ending in (".py", ".ipynb")}
    assert set(files) - set(manifest) == own | {handout.MANIFEST}
    assert manifest["course/LICENSE"] == hashlib.sha256((course.ROOT / "LICENSE").read_bytes()).hexdigest()


# The scan for leaks


def notebook(code: str) -> str:
    cell = {"cell_type": "code", "source": [f"{line}\n" for line in code.split("\n")]}
    return json.dumps({"cells": [{"source": ["# Clip\n"]}, cell]}, indent=1)


CARRIERS: dict[str, Callable[[str], str]] = {
    "grader/grading/compare.py": lambda code: f"def helper():\n    {code}\n",
    "grader/exercises/clip/checks.py": lambda code: f"# once it was\n# {code}\n",
    "docs/exercises/clip.md": lambda code: f"# Clip\n\n```python\n>>> {code}\n```\n",
    "starter/notes.ipynb": notebook,
    "grader/exercises/clip/vectors.json": lambda code: json.dumps({"a": 1, "explanation": code}, indent=1),
    "docs/page.html": lambda code: re.sub(r"(\w+)", r'<span class="n">\1</span>', code),
    "escaped.json": lambda code: code.replace("(", "\\u0028").replace(" ", "\\u0020"),
}


@pytest.mark.parametrize("name", CARRIERS)
def test_one_line_of_a_solution_is_found_in_every_kind_of_file(name: str, hidden: Secrets) -> None:
    text = CARRIERS[name](LINE)
    line = next(number for number, each in enumerate(text.split("\n"), 1) if "binds" in each)
    found = scan({name: text.encode()}, hidden)
    assert str(found[0]) == f"{name}:{line}: the solution of clip.clip_fraction"
    assert scan({name: CARRIERS[name]("binds = where_the_clip_binds(ratio)").encode()}, hidden) == []


@pytest.mark.parametrize("name", regions())
def test_every_solution_is_found_with_other_white_space_and_without_its_comments(name: str, hidden: Secrets) -> None:
    code = ast.unparse(ast.parse("if True:\n" + regions()[name])).partition("\n")[2]
    text = "print('hello')\n" + re.sub(r"(?m)^ +", "\t", code)
    found = scan({"notes.txt": text.encode()}, hidden)
    assert found, f"{name}: {text}"
    assert {leak.what.split()[-1].split(".")[0] for leak in found} >= {name.split()[0]}


@pytest.mark.parametrize(
    ("place", "name", "what"),
    [
        ("clip/known_mistakes/clipped_surrogate.py", "rebuilt_from_python_numbers", "known mistake clipped_surrogate"),
        ("kl/known_mistakes/categorical_kl.py", "", "the known mistake categorical_kl"),
        ("charlm/fair_variants/completion_mask.py", "token_by_token", "the variant completion_mask"),
        ("clip/hidden_checks.py", "test_ratio_agrees_with_the_model_answer", "the hidden check"),
        ("bandit/known_mistakes/grpo_step.py", "adds_the_kl", "the known mistake grpo_step"),
    ],
)
def test_a_function_that_is_not_public_is_found(place: str, name: str, what: str, hidden: Secrets) -> None:
    path = course.FOLDERS / place
    raw = path.read_text("utf-8")
    texts = [raw] if path.name == "hidden_checks.py" else [raw, whole_functions(path)]  # as a change, and written out
    for text in texts:
        functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        lines = ast.get_source_segment(text, functions[name or next(iter(functions))]) or ""
        found = scan({"grader/grading/plugin.py": f"\n\n\n{lines}".encode()}, hidden)
        solution = f"the solution of {path.parents[1].name}.{path.stem}"  # most of a change
        assert any((what in each.what or solution in each.what) and each.line > 3 for each in found)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"# Start\n\nsee kl.kl_agrees_with_the_model_answer\n", "the hidden check kl."),
        (b'{"title": "The exact KL agrees with the model answer\'s on fresh logits."}', "the hidden check kl."),
        (LINE.encode("utf-16-le"), "cannot be looked through"),
        (b"PK\x03\x04\xff\xfe", "not text"),
        ((course.STARTER / "given" / "charlm.safetensors").read_bytes()[:-1], "not text"),
    ],
)
def test_other_secrets_are_found_and_other_files_refused(text: bytes, what: str, hidden: Secrets) -> None:
    assert what in scan({"docs/start.md": text}, hidden)[0].what
    assert scan({"a.md": b"Use `torch.minimum` and `ratio.clamp(low, high)`."}, hidden) == []


# Its notebooks


@pytest.mark.parametrize("exercise", course.HANDED_OUT, ids=lambda exercise: exercise.name)
def test_a_notebook_read_back_is_the_stub(exercise: course.Exercise, files: dict[str, bytes]) -> None:
    name = f"starter/{exercise.name}.ipynb"
    text, _ = without_host_setup(code_of(name, files[name])[0])
    notebook, stub = (
        {
            ast.unparse(node)
            for node in ast.parse(text.replace("from starter.", "from .")).body
            if not is_docstring(node)
        }
        for text in (text, files[name.replace(".ipynb", ".py")].decode())
    )
    assert notebook - {"pass", "import sys"} == stub


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_a_page_links_to_the_notebook_in_colab_if_the_handout_is_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    colab = "colab.research.google.com/github/ada/grpo/blob/main/starter/clip.ipynb"
    assert colab not in expand("{{ three_ways clip }}")
    monkeypatch.setattr(course, "WRITTEN", replace(course.WRITTEN, repository="https://github.com/ada/grpo.git"))
    assert colab in expand("{{ three_ways clip }}")
    setup = b"".join(content for name, content in handout.make().items() if name == "starter/clip.ipynb")
    assert b"git clone --quiet --depth 1 https://github.com/ada/grpo.git grpo-course" in setup
