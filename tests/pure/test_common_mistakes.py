"""The list of mistakes that several functions share names mistakes that are there."""

from grader.core import course
from grader.workshop.catalogue import common_mistakes, known_mistakes


def test_every_common_mistake_is_one_of_each_function_that_it_names() -> None:
    known = [
        f"{name}.{entry.function} {entry.name}" for name in course.names(drafts=True) for entry in known_mistakes(name)
    ]
    assert len(known) == len({*known}), "a mistake of the list has the name of another one"
    listed = {f"{function} {name}" for name, each in common_mistakes().items() for function in each["functions"]}
    assert listed <= {*known}, "there is no such function"
