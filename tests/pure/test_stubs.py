"""Stubs are the model answers without their solutions, and the starter folder holds these stubs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from command import call

from grader.commands.course import main
from grader.core import course
from grader.core.course import ROOT
from grader.workshop.stubs import BANNER, StubError, make_stub

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
REGION = MEAN[MEAN.index("    ### BEGIN") :]
NOT_WRITTEN = 'raise NotImplementedError("mean.mean is not written yet")'
MEAN_STUB = BANNER + MEAN.replace(REGION, f"    # TODO(mean): add up, then divide (about 1 line)\n    {NOT_WRITTEN}\n")
B, E = "### BEGIN SOLUTION: do it", "### END SOLUTION"


def in_function(*lines: str) -> str:
    """A module with one function, whose body begins in line 2."""
    return "\n".join(["def f(x):", *(f"    {line}" if line else "" for line in lines), ""])


# What a stub is


def test_a_region_becomes_its_todo_and_a_raise() -> None:
    assert make_stub(MEAN, path=PATH) == MEAN_STUB
    assert make_stub(MEAN.replace("\n", "\r\n"), path=PATH) == MEAN_STUB
    assert make_stub(MEAN.replace("END SOLUTION", "END SOLUTION  "), path=PATH) == MEAN_STUB
    unusual = '"""A form feed \x0c, a line separator \u2028 and a \x1c are no line ends."""\n'
    assert make_stub(unusual + MEAN, path=PATH) == BANNER + unusual + MEAN_STUB.removeprefix(BANNER)


@pytest.mark.parametrize(
    ("around", "name"),
    [
        (["def act():", "    def inner():"], "act"),
        (["def act(x):", "    try:", "        pass", "    finally:"], "act"),
    ],
)
def test_the_outermost_function_is_named(around: list[str], name: str) -> None:
    indent = around[-1][: len(around[-1]) - len(around[-1].lstrip())] + "    "
    body = [f"{indent}{line}" for line in (B, "return 1", E)]
    todo = [f"{indent}# TODO(mean): do it", f'{indent}raise NotImplementedError("mean.{name} is not written yet")']
    assert make_stub("\n".join([*around, *body]), path=PATH) == BANNER + "\n".join([*around, *todo])


@pytest.mark.parametrize(
    "solution",
    [
        ["for i in range(3):", "    if i:", "        continue", "else:", "    x = 1", "return x"],
        ["@staticmethod", "def inner():", "    return 1", "return inner"],
        ["y = '''", "return 2", "### END SOLUTION'''", "return y"],
        ["return (", "x", ")"],
        ["# why", "", "return x", "# that is all", ""],
    ],
)
def test_any_run_of_whole_statements_can_be_a_region(solution: list[str]) -> None:
    regions = [B, *solution, E, "given = 1", B, "return 7", E]
    todo = ["# TODO(mean): do it", 'raise NotImplementedError("mean.f is not written yet")']
    assert make_stub(in_function(*regions), path=PATH) == BANNER + in_function(*todo, "given = 1", *todo)


def test_text_without_a_region_is_copied() -> None:
    words = '"""Say\n    ### BEGIN SOLUTION: nothing\n    and # END SOLUTION 2\n    """'
    for source in (
        f'{words}\ndef f():\n    {words}\n    return "### END SOLUTION"\n',
        in_function("# The solution of the quadratic has two ends.", "### Part two", "return x  # a solution"),
        "# coding: utf-8\nRATE = 0.5  # given",
    ):
        assert make_stub(source, path=PATH) == source


REFUSED = {
    "nested": (in_function(B, "y = 1", B, "return y", E, E), 4),
    "never ended": (in_function(B, "return 1"), 2),
    "never begun": (in_function("return 1", E), 3),
    "comments only": (in_function("return 1", B, "# later", E), 3),
    "whole function": (f"x = 1\n{B}\ndef f():\n    return 1\n{E}\n", 2),
    "two functions": (in_function(B, "return 1") + "\n" + in_function("return 2", E), 2),
    "docstring": (in_function(B, '"""Say it."""', "return 1", E), 2),
    "piece of an expression": (in_function("return (", f"    {B}", "    x", f"    {E}", ")"), 3),
    "if without its else": (in_function(B, "if x:", "    return 1", E, "else:", "    return 2"), 2),
    "shallow markers": (f"def f():\n    x = 1\n{B}\n    return x\n{E}\n", 3),
    "needed by a nonlocal": (in_function(B, "y = 1", E, "def g():", "    nonlocal y", "    y = 2", "return g"), 2),
    "other indentation": (in_function(B, "return 1", f"  {E}"), 4),
    "behind code": (in_function(B, f"return 1  {E}"), 3),
    "not Python": ("x = 1\ndef f(:\n", 2),
    "return outside a function": ("x = 1\nreturn x\n", 2),
}
NEARLY_MARKERS = (
    "# BEGIN SOLUTION", "#BEGIN_SOLUTION", "# --- begin solution ---", "#### END SOLUTION", "# END SOLUTION 2",
    "### END SOLUTION.", "###END SOLUTION", "### Solution: do it", "### BEGIN SOLUTION:   ", "### BEGIN SOLUTION do it",
    "### BEGIN SOLUTON: do it", "### END SOLTUION", "### begin solution: do it", "# here is the END SOLUTION",
)  # fmt: skip


@pytest.mark.parametrize(("source", "line"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_the_file_and_the_line(source: str, line: int) -> None:
    with pytest.raises(StubError) as caught:
        make_stub(source, path=PATH)
    assert str(caught.value).startswith(f"{PATH}:{line}: ")


@pytest.mark.parametrize("comment", NEARLY_MARKERS)
def test_a_comment_that_is_nearly_a_marker_is_refused(comment: str) -> None:
    with pytest.raises(StubError, match=f"{PATH}:3: "):
        make_stub(in_function("y = 1", comment, "return y"), path=PATH)


# The command


def test_the_command_writes_what_changed_and_its_check_names_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starter = tmp_path / "starter"
    shutil.copytree(course.STARTER, starter)
    monkeypatch.setattr(course, "STARTER", starter)
    (starter / "clip.py").write_bytes(b"\xff")
    for path in (starter / "kl.py", starter / "advantages.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))  # as git may do on Windows
    stale = call(main, "dev", "stubs", "--check", cwd=ROOT)
    assert (stale.returncode, (starter / "clip.py").read_bytes()) == (1, b"\xff")
    assert re.findall(r"^(\S+) is stale", stale.stdout, re.M) == ["clip.py"]
    assert call(main, "dev", "stubs", cwd=ROOT).returncode == 0
    assert (starter / "clip.py").read_text("utf-8") == (ROOT / "starter" / "clip.py").read_text("utf-8")


# The starter folder of this course; `test_generated_files.py` says whether it is current
