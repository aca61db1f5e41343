"""What a student reads: it names the mistake and shows the call, and no text of a submission can deceive or flood."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from submissions import grading_profile
from terminal_reports import ASCII_HOSTILE, HOSTILE, MARKUP, assert_harmless, report_of

from grader.core import course
from grader.core.contents import read_submission
from grader.grading import run, vectors
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import replaced


@dataclass(frozen=True)
class Graded:
    """What came of one grading. No line of the report is folded."""

    code: int
    report: str
    document: dict[str, Any]

    @property
    def lines(self) -> list[str]:
        """The lines with one space between words."""
        return [" ".join(line.split()) for line in self.report.splitlines()]

    @property
    def named(self) -> list[str]:
        """Mistakes that are told as causes; what is only observed in the numbers is true whatever the cause is."""
        told = [found for exercise in self.document["exercises"] for found in exercise["misconceptions"]]
        return [found["name"] for found in told if not found["observed"]]


Grade = Callable[..., Graded]


@pytest.fixture
def grade(sandbox: Sandbox) -> Grade:
    """Grades one exercise of a folder, or the checks of one of its functions."""

    def grade(folder: Path, exercise: str, function: str = "") -> Graded:
        checks = declared_checks([exercise], hidden=True)
        checks = {name: check for name, check in checks.items() if function in ("", check.function)}
        with grading_profile():
            result = run.Grading(read_submission(folder), [exercise], sandbox.worker, checks=checks).run()
        result.isolation_level = sandbox.level
        return Graded(result.exit_code, report_of(result), json.loads(result.as_json()))

    return grade


def declared(exercise: str) -> list[Declared]:
    """The checks of an exercise as their source says, in no order."""
    found = []
    for path in sorted(course.exercise(exercise).folder.glob("*checks.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            for call in getattr(node, "decorator_list", []):
                if (
                    isinstance(node, ast.FunctionDef)
                    and isinstance(call, ast.Call)
                    and ast.unparse(call.func) == "check"
                ):
                    options = {option.arg: option.value for option in call.keywords}
                    title = (ast.get_docstring(node) or "").splitlines()[0]
                    points, gate = ast.literal_eval(options["points"]), "gate" in options
                    found.append(Declared(node.name, ast.literal_eval(call.args[0]), title, points, gate))
    return found


class Declared(NamedTuple):
    """A check."""

    name: str
    function: str
    title: str
    points: int
    gate: bool


def submission(folder: Path, exercise: str, *functions: str) -> Path:
    """The model answers with some functions replaced by those of the same name in texts."""
    for text in functions:
        name = re.findall(r"^def (\w+)", text, re.M)[-1]
        files = replaced(exercise, name, name, text).files
        module = folder / f"{exercise}.py"
        folder.mkdir(parents=True, exist_ok=True)
        module.write_text(f"{module.read_text('utf-8')}\n\n{text}" if module.exists() else files[module.name], "utf-8")
    return folder


# Five typical wrong answers, as students write them

SAMPLE_STD = """
def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):
    rewards = _checked(rewards)
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    if divide_by_std:
        centred = centred / (rewards.std(dim=-1, keepdim=True) + std_eps)
    return centred
"""
SAMPLE_STD_WITH_GUARDS = """
def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):
    rewards = _checked(rewards)
    if rewards.shape[-1] == 1:
        return torch.zeros_like(rewards)
    advantages = rewards - rewards.mean(dim=-1, keepdim=True)
    if divide_by_std:
        advantages = advantages / (rewards.std(dim=-1, keepdim=True) + std_eps)
    return torch.where((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0, advantages)
"""
WHOLE_BATCH = """
def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):
    rewards = _checked(rewards)
    advantages = rewards - rewards.mean()
    if divide_by_std:
        advantages = advantages / (rewards.std(correction=0) + std_eps)
    same = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    return torch.where(same, torch.zeros_like(advantages), advantages)
"""
MINIMUM_OF_RATIOS = """
def clipped_surrogate(ratio, advantages, *, clip_eps=0.2, clip_eps_high=None):
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    return torch.min(ratio, torch.clamp(ratio, low, high)) * advantages
"""
REVERSED_K3 = """
def kl_estimate(logp, ref_logp, *, kind="k3"):
    _check_same_shape(logp, ref_logp, "logp", "ref_logp")
    if kind not in ("k1", "k2", "k3"):
        raise ValueError(f"kind must be k1, k2 or k3, got {kind}")
    log_ratio = logp - ref_logp.detach()
    if kind == "k1":
        return log_ratio
    if kind == "k2":
        return 0.5 * log_ratio ** 2
    return torch.expm1(log_ratio) - log_ratio
"""
DETACHED_LOGP = """
def importance_ratio(logp, old_logp):
    with torch.no_grad():
        return torch.exp((logp - old_logp).clamp(min=-20, max=20))
"""


@pytest.mark.parametrize(
    ("exercise", "function", "text", "name", "phrase", "yours", "expected"),
    [
        (
            "advantages",
            "group_advantages",
            SAMPLE_STD_WITH_GUARDS,
            "divides_by_group_size_minus_one",
            "divide by G - 1",
            "[[1.5, -0.5, -0.5, -0.5], [1.225, 0, 0, -1.225]]",
            "[[1.732, -0.5774, -0.5774, -0.5774], [1.414, 0, 0, -1.414]]",
        ),
        (
            "advantages",
            "group_advantages",
            WHOLE_BATCH,
            "whole_batch_statistics",
            "over the whole batch",
            "[[-0.09167, -0.825, -0.825, -0.825], [2.108, 0.6417, 0.6417, -0.825]]",
            "[[1.732, -0.5774, -0.5774, -0.5774], [1.414, 0, 0, -1.414]]",
        ),
        (
            "clip",
            "clipped_surrogate",
            MINIMUM_OF_RATIOS,
            "minimum_before_advantage",
            "minimum of the two ratios",
            "[1.2, -1.2, 0.5, -0.5]",
            "[1.2, -1.5, 0.5, -0.8]",
        ),
        (
            "kl",
            "kl_estimate",
            REVERSED_K3,
            "reverses_the_ratio_in_k3",
            "x = ref_logp - logp",
            "[0.3069, 0.1931, 0]",
            "[0.1931, 0.3069, 0]",
        ),
        ("clip", "importance_ratio", DETACHED_LOGP, "no_gradient", "without gradient", "none", "a finite gradient"),
    ],
    ids=["sample std", "whole batch", "minimum of ratios", "reversed k3", "detached logp"],
)
def test_a_typical_mistake_is_named_beside_the_call_the_numbers_and_the_page(
    grade: Grade,
    tmp_path: Path,
    exercise: str,
    function: str,
    text: str,
    name: str,
    phrase: str,
    yours: str,
    expected: str,
) -> None:
    graded = grade(submission(tmp_path / "me", exercise, text), exercise, function)
    assert graded.code == 1
    assert set(graded.named) == {name}
    sentence = vectors.load(exercise)[1][function][name].sentence
    assert phrase in sentence
    lines = graded.lines
    named = f"Your numbers are what you get if {sentence}."
    assert lines.count(named) == 1, "once, however many checks show it"
    assert graded.report.count("what you get if") == 1
    shown = [line for line in lines[lines.index(named) :] if not line.startswith("more docs/")]
    label = "gradient in logp" if yours == "none" else "yours"
    places = [shown.index(f"{label} {yours}")]
    places += [
        next(n for n, line in enumerate(shown) if line.startswith(start)) for start in (f"expected {expected}", "call ")
    ]
    places += [
        next(n for n, line in enumerate(shown) if f"{function}(" in line),
        shown.index(pasting(exercise, function)),
    ]
    assert places == sorted(places)
    assert f"page docs/exercises/{exercise}.md hint the same command with --hint" in lines


def pasting(exercise: str, function: str) -> str:
    return f"to paste it import torch; from starter.{exercise} import {function}"


# The same mistakes without the care for special cases: two mistakes at once, as most students hand them in.
SAMPLE, BATCH = "divides_by_group_size_minus_one", "whole_batch_statistics"
BATCH_WITHOUT_CARE = WHOLE_BATCH.replace("torch.where(same, torch.zeros_like(advantages), advantages)", "advantages")
WITHOUT_CARE = {
    "sample std": (SAMPLE_STD, {SAMPLE, "group_of_one_becomes_nan"}),
    "sample std, group of one guarded": (
        SAMPLE_STD.replace("if divide_by_std:", "if divide_by_std and rewards.shape[-1] > 1:"),
        {SAMPLE},
    ),
    "whole batch": (BATCH_WITHOUT_CARE, {BATCH, "all_axes_are_taken_as_one"}),  # which is true, too
    "whole batch, sample std": (BATCH_WITHOUT_CARE.replace("correction=0", "correction=1"), {BATCH, SAMPLE}),
    "first axis": (SAMPLE_STD.replace("dim=-1", "dim=0"), {"statistics_over_the_first_axis", SAMPLE}),
    "another formula": (
        SAMPLE_STD.replace("return centred", "return (rewards - rewards.min()) / (rewards.max() - rewards.min() + 1)"),
        set(),
    ),
}


@pytest.mark.parametrize("mistakes", WITHOUT_CARE)
def test_no_mistake_is_named_that_was_not_made(grade: Grade, tmp_path: Path, mistakes: str) -> None:
    """Where two mistakes meet, the numbers may fit no known one; then a name would send the student astray."""
    text, made = WITHOUT_CARE[mistakes]
    graded = grade(submission(tmp_path / "me", "advantages", text), "advantages", "group_advantages")
    assert graded.code == 1
    special_cases = {"equal_rewards_become_noise"}  # true of all of them
    assert set(graded.named) - special_cases <= made


# What is shown and what is not


@pytest.mark.parametrize("exercise", ["clip", pytest.param("kl", marks=pytest.mark.proof)])
def test_functions_that_pass_take_one_line_each(grade: Grade, exercise: str) -> None:
    graded = grade(course.MODEL_ANSWERS, exercise)
    assert graded.code == 0
    for function in course.exercise(exercise).function_names:
        points = [check.points for check in declared(exercise) if check.function == function]
        line = graded.lines[graded.lines.index(function) + 1]
        assert line == f"✓ passed {sum(points)}/{sum(points)} all {len(points)} checks"
    said = graded.report.partition("next  ")[0]
    afterwards = f"docs/exercises/{exercise}.md#afterwards"
    assert said.count("docs/") == said.count(afterwards) == 1 and "--hint" not in said, "nothing else to look up"


def test_a_failure_names_what_it_may_come_from(grade: Grade, tmp_path: Path) -> None:
    wrong_sign = REVERSED_K3.replace("logp - ref_logp.detach()", "ref_logp.detach() - logp")  # k1 only
    graded = grade(submission(tmp_path / "me", "kl", wrong_sign), "kl", "kl_estimate")
    titles = {check.name: check.title for check in declared("kl")}
    cause = titles["test_the_three_estimators_are_what_their_formulas_say"]
    effect = titles["test_k1_and_k3_average_to_the_exact_kl"]
    lines = graded.lines
    failed = next(index for index, line in enumerate(lines) if line.startswith("✗ failed") and line.endswith(effect))
    came = lines.index(f"this may come from: what fails in “{cause}”")
    assert failed < came and not any(line.startswith("✗") for line in lines[failed + 1 : came])


def test_checks_wait_for_the_worked_example_and_cost_no_lines(grade: Grade, tmp_path: Path) -> None:
    graded = grade(submission(tmp_path / "me", "clip", MINIMUM_OF_RATIOS), "clip", "clipped_surrogate")
    waiting = [check for check in declared("clip") if check.function == "clipped_surrogate" and not check.gate]
    points = sum(check.points for check in waiting)
    assert f"… waiting 0/{points} {len(waiting)} checks: they wait for the worked example above" in graded.lines
    assert all(check.title not in graded.report for check in waiting)


def test_a_module_that_cannot_be_imported_is_told_once(grade: Grade, tmp_path: Path) -> None:
    me = submission(tmp_path / "me", "clip", MINIMUM_OF_RATIOS)
    (me / "clip.py").write_text("import torch\n\n\ndef importance_ratio(logp, old_logp)\n    return logp\n", "utf-8")
    graded = grade(me, "clip")
    assert graded.code == 1
    checks = declared("clip")
    assert f"✗ broken 0/{sum(check.points for check in checks)} clip.py cannot be imported" in graded.lines
    assert "where me/clip.py, line 4" in graded.lines
    assert "def importance_ratio(logp, old_logp)" in graded.lines
    assert sum("SyntaxError: expected ':'" in line for line in graded.lines) == 1
    assert all(check.title not in graded.report for check in checks), "no call was made, so none is to blame"


def test_a_mistake_that_several_checks_show_is_explained_once(grade: Grade, tmp_path: Path) -> None:
    graded = grade(submission(tmp_path / "me", "clip", DETACHED_LOGP), "clip", "importance_ratio")
    assert graded.lines.count("no gradient reaches logp: is something detached, or made without torch?") > 1
    assert graded.report.count("what you get if") == 1
    first = graded.report.index("what you get if")
    assert graded.report.index("the same mistake as above") > first


def test_an_exception_is_shown_at_the_students_own_line_in_any_script(grade: Grade, tmp_path: Path) -> None:
    text = """
def helper(x):
    return x["größe"]  # π ≈ 3.14159 — ничего
def kl_estimate(logp, ref_logp, *, kind="k3"):
    print("was ist größer: π oder 三?")
    return helper({"größer": logp})
"""
    me = submission(tmp_path / "me", "kl", text)
    number = (me / "kl.py").read_text("utf-8").splitlines().index('    return x["größe"]  # π ≈ 3.14159 — ничего') + 1
    graded = grade(me, "kl", "kl_estimate")
    where = graded.lines.index(f"where me/kl.py, line {number}, in helper")
    assert graded.lines[where + 1] == 'return x["größe"] # π ≈ 3.14159 — ничего'
    assert "printed was ist größer: π oder 三?" in graded.lines
    assert "KeyError: 'größe'" in graded.lines
    assert "torch/" not in graded.report and "grader/" not in graded.report, "only the student's own files"


def test_a_function_that_torch_does_not_have_for_a_dtype_is_broken_and_not_unwritten(
    grade: Grade, tmp_path: Path
) -> None:
    """torch raises NotImplementedError too, and the student has written something."""
    text = """
_right = zero_signal_fraction
def zero_signal_fraction(rewards):
    return _right(rewards.abs())
"""
    graded = grade(submission(tmp_path / "me", "advantages", text), "advantages", "zero_signal_fraction")
    assert "not written" not in graded.report
    assert "NotImplementedError" in graded.report and "✗ broken" in graded.report


def test_not_written_is_told_from_wrong_also_behind_a_helper(grade: Grade, tmp_path: Path) -> None:
    text = """
def later():
    raise NotImplementedError
def zero_signal_fraction(rewards):
    return later()
"""
    graded = grade(submission(tmp_path / "me", "advantages", text), "advantages", "zero_signal_fraction")
    points = [check.points for check in declared("advantages") if check.function == "zero_signal_fraction"]
    line = (tmp_path / "me" / "advantages.py").read_text("utf-8").splitlines().index(
        "    raise NotImplementedError"
    ) + 1
    where = f"the `raise` is in line {line} of me/advantages.py"
    assert f"○ not written yet 0/{sum(points)} {len(points)} checks; {where}" in graded.lines
    assert "NotImplementedError" not in graded.report


K3 = "def kl_estimate(logp, ref_logp, *, kind='k3'):\n    "


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (f"{K3}print(logp)\n", ["returned None", "`print` is not `return`"]),
        ("def kl_estimate(logp, ref_logp):\n    return logp\n", ["kl_estimate(logp, ref_logp, *, kind)", "defines"]),
        (f"{K3}return logp.tolist()\n", ["returned a list", "torch.Tensor"]),
        (f"{K3}return logp.detach().numpy()\n", ["a numpy.ndarray", "torch.Tensor"]),
        (f"{K3}return logp.mean()\n", ["the shape is () and must be (3,)"]),
        (f"{K3}return (logp - ref_logp).float()\n", ["float32 and must be float64"]),
        (f"{K3}return logp / 0\n", ["infinity"]),
        (f"import sys\n{K3}sys.exit(0)\n", ["SystemExit"]),
        (f"import os\n{K3}os._exit(0)\n", ["ended the process"]),
    ],
    ids=["None", "signature", "list", "numpy", "shape", "dtype", "infinity", "exit", "crash"],
)
def test_common_slips_are_said_in_a_sentence(grade: Grade, tmp_path: Path, text: str, sentences: list[str]) -> None:
    graded = grade(submission(tmp_path / "me", "kl", text), "kl", "kl_estimate")
    assert graded.code == 1
    flat = " ".join(graded.report.split())
    for sentence in sentences:
        assert sentence in flat


def test_a_large_file_is_graded_or_called_large(grade: Grade, tmp_path: Path) -> None:
    """Not blamed for something else: notes in comments, in a script that takes several bytes a letter."""
    me = submission(tmp_path / "me", "kl", f"_right = kl_estimate\n{K3}return _right(logp, ref_logp, kind=kind)\n")
    with (me / "kl.py").open("a", encoding="utf-8") as file:
        file.write("# заметки\n" * 40_000)
    graded = grade(me, "kl", "kl_estimate")
    assert graded.code == 0 or "kl.py is larger than" in graded.report
    assert "malformed" not in graded.report


# Hostile text

# What the function does; whether the brackets, which rich would take for its own, come through to the report.
HOSTILE_BODIES = {
    "print": (f"print({HOSTILE!a}, flush=True)\n    return logp", True),
    "raw print": (f"import os; os.write(1, {HOSTILE.encode('utf-8', 'surrogatepass')!r})\n    return logp", True),
    "exception": (f"raise ValueError({HOSTILE!a})", True),
    "type of the exception": (f"raise type({ASCII_HOSTILE!a}, (Exception,), {{}})({MARKUP!r})", True),
    "source line": ("raise ValueError(1) # " + re.sub("[\0\r\x0b\x85\ud800\udfff]", "", HOSTILE), True),
    "returned text": (f"return {HOSTILE!a}", True),
    "type of the value": (f"return type({ASCII_HOSTILE!a}, (), {{}})()", False),
    "name of a function": (
        "def f(): raise ValueError\n"
        f"    f.__code__ = f.__code__.replace(co_name={ASCII_HOSTILE!a}, co_qualname='f')\n    f()",
        True,
    ),
    "name of a file": (f"exec(compile('1 / 0', __file__ + {ASCII_HOSTILE!a}, 'exec'))", False),
    "commands to a build machine": ("print('::error::x\\n  ##[group]y')\n    return logp", False),
    "lines that look like a report": (f"raise ValueError('\\ntotal 25 of 25 points\\n' * 3 + {MARKUP!r})", True),
}


@pytest.mark.parametrize("how", HOSTILE_BODIES)
def test_hostile_text_is_shown_harmless(grade: Grade, tmp_path: Path, how: str) -> None:
    body, brackets = HOSTILE_BODIES[how]
    graded = grade(submission(tmp_path / "me", "kl", f"{K3}{body}\n"), "kl", "kl_estimate")
    assert graded.code == 1
    assert_harmless(graded.report)
    assert not brackets or MARKUP in graded.report
    assert not re.search(r"(?m)^\s*(::|##\[)", graded.report), "a log of GitHub or Azure obeys such lines"
    # What starts a line of the report is the report's own.
    assert [line for line in graded.report.splitlines() if line.startswith("total")] == [graded.report.splitlines()[-1]]


def test_a_hostile_default_value_is_shown_harmless(grade: Grade, tmp_path: Path) -> None:
    text = f"def kl_estimate(logp, *, kind={HOSTILE!a}):\n    return logp\n"
    graded = grade(submission(tmp_path / "me", "kl", text), "kl", "kl_estimate")
    assert graded.code == 1
    assert_harmless(graded.report)
    assert "expected `kl_estimate(logp, ref_logp, *, kind)`" in graded.report


@pytest.mark.skipif(os.name != "posix", reason="such a name is no file name elsewhere")
def test_a_hostile_folder_name_is_shown_harmless_on_one_line(grade: Grade, tmp_path: Path) -> None:
    me = submission(tmp_path / "me\x1b[31m\u202e\n[bold]x", "kl", f"{K3}raise ValueError\n")
    graded = grade(me, "kl", "kl_estimate")
    assert graded.code == 1
    assert_harmless(graded.report)
    headline = graded.report.splitlines()[0]
    assert headline.startswith("GRPO course") and "seed 0" in headline
    assert "[bold]x" in headline
    assert any(re.match(r"where me.*\[bold\]x/kl.py, line \d+, in kl_estimate$", line) for line in graded.lines)


def test_floods_of_text_are_cut(grade: Grade, tmp_path: Path) -> None:
    body = "for _ in range(50):\n        print('q' * 300_000)\n    raise ValueError('q' * 300_000)  # " + "q" * 5_000
    graded = grade(submission(tmp_path / "me", "kl", f"{K3}{body}\n"), "kl", "kl_estimate")
    assert 500 < graded.report.count("q") < 10_000
    assert "[cut: " in graded.report
    assert len(json.dumps(graded.document)) < 200_000
