"""Whatever a student hands in gets a grade, a clear sentence for what is wrong, and full points for what is right."""

import io
import json
import os
import subprocess
import sys
import sysconfig
import textwrap
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from command import call
from rich.console import Console
from submissions import SubmissionMaker, grading_profile, model_answer

from grader.commands import grade as cli
from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, TO_PASTE, WAITING, CheckResult, Result
from grader.grading import plugin
from grader.grading.check import checks_of
from grader.grading.run import Grading
from grader.grading.student import Call, Loaded, Student
from grader.reports import terminal
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker_process import WorkerDied

Files = Mapping[str, str | bytes | None]
Grader = Callable[..., Result]

GROUP_ADVANTAGES = "def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):\n"
SIGNATURE = "group_advantages(rewards, *, std_eps, divide_by_std)"


@pytest.fixture
def graded(sandbox: Sandbox, make_submission: SubmissionMaker) -> Grader:
    """Grades a folder of files, and makes sure of what must hold for every submission.

    Its gates show that a function is right or wrong; `of` asks for all checks of one function, `whole` for all.
    """

    def run(files: Files, *exercises: str, of: str = "", whole: bool = False, **options: Any) -> Result:
        names = exercises or ("advantages",)
        folder = make_submission(files)
        seen: list[str] = []
        submission = read_submission(folder)
        declared = [
            check
            for name in names
            for check in checks_of(name, hidden=True)
            if whole or check.gate or check.function == of
        ]
        options["checks"] = {check.id: check for check in declared}
        with grading_profile():
            result = Grading(submission, names, sandbox.worker, **options).run(lambda _, entry: seen.append(entry.id))
        assert [entry.id for entry in result.checks] == [check.id for check in declared]
        assert sorted(seen) == sorted(check.id for check in declared)
        assert [entry.points for entry in result.checks] == [check.points for check in declared]
        assert result.points == sum(check.points for check in declared)
        assert result.problem == ""
        assert result.complete
        for entry in result.checks:
            assert entry.outcome in (PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING), (entry.id, entry.story)
            assert entry.earned == (entry.points if entry.outcome == PASSED else 0)
            # Numbers that are wrong everywhere speak for themselves: yours and the expected ones, side by side.
            told = entry.story != "" or (entry.outcome == FAILED and len(entry.rows) >= 2)
            assert told == (entry.outcome in (FAILED, BROKEN)), entry.id
            assert len(entry.story) < 5_000
            assert "\n  File" not in entry.story, "a student reads a sentence, not our traceback"
        assert result.exit_code == (0 if result.earned == result.points else 1)
        result.write(folder.parent / "result.json")
        assert json.loads((folder.parent / "result.json").read_text("utf-8"))["earned"] == result.earned
        assert f"{result.earned} of {result.points} points" in shown(result)
        return result

    return run


def shown(result: Result) -> str:
    """The report as a student reads it, in a terminal that knows UTF-8."""
    page = io.TextIOWrapper(io.BytesIO(), "utf-8")
    terminal.show(result, Console(file=page, width=200))
    page.seek(0)
    return page.read()


def with_body(body: str) -> dict[str, str]:
    """The model answers, in which `group_advantages` does something else."""
    text = f"{model_answer('advantages')}\n\n{GROUP_ADVANTAGES}{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    return {"advantages.py": text}


def with_signature(signature: str) -> dict[str, str]:
    return {"advantages.py": f"{model_answer('advantages')}\n\n{signature}\n    return rewards\n"}


def of(result: Result, function: str) -> list[CheckResult]:
    found = [entry for entry in result.checks if entry.function == function]
    assert found
    return found


def only_wrong(result: Result, *functions: str) -> CheckResult:
    """The worked example of the first function, after making sure that nothing but these functions lost a point."""
    for entry in result.checks:
        if entry.function in functions:
            assert entry.outcome != PASSED, entry.id
        else:
            assert entry.outcome == PASSED, (entry.id, entry.story)
    for function in functions:
        gate, *others = of(result, function)
        assert gate.gate
        assert all(entry.outcome == WAITING for entry in others)
        assert all(entry.waits_for == [gate.title] for entry in others)
    return of(result, functions[0])[0]


def all_right(result: Result) -> None:
    assert [(entry.id, entry.story) for entry in result.checks if entry.outcome != PASSED] == []
    assert result.earned == result.points
    assert result.exit_code == 0


@pytest.fixture
def short_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of a second for a call, so that the tests of endless loops are short."""
    monkeypatch.setattr(course, "CALL_SECONDS", 0.3)


def test_the_model_answers_earn_everything(graded: Grader) -> None:
    all_right(graded({}, "advantages", "clip", "kl"))


# What a function may return instead of the answer

RETURNED = {
    "nothing": ("pass", "returned None: does every path through it end in `return`?"),
    "a print": ("print(rewards)", "returned None: does every path through it end in `return`?"),
    "an array of numpy": ("return rewards.numpy()", "returned a numpy.ndarray; it must return a torch.Tensor"),
    "a list": ("return rewards.tolist()", "returned a list"),
    "a float": ("return 1.5", "returned a float: 1.5; it must return a torch.Tensor"),
    "a whole number": ("return 7", "returned a int"),
    "a truth value": ("return True", "returned a bool"),
    "a word": ("return 'advantages'", "returned a str"),
    "a tuple": ("return rewards, rewards", "returned a tuple"),
    "a dict": ("return {'advantages': rewards}", "returned a dict"),
    "a set": ("return {1, 2}", "returned a set"),
    "a function": ("return lambda: rewards", "returned a function; it must return a torch.Tensor"),
    "a type": ("return torch.Tensor", "must return a torch.Tensor"),
    "a module": ("return torch", "returned a module"),
    "a generator": ("return (reward for reward in rewards)", "returned a generator"),
    "itself": ("return group_advantages", "returned a function"),
    "a parameter": ("return torch.nn.Parameter(rewards)", "returned a torch.nn.parameter.Parameter"),
    "a subclass of tensor": (
        "class Mine(Tensor):\n    pass\nreturn rewards.as_subclass(Mine)",
        "Mine; it must return a torch.Tensor",
    ),
    "a sparse tensor": ("return rewards.to_sparse()", "layout torch.sparse_coo"),
    "a complex tensor": ("return rewards.to(torch.complex128)", "dtype torch.complex128"),
    "a shape that lost an axis": ("return rewards.mean(dim=-1)", "the shape is (2,) and must be (2, 4)"),
    "a shape that gained an axis": ("return rewards[None]", "the shape is (1, 2, 4) and must be (2, 4)"),
    "a transposed shape": ("return rewards.T", "the shape is (4, 2) and must be (2, 4)"),
    "no elements": ("return rewards[:0]", "the shape is (0, 4) and must be (2, 4)"),
    "no axes": ("return rewards.mean()", "the shape is () and must be (2, 4)"),
    "a smaller dtype": ("return rewards.float()", "the dtype is float32 and must be float64"),
    "half a dtype": ("return rewards.bfloat16()", "the dtype is bfloat16 and must be float64"),
    "whole numbers": ("return rewards.long()", "the dtype is int64 and must be float64"),
    "truth values": ("return rewards > 0", "the dtype is bool and must be float64"),
    "not a number": ("return rewards * float('nan')", "the result holds NaN"),
    "one NaN": ("rewards = rewards.clone()\nrewards[0, 1] = float('nan')\nreturn rewards", "the result holds NaN"),
    "infinity": ("return rewards / 0.0 + 1 / (rewards * 0)", "the result holds"),
}


ALIKE = {"a print", "a whole number", "a word", "a dict", "a set", "a type", "a module", "a generator", "itself"}


@pytest.mark.parametrize(
    ("body", "words"),
    [pytest.param(*case, id=name, marks=[pytest.mark.proof] * (name in ALIKE)) for name, case in RETURNED.items()],
)
def test_a_wrong_kind_of_answer_is_told_in_one_sentence(graded: Grader, body: str, words: str) -> None:
    gate = only_wrong(graded(with_body(body)), "group_advantages")
    assert gate.outcome == FAILED
    assert words in gate.story
    assert "\n" not in gate.story
    assert [label for label, _ in gate.rows] == ["yours", "expected", TO_PASTE]
    assert gate.call.startswith("group_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0]")


def test_wrong_numbers_show_both_sides(graded: Grader) -> None:
    gate = only_wrong(graded(with_body("return rewards - rewards.mean(dim=-1, keepdim=True)")), "group_advantages")
    assert gate.outcome == FAILED
    rows = dict(gate.rows)
    assert rows["yours"].startswith("[[0.75, -0.25, -0.25, -0.25]")
    assert rows["expected"].startswith("[[1.732, -0.5774, -0.5774, -0.5774]")


def test_a_wrong_dtype_costs_the_check_of_the_dtype_and_no_other(graded: Grader) -> None:
    last = "return advantages.masked_fill(no_signal, 0.0)"
    text = model_answer("advantages")
    assert text.count(last) == 1
    result = graded({"advantages.py": text.replace(last, f"{last}.float()")}, of="group_advantages")
    (wrong,) = [entry for entry in result.checks if entry.outcome != PASSED]
    assert wrong.id == "advantages.dtype_is_kept_and_whole_numbers_become_floats"
    assert wrong.story == "the dtype is float32 and must be float64; the values are right"
    assert dict(wrong.rows)["yours"].endswith("dtype float32")


@pytest.mark.parametrize(
    "body",
    ["return torch.randn_like(rewards)", "import random; return rewards + random.random()"],
)
def test_random_answers_earn_nothing(graded: Grader, body: str) -> None:
    gate = only_wrong(graded(with_body(body)), "group_advantages")
    assert gate.outcome == FAILED
    assert gate.earned == 0


def test_an_answer_that_depends_on_the_number_of_calls_is_called_by_its_name(graded: Grader) -> None:
    body = (
        "global calls\ncalls = globals().get('calls', 0) + 1\n"
        + "answer = MODEL(rewards, std_eps=std_eps, divide_by_std=divide_by_std)\n"
        + "return answer if calls % 7 else answer + 1"
    )
    text = (
        f"{model_answer('advantages')}\nMODEL = group_advantages\n\n{GROUP_ADVANTAGES}{textwrap.indent(body, '    ')}\n"
    )
    result = graded({"advantages.py": text}, of="group_advantages", gates=False)
    wrong = [entry for entry in of(result, "group_advantages") if entry.outcome != PASSED]
    assert wrong
    assert {entry.outcome for entry in wrong} == {FAILED}
    assert any("different answers to the same question" in entry.story for entry in wrong)
    assert all(entry.outcome == PASSED for entry in of(result, "zero_signal_fraction"))


def test_an_answer_that_is_remembered_from_the_first_call_is_wrong_from_the_second(graded: Grader) -> None:
    body = """
    global remembered
    if "remembered" not in globals():
        remembered = MODEL(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
    return remembered
    """
    text = f"{model_answer('advantages')}\nMODEL = group_advantages\n\n{GROUP_ADVANTAGES}{body}"
    result = graded({"advantages.py": text}, of="group_advantages", gates=False)
    outcomes = [entry.outcome for entry in of(result, "group_advantages")]
    assert outcomes.count(FAILED) >= 5
    assert set(outcomes) <= {PASSED, FAILED}
    named = result.exercises[0].misconceptions
    assert {found.name for found in named} == {"earlier_calls"} and named[0].observed
    assert "Your numbers are others when this call is made alone" in shown(result)
    call = next(entry.call for entry in result.checks if entry.id == named[0].check)
    assert call.count("group_advantages(") == 2, "the call alone is right when it is pasted"
    assert all(entry.outcome == PASSED for entry in of(result, "zero_signal_fraction"))


def test_in_place_of_a_long_call_the_report_shows_a_worked_example_that_goes_wrong_too(
    graded: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = "group_advantages(torch.tensor([[0.0, 1.0]], dtype=torch.float64))"
    monkeypatch.setattr(plugin, "_LONG_CALL", len(short))  # how long the fresh input is depends on the submission
    body = """
    answer = MODEL(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
    return answer if rewards.shape[-1] == 4 else -answer
    """
    text = f"{model_answer('advantages')}\nMODEL = group_advantages\n\n{GROUP_ADVANTAGES}{body}"
    gate = graded({"advantages.py": text}).checks[0]
    assert gate.outcome == FAILED and gate.call == short
    assert "but other rewards are not; a smaller call goes wrong too: both values differ" in gate.story
    assert gate.rows[:2] == [("yours", "[[1, -1]]"), ("expected", "[[-1, 1]]")]


def test_what_one_check_left_in_a_module_is_gone_in_the_next(graded: Grader) -> None:
    body = "if 'used' in globals():\n    return None\nglobal used\nused = True\nreturn rewards"
    result = graded(with_body(body), of="group_advantages", gates=False)
    entries = of(result, "group_advantages")
    assert BROKEN not in {entry.outcome for entry in entries}
    assert any("returned None" in entry.story for entry in entries)  # the second call in one check
    first_calls = [entry for entry in entries if "returned None" not in entry.story]
    assert len(first_calls) >= 5  # these failed in their first call, which a module of its own answered


def test_changing_an_argument_in_place_loses_that_check(graded: Grader) -> None:
    body = """
    if rewards.is_floating_point():
        rewards.add_(1.0)
    return MODEL(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
    """
    text = f"{model_answer('advantages')}\nMODEL = group_advantages\n\n{GROUP_ADVANTAGES}{body}"
    result = graded({"advantages.py": text}, of="group_advantages")
    stories = [entry.story for entry in of(result, "group_advantages") if entry.outcome == FAILED]
    assert any("changed its argument rewards in place" in story for story in stories)
    assert of(result, "group_advantages")[0].outcome == PASSED


# What a function may do instead of returning

RAISED = {
    "an exception": ("return 1 / 0", "ZeroDivisionError: division by zero"),
    "a wrong shape inside torch": ("return rewards @ rewards", "RuntimeError: mat1 and mat2 shapes"),
    "a name that is not there": ("return reward", "NameError: name 'reward' is not defined"),
    "sys.exit": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "quit": ("raise SystemExit('all checks passed')", "SystemExit: all checks passed"),
    "an interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "recursion": ("return group_advantages(rewards)", "RecursionError: maximum recursion depth exceeded"),
    "too much memory for torch": ("return torch.zeros(10**11)", "memory"),
    "too much memory for Python": ("return bytearray(40 << 30)", "MemoryError"),
    "an exception without text": ("raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})", "Odd: (the text"),
    "an exception of a long name": ("raise type('N' * 10**5, (Exception,), {})('why')", "NNN: why"),
    "an exception of a long text": ("raise ValueError('x' * 10**6)", "ValueError: xxx"),
    "an exception of a terminal": ("raise ValueError('\\x1b[2Jgone\\x07')", "gone"),
    "an exception that no file can hold": ("raise ValueError('\\ud800 lone')", "lone"),
    "an exception of nothing": ("raise", "RuntimeError: No active exception to reraise"),
    "an exception that is none": ("raise 'wrong'", "TypeError: exceptions must derive from BaseException"),
    "an exception of the checks": ("assert rewards is None, 'must be'", "AssertionError: must be"),
    "a breakpoint": ("breakpoint()", "grade --debug"),
    "a question": ("return input('reward? ')", "EOFError"),
    "torch lacks it": ("return rewards.to_sparse().std(-1)", "NotImplementedError: Could not run 'aten::std"),
    "a program": ("import subprocess; subprocess.run(['/bin/true'], check=True)", "PermissionError"),
    "a download": ("import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')", "Error"),
}


RAISED_ALIKE = {"quit", "an exception of nothing", "an exception that is none", "an exception of the checks"}


@pytest.mark.parametrize(
    ("body", "words"),
    [pytest.param(*case, id=name, marks=[pytest.mark.proof] * (name in RAISED_ALIKE)) for name, case in RAISED.items()],
)
def test_an_exception_is_shown_with_the_students_own_line(
    graded: Grader, sandbox: Sandbox, body: str, words: str
) -> None:
    if words == "PermissionError" and not sandbox.level:
        pytest.skip("without walls a submission may start a program")
    files = with_body(body)
    gate = only_wrong(graded(files), "group_advantages")
    assert gate.outcome == BROKEN
    assert words in gate.story
    first, last = gate.frames[0], gate.frames[-1]
    assert first.file == last.file == "homework/advantages.py"
    assert last.source == files["advantages.py"].splitlines()[last.line - 1].strip()
    assert last.function in ("group_advantages", "<lambda>", "__str__")
    assert gate.call.startswith("group_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0]")


def test_an_exception_shows_nothing_of_the_grader(graded: Grader) -> None:
    report = shown(graded(with_body("return 1 / 0")))
    assert "homework/advantages.py, line" in report
    assert "return 1 / 0" in report
    for ours in ("worker", "serve.py", "student.py", "plugin.py", "site-packages", "Traceback"):
        assert ours not in report


def test_what_a_submission_prints_cannot_command_the_terminal(graded: Grader) -> None:
    report = shown(graded(with_body("print('\\x1b[2J\\x1b]0;title\\x07hidden \\u202e reversed'); return 1 / 0")))
    assert "printed hidden reversed" in " ".join(report.split())
    assert not set(report) & {"\x1b", "\x07", "\u202e"}


UNSENDABLE = {
    "a list that holds itself": "value = []\nvalue.append(value)\nreturn value",
    "a list too deep": "value = []\nfor _ in range(100):\n    value = [value]\nreturn value",
    "a number too large": "return 2**70",
    "a list too long": "return ['x' * 100_000] * 30",
}


@pytest.mark.parametrize("body", UNSENDABLE.values(), ids=UNSENDABLE.keys())
def test_a_value_that_cannot_be_sent_says_so(graded: Grader, body: str) -> None:
    gate = only_wrong(graded(with_body(body)), "group_advantages")
    assert gate.outcome in (BROKEN, FAILED)
    assert "returned value cannot be sent" in gate.story


@pytest.mark.parametrize(
    "body",
    [
        "return torch.empty(0, 2**62, dtype=torch.float64)",
        "return torch.zeros(1, dtype=torch.float64).expand(2**40)",
        "return torch.empty(2, 4, dtype=torch.float64, device='meta')",
        "return '\\ud800'",
        "return {'\\ud800': ['\\x1b[2J']}",
        "return torch.zeros([1] * 20, dtype=torch.float64)",
        "return {1: rewards, '1': rewards}",
        "return type('Odd\\ud800', (), {})()",
        "return type('Tensor', (), {'__module__': 'torch'})()",
        "return type('Tensor', (), {'__module__': 5})()",
        "return type('Odd', (list,), {'__len__': lambda self: 1 / 0})()",
    ],
    ids=lambda body: body.removeprefix("return "),
)
def test_odd_values_are_wrong_answers_and_nothing_worse(graded: Grader, body: str) -> None:
    gate = only_wrong(graded(with_body(body)), "group_advantages")
    assert gate.outcome in (BROKEN, FAILED)


DEADLY = {
    "os._exit(0)": ("import os; os._exit(0)", "your code ended the process with exit status 0"),
    "os._exit(1)": ("import os; os._exit(1)", "your code ended the process with exit status 1"),
    "a segmentation fault": ("import ctypes; ctypes.string_at(0)", "your code ended the process (segmentation fault)"),
    "abort": ("import os; os.abort()", "your code ended the process"),
    "an endless loop": ("while True:\n    pass", "your code gave no answer within 0.3 seconds"),
    "an endless loop in C": ("return 10 ** 10**8", "your code gave no answer within 0.3 seconds"),
    "sleep": ("import time\ntime.sleep(1000)", "your code gave no answer within 0.3 seconds"),
}


@pytest.mark.parametrize(("body", "words"), DEADLY.values(), ids=DEADLY.keys())
def test_the_death_of_a_worker_costs_one_function(graded: Grader, short_calls: None, body: str, words: str) -> None:
    started = time.monotonic()
    result = graded(with_body(f"print('before')\n{body}"), of="group_advantages")
    gate = only_wrong(result, "group_advantages")
    assert len(of(result, "group_advantages")) > 10  # all of them wait for the gate
    assert time.monotonic() - started < 120
    assert gate.outcome == BROKEN
    assert words in gate.story
    assert gate.printed == "before\n"
    assert gate.call.startswith("group_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0]")
    if "_exit" not in body:
        assert gate.frames[0].file == "homework/advantages.py"
        assert gate.frames[0].source in body.replace("\n", ";") or gate.frames[0].source in body


def test_a_function_that_crashes_on_every_input_costs_a_few_workers_per_check(
    sandbox: Sandbox, make_submission: SubmissionMaker
) -> None:
    started: list[int] = []
    per_check: dict[str, int] = {}

    def start() -> Loaded:
        started.append(1)
        return sandbox.worker()

    def note(_: Result, entry: CheckResult) -> None:
        per_check[entry.id] = len(started) - sum(per_check.values())

    files = with_body("import os; os._exit(3)")
    submission = read_submission(make_submission(files))
    with grading_profile():
        result = Grading(submission, ["advantages"], start, gates=False).run(note)
    crashing = [entry for entry in result.checks if entry.function == "group_advantages"]
    assert len(crashing) > 5
    assert all(entry.outcome == BROKEN and "exit status 3" in entry.story for entry in crashing)
    assert max(per_check.values()) == course.DEATHS_PER_CHECK == 4
    assert all(1 <= per_check[entry.id] <= course.DEATHS_PER_CHECK for entry in crashing)
    assert all(entry.outcome == PASSED for entry in of(result, "zero_signal_fraction"))


def test_endless_loops_in_every_check_use_up_the_time_of_the_exercise_and_no_more(
    graded: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course, "CALL_SECONDS", 0.3)
    monkeypatch.setattr(course, "EXERCISE_SECONDS", 0.8)
    started = time.monotonic()
    result = graded(with_body("while True:\n    pass"), of="group_advantages", gates=False)
    assert time.monotonic() - started < 120
    stories = [entry.story for entry in of(result, "group_advantages")]
    assert "no answer within 0.3 seconds" in stories[0]
    assert "used up the time of this exercise" in stories[-1]


def test_a_worked_example_without_an_answer_is_not_asked_again_for_a_name(
    graded: Grader, short_calls: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    died, deaths = Student._died, []

    def counted(student: Student, worker: Loaded, call: Call | None, death: WorkerDied) -> BaseException:
        deaths.append(death.detail)
        return died(student, worker, call, death)

    monkeypatch.setattr(Student, "_died", counted)
    gate = only_wrong(graded(with_body("while True:\n    pass"), of="group_advantages"), "group_advantages")
    assert gate.story == f"your code {deaths[0]}" and len(deaths) == 1


def test_megabytes_of_prints_cost_nothing(graded: Grader) -> None:
    text = model_answer("advantages").replace("    rewards = _checked(rewards)\n", "    print('spam ' * 10**6)\n" * 1)
    text = text.replace("spam ' * 10**6)\n", "spam ' * 10**6)\n    rewards = _checked(rewards)\n")
    assert text.count("spam") == 2
    all_right(graded({"advantages.py": text}))


def test_megabytes_of_prints_beside_a_mistake_are_cut_in_the_report(graded: Grader) -> None:
    result = graded(with_body("print('spam ' * 10**6)\nreturn rewards"))
    gate = only_wrong(result, "group_advantages")
    assert gate.outcome == FAILED
    assert gate.printed.startswith("spam spam")
    assert len(gate.printed) < 200_000
    assert len(shown(result)) < 20_000


# What a module may be


def module_is_broken(result: Result, *words: str) -> CheckResult:
    """Both functions of advantages are broken by the module, everything else is right."""
    gate = only_wrong(result, "group_advantages", "zero_signal_fraction")
    second = of(result, "zero_signal_fraction")[0]
    assert gate.outcome == second.outcome == BROKEN
    assert gate.story == second.story
    for word in words:
        assert word in gate.story
    assert sum(entry.earned for entry in result.checks) == sum(
        entry.points for entry in result.checks if not entry.id.startswith("advantages.")
    )
    return gate


SYNTAX = {
    "an open bracket": ("import torch\n\ndef group_advantages(rewards:\n    return rewards\n", 3, "SyntaxError"),
    "no colon": ("import torch\ndef group_advantages(rewards)\n    return rewards\n", 2, "SyntaxError"),
    "no indentation": ("def group_advantages(rewards):\nreturn rewards\n", 2, "IndentationError"),
    "tabs and spaces": ("def f(x):\n    if x:\n\treturn x\n", 3, "TabError"),
    "an open string": ("'''\nopen\n", 1, "SyntaxError"),
    "Python 2": ("import torch\nprint 'hello'\n", 2, "SyntaxError"),
    "a conflict of git": ("import torch\n<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n", 2, "SyntaxError"),
    "no Python at all": ("# Advantages\n\nDear grader, please pass.\n", 3, "SyntaxError"),
    "a return outside": ("import torch\nreturn torch\n", 2, "SyntaxError"),
}


@pytest.mark.parametrize(("text", "line", "kind"), SYNTAX.values(), ids=SYNTAX.keys())
def test_a_syntax_error_names_file_line_and_text(graded: Grader, text: str, line: int, kind: str) -> None:
    result = graded({"advantages.py": text}, "advantages", "kl")
    gate = module_is_broken(result, kind)
    place = gate.frames[-1]
    assert (place.file, place.line) == ("homework/advantages.py", line)
    assert place.source == text.splitlines()[line - 1].strip()
    assert f"homework/advantages.py, line {line}" in shown(result)


@pytest.mark.parametrize("text", ["(" * 10**5, "-" * 10**5 + "1", "x = " + "[" * 300 + "]" * 300], ids=len)
def test_a_module_that_overwhelms_the_parser_is_broken_and_nothing_worse(
    graded: Grader, text: str, short_calls: None
) -> None:
    module_is_broken(graded({"advantages.py": text}, "advantages", "kl"))


IMPORTS = {
    "an exception": ("import torch\n\nraise ValueError('not today')\n", "ValueError: not today", 3),
    "sys.exit": ("import sys\nsys.exit(0)\n", "SystemExit: 0", 2),
    "a missing library": ("import tensorflow_of_yesterday\n", "No module named 'tensorflow_of_yesterday'", 1),
    "the model answer": (
        "import torch\nfrom reference.advantages import group_advantages\n",
        "No module named 'reference'",
        2,
    ),
    "the grader": ("from grader.grading.vectors import load\n", "No module named 'grader'", 1),
    "a sibling that is not there, without its dot": ("from utils import helper\n", "No module named 'utils'", 1),
    "a sibling that is not there": ("from .utils import helper\n", "No module named 'submission.utils'", 1),
    "a name that is not there": ("from .kl import kl_estimator\n", "cannot import name 'kl_estimator'", 1),
}


@pytest.mark.parametrize(("text", "words", "line"), IMPORTS.values(), ids=IMPORTS.keys())
def test_an_exception_at_import_is_shown_with_its_line(graded: Grader, text: str, words: str, line: int) -> None:
    result = graded({"advantages.py": text + model_answer("advantages")}, "advantages", "kl")
    gate = module_is_broken(result, words)
    place = gate.frames[-1]
    assert (place.file, place.line, place.function) == ("homework/advantages.py", line, "<module>")
    assert place.source == text.splitlines()[line - 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import os; os._exit(0)", "ended the process with exit status 0"),
        ("import ctypes; ctypes.string_at(0)", "segmentation fault"),
        ("while True: pass", "no answer within 0.3 seconds"),
        ("from .advantages import nothing", "circular import"),
    ],
)
def test_a_module_that_dies_at_import_costs_one_exercise(
    graded: Grader, short_calls: None, text: str, words: str
) -> None:
    module_is_broken(graded({"advantages.py": text}, "advantages", "kl"), words)


def test_an_import_that_never_ends_is_waited_for_once_in_each_exercise(graded: Grader, short_calls: None) -> None:
    imports: list[str] = []
    request = Student._request

    def counted(student: Student, worker: Any, body: dict[str, Any], call: Any) -> dict[str, Any]:
        imports.extend([body["module"]] * (body["request"] == "load"))
        return request(student, worker, body, call)

    with mock.patch.object(Student, "_request", counted):
        result = graded({"advantages.py": "while True: pass"}, "advantages", "bandit", "kl")
    assert imports.count("advantages") == imports.count("bandit") == 1 < imports.count("kl")
    gates = [check for check in result.checks if check.gate and not check.id.startswith("kl.")]
    assert len(gates) >= 5 and {check.outcome for check in gates} == {BROKEN}
    assert {check.story for check in gates} == {"your code gave no answer within 0.3 seconds"}
    assert all(check.frames[-1].file == "homework/advantages.py" for check in gates)


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "Latin-1": (
        "# Größe\nimport torch\n".encode("latin-1"),
        "advantages.py is not UTF-8 text (line 1); save it as UTF-8",
    ),
    "UTF-16": ("import torch\n".encode("utf-16"), "advantages.py is not UTF-8 text (line 1); save it as UTF-8"),
    "a broken line": (b"import torch\n\nx = '\xff'\n", "not UTF-8 text (line 3)"),
    "a null byte": (b"import torch\nx = 1\0\n", "holds a null byte (line 2)"),
    "a program": (b"\x7fELF\x02\x01\x01" + bytes(100), "advantages.py"),
    "two megabytes": (b"#" * (2 << 20), "advantages.py is larger than "),
}


@pytest.mark.parametrize(("data", "words"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_file_that_is_no_text_is_told_in_one_sentence(graded: Grader, data: bytes, words: str) -> None:
    gate = module_is_broken(graded({"advantages.py": data}, "advantages", "kl"), words)
    assert "\n" not in gate.story


def test_a_missing_module_costs_one_exercise(graded: Grader) -> None:
    module_is_broken(graded({"advantages.py": None}, "advantages", "kl"), "advantages.py is missing")


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", '"""Nothing."""'], ids=repr)
def test_an_empty_module_says_what_is_expected_in_it(graded: Grader, text: str) -> None:
    result = graded({"advantages.py": text}, "advantages", "kl")
    gate = only_wrong(result, "group_advantages", "zero_signal_fraction")
    assert gate.outcome == BROKEN
    assert f"expected `{SIGNATURE}` in advantages.py, but there is no such function" in gate.story
    assert "`zero_signal_fraction(rewards)`" in of(result, "zero_signal_fraction")[0].story


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links")
def test_a_symbolic_link_is_not_followed(graded: Grader, make_submission: SubmissionMaker, tmp_path: Path) -> None:
    folder = make_submission({})
    (folder / "advantages.py").unlink()
    (folder / "advantages.py").symlink_to(course.MODEL_ANSWERS / "advantages.py")
    result = graded({"advantages.py": None}, "advantages", "kl")
    module_is_broken(result, "advantages.py is a symbolic link; hand in the file itself")


def test_a_folder_in_place_of_a_module_is_told(graded: Grader, make_submission: SubmissionMaker) -> None:
    folder = make_submission({"advantages.py": None})
    (folder / "advantages.py").mkdir()
    (folder / "advantages.py" / "__init__.py").write_text(model_answer("advantages"), "utf-8")
    module_is_broken(graded({"advantages.py": None}, "advantages", "kl"), "advantages.py is not a file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_in_place_of_a_module_holds_nobody_up(graded: Grader, make_submission: SubmissionMaker) -> None:
    os.mkfifo(make_submission({"advantages.py": None}) / "advantages.py")
    module_is_broken(graded({"advantages.py": None}, "advantages", "kl"), "advantages.py is not a file")


def test_an_untouched_stub_is_not_written_yet_and_not_broken(graded: Grader) -> None:
    stub = (course.STARTER / "advantages.py").read_text("utf-8")
    result = graded({"advantages.py": stub}, "advantages", "kl")
    assert {entry.outcome for entry in result.checks if entry.id.startswith("advantages.")} == {NOT_WRITTEN}
    assert {entry.outcome for entry in result.checks if entry.id.startswith("kl.")} == {PASSED}


# What a function may look like

WRONG_SIGNATURES = {
    "too few arguments": ("def group_advantages():", "defines `group_advantages()`"),
    "no options": ("def group_advantages(rewards):", "defines `group_advantages(rewards)`"),
    "too many arguments": ("def group_advantages(rewards, mask, *, std_eps, divide_by_std):", "(rewards, mask, *,"),
    "a misspelt option": ("def group_advantages(rewards, *, eps=1e-8, divide_by_std=True):", "eps=1e-08"),
    "an option too many": ("def group_advantages(rewards, *, std_eps, divide_by_std, more):", "more)`"),
    "an option too few": ("def group_advantages(rewards, *, std_eps=1e-8):", "std_eps=1e-08)`"),
}


@pytest.mark.parametrize(("signature", "words"), WRONG_SIGNATURES.values(), ids=WRONG_SIGNATURES.keys())
def test_a_wrong_signature_shows_the_expected_one(graded: Grader, signature: str, words: str) -> None:
    gate = only_wrong(graded(with_signature(signature)), "group_advantages")
    assert gate.outcome == BROKEN
    assert gate.story.startswith(f"expected `{SIGNATURE}`, but advantages.py defines `group_advantages(")
    assert words in gate.story


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("del group_advantages", "there is no such function; is the name spelled right?"),
        ("group_advantage = group_advantages; del group_advantages", "there is no such function"),
        ("group_advantages = None", "there is no such function"),
        ("group_advantages = 3", "that name is not a function"),
        ("group_advantages = torch.zeros(3)", "that name is not a function"),
    ],
)
def test_a_wrong_name_shows_the_expected_signature(graded: Grader, line: str, words: str) -> None:
    gate = only_wrong(graded({"advantages.py": f"{model_answer('advantages')}\n{line}\n"}), "group_advantages")
    assert gate.outcome == BROKEN
    assert gate.story.startswith(f"expected `{SIGNATURE}` in advantages.py, but ")
    assert words in gate.story


@pytest.mark.parametrize(
    "line",
    [
        "class Odd:\n    def __call__(self): pass\n    @property\n    def __signature__(self): raise KeyError('odd')",
        "class Odd:\n    def __call__(self): pass\n    def __getattr__(self, name): raise SystemExit(name)",
        "class Odd:\n    def __call__(self, *a, **k): pass\n    @property\n    def __class__(self): raise OSError",
    ],
)
def test_a_function_that_fights_inspection_is_wrong_and_nothing_worse(graded: Grader, line: str) -> None:
    result = graded({"advantages.py": f"{model_answer('advantages')}\n{line}\ngroup_advantages = Odd()\n"})
    assert only_wrong(result, "group_advantages").outcome in (BROKEN, FAILED)


# What is fine, however it looks

FINE: dict[str, Files] = {
    "a byte order mark": {"advantages.py": b"\xef\xbb\xbf" + model_answer("advantages").encode()},
    "line ends of Windows": {"advantages.py": model_answer("advantages").replace("\n", "\r\n")},
    "line ends of old Macs": {"advantages.py": model_answer("advantages").replace("\n", "\r")},
    "no last line end": {"advantages.py": model_answer("advantages").rstrip("\n")},
    "a form feed": {"advantages.py": model_answer("advantages") + "\n\x0c\nx = 1\n"},
    "letters of the world": {"advantages.py": model_answer("advantages") + "\n# Gruppe — グループ 😀\nñ = 1\n"},
    "a relative import of a sibling": {
        "kl.py": model_answer("kl") + "\nfrom .advantages import group_advantages\nassert callable(group_advantages)\n"
    },
    "a relative import of a sibling module": {
        "kl.py": model_answer("kl") + "\nfrom . import advantages\nassert callable(advantages.group_advantages)\n"
    },
    "siblings that import each other late": {
        "kl.py": model_answer("kl") + "\ndef late():\n    from . import advantages\n",
        "advantages.py": model_answer("advantages") + "\nfrom . import kl\n",
    },
    "a main part": {
        "advantages.py": model_answer("advantages") + "\nif __name__ == '__main__':\n    while True:\n        pass\n"
    },
    "prints and warnings at import": {
        "advantages.py": model_answer("advantages") + "\nimport warnings\nwarnings.warn('old')\nprint('x' * 10**7)\n"
    },
    "more arguments than asked for": {
        "advantages.py": model_answer("advantages")
        + "\nMODEL = group_advantages\ndef group_advantages(rewards, verbose=False, **options):\n"
        + "    return MODEL(rewards, **options)\n"
    },
    "an object that can be called": {
        "advantages.py": model_answer("advantages")
        + "\nclass Answer:\n    def __init__(self, model):\n        self.model = model\n"
        + "    def __call__(self, rewards, **options):\n        return self.model(rewards, **options)\n"
        + "group_advantages = Answer(group_advantages)\n"
    },
    "a thread left running": {
        "advantages.py": model_answer("advantages")
        + "\nimport threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n"
    },
}


FUNCTIONS_OF_THEIR_OWN = {"more arguments than asked for", "an object that can be called", "a thread left running"}


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.proof)], ids=["gates", "all checks"])
@pytest.mark.parametrize("name", FINE)
def test_style_costs_no_points(graded: Grader, name: str, whole: bool) -> None:
    function = "group_advantages" if name in FUNCTIONS_OF_THEIR_OWN else ""
    exercises = ["advantages", "kl"] if whole else [file.removesuffix(".py") for file in FINE[name]]
    all_right(graded(FINE[name], *exercises, whole=whole, of=function))


HARM = "raise SystemExit('this file must never run')\n"
MODULES = ["__init__", "__main__", "numpy", "torch", "pytest", "hypothesis", "json", "typing", "grader", "submission"]
MODULES += ["conftest", "sitecustomize", "usercustomize", "test_advantages", "setup"]
BYSTANDERS = {f"{name}.py": HARM for name in MODULES} | {
    "pytest.ini": "[pytest]\naddopts = --nonsense\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--nonsense'\n",
    "tox.ini": "[pytest]\naddopts = --nonsense\n",
    "evil.pth": "import os; os._exit(0)\n",
}


def test_other_files_in_the_folder_are_not_looked_at(graded: Grader, make_submission: SubmissionMaker) -> None:
    bare = read_submission(make_submission({})).sha256
    result = graded(BYSTANDERS, "advantages", "clip", "kl")
    all_right(result)
    assert result.sha256 == bare


def test_circular_imports_are_told_in_both_modules(graded: Grader) -> None:
    files = {
        "advantages.py": "from .kl import kl_estimate\n" + model_answer("advantages"),
        "kl.py": "from .advantages import group_advantages\n" + model_answer("kl"),
    }
    result = graded(files, "advantages", "clip", "kl")
    broken = [entry for entry in result.checks if entry.outcome == BROKEN]
    assert {entry.function for entry in broken} == {
        "group_advantages",
        "zero_signal_fraction",
        "categorical_kl",
        "kl_estimate",
    }
    assert all("circular import" in entry.story for entry in broken)
    assert all(entry.frames[-1].source.startswith("from .") for entry in broken)
    assert all(entry.outcome == PASSED for entry in result.checks if entry.id.startswith("clip."))


def test_a_broken_sibling_breaks_only_who_imports_it(graded: Grader) -> None:
    files = {
        "advantages.py": "def broken(:\n",
        "kl.py": "from .advantages import group_advantages\n" + model_answer("kl"),
    }
    result = graded(files, "advantages", "clip", "kl")
    for entry in result.checks:
        if entry.id.startswith("clip."):
            assert entry.outcome == PASSED
        elif entry.outcome != WAITING:
            assert entry.outcome == BROKEN
            assert "SyntaxError" in entry.story
            assert entry.frames[-1].file == "homework/advantages.py"


# The command itself


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere", "there is no folder nowhere"),
        (".", "holds none of advantages.py, clip.py, kl.py"),
        (sys.executable, "is a file; give the folder that holds it"),
    ],
)
def test_the_command_refuses_what_is_no_submission(tmp_path: Path, sandbox: Sandbox, path: str, words: str) -> None:
    ended = call(cli.main, "--path", path, cwd=tmp_path, sandbox=sandbox)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("grade: ")
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1


def grade_process(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `grade` as it was installed, not as a module: nothing of the present folder is on its path."""
    command = Path(sysconfig.get_path("scripts")) / ("grade.exe" if sys.platform == "win32" else "grade")
    return subprocess.run(
        [command, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"},
    )


@pytest.mark.proof  # `commands/test_grade_command.py` has this with its own files beside the submission
def test_the_command_ignores_everything_else_in_its_folder_and_leaves_nothing_there(
    make_submission: SubmissionMaker,
) -> None:
    folder = make_submission(BYSTANDERS)
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    ended = grade_process("advantages", "--examples", "4", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert "total  25 of 25 points" in ended.stdout
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


def test_the_command_reports_a_syntax_error_and_grades_the_rest(
    make_submission: SubmissionMaker, tmp_path: Path, sandbox: Sandbox
) -> None:
    folder = make_submission({"advantages.py": "import torch\n\ndef group_advantages(rewards:\n    return rewards\n"})
    ended = call(cli.main, "advantages", "kl", "--path", folder, cwd=tmp_path, sandbox=sandbox, COLUMNS="200")
    assert ended.returncode == 1
    assert "homework/advantages.py, line 3" in ended.stdout
    assert "def group_advantages(rewards:" in ended.stdout
    assert "SyntaxError" in ended.stdout
    assert "25 of 50 points" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr


@pytest.mark.proof  # what a worker keeps of its prints, call after call, is looked at in `test_sandbox.py`
def test_prints_in_every_call_cost_nothing_however_many_inputs_are_asked_for(
    make_submission: SubmissionMaker, tmp_path: Path
) -> None:
    # What is kept of 150 calls is more than the largest file that a worker may write.
    text = f"{model_answer('advantages')}\nMODEL = group_advantages\n\n{GROUP_ADVANTAGES}    print('😀' * 10**5)\n"
    text += "    return MODEL(rewards, std_eps=std_eps, divide_by_std=divide_by_std)\n"
    folder = make_submission({"advantages.py": text})
    ended = grade_process("advantages", "--examples", "150", "--path", folder, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout[-3000:]


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos._exit(0)\n",
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n",
        "import atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(0)\n",
    ],
)
def test_a_submission_cannot_choose_the_exit_code(
    make_submission: SubmissionMaker, tmp_path: Path, walled_sandbox: Sandbox, text: str
) -> None:
    folder = make_submission({"advantages.py": text})
    report = tmp_path / "result.json"
    graded_alone(folder, report, walled_sandbox)
    found = json.loads(report.read_text("utf-8"))
    assert (found["earned"], found["points"]) == (0, 25)
    assert len(found["exercises"][0]["checks"]) == len(checks_of("advantages", hidden=True))


def graded_alone(folder: Path, report: Path, sandbox: Sandbox) -> subprocess.CompletedProcess[str]:
    """What `grade advantages --json report` says of a folder that does not earn everything."""
    arguments = ("advantages", "--path", folder, "--json", report)
    ended = call(cli.main, *arguments, cwd=report.parent, sandbox=sandbox, COLUMNS="200")
    assert ended.returncode == 1, ended.stderr
    return ended


def test_the_command_writes_a_report_for_text_that_no_file_can_hold(
    make_submission: SubmissionMaker, tmp_path: Path, sandbox: Sandbox
) -> None:
    folder = make_submission(with_body("raise ValueError('lone \\ud800 surrogate')"))
    report = tmp_path / "result.json"
    ended = graded_alone(folder, report, sandbox)
    assert "surrogate" in ended.stdout
    json.loads(report.read_text("utf-8"))


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
@pytest.mark.parametrize("name", [b"caf\xe9", b'two "words"; rm -rf', "line\nend \U0001f600".encode()])
def test_the_command_grades_a_folder_of_any_name(
    make_submission: SubmissionMaker, tmp_path: Path, sandbox: Sandbox, name: bytes
) -> None:
    folder = make_submission({"advantages.py": "1 / 0\n"}).rename(os.fsdecode(bytes(tmp_path) + b"/" + name))
    report = tmp_path / "result.json"
    ended = graded_alone(folder, report, sandbox)
    assert "ZeroDivisionError" in ended.stdout
    json.loads(report.read_text("utf-8"))
