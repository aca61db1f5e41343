"""What goes into a call and comes out of it beside tensors: settings, histories, random state, graphs, slow imports."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from probing import submission_of

from grader.core import course
from grader.core.course import Exercise
from grader.core.submission import Submission
from grader.grading.calls import Answer, Example, Record, Same, Tensor, Transposed
from grader.grading.compare import Mismatch, mode_kept, no_graph, parameters, record, untouched
from grader.grading.student import Student
from grader.grading.student_errors import StudentError
from grader.sandbox.sandbox import Sandbox

GIVEN = Exercise("probe", "A function that does anything", 1, ("f(x, y)",), given=("bandit_task.py",))
SETTINGS = Record("BanditConfig", {"group_size": 3, "lr": 0.25})


def answer_of(sandbox: Sandbox, source: str, x: Any = 1, y: Any = 1, **asked: Any) -> Answer:
    return asking(GIVEN, submission_of(source), sandbox.worker, Example(x, y, **asked))


def asking(exercise: Exercise, submission: Submission, start: Any, example: Example) -> Answer:
    with contextlib.closing(Student(exercise, submission, start)) as student:
        return student.each("f", example)[0]


def test_settings_arrive_as_an_object_of_the_given_class_with_its_defaults(sandbox):
    source = """
        from .bandit_task import BanditConfig
        def f(x, y):
            return [type(x) is BanditConfig, x.group_size, x.lr, x.steps]
    """
    assert answer_of(sandbox, source, SETTINGS).value == [True, 3, 0.25, 50]


def test_a_class_of_the_submission_cannot_take_the_place_of_the_given_one(sandbox):
    source = """
        class BanditConfig:
            def __init__(self, **_):
                self.group_size = 99
        from . import bandit_task
        bandit_task.BanditConfig = BanditConfig
        def f(x, y):
            return x.group_size
    """
    assert answer_of(sandbox, source, SETTINGS).value == 3


def test_settings_that_the_given_code_refuses_are_an_error_that_says_so(sandbox):
    with pytest.raises(StudentError, match="group_size must be at least 1"):
        answer_of(sandbox, "def f(x, y): return x", Record("BanditConfig", {"group_size": 0}))


def test_an_object_of_a_dataclass_comes_back_with_its_fields(sandbox):
    source = """
        import dataclasses, torch
        @dataclasses.dataclass
        class Found:
            numbers: torch.Tensor
            more: object
        def f(x, y):
            return Found(torch.ones(2), [Found(torch.zeros(1), Found), "word"])
    """
    value = answer_of(sandbox, source).value
    assert (value.type_name, list(value.fields)) == ("Found", ["numbers", "more"])
    assert value.fields["numbers"].array.tolist() == [1.0, 1.0]
    inner, word = value.fields["more"]
    assert word == "word"
    assert isinstance(inner.fields["numbers"], Tensor)
    assert inner.fields["more"].type_name == "type"  # a class is no object of it


@pytest.mark.parametrize("value", ["{'a': 1}", "None", "Other(1)", "History()"])
def test_what_is_no_such_object_is_told_by_its_type(sandbox, value):
    source = f"""
        import dataclasses
        @dataclasses.dataclass
        class Other:
            a: int
        @dataclasses.dataclass
        class History:
            pass
        def f(x, y):
            return {value}
    """
    with pytest.raises(Mismatch) as caught:
        record(answer_of(sandbox, source), "History", ["a"])
    assert caught.value.message


def test_a_field_that_raises_is_the_submissions_own_problem(sandbox):
    source = """
        import dataclasses
        @dataclasses.dataclass
        class Trap:
            a: int = 1
            def __getattribute__(self, name):
                raise RuntimeError("a trap") if name == "a" else AttributeError(name)
        def f(x, y):
            return Trap()
    """
    with pytest.raises(StudentError):
        answer_of(sandbox, source)


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("torch.rand(1)", "torch"), ("np.random.rand()", "numpy"), ("random.random()", "random"),
        ("torch.rand(1, generator=torch.Generator().manual_seed(x))", ""), ("np.random.default_rng(x).random()", ""),
    ],
)  # fmt: skip
def test_a_change_of_global_random_state_is_noticed(sandbox, body, changed):
    source = f"import random, torch, numpy as np\ndef f(x, y):\n    {body}\n    return 1\n"
    assert answer_of(sandbox, source, watch_random=True).random_changed == changed
    assert answer_of(sandbox, source).random_changed == ""


@pytest.mark.proof
@pytest.mark.parametrize("kind", [{"cold": True}, {}], ids=["cold", "warm"])
def test_global_generators_draw_the_same_numbers_in_every_sandbox(sandbox, kind):
    source = """
        import random, numpy, torch
        def f(x, y):
            return [random.random(), float(numpy.random.rand()), float(torch.rand(()))]
    """
    first = answer_of(sandbox, source).value
    assert len({*first}) == 3
    assert answer_of(sandbox, source).value == first
    with Sandbox.start(**kind) as other:
        assert answer_of(other, source).value == first


@pytest.mark.parametrize("seed", ["torch.manual_seed", "np.random.seed", "random.seed"])
def test_setting_a_usual_seed_changes_the_state(sandbox, seed):
    source = f"import random, torch, numpy as np\ndef f(x, y):\n    {seed}(x)\n    return 1\n"
    for usual in (0, 42):
        assert answer_of(sandbox, source, usual, watch_random=True).random_changed


def test_a_value_that_drags_its_graph_along_is_noticed(sandbox):
    attached = answer_of(sandbox, "def f(x, y):\n    return x.clone().requires_grad_() * 2\n", np.ones(2))
    with pytest.raises(Mismatch, match="graph"):
        no_graph(attached)
    no_graph(answer_of(sandbox, "def f(x, y):\n    return x * 2\n", np.ones(2)))


OPTIMIZER = """
    import torch
    def f(x, y):
        x = x.clone().requires_grad_()
        optimizer = torch.optim.SGD([x], lr=1.0)
        (x * x).sum().backward()
        optimizer.step()
        return x.detach()
"""


def test_an_optimizer_works_behind_the_walls(walled_sandbox):
    assert answer_of(walled_sandbox, OPTIMIZER, np.array([1.0, 2.0])).value.array.tolist() == [-1.0, -2.0]


def test_what_optimizers_import_is_imported_once_for_all_workers(walled_sandbox):
    source = "import sys\nLOADED = 'torch._dynamo' in sys.modules\nimport torch\ndef f(x, y): return LOADED\n"
    source += "def g(x): return torch.optim.SGD([x], lr=1.0)\n"
    for _ in range(2):
        assert answer_of(walled_sandbox, source).value is True  # before a line of the submission has run


MODELS = Exercise(
    "probe", "A function that trains", 1, ("f(x, y)",), given=tuple(course.exercise("charlm").given),
    slow_imports=("torch._dynamo",),
)  # fmt: skip
TABLE = np.array([[0.0, 1.0], [2.0, 0.0]])


def models_answer(sandbox: Sandbox, source: str, *arguments: Any, **asked: Any) -> Answer:
    return asking(MODELS, submission_of(source), sandbox.worker, Example(*arguments, **asked))


def test_a_model_comes_back_with_its_parameters_and_the_gradients_that_were_left_in_it(sandbox):
    source = """
        def f(x, y):
            (2 * x.table).sum().backward()
            return type(x).__name__
    """
    answer = models_answer(sandbox, source, Record("BigramLM", {"table": TABLE}), 1, return_arguments=True)
    assert answer.value == "BigramLM"
    fields = answer.arguments["x"].fields
    assert fields["state"]["table"].array.tolist() == TABLE.tolist()
    assert fields["gradients"]["table"].array.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_an_optimizer_belongs_to_the_policy_of_the_same_call_and_a_call_can_be_repeated(sandbox):
    source = """
        def f(x, y):
            x.table.sum().backward()
            y.step()
            return len(y.param_groups)
    """
    config = Record("CharLMConfig", {"optimizer": "sgd", "lr": 0.5})
    optimizer = Record("make_optimizer", {"policy": Same("x"), "config": config})
    policy = Record("BigramLM", {"table": TABLE})
    once, twice = (
        models_answer(sandbox, source, policy, optimizer, return_arguments=True, repeat=repeat) for repeat in (1, 2)
    )
    assert once.value == 1
    assert once.arguments["x"].fields["state"]["table"].array.tolist() == (TABLE - 0.5).tolist()
    # Nobody cleared the gradient of the first call: 1 and then 2.
    assert twice.arguments["x"].fields["state"]["table"].array.tolist() == (TABLE - 0.5 - 1.0).tolist()


def test_gradients_of_an_earlier_step_are_there_before_the_first_call(sandbox):
    source = """
        def f(x, y):
            return x.table.grad.sum().item()
    """
    policy = Record("BigramLM", {"table": TABLE})
    assert models_answer(sandbox, source, policy, 1, left_gradients=["x"]).value == 4.0


@pytest.mark.parametrize("change", ["x.eval()", "x.requires_grad_(False)"])
def test_a_model_that_is_left_in_another_mode_is_noticed(sandbox, change):
    policy = Record("BigramLM", {"table": TABLE})
    undone = f"def f(x, y):\n    {change}\n    x.train().requires_grad_()\n    return 1"
    mode_kept(models_answer(sandbox, undone, policy, 1, return_arguments=True), "x")
    answer = models_answer(sandbox, f"def f(x, y):\n    {change}\n    return 1", policy, 1, return_arguments=True)
    with pytest.raises(Mismatch, match="a different mode"):
        mode_kept(answer, "x")


def test_a_tensor_that_is_not_contiguous_arrives_with_its_numbers_and_its_strides(sandbox):
    source = """
        def f(x, y):
            return [x.is_contiguous(), x.tolist()]
    """
    assert answer_of(sandbox, source, Transposed(np.arange(6.0).reshape(2, 3))).value == [False, [[0, 1, 2], [3, 4, 5]]]


def test_an_argument_that_gets_another_shape_in_place_is_noticed(sandbox):
    source = """
        def f(x, y):
            x.unsqueeze_(0)
            return 1
    """
    before = np.arange(3.0)
    with pytest.raises(Mismatch, match="in place"):
        untouched(answer_of(sandbox, source, before, return_arguments=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("x.requires_grad_()", "changes requires_grad of its argument x"),
        ("x.grad = torch.ones(3)", "leaves a gradient in its argument x"),
        ("x.add_(1.0).sub_(1.0)", "writes, here with the same numbers, into its argument x"),
    ],
)
def test_what_is_left_on_an_argument_is_noticed(sandbox, change, message):
    source = "import torch\ndef f(x, y):\n    {}\n    return 1"
    before = np.arange(3.0, dtype=np.float32)
    with pytest.raises(Mismatch, match=message):
        untouched(answer_of(sandbox, source.format(change), before, return_arguments=True))
    undone = "x.requires_grad_().sum().backward(); x.grad = None; x.requires_grad_(False)"
    untouched(answer_of(sandbox, source.format(undone), before, return_arguments=True))


def test_a_model_whose_parameters_were_replaced_is_told_so(sandbox):
    source = """
        import torch
        def f(x, y):
            x.table = torch.nn.Parameter(torch.ones(3))
            return 1
    """
    answer = models_answer(sandbox, source, Record("BigramLM", {"table": TABLE}), 1, return_arguments=True)
    with pytest.raises(Mismatch, match="different parameters after"):
        parameters(answer, "x", {"table": TABLE})


def test_of_two_values_the_first_is_differentiated_and_graphs_in_the_second_are_found(sandbox):
    source = """
        def f(x, y):
            return (x * x).sum(), {"kept": (x + y).sum(), "dropped": x.sum().detach()}
    """
    answer = answer_of(sandbox, source, np.array([1.0, 3.0]), np.ones(2), gradients_of=["x", "y"])
    gradient = answer.gradients["x"]
    assert gradient is not None
    assert gradient.array.tolist() == [2.0, 6.0]
    assert answer.gradients["y"] is None
    assert answer.graph == ("0", "1.kept")


def test_a_single_number_that_was_expanded_comes_back(sandbox):
    answer = answer_of(sandbox, "def f(x, y):\n    return x.sum().expand(1)\n", np.ones(3))
    assert answer.value.array.tolist() == [3.0]


def test_kinds_of_dict_and_float_are_dicts_and_floats(sandbox):
    source = """
        import collections, numpy as np
        def f(x, y):
            found = collections.defaultdict(float)
            found["a"] = np.float64(0.5)
            return collections.OrderedDict(first=found)
    """
    assert answer_of(sandbox, source).value == {"first": {"a": 0.5}}


MODULES = {
    "clip.py": "from advantages import group_advantages\ndef clip_fraction(): return group_advantages()\n",
    "advantages.py": "import clip, helpers\ndef group_advantages(): return helpers.ONE\n",
    "helpers.py": "ONE = 1\n",
}


@pytest.mark.parametrize(
    "line",
    [
        "from clip import clip_fraction", "from starter.clip import clip_fraction",
        "from starter import clip; clip_fraction = clip.clip_fraction",
        "import starter.clip as c; clip_fraction = c.clip_fraction", "from .clip import clip_fraction",
    ],
)  # fmt: skip
def test_an_import_that_works_on_a_students_own_machine_works_here(sandbox: Sandbox, line: str) -> None:
    source = f"{line}\nimport clip as c\ndef f(x, y): return [clip_fraction(), clip_fraction is c.clip_fraction]"
    submission = Submission("homework", Path("homework"), {"probe.py": source, **MODULES}, {})
    assert asking(GIVEN, submission, sandbox.worker, Example(1, 1)).value == [1, True]


@pytest.mark.parametrize("name", ["reference.clip", "starter.kl", "kl"])
def test_no_import_leads_to_a_module_that_was_not_handed_in(sandbox: Sandbox, name: str) -> None:
    source = f"import importlib\ndef f(x, y): importlib.import_module({name!r})"
    with pytest.raises(StudentError, match="No module named"):
        answer_of(sandbox, source)


def test_modules_of_one_submission_are_forgotten_before_the_next_in_one_process() -> None:
    """As in debug mode, whose process loads one exercise after the other."""
    from grader.grading.debug import InProcess

    for value in (1, 2):
        source = "from starter import helpers\nimport helpers as h\ndef f(x, y): return [h.ONE, h is helpers]"
        files = {"probe.py": source, "helpers.py": f"ONE = {value}\n"}
        submission = Submission("me", Path("me"), files, {})
        assert asking(GIVEN, submission, InProcess, Example(1, 1)).value == [value, True]
