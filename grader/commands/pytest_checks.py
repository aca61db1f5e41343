"""The checks as tests of pytest: for `pytest` in the handout, and for the Testing pane of an editor.

The handout's `conftest.py` loads this plugin. The tree is exercise, function, check. Listing it runs no code of a
student. Before the first test, `grade` grades the selected functions once, in its sandbox; each test then reports what
`grade` says about its check. `grade` remains the command that gives points.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..core import course
from ..core.contents import read_upload
from ..core.result import NOT_WRITTEN, PASSED, WAITING, Result
from ..core.source import functions, is_unwritten
from ..core.submission import SubmissionError
from ..core.text import one_line
from ..grading.check import Check, checks_of, has_hidden_checks
from ..reports.shared_texts import Listed, feedback, listed
from .grade_apart import GradeFailed, grade_apart

_GRADED = pytest.StashKey[dict[str, Listed]]()
"""Id of a check to what `grade` found."""


class CheckFailed(Exception):
    """A check that did not pass; the text is the report on it."""


class ExerciseFile(pytest.File):
    """The file in which a student writes an exercise."""

    exercise: course.Exercise

    def collect(self) -> Iterator[pytest.Collector]:
        """Its functions, each at the line where the student writes it."""
        optional = self.exercise.optional and self._is_unwritten()
        lines = functions(self.path.read_text("utf-8", "replace")) if self.path.suffix == ".py" else {}
        checks = checks_of(self.exercise.name, hidden=has_hidden_checks())
        for name in dict.fromkeys(check.function for check in checks):
            function: FunctionNode = FunctionNode.from_parent(self, name=name)
            function.checks = [check for check in checks if check.function == name]
            function.line = lines.get(name, [1])[-1] - 1
            function.skipped = f"optional, and not written yet: {self.exercise.file_name}" if optional else ""
            yield function

    def _is_unwritten(self) -> bool:
        """Whether the file that `grade` would take is as it was handed out."""
        try:
            text = read_upload(self.path.parent).submission.files.get(self.exercise.file_name, "")
        except SubmissionError:
            text = ""
        return is_unwritten(text, self.exercise.function_names)


class FunctionNode(pytest.Class):
    """A function of an exercise. Editors show the levels of a tree that are classes."""

    checks: list[Check]
    line: int
    skipped: str

    def _getobj(self) -> object:
        return type(self.name, (), {"__doc__": f"{len(self.checks)} checks"})

    def collect(self) -> Iterator[pytest.Item]:
        """Its checks, named by their titles."""
        titles = [check.title for check in self.checks]
        for check in self.checks:
            title = check.title if titles.count(check.title) == 1 else f"{check.title} ({check.id})"
            item: CheckItem = CheckItem.from_parent(self, name=title.replace("::", ":"))
            item.check, item.line, item.skipped = check, self.line, self.skipped
            item.extra_keyword_matches.add(check.id)
            yield item


class CheckItem(pytest.Item):
    """A check."""

    check: Check
    line: int
    skipped: str

    def runtest(self) -> None:
        """Report what `grade` found."""
        if self.skipped:
            pytest.skip(self.skipped)
        found = self.session.stash[_GRADED][self.check.id]
        if found.check.outcome == PASSED:
            return
        text = feedback(found)
        # Of a function that is not written, only the check that ran fails: the one that has a place to go to.
        if found.check.outcome == WAITING or (found.check.outcome == NOT_WRITTEN and not found.check.frames):
            pytest.skip(one_line(text, limit=400))
        raise CheckFailed(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report's text, without a traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, CheckFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The place for an editor to show, and the heading of a failure."""
        return self.path, self.line, f"{self.check.function}: {self.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The module of an exercise in `starter/`, or its notebook if there is no module."""
    for exercise in course.HANDED_OUT if file_path.parent.resolve() == course.STARTER.resolve() else ():
        module = file_path.with_name(exercise.file_name)
        if file_path == module or (file_path == module.with_suffix(".ipynb") and not module.exists()):
            node: ExerciseFile = ExerciseFile.from_parent(parent, path=file_path)
            node.exercise = exercise
            return node
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the exercises into the order of the course; other tests stay in front of them."""
    order = course.names(optional=True)
    items.sort(key=lambda item: order.index(item.check.exercise) + 1 if isinstance(item, CheckItem) else 0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Grade the functions of all selected checks, once."""
    items = [item for item in session.items if isinstance(item, CheckItem) and not item.skipped]
    if session.config.option.collectonly or session.testsfailed or not items:
        return
    names = dict.fromkeys(item.check.whole_name for item in items)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    terminal = reporter if reporter and reporter.isatty else None

    def show(done: int, of: int) -> None:
        if terminal:
            terminal.rewrite(f"grade: {done} of {of} checks", erase=True)

    try:
        result: Result = grade_apart([*names], course.STARTER, show)
    except GradeFailed as error:
        pytest.exit(str(error), returncode=3)
    if result.problem:
        pytest.exit(f"The grader could not finish: {one_line(result.problem, limit=1_000)}", returncode=3)
    if terminal:
        terminal.rewrite("", erase=True)
    session.stash[_GRADED] = {each.check.id: each for each in listed(result)}


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int) -> None:
    """Say where the exercises are if pytest was started in a folder without any."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not terminalreporter.stats.get("deselected"):
        terminalreporter.write_line(f"There is no exercise here. Start pytest in {course.STARTER.parent}.")
