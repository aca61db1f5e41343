"""`course autograder`: the zip that Gradescope builds its container from."""

from __future__ import annotations

import argparse
import json
import tempfile
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
"""Of one grading; Gradescope stops a container after 10 minutes by itself, and then nobody gets anything."""

_FILES = course.GRADER / "workshop" / "autograder_files"
_EXECUTABLE = ("run_autograder", "setup.sh")
EXAMPLES = """example:
  course autograder --out autograder.zip --seed 20791

Upload the zip as the autograder of a programming assignment, and choose a container with 1.5 GB of memory or more. It
holds the model answers, the seed and a secret: give it to no student. The same course, seed and secret give the same
bytes.

exit code: 0 written, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course autograder`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=path_argument, required=True, metavar="OUT.zip", help="the zip")
    parser.add_argument(
        "--seed",
        type=int,
        required=True,
        metavar="N",
        help="of the generated inputs; a number that students do not know",
    )
    parser.add_argument(
        "--secret", type=path_argument, metavar="FILE",
        help=f"secret of the class, made if missing (default: {SECRET} beside the zip); with it `course grade-all` "
        "gives the same results",
    )  # fmt: skip
    parser.add_argument(
        "--require-level", type=int, choices=(0, 1, 2), default=1, help="refuse to grade below this isolation level"
    )
    add_exercises(parser)
    parser.add_argument(
        "--worksheet", action=argparse.BooleanOptionalAction, default=course.WRITTEN.worksheet,
        help=f"grade {WORKSHEET} too, if it is handed in (default: as course.toml says)",
    )  # fmt: skip
    parser.add_argument("--site", type=site_url, metavar="URL", help="where the pages of the course are published")
    parser.add_argument(
        "--torch-index",
        type=site_url,
        metavar="URL",
        help='index of PyTorch\'s CPU builds, see "Get started" on its site: the container gets smaller by gigabytes',
    )
    parser.add_argument("--force", action="store_true", help="replace OUT.zip")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course autograder`: 0 written, 2 wrong usage."""
    out: Path = arguments.out
    if out.suffix.lower() != ".zip":
        arguments.usage_error(f"the name must end in .zip: {out}.zip")
    if out.exists() and not (arguments.force and out.is_file()):
        arguments.usage_error(f"{out} is there already; give another name, or --force to replace it")
    if not out.absolute().parent.is_dir():
        arguments.usage_error(f"{out} cannot be written: there is no folder {out.parent}")
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
        # Moved into its place when it is whole: nobody shall upload a half.
        with tempfile.TemporaryDirectory(prefix="autograder-", dir=out.absolute().parent) as folder:
            made = Path(folder) / out.name
            handout.write_zip(files, made, executable=_EXECUTABLE)
            made.replace(out)
    except FileRefused as error:
        arguments.usage_error(str(error))
    except OSError as error:
        arguments.usage_error(f"{error.filename or out} cannot be written: {error.strerror or error}")
    for each in (out, kept):
        warn_if_git_takes(each, "the secret of the class")
    print(
        f"{out} written. It holds the model answers, the seed and the secret of {kept}: upload it as an autograder, "
        "and keep both files from students"
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
    """Every file of the zip.

    Args:
        seed: Of the generated inputs.
        secret: Of the class, from which fresh inputs are drawn.
        exercises: Names of those to grade.
        require_level: Refuse to grade below this isolation level.
        worksheet: Grade the worksheet too.
        site: Address of the published pages.
        torch_index: Address of a package index with a smaller torch; None takes the usual one.

    Returns:
        Path in the zip to content; Gradescope unpacks it all into `/autograder/source`.

    Raises:
        OSError: a file is missing here.
    """
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
    files["pyproject.toml"] = handout.pyproject(files).encode()
    return files
