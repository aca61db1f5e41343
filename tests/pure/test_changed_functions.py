"""What a watch grades again after a save: each function that may do something else, and what calls it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import FAILED, PASSED, CheckResult, ExerciseResult, NamedMistake, Result
from grader.core.submission import Submission
from grader.grading.changed import changed, merged

BEFORE = read_submission(course.MODEL_ANSWERS)
OF_CLIP = {"clip.importance_ratio", "clip.clipped_surrogate", "clip.clip_fraction"}
OF_KL = {"kl.kl_estimate", "kl.categorical_kl"}


def edited(file: str, old: str, new: str) -> Submission:
    assert BEFORE.files[file].count(old) >= 1
    return replace(BEFORE, files={**BEFORE.files, file: BEFORE.files[file].replace(old, new, 1)})


def end_of(file: str, text: str) -> Submission:
    return replace(BEFORE, files={**BEFORE.files, file: BEFORE.files[file] + text})


def test_nothing_has_changed_without_a_save_or_by_a_comment():
    assert changed(BEFORE, BEFORE) == set()
    assert changed(BEFORE, end_of("kl.py", "\n\n# done\n")) == set()
    assert changed(BEFORE, edited("clip.py", "import torch", "import torch  # for exp")) == set()


def test_a_function_has_changed_with_all_that_call_it_and_with_no_other():
    found = changed(BEFORE, end_of("kl.py", "\ndef kl_estimate(logp, ref_logp, *, kind='k3'):\n    return 0 * logp\n"))
    assert "kl.kl_estimate" in found and "charlm.train" in found
    assert "kl.categorical_kl" not in found and not found & OF_CLIP
    assert "advantages.group_advantages" not in found


def test_what_a_module_has_beside_its_functions_changes_all_of_them():
    assert changed(BEFORE, end_of("kl.py", "\nHALF = 0.5\n")) >= OF_KL


def test_a_helper_in_the_module_changes_its_callers():
    helper = "\ndef _half(x):\n    return x / 2\n"
    found = changed(end_of("kl.py", helper), end_of("kl.py", helper.replace("2", "3")))
    assert found >= OF_KL


def test_who_imports_another_module_changes_with_it_though_the_course_does_not_ask_for_that():
    theirs = end_of("clip.py", "\nfrom .kl import categorical_kl as other\n")
    other = replace(
        theirs, files={**theirs.files, "kl.py": theirs.files["kl.py"] + "\ndef categorical_kl(a, b): ...\n"}
    )
    assert changed(theirs, other) >= OF_CLIP


@pytest.mark.parametrize(
    "after",
    [
        replace(BEFORE, files={**BEFORE.files, "kl.py": "def kl_estimate(:\n"}),
        replace(BEFORE, files={name: text for name, text in BEFORE.files.items() if name != "kl.py"}),
        replace(
            BEFORE,
            files={name: text for name, text in BEFORE.files.items() if name != "kl.py"},
            problems={"kl.py": "kl.py is no text"},
        ),
    ],
    ids=["no Python", "removed", "a problem"],
)
def test_all_of_a_file_has_changed_where_it_cannot_be_told(after):
    assert changed(BEFORE, after) >= OF_KL
    assert changed(after, BEFORE) >= OF_KL


def test_everything_has_changed_with_a_file_beside_the_modules():
    everything = {f"{each.name}.{name}" for each in course.KNOWN for name in each.function_names}
    assert changed(BEFORE, replace(BEFORE, files={**BEFORE.files, "tools.py": ""})) == everything


def test_a_function_whose_lines_are_shown_has_changed_when_they_move():
    lower = replace(BEFORE, files={**BEFORE.files, "kl.py": "\n" + BEFORE.files["kl.py"]})
    assert changed(BEFORE, lower) == set()
    found = changed(BEFORE, lower, shown={"kl.kl_estimate"})
    assert "kl.kl_estimate" in found and "kl.categorical_kl" not in found


def result(sha256: str, **functions: dict[str, bool]) -> Result:
    """Exercises with functions of one check each, which passed or did not."""
    exercises = []
    for name, passed in functions.items():
        checks = [
            CheckResult(f"{name}.{each}", each, each, "", 1, False, False, outcome=PASSED if right else FAILED)
            for each, right in passed.items()
        ]
        named = [
            NamedMistake(check.id, True, "page", check.function, sha256, "", "")
            for check in checks
            if check.outcome == FAILED
        ]
        exercises.append(ExerciseResult(name, name, "page", checks, named))
    return Result("me", sha256, 0, "cpu", exercises, "1")


def test_what_was_graded_again_takes_the_place_of_what_was_known():
    known = result("old", clip={"a": False, "b": True, "c": False}, kl={"d": True})
    part = result("new", clip={"b": False, "c": True}, kl={})
    found = merged(known, part)
    assert (found.sha256, [check.id for check in found.checks]) == ("new", ["clip.a", "clip.b", "clip.c", "kl.d"])
    assert [check.outcome for check in found.checks] == [FAILED, FAILED, PASSED, PASSED]
    assert [(each.function, each.name) for each in found.exercises[0].misconceptions] == [("a", "old"), ("b", "new")]
    assert found.earned == 2 and found.points == 4


def test_a_result_of_everything_is_taken_as_it_is():
    known, part = (result(name, clip={"a": right, "b": True}) for name, right in (("old", False), ("new", True)))
    assert merged(known, part).as_json() == part.as_json()
