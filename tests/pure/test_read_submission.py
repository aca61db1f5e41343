"""Folders in which there is nothing to grade."""

from pathlib import Path

import pytest
from submissions import SubmissionMaker

from grader.core import course
from grader.core.contents import read_submission
from grader.core.submission import SubmissionError


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="there is no folder"):
        read_submission(tmp_path / "nowhere")


def test_a_file_in_place_of_the_folder_is_refused(make_submission: SubmissionMaker) -> None:
    with pytest.raises(SubmissionError, match=r"is a file; give the folder that holds it"):
        read_submission(make_submission({}) / "advantages.py")


def test_a_folder_with_none_of_the_modules_is_refused(make_submission: SubmissionMaker) -> None:
    names = [exercise.file_name for exercise in course.EXERCISES]
    folder = make_submission({**dict.fromkeys(names), "homework.py": "x = 1\n"})
    with pytest.raises(SubmissionError, match=r"holds none of advantages\.py, clip\.py, kl\.py"):
        read_submission(folder)
