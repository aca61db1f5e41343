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
from pathlib import Path

import pytest
from test_layers import imports_of

from grader.commands import autograder
from grader.core import course
from grader.workshop import handout
from grader.workshop.catalogue import misconceptions, whole_functions
from grader.workshop.leak_scan import WINDOW, Secrets, scan, secrets

SITE = "https://example.org/grpo/"
LINE = "binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))"
"""Of the model answer `clip.clip_fraction`."""


OF_AN_EXERCISE = re.compile(
    rf"^(docs/exercises/|docs/mistakes/|grader/exercises/|starter/)(?:{'|'.join(course.names())})(?=/|\.py$|\.md$)"
)
"""What each exercise has in the same place."""


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


# What is in it


def test_nothing_in_the_handout_is_kept_from_students(files: dict[str, bytes], hidden: Secrets) -> None:
    assert scan(files, hidden) == []
    assert handout.foreign(files) == []
    for name in files:
        assert not name.startswith(("reference/", "tests/")), name
        assert not any(word in name for word in ("misconceptions", "variants", "hidden")), name


def test_a_file_is_handed_out_only_after_somebody_looked_through_it(files: dict[str, bytes]) -> None:
    lines = (course.ROOT / "tests" / "golden" / "handout.txt").read_text("utf-8").splitlines()
    kinds = {re.sub(OF_AN_EXERCISE, r"\1EXERCISE", name) for name in files}
    assert sorted(kinds) == [line for line in lines if not line.startswith("#")], "look at the file, then add its line"


def test_given_code_goes_with_the_exercises_that_it_does_not_run_without() -> None:
    ours = {"laws.py", "variants.py", "variants_training.py", "run_variants.py"}
    ours |= {"bughunt.toml", "bughunt_check.py", "bughunt_pieces.py", "run_bughunt.py"}

    def handed_out(*names: str) -> set[str]:
        exercises = [course.exercise(name) for name in names]
        files = {*handout.make(exercises=exercises), *autograder.make(seed=1, secret="5" * 64, exercises=names)}
        files -= {"reference/charlm.safetensors"}  # an autograder has the weights in any case
        return {Path(name).name for name in files if name.startswith(("starter", "reference"))}

    everything = handed_out(*course.names())
    assert not ours & everything, "a draft leaves no trace"
    assert everything == {path.name for path in course.MODEL_ANSWERS.glob("*.py")} - ours | {"charlm.safetensors"}
    assert handed_out(*course.names(drafts=True)) == everything | ours
    without = handed_out("advantages", "clip", "kl", "bandit")
    assert without == {"__init__.py", "advantages.py", "clip.py", "kl.py", "bandit.py"} | {
        *("bandit_plots.py", "bandit_task.py", "run_bandit.py")
    }
    assert handed_out("clip", "variants") == {"__init__.py", "clip.py", "variants.py"}
    assert everything - handed_out("advantages", "clip", "kl", "charlm") == {"bandit.py", "run_bandit.py"}


def test_everything_that_students_import_is_in_it_and_nothing_else_of_the_grader(files: dict[str, bytes]) -> None:
    wanted = set()
    ours = {path.relative_to(course.ROOT).as_posix() for path in (course.ROOT / "grader").rglob("*.py")}
    for name, content in files.items():
        if name.startswith("grader/") and name.endswith(".py"):
            for each in imports_of(content.decode(), name):
                parts = each.name.split(".")
                bases = ["/".join(parts[:count]) for count in (len(parts), len(parts) - 1)]
                if each.top == "grader":
                    wanted |= {f"{base}{end}" for base in bases for end in (".py", "/__init__.py")} & ours
    missing = {name for name in wanted - files.keys() if "/hidden/" not in name}
    assert missing == set(), "add them to handout.MODULES"


def test_its_project_file_names_our_dependencies_and_only_packages_that_are_there(files: dict[str, bytes]) -> None:
    ours = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    document = tomllib.loads(files["pyproject.toml"].decode())
    assert document["project"]["dependencies"] == ours["dependencies"]
    assert document["project"]["version"] == ours["version"]
    packages = document["tool"]["setuptools"]["packages"]
    assert set(packages) == {
        name.rpartition("/")[0].replace("/", ".") for name in files if name.endswith("__init__.py")
    } - {"starter"}


def test_the_pages_in_it_lead_nowhere_that_it_lacks(files: dict[str, bytes]) -> None:
    pages = {name: text.decode() for name, text in files.items() if name.endswith(".md")}
    named = {page for each in course.EXERCISES for page in (each.page, each.mistakes_page)}
    assert set(pages) == {"README.md", *named, "docs/mistakes/general.md"}
    for name, text in pages.items():
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            path = os.path.normpath(os.path.join(os.path.dirname(name), target)).replace(os.sep, "/")
            assert path in files, f"{name} leads to {target}"


def test_the_pages_in_it_are_plain_markdown_and_speak_of_nothing_that_it_lacks(files: dict[str, bytes]) -> None:
    pages = {name: text.decode() for name, text in files.items() if name.startswith("docs/")}
    for name, text in pages.items():
        prose = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL)
        assert text.startswith("# ") and "\0" not in text
        assert not re.findall(r"^(?:///|\?\?\?|!!!|---\n|!\[|    attrs:).*|\{ ?[#.]|loading=lazy", prose, re.MULTILINE)
        assert text.count("<details") == text.count("</details>") == text.count("<summary>")
        assert not re.findall(r"</details>\n[^\n]", text), "Markdown goes on after an empty line only"
        dead = r"[Cc]hapters? |simulation\b.*browser|in the simulation|on one page|instructor|`make|\bmkdocs|`course "
        assert not re.findall(dead, prose), name
        for table in re.findall(r"(?:^\|.*\n)+", prose, re.MULTILINE):
            cells = re.sub(r"\\\||\$[^$]*\$|`[^`]*`", "", table).splitlines()
            assert len({line.count("|") for line in cells}) == 1, f"{name}: {table}"


def test_every_mistake_that_a_report_names_is_on_its_page_and_every_hint_is_kept(files: dict[str, bytes]) -> None:
    for each in course.EXERCISES:
        ours = (course.ROOT / each.mistakes_page).read_text("utf-8")
        wanted = re.findall(r"id: ([\w-]+)}", ours)
        assert len(wanted) == len(misconceptions(each.name)) > 0
        assert re.findall(r'<details id="([\w-]+)">', files[each.mistakes_page].decode()) == wanted
        hints = re.findall(r'^\?\?\? \w+ "(.*)"$', (course.ROOT / each.page).read_text("utf-8"), re.MULTILINE)
        assert re.findall("<summary>(.*)</summary>", files[each.page].decode()) == hints


def test_a_sentence_about_a_page_that_is_not_there_goes_and_the_others_stay() -> None:
    text = (
        "---\ndescription: x\n---\n\n# Clip\n\nOne. [Chapter 6](../learn/loss.md) shows it. Two (`a`, or "
        "[there](../simulation.md?x=1#y)). A file is [given](../reference/given.md#a), see [KL](kl.md#b).\n\n"
        "![A chart](a.png){ width=1 }\n\nThe chart shows it.\n\n| A | Curve |\n|---|---|\n| 1 | [b](b.png) |\n\n"
        '??? tip "1. `x_y`?"\n    Think.\n\n        code\n\nEnd.\n\n/// details | a\\_b\n    type: failure\n'
        "    attrs: {id: f-g}\n\nWhy.\n///\n"
    )
    assert handout._plain_page("docs/exercises/clip.md", text, {"docs/exercises/kl.md": b""}) == (
        "# Clip\n\nOne. Two (`a`). A file is given, see [KL](kl.md#b).\n\n| A |\n|---|\n| 1 |\n\n"
        "<details>\n<summary>1. <code>x_y</code>?</summary>\n\nThink.\n\n    code\n\n</details>\n\nEnd.\n\n"
        '<details id="f-g">\n<summary>a_b</summary>\n\nWhy.\n\n</details>\n'
    )


@pytest.mark.parametrize("site", [None, SITE])
def test_the_readme_speaks_of_what_this_kind_of_handout_has(site: str | None) -> None:
    made = handout.make(site=site)
    text = made["README.md"].decode()
    assert "$" not in text and ("grade worksheet" in text) == bool(site)
    assert (f"{SITE}exercises/advantages/" in text) == bool(site)
    assert ("docs/exercises/advantages.md" in text) == (not site)
    commands = set(re.findall(r"^(?:make|\| `make) (\w+)", text, re.MULTILINE))
    assert commands <= set(re.findall(r"^(\w+):", made["Makefile"].decode(), re.MULTILINE))


def test_the_stubs_come_from_the_model_answers_and_not_from_what_lies_in_starter(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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
    own = {f"starter/{name}.py" for name in course.names()}
    assert set(files) - set(manifest) == own | {handout.MANIFEST}
    assert manifest["LICENSE"] == hashlib.sha256((course.ROOT / "LICENSE").read_bytes()).hexdigest()


# What the scan finds


def notebook(code: str) -> str:
    cell = {"cell_type": "code", "source": [f"{line}\n" for line in code.split("\n")]}
    return json.dumps({"cells": [{"source": ["# Clip\n"]}, cell]}, indent=1)


CARRIERS: dict[str, Callable[[str], str]] = {
    "grader/grading/compare.py": lambda code: f"def helper():\n    {code}\n",
    "grader/exercises/clip/checks.py": lambda code: f"# once it was\n# {code}\n",
    "starter/kl.py": lambda code: f'"""Notes\n\n    {code}\n"""\n',
    "docs/exercises/clip.md": lambda code: f"# Clip\n\n```python\n>>> {code}\n```\n",
    "starter/notes.ipynb": notebook,
    "grader/exercises/clip/vectors.json": lambda code: json.dumps({"a": 1, "explanation": code}, indent=1),
    "README.md": lambda code: code.replace(" ", "   ").replace("|", "|\n\t"),
    "docs/page.html": lambda code: re.sub(r"(\w+)", r'<span class="n">\1</span>', code),
    "invisible.txt": lambda code: code.replace(" ", " \u200b"),
    "wide.txt": lambda code: code.replace("(", "\uff08").replace(")", "\uff09"),
    "escaped.json": lambda code: code.replace("(", "\\u0028").replace(" ", "\\u0020"),
}


def test_a_text_with_nul_characters_cannot_be_looked_through(hidden: Secrets) -> None:
    (found,) = scan({"kl16.txt": LINE.encode("utf-16-le")}, hidden)
    assert "cannot be looked through" in str(found)


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


def test_wrong_answers_that_look_alike_are_one_line(hidden: Secrets) -> None:
    wrong = function(course.FOLDERS / "bandit" / "misconceptions" / "grpo_step.py", "sums_over_the_group")
    found = [leak.what for leak in scan({"notes.md": wrong.encode()}, hidden)]
    (line,) = (what for what in found if "misconception" in what)
    assert re.fullmatch(r"the misconception grpo_step\.sums_over_the_group, or one of \d\d like it", line)
    other = function(course.FOLDERS / "clip" / "misconceptions" / "clip_fraction.py", "upper_eps_ignored")
    found = [leak.what for leak in scan({"notes.md": f"{wrong}\n\n{other}".encode()}, hidden)]
    assert len([what for what in found if "misconception" in what]) == 2, "two causes are two lines"


def test_a_run_too_short_to_be_a_solution_is_none(hidden: Secrets) -> None:
    assert scan({"notes.md": b"Use `torch.minimum` and `ratio.clamp(low, high)`."}, hidden) == []
    assert len(re.findall(r"\w+|[^\w\s,]", LINE)) > WINDOW


def test_a_misconception_that_is_a_change_is_found_as_it_is_written(hidden: Secrets) -> None:
    path = course.FOLDERS / "bandit" / "misconceptions" / "grpo_step.py"
    text = path.read_text("utf-8")
    assert "def sums_over_the_group():" in text, "this test needs a change"
    for leak in (text, text[text.index("def sums_over_the_group") : text.index("def goes_down_instead_of_up")]):
        found = [leak.what for leak in scan({"docs/mistakes/bandit.md": leak.encode()}, hidden)]
        assert "the solution of bandit.grpo_step" in found


def function(path: Path, name: str) -> str:
    """A function of the catalogue or of the hidden checks, a change written out."""
    text = path.read_text("utf-8") if path.name == "hidden_checks.py" else whole_functions(path)
    (node,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name)
    return ast.get_source_segment(text, node) or ""


@pytest.mark.parametrize(
    ("place", "name", "what"),
    [
        ("clip/misconceptions/clip_fraction.py", "upper_eps_ignored", "the misconception clip_fraction"),
        ("kl/misconceptions/categorical_kl.py", None, "the misconception categorical_kl"),
        ("charlm/variants/completion_mask.py", "token_by_token", "the variant completion_mask"),
        ("clip/hidden_checks.py", "test_ratio_agrees_with_the_model_answer", "the hidden check"),
    ],
)
def test_a_function_that_is_not_public_is_found(place: str, name: str | None, what: str, hidden: Secrets) -> None:
    path = course.FOLDERS / place
    first = next(node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef))
    found = scan({"grader/grading/plugin.py": ("\n\n\n" + function(path, name or first)).encode()}, hidden)
    assert any(what in leak.what and leak.line > 3 for leak in found), found


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("see kl.kl_agrees_with_the_model_answer", "the hidden check kl.kl_agrees_with_the_model_answer"),
        ('{"title": "The exact KL agrees with the model answer\'s on fresh logits."}', "the hidden check kl."),
    ],
)
def test_names_and_titles_of_hidden_checks_are_found(text: str, what: str, hidden: Secrets) -> None:
    (found, *_) = scan({"docs/start.md": f"# Start\n\n{text}\n".encode()}, hidden)
    assert found.line == 3 and what in found.what


def test_what_the_numbers_of_the_worksheet_show_is_no_secret(files: dict[str, bytes], hidden: Secrets) -> None:
    name = "grader/worksheet/model_answers.json"
    assert b"the entropy is ln 10 = 2.303 nats" in files[name]
    assert scan({name: files[name]}, hidden) == []


def test_whole_files_are_found_and_what_is_not_text_is_refused(hidden: Secrets) -> None:
    key = (course.MODEL_ANSWERS / "worksheet_key.json").read_bytes()
    weights = (course.MODEL_ANSWERS / "charlm.safetensors").read_bytes()
    found = scan(
        {"a.json": key, "b.zip": b"PK\x03\x04\xff\xfe", "c.safetensors": weights, "d.bin": weights[:-1]}, hidden
    )
    assert "a.json: the file reference/worksheet_key.json" in map(str, found)
    assert [leak.file for leak in found if "not text" in leak.what] == ["b.zip", "d.bin"]
