"""The starter folder is the model answers without their solutions, and nothing else."""

import ast
import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
import torch
from command import call
from hypothesis import given
from hypothesis import strategies as st

from grader.commands import course as course_command
from grader.core.course import KNOWN
from grader.workshop.stubs import BANNER, PACKAGE, StubError, make_starter, make_stub, stale_files, write_starter

ROOT = Path(__file__).resolve().parents[2]
PATH = Path("reference/mean.py")

MEAN = '''"""Mean: the middle."""

import torch
from torch import Tensor


def mean(values: Tensor, *, keepdim: bool = False) -> Tensor:
    """Mean over the last axis."""
    if values.ndim == 0:
        raise ValueError("values must have an axis")
    ### BEGIN SOLUTION: add up, then divide (about 1 line)
    return torch.mean(values, -1, keepdim=keepdim)
    ### END SOLUTION
'''

MEAN_STUB = '''# Written by "course dev stubs" from the model answer; replace each TODO.
"""Mean: the middle."""

import torch
from torch import Tensor


def mean(values: Tensor, *, keepdim: bool = False) -> Tensor:
    """Mean over the last axis."""
    if values.ndim == 0:
        raise ValueError("values must have an axis")
    # TODO(mean): add up, then divide (about 1 line)
    raise NotImplementedError("mean.mean is not written yet")
'''


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    folder = tmp_path / "reference"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""The model answers."""\n')
    (folder / "mean.py").write_text(MEAN)
    return folder


def stubs(*arguments: object) -> subprocess.CompletedProcess[str]:
    return call(course_command.main, "dev", "stubs", *arguments, cwd=ROOT)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_function(*lines: str) -> str:
    """A module with one function, whose body begins in line 2."""
    return "\n".join(["def f(x):", *(f"    {line}" if line else "" for line in lines), ""])


# What a stub is


def test_a_region_becomes_its_todo_and_a_raise() -> None:
    assert make_stub(MEAN, path=PATH) == MEAN_STUB


def test_a_stub_keeps_the_module_docstring_signature_and_docstring(reference: Path, tmp_path: Path) -> None:
    write_starter(reference, tmp_path / "starter")
    model, stub = load(reference / "mean.py"), load(tmp_path / "starter" / "mean.py")
    assert stub.__doc__ == model.__doc__ == "Mean: the middle."
    assert stub.mean.__doc__ == model.mean.__doc__
    assert stub.mean.__annotations__ == model.mean.__annotations__
    assert stub.mean.__kwdefaults__ == model.mean.__kwdefaults__


def test_an_untouched_stub_says_which_function_is_not_written(reference: Path, tmp_path: Path) -> None:
    write_starter(reference, tmp_path / "starter")
    with pytest.raises(NotImplementedError, match=r"^mean\.mean is not written yet$"):
        load(tmp_path / "starter" / "mean.py").mean(torch.ones(3))


def test_given_validation_works_in_an_untouched_stub(reference: Path, tmp_path: Path) -> None:
    write_starter(reference, tmp_path / "starter")
    with pytest.raises(ValueError, match="values must have an axis"):
        load(tmp_path / "starter" / "mean.py").mean(torch.tensor(1.0))


def test_every_region_of_a_file_is_taken_out() -> None:
    second = in_function("y = x", "### BEGIN SOLUTION: double", "y = x + x", "### END SOLUTION", "return y")
    stub = make_stub(MEAN + second, path=PATH)
    assert stub == MEAN_STUB + in_function(
        "y = x", "# TODO(mean): double", 'raise NotImplementedError("mean.f is not written yet")', "return y"
    )


@pytest.mark.parametrize(
    ("around", "name"),
    [
        (["class Policy:", "    def act(self):"], "Policy.act"),
        (["class Policy:", "    @property", "    def act(self):"], "Policy.act"),
        (["class Policy:", "    def act(self):", "        def inner():"], "inner"),
        (["def outer():", "    class Policy:", "        def act(self):"], "Policy.act"),
        (["async def act():"], "act"),
        (["def act(x):", "    if x:"], "act"),
        (["def act(x):", "    try:", "        pass", "    finally:"], "act"),
    ],
)
def test_the_innermost_function_is_named(around: list[str], name: str) -> None:
    indent = around[-1][: len(around[-1]) - len(around[-1].lstrip())] + "    "
    body = [f"{indent}{line}" for line in ("### BEGIN SOLUTION: act", "return 1", "### END SOLUTION")]
    stub = make_stub("\n".join([*around, *body]), path=PATH)
    todo = [f"{indent}# TODO(mean): act", f'{indent}raise NotImplementedError("mean.{name} is not written yet")']
    assert stub == BANNER + "\n".join([*around, *todo])


@pytest.mark.parametrize(
    "solution",
    [
        ["for i in range(3):", "    if i:", "        continue", "else:", "    x = 1", "return x"],
        ["@staticmethod", "def inner():", "    return 1", "return inner"],
        ["y = '''", "return 2", "'''", "return y"],
        ["return (", "x", ")"],
        ["# why", "", "return x", "# that is all", ""],
    ],
)
def test_any_run_of_whole_statements_can_be_a_region(solution: list[str]) -> None:
    stub = make_stub(in_function("### BEGIN SOLUTION: all", *solution, "### END SOLUTION"), path=PATH)
    assert stub == BANNER + in_function("# TODO(mean): all", 'raise NotImplementedError("mean.f is not written yet")')


def test_marker_words_in_a_string_or_docstring_are_just_words() -> None:
    words = '"""Say\n    ### BEGIN SOLUTION: nothing\n    and # END SOLUTION 2\n    """'
    source = f"""{words}\ndef f():\n    {words}\n    return "### END SOLUTION"\n"""
    assert make_stub(source, path=PATH) == source


def test_ordinary_comments_may_speak_of_solutions() -> None:
    source = in_function("# The solution of the quadratic has two ends.", "### Part two", "return x  # a solution")
    assert make_stub(source, path=PATH) == source


def test_text_without_a_region_is_copied_as_it_is() -> None:
    source = "# coding: utf-8\nRATE = 0.5  # given"
    assert make_stub(source, path=PATH) == source


def test_windows_line_ends_give_the_same_stub() -> None:
    assert make_stub(MEAN.replace("\n", "\r\n"), path=PATH) == MEAN_STUB


def test_invisible_blanks_behind_a_marker_are_forgiven() -> None:
    assert make_stub(MEAN.replace("END SOLUTION", "END SOLUTION  "), path=PATH) == MEAN_STUB


def test_lines_are_counted_as_python_counts_them() -> None:
    unusual = '"""A form feed \x0c, a line separator \u2028, a \x1c and a \x1d are no line ends."""\n'
    assert make_stub(unusual + MEAN, path=PATH) == BANNER + unusual + MEAN_STUB.removeprefix(BANNER)


# What is refused, and where

B, E = "### BEGIN SOLUTION: do it", "### END SOLUTION"
WRITE = "write `### BEGIN SOLUTION: what to do` or `### END SOLUTION` alone on its line, or reword this"
INSIDE = "move this region inside the body of one function"
WHOLE = "mark whole statements of one function body that the rest can spare"
EMPTY = "put the solution into this region: it holds no statement"
REFUSED = {
    "nested": (in_function(B, "y = 1", B, "return y", E, E), 4, "end the region of line 2 before you begin another"),
    "never ended": (in_function(B, "return 1"), 2, "end this region with `### END SOLUTION`"),
    "never begun": (in_function("return 1", E), 3, "begin a region before you end it, or delete this marker"),
    "blank": (in_function(B, "", E, "return 1"), 2, EMPTY),
    "comments only": (in_function("return 1", B, "# later", E), 3, EMPTY),
    "module level": (f"{B}\nx = 1\n{E}\n", 1, INSIDE),
    "whole function": (f"x = 1\n{B}\ndef f():\n    return 1\n{E}\n", 2, INSIDE),
    "whole method": (f"class A:\n    {B}\n    def f(self):\n        return 1\n    {E}\n", 2, INSIDE),
    "class body": (in_function("class A:", f"    {B}", "    y = 1", f"    {E}", "return A"), 3, INSIDE),
    "two functions": (in_function(B, "return 1") + "\n" + in_function("return 2", E), 2, WHOLE),
    "end of one, all of the next": (in_function("y = 1", B, "return 1") + in_function("return 2", E), 3, WHOLE),
    "docstring": (
        in_function(B, '"""Say it."""', "return 1", E),
        2,
        "move this marker below the docstring: a stub keeps it",
    ),
    "piece of an expression": (in_function("return (", f"    {B}", "    x", f"    {E}", ")"), 3, WHOLE),
    "first half of a statement": (in_function(B, "return (", E, "    x", ")"), 2, WHOLE),
    "second half of a statement": (in_function("if x:", "    return 1", B, "else:", "    return 2", E), 4, WHOLE),
    "if without its else": (in_function(B, "if x:", "    return 1", E, "else:", "    return 2"), 2, WHOLE),
    "two branches": (in_function("if x:", f"    {B}", "    y = 1", "else:", "    y = 2", f"    {E}"), 3, WHOLE),
    "shallow markers": (f"def f():\n    x = 1\n{B}\n    return x\n{E}\n", 3, WHOLE),
    "deep markers": (in_function("y = 1", f"    {B}", "return y", f"    {E}"), 3, WHOLE),
    "needed by a nonlocal": (
        in_function(B, "y = 1", E, "def g():", "    nonlocal y", "    y = 2", "return g"),
        2,
        WHOLE,
    ),
    "other indentation": (in_function(B, "return 1", f"  {E}"), 4, "indent this marker exactly like the one in line 2"),
    "tabs for blanks": (
        f"def f():\n        {B}\n        return 1\n\t{E}\n",
        4,
        "indent this marker exactly like the one in line 2",
    ),
    "behind code": (in_function(B, f"return 1  {E}"), 3, WRITE),
    "begin behind code": (in_function(f"y = 1  {B}", "return 1", E), 2, WRITE),
    "not Python": ("x = 1\ndef f(:\n", 2, "make this file valid Python: invalid syntax"),
    "return outside a function": ("x = 1\nreturn x\n", 2, "make this file valid Python: 'return' outside function"),
    "null byte": ("x = 1\n\0", 1, "make this file valid Python: source code string cannot contain null bytes"),
    "lone surrogate": (
        "x = '\ud800'\n",
        1,
        "make this file valid Python: "
        "'utf-8' codec can't encode character '\\ud800' in position 5: surrogates not allowed",
    ),
}


@pytest.mark.parametrize(("source", "line", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_a_refusal_names_file_line_and_what_to_do(source: str, line: int, sentence: str) -> None:
    with pytest.raises(StubError) as caught:
        make_stub(source, path=PATH)
    assert str(caught.value) == f"{PATH}:{line}: {sentence}"
    assert (caught.value.path, caught.value.line, caught.value.sentence) == (PATH, line, sentence)


@pytest.mark.parametrize(
    "comment",
    [
        "## BEGIN SOLUTION: do it",
        "# BEGIN SOLUTION",
        "#BEGIN_SOLUTION",
        "# --- begin solution ---",
        "#### END SOLUTION",
        "# END SOLUTION 2",
        "### END SOLUTION 2",
        "### END SOLUTION.",
        "###END SOLUTION",
        "### SOLUTION",
        "### Solution: do it",
        "### BEGIN SOLUTION",
        "### BEGIN SOLUTION:",
        "### BEGIN SOLUTION:   ",
        "### BEGIN SOLUTION do it",
        "### BEGIN SOLUTON: do it",
        "### END SOLTUION",
        "### begin solution: do it",
        "# here is the END SOLUTION",
    ],
)
def test_a_comment_that_is_nearly_a_marker_is_refused(comment: str) -> None:
    with pytest.raises(StubError) as caught:
        make_stub(in_function("y = 1", comment, "return y"), path=PATH)
    assert str(caught.value) == f"{PATH}:3: {WRITE}"


def test_a_file_that_is_not_utf_8_is_refused_at_its_line(reference: Path) -> None:
    (reference / "latin.py").write_bytes(b"# ok\n# caf\xe9\n")
    with pytest.raises(StubError) as caught:
        make_starter(reference)
    assert str(caught.value) == f"{reference / 'latin.py'}:2: save this file as UTF-8"


def test_code_in_the_package_file_is_refused_because_it_would_be_lost(reference: Path) -> None:
    (reference / "__init__.py").write_text('"""The model answers."""\n\nfrom .mean import mean\n')
    with pytest.raises(StubError, match=r"__init__\.py:3: move this into a module: only a docstring can stand here"):
        make_starter(reference)


# Whatever the solution is, the stub does not hold it


@st.composite
def modules(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    """A module with regions, the same module with each region replaced by `raise`, and its solution lines."""
    number = st.integers(100, 999)
    source, expected = ['"""Doc."""'], ['"""Doc."""']
    solutions: list[str] = []
    for index in range(draw(st.integers(1, 4))):
        indent = "    "
        head = [f"def f{index}(x, *, y={draw(number)}):"]
        if draw(st.booleans()):
            head.append(f'{indent}"""### BEGIN SOLUTION: f{index}"""')
        for _ in range(draw(st.integers(0, 2))):
            head.append(f"{indent}{draw(st.sampled_from(['if x:', 'for y in x:', 'while x:', 'with x:']))}")
            indent += "    "
        head.append(f"{indent}given = {draw(number)}")
        wanted = draw(
            st.lists(st.sampled_from(["secret{} = '''\n### END SOLUTION'''", "if x:\n{0}    secret{}"]), max_size=4)
        )
        solution = []
        for form in [*wanted, "secret{} = 1"]:
            name = f"{index}_{len(solutions)}"
            first, _, second = form.partition("\n")
            solution += [f"{indent}{first.replace('{}', name)}"]
            solution += [second.replace("{0}", indent).replace("{}", name)] if second else []
            solutions.append(f"secret{name}")
        tail = [f"{indent}given = x"] if draw(st.booleans()) else []
        source += [*head, f"{indent}### BEGIN SOLUTION: f{index}", *solution, f"{indent}### END SOLUTION", *tail]
        expected += [*head, f"{indent}raise NotImplementedError('mean.f{index} is not written yet')", *tail]
    return "\n".join(source), "\n".join(expected), solutions


@given(modules())
def test_a_stub_is_the_tree_of_the_model_answer_with_a_raise_for_each_region(case: tuple[str, str, list[str]]) -> None:
    source, expected, solutions = case
    stub = make_stub(source, path=PATH)
    assert ast.dump(ast.parse(stub)) == ast.dump(ast.parse(expected))
    assert not [line for line in solutions if line in stub]


# The folder


def test_the_package_file_says_that_it_is_generated_and_is_not_the_one_of_the_model_answers(reference: Path) -> None:
    starter = make_starter(reference)
    assert list(starter) == ["__init__.py", "mean.py"]
    assert starter["__init__.py"] == PACKAGE
    assert "Generated by `course dev stubs`" in PACKAGE.splitlines()[0]
    assert "the only one that you edit" in PACKAGE.splitlines()[0]
    assert len(ast.parse(PACKAGE).body) == 1


def test_only_python_files_become_part_of_the_starter(reference: Path) -> None:
    (reference / "notes.txt").write_text("### SOLUTION")
    (reference / "__pycache__").mkdir()
    assert list(make_starter(reference)) == ["__init__.py", "mean.py"]


def test_only_changed_files_are_written(reference: Path, tmp_path: Path) -> None:
    starter = tmp_path / "deep" / "starter"
    assert write_starter(reference, starter) == [starter / "__init__.py", starter / "mean.py"]
    assert (starter / "mean.py").read_text() == MEAN_STUB
    assert write_starter(reference, starter) == []
    (starter / "mean.py").write_text("edited")
    assert write_starter(reference, starter) == [starter / "mean.py"]
    assert sorted(path.name for path in starter.iterdir()) == ["__init__.py", "mean.py"]


def test_nothing_is_written_when_one_model_answer_is_refused(reference: Path, tmp_path: Path) -> None:
    (reference / "zeta.py").write_text("### SOLUTION\n")
    with pytest.raises(StubError):
        write_starter(reference, tmp_path / "starter")
    assert not (tmp_path / "starter").exists()


def test_a_file_that_cannot_be_written_leaves_nothing_half_done(reference: Path, tmp_path: Path) -> None:
    (tmp_path / "starter" / "mean.py").mkdir(parents=True)
    with pytest.raises(OSError, match=r"mean\.py"):
        write_starter(reference, tmp_path / "starter")
    assert sorted(path.name for path in (tmp_path / "starter").iterdir()) == ["__init__.py", "mean.py"]


def test_stale_missing_and_orphaned_files_are_named(reference: Path, tmp_path: Path) -> None:
    (reference / "clip.py").write_text(MEAN)
    starter = tmp_path / "starter"
    write_starter(reference, starter)
    assert stale_files(reference, starter) == []
    (starter / "mean.py").write_bytes(b"\xff")
    (starter / "clip.py").unlink()
    (starter / "old.py").write_text("")
    assert stale_files(reference, starter) == [
        "starter/clip.py is missing: `course dev stubs` writes it",
        "starter/mean.py differs from what `course dev stubs` writes",
        "starter/old.py has no model answer: delete it",
    ]


def test_line_ends_changed_by_git_are_not_stale(reference: Path, tmp_path: Path) -> None:
    starter = tmp_path / "starter"
    write_starter(reference, starter)
    for path in (reference / "mean.py", starter / "mean.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert stale_files(reference, starter) == []
    assert write_starter(reference, starter) == []


# The command


def test_the_command_writes_and_says_what(reference: Path, tmp_path: Path) -> None:
    starter = tmp_path / "starter"
    done = stubs("--reference", reference, "--starter", starter)
    assert (done.returncode, done.stdout, done.stderr) == (0, "wrote __init__.py\nwrote mean.py\n", "")
    assert (starter / "mean.py").read_text() == MEAN_STUB
    again = stubs("--reference", reference, "--starter", starter)
    assert (again.returncode, again.stdout, again.stderr) == (0, "every stub is up to date\n", "")


def test_the_check_names_stale_files_and_writes_nothing(reference: Path, tmp_path: Path) -> None:
    starter = tmp_path / "starter"
    write_starter(reference, starter)
    fine = stubs("--check", "--reference", reference, "--starter", starter)
    assert (fine.returncode, fine.stdout, fine.stderr) == (0, "every stub is up to date\n", "")
    (starter / "mean.py").write_text("edited")
    stale = stubs("--check", "--reference", reference, "--starter", starter)
    sentence = "starter/mean.py differs from what `course dev stubs` writes\n"
    assert (stale.returncode, stale.stdout, stale.stderr) == (1, sentence, "")
    assert (starter / "mean.py").read_text() == "edited"


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_a_refused_model_answer_ends_the_command_with_2(reference: Path, tmp_path: Path, options: tuple[str]) -> None:
    (tmp_path / "starter").mkdir()
    (reference / "bad.py").write_text("x = 1\n### SOLUTION\n")
    done = stubs(*options, "--reference", reference, "--starter", tmp_path / "starter")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{reference / 'bad.py'}:2: {WRITE}\n")


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_a_missing_folder_of_model_answers_ends_the_command_with_2(tmp_path: Path, options: tuple[str]) -> None:
    done = stubs(*options, "--reference", tmp_path / "none", "--starter", tmp_path / "starter")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path / 'none'}: name a folder that holds model answers (*.py)\n"
    assert not (tmp_path / "starter").exists()


def test_a_missing_starter_folder_ends_the_check_with_2(reference: Path, tmp_path: Path) -> None:
    done = stubs("--check", "--reference", reference, "--starter", tmp_path / "none")
    assert (done.returncode, done.stderr) == (2, f"{tmp_path / 'none'}: name a folder that holds the stubs\n")


# This course


def test_the_starter_folder_is_what_the_command_would_write() -> None:
    done = stubs("--check")
    current = "every stub is up to date\nthe signatures and uses of functions are current\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, current, "")


@pytest.mark.parametrize("name", [path.name for path in sorted((ROOT / "reference").glob("[!_]*.py"))])
def test_no_line_of_a_solution_is_in_the_starter(name: str) -> None:
    stub = (ROOT / "starter" / name).read_text(encoding="utf-8")
    inside, solution = False, []
    for line in (ROOT / "reference" / name).read_text(encoding="utf-8").splitlines():
        if line.strip().startswith("###"):
            inside = "BEGIN" in line
        elif inside:
            solution.append(line.strip())
    assert not [line for line in solution if line and line in map(str.strip, stub.splitlines())]


@pytest.mark.parametrize("exercise", [each for each in KNOWN if not each.is_data], ids=lambda each: each.name)
def test_a_page_says_how_many_lines_the_todos_of_its_exercise_are(exercise) -> None:
    page = (ROOT / exercise.page).read_text("utf-8")
    (told,) = re.findall(r"minutes and (\d+) lines of code", page)
    todos = re.findall(r"# TODO.*\(about (\d+) lines?\)", (ROOT / "starter" / exercise.file_name).read_text("utf-8"))
    assert int(told) == sum(map(int, todos))


def test_the_starter_of_this_course_refuses_bad_rewards_before_it_says_not_written() -> None:
    advantages = load(ROOT / "starter" / "advantages.py")
    with pytest.raises(ValueError, match="rewards must be finite"):
        advantages.group_advantages(torch.tensor([1.0, float("nan")]))
    with pytest.raises(NotImplementedError, match=r"advantages\.group_advantages is not written yet"):
        advantages.group_advantages(torch.tensor([1.0, 0.0]))
