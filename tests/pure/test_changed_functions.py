"""After a save, a watch grades every function whose behavior may have changed, and every caller of it."""

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


HELPER = "\ndef _half(x):\n    return x / 2\n"
ANOTHER = "def categorical_kl(a, b): ...\n"
IMPORTING = end_of("clip.py", "\nfrom .kl import categorical_kl as other\n")
WITHOUT_KL = replace(BEFORE, files={name: text for name, text in BEFORE.files.items() if name != "kl.py"})
EVERYTHING = {f"{each.name}.{name}" for each in course.KNOWN for name in each.function_names}


def test_nothing_has_changed_without_a_save_or_by_a_comment():
    assert changed(BEFORE, BEFORE) == set()
    assert changed(BEFORE, end_of("kl.py", "\n\n# done\n")) == set()
    assert changed(BEFORE, edited("clip.py", "import torch", "import torch  # for exp")) == set()


def test_a_function_has_changed_with_all_that_call_it_and_with_no_other():
    found = changed(BEFORE, end_of("kl.py", "\ndef kl_estimate(logp, ref_logp, *, kind='k3'):\n    return 0 * logp\n"))
    assert "kl.kl_estimate" in found and "charlm.train" in found
    assert "kl.categorical_kl" not in found and not found & OF_CLIP
    assert "advantages.group_advantages" not in found


@pytest.mark.parametrize(
    ("before", "after", "functions"),
    [
        (BEFORE, end_of("kl.py", "\nHALF = 0.5\n"), OF_KL),
        (end_of("kl.py", HELPER), end_of("kl.py", HELPER.replace("2", "3")), OF_KL),
        (*(replace(IMPORTING, files={**IMPORTING.files, "kl.py": text}) for text in ("", ANOTHER)), OF_CLIP),
        (BEFORE, replace(BEFORE, files={**BEFORE.files, "kl.py": "def kl_estimate(:\n"}), OF_KL),
        (BEFORE, WITHOUT_KL, OF_KL),
        (BEFORE, replace(WITHOUT_KL, problems={"kl.py": "kl.py is no text"}), OF_KL),
        (BEFORE, replace(BEFORE, files={**BEFORE.files, "tools.py": ""}), EVERYTHING),
    ],
    ids=["a constant", "a helper", "another module", "no Python", "removed", "a problem", "another file"],
)
def test_a_doubtful_change_counts_for_all_functions(before, after, functions):
    assert changed(before, after) >= functions and changed(after, before) >= functions


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


def test_new_outcomes_replace_old_ones():
    known = result("old", clip={"a": False, "b": True, "c": False}, kl={"d": True})
    part = result("new", clip={"b": False, "c": True}, kl={})
    found = merged(known, part)
    assert (found.sha256, [check.id for check in found.checks]) == ("new", ["clip.a", "clip.b", "clip.c", "kl.d"])
    assert [check.outcome for check in found.checks] == [FAILED, FAILED, PASSED, PASSED]
    assert [(each.function, each.name) for each in found.exercises[0].misconceptions] == [("a", "old"), ("b", "new")]
    assert found.earned == 2 and found.points == 4
    known, part = (result(name, clip={"a": right, "b": True}) for name, right in (("old", False), ("new", True)))
    assert merged(known, part).as_json() == part.as_json(), "a result of everything is taken as it is"
