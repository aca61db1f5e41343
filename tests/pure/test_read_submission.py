"""Folders without anything to grade are refused, and only submissions that need slow imports pay for them."""

import contextlib
import importlib.metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from submissions import SubmissionMaker

from grader.core import course
from grader.core.contents import read_submission
from grader.core.files import UnreadableError
from grader.core.source import INSTALLED
from grader.core.submission import Submission, SubmissionError, text_of


def test_a_folder_without_a_graded_module_is_refused(make_submission: SubmissionMaker, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="no folder"):
        read_submission(tmp_path / "nowhere")
    (tmp_path / "kl.py").touch()
    with pytest.raises(SubmissionError, match=r"is a file"):
        read_submission(tmp_path / "kl.py")
    names = [exercise.file_name for exercise in course.EXERCISES]
    folder = make_submission({**dict.fromkeys(names), "homework.py": "x = 1\n"})
    with pytest.raises(SubmissionError, match=r"advantages\.py, clip\.py, kl\.py"):
        read_submission(folder)


def test_files_of_an_earlier_handout_are_graded_with_one_note_about_what_is_new(
    make_submission: SubmissionMaker,
) -> None:
    old = "def _clip_fraction(logits, actions, rewards, ref_logits, config): ...\n"
    (note,) = read_submission(make_submission({"bandit.py": old, "clip.py": "x = 1\n"})).notes
    assert "bandit.py is from an earlier handout" in note.text
    assert read_submission(course.MODEL_ANSWERS).notes == read_submission(course.STARTER).notes == ()


@pytest.mark.parametrize(
    ("text", "slow"),
    [
        ("optimizer = torch.optim.Adam(p)", True), ("from torch import optim", True),
        ("from torch.func import grad", True), ("import functorch", True), ("from torch import Tensor", False),
        ("def function(optimum): ...", False),
    ],
)  # fmt: skip
def test_slow_imports_of_torch(text: str, slow: bool) -> None:
    submission = Submission("homework", Path("homework"), {"clip.py": text}, {})
    assert bool(submission.slow_imports(["clip.py"])) == slow
    assert not submission.slow_imports(["kl.py"])


def test_only_the_language_model_needs_slow_imports() -> None:
    submission = read_submission(course.MODEL_ANSWERS)
    need = {each.name for each in course.EXERCISES if each.slow_imports or submission.slow_imports(each.needed_files)}
    assert need == {"charlm"}


def test_no_import_is_taken_for_installed_that_the_course_does_not_bring_along() -> None:
    installed, waiting = set(), ["grpo-course"]
    while waiting:
        name = waiting.pop()
        installed.add(canonicalize_name(name))
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            for text in importlib.metadata.requires(name) or ():
                needed = Requirement(text)
                if canonicalize_name(needed.name) not in installed and (not needed.marker or needed.marker.evaluate()):
                    waiting.append(needed.name)
    packages = importlib.metadata.packages_distributions()
    foreign = {name for name in INSTALLED if not {*map(canonicalize_name, packages.get(name, ()))} & installed}
    assert foreign == set()


def test_a_coding_line_whose_codec_takes_a_square_of_the_time_is_refused() -> None:
    with pytest.raises(UnreadableError, match="Punycode"):
        text_of("kl.py", b"# -*- coding: Punycode -*-\nx = 1\n")
