"""`course autograder`: the zip that Gradescope builds its container from."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from ..core import course
from ..core.arguments import add_exercises, exercises_to_grade, path_argument
from ..core.refusal import FileRefused
from ..core.secret import FILE_NAME as SECRET
from ..core.secret import secret_in
from ..worksheet.questions import FILE_NAME as WORKSHEET
from ..workshop import handout
from .handout import site_url
from .personal_data import warn_if_git_takes

SECONDS = 540
"""Time limit of one grading. Gradescope stops a container after 10 minutes, and then the student gets no result."""

_FILES = course.GRADER / "workshop" / "autograder_files"
_EXECUTABLE = ("run_autograder", "setup.sh")
EXAMPLES = """example:
  course autograder --out autograder.zip --seed 20791

Upload the zip as the autograder of a programming assignment, and choose a container with at least 1.5 GB of memory. The
zip contains the model answers, the seed and a secret, so never give it to a student. The same course, seed and secret
give the same bytes.

exit code: 0 written, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course autograder`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=path_argument, required=True, metavar="OUT.zip", help="zip to write")
    parser.add_argument(
        "--seed",
        type=int,
        required=True,
        metavar="N",
        help="seed of the generated inputs: a number that students do not know",
    )
    parser.add_argument(
        "--secret", type=path_argument, metavar="FILE",
        help=f"secret of the class, created if missing (default: {SECRET} next to the zip); with the same secret, "
        "`course grade-all` gives the same results",
    )  # fmt: skip
    parser.add_argument(
        "--require-level", type=int, choices=(0, 1, 2), default=1, help="refuse to grade below this isolation level"
    )
    add_exercises(parser)
    parser.add_argument(
        "--worksheet", action=argparse.BooleanOptionalAction, default=course.WRITTEN.worksheet,
        help=f"also grade {WORKSHEET} if it is handed in (default: as course.toml says)",
    )  # fmt: skip
    parser.add_argument("--site", type=site_url, metavar="URL", help="address of the course's published pages")
    parser.add_argument(
        "--torch-index", type=site_url, metavar="URL",
        help='index of PyTorch\'s CPU builds (see "Get started" on its site), which saves gigabytes in the container',
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="replace OUT.zip")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course autograder`: 0 written, 2 wrong usage."""
    out: Path = arguments.out
    if out.suffix.lower() != ".zip":
        arguments.usage_error(f"--out must end in .zip, for example {out}.zip")
    if out.exists() and not (arguments.force and out.is_file()):
        arguments.usage_error(f"{out} already exists; give another name, or --force to replace it")
    if not out.absolute().parent.is_dir():
        arguments.usage_error(f"cannot write {out}: there is no folder {out.parent}")
    kept, exercises = arguments.secret or out.with_name(SECRET), exercises_to_grade(arguments)
    try:
        files = make(
            seed=arguments.seed,
            secret=secret_in(kept),
            exercises=[each.name for each in exercises],
            require_level=arguments.require_level,
            worksheet=arguments.worksheet,
            site=arguments.site,
            torch_index=arguments.torch_index,
        )
        handout.write_zip(files, out, executable=_EXECUTABLE)
    except FileRefused as error:
        arguments.usage_error(str(error))
    except OSError as error:
        arguments.usage_error(f"cannot write {error.filename or out}: {error.strerror or error}")
    for each in (out, kept):
        warn_if_git_takes(each, "the secret of the class")
    print(
        f"wrote {out}. It contains the model answers, the seed and the secret from {kept}: upload it as an "
        "autograder, and give neither file to a student"
    )
    return 0


def make(
    *,
    seed: int,
    secret: str,
    exercises: Sequence[str],
    require_level: int = 1,
    worksheet: bool = False,
    site: str | None = None,
    torch_index: str | None = None,
) -> dict[str, bytes]:
    """Every file of the zip by its path; Gradescope unpacks it all into `/autograder/source`."""
    files_needed = {file for name in exercises for file in course.exercise(name).needed_files}
    needed = [each.name for each in course.HANDED_OUT if each.file_name in files_needed]
    modules = handout.modules_of(needed)
    files = handout.course_files(
        *handout.GRADER, "grader/exercises/*/hidden_checks.py", "reference/__init__.py",
        *(f"reference/{name}" for name in modules if (course.MODEL_ANSWERS / name).is_file()),
        *(f"starter/{name}" for name in modules if name.startswith("given/")), *handout.weights_of(needed),
        exercises=needed,
    )  # fmt: skip
    files |= {path.name: path.read_text("utf-8").encode() for path in _FILES.iterdir() if path.is_file()}
    files |= handout.course_file(site=site or course.WRITTEN.site, exercises=needed)
    files |= {"torch_index.txt": f"{torch_index}\n".encode()} if torch_index else {}
    settings = {
        "seed": seed,
        "require_level": require_level,
        "seconds": SECONDS,
        "exercises": [*exercises],
        "worksheet": worksheet,
    }
    files[SECRET] = f"{secret}\n".encode()
    files["autograder.json"] = (json.dumps(settings, indent=1) + "\n").encode()
    files["pyproject.toml"] = handout.pyproject().encode()
    return files
