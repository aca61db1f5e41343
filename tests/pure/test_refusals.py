"""What the stubs promise to refuse is asked for by a check, and nothing else is."""

import ast

import pytest

from grader.core import course
from grader.grading.check import checks_of

FUNCTIONS = [(each.name, function) for each in course.EXERCISES for function in each.function_names]


@pytest.mark.parametrize(("exercise", "function"), FUNCTIONS)
def test_a_function_that_refuses_calls_is_asked_such_calls_by_one_check(exercise: str, function: str) -> None:
    module = ast.parse((course.STARTER / f"{exercise}.py").read_text("utf-8"))
    (stub,) = (node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == function)
    checks = [check for check in checks_of(exercise, hidden=False) if check.function == function and check.refuses]
    assert len(checks) == ("Raises:" in (ast.get_docstring(stub) or ""))
    assert all("ValueError" in check.explanation for check in checks)
