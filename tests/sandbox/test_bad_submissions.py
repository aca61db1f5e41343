"""Whatever a student hands in gets a grade, a clear sentence for what is wrong, and full points for what is right."""

import io
import json
import subprocess
import textwrap
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
from grader.grading import failure_writer
from grader.grading.calls import Call
from grader.grading.check import checks_of
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings
from grader.grading.student import Loaded, Student
from grader.reports import terminal
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker_process import WorkerDied

Files = Mapping[str, str | bytes | None]
Grader = Callable[..., Result]

GROUP_ADVANTAGES = "def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):\n"
SIGNATURE = "group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True)"


@pytest.fixture
def graded(sandbox: Sandbox, make_submission: SubmissionMaker) -> Grader:
    """Grades a folder of files, and makes sure of what must hold for every submission.

    Gates show that a function is right or wrong; `of` asks for all checks of one function.
    """

    def run(files: Files, *exercises: str, of: str = "", gates: bool = True) -> Result:
        names, folder, seen = exercises or ("advantages",), make_submission(files), list[str]()
        all_checks = [check for name in names for check in checks_of(name, hidden=True)]
        declared = [check for check in all_checks if check.gate or check.function == of]
        checks = {check.id: check for check in declared}
        with grading_profile():
            settings = GradingSettings(read_submission(folder), names, sandbox.worker, checks=checks, gates=gates)
            result = grade_submission(settings, lambda _, entry: seen.append(entry.id))
        assert [entry.id for entry in result.checks] == [check.id for check in declared]
        assert sorted(seen) == sorted(check.id for check in declared)
        assert [entry.points for entry in result.checks] == [check.points for check in declared]
        assert result.points == sum(check.points for check in declared)
        assert result.problem == ""
        assert result.complete
        for entry in result.checks:
            assert entry.outcome in (PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING), (entry.id, entry.message)
            assert entry.earned == (entry.points if entry.outcome == PASSED else 0)
            # Numbers that are wrong everywhere speak for themselves: yours and the expected ones, side by side.
            told = entry.message != "" or (entry.outcome == FAILED and len(entry.rows) >= 2)
            assert told == (entry.outcome in (FAILED, BROKEN)), entry.id
            assert len(entry.message) < 5_000
            assert "\n  File" not in entry.message, "a student reads a sentence, not our traceback"
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


def around_model(body: str) -> dict[str, str]:
    """The model answers, in which `group_advantages` does something else and may call `MODEL(rewards, **options)`."""
    signature = "\nMODEL = group_advantages\ndef group_advantages(rewards, **options):\n"
    return {"advantages.py": model_answer("advantages") + signature + textwrap.indent(textwrap.dedent(body), "    ")}


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
            assert entry.outcome == PASSED, (entry.id, entry.message)
    for function in functions:
        gate, *others = of(result, function)
        assert gate.gate
        assert all(entry.outcome == WAITING for entry in others)
        assert all(entry.waits_for == [gate.title] for entry in others)
    return of(result, functions[0])[0]


def all_right(result: Result) -> None:
    assert [(entry.id, entry.message) for entry in result.checks if entry.outcome != PASSED] == []
    assert result.earned == result.points
    assert result.exit_code == 0


@pytest.fixture
def short_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of a second for a call, so that the tests of endless loops are short."""
    monkeypatch.setattr(course, "CALL_SECONDS", 0.3)


# What a function may return instead of the answer

RETURNED = {
    "nothing": ("pass", "returned None"),
    "a sparse tensor": ("return rewards.to_sparse()", "torch.sparse_coo"),
    "infinity": ("return rewards / 0.0 + 1 / (rewards * 0)", "the result contains"),
}


@pytest.mark.parametrize(("body", "words"), RETURNED.values(), ids=RETURNED)
def test_a_wrong_kind_of_answer_is_told_in_one_sentence(graded: Grader, body: str, words: str) -> None:
    gate = only_wrong(graded(with_body(body)), "group_advantages")
    assert gate.outcome == FAILED
    assert words in gate.message
    assert "\n" not in gate.message
    assert [label for label, _ in gate.rows] == ["yours", "expected", TO_PASTE]
    assert gate.call.startswith("group_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0]")


def test_a_wrong_dtype_costs_the_check_of_the_dtype_and_no_other(graded: Grader) -> None:
    last = "return advantages.masked_fill(no_signal, 0.0)"
    text = model_answer("advantages")
    assert text.count(last) == 1
    result = graded({"advantages.py": text.replace(last, f"{last}.float()")}, of="group_advantages")
    (wrong,) = [entry for entry in result.checks if entry.outcome != PASSED]
    assert wrong.id == "advantages.dtype_is_kept_and_whole_numbers_become_floats"
    assert wrong.message == "the dtype is float32; it must be float64; the values are right"
    assert dict(wrong.rows)["yours"].endswith("dtype float32")


def test_an_answer_that_depends_on_the_number_of_calls_is_called_by_its_name(graded: Grader) -> None:
    body = """
    global calls
    calls = globals().get("calls", 0) + 1
    return MODEL(rewards, **options) + (calls % 7 == 0)
    """
    result = graded(around_model(body), of="group_advantages", gates=False)
    wrong = [entry for entry in of(result, "group_advantages") if entry.outcome != PASSED]
    assert {entry.outcome for entry in wrong} == {FAILED}
    assert any("answers the same call in different ways" in entry.message for entry in wrong)
    assert all(entry.outcome == PASSED for entry in of(result, "zero_signal_fraction"))


@pytest.mark.proof  # the one above shows that such answers are noticed
def test_an_answer_that_is_remembered_from_the_first_call_is_wrong_from_the_second(graded: Grader) -> None:
    body = """
    global remembered
    if "remembered" not in globals():
        remembered = MODEL(rewards, **options)
    return remembered
    """
    result = graded(around_model(body), of="group_advantages", gates=False)
    outcomes = [entry.outcome for entry in of(result, "group_advantages")]
    assert outcomes.count(FAILED) >= 5
    assert {*outcomes} <= {PASSED, FAILED}
    named = result.exercises[0].known_mistakes
    assert {found.name for found in named} == {"earlier_calls"} and named[0].observed
    call = next(entry.call for entry in result.checks if entry.id == named[0].check)
    assert call.count("group_advantages(") == 2, "the call alone is right when it is pasted"
    assert all(entry.outcome == PASSED for entry in of(result, "zero_signal_fraction"))


def test_a_worked_example_that_goes_wrong_too_is_shown_instead_of_a_long_call(graded, monkeypatch):
    short = "group_advantages(torch.tensor([[0.0, 1.0]], dtype=torch.float64))"
    monkeypatch.setattr(
        failure_writer, "_LONG_CALL", len(short)
    )  # how long the fresh input is depends on the submission
    body = "answer = MODEL(rewards, **options)\nreturn answer if rewards.shape[-1] == 4 else -answer"
    gate = graded(around_model(body)).checks[0]
    assert gate.outcome == FAILED and gate.call == short
    assert "shorter one that also fails" in gate.message
    assert gate.rows[:2] == [("yours", "[[1, -1]]"), ("expected", "[[-1, 1]]")]


@pytest.mark.proof
def test_what_one_check_left_in_a_module_is_gone_in_the_next(graded: Grader) -> None:
    body = "if 'used' in globals():\n    return None\nglobal used\nused = True\nreturn rewards"
    result = graded(with_body(body), of="group_advantages", gates=False)
    entries = of(result, "group_advantages")
    assert BROKEN not in {entry.outcome for entry in entries}
    assert any("returned None" in entry.message for entry in entries)  # the second call in one check
    first_calls = [entry for entry in entries if "returned None" not in entry.message]
    assert len(first_calls) >= 5  # these failed in their first call, which a module of its own answered


@pytest.mark.proof
def test_changing_an_argument_in_place_loses_that_check(graded: Grader) -> None:
    body = "if rewards.is_floating_point():\n    rewards.add_(1.0)\nreturn MODEL(rewards, **options)"
    result = graded(around_model(body), of="group_advantages")
    messages = [entry.message for entry in of(result, "group_advantages") if entry.outcome == FAILED]
    assert any("rewards in place" in message for message in messages)
    assert of(result, "group_advantages")[0].outcome == PASSED


# What a function may do instead of returning

RAISED = {
    "an exception": ("return 1 / 0", "ZeroDivisionError: division by zero"),
    "a program": ("import subprocess; subprocess.run(['/bin/true'], check=True)", "PermissionError"),
    "a download": ("import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')", "Error"),
}


@pytest.mark.parametrize(("body", "words"), RAISED.values(), ids=RAISED)
def test_an_exception_is_shown_with_the_students_own_line(graded, sandbox, body, words):
    if words == "PermissionError" and not sandbox.level:
        pytest.skip("without walls a submission may start a program")
    files = with_body(body)
    gate = only_wrong(graded(files), "group_advantages")
    assert gate.outcome == BROKEN
    assert words in gate.message
    first, last = gate.frames[0], gate.frames[-1]
    assert first.file == last.file == "homework/advantages.py"
    assert last.source == files["advantages.py"].splitlines()[last.line - 1].strip()
    assert last.function in ("group_advantages", "<lambda>", "__str__")
    assert gate.call.startswith("group_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0]")


def test_what_a_submission_prints_cannot_command_the_terminal(graded: Grader) -> None:
    report = shown(graded(with_body("print('\\x1b[2J\\x1b]0;title\\x07hidden \\u202e reversed'); return 1 / 0")))
    assert "printed hidden reversed" in " ".join(report.split())
    assert not set(report) & {"\x1b", "\x07", "\u202e"}


@pytest.mark.parametrize(
    "body",
    [
        "return torch.empty(2, 4, dtype=torch.float64, device='meta')",
        "return type('Odd', (list,), {'__len__': lambda self: 1 / 0})()",
    ],
    ids=lambda body: body.removeprefix("return "),
)  # fmt: skip
def test_odd_values_are_wrong_answers_and_nothing_worse(graded: Grader, body: str) -> None:
    gate = only_wrong(graded(with_body(body)), "group_advantages")
    assert gate.outcome in (BROKEN, FAILED)


DEADLY = {
    "an exit": ("import os; os._exit(0)", "exit status 0"),
    "an endless loop": ("while True:\n    pass", "0.3 seconds"),
}


@pytest.mark.parametrize(("body", "words"), DEADLY.values(), ids=DEADLY)
def test_the_death_of_a_worker_costs_one_function(graded: Grader, short_calls: None, body: str, words: str) -> None:
    result = graded(with_body(f"print('before')\n{body}"), of="group_advantages")
    gate = only_wrong(result, "group_advantages")
    assert len(of(result, "group_advantages")) > 10  # all of them wait for the gate
    assert gate.outcome == BROKEN
    assert words in gate.message
    assert gate.printed == "before\n"
    assert gate.call.startswith("group_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0]")
    if "_exit" not in body:
        assert gate.frames[0].file == "homework/advantages.py"
        assert gate.frames[0].source in body


def test_endless_loops_in_every_check_use_up_the_time_of_the_exercise_and_no_more(graded, monkeypatch):
    monkeypatch.setattr(course, "CALL_SECONDS", 0.3)
    monkeypatch.setattr(course, "EXERCISE_SECONDS", 0.8)
    result = graded(with_body("while True:\n    pass"), of="group_advantages", gates=False)
    messages = [entry.message for entry in of(result, "group_advantages")]
    assert "0.3 seconds" in messages[0]
    assert "time for this exercise" in messages[-1]


def test_a_worked_example_without_an_answer_is_not_asked_again_for_a_name(graded, short_calls, monkeypatch):
    died, deaths = Student._died, []

    def counted(student: Student, worker: Loaded, call: Call | None, death: WorkerDied) -> BaseException:
        deaths.append(death.detail)
        return died(student, worker, call, death)

    monkeypatch.setattr(Student, "_died", counted)
    gate = only_wrong(graded(with_body("while True:\n    pass"), of="group_advantages"), "group_advantages")
    assert gate.message == f"your code {deaths[0]}" and len(deaths) == 1


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
    assert gate.message == second.message
    for word in words:
        assert word in gate.message
    assert sum(entry.earned for entry in result.checks) == sum(
        entry.points for entry in result.checks if not entry.id.startswith("advantages.")
    )
    return gate


SYNTAX = {
    "an open bracket": ("import torch\n\ndef group_advantages(rewards:\n    return rewards\n", 3, "SyntaxError"),
    "a conflict of git": ("import torch\n<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n", 2, "SyntaxError"),
}


@pytest.mark.parametrize(("text", "line", "kind"), SYNTAX.values(), ids=SYNTAX.keys())
def test_a_syntax_error_names_file_line_and_text(graded: Grader, text: str, line: int, kind: str) -> None:
    result = graded({"advantages.py": text}, "advantages", "kl")
    gate = module_is_broken(result, kind)
    place = gate.frames[-1]
    assert (place.file, place.line) == ("homework/advantages.py", line)
    assert place.source == text.splitlines()[line - 1].strip()
    assert f"homework/advantages.py, line {line}" in shown(result)


@pytest.mark.parametrize("text", ["(" * 10**5, pytest.param("-" * 10**5 + "1", marks=pytest.mark.proof)], ids=len)
def test_a_module_that_overwhelms_the_parser_is_broken_and_nothing_worse(graded, text, short_calls):
    module_is_broken(graded({"advantages.py": text}, "advantages", "kl"))


def test_a_statement_that_fails_is_skipped_and_noted(graded: Grader) -> None:
    imports = {
        "import tensorflow_of_yesterday": "tensorflow_of_yesterday",
        "from reference.advantages import group_advantages": "imports reference",
        "from .utils import helper": "imports utils",
    }
    result = graded({"advantages.py": "\n".join([*imports, model_answer("advantages")])}, "advantages", "kl")
    all_right(result)
    for line, words in enumerate(imports.values(), 1):
        told = [note for note in result.notes if words in note.text]
        assert len(told) == 1 and f"line {line}" in told[0].text


def test_what_needs_a_skipped_statement_says_so(graded: Grader) -> None:
    text = model_answer("advantages").replace("import torch\n", "import torch\nfrom tqdm_of_yesterday import tqdm\n", 1)
    body = "\ndef group_advantages(rewards, **options):\n    return tqdm(rewards)\n"
    gate = only_wrong(graded({"advantages.py": text + body}, "advantages"), "group_advantages")
    assert "'tqdm' is not defined" in gate.message and "tqdm_of_yesterday" in gate.message


def test_an_import_that_never_ends_is_waited_for_once_in_its_exercise(graded, short_calls) -> None:
    imports: list[str] = []
    request = Student._request

    def counted(student: Student, worker: Any, body: dict[str, Any], call: Any) -> dict[str, Any]:
        imports.extend([f"{student._exercise.name}: {body['module']}"] * (body["request"] == "load"))
        return request(student, worker, body, call)

    with mock.patch.object(Student, "_request", counted):
        result = graded({"advantages.py": "while True: pass"}, "advantages", "kl")
    assert imports.count("advantages: advantages") == 1 < imports.count("kl: kl")
    gates = [check for check in result.checks if check.gate and not check.id.startswith("kl.")]
    assert len(gates) == 2 and {check.outcome for check in gates} == {BROKEN}
    assert all("0.3 seconds" in check.message for check in gates)
    assert all(check.frames[-1].file == "homework/advantages.py" for check in gates)


RIGHT = model_answer("advantages")
DOCSTRING_END = RIGHT.index('"""', RIGHT.index('"""Score') + 3)
ENDLESS = "\n\ndef search():\n    while True:\n        pass\n\n\nsearch()\n"
AT_MODULE_LEVEL = 'move it below `if __name__ == "__main__":`'
PLACES = {
    "training at module level": (RIGHT + ENDLESS, AT_MODULE_LEVEL, "search()"),
    "a merge conflict": (
        RIGHT.replace("    std = ", "<<<<<<< HEAD\n    std = 1\n=======\n    std = ", 1) + ">>>>>>> 3f5a1b2\n",
        "merge conflict", "<<<<<<< HEAD",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words", "source"), PLACES.values(), ids=PLACES)
def test_a_module_that_cannot_be_imported_names_the_line_to_change(graded, short_calls, text, words, source):
    gate = module_is_broken(graded({"advantages.py": text}, "advantages", "kl"), words)
    assert gate.frames[-1].source == source == text.split("\n")[gate.frames[-1].line - 1].strip()


CUT = {
    "a missing colon": (RIGHT.replace(") -> Tensor:", ") -> Tensor", 1), "expected ':'", "group_advantages"),
    "a docstring without its end": (
        RIGHT[:DOCSTRING_END] + RIGHT[DOCSTRING_END + 3 :], "is not closed", "group_advantages",
    ),
    "a bracket that is not closed": (RIGHT + "\nprint(group_advantages((1, 2)\n", "was never closed", ""),
    "half a function in a conflict": (
        RIGHT.replace("\n\n\ndef zero", "\n<<<<<<< HEAD\n    return 1\n=======\n>>>>>>> mine\n\n\ndef zero", 1),
        "merge conflict", "group_advantages",
    ),
    "the answer of a chat": (f"Sure! Here's the code:\n\n```python\n{RIGHT}\n```\nI hope it's right.\n", "```", ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words", "lost"), CUT.values(), ids=CUT)
def test_a_syntax_error_costs_the_function_that_contains_it(graded, text, words, lost):
    result = graded({"advantages.py": text}, "advantages")
    assert any(words in note.text for note in result.notes)
    if not lost:
        all_right(result)
        return
    gate = only_wrong(result, lost)
    assert gate.outcome == BROKEN and words in gate.message
    assert gate.frames[-1].source == text.split("\n")[gate.frames[-1].line - 1].strip()


def test_what_fails_in_a_notebook_costs_its_cell(graded: Grader) -> None:
    texts = (RIGHT, "x = 1\n\nassert x == 2\n", "print((x\n", 'y = """\n')
    cells = [{"cell_type": "code", "source": text} for text in texts]
    result = graded({"advantages.py": None, "advantages.ipynb": json.dumps({"cells": cells})}, "advantages")
    all_right(result)
    assert all(f"code cell {cell}, line" in " ".join(map(str, result.notes)) for cell in (2, 3, 4))


@pytest.mark.parametrize(
    ("function", "line", "words"),
    [
        ("advantages.group_advantages", "torch.set_default_dtype(torch.float64)", "torch's default dtype"),
        ("clip.clipped_surrogate", "torch.set_grad_enabled(False)", "gradients, which are switched off"),
    ],
)
def test_a_setting_for_all_of_torch_is_named_beside_what_fails(graded, function, line, words):
    exercise, name = function.split(".")
    text = model_answer(exercise).replace("import torch\n", f"import torch\n{line}\n", 1)
    number = text.split("\n").index(line) + 1
    result = graded({f"{exercise}.py": text}, exercise, of=name)
    causes = [check.may_come_from for check in result.checks if check.outcome in (FAILED, BROKEN)]
    assert causes and all(any(words in each and f"(line {number})" in each for each in cause) for cause in causes)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("clip_eps: float = 0.2", "clip_eps: float = 0.1", "has the default clip_eps=0.1; you were given clip_eps=0.2"),
        ("return torch.minimum(", "result = (", "`clipped_surrogate` has no `return` with a value"),
    ],
)
def test_what_the_text_of_a_wrong_function_shows_is_a_possible_cause(graded, right, wrong, words):
    text = model_answer("clip")
    before, function, after = text.partition("def clipped_surrogate(")
    result = graded({"clip.py": before + function + after.replace(right, wrong, 1)}, "clip")
    assert {check.function for check in result.checks if words in str(check.may_come_from)} == {"clipped_surrogate"}


def test_a_file_that_is_no_text_is_told_in_one_sentence(graded: Grader) -> None:
    files: Files = {"advantages.py": b"import torch\nx = 1\0\n"}
    gate = module_is_broken(graded(files, "advantages", "kl"), "a null byte (line 2)")
    assert "\n" not in gate.message


def test_a_missing_module_costs_one_exercise(graded: Grader) -> None:
    module_is_broken(graded({"advantages.py": None}, "advantages", "kl"), "advantages.py is missing")


def test_an_empty_module_says_what_is_expected_in_it(graded: Grader) -> None:
    result = graded({"advantages.py": "# nothing yet\n"}, "advantages", "kl")
    gate = only_wrong(result, "group_advantages", "zero_signal_fraction")
    assert gate.outcome == BROKEN
    assert SIGNATURE in gate.message
    assert "`zero_signal_fraction(rewards)`" in of(result, "zero_signal_fraction")[0].message


# What a function may look like


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("def group_advantages(rewards, mask, *, std_eps, divide_by_std):\n    return rewards", "(rewards, mask, *,"),
        ("group_advantages = torch.zeros(3)", "not a function"),
    ],
)
def test_something_else_of_the_right_name_is_shown_beside_the_expected_signature(graded, end, words) -> None:
    gate = only_wrong(graded({"advantages.py": f"{model_answer('advantages')}\n\n{end}\n"}), "group_advantages")
    assert gate.outcome == BROKEN
    assert SIGNATURE in gate.message and words in gate.message


def test_a_function_that_is_not_at_module_level_is_found(graded: Grader) -> None:
    text = f"import torch\nclass Advantages:\n{textwrap.indent(GROUP_ADVANTAGES + '    return rewards', '    ')}\n"
    gate = of(graded({"advantages.py": text}), "group_advantages")[0]
    assert gate.outcome == BROKEN and SIGNATURE in gate.message
    assert "inside `class Advantages` (line 2)" in gate.message


def test_a_function_of_nearly_the_right_name_or_in_another_module_is_found(graded: Grader) -> None:
    files = {"advantages.py": RIGHT.replace("def group_advantages(", "def group_advantage("), "clip.py": "x = 1\n"}
    assert "there is `group_advantage` (line 12)" in of(graded(files), "group_advantages")[0].message
    files = {"advantages.py": "x = 1\n", "clip.py": RIGHT}
    assert "it is in clip.py (line 12); move it" in of(graded(files), "group_advantages")[0].message


@pytest.mark.parametrize(
    "line",
    [
        "class Odd:\n    def __call__(self): pass\n    @property\n    def __signature__(self): raise KeyError('odd')",
        "class Odd:\n    def __call__(self, *a, **k): pass\n    @property\n    def __class__(self): raise OSError",
    ],
)
def test_a_function_that_fights_inspection_is_wrong_and_nothing_worse(graded: Grader, line: str) -> None:
    result = graded({"advantages.py": f"{model_answer('advantages')}\n{line}\ngroup_advantages = Odd()\n"})
    assert only_wrong(result, "group_advantages").outcome in (BROKEN, FAILED)


# What is fine, however it looks

MODEL, KL = model_answer("advantages"), model_answer("kl")
CALLABLE_OBJECT = """
class Answer:
    def __init__(self, model):
        self.model = model
    def __call__(self, rewards, **options):
        return self.model(rewards, **options)
group_advantages = Answer(group_advantages)
"""
BESIDE_THE_FUNCTIONS = """
import dataclasses, pickle, warnings
@dataclasses.dataclass
class Point:
    x: int
assert pickle.loads(pickle.dumps(Point(1))) == Point(1)
warnings.warn("old")
print("x" * 10**7)
# Gruppe \u2014 \u30b0\u30eb\u30fc\u30d7 \U0001f600
\u00f1 = 1
if __name__ == "__main__":
    while True:
        pass
"""
FINE: dict[str, Files] = {
    "a mark, line ends of Windows and code beside the functions": {
        "advantages.py": b"\xef\xbb\xbf"
        + (MODEL + CALLABLE_OBJECT + BESIDE_THE_FUNCTIONS).replace("\n", "\r\n").encode()
    },
    "line ends of old Macs": {"advantages.py": MODEL.replace("\n", "\r")},
    "siblings that import each other": {
        "kl.py": f"{KL}\nfrom .advantages import group_advantages\nassert callable(group_advantages)\n",
        "advantages.py": f"{MODEL}\ndef late():\n    from . import kl\n",
    },
}


@pytest.mark.parametrize("name", FINE)
def test_style_costs_no_points(graded: Grader, name: str) -> None:
    all_right(graded(FINE[name], *(file.removesuffix(".py") for file in FINE[name])))


def test_a_function_that_continues_in_the_next_cell_is_not_graded_as_if_it_were_whole(graded: Grader) -> None:
    head, rest = (
        "def group_advantages(rewards, **options):\n    first = MODEL(rewards)\n",
        "    return MODEL(rewards)\n",
    )
    texts = (RIGHT + "\nMODEL = group_advantages\n\n", head, rest, "from __future__ import annotations\n")
    cells = [{"cell_type": "code", "source": text} for text in texts]
    result = graded({"advantages.py": None, "advantages.ipynb": json.dumps({"cells": cells})}, "advantages")
    assert "unexpected indent" in only_wrong(result, "group_advantages").message


def test_circular_imports_cost_nothing_that_does_not_need_them(graded: Grader) -> None:
    files = {
        "advantages.py": "from .kl import kl_estimate\n" + model_answer("advantages"),
        "kl.py": "from .advantages import group_advantages\n" + model_answer("kl"),
    }
    result = graded(files, "advantages", "kl")
    all_right(result)
    assert "circular import" in " ".join(map(str, result.notes))


def test_a_sibling_that_is_not_python_costs_only_its_own_points(graded: Grader) -> None:
    files = {
        "advantages.py": "def broken(:\n",
        "kl.py": "from .advantages import group_advantages\n" + model_answer("kl"),
    }
    result = graded(files, "advantages", "kl")
    assert "SyntaxError" in only_wrong(result, "group_advantages", "zero_signal_fraction").message


# The command itself


@pytest.mark.parametrize(
    "text",
    [
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n",
        "import atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(0)\n",
    ],
)
def test_a_submission_cannot_choose_the_exit_code(make_submission, tmp_path, walled_sandbox, text):
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
